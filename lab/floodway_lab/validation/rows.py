"""Rows of a validation: numbers of the reference and ours side by side, each with its verdict."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Literal

from floodway_lab.validation.rules import Limit, spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from floodway_lab.validation.rules import Verdict

__all__ = ["Row", "Unit", "least_of", "limit_of", "relative", "share", "worst"]

#: The unit in which a number is shown.
Unit = Literal["share", "signed share", "us", "slowdown", "count", "KB"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One number.

    Attributes
    ----------
    key
        Its name in `validate.json`.
    label
        Its name in tables.
    unit
        Its unit.
    reference
        The reference's number; `None` where it is a number of both sides, such as a share of equal flows.
    ours
        Our numbers, one a seed; empty where there is nothing to compare.
    bounded_value
        The number that the limit applies to: our number, or the relative difference; `None` if unknown.
    limit
        The bound; `None` where the number is only shown.
    note
        The reason why it has no limit, or how to read it.
    """

    key: str
    label: str
    unit: Unit
    reference: float | None = None
    ours: tuple[float, ...] = ()
    bounded_value: float | None = None
    limit: Limit | None = None
    note: str = ""

    @property
    def typical(self) -> float | None:
        """The median of our seeds."""
        return median(self.ours) if self.ours else None

    @property
    def difference(self) -> float | None:
        """Relative difference of ours to the reference's; infinite where that is 0 and ours is not."""
        typical, reference = self.typical, self.reference
        if typical is None or reference is None:
            return None
        if reference == 0:
            return 0.0 if typical == 0 else float("inf")
        return (typical - reference) / reference

    @property
    def verdict(self) -> Verdict:
        """Whether the limit holds."""
        if self.limit is None or self.bounded_value is None:
            return "shown"
        return self.limit.verdict(self.bounded_value)


def relative(  # noqa: PLR0913 (the parts of a row)
    key: str,
    label: str,
    unit: Unit,
    *,
    reference: float,
    ours: Sequence[float],
    limit: Limit | None,
    slack: float = 0.0,
    note: str = "",
) -> Row:
    """Compare a number of the reference with the median of ours.

    Parameters
    ----------
    key, label, unit, reference, ours, limit, note
        As in `Row`; the limit is on the size of the relative difference.
    slack
        Difference that is allowed in addition, in the number's unit.
    """
    row = Row(key=key, label=label, unit=unit, reference=reference, ours=tuple(ours), limit=limit, note=note)
    difference = row.difference
    if difference is None or row.typical is None:
        return row
    beyond = max(0.0, abs(row.typical - reference) - slack)
    bounded_value = abs(difference) if beyond and reference == 0 else beyond / reference if reference else 0.0
    return Row(**{**vars(row), "bounded_value": bounded_value})


def share(key: str, label: str, *, ours: Sequence[float], limit: Limit | None, unit: Unit = "share") -> Row:
    """Return the row of a number of both sides, one a seed; that of the first seed counts."""
    bounded_value = ours[0] if ours else None
    return Row(key=key, label=label, unit=unit, ours=tuple(ours), bounded_value=bounded_value, limit=limit)


def limit_of(fixed: float | None, *, ours: Sequence[float] | float | None = None) -> Limit | None:
    """Return the limit of a difference.

    Parameters
    ----------
    fixed
        The fixed bound; `None` for no limit.
    ours
        Our seeds' numbers or their spread, which takes the bound's place where it is wider.
    """
    if fixed is None:
        return None
    width = 0.0 if ours is None else ours if isinstance(ours, float) else spread(ours)
    return Limit(side="most", value=max(fixed, width), is_spread=width > fixed)


def least_of(value: float | None) -> Limit | None:
    """Return the limit of a share that has a minimum; `None` for no limit."""
    return None if value is None else Limit(side="least", value=value)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of several verdicts: a failure, then a pass, then a number that is only shown."""
    distinct = set(verdicts)
    order: tuple[Verdict, ...] = ("fail", "pass", "shown")
    return next((verdict for verdict in order if verdict in distinct), "not run")
