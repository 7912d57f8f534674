"""Collectives of jobs, from the operations of their ranks."""

from __future__ import annotations

import polars as pl

__all__ = ["bandwidths", "collectives_of"]

#: Condition of operations that all ranks of a group execute together.
COLLECTIVE = pl.col("group").is_not_null()
#: The columns that name a collective.
KEY = ["workload", "iteration", "group", "sequence"]


def collectives_of(operations: pl.DataFrame) -> pl.DataFrame:
    """Put the ranks' parts of each collective together.

    Parameters
    ----------
    operations
        One row an operation of a rank that is complete.

    Returns
    -------
    pl.DataFrame
        One row a collective of a group of ranks and iteration, in the order of their starts: `name`, `kind`,
        `bytes` as nccl-tests count them, `ranks` of the group, and of these `ranks_done`; `start_us` at the
        first rank and `end_us` at the last one, `time_us` between them; `algbw_gbps`, the bytes over that
        time, and `busbw_gbps` as nccl-tests define it, both in Gbit/s; `straggler`, the rank that was last,
        and `lag_us`, how long after the median of all ranks. Times of a collective that not all ranks have
        completed are null.
    """
    done = pl.col("ranks_done") == pl.col("ranks")
    time_us = pl.col("end_us") - pl.col("start_us")
    # Nothing takes no time.
    gbps = (pl.col("bytes") * 8 / pl.col("time_us") / 1e3).fill_nan(0.0)
    grouped = (
        operations.filter(COLLECTIVE)
        .group_by(KEY, maintain_order=True)
        .agg(
            pl.col("name", "kind", "bytes").first(),
            pl.col("group_ranks").first().cast(pl.UInt64).alias("ranks"),
            pl.len().cast(pl.UInt64).alias("ranks_done"),
            pl.col("start_us").min(),
            pl.col("end_us").max(),
            pl.col("rank").sort_by("end_us", "rank").last().alias("straggler"),
            (pl.col("end_us").max() - pl.col("end_us").median()).alias("lag_us"),
            pl.col("bus_factor").first(),
        )
    )
    return (
        grouped.with_columns(pl.col("group", "sequence").cast(pl.UInt64))
        .with_columns(pl.when(done).then(time_us).alias("time_us"))
        .with_columns(gbps.alias("algbw_gbps"))
        .with_columns((pl.col("algbw_gbps") * pl.col("bus_factor")).alias("busbw_gbps"))
        .sort("start_us", *KEY)
        .select(
            *KEY, "name", "kind", "bytes", "ranks", "ranks_done", "start_us", "end_us", "time_us",
            "algbw_gbps", "busbw_gbps", "straggler", "lag_us",
        )
    )  # fmt: skip


def bandwidths(collectives: pl.DataFrame) -> pl.DataFrame:
    """Report as nccl-tests do: a row for each workload, operation and size, workload by workload.

    Parameters
    ----------
    collectives
        As of `collectives_of`.

    Returns
    -------
    pl.DataFrame
        `count` of complete collectives, their shortest, mean and longest time in microseconds, and algorithm
        and bus bandwidth by the mean, in Gbit/s; nccl-tests print GB/s, an eighth of that.
    """
    size = ["workload", "kind", "name", "bytes", "ranks"]
    factor = (pl.col("busbw_gbps") / pl.col("algbw_gbps")).fill_nan(0.0)
    return (
        collectives.filter(pl.col("time_us").is_not_null())
        .with_columns(factor.alias("factor"))
        .group_by(size, maintain_order=True)
        .agg(
            pl.len().cast(pl.UInt64).alias("count"),
            pl.col("time_us").min().alias("least_us"),
            pl.col("time_us").mean().alias("mean_us"),
            pl.col("time_us").max().alias("most_us"),
            pl.col("factor").first(),
        )
        .with_columns((pl.col("bytes") * 8 / pl.col("mean_us") / 1e3).fill_nan(0.0).alias("algbw_gbps"))
        .with_columns((pl.col("algbw_gbps") * pl.col("factor")).alias("busbw_gbps"))
        .with_row_index("row")
        .sort(pl.col("row").min().over("workload"), "row")
        .drop("factor", "row")
    )
