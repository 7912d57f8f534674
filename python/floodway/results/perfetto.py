"""A run as a trace for Perfetto (https://ui.perfetto.dev), in its format TrackEvent.

Each port has a counter of its queue, a track of pauses for each class, and a track of the states that its
congestion point assigned; each host has the flows that it sent; each job its collectives. An arrow leads to a
pause from its cause, as `causes` has it. Times are whole nanoseconds, rounded down.

The encoding is that of Protocol Buffers, as far as a trace needs it. A message is a sequence of fields. Each
begins with its number and wire type: a varint (0), 64 bits (1), or bytes with their length (2).
https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import itertools
import struct
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway.results.causes import Grid, ends_of, grid_of, pause_causes, ports_that_run_out
from floodway.results.feedback import pause_spans, state_spans
from floodway.results.files import TRACE_FILE
from floodway.results.metrics import natural
from floodway.results.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from floodway.results.result import Result

__all__ = ["FILE", "notes", "trace", "write"]

#: The file that `run --export perfetto` writes.
FILE = TRACE_FILE
#: Fields of the messages Trace, TracePacket, TrackDescriptor, CounterDescriptor, TrackEvent, DebugAnnotation
#: (protos/perfetto/trace).
PACKET = 1
TIMESTAMP, SEQUENCE, FLAGS, EVENT, DESCRIPTOR = 8, 10, 13, 11, 60
UUID, NAME, PARENT, COUNTER, ORDERING, RANK = 1, 2, 5, 8, 11, 12
UNIT, BYTES_UNIT = 3, 3
TYPE, EVENT_NAME, TRACK, VALUE, ANNOTATION, ARROWS, ARROWS_END = 9, 23, 11, 30, 4, 47, 48
BEGIN, END, INSTANT, COUNTED = 1, 2, 3, 4
ANNOTATION_NAME, ANNOTATION_UINT, ANNOTATION_DOUBLE, ANNOTATION_TEXT = 10, 3, 5, 6
#: Children of a track are shown in the order of their rank.
EXPLICIT = 3
#: Columns of flows and collectives that a slice has as arguments.
OF_FLOWS = ("destination", "size_bytes", "fct_us", "ideal_fct_us", "slowdown", "finished")
OF_COLLECTIVES = ("bytes", "ranks", "ranks_done", "busbw_gbps", "straggler", "lag_us")
VARINT, FIXED64, LENGTH = 0, 1, 2


class _Writer:
    """The packets of a trace, on one sequence."""

    def __init__(self) -> None:
        self._packets: list[bytes] = []
        self._uuids = itertools.count(1)
        self._ranks: dict[int, int] = {}
        self._packet(uint_field(FLAGS, 1))

    def track(self, name: str, parent: int = 0, *, of_bytes: bool = False) -> int:
        """Define a track, below another one or on its own; return its number."""
        uuid = next(self._uuids)
        self._ranks[parent] = self._ranks.get(parent, 0) + 1
        about = uint_field(UUID, uuid) + text_field(NAME, name) + uint_field(ORDERING, EXPLICIT)
        about += uint_field(RANK, self._ranks[parent])
        about += uint_field(PARENT, parent) if parent else b""
        about += bytes_field(COUNTER, uint_field(UNIT, BYTES_UNIT)) if of_bytes else b""
        self._packet(bytes_field(DESCRIPTOR, about))
        return uuid

    def event(self, time_us: float, kind: int, track: int, more: bytes = b"") -> None:
        """Add an event at a time."""
        body = uint_field(TYPE, kind) + uint_field(TRACK, track) + more
        # A time in microseconds has whole picoseconds: what a float loses is less.
        nanoseconds = round(time_us * 1e6) // 1000
        self._packet(uint_field(TIMESTAMP, nanoseconds) + bytes_field(EVENT, body))

    def slice(self, span_us: tuple[float, float], track: int, name: str, more: bytes = b"") -> None:
        """Add a slice of a track."""
        self.event(span_us[0], BEGIN, track, text_field(EVENT_NAME, name) + more)
        self.event(span_us[1], END, track)

    def _packet(self, body: bytes) -> None:
        self._packets.append(bytes_field(PACKET, body + uint_field(SEQUENCE, 1)))

    def content(self) -> bytes:
        """Return the trace."""
        return b"".join(self._packets)


def trace(result: Result) -> bytes:
    """Return the trace of a run; what it did not record is left out, as `notes` say."""
    writer = _Writer()
    grid = grid_of(result)
    _ports(writer, result, grid)
    _flows(writer, result)
    if result.collectives is not None:
        _collectives(writer, result.collectives, result.outcome.simulated_us)
    return writer.content()


def write(result: Result, folder: Path) -> list[str]:
    """Write the trace of a run into a folder that is there; return what it lacks.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    (folder / FILE).write_bytes(trace(result))
    return list(notes(result))


