"""A configuration as one row of a table, for terminals and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway_lab.validation.formatting import KINDS, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway_lab.validation.case_results import CaseResult
    from floodway_lab.validation.rows import Row

__all__ = ["COLUMNS", "overview_row", "summary"]

#: Columns of an overview. Differences are of completion times; frames are pauses and resumes received, ours
#: and the reference's; queue samples are those in the same bins.
COLUMNS = (
    "case/configuration",
    "flows",
    "equal to the ns",
    "largest difference",
    "p99",
    "PFC frames (reference)",
    "queue samples equal",
    "run",
    "verdict",
)
NO_VALUE = "-"


def overview_row(result: CaseResult) -> tuple[str, ...]:
    """Return the cells of `COLUMNS`, of the run with the configuration's own seed."""
    label, flows = result.case.label, f"{len(result.reference.side.flows):,}"
    if result.not_run:
        return (label, flows, *[NO_VALUE] * (len(COLUMNS) - 3), "not run")
    rows_by_key = {row.key: row for row in result.rows}
    return (
        label,
        flows,
        _share(rows_by_key.get("fct.equal")),
        percent(rows_by_key["fct.largest"].ours[0]),
        _change(rows_by_key.get("fct.p99.all-sizes")),
        _frames(result),
        _share(rows_by_key.get("queue.equal")),
        f"{result.wall_s[0]:.2f} s" if result.wall_s else NO_VALUE,
        verdict_of(result),
    )


def verdict_of(result: CaseResult) -> str:
    """Return the verdict of a configuration as text, and the reason for bounds where it is not equal."""
    if result.verdict != "pass" or result.equal:
        return result.verdict
    return f"pass, within bounds: {KINDS[result.kind]}"


def summary(cases: Sequence[CaseResult]) -> str:
    """Return the number of configurations that equal the reference, and of our runs, as text."""
    equal = sum(result.equal for result in cases)
    runs = [wall for result in cases for wall in result.wall_s]
    return f"{equal} equal to the nanosecond; {len(runs)} runs of {sum(runs):.1f} s in all"


def _share(row: Row | None) -> str:
    return NO_VALUE if row is None else "all" if row.ours[0] == 1 else percent(row.ours[0])


def _change(row: Row | None) -> str:
    if row is None or not row.reference:
        return NO_VALUE
    return percent(row.ours[0] / row.reference - 1, signed=True)


def _frames(result: CaseResult) -> str:
    expected, ours = result.reference.side.pauses, result.sides[0].pauses
    return NO_VALUE if expected is None or ours is None else f"{len(ours):,} ({len(expected):,})"
