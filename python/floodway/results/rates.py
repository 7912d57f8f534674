"""Throughput in time, from the bytes that watched objects sent in each bucket."""

from __future__ import annotations

import polars as pl

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
    sent = series.filter(pl.col("metric") == "tx_bytes")
    number = pl.int_range(pl.len()).over("object")
    together = (pl.len().over("object") + points - 1) // points
    parts = sent.with_columns(part=number // together).group_by("object", "part", maintain_order=True)
    gbps = pl.col("value").sum() * 8e-3 / pl.col("bucket_us").sum()
    return parts.agg(pl.col("time_us").first(), gbps=gbps).drop("part")