def notes(result: Result) -> Iterator[str]:
    """Say what a trace lacks, a line each."""
    if result.pauses is None:
        yield "the trace has no pauses: the run did not record them (records.pauses = true)"
    if beyond := result.outcome.pauses_beyond:
        yield f"the trace lacks the last {beyond:,} pauses and resumes, for which the table had no room"
    if result.pauses is not None and (outs := ports_that_run_out(pause_spans(result), grid_of(result))):
        ran_out = f"pauses of {counted(len(outs), 'port')} ran out without a resume, such as {min(outs)}"
        yield f"{ran_out}: in the trace each lasts until the next resume"
    watched = result.series["object"].n_unique()
    ports = len(result.counters.select(pl.col("node", "link").cast(pl.String)).unique())
    if watched < ports:
        yield f'the trace has queues of {watched:,} of {ports:,} ports (records.watch = "*" records all)'


def _ports(writer: _Writer, result: Result, grid: Grid) -> None:
    """Add ports, those of a node together: queues, pauses with arrows, states."""
    pauses = pause_causes(result, grid)
    states = _states(result)
    rows = {port: row for row, port in enumerate(grid.ports)}
    # The cause of a pause may be a port that was not paused.
    ports = {*rows, *pauses["object"], *states}
    arrows = _arrows(pauses)
    root = writer.track("ports")
    by_node: dict[str, list[str]] = {}
    for port in sorted(ports, key=natural):
        by_node.setdefault(ends_of(port)[1], []).append(port)
    spans = {str(key[0]): frame for key, frame in pauses.with_row_index("row").group_by("object")}
    for node in sorted(by_node, key=natural):
        of_node = writer.track(node, root)
        for port in by_node[node]:
            track = writer.track(port, of_node)
            if port in rows:
                of_queue = f"longest queue in {grid.widths_us[rows[port]]:g} us"
                _queue(writer, writer.track(of_queue, track, of_bytes=True), grid, rows[port])
            if port in spans:
                _pauses(writer, track, spans[port].sort("row"), arrows)
            for class_, class_states in states.get(port, {}).items():
                of_class = writer.track(f"state of class {class_}", track)
                for from_us, to_us, state in class_states:
                    writer.slice((from_us, to_us), of_class, state)
    _origins(writer, root, pauses)


def _states(result: Result) -> dict[str, dict[int, list[tuple[float, float, str]]]]:
    """Return the states of each port and class in time."""
    if result.signals is None:
        return {}
    by_port: dict[str, dict[int, list[tuple[float, float, str]]]] = {}
    for row in state_spans(result).sort("from_us").iter_rows(named=True):
        span = (row["from_us"], row["to_us"], str(row["state"]))
        by_port.setdefault(row["object"], {}).setdefault(row["class"], []).append(span)
    return by_port


def _queue(writer: _Writer, track: int, grid: Grid, row: int) -> None:
    """Add a port's longest queue in each bucket, where it changes."""
    queue = grid.values["queue_max_bytes"][row]
    for bucket in np.flatnonzero(np.diff(queue, prepend=-1.0)):
        writer.event(bucket * grid.width_us, COUNTED, track, uint_field(VALUE, int(queue[bucket])))


def _arrows(pauses: pl.DataFrame) -> dict[int, list[int]]:
    """Return the pauses that each pause caused, by their rows."""
    caused = pauses.with_row_index("row").filter(pl.col("caused_by").is_not_null())
    groups = caused.group_by("caused_by").agg("row")
    return {int(by): [int(row) for row in rows] for by, rows in groups.iter_rows()}


def _pauses(writer: _Writer, port: int, pauses: pl.DataFrame, arrows: Mapping[int, Sequence[int]]) -> None:
    """Add the pauses of a port: arrows end at those that have a cause, and begin at those that are one."""
    tracks = {
        class_: writer.track(f"pauses of class {class_}", port) for class_ in pauses["class"].unique().sort()
    }
    for row in pauses.iter_rows(named=True):
        about = _annotations({"cause": row["cause"], "sent_us": row["sent_us"]})
        about += b"".join(fixed64_field(ARROWS, effect + 1) for effect in arrows.get(row["row"], ()))
        about += fixed64_field(ARROWS_END, row["row"] + 1) if row["cause"] is not None else b""
        writer.slice((row["from_us"], row["to_us"]), tracks[row["class"]], "pause", about)


