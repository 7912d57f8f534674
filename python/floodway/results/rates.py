"""Throughput in time, from the bytes that watched objects sent in each bucket."""

from __future__ import annotations

import polars as pl

from floodway.results.metrics import THROUGHPUT, over_parts

__all__ = ["link_rates"]


def link_rates(series: pl.DataFrame, *, points: int) -> pl.DataFrame:
    """Compute what each watched link carried over equal parts of the run.

    A bucket of a short run holds few packets, and one packet more or less shows; wider parts do not.

    Parameters
    ----------
    series
        The table of series.
    points
        At most this many parts.

    Returns
    -------
    polars.DataFrame
        `object`, `time_us` (the part's begin), `gbps` (on the wire), in the order of `series`.
    """
    rates = over_parts(series, THROUGHPUT, points=points)
    return rates.select("object", "time_us", gbps=pl.col("value"))
