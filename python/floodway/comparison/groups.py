"""Completion times of groups of flows: by workload, and within a workload by class of size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import polars as pl

from floodway.comparison.metrics import Metric, row_of
from floodway.results.quantities import bytes_text
from floodway.results.summary import percentile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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


#: A group: the workload's name, and the limits of the flows' sizes.
_Key = tuple[str, int, int]


def groups(results: Sequence[Sequence[Result]], *, paired: bool) -> tuple[Group, ...]:
    """Compute the completion times of every group that has measured flows in all runs.

    Parameters
    ----------
    results, paired
        As for `rows`. Workloads whose flows are all of one class have one group.
    """
    by_run = {id(result): _flows_by_group(result) for of_variant in results for result in of_variant}
    common = set.intersection(*map(set, by_run.values())) if by_run else set()
    order = dict.fromkeys(key for of_run in by_run.values() for key in of_run if key in common)
    workloads = [name for name, _, _ in order]
    only = len(set(workloads)) == 1
    rows_by_group = []
    for key in order:
        name, low, high = key
        alone = workloads.count(name) == 1
        label = _label(key, alone=alone, only=only)
        mean, p99, slowdown = (
            row_of(metric, results, paired=paired) for metric in _metrics(key, label, by_run)
        )
        rows_by_group.append(
            Group(
                label=label,
                workload=name,
                from_bytes=low,
                to_bytes=high,
                mean=mean,
                p99=p99,
                slowdown=slowdown,
                is_class=not alone,
            )
        )
    return tuple(rows_by_group)


def _flows_by_group(result: Result) -> dict[_Key, pl.DataFrame]:
    measured = result.flows.filter(pl.col("measured"))
    groups = {}
    for name in (workload.name for workload in result.outcome.workloads):
        of_workload = measured.filter(pl.col("workload").cast(pl.String) == name)
        for low, high in pairwise((0, *CLASSES, _LAST)):
            flows = of_workload.filter((pl.col("size_bytes") > low) & (pl.col("size_bytes") <= high))
            if len(flows):
                groups[name, low, high] = flows
    return groups


def _metrics(key: _Key, label: str, by_run: Mapping[int, Mapping[_Key, pl.DataFrame]]) -> Iterator[Metric]:
    """Yield the numbers of a group: its mean, and the percentiles of completion times and slowdown."""
    name, low, high = key
    word = f"{name}_{low}_{high}"

    def flows_of(result: Result) -> pl.DataFrame:
        return by_run[id(result)][key]

    def p99_of(column: str, result: Result) -> float | None:
        values = flows_of(result)[column]
        return percentile(values.drop_nulls().sort(), count=len(values), thousandths=990)

    yield Metric(
        f"{word}_fct_mean_us", f"{label}: mean, us", of_result=lambda result: _mean_us(flows_of(result))
    )
    for end, title, column in (
        ("fct_p99_us", "p99, us", "fct_us"),
        ("slowdown_p99", "slowdown, p99", "slowdown"),
    ):
        yield Metric(
            f"{word}_{end}",
            f"{label}: {title}",
            of_result=partial(p99_of, column),
            thousandths=990,
            flows=lambda result: len(flows_of(result)),
        )


def _mean_us(flows: pl.DataFrame) -> float | None:
    """Return the mean completion time; None if a flow did not finish: such means are not comparable."""
    fct = flows["fct_us"]
    # Rounded once: so it depends neither on the order nor on the library.
    return None if fct.null_count() else math.fsum(fct.to_list()) / len(fct)


def _label(key: _Key, *, alone: bool, only: bool) -> str:
    name, low, high = key
    flows = "flows" if only else f"{name} flows"
    if alone:
        return flows
    if not low:
        return f"{flows} up to {bytes_text(high)}"
    if high == _LAST:
        return f"{flows} above {bytes_text(low)}"
    return f"{flows} of {bytes_text(low)} to {bytes_text(high)}"
