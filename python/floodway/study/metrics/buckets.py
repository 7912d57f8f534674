"""Throughput and queues of a link in buckets of a chosen width, from the series of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway.study.metrics.selection import chosen_link

if TYPE_CHECKING:
    from floodway.results import Result
    from floodway.study.metrics.selection import Options

__all__ = ["Buckets", "link_buckets", "queue_buckets"]

Numbers = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True, kw_only=True)
class Buckets:
    """Throughput of a link in time.

    Attributes
    ----------
    begin_us, span_us
        Begin and width of each bucket.
    gbps
        What it carried, on the wire.
    """

    begin_us: Numbers
    span_us: Numbers
    gbps: Numbers


def link_buckets(result: Result, options: Options) -> Buckets:
    """Compute what a link carried inside the window.

    A series has buckets of its own, which are as wide as `records.buckets` and the run's length make them.
    Bytes are spread evenly over theirs; so narrower ones than these show nothing more.
    """
    name = chosen_link(result, options)
    series = result.series.filter(
        (pl.col("object").cast(pl.String) == name) & (pl.col("metric").cast(pl.String) == "tx_bytes")
    ).sort("time_us")
    begins = series["time_us"].to_numpy().astype(np.float64)
    ends = begins + series["bucket_us"].to_numpy()
    if not len(begins):
        return Buckets(begin_us=begins, span_us=begins, gbps=begins)
    edges = _edges(options, begins, ends)
    if edges[-1] <= edges[0]:
        return Buckets(begin_us=edges[:0], span_us=edges[:0], gbps=edges[:0])
    # Bytes until each instant, which are bytes in each bucket when they are subtracted.
    instants = np.concatenate([begins[:1], ends])
    until = np.concatenate([[0.0], np.cumsum(series["value"].to_numpy().astype(np.float64))])
    sent = np.diff(np.interp(edges, instants, until))
    spans = np.diff(edges)
    return Buckets(begin_us=edges[:-1], span_us=spans, gbps=sent * 8e-3 / spans)


def queue_buckets(result: Result, options: Options) -> pl.DataFrame:
    """Return the longest queue of a link's port in each bucket of its series that begins inside the window.

    Returns
    -------
    polars.DataFrame
        Columns `time_us`, `span_us` and `queue_mb`, in order of time.
    """
    name = chosen_link(result, options)
    longest = pl.col("metric").cast(pl.String) == "queue_max_bytes"
    begin = pl.col("time_us").cast(pl.Float64)
    last = float("inf") if options.to_us is None else options.to_us
    return (
        result.series.filter((pl.col("object").cast(pl.String) == name) & longest)
        .select(
            begin,
            span_us=pl.col("bucket_us").cast(pl.Float64),
            queue_mb=pl.col("value").cast(pl.Float64) / 1e6,
        )
        .filter(begin.is_between(options.from_us, last, closed="left"))
        .sort("time_us")
    )


def _edges(options: Options, begins: Numbers, ends: Numbers) -> Numbers:
    """Return where buckets begin and the last one ends; a window beyond the run holds nothing there."""
    first, last = options.from_us, options.to_us if options.to_us is not None else float(ends[-1])
    if options.bucket_us is None:
        inner = np.unique(np.concatenate([begins, ends]))
        inner = inner[(inner > first) & (inner < last)]
        return np.concatenate([[first], inner, [last]])
    count = max(1, int(np.ceil((last - first) / options.bucket_us - 1e-9)))
    whole = [first + options.bucket_us * n for n in range(count)]
    return np.array([*whole, min(first + options.bucket_us * count, last)], dtype=np.float64)
