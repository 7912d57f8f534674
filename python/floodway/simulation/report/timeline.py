"""Ports over time as a page has them: frames in which peaks stay, pauses, states and marks."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from floodway.plot.region import BY_SEVERITY, QUIET
from floodway.results.causes import Grid, Values, pause_causes, ports_that_run_out
from floodway.results.feedback import port_names, signal_rows, state_spans
from floodway.simulation.report.page import packed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from floodway.results import Result

__all__ = ["Frames", "Steps", "frames_of", "marks_document", "pauses_document", "states_document"]

#: The shortest queue that is not shown as empty.
LEAST_BYTES = 64.0
#: Frames of small networks and of large ones, and the number of cells from which one is large.
MOST_FRAMES, MOST_FRAMES_OF_LARGE, LARGE = 1000, 500, 400_000

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
#: The most pauses in a page, which are the longest ones of a run.
MOST_PAUSES = 40_000


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Steps of values: of loads and shares of time, and of queues from 64 bytes to the longest."""

    load: int
    queue: int


@dataclass(frozen=True, kw_only=True)
class Frames:
    """Loads, queues and pauses of ports, frame by frame.

    Attributes
    ----------
    edges_us
        Begin of each frame, and the end of the last one.
    buckets
        Recorded buckets in a frame.
    load, load_low, load_high
        Mean, least and most throughput over the rate, of the buckets in a frame; 1 is the whole rate. Where a
        frame is one bucket, all three are the same.
    queue
        The longest queue in a frame, in bytes.
    paused
        Share of a frame in which a class was paused, 1 at most.
    widths_us
        Width of the buckets that each port was recorded in; 0 where it was not recorded.
    """

    edges_us: Values
    buckets: int
    load: Values
    load_low: Values
    load_high: Values
    queue: Values
    paused: Values
    widths_us: Values

    @property
    def count(self) -> int:
        """Number of frames."""
        return len(self.edges_us) - 1

    def frame_of(self, times_us: Values) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Return the frame of each time."""
        indices = np.searchsorted(self.edges_us, times_us, side="right") - 1
        return np.clip(indices, 0, max(self.count - 1, 0)).astype(np.intp)

    def packed_bytes(self, steps: Steps) -> int:
        """Estimate the size of the frames in the page, by a quick compression that is a little worse."""
        packs = (zlib.compress(column.tobytes(), 1) for column in self._columns(steps).values())
        return sum(map(len, packs)) * 4 // 3

    def _columns(self, steps: Steps) -> dict[str, Bytes]:
        columns = {
            "load": _shares(self.load, steps.load),
            "paused": _shares(self.paused, steps.load),
            "queue": _queues(self.queue, self._longest, steps.queue),
        }
        if self.buckets > 1:
            columns["loadLow"] = _shares(self.load_low, steps.load)
            columns["loadHigh"] = _shares(self.load_high, steps.load)
        return columns

    @property
    def _longest(self) -> float:
        return float(self.queue.max(initial=LEAST_BYTES * 2))

    def document(self, steps: Steps) -> dict[str, Any]:
        """Write the frames for the page."""
        return {
            "count": self.count,
            "edges": packed(self.edges_us, "f64"),
            "buckets": self.buckets,
            "loadSteps": steps.load,
            "queueSteps": steps.queue,
            "queueLeast": LEAST_BYTES,
            "queueMost": self._longest,
            "widths": packed(self.widths_us, "f32"),
            **{name: packed(values, "u8") for name, values in self._columns(steps).items()},
        }


def _shares(values: Values, steps: int) -> Bytes:
    """Round shares to steps; only nothing is 0."""
    rounded = np.rint(np.clip(values, 0, 1) * steps)
    shares: Bytes = np.where((values > 0) & (rounded == 0), 1, rounded).astype(np.uint8)
    return shares


def _queues(values: Values, longest: float, steps: int) -> Bytes:
    """Round queues to steps of equal ratios, from the least to the longest; 0 is an empty queue."""
    ratio = np.log(np.maximum(values, LEAST_BYTES) / LEAST_BYTES) / np.log(longest / LEAST_BYTES)
    codes: Bytes = np.where(values > 0, 1 + np.rint(ratio * (steps - 1)), 0).astype(np.uint8)
    return codes


def frames_of(grid: Grid, ports: Sequence[str], rates_gbps: Sequence[float]) -> Frames:
    """Make frames of a run's series: whole buckets, as many together as are needed to have few frames."""
    cells = len(ports) * grid.buckets
    most = MOST_FRAMES_OF_LARGE if cells > LARGE else MOST_FRAMES
    together = max(-(-grid.buckets // most), 1)
    starts = np.arange(0, max(grid.buckets, 1), together)
    row = {port: index for index, port in enumerate(grid.ports)}
    order = np.array([row.get(port, -1) for port in ports], dtype=np.intp)
    has_series = order >= 0
    spans = grid.spans_us if grid.buckets else np.ones(1)
    edges = np.append(np.append(0, np.cumsum(spans))[starts], spans.sum())

    def taken(metric: str) -> Values:
        values = np.zeros((len(ports), len(spans)))
        if grid.buckets:
            values[has_series] = grid.values[metric][order[has_series]]
        return values

    rates = np.array([rate or np.inf for rate in rates_gbps])[:, None]
    sent, lengths = taken("tx_bytes") * 8e-3 / rates, np.add.reduceat(spans, starts)
    widths = np.zeros(len(ports))
    widths[has_series] = grid.widths_us[order[has_series]]
    return Frames(
        edges_us=edges,
        buckets=together,
        load=np.add.reduceat(sent, starts, axis=1) / lengths,
        load_low=np.minimum.reduceat(sent / spans, starts, axis=1),
        load_high=np.maximum.reduceat(sent / spans, starts, axis=1),
        queue=np.maximum.reduceat(taken("queue_max_bytes"), starts, axis=1),
        paused=np.minimum(np.add.reduceat(taken("paused_us"), starts, axis=1) / lengths, 1),
        widths_us=widths,
    )


def pauses_document(
    result: Result, grid: Grid, frames: Frames, ports: Sequence[str]
) -> dict[str, Any] | None:
    """Write pauses with their causes: those of a port that are less than a frame apart, as one.

    Returns
    -------
    dict or None
        Columns, one entry a pause, sorted by begin: `port`, `from` (ns since the begin before), `to` (ns
        since its own begin), `count` (pauses that it is made of), `paused` (1 + the ns in which the port was
        paused, 0 where that is all of it), `cause` (a port, from 1 on; 0: no cause). `begins` has the ns from
        begin to begin of the pauses that one is made of, one after another; none where a page would have too
        many. `totals` has the sums of each port and cause, of all pauses before they are shown as one.
        `recorded` and `left_out` are numbers of pauses. None where the run did not record pauses.
    """
    if result.pauses is None:
        return None
    number = {port: index for index, port in enumerate(ports)}
    spans = paused_spans(result, grid)
    edges = frames.edges_us
    frame_us = float(edges[1] - edges[0]) if frames.count else 0.0
    # From one bucket of a microsecond to the next, pauses are distinguished.
    near = frame_us if grid.width_us > 1 or frames.buckets > 1 else 0.0
    apart = (pl.col("from_us") - pl.col("to_us").shift(1).over("object") > near).fill_null(value=True)
    new = apart | (pl.col("cause").ne_missing(pl.col("cause").shift(1).over("object")))
    joined = (
        spans.with_columns(group=new.cum_sum().over("object"))
        .group_by("object", "group", maintain_order=True)
        .agg(
            pl.col("from_us").min(),
            pl.col("to_us").max(),
            pl.col("cause").first(),
            pl.col("paused_us").sum(),
            begins=pl.col("from_us"),
            count=pl.len(),
        )
    )
    longest = joined.sort("paused_us", descending=True, maintain_order=True).head(MOST_PAUSES)
    longest = longest.sort("from_us", "object")
    begins, ends, paused = (_ns(longest[name]) for name in ("from_us", "to_us", "paused_us"))
    paused = np.where(np.abs(paused - (ends - begins)) <= 1, 0, paused + 1)
    narrow = "u16" if len(ports) < (1 << 16) - 1 else "u32"
    return {
        "port": packed([number[name] for name in longest["object"]], narrow),
        "from": packed(np.diff(begins, prepend=0), "u32"),
        "to": packed(ends - begins, "u32"),
        "begins": packed(_steps(longest["begins"]) if len(spans) <= MOST_PAUSES else (), "u32"),
        "count": packed(longest["count"].to_numpy(), "u32"),
        "paused": packed(paused, "u32"),
        "cause": packed(_causes(longest, number), narrow),
        "totals": _totals(spans, number),
        "recorded": len(spans),
        "left_out": int(joined["count"].sum()) - int(longest["count"].sum()),
        "near_us": near,
    }


def paused_spans(result: Result, grid: Grid) -> pl.DataFrame:
    """Return the pauses of a run with their causes and durations.

    The table of pauses has no row where a pause runs out. The series have the paused time of each bucket.
    Where a port was paused for less than its pauses last from frame to frame, some of them ran out: then
    each pause frame is a pause of its own, and shares the paused time of its bucket.

    Returns
    -------
    polars.DataFrame
        As `pause_causes` has it, by port and begin, with `paused_us` and `runs_out`.
    """
    spans = pause_causes(result, grid)
    outs = ports_that_run_out(spans, grid)
    if outs and result.pauses is not None:
        table = _frame_by_frame(result, result.pauses, outs)
        spans = pause_causes(replace(result, pauses=table), grid)
    spans = spans.sort("object", "from_us").with_columns(
        paused_us=pl.col("to_us") - pl.col("from_us"), runs_out=pl.col("object").is_in(outs)
    )
    if not outs:
        return spans
    paused = spans["paused_us"].to_numpy().copy()
    row = {port: index for index, port in enumerate(grid.ports)}
    edges = np.append(0.0, np.cumsum(grid.spans_us))
    names = spans["object"].to_numpy()
    for port in outs:
        indices = np.flatnonzero(names == port)
        begins, ends = (spans[name].to_numpy()[indices] for name in ("from_us", "to_us"))
        paused[indices] = _shared(begins, ends, edges, grid.values["paused_us"][row[port]])
    return spans.with_columns(paused_us=pl.Series(paused))


def _frame_by_frame(result: Result, pauses: pl.DataFrame, ports: Sequence[str]) -> pl.DataFrame:
    """Return the table of pauses, in which each pause of some ports ends where the next begins."""
    names = port_names(result).filter(pl.col("object").is_in(list(ports)))
    keys = {(node, link) for node, link, _ in names.iter_rows()}
    rows = pauses.with_row_index("row")
    port_key = pl.struct(pl.col("node", "link").cast(pl.String))
    mine = rows.filter(port_key.is_in([{"node": node, "link": link} for node, link in sorted(keys)]))
    before = pl.col("event").shift(1).over("node", "link", "class")
    again = mine.filter((pl.col("event").cast(pl.String) == "pause") & (before.cast(pl.String) == "pause"))
    ended = again.with_columns(event=pl.lit("resume").cast(rows.schema["event"]))
    both = pl.concat([ended.with_columns(first=0), rows.with_columns(first=1)])
    return both.sort("row", "first").drop("row", "first")


def _shared(begins: Values, ends: Values, edges: Values, paused: Values) -> Values:
    """Share the paused time of each bucket among the pauses in it, by their lengths there."""

    def passed(times: Values) -> Values:
        """Sum, at each edge, how far it is past the times before it."""
        ordered = np.sort(times)
        sums = np.append(0.0, np.cumsum(ordered))
        before = np.searchsorted(ordered, edges)
        past: Values = before * edges - sums[before]
        return past

    covered = passed(begins) - passed(ends)
    lengths = np.append(0.0, np.cumsum(ends - begins))
    # A pause that is still in force at the end has no bucket after it.
    covered[-1] = lengths[-1]
    at: Values = np.diff(np.interp(lengths, covered, np.append(0.0, np.cumsum(paused))))
    return at


def _totals(spans: pl.DataFrame, number: Mapping[str, int]) -> dict[str, Any]:
    """Sum the pauses of each port and cause; `began` are those whose cause was not paused itself."""
    sums = (
        spans.group_by("object", "cause", maintain_order=True)
        .agg(
            pl.col("paused_us").sum(),
            pl.col("from_us").min(),
            pl.col("runs_out").first(),
            count=pl.len(),
            began=pl.col("caused_by").is_null().sum(),
        )
        .sort("object", "cause")
    )
    return {
        "port": packed([number[name] for name in sums["object"]], "u32"),
        "cause": packed(_causes(sums, number), "u32"),
        "count": packed(sums["count"].to_numpy(), "u32"),
        "paused": packed(sums["paused_us"].to_numpy(), "f64"),
        "first": packed(sums["from_us"].to_numpy(), "f64"),
        "began": packed(sums["began"].to_numpy(), "u32"),
        "runsOut": packed(sums["runs_out"].to_numpy(), "u8"),
    }


def _steps(begins: pl.Series) -> Values:
    """Return the ns from each begin to the next of the pauses that are shown as one, in their order."""
    if not len(begins):
        return np.zeros(0)
    return np.concatenate([np.diff(_ns(group.sort())) for group in begins])


def _causes(rows: pl.DataFrame, number: Mapping[str, int]) -> list[int]:
    return [0 if cause is None else number[cause] + 1 for cause in rows["cause"]]


def states_document(result: Result, frames: Frames, ports: Sequence[str]) -> dict[str, Any] | None:
    """Write the states of ports in each frame, the gravest of it; None where there are none."""
    if result.signals is None:
        return None
    spans = state_spans(result)
    present = set(spans["state"].drop_nulls().unique().to_list())
    others = sorted(present.difference(BY_SEVERITY, QUIET))
    names = [name for name in (*QUIET, *reversed((*BY_SEVERITY, *others))) if name in present]
    if not set(names).difference(QUIET):
        return None
    rank = {name: 0 if name in QUIET else index for index, name in enumerate(names, start=1)}
    states = np.zeros((len(ports), frames.count), dtype=np.uint8)
    number = {port: index for index, port in enumerate(ports)}
    first = frames.frame_of(spans["from_us"].to_numpy())
    last = frames.frame_of(np.nextafter(spans["to_us"].to_numpy(), 0))
    for name, state, begin, end in zip(spans["object"], spans["state"], first, last, strict=True):
        cells = states[number[name], begin : end + 1]
        np.maximum(cells, rank[state], out=cells)
    return {"names": ["", *names], "states": packed(states, "u8")}


def marks_document(result: Result, frames: Frames, ports: Sequence[str]) -> dict[str, Any] | None:
    """Count marks and CNPs of each port and frame, only where there are any; None if none were recorded."""
    if result.signals is None:
        return None
    number = {port: index for index, port in enumerate(ports)}
    rows = signal_rows(result).filter(pl.col("event").is_in(["mark-ce", "mark-ue", "cnp"]))
    times = frames.frame_of(rows["time_ns"].to_numpy() / 1000)
    marks = rows.with_columns(frame=pl.Series(times), cnp=pl.col("event") == "cnp")
    counts = marks.group_by("object", "frame", "cnp").agg(count=pl.len()).sort("object", "frame", "cnp")
    return {
        "port": packed([number[name] for name in counts["object"]], "u32"),
        "frame": packed(counts["frame"].to_numpy(), "u16"),
        "cnp": packed(counts["cnp"].to_numpy(), "u8"),
        "count": packed(counts["count"].to_numpy(), "u32"),
    }


def _ns(times_us: pl.Series) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Round times to nanoseconds, down."""
    return np.rint(times_us.to_numpy() * 1e6).astype(np.int64) // 1000
