"""Equality of a run and the reference to the nanosecond."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from floodway_lab.validation.counts import counts_equal
from floodway_lab.validation.flows import matched
from floodway_lab.validation.pauses import lines_equal
from floodway_lab.validation.queues import samples_apart

if TYPE_CHECKING:
    from floodway_lab.validation.case_results import Side

__all__ = ["decided", "equal"]


def equal(reference: Side, ours: Side) -> bool:
    """Return whether starts and ends of all flows, all PFC lines, samples of queues, and totals are equal.

    A table that the reference lacks is not compared; one that only our run lacks is a difference.
    """
    same = decided(reference, ours) and _queues(reference, ours)
    return same and counts_equal(reference.counts, ours.counts)


def decided(reference: Side, ours: Side) -> bool:
    """Return whether flows and PFC lines are equal, so that no other seed has to run."""
    return _flows(reference.flows, ours.flows) and _pauses(reference, ours)


def _flows(reference: pl.DataFrame, ours: pl.DataFrame) -> bool:
    match = matched(reference, ours)
    if match.unmatched or match.both.is_empty():
        return False
    same = (pl.col("start_ns") == pl.col("own_start_ns")) & (pl.col("fct_ns") == pl.col("own_fct_ns"))
    return bool(match.both.select(same.all()).item())


def _pauses(reference: Side, ours: Side) -> bool:
    if reference.pauses is None:
        return True
    return ours.pauses is not None and lines_equal(reference.pauses, ours.pauses) == 1


def _queues(reference: Side, ours: Side) -> bool:
    if reference.queues is None:
        return True
    return ours.queues is not None and samples_apart(reference.queues, ours.queues) == 0
