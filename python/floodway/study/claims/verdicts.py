"""Verdicts on claims: our numbers beside the published ones."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from floodway.study.claims.numbers import Cell, Numbers
    from floodway.study.format.model import Claim, Coordinates, Study

__all__ = ["VERDICTS", "Judged", "Verdict", "claim_verdicts"]

Verdict = Literal["agrees", "same direction", "differs", "unfinished", "not run"]
VERDICTS: tuple[Verdict, ...] = ("agrees", "same direction", "differs", "unfinished", "not run")
#: From best to worst for a claim over several numbers.
_BAD: tuple[Verdict, ...] = ("agrees", "same direction", "differs", "unfinished", "not run")
#: Maximum number of differing numbers that are named.
MOST_NAMED = 4
#: A published value lies inside a range over this many seeds or more only.
LEAST_SEEDS = 2


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A claim with what was found.

    Attributes
    ----------
    claim
        What was published; the remark of an order names those that we found equal.
    ours
        Our number: in percent where the claim is relative; None where there is none.
    low, high
        Its range over the seeds.
    seeds
        How many seeds it is of.
    unfinished
        Flows that did not finish among those that it is of.
    found
        For an order: the variants as we found them, best first, with their numbers.
    cause
        The number that the experiment of its cause gives in its place; None where there is none.
    few
        Of a percentile of flows: which one, times 10, and of how many flows it is at least and at most.
    verdict
        The verdict.
    parts
        Of a claim over several numbers or orders: each of those that are run.
    """

    claim: Claim
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    seeds: int = 0
    unfinished: int = 0
    found: tuple[tuple[str, float], ...] = ()
    cause: float | None = None
    few: tuple[int, int, int] | None = None
    verdict: Verdict = "not run"
    parts: tuple[Judged, ...] = ()

    @property
    def difference(self) -> float | None:
        """Ours less the published value; of a range, less the nearer end, and 0 inside."""
        return None if self.ours is None or self.nearest is None else self.ours - self.nearest

    @property
    def nearest(self) -> float | None:
        """The published number that is nearest to ours."""
        if self.claim.between is None or self.ours is None:
            return self.claim.value
        low, high = self.claim.between
        return min(max(self.ours, low), high)


def claim_verdicts(study: Study, numbers: Numbers) -> tuple[Judged, ...]:
    """Judge every claim of a study."""
    return tuple(_claim_verdict(study, claim, numbers) for claim in study.claims)


def _claim_verdict(study: Study, claim: Claim, numbers: Numbers) -> Judged:
    if claim.several:
        parts = [_claim_verdict(study, part, numbers) for part in _parts(claim) if _is_planned(part, numbers)]
        return _together(study, claim, tuple(parts))
    return _order(study, claim, numbers) if claim.order else _number(claim, numbers)


def _is_planned(claim: Claim, numbers: Numbers) -> bool:
    """Whether all that a claim needs is to be run: the quick version leaves points and variants out."""
    cells = [numbers.cell(claim.metric, name, claim.at) for name in (*claim.variants, *claim.rivals)]
    return all(cell.values or cell.missing for cell in cells)


def _number(claim: Claim, numbers: Numbers) -> Judged:
    own = numbers.cell(claim.metric, claim.variant, claim.at)
    other = numbers.cell(claim.metric, claim.against, claim.against_at) if claim.relative else None
    cells = [own] if other is None else [own, other]
    if any(not cell.values or cell.missing for cell in cells):
        return Judged(claim=claim)
    unfinished = sum(cell.unfinished for cell in cells)
    values = _values(own, other)
    ours = own.mean if other is None else _percent(own.mean, other.mean)
    cause = _of_cause(claim, numbers, other)
    few = own.few(claim.metric.kind.thousandths)
    if ours is None:
        return Judged(
            claim=claim,
            unfinished=unfinished,
            cause=cause,
            seeds=len(own.values),
            verdict="unfinished" if unfinished else "differs",
        )
    low, high = min((*values, ours)), max((*values, ours))
    found = Judged(
        claim=claim,
        ours=ours,
        low=low,
        high=high,
        seeds=len(values),
        unfinished=unfinished,
        cause=cause,
        few=few,
    )
    return Judged(**{**found.__dict__, "verdict": "unfinished" if unfinished else _verdict(found)})


