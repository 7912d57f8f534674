"""Iterations of jobs and what their time was spent on, from the operations of their ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway.results.parts import part_in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Times = np.ndarray[tuple[int], np.dtype[np.float64]]

__all__ = ["IterationSummary", "covered_until", "exposed_of", "iteration_summaries", "iterations_of"]

#: An iteration of a rank.
KEY = ["workload", "iteration", "rank"]
COMPUTES = pl.col("kind") == "compute"
#: A receive that waits for its sender is no communication of its rank: nothing has started there.
COMMUNICATES = ~pl.col("kind").is_in(["compute", "recv"])


@dataclass(frozen=True, kw_only=True)
class Exposed:
    """Communication of one name that no computation covered, as a mean over the ranks, in microseconds."""

    name: str
    mean_us: float


@dataclass(frozen=True, kw_only=True)
class IterationSummary:
    """An iteration of a job; parts are means over its ranks.

    Attributes
    ----------
    workload, iteration
        The job, and which of its iterations, from 0.
    time_us
        From the first rank's start to the last one's end, in microseconds.
    compute_us, exposed_us, idle_us
        Time computing; in communication without computation; and neither, as in the bubble of a pipeline and
        between a rank's end and that of the last one. Their sum is `time_us`.
    exposed
        The second of these by the name of what communicated.
    straggler, lag_us
        The rank that was last, and how long after the median of all ranks.
    layers, micro_batches
        Those that were simulated, and all of the model and of the iteration, where only some were: the times
        are of these alone.
    """

    workload: str
    iteration: int
    time_us: float
    compute_us: float
    exposed_us: float
    idle_us: float
    exposed: tuple[Exposed, ...]
    straggler: int
    lag_us: float
    layers: tuple[int, int] | None = None
    micro_batches: tuple[int, int] | None = None

    @property
    def part(self) -> str:
        """The simulated layers and micro-batches where they are not all, in words; else empty."""
        return part_in_words({"layers": self.layers, "micro_batches": self.micro_batches})


def iterations_of(operations: pl.DataFrame) -> pl.DataFrame:
    """Break the iterations of jobs down by rank.

    Parameters
    ----------
    operations
        One row an operation of a rank that is complete.

    Returns
    -------
    pl.DataFrame
        One row a workload, iteration and rank: `start_us` and `end_us` of the rank's first and last
        operation, `time_us` between them; `compute_us`, in which it computed; `exposed_us`, in which it did
        not compute and communication had started that was not complete; `idle_us`, the rest: it waited for
        nothing that had started at this rank, as in the bubble of a pipeline.
    """
    return _iterations(operations, exposed_of(operations))


def _idle(time: pl.Expr, compute: pl.Expr, exposed: pl.Expr) -> pl.Expr:
    """Return the rest of the time, of which rounding must not make less than nothing."""
    return (time - compute - exposed).clip(lower_bound=0.0)


def _iterations(operations: pl.DataFrame, exposed: pl.DataFrame) -> pl.DataFrame:
    """Break iterations down, with the exposed communication of each rank by name."""
    spans = operations.group_by(KEY, maintain_order=True).agg(
        pl.col("ready_us").min().alias("start_us"), pl.col("end_us").max()
    )
    computed = _rows(operations, "compute_us", lambda frame: [("", _union(*_spans(frame, COMPUTES)))])
    exposed = exposed.group_by(KEY).agg(pl.col("exposed_us").sum())
    return (
        spans.join(computed.drop("name"), on=KEY, how="left")
        .join(exposed, on=KEY, how="left")
        .with_columns(
            pl.col("iteration", "rank").cast(pl.UInt64),
            pl.col("exposed_us").fill_null(0.0),
            (pl.col("end_us") - pl.col("start_us")).alias("time_us"),
        )
        .with_columns(_idle(pl.col("time_us"), pl.col("compute_us"), pl.col("exposed_us")).alias("idle_us"))
        .select(*KEY, "start_us", "end_us", "time_us", "compute_us", "exposed_us", "idle_us")
        .sort(KEY)
    )


def exposed_of(operations: pl.DataFrame) -> pl.DataFrame:
    """Return by name the time of communication in which its rank did not compute.

    Parameters
    ----------
    operations
        One row an operation of a rank that is complete.

    Returns
    -------
    pl.DataFrame
        One row a workload, iteration, rank and `name` of operations other than computations and receives:
        `exposed_us`. Where several were under way at once, the time counts for the one that started first.
    """
    return _rows(operations, "exposed_us", _exposed)


def iteration_summaries(operations: pl.DataFrame) -> Iterator[IterationSummary]:
    """Summarise the iterations of jobs that compute; a job of collectives alone has none.

    Parameters
    ----------
    operations
        One row an operation of a rank that is complete.

    Yields
    ------
    IterationSummary
        By workload and iteration.
    """
    computing = operations.filter(COMPUTES)["workload"].unique()
    chosen = operations.filter(pl.col("workload").is_in(computing.implode()))
    keys = ["workload", "iteration"]
    exposed = exposed_of(chosen)
    of_names = exposed.group_by([*keys, "name"], maintain_order=True).agg(pl.col("exposed_us").sum())
    by_name = of_names.partition_by(keys, as_dict=True)
    for key, ranks in _iterations(chosen, exposed).partition_by(keys, as_dict=True).items():
        last = ranks.sort("end_us", "rank").row(-1, named=True)
        time_us = float(last["end_us"] - ranks["start_us"].min())
        compute_us, exposed_us = (
            float(ranks[name].sum()) / ranks.height for name in ("compute_us", "exposed_us")
        )
        parts = by_name.get(key, pl.DataFrame(schema={"name": pl.String, "exposed_us": pl.Float64}))
        yield IterationSummary(
            workload=str(key[0]),
            iteration=int(key[1]),
            time_us=time_us,
            compute_us=compute_us,
            exposed_us=exposed_us,
            idle_us=max(0.0, time_us - compute_us - exposed_us),
            exposed=tuple(
                Exposed(name=str(name), mean_us=float(total) / ranks.height)
                for name, total in parts.select("name", "exposed_us").iter_rows()
            ),
            straggler=int(last["rank"]),
            lag_us=float(last["end_us"] - ranks["end_us"].median()),
        )


def _rows(
    operations: pl.DataFrame, value: str, rows_of: Callable[[pl.DataFrame], Iterable[tuple[str, float]]]
) -> pl.DataFrame:
    """Return rows of a name and a value for each iteration of a rank."""
    types = {name: operations.schema[name] for name in KEY}
    parts = operations.partition_by(KEY, as_dict=True, maintain_order=True)
    rows = [(*key, *row) for key, frame in parts.items() for row in rows_of(frame)]
    return pl.DataFrame(rows, schema={**types, "name": pl.String, value: pl.Float64}, orient="row")


def _exposed(frame: pl.DataFrame) -> Iterator[tuple[str, float]]:
    """Return by name the time of communication that neither computation nor earlier communication covers."""
    communication = frame.filter(COMMUNICATES).sort("start_us", "operation")
    ends = communication["end_us"].to_numpy()
    begins = _uncovered(communication["start_us"].to_numpy(), ends)
    computed = covered_until(*_spans(frame, COMPUTES))
    times = (ends - begins) - (computed(ends) - computed(begins))
    totals: dict[str, float] = {}
    for name, time_us in zip(communication["name"], times.tolist(), strict=True):
        totals[name] = totals.get(name, 0.0) + time_us
    yield from totals.items()


def _spans(frame: pl.DataFrame, predicate: pl.Expr) -> tuple[Times, Times]:
    """Return starts and ends of operations, by start."""
    operations = frame.filter(predicate).sort("start_us", "end_us")
    return operations["start_us"].to_numpy(), operations["end_us"].to_numpy()


def _uncovered(starts: Times, ends: Times) -> Times:
    """Return where each span begins to cover what none before it covers; at its end if nowhere."""
    covered = np.concatenate(([-np.inf], np.maximum.accumulate(ends)))[:-1]
    return np.minimum(np.maximum(starts, covered), ends)


def _union(starts: Times, ends: Times) -> float:
    """Return the time that spans cover."""
    return float(covered_until(starts, ends)(np.array([np.inf]))[0]) if len(starts) else 0.0


def covered_until(starts: Times, ends: Times) -> Callable[[Times], Times]:
    """Return how much of the time before an instant spans cover."""
    if not len(starts):
        return np.zeros_like
    begins = _uncovered(starts, ends)
    instants = np.maximum.accumulate(np.column_stack((begins, ends)).ravel())
    totals = np.cumsum(np.column_stack((np.zeros_like(begins), ends - begins)).ravel())
    return lambda times: np.interp(times, instants, totals, left=0.0, right=float(totals[-1]))
