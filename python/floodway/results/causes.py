"""Causes of pauses, as far as the records of a run say them.

A switch sends a pause while packets that came in by a link wait in it. The records do not say which packets
these were. What is taken as the cause is the egress port of that switch with the longest queue in the bucket
of time in which the pause was sent. If that port was paused itself at that time, the pause has the cause of
that pause; if not, it began at that port. `floodway why` follows a flow's own packets, and is exact.

Series of ports are matrices: a row a port, a column a bucket of time, all of one width.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from floodway.results.feedback import pause_spans
from floodway.results.metrics import direction_settings, settings_of
from floodway.results.quantities import quantity_us

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

    from floodway.results.result import Result

__all__ = ["Grid", "Values", "delays_us", "ends_of", "grid_of", "pause_causes", "ports_that_run_out"]

_Key = TypeVar("_Key", bound="Hashable")
Numbers = np.ndarray[Any, np.dtype[np.intp]]
#: Nothing: no port, no pause.
NONE = -1
#: Columns of pauses with their causes.
COLUMNS = {"object": pl.String, "class": pl.UInt64, "from_us": pl.Float64, "to_us": pl.Float64}
COLUMNS |= {"sent_us": pl.Float64, "cause": pl.String, "caused_by": pl.Int64}
Values = np.ndarray[Any, np.dtype[np.float64]]


#: Metrics that add up over buckets: a wider bucket is divided among narrower ones.
SUMS = ("tx_bytes", "paused_us")
#: Metrics that every port has.
METRICS = ("tx_bytes", "paused_us", "queue_max_bytes", "queue_mean_bytes")


def ends_of(port: str) -> tuple[str, str, str]:
    """Split the name of a port into its link, its node, and the node at the other end.

    Examples
    --------
    >>> ends_of("x1-x2#2: x1>x2")
    ('x1-x2#2', 'x1', 'x2')
    """
    link, _, direction = port.partition(": ")
    node, _, other = direction.partition(">")
    return link, node, other


def delays_us(result: Result, ports: Sequence[str]) -> list[float]:
    """Return the propagation delay of each port's link as the scenario has it, 0 where it does not say."""
    settings = direction_settings(result.run.scenario)
    delays = (settings_of(settings, port).get("delay") for port in ports)
    return [0.0 if delay is None else quantity_us(delay) for delay in delays]


def ports_that_run_out(spans: pl.DataFrame, grid: Grid) -> list[str]:
    """Return the ports of which some pauses ran out: the table of pauses has no row for that.

    They were paused for less, by their series, than from their pauses to the next resumes.

    Parameters
    ----------
    spans
        The pauses, as `pause_spans` or `pause_causes` returns them.
    grid
        The series of the same run.
    """
    if not grid.buckets:
        return []
    recorded = dict(zip(grid.ports, grid.values["paused_us"].sum(axis=1), strict=True))
    lengths = spans.group_by("object").agg(us=(pl.col("to_us") - pl.col("from_us")).sum())
    return [
        port for port, us in lengths.iter_rows() if port in recorded and us > recorded[port] * 1.000001 + 0.01
    ]


def pause_causes(result: Result, grid: Grid) -> pl.DataFrame:
    """Return the pauses of a run with their causes, in the order in which they began.

    Parameters
    ----------
    result
        The run; without `records.pauses` there are no rows.
    grid
        Its series.

    Returns
    -------
    polars.DataFrame
        `object`, `class`, `from_us`, `to_us` as `pause_spans` has them; `sent_us`, when the pause left the
        switch or host that sent it; `cause`, the port with the longest queue there, null for a host or where
        nothing waited in a recorded queue; `caused_by`, the row of the pause of that port at that time, null
        where it was not paused: the pause began there.
    """
    if result.pauses is None:
        return pl.DataFrame(schema=COLUMNS)
    spans = pause_spans(result).sort("from_us", "object", "class", maintain_order=True)
    ports = spans["object"].unique(maintain_order=True).to_list()
    delay = dict(zip(ports, delays_us(result, ports), strict=True))
    names = spans["object"].to_list()
    began = spans["from_us"].to_numpy()
    sent = np.maximum(began - np.array([delay[name] for name in names]), 0.0)
    cause = _longest(names, sent, grid)
    by = _pause_at(spans, cause, sent, grid.ports)
    return spans.with_columns(
        sent_us=pl.Series(sent, dtype=pl.Float64),
        cause=pl.Series([None if row == NONE else grid.ports[row] for row in cause], dtype=pl.String),
        caused_by=pl.Series([None if row == NONE else int(row) for row in by], dtype=pl.Int64),
    ).select(*COLUMNS)


def _longest(names: Sequence[str], sent: np.ndarray[Any, np.dtype[np.float64]], grid: Grid) -> Numbers:
    """Return the row of the port with the longest queue at the node that sent each pause."""
    leaving: dict[str, list[int]] = {}
    for row, port in enumerate(grid.ports):
        leaving.setdefault(ends_of(port)[1], []).append(row)
    buckets = grid.bucket_of(sent)
    cause = np.full(len(names), NONE, dtype=np.intp)
    for (link, node), pauses in _by_sender(names):
        rows = [row for row in leaving.get(node, ()) if ends_of(grid.ports[row])[0] != link]
        if rows:
            queues = grid.values["queue_max_bytes"][np.array(rows)[:, None], buckets[pauses]]
            longest = np.argmax(queues, axis=0)
            waits = queues[longest, np.arange(len(pauses))] > 0
            cause[pauses] = np.where(waits, np.array(rows)[longest], NONE)
    return cause