def _verdict(found: Judged) -> Verdict:
    claim = found.claim
    difference, nearest = found.difference, found.nearest
    if difference is None or nearest is None or found.ours is None or found.low is None or found.high is None:
        return "not run"
    inside = found.seeds >= LEAST_SEEDS and found.low <= nearest <= found.high
    beyond = (claim.bound == "at-least" and difference >= 0) or (claim.bound == "at-most" and difference <= 0)
    if abs(difference) <= _allowed(claim, nearest) or inside or beyond:
        return "agrees"
    # What is printed as zero has no direction.
    same = claim.relative and round(found.ours, 1) * nearest > 0
    return "same direction" if same else "differs"


def _allowed(claim: Claim, nearest: float) -> float:
    """Return how far ours may be off: points of a percentage, percent of anything else."""
    in_points = claim.relative or claim.unit == "%"
    return claim.tolerance if in_points else abs(nearest) * claim.tolerance / 100


def _order(study: Study, claim: Claim, numbers: Numbers) -> Judged:
    cells = {name: numbers.cell(claim.metric, name, claim.at) for name in claim.order}
    if any(not cell.values or cell.missing for cell in cells.values()):
        return Judged(claim=claim)
    unfinished = sum(cell.unfinished for cell in cells.values())
    seeds = min(len(cell.values) for cell in cells.values())
    means = {name: cell.mean for name, cell in cells.items()}
    few = _together_few(cell.few(claim.metric.kind.thousandths) for cell in cells.values())
    # A variant that leaves flows unfinished is worse than any that does not.
    known = {name: mean for name, mean in means.items() if mean is not None and not cells[name].unfinished}
    last = [name for name in claim.order if name not in known]
    ranked = sorted(known, key=lambda name: known[name] * (1 if claim.best == "lowest" else -1))
    order = (*ranked, *last)
    found = tuple((name, known[name]) for name in ranked)
    equal = [(one, other) for one, other in itertools.pairwise(ranked) if known[one] == known[other]]
    verdict = _order_verdict(
        claim,
        order,
        undecided=len(last) > 1 or (bool(last) and claim.best == "highest"),
        tied=any(not claim.only_first or claim.order[0] in pair for pair in equal),
    )
    if equal and not claim.only_first:
        claim = replace(claim, remark=_with_equal(study, claim.remark, equal))
    return Judged(claim=claim, found=found, seeds=seeds, unfinished=unfinished, few=few, verdict=verdict)


def _together_few(few: Iterable[tuple[int, int, int] | None]) -> tuple[int, int, int] | None:
    """Return a percentile with the least and the most flows that it is of in any of some numbers."""
    known = [each for each in few if each is not None]
    return (known[0][0], min(each[1] for each in known), max(each[2] for each in known)) if known else None


def _with_equal(study: Study, remark: str, equal: Iterable[tuple[str, str]]) -> str:
    """Return a remark that also names the variants that are equal."""
    first = [remark if remark.endswith((".", "!", "?")) else f"{remark}."] if remark else []
    pairs = (
        f"{study.variant(one).label} and {study.variant(other).label} are equal." for one, other in equal
    )
    return " ".join([*first, *pairs])


def _order_verdict(claim: Claim, order: Sequence[str], *, undecided: bool, tied: bool) -> Verdict:
    if undecided:
        return "unfinished"
    if claim.only_first:
        return "agrees" if order[0] == claim.order[0] and not tied else "differs"
    # Between equal numbers, any order is a choice.
    if tied:
        return "differs"
    if tuple(order) == claim.order:
        return "agrees"
    return "same direction" if order[0] == claim.order[0] else "differs"


