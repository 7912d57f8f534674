"""Numbers of jobs: times and bandwidths of collectives, iterations, stragglers."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl

from floodway.results.iterations import iterations_of
from floodway.study.metrics.selection import of_sizes, of_workloads

if TYPE_CHECKING:
    from floodway.results import Result
    from floodway.study.metrics.selection import Options

__all__ = [
    "bandwidth_gbps",
    "collective_us",
    "exposed_us",
    "iteration_us",
    "straggler_us",
    "unfinished_ranks",
]

#: Columns of collectives that are numbers of them.
NUMBERS = ("time_us", "lag_us", "algbw_gbps", "busbw_gbps")


def collective_us(result: Result, options: Options, *, longest: bool) -> float | None:
    """Return the mean or longest time of collectives, from first start to last end of a rank."""
    times = _collectives(result, options)["time_us"]
    return cast("float | None", times.max() if longest else times.mean())


def bandwidth_gbps(result: Result, options: Options, *, column: str) -> float | None:
    """Return the bandwidth of collectives, weighted by their times: of equal ones that by the mean time."""
    collectives = _collectives(result, options)
    if collectives.is_empty():
        return None
    return float(np.average(collectives[column].to_numpy(), weights=collectives["time_us"].to_numpy()))


def straggler_us(result: Result, options: Options) -> float | None:
    """Return how long after the median rank a collective's last rank is done, the mean over collectives."""
    return cast("float | None", _collectives(result, options)["lag_us"].mean())


def iteration_us(result: Result, options: Options) -> float | None:
    """Return the mean time of jobs' iterations, from their first rank's start to their last one's end."""
    ranks = _iterations(result, options)
    if ranks is None:
        return None
    span_us = pl.col("end_us").max() - pl.col("start_us").min()
    spans = ranks.group_by("workload", "iteration", maintain_order=True).agg(time_us=span_us)
    return cast("float | None", spans["time_us"].mean())


def exposed_us(result: Result, options: Options) -> float | None:
    """Return the time in which a rank communicates and does not compute, mean over iterations and ranks."""
    ranks = _iterations(result, options)
    return None if ranks is None else cast("float | None", ranks["exposed_us"].mean())


def unfinished_ranks(result: Result, options: Options) -> int:
    """Return how many ranks of the jobs did not complete their programs."""
    workloads = options.workload
    return sum(
        job.ranks - job.finished for job in result.outcome.jobs if not workloads or job.workload in workloads
    )


def _collectives(result: Result, options: Options) -> pl.DataFrame:
    """Return the complete collectives that the options select."""
    if result.collectives is None:
        return pl.DataFrame(schema=dict.fromkeys(NUMBERS, pl.Float64))
    collectives = of_workloads(result.collectives, options).filter(pl.col("time_us").is_not_null())
    if options.operation:
        collectives = collectives.filter(pl.col("kind").cast(pl.String).is_in(list(options.operation)))
    return of_sizes(collectives, options, "bytes")


def _iterations(result: Result, options: Options) -> pl.DataFrame | None:
    """Return the ranks' iterations that the options select; no rows where the run had no job."""
    return None if result.operations is None else iterations_of(of_workloads(result.operations, options))
