"""Claims as rows of text, the same on the terminal and in the report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floodway.common.markdown import plain
from floodway.results.percentiles import of_flows
from floodway.results.quantities import counted
from floodway_lab.study.claims.judgement import HOLDS, best_reading
from floodway_lab.study.claims.verdicts import point_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from floodway.study.format.model import Claim
    from floodway.study.outcome import Part
    from floodway_lab.study.claims.judgement import Ablation, Judged

__all__ = ["COLUMNS", "RULE", "Shown", "claim_rows", "readings_list", "shown", "statements"]

COLUMNS = ("figure", "claim", "published", "ours", "without it", "verdict", "remark")
_BOUNDS = {"about": "", "at-least": "at least ", "at-most": "at most "}
#: What the verdicts of a table of claims mean.
RULE = (
    "*Published* has the tolerance behind ±; it never reaches across zero. *Ours* has its confidence "
    "interval by Student's t over the seeds, for a difference over the pairs of a seed: of 95 %, or of "
    "more where the best of several readings or numbers is taken; (exact) where all seeds gave the same "
    "results in every table, so that chance is taken to play no part; a claim over several numbers has "
    "the smallest and the largest of the means. *Agrees*: the whole interval lies inside the tolerance; "
    "an order needs differences of at least its margin, beyond chance. *Agrees in direction*: the sign, or "
    "the first of an order, is as published, beyond chance. *Holds without the mechanism too*: all parts of "
    "the reading hold, with the number or in direction, with at least half of the effect or with no "
    "difference beyond tolerance and chance, without the mechanism or its deciding part, which *without "
    "it* names; this does not count as agreement. *Not decided by N seeds*: the intervals leave it open. "
    "*Differs*: none of these, or a variant that must lose nothing "
    "lost packets. *Unfinished*: flows did not finish. *Not run*: runs failed, or the quick version "
    "leaves them out. A published statement counts once, by its best reading; the other readings stand "
    "below it, with their verdicts in brackets."
)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A row of the table."""

    figure: str
    claim: str
    published: str
    ours: str
    without: str
    verdict: str
    remark: str

    @property
    def cells(self) -> tuple[str, ...]:
        """Its cells, in the order of the columns."""
        return (self.figure, self.claim, self.published, self.ours, self.without, self.verdict, self.remark)


def claim_rows(part: Part) -> Iterator[Shown]:
    """Return the claims of a study as text: each statement by its best reading, the others below it."""
    for readings in statements(part.judged):
        best = best_reading(readings)
        yield shown(part, best, several=len(readings) > 1)
        # Parts of the best reading first: all of them must hold.
        others = [other for other in readings if other is not best]
        for other in sorted(others, key=lambda other: other.claim.reading != best.claim.reading):
            row = shown(part, other, several=True)
            yield replace(row, claim=f"↳ {_told_apart(other) or row.claim}", verdict=f"({row.verdict})")


def _told_apart(found: Judged) -> str:
    """Return what tells a claim from the others of its statement."""
    return ", ".join(text for text in (found.claim.reading, found.claim.part) if text)


def statements(judged: Iterable[Judged]) -> tuple[tuple[Judged, ...], ...]:
    """Return claims by the published statement that they are readings of."""
    found: dict[str, list[Judged]] = {}
    for each in judged:
        found.setdefault(each.claim.statement, []).append(each)
    return tuple(map(tuple, found.values()))


def shown(part: Part, found: Judged, *, several: bool = False) -> Shown:
    """Return a claim with its verdict as text; one of several readings with its name."""
    claim = found.claim
    source = f" ({claim.source})" if claim.source else ""
    reading = f" [{_told_apart(found)}]" if several and _told_apart(found) else ""
    return Shown(
        figure=claim.figure or part.study.name,
        claim=claim.says + reading,
        published=_published(part, found) + source,
        ours=_ours(part, found),
        without=_without(part, found),
        verdict=found.words,
        remark=_remark(part, found),
    )


def readings_list(readings: Iterable[tuple[str, str]]) -> str:
    """Return the readings of a study that say why the text allows them, as Markdown; empty if none does."""
    said = [f"- {plain(name)}: {plain(says)}" for name, says in readings if says]
    return "\n".join(["Readings of the text:", "", *said]) if said else ""


def _published(part: Part, found: Judged) -> str:
    claim = found.claim
    if claim.only_first:
        return f"{part.study.variant(claim.order[0]).label} {claim.best}, by {claim.margin:g} % or more"
    if claim.order:
        labels = ", ".join(part.study.variant(name).label for name in claim.order)
        if claim.unchanged:
            return f"one order of {labels} at all points ({claim.margin:g} % apart or more)"
        return f"{labels} (best first, {claim.margin:g} % apart or more)"
    # Some percent of zero is no tolerance.
    has_any = claim.tolerance and (_tolerance_unit(claim) == " points" or claim.value != 0)
    tolerance = f" ± {claim.tolerance:g}{_tolerance_unit(claim)}" if has_any else ""
    if found.chance:
        tolerance += f" ± {found.chance:.2g} as {counted(claim.draws, 'run')} of a simulation"
    if claim.between is not None:
        low, high = (_number(each, relative=claim.relative) for each in claim.between)
        return f"{low} to {high}{_unit(found)}{tolerance}"
    return f"{_BOUNDS[claim.bound]}{_number(claim.value, relative=claim.relative)}{_unit(found)}{tolerance}"


