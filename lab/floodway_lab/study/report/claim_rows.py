"""Claims as rows of text, the same on the terminal and in the report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floodway.common.documents import four_digits
from floodway.common.markdown import plain
from floodway.results.percentiles import of_flows
from floodway.results.quantities import counted
from floodway_lab.study.claims.judgement import HOLDS, best_reading
from floodway_lab.study.claims.verdicts import point_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from floodway.study.numbers import Part
    from floodway_lab.study.claims.judgement import Ablation, Judged
    from floodway_lab.study.model import Claim

__all__ = ["COLUMNS", "RULE", "Shown", "claim_rows", "readings_list", "shown", "statements"]

COLUMNS = ("figure", "claim", "published", "ours", "without it", "verdict", "remark")
_BOUNDS = {"about": "", "at-least": "at least ", "at-most": "at most "}
#: The meanings of the verdicts of a table of claims.
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
            yield replace(row, claim=f"↳ {_reading_and_part(other) or row.claim}", verdict=f"({row.verdict})")


def _reading_and_part(judged: Judged) -> str:
    """Return the reading and the part of a claim, which distinguish it from others of its statement."""
    return ", ".join(text for text in (judged.claim.reading, judged.claim.part) if text)


def statements(judged: Iterable[Judged]) -> tuple[tuple[Judged, ...], ...]:
    """Return claims by the published statement that they are readings of."""
    groups: dict[str, list[Judged]] = {}
    for claim in judged:
        groups.setdefault(claim.claim.statement, []).append(claim)
    return tuple(map(tuple, groups.values()))


def shown(part: Part, judged: Judged, *, several: bool = False) -> Shown:
    """Return a claim with its verdict as text; one of several readings with its name."""
    claim = judged.claim
    source = f" ({claim.source})" if claim.source else ""
    reading = f" [{_reading_and_part(judged)}]" if several and _reading_and_part(judged) else ""
    return Shown(
        figure=claim.figure or part.study.name,
        claim=claim.says + reading,
        published=_published(part, judged) + source,
        ours=_ours(part, judged),
        without=_without(part, judged),
        verdict=judged.words,
        remark=_remark(part, judged),
    )


def readings_list(readings: Iterable[tuple[str, str]]) -> str:
    """Return the readings of a study with their justification, as Markdown; empty without any."""
    lines = [f"- {plain(name)}: {plain(says)}" for name, says in readings if says]
    return "\n".join(["Readings of the text:", "", *lines]) if lines else ""


def _published(part: Part, judged: Judged) -> str:
    claim = judged.claim
    if claim.only_first:
        return f"{part.study.variant(claim.order[0]).label} {claim.best}, by {claim.margin:g} % or more"
    if claim.order:
        labels = ", ".join(part.study.variant(name).label for name in claim.order)
        if claim.unchanged:
            return f"one order of {labels} at all points ({claim.margin:g} % apart or more)"
        return f"{labels} (best first, {claim.margin:g} % apart or more)"
    # A percentage of zero is not a tolerance.
    has_any = claim.tolerance and (_tolerance_unit(claim) == " points" or claim.value != 0)
    tolerance = f" ± {claim.tolerance:g}{_tolerance_unit(claim)}" if has_any else ""
    if judged.chance:
        tolerance += f" ± {judged.chance:.2g} as {counted(claim.draws, 'run')} of a simulation"
    if claim.between is not None:
        low, high = (_number(bound, relative=claim.relative) for bound in claim.between)
        return f"{low} to {high}{_unit(judged)}{tolerance}"
    return f"{_BOUNDS[claim.bound]}{_number(claim.value, relative=claim.relative)}{_unit(judged)}{tolerance}"


def _tolerance_unit(claim: Claim) -> str:
    return " points" if claim.relative or claim.unit == "%" else " %"


def _ours(part: Part, judged: Judged) -> str:
    if judged.claim.unchanged and judged.parts:
        return (
            "; ".join(f"{point_of(judged.claim, point)}: {_ours(part, point)}" for point in judged.parts)
            or "-"
        )
    if judged.claim.order and judged.parts:
        first = sum(part.verdict == "agrees" for part in judged.parts)
        return f"holds for {first} of {len(judged.parts)}"
    if judged.claim.order:
        unit = "" if judged.claim.relative else judged.claim.metric.kind.unit
        shown_means = ((part.study.variant(name).label, four_digits(mean)) for name, mean in judged.means)
        return ", ".join(f"{label} {mean} {unit}".rstrip() for label, mean in shown_means)
    star = "*" if judged.unfinished else ""
    if judged.ours is None and judged.low is not None and judged.high is not None:
        low, high = (_number(bound, relative=judged.claim.relative) for bound in (judged.low, judged.high))
        means = "" if judged.exact else "means from "
        return f"{means}{low} to {high}{_unit(judged)}{star}"
    if judged.ours is None:
        return f"not reached: {counted(judged.unfinished, 'flow')} unfinished" if judged.unfinished else "-"
    return f"{_number(judged.ours, relative=judged.claim.relative)}{_unit(judged)}{star}{_spread(judged)}"


def _spread(judged: Judged) -> str:
    """Return the interval of a number, or why it has none."""
    if judged.exact:
        return f" (exact, {judged.seeds} seeds)"
    if judged.low is None or judged.high is None:
        return f" ({counted(judged.seeds, 'seed')})"
    if judged.low == judged.high:
        return f" (equal with {judged.seeds} seeds)"
    low, high = (_number(bound, relative=judged.claim.relative) for bound in (judged.low, judged.high))
    return f" ({low} to {high})"


def _without(part: Part, judged: Judged) -> str:
    """Return the results of a claim's ablations, or the reason why it has none."""
    claim = judged.claim
    if not judged.ablations:
        return f"none: {claim.no_ablation}" if claim.no_ablation else "no ablation is named"
    return "; ".join(
        ("one half, " if ablation.is_half else "") + _ablation(part, judged, ablation)
        for ablation in judged.ablations
    )


