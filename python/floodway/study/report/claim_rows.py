"""Claims as rows of text, the same on the terminal and in the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.results.percentiles import of_flows

if TYPE_CHECKING:
    from floodway.study.claims.outcome import Part
    from floodway.study.claims.verdicts import Judged

__all__ = ["COLUMNS", "Shown", "expected", "shown"]

COLUMNS = ("figure", "claim", "published", "ours", "difference", "verdict", "remark")
# From here on a difference in percent is harder to read than how many times as much it is.
_TENFOLD = 9
_BOUNDS = {"about": "", "at-least": "at least ", "at-most": "at most "}


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A row of the table."""

    figure: str
    claim: str
    published: str
    ours: str
    difference: str
    verdict: str
    remark: str

    @property
    def cells(self) -> tuple[str, ...]:
        """Its cells, in the order of the columns."""
        return (
            self.figure,
            self.claim,
            self.published,
            self.ours,
            self.difference,
            self.verdict,
            self.remark,
        )


def shown(part: Part, found: Judged) -> Shown:
    """Return a claim with its verdict as text."""
    claim = found.claim
    source = f" ({claim.source})" if claim.source else ""
    return Shown(
        figure=claim.figure or part.study.name,
        claim=claim.says,
        published=_published(part, found) + source,
        ours=_ours(part, found),
        difference=_difference(found),
        verdict=found.verdict,
        remark=_remark(part, found),
    )


def expected(minutes: float | None, *, jobs: int) -> str:
    """Say how long something will take."""
    if minutes is None:
        return "how long that takes is not known yet"
    if minutes < 1:
        return "less than a minute"
    whole = round(minutes)
    span = f"{whole // 60} h {whole % 60} min" if whole >= 60 else f"{whole} min"  # noqa: PLR2004 (minutes of an hour)
    return f"about {span} in {jobs} process{'es' if jobs > 1 else ''}"


def _published(part: Part, found: Judged) -> str:
    claim = found.claim
    if claim.only_first:
        return f"{part.study.variant(claim.order[0]).label} {claim.best}"
    if claim.order:
        return ", ".join(part.study.variant(name).label for name in claim.order) + " (best first)"
    if claim.between is not None:
        low, high = (_number(each, relative=claim.relative) for each in claim.between)
        return f"{low} to {high}{_unit(found)}"
    return f"{_BOUNDS[claim.bound]}{_number(claim.value, relative=claim.relative)}{_unit(found)}"


def _ours(part: Part, found: Judged) -> str:
    if found.claim.order and found.parts:
        first = sum(part.verdict == "agrees" for part in found.parts)
        return f"holds for {first} of {len(found.parts)}"
    if found.claim.order:
        return ", ".join(f"{part.study.variant(name).label} {mean:,.4g}" for name, mean in found.found)
    if found.ours is None and found.low is not None and found.high is not None:
        low, high = (_number(each, relative=found.claim.relative) for each in (found.low, found.high))
        return f"{low} to {high}{_unit(found)}" + ("*" if found.unfinished else "")
    if found.ours is None:
        return f"not reached: {found.unfinished} flows unfinished" if found.unfinished else "-"
    text = _number(found.ours, relative=found.claim.relative)
    if found.low is not None and found.high is not None and found.low != found.high:
        low, high = (_number(each, relative=found.claim.relative) for each in (found.low, found.high))
        text += f" ({low} to {high})"
    return text + _unit(found) + ("*" if found.unfinished else "")


def _difference(found: Judged) -> str:
    if found.difference is None:
        return ""
    if found.claim.unit == "%":
        return f"{found.difference:+.1f} points"
    value = found.nearest
    if not value:
        return f"{found.difference:+.4g}"
    part = found.difference / value
    return f"{part + 1:,.0f} times" if part > _TENFOLD else f"{part * 100:+.1f} %"


def _remark(part: Part, found: Judged) -> str:
    claim = found.claim
    parts = [claim.remark]
    if found.unfinished:
        parts.append(f"{found.unfinished} flows did not finish")
    if found.few is not None:
        thousandths, fewest, most = found.few
        parts.append(of_flows(fewest, most, thousandths=thousandths, each="each run"))
    if claim.cause:
        label = part.study.variant(claim.cause).label
        number = (
            "" if found.cause is None else f": {_number(found.cause, relative=claim.relative)}{_unit(found)}"
        )
        parts.append(" ".join(f"With {label}{number}. {claim.cause_says}".split()))
    return " ".join(each if each.endswith((".", "!", "?")) else f"{each}." for each in parts if each)


def _number(value: float | None, *, relative: bool) -> str:
    if value is None:
        return "-"
    return f"{value:+,.1f}" if relative else f"{value:,.5g}" if abs(value) < 1e5 else f"{value:,.0f}"  # noqa: PLR2004 (digits)


def _unit(found: Judged) -> str:
    return f" {found.claim.unit}" if found.claim.unit else ""
