"""Shares of a job's ranks over time: ranks that compute, and that have a message on the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from floodway.results import Result
    from floodway.simulation.critical_path import CriticalPath

    Times = np.ndarray[tuple[int], np.dtype[np.float64]]

__all__ = ["SHARES", "chosen_ranks", "messages_of", "shares_of"]

#: Activities of a rank; at each instant the first of these that applies.
SHARES = ("computing", "message", "other")
#: Number of intervals of the window.
PIECES = 240
#: Number of ranks that represent all ranks.
MOST_RANKS = 12


def messages_of(result: Result, operations: pl.DataFrame, limits: tuple[float, float]) -> pl.DataFrame:
    """Return the messages of jobs that were on the network inside a window.

    Parameters
    ----------
    result
        Result whose table of flows has the messages; those without a row are missing.
    operations
        Operations that are shown. They give the rank of each host: of several, the first.
    limits
        Begin and end of the window, in microseconds.

    Returns
    -------
    pl.DataFrame
        One row per message: `workload`, the `rank` that sends it, `node`, `bytes`, `start_us`, and `end_us`,
        when it has arrived.
    """
    flows = result.flows.select(
        pl.col("workload").cast(pl.String),
        pl.col("source").cast(pl.String).alias("node"),
        pl.col("size_bytes").alias("bytes"),
        pl.col("start_us"),
        # A message that has not arrived is on the network until the end.
        pl.col("finish_receiver_us").fill_null(limits[1]).alias("end_us"),
    )
    ranks = operations.group_by("workload", "node").agg(pl.col("rank").min())
    return (
        flows.filter(pl.col("end_us") >= limits[0], pl.col("start_us") <= limits[1])
        .join(ranks, on=["workload", "node"])
        .select("workload", "rank", "node", "bytes", "start_us", "end_us")
        .sort("workload", "rank", "start_us", "end_us")
    )


def shares_of(operations: pl.DataFrame, messages: pl.DataFrame, limits: tuple[float, float]) -> pl.DataFrame:
    """Return the shares of ranks by activity, in each interval of a window.

    Parameters
    ----------
    operations
        Operations of all ranks: `workload`, `rank`, `kind`, `start_us`, `end_us`.
    messages
        Messages, from `messages_of`.
    limits
        Begin and end of the window, in microseconds.

    Returns
    -------
    pl.DataFrame
        One row per interval: `start_us`, `end_us`, and the mean shares of ranks that were `computing`; of
        the others, that had a `message` on the network; and of the others, that were in an operation within
        their node or waited (`other`). A receive alone is not counted: it has not started.
    """
    edges = np.linspace(*limits, PIECES + 1)
    started = operations.filter(pl.col("kind") != "recv")
    ranks = operations.select("workload", "rank").n_unique()
    compute = started.filter(pl.col("kind") == "compute")
    sent = pl.concat([compute.select(_SPANS), messages.select(_SPANS)])
    # Each of these contains the one before it.
    covered = [_covered(frame, edges) for frame in (compute.select(_SPANS), sent, started.select(_SPANS))]
    covered[2] = np.maximum(covered[1], covered[2])
    parts = np.diff(np.stack(covered), prepend=0.0, axis=0) / max(ranks, 1)
    return pl.DataFrame(
        {"start_us": edges[:-1], "end_us": edges[1:], **dict(zip(SHARES, parts, strict=True))}
    )


_SPANS = ("workload", "rank", "start_us", "end_us")


def _covered(frame: pl.DataFrame, edges: Times) -> Times:
    """Return the mean number of ranks with a span in each interval."""
    total = np.zeros(len(edges))
    for rank_spans in frame.partition_by("workload", "rank"):
        spans = rank_spans.sort("start_us", "end_us")
        starts, ends = spans["start_us"].to_numpy(), spans["end_us"].to_numpy()
        before = np.concatenate(([-np.inf], np.maximum.accumulate(ends)))[:-1]
        begins = np.minimum(np.maximum(starts, before), ends)
        instants = np.maximum.accumulate(np.column_stack((begins, ends)).ravel())
        sums = np.cumsum(np.column_stack((np.zeros_like(begins), ends - begins)).ravel())
        total += np.interp(edges, instants, sums, left=0.0)
    return np.diff(total) / np.diff(edges)


def chosen_ranks(operations: pl.DataFrame, path: CriticalPath | None) -> list[tuple[str, int]]:
    """Return ranks that represent all ranks of a result.

    These are the first and the last rank of each job; the rank at which the critical path ends, and those at
    which its phases begin and end; without a path, those at which most operations of the job were last; and
    others between them.
    """
    every = [
        (str(job), int(rank)) for job, rank in operations.select("workload", "rank").unique().iter_rows()
    ]
    every.sort()
    first = [rank for at, rank in enumerate(every) if at == 0 or every[at - 1][0] != rank[0]]
    last = [rank for at, rank in enumerate(every) if at + 1 == len(every) or every[at + 1][0] != rank[0]]
    preferred = [*_slow(operations, path), *first, *last]
    evenly = [every[round(at * (len(every) - 1) / (MOST_RANKS - 1))] for at in range(MOST_RANKS)]
    existing = set(every)
    chosen = [rank for rank in dict.fromkeys([*preferred, *evenly]) if rank in existing][:MOST_RANKS]
    return sorted(chosen)


def _slow(operations: pl.DataFrame, path: CriticalPath | None) -> Sequence[tuple[str, int]]:
    """Return the ranks that others waited for."""
    if path is not None:
        ends: Iterable[int] = (
            rank for phase in path.phases for rank in (phase.steps[0].began_at, phase.steps[-1].rank)
        )
        ranks = dict.fromkeys([path.steps[-1].rank, *ends])
        return [(path.target.workload, rank) for rank in list(ranks)[: MOST_RANKS // 2]]
    together = operations.filter(pl.col("group").is_not_null())
    last = together.group_by("workload", "iteration", "group", "sequence").agg(
        pl.col("rank").sort_by("end_us", "rank").last()
    )
    often = (
        last.group_by("workload", "rank")
        .len()
        .sort("len", "workload", "rank", descending=[True, False, False])
    )
    return [
        (str(job), int(rank))
        for job, rank in often.select("workload", "rank").head(MOST_RANKS // 3).iter_rows()
    ]