def _origins(writer: _Writer, root: int, pauses: pl.DataFrame) -> None:
    """Add an instant for each pause whose cause was not paused itself: there it began."""
    origins = pauses.with_row_index("row").filter(
        pl.col("cause").is_not_null() & pl.col("caused_by").is_null()
    )
    by_cause = {str(key[0]): rows for key, rows in origins.group_by("cause")}
    parent = writer.track("pause origins", root) if by_cause else root
    for port in sorted(by_cause, key=natural):
        track = writer.track(port, parent)
        for row in by_cause[port].sort("row").iter_rows(named=True):
            name = text_field(EVENT_NAME, f"pause of {ends_of(row['object'])[1]} begins")
            writer.event(row["sent_us"], INSTANT, track, name + fixed64_field(ARROWS, row["row"] + 1))


def _flows(writer: _Writer, result: Result) -> None:
    """Add the flows of each source; those that overlap are on tracks of their own."""
    root, end = writer.track("flows"), result.outcome.simulated_us
    flows = result.flows.with_columns(pl.col("source", "destination").cast(pl.String))
    mark = pl.when("finished").then(pl.lit("")).otherwise(pl.lit(" (unfinished)"))
    flows = flows.with_columns(
        to_us=pl.col("finish_receiver_us").fill_null(end),
        title=pl.concat_str(pl.col("flow_id").cast(pl.String), mark),
    ).sort("start_us", "flow_id")
    by_source = {str(key[0]): rows for key, rows in flows.group_by("source", maintain_order=True)}
    for source in sorted(by_source, key=natural):
        _packed(writer, writer.track(source, root), "flows", by_source[source], OF_FLOWS)


def _collectives(writer: _Writer, collectives: pl.DataFrame, end_us: float) -> None:
    """Add the collectives of each job."""
    root = writer.track("collectives")
    plain = collectives.with_columns(
        pl.col("workload").cast(pl.String), title="name", to_us=pl.col("end_us").fill_null(end_us)
    ).filter(pl.col("start_us").is_not_null())
    for (workload,), rows in plain.group_by("workload", maintain_order=True):
        track, spans = writer.track(str(workload), root), rows.sort("start_us")
        _packed(writer, track, "collectives", spans, OF_COLLECTIVES)


def _packed(writer: _Writer, parent: int, name: str, rows: pl.DataFrame, about: Sequence[str]) -> None:
    """Add a slice for each row, in the order of their starts, to as few tracks as do not let them overlap."""
    tracks: list[int] = []
    ends: list[float] = []
    for row in rows.iter_rows(named=True):
        free = next((number for number, end in enumerate(ends) if end <= row["start_us"]), len(ends))
        if free == len(ends):
            tracks.append(writer.track(name, parent))
            ends.append(0.0)
        ends[free] = row["to_us"]
        span, arguments = (row["start_us"], row["to_us"]), {key: row[key] for key in about}
        writer.slice(span, tracks[free], str(row["title"]), _annotations(arguments))


def _annotations(values: Mapping[str, object]) -> bytes:
    """Encode the arguments of a slice; those without a value are left out."""
    return b"".join(
        bytes_field(ANNOTATION, text_field(ANNOTATION_NAME, name) + _annotation(value))
        for name, value in values.items()
        if value is not None
    )


def _annotation(value: object) -> bytes:
    match value:
        case bool():
            return text_field(ANNOTATION_TEXT, "true" if value else "false")
        case int() if value >= 0:
            return uint_field(ANNOTATION_UINT, value)
        case int() | float():
            return double_field(ANNOTATION_DOUBLE, float(value))
        case _:
            return text_field(ANNOTATION_TEXT, str(value))


def _varint(value: int) -> bytes:
    """Encode a number from 0 up, seven bits a byte, the low ones first."""
    parts = bytearray()
    while value > 0x7F:  # noqa: PLR2004 (seven bits)
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def uint_field(number: int, value: int) -> bytes:
    """Encode a field of a whole number from 0 up.

    Examples
    --------
    >>> uint_field(1, 150).hex()
    '089601'
    """
    return _varint(number << 3 | VARINT) + _varint(value)


def fixed64_field(number: int, value: int) -> bytes:
    """Encode a field of 64 bits."""
    return _varint(number << 3 | FIXED64) + struct.pack("<Q", value)


def double_field(number: int, value: float) -> bytes:
    """Encode a field of a floating-point number."""
    return _varint(number << 3 | FIXED64) + struct.pack("<d", value)


def bytes_field(number: int, value: bytes) -> bytes:
    """Encode a field of bytes, or of another message.

    Examples
    --------
    >>> text_field(2, "testing").hex()
    '120774657374696e67'
    """
    return _varint(number << 3 | LENGTH) + _varint(len(value)) + value


def text_field(number: int, value: str) -> bytes:
    """Encode a field of text."""
    return bytes_field(number, value.encode())
