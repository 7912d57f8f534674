"""Series of ports as matrices: a row a port, a column a bucket of time, all of one width."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from floodway.results.result import Result

__all__ = ["Grid", "Values", "grid_of"]

Values = np.ndarray[Any, np.dtype[np.float64]]

#: Metrics that add up over buckets: a wider bucket is divided among narrower ones.
SUMS = ("tx_bytes", "paused_us")
#: Metrics that every port has.
METRICS = ("tx_bytes", "paused_us", "queue_max_bytes", "queue_mean_bytes")


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