def _ablation(part: Part, judged: Judged, ablation: Ablation) -> str:
    claim = judged.claim
    label, removed = part.study.variant(ablation.variant).label, claim.removes.get(ablation.variant)
    label += f" (without {removed})" if removed else ""
    if ablation.judged.verdict == "not run":
        return f"{label}: not run"
    verdict = {"yes": "also agrees", "no": "does not", "open": "undecided"}[ablation.agrees]
    if ablation.agrees == "yes" and ablation.judged.holds != "yes":
        verdict = "larger effect" if ablation.judged.holds == "no" else "as large or larger"
    if ablation.agrees == "no" and not ablation.differs:
        verdict = "no difference"
    if judged.has_direction and verdict in {"does not", "undecided"}:
        verdict = {"yes": "agrees in direction", "no": "does not", "open": "undecided"}[ablation.direction]
    answer = ablation.direction if judged.has_direction else ablation.agrees
    if answer == "no" and ablation.judged.verdict in HOLDS and (claim.order or judged.has_direction):
        verdict = "less than half"
    if ablation.variant in (claim.against, *claim.order) and ablation.agrees == "no":
        return f"{label}, which it is compared with"
    if (
        verdict == "does not"
        and not judged.has_direction
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


def _remark(part: Part, judged: Judged) -> str:
    claim = judged.claim
    parts = [claim.remark, *judged.notes]
    if judged.unfinished:
        parts.append(f"{counted(judged.unfinished, 'flow')} did not finish")
    if judged.few is not None:
        thousandths, fewest, most = judged.few
        parts.append(of_flows(fewest, most, thousandths=thousandths, unit="each run"))
    if claim.cause:
        label = part.study.variant(claim.cause).label
        number = _number(judged.cause, relative=claim.relative) + _unit(judged)
        ours = "not run" if judged.cause is None else number
        parts.append(" ".join(f"With {label}: {ours}. {claim.cause_says}".split()))
    return " ".join(
        sentence if sentence.endswith((".", "!", "?")) else f"{sentence}." for sentence in parts if sentence
    )


def _number(value: float | None, *, relative: bool) -> str:
    if value is None:
        return "-"
    return f"{value:+,.1f}" if relative else f"{value:,.5g}" if abs(value) < 1e5 else f"{value:,.0f}"  # noqa: PLR2004 (digits)


def _unit(judged: Judged) -> str:
    if judged.claim.less_points:
        return " points"
    return f" {judged.claim.unit}" if judged.claim.unit else ""