def _by_sender(names: Sequence[str]) -> Iterator[tuple[tuple[str, str], Numbers]]:
    """Group pauses by the link that they came by and the node that sent them."""
    for name, rows in _grouped(names).items():
        link, _, sender = ends_of(name)
        yield (link, sender), rows


def _pause_at(
    spans: pl.DataFrame, cause: Numbers, sent: np.ndarray[Any, np.dtype[np.float64]], ports: Sequence[str]
) -> Numbers:
    """Return the pause that a port was under at a time: of the same class if there is one."""
    classes = spans["class"].to_list()
    begins, ends = spans["from_us"].to_numpy(), spans["to_us"].to_numpy()
    by_port = _grouped(zip(spans["object"], classes, strict=True))
    by_cause = _grouped(
        (None if row == NONE else ports[row], class_) for row, class_ in zip(cause, classes, strict=True)
    )
    enclosing = np.full(len(cause), NONE, dtype=np.intp)
    for key, pauses in by_cause.items():
        rows = by_port.get(key)
        if rows is not None:
            at = np.searchsorted(begins[rows], sent[pauses], side="right") - 1
            under = (at >= 0) & (sent[pauses] < ends[rows[np.maximum(at, 0)]])
            enclosing[pauses[under]] = rows[at[under]]
    return enclosing


def _grouped(keys: Iterable[_Key]) -> dict[_Key, Numbers]:
    """Return the places of each key."""
    places: dict[_Key, list[int]] = {}
    for place, key in enumerate(keys):
        places.setdefault(key, []).append(place)
    return {key: np.array(indices, dtype=np.intp) for key, indices in places.items()}


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The series of ports over time, as matrices.

    Attributes
    ----------
    ports
        Names as in the series, `link: from>to`, in their order there; each has a row.
    width_us
        Width of a bucket, in microseconds; the narrowest of any port.
    widths_us
        Width of the buckets that each port was recorded in; in a wider bucket, sums are spread evenly.
    spans_us
        Length of each bucket: the last one may be cut short by the end of the run.
    values
        By metric of the series: a matrix of ports by buckets.
    """

    ports: tuple[str, ...]
    width_us: float
    widths_us: Values
    spans_us: Values
    values: Mapping[str, Values]

    @property
    def buckets(self) -> int:
        """Number of buckets."""
        return len(self.spans_us)

    def bucket_of(self, times_us: Values) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Return the bucket of each time; times outside the run are in the first or the last one."""
        index = np.floor_divide(times_us, self.width_us).astype(np.intp)
        return np.clip(index, 0, max(self.buckets - 1, 0))


def grid_of(result: Result) -> Grid:
    """Return the series of a run as matrices, with a row for each recorded port."""
    plain = result.series.with_columns(pl.col("object", "metric").cast(pl.String))
    ports = tuple(plain["object"].unique(maintain_order=True))
    end_us = result.outcome.simulated_us
    if not ports:
        return _empty()
    first = plain.group_by("object", maintain_order=True).agg(pl.col("bucket_us").max())
    widths = first["bucket_us"].to_numpy()
    width = float(widths.min())
    edges = np.append(np.arange(0, max(end_us, width / 2), width), max(end_us, width / 2))
    spans = np.diff(edges)
    shape = (len(ports), len(spans))
    numbers = pl.DataFrame({"object": ports, "row": range(len(ports))})
    rows = plain.join(numbers, on="object", maintain_order="left")
    values = {metric: _matrix(rows, metric, widths, width, shape) for metric in METRICS}
    return Grid(ports=ports, width_us=width, widths_us=widths, spans_us=spans, values=values)


def _empty() -> Grid:
    none = np.zeros((0, 0))
    return Grid(
        ports=(),
        width_us=1.0,
        widths_us=np.zeros(0),
        spans_us=np.zeros(0),
        values=dict.fromkeys(METRICS, none),
    )


def _matrix(rows: pl.DataFrame, metric: str, widths: Values, width: float, shape: tuple[int, int]) -> Values:
    """Fill the matrix of a metric; buckets that are wider than others are repeated."""
    metric_rows = rows.filter(pl.col("metric") == metric)
    row, time, value = (metric_rows[name].to_numpy() for name in ("row", "time_us", "value"))
    matrix = np.zeros(shape)
    for wide in np.unique(widths):
        times = max(round(float(wide) / width), 1)
        of_width = widths[row] == wide
        buckets = np.zeros((shape[0], -(-shape[1] // times)))
        index = np.minimum(np.round(time[of_width] / wide).astype(np.intp), buckets.shape[1] - 1)
        buckets[row[of_width], index] = value[of_width] / (times if metric in SUMS else 1)
        matrix += np.repeat(buckets, times, axis=1)[:, : shape[1]]
    return matrix