def _tolerance_unit(claim: Claim) -> str:
    return " points" if claim.relative or claim.unit == "%" else " %"


def _ours(part: Part, found: Judged) -> str:
    if found.claim.unchanged and found.parts:
        return "; ".join(f"{point_of(found.claim, each)}: {_ours(part, each)}" for each in found.parts) or "-"
    if found.claim.order and found.parts:
        first = sum(part.verdict == "agrees" for part in found.parts)
        return f"holds for {first} of {len(found.parts)}"
    if found.claim.order:
        return ", ".join(f"{part.study.variant(name).label} {mean:,.4g}" for name, mean in found.found)
    star = "*" if found.unfinished else ""
    if found.ours is None and found.low is not None and found.high is not None:
        low, high = (_number(each, relative=found.claim.relative) for each in (found.low, found.high))
        means = "" if found.exact else "means from "
        return f"{means}{low} to {high}{_unit(found)}{star}"
    if found.ours is None:
        return f"not reached: {counted(found.unfinished, 'flow')} unfinished" if found.unfinished else "-"
    return f"{_number(found.ours, relative=found.claim.relative)}{_unit(found)}{star}{_spread(found)}"


def _spread(found: Judged) -> str:
    """Return the interval of a number, or why it has none."""
    if found.exact:
        return f" (exact, {found.seeds} seeds)"
    if found.low is None or found.high is None:
        return f" ({counted(found.seeds, 'seed')})"
    if found.low == found.high:
        return f" (equal with {found.seeds} seeds)"
    low, high = (_number(each, relative=found.claim.relative) for each in (found.low, found.high))
    return f" ({low} to {high})"


def _without(part: Part, found: Judged) -> str:
    """Return what the claim's ablations give, or why it has none."""
    claim = found.claim
    if not found.ablations:
        return f"none: {claim.no_ablation}" if claim.no_ablation else "no ablation is named"
    return "; ".join(
        ("one half, " if each.is_half else "") + _ablation(part, found, each) for each in found.ablations
    )


def _ablation(part: Part, found: Judged, ablation: Ablation) -> str:
    claim = found.claim
    label, removed = part.study.variant(ablation.variant).label, claim.removes.get(ablation.variant)
    label += f" (without {removed})" if removed else ""
    if ablation.judged.verdict == "not run":
        return f"{label}: not run"
    verdict = {"yes": "also agrees", "no": "does not", "open": "undecided"}[ablation.agrees]
    if ablation.agrees == "yes" and ablation.judged.holds != "yes":
        verdict = "larger effect" if ablation.judged.holds == "no" else "as large or larger"
    if ablation.agrees == "no" and not ablation.differs:
        verdict = "no difference"
    if found.has_direction and verdict in {"does not", "undecided"}:
        verdict = {"yes": "agrees in direction", "no": "does not", "open": "undecided"}[ablation.direction]
    answer = ablation.direction if found.has_direction else ablation.agrees
    if answer == "no" and ablation.judged.verdict in HOLDS and (claim.order or found.has_direction):
        verdict = "less than half"
    if ablation.variant in (claim.against, *claim.order) and ablation.agrees == "no":
        return f"{label}, which it is compared with"
    if (
        verdict == "does not"
        and not found.has_direction
        and claim.take == "each"
        and len(ablation.judged.parts) > 1
    ):
        parts = ablation.judged.parts
        verdict += f" at {sum(part.holds == 'no' for part in parts)} of {len(parts)} numbers"
    lost = next((note for note in ablation.judged.notes if "must lose none" in note), "")
    ours = "" if claim.order else f" {_ours(part, ablation.judged)}"
    count = ablation.judged.unfinished
    left = f"{counted(count, 'flow')} unfinished" if count else ""
    reasons = "; ".join(filter(None, (lost, left)))
    return f"{label}:{ours} {verdict}" + (f" ({reasons})" if reasons else "")


def _remark(part: Part, found: Judged) -> str:
    claim = found.claim
    parts = [claim.remark, *found.notes]
    if found.unfinished:
        parts.append(f"{counted(found.unfinished, 'flow')} did not finish")
    if found.few is not None:
        thousandths, fewest, most = found.few
        parts.append(of_flows(fewest, most, thousandths=thousandths, unit="each run"))
    if claim.cause:
        label = part.study.variant(claim.cause).label
        number = _number(found.cause, relative=claim.relative) + _unit(found)
        ours = "not run" if found.cause is None else number
        parts.append(" ".join(f"With {label}: {ours}. {claim.cause_says}".split()))
    return " ".join(each if each.endswith((".", "!", "?")) else f"{each}." for each in parts if each)


def _number(value: float | None, *, relative: bool) -> str:
    if value is None:
        return "-"
    return f"{value:+,.1f}" if relative else f"{value:,.5g}" if abs(value) < 1e5 else f"{value:,.0f}"  # noqa: PLR2004 (digits)


def _unit(found: Judged) -> str:
    if found.claim.less_points:
        return " points"
    return f" {found.claim.unit}" if found.claim.unit else ""
