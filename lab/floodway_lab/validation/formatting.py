"""Numbers and verdicts of a validation as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from floodway.results.quantities import counted

if TYPE_CHECKING:
    from floodway_lab.validation.case_results import CaseResult
    from floodway_lab.validation.rows import Row, Unit
    from floodway_lab.validation.rules import Kind, Limit

__all__ = ["KINDS", "allowed", "difference", "headline", "number", "ours", "percent", "shown_rows"]

KINDS: dict[Kind, str] = {
    "equal": "equality is expected",
    "exact": "nothing left to chance",
    "tied": "flows start at the same instant",
    "random": "switches mark at random",
    "hashed": "a hash chooses paths that are not listed",
}


def shown_rows(result: CaseResult) -> list[Row]:
    """Return the rows of tables: all with a limit, and others worth a line."""
    return [row for row in result.rows if row.limit is not None or not row.note]


def headline(result: CaseResult) -> str:
    """Return the headline of a case: its name and what was compared."""
    flows = counted(len(result.reference.side.flows), "flow")
    runs = f"{len(result.seeds)} seed{'s' * (len(result.seeds) != 1)}"
    return f"{result.case.tag}: {flows}, {runs}; {KINDS[result.kind]}"


def number(value: float | None, unit: Unit) -> str:
    """Write a number in its unit."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        return "none"
    if unit in ("share", "signed share"):
        return percent(value, signed=unit == "signed share")
    digits, suffix = {"count": (0, ""), "slowdown": (3, ""), "us": (2, " us"), "KB": (1, " KB")}[unit]
    return f"{value:,.{digits}f}{suffix}"


def ours(row: Row) -> str:
    """Write our number: the median of the seeds, with the least and the most where they differ."""
    median = number(row.typical, row.unit)
    if len(set(row.ours)) < 2:  # noqa: PLR2004 (what a range is of)
        return median
    return f"{median} ({number(min(row.ours), row.unit)} to {number(max(row.ours), row.unit)})"


def difference(row: Row) -> str:
    """Write the relative difference."""
    change = row.difference
    if change is None:
        return "-"
    return percent(change, signed=True) if math.isfinite(change) else "none there"


def allowed(limit: Limit | None) -> str:
    """Write a bound."""
    if limit is None:
        return "-"
    bound = f"{limit.value * 100:.4g} %"
    if limit.side == "least":
        return f">= {bound}"
    return f"<= {bound}, own spread" if limit.is_spread else f"<= {bound}"


def percent(value: float, *, signed: bool = False) -> str:
    """Write a share, with more digits where it is nearly nothing or nearly all.

    Examples
    --------
    >>> percent(0.12345), percent(0.0000456), percent(0.99998), percent(1.0), percent(-0.02, signed=True)
    ('12.35 %', '0.0046 %', '99.9980 %', '100 %', '-2.00 %')
    """
    if value in (0, 1):
        return f"{value * 100:.0f} %"
    fine = min(abs(value), abs(1 - value)) < 0.001  # noqa: PLR2004 (a tenth of a percent)
    digits = 4 if fine else 2
    return f"{value * 100:{'+' if signed else ''}.{digits}f} %"