def _values(own: Cell, other: Cell | None) -> tuple[float, ...]:
    """Return the number of each seed; of a difference, those seeds that both have."""
    if other is None:
        return own.known
    pairs = [
        (own.values[seed].value, other.values[seed].value) for seed in own.values if seed in other.values
    ]
    changes = [_percent(value, base) for value, base in pairs]
    return tuple(change for change in changes if change is not None)


def _percent(value: float | None, base: float | None) -> float | None:
    return (value / base - 1) * 100 if value is not None and base else None


def _of_cause(claim: Claim, numbers: Numbers, other: Cell | None) -> float | None:
    """Return the number with the variant that isolates the cause in the place of the claim's own."""
    if not claim.cause:
        return None
    at: Coordinates = claim.at
    cell = numbers.cell(claim.metric, claim.cause, at)
    if claim.cause_against and claim.cause_against != claim.against:
        other = numbers.cell(claim.metric, claim.cause_against, at)
    if not cell.whole or cell.unfinished:
        return None
    return cell.mean if other is None else _percent(cell.mean, other.mean)


def _parts(claim: Claim) -> Iterable[Claim]:
    """Return a claim over several numbers as one claim for each of them."""
    for at in claim.coordinates:
        for rival in claim.rivals or ("",):
            rivals = (rival,) if rival else ()
            yield replace(
                claim, at=at, against_at=at, coordinates=(at,), against=rival, rivals=rivals, remark=""
            )


def _together(study: Study, claim: Claim, parts: tuple[Judged, ...]) -> Judged:
    """Return the verdict on a claim over several numbers from the verdicts on each."""
    left_out = len(claim.coordinates) * max(1, len(claim.rivals)) - len(parts)
    if left_out and parts:
        claim = _remarked(
            claim, f"Of {len(parts)} of {len(parts) + left_out} numbers: the others are not run"
        )
    unfinished = sum(part.unfinished for part in parts)
    found = Judged(
        claim=claim,
        parts=parts,
        unfinished=unfinished,
        seeds=min((part.seeds for part in parts), default=0),
        few=_together_few(part.few for part in parts),
    )
    if not parts or any(part.verdict == "not run" for part in parts):
        return found
    known = [part for part in parts if part.ours is not None]
    if claim.take != "each" and len(known) == len(parts):
        extreme = (min if claim.take == "lowest" else max)(known, key=lambda part: part.ours or 0.0)
        claim = _remarked(claim, f"Ours is {_where(study, claim, extreme)}")
        return replace(extreme, claim=claim, parts=parts, unfinished=unfinished)
    worst = max((part.verdict for part in parts), key=_BAD.index)
    if worst in ("differs", "same direction"):
        others = [_where(study, claim, part) for part in parts if part.verdict != "agrees"]
        shown = "; nor ".join(others[:MOST_NAMED]) + (" and others" if len(others) > MOST_NAMED else "")
        claim = _remarked(claim, f"Holds for {len(parts) - len(others)} of {len(parts)}, but not {shown}")
    low, high = (choose((part.ours or 0.0 for part in known), default=None) for choose in (min, max))
    return replace(found, claim=claim, low=low, high=high, verdict=worst)


def _remarked(claim: Claim, text: str) -> Claim:
    """Return a claim with a longer remark."""
    first = [claim.remark if claim.remark.endswith((".", "!", "?")) else f"{claim.remark}."]
    return replace(claim, remark=" ".join([*(first if claim.remark else []), f"{text}."]))


def _where(study: Study, claim: Claim, part: Judged) -> str:
    """Say which of its numbers a part of a claim is, and of an order who is the first there."""
    at = [f"{axis} = {point}" for axis, point in part.claim.at if _goes_along(claim, axis)]
    against = [f"against {study.variant(part.claim.against).label}"] if len(claim.rivals) > 1 else []
    best = [f"where {study.variant(part.found[0][0]).label} is"] if claim.order and part.found else []
    return ", ".join((["at " + ", ".join(at)] if at else []) + against + best)


def _goes_along(claim: Claim, axis: str) -> bool:
    return len({dict(at)[axis] for at in claim.coordinates}) > 1
