"""Completion times of groups of flows: by workload, and within a workload by class of size."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from floodway.comparison.metrics import Metric, row_of
from floodway.results.percentiles import is_few
from floodway.results.quantities import bytes_text
from floodway.results.summary import percentile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from floodway.comparison.metrics import Row
    from floodway.results import Result

__all__ = ["CLASSES", "Group", "groups"]

#: Sizes at which classes end: small flows have up to 100 KB, large ones more than 10 MB (Alizadeh et al.,
#: "pFabric", SIGCOMM 2013, section 5).
CLASSES = (100_000, 10_000_000)
_LAST = 10**18


@dataclass(frozen=True, kw_only=True)
class Group:
    """Flows of a workload, or of a class of its sizes.

    Attributes
    ----------
    label
        Name of the group in sentences.
    workload
        Workload of the flows.
    from_bytes, to_bytes
        Limits of the flows' sizes: above the first and up to the second.
    mean, p99, slowdown
        Rows: the mean and the 99th percentile of completion times, and that of slowdown.
    is_class
        Whether the group is a class of sizes: flows of different sizes are compared by slowdown.
    """

    label: str
    workload: str
    from_bytes: int
    to_bytes: int
    mean: Row
    p99: Row
    slowdown: Row
    is_class: bool


@dataclass(frozen=True)
class _Times:
    """Completion times of a group in one run."""

    flows: int
    unfinished: int
    mean_us: float | None
    p99_us: float | None
    slowdown: float | None


def groups(results: Sequence[Sequence[Result]], *, paired: bool) -> tuple[Group, ...]:
    """Compute the completion times of every group that has measured flows in all runs.

    Parameters
    ----------
    results, paired
        As for `rows`. Workloads whose flows are all of one class have one group.
    """
    by_run = {id(result): _times_of(result) for of_variant in results for result in of_variant}
    common = set.intersection(*(set(times) for times in by_run.values())) if by_run else set()
    order = {key: None for times in by_run.values() for key in times if key in common}
    workloads = [name for name, _, _ in order]
    return tuple(
        _group(
            key,
            partial(_looked_up, by_run=by_run, key=key),
            results,
            alone=workloads.count(key[0]) == 1,
            only=len(set(workloads)) == 1,
            paired=paired,
        )
        for key in order
    )


def _looked_up(
    result: Result, *, by_run: dict[int, dict[tuple[str, int, int], _Times]], key: tuple[str, int, int]
) -> _Times:
    return by_run[id(result)][key]


def _times_of(result: Result) -> dict[tuple[str, int, int], _Times]:
    measured = result.flows.filter(pl.col("measured"))
    edges = (0, *CLASSES, _LAST)
    times = {}
    for name in (workload.name for workload in result.outcome.workloads):
        workload_flows = measured.filter(pl.col("workload").cast(pl.String) == name)
        for low, high in pairwise(edges):
            flows = workload_flows.filter((pl.col("size_bytes") > low) & (pl.col("size_bytes") <= high))
            if len(flows):
                times[name, low, high] = _times(flows)
    return times


def _times(flows: pl.DataFrame) -> _Times:
    fct, slowdown = (flows[name].drop_nulls().sort() for name in ("fct_us", "slowdown"))
    return _Times(
        flows=len(flows),
        unfinished=len(flows) - len(fct),
        # Rounded once: so it depends neither on the order nor on the library.
        mean_us=math.fsum(fct.to_list()) / len(fct) if len(fct) else None,
        p99_us=percentile(fct, count=len(flows), thousandths=990),
        slowdown=percentile(slowdown, count=len(flows), thousandths=990),
    )


def _group(  # noqa: PLR0913 (what a group is made of)
    key: tuple[str, int, int],
    times: Callable[[Result], _Times],
    results: Sequence[Sequence[Result]],
    *,
    alone: bool,
    only: bool,
    paired: bool,
) -> Group:
    name, low, high = key
    label = _label(key, alone=alone, only=only)
    mean, p99, slowdown = (
        row_of(metric, results, paired=paired) for metric in _metrics(f"{name}_{low}_{high}", label, times)
    )
    fewest = [min((times(result).flows for result in of_variant), default=0) for of_variant in results]
    few = [flows if is_few(flows, thousandths=990) else None for flows in fewest]

    def noted(row: Row) -> Row:
        cells = (replace(cell, few=flows) for cell, flows in zip(row.cells, few, strict=True))
        return replace(row, cells=tuple(cells))

    return Group(
        label=label,
        workload=name,
        from_bytes=low,
        to_bytes=high,
        mean=mean,
        p99=noted(p99),
        slowdown=noted(slowdown),
        is_class=not alone,
    )


def _metrics(key: str, label: str, times: Callable[[Result], _Times]) -> Iterator[Metric]:
    def mean(result: Result) -> float | None:
        group_times = times(result)
        # Means over different flows are not comparable.
        return None if group_times.unfinished else group_times.mean_us

    def no_summary(_: object) -> None:
        return None

    yield Metric(key=f"{key}_fct_mean_us", label=f"{label}: mean, us", of_summary=no_summary, of_result=mean)
    yield Metric(
        key=f"{key}_fct_p99_us",
        label=f"{label}: p99, us",
        of_summary=no_summary,
        of_result=lambda result: times(result).p99_us,
    )
    yield Metric(
        key=f"{key}_slowdown_p99",
        label=f"{label}: slowdown, p99",
        of_summary=no_summary,
        of_result=lambda result: times(result).slowdown,
    )


def _label(key: tuple[str, int, int], *, alone: bool, only: bool) -> str:
    name, low, high = key
    flows = "flows" if only else f"{name} flows"
    if alone:
        return flows
    if not low:
        return f"{flows} up to {bytes_text(high)}"
    if high == _LAST:
        return f"{flows} above {bytes_text(low)}"
    return f"{flows} of {bytes_text(low)} to {bytes_text(high)}"
