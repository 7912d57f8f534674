"""Verdicts on claims: our numbers beside the published ones, and beside those without the mechanism.

The rule is that of docs/studies.md: the whole confidence interval must lie where the claim says, more noise
never makes a verdict kinder, and a claim that holds without its mechanism does not count as agreement.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

from floodway.results.interval import LEAST_SEEDS
from floodway.results.quantities import counted
from floodway_lab.study.claims.judgement import HOLDS, VERDICTS, Ablation, Judged
from floodway_lab.study.claims.rule import band_of, change, level_of, mean_of
from floodway_lab.study.claims.single import (
    Ranking,
    all_of,
    few_of_all,
    pairs_of,
    verdict_on_number,
    verdict_on_order,
)
from floodway_lab.study.claims.unchanged import verdict_on_unchanged_order
from floodway_lab.study.facts import deadlocks_of, is_exact, is_whole, losses_of
from floodway_lab.study.model import claims_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from floodway.study.format.model import Study
    from floodway.study.numbers import Cell, Numbers
    from floodway_lab.study.claims.judgement import Verdict
    from floodway_lab.study.claims.rule import Answer
    from floodway_lab.study.model import Claim

__all__ = ["alone", "claim_verdicts", "decided", "point_of"]

#: Maximum number of differing numbers that are named.
MOST_NAMED = 4


def claim_verdicts(study: Study, numbers: Numbers) -> tuple[Judged, ...]:
    """Judge every claim of a study, without regard to parts of its statements in other studies."""
    judged_claims = alone(study, numbers)
    return decided([(judged.claim.statement, judged) for judged in judged_claims])


def alone(study: Study, numbers: Numbers) -> tuple[Judged, ...]:
    """Judge every claim of a study, and the same claims without their mechanism, but not yet together."""
    return tuple(_with_ablations(study, claim, numbers) for claim in claims_of(study))


def decided(claims: Sequence[tuple[Hashable, Judged]]) -> tuple[Judged, ...]:
    """Decide by ablations which claims hold without their mechanism, too.

    Parameters
    ----------
    claims
        Results, each with its statement. A reading holds without the mechanism only if all of its parts do in
        the same experiment: the answers of an ablation that several parts name are combined.
    """
    readings: dict[tuple[Hashable, str], list[Judged]] = {}
    for statement, judged in claims:
        readings.setdefault((statement, judged.claim.reading), []).append(judged)
    return tuple(_decided(judged, readings[statement, judged.claim.reading]) for statement, judged in claims)


def _with_ablations(study: Study, claim: Claim, numbers: Numbers) -> Judged:
    """Judge a claim, and the same claim without its mechanism."""
    judged = _claim_verdict(study, claim, numbers, looks=claim.looks)
    ablations = (
        *(_ablation(study, judged, name, numbers) for name in claim.ablations),
        *(replace(_ablation(study, judged, name, numbers), is_half=True) for name in claim.halves),
    )
    return replace(judged, ablations=ablations, alone=judged.verdict)


def _decided(judged: Judged, parts: Sequence[Judged]) -> Judged:
    """Decide a claim by its ablations, each combined with all parts of its reading that name it."""
    judged = replace(judged, verdict=judged.alone or judged.verdict)
    deciding = [ablation for ablation in judged.ablations if not ablation.is_half]
    if judged.verdict not in HOLDS or not deciding:
        return judged
    answers = {ablation.variant: _without(ablation, judged, parts) for ablation in deciding}
    alike, undecided = (
        [ablation for ablation in deciding if answers[ablation.variant][0] == answer]
        for answer in ("yes", "open")
    )
    notes = [*judged.notes, *(note for _, note in answers.values() if note)]
    if alike:
        verdict: Verdict = "holds without the mechanism too"
        return replace(judged, verdict=verdict, notes=(*notes, *_added(judged, alike)))
    missing = [ablation for ablation in deciding if ablation.judged.verdict == "not run"]
    if missing:
        notes.append(f"The experiment without the mechanism, {_labels(missing)}, is not run")
        return replace(judged, verdict="not run", notes=tuple(notes))
    if undecided:
        subject = "direction" if judged.has_direction else "number"
        notes.append(
            f"The {subject} is as published, but the seeds do not decide whether it also is with "
            f"{_labels(undecided)}"
        )
        return replace(judged, verdict="not decided", notes=(*notes, *_added(judged, undecided)))
    return replace(judged, notes=tuple(notes))


def _without(ablation: Ablation, judged: Judged, parts: Sequence[Judged]) -> tuple[Answer, str]:
    """Return whether a reading holds with an ablation in place of its mechanism, in all parts that name it.

    The second value is a note, if this part holds without the mechanism and another part does not.
    """
    direction = judged.has_direction
    answers = {
        part.claim.part: other.holds_alike(direction=direction)
        for part in parts
        for other in part.ablations
        if other.variant == ablation.variant and not other.is_half
    }
    failing = [part for part, answer in answers.items() if answer == "no"]
    if failing and ablation.holds_alike(direction=direction) != "no":
        return "no", f"With {ablation.label} this part alone holds, too, but not: {', '.join(failing)}"
    return all_of(answers.values()), ""


def _added(judged: Judged, ablations: Iterable[Ablation]) -> Iterator[str]:
    """Yield a note if the mechanism increases an effect that exists, or may exist, without it."""
    if not judged.has_direction or judged.ours is None or not judged.claim.relative:
        return
    if all(ablation.differs and _is_less(ablation.judged, judged) for ablation in ablations):
        yield "The mechanism adds to it beyond chance"


def _is_less(one: Judged, other: Judged) -> bool:
    """Whether a difference with an interval is smaller than another one, or has the other sign."""
    if one.ours is None or one.low is None or other.ours is None:
        return False
    return one.ours < other.ours if other.ours > 0 else one.ours > other.ours


def _labels(ablations: Iterable[Ablation]) -> str:
    return ", ".join(ablation.label for ablation in ablations)


def _ablation(study: Study, original: Judged, name: str, numbers: Numbers) -> Ablation:
    """Judge a claim with another variant in the place of the one that it is about."""
    claim = original.claim
    subject = claim.ablated or claim.variants[0]

    def other(variant: str) -> str:
        return name if variant == subject else variant

    changed = replace(
        claim,
        variant=other(claim.variant),
        against=other(claim.against),
        rivals=tuple(map(other, claim.rivals)),
        order=tuple(map(other, claim.order)),
        cause="",
        remark="",
    )
    ablated = _claim_verdict(study, changed, numbers, looks=claim.looks)
    # A larger effect without the mechanism is not an effect of the mechanism.
    larger = _at_all(changed)
    at_all = ablated if larger is changed else _claim_verdict(study, larger, numbers, looks=claim.looks)
    agrees = _alike(original, at_all)
    direction = _direction(original, ablated)
    # If the ablation loses packets of a lossless class, or its flows never finish, the claim does not hold.
    if ablated.failed:
        agrees = direction = "no"
    elif ablated.verdict == "unfinished":
        agrees = direction = "no" if _never_finishes(changed, name, numbers) else "open"
    differs = ablated.verdict == "not run" or ablated.failed or _differ(claim, subject, name, numbers)
    label = study.variant(name).label
    return Ablation(
        variant=name, label=label, judged=ablated, agrees=agrees, direction=direction, differs=differs
    )


def _alike(original: Judged, ablated: Judged) -> Answer:
    """Whether a claim holds without its mechanism, too; an order not where most of a lead is gone."""
    pairs = _by_part(original, ablated)
    if pairs:
        return all_of(_alike(*pair) for pair in pairs)
    return "no" if _has_lost_a_lead(original, ablated) else ablated.holds


def _by_part(original: Judged, ablated: Judged) -> list[tuple[Judged, Judged]]:
    """Return the numbers of a claim over each of several, with and without the mechanism."""
    if original.claim.several and original.claim.take == "each" and len(original.parts) == len(ablated.parts):
        return list(zip(original.parts, ablated.parts, strict=True))
    return []


def _has_lost_a_lead(original: Judged, ablated: Judged) -> bool:
    """Whether without the mechanism some lead of an order is less than half, both with their intervals."""
    for lead, less in zip(original.leads, ablated.leads, strict=False):
        if lead is None or less is None or lead.low is None or less.high is None:
            continue
        if less.high < lead.low / 2:
            return True
    return False


def _direction(original: Judged, ablated: Judged) -> Answer:
    """Whether a claim has its direction without its mechanism, too; not where most of the effect is gone."""
    pairs = _by_part(original, ablated)
    if pairs:
        return all_of(_direction(*pair) for pair in pairs)
    has_it = ablated.verdict in HOLDS
    if _has_lost_a_lead(original, ablated):
        return "no"
    if not original.claim.relative or original.claim.order:
        return "yes" if has_it else "open" if ablated.verdict == "not decided" else "no"
    if original.low is None or original.high is None or ablated.low is None or ablated.high is None:
        return "open"
    sign = band_of(original.claim).sign
    minimum = min(original.low * sign, original.high * sign)
    most = max(ablated.low * sign, ablated.high * sign)
    return "no" if most < minimum / 2 else "yes" if has_it else "open"


def _at_all(claim: Claim) -> Claim:
    """Return a claim of a difference that holds for larger ones, too."""
    if not claim.relative or claim.bound != "about":
        return claim
    low, high = claim.between or (claim.value or 0.0, claim.value or 0.0)
    if low > 0:
        return replace(claim, between=None, value=low, bound="at-least")
    if high < 0:
        return replace(claim, between=None, value=high, bound="at-most")
    return claim


def _never_finishes(claim: Claim, name: str, numbers: Numbers) -> bool:
    """Whether a variant leaves flows unfinished with every seed, somewhere in a claim.

    Unfinished flows with only some of the seeds decide nothing.
    """
    cells = [
        numbers.cell(claim.metric, variant, at)
        for part in claim.parts
        for variant, at in part.cells
        if variant == name
    ]
    return any(cell.values and all(value.unfinished for value in cell.values.values()) for cell in cells)


def _differ(claim: Claim, subject: str, name: str, numbers: Numbers) -> bool:
    """Whether a variant and its ablation differ somewhere in a claim, beyond chance and by enough."""
    places = {at for part in claim.parts for variant, at in part.cells if variant == subject}
    pairs = [
        [numbers.cell(claim.metric, variant, at) for variant in (subject, name)] for at in sorted(places)
    ]
    complete = [cells for cells in pairs if all(is_whole(cell) for cell in cells)]
    if any(cell.unfinished for cells in complete for cell in cells):
        return True
    level = level_of(max(1, len(complete)))
    return any(
        _beyond_chance(claim, *pairs_of(*cells), exact=all(is_exact(cell) for cell in cells), level=level)
        for cells in complete
    )


def _beyond_chance(claim: Claim, one: list[float], other: list[float], *, exact: bool, level: float) -> bool:
    """Whether the numbers of pairs of seeds differ; as the claim compares them, by ratio or difference.

    A difference is at least the tolerance, which the claim takes for no difference; of a bound or an order it
    is at least the margin.
    """
    if not exact and len(one) < LEAST_SEEDS:
        return True
    minimum = claim.margin if claim.order or claim.bound != "about" else claim.tolerance
    as_ratio = claim.relative or (bool(claim.order) and min(*one, *other) > 0)
    interval = change(one, other, exact=exact, level=level) if as_ratio else None
    if interval is None:
        differences = [value - without for value, without in zip(one, other, strict=True)]
        interval = mean_of(differences, exact=exact, level=level)
        largest = max(abs(fmean(one)), abs(fmean(other)))
        minimum = minimum if claim.unit == "%" and not claim.order else minimum / 100 * largest
    if interval.low is None or interval.high is None:
        return True
    return not interval.low <= 0 <= interval.high and abs(interval.middle) >= minimum


def _claim_verdict(study: Study, claim: Claim, numbers: Numbers, *, looks: int) -> Judged:
    if claim.unchanged:
        return _unchanged_order(study, claim, numbers, level=level_of(looks))
    if claim.several:
        planned = [part for part in claim.parts if _is_planned(part, numbers)]
        looks *= len(planned) if claim.take != "each" else 1
        parts = [_claim_verdict(study, part, numbers, looks=max(1, looks)) for part in planned]
        return _together(study, claim, tuple(parts))
    judged = (
        verdict_on_order(study, claim, numbers, level=level_of(looks))
        if claim.order
        else verdict_on_number(claim, numbers, level=level_of(looks))
    )
    return _with_faults(study, judged, numbers)


def _unchanged_order(study: Study, claim: Claim, numbers: Numbers, *, level: float) -> Judged:
    planned = [part for part in claim.parts if _is_planned(part, numbers)]
    rankings = [Ranking.of(part, numbers, level=level) for part in planned]
    complete = [ranking for ranking in rankings if ranking is not None]
    # One point has nothing to be compared with.
    if len(complete) < len(planned) or len(complete) < len(("one", "another")):
        return Judged(claim=claim)
    points = [_with_faults(study, ranking.judged, numbers) for ranking in complete]
    judged = verdict_on_unchanged_order(study, claim, complete, points)
    left_out = len(claim.parts) - len(planned)
    notes = [f"Of {len(planned)} of {len(claim.parts)} points: the others are not run"] if left_out else []
    failed = any(point.failed for point in points)
    notes += [*judged.notes, *_at_their_points(claim, tuple(points))]
    verdict: Verdict = "differs" if failed and judged.verdict != "unfinished" else judged.verdict
    holds: Answer = "no" if failed else judged.holds
    return replace(judged, notes=tuple(notes), failed=failed, verdict=verdict, holds=holds)


def _with_faults(study: Study, judged: Judged, numbers: Numbers) -> Judged:
    """Add notes on losses and deadlocks of a claim's variants; losses of lossless variants fail it."""
    claim = judged.claim
    cells = {place: numbers.cell(claim.metric, *place) for place in claim.cells}
    notes: list[str] = []
    failed = False
    for (name, at), cell in cells.items():
        label = study.variant(name).label
        if at != claim.at:
            label += " at " + ", ".join(
                f"{axis} = {point}" for axis, point in at if dict(claim.at)[axis] != point
            )
        if losses_of(cell):
            must_not = name not in claim.may_lose
            failed |= must_not
            notes.append(f"{label} lost {_packets(cell)}" + (", and must lose none" if must_not else ""))
        if deadlocks_of(cell):
            notes.append(f"{label} ran into a deadlock")
        notes += [f"{label}: failed: {error}" for error in dict.fromkeys(cell.failures)]
    notes = [*judged.notes, *notes]
    if not failed:
        return replace(judged, notes=tuple(notes))
    verdict: Verdict = judged.verdict if judged.verdict in ("not run", "unfinished") else "differs"
    return replace(judged, notes=tuple(notes), verdict=verdict, holds="no", failed=True)


def _packets(cell: Cell) -> str:
    """Return the number of lost packets, and of runs that lost some, as text."""
    count = counted(losses_of(cell), "packet")
    runs = sum(run_facts.lost > 0 for run_facts in cell.facts)
    return f"{count} in {runs} runs" if runs > 1 else count


def _is_planned(claim: Claim, numbers: Numbers) -> bool:
    """Whether all runs of a claim are planned: the quick version leaves points and variants out."""
    cells = [numbers.cell(claim.metric, name, at) for name, at in claim.cells]
    return all(cell.values or cell.missing for cell in cells)


def _together(study: Study, claim: Claim, parts: tuple[Judged, ...]) -> Judged:
    """Return the verdict on a claim over several numbers from the verdicts on each."""
    left_out = len(claim.coordinates) * max(1, len(claim.rivals)) - len(parts)
    notes: list[str] = []
    if left_out and parts:
        notes.append(f"Of {len(parts)} of {len(parts) + left_out} numbers: the others are not run")
    unfinished = sum(part.unfinished for part in parts)
    judged = Judged(
        claim=claim,
        parts=parts,
        unfinished=unfinished,
        seeds=min((part.seeds for part in parts), default=0),
        exact=bool(parts) and all(part.exact for part in parts),
        few=few_of_all(part.few for part in parts),
        notes=tuple(notes),
    )
    if not parts or any(part.verdict == "not run" for part in parts):
        return judged
    reached = [part for part in parts if part.ours is not None]
    lossy = any(part.failed for part in parts)
    # Losses and unfinished flows count at all points, whichever number is selected.
    if claim.take != "each" and len(reached) == len(parts) and not unfinished and not lossy:
        extreme = (min if claim.take == "lowest" else max)(reached, key=lambda part: part.ours or 0.0)
        notes += [f"Ours is {_where(study, claim, extreme)}", *extreme.notes]
        return replace(extreme, claim=claim, parts=parts, unfinished=unfinished, notes=tuple(notes))
    worst = max((part.verdict for part in parts), key=VERDICTS.index)
    if worst not in {"agrees", "unfinished"}:
        others = [_where(study, claim, part) for part in parts if part.verdict != "agrees"]
        shown = "; nor ".join(others[:MOST_NAMED]) + (" and others" if len(others) > MOST_NAMED else "")
        notes.append(f"Holds for {len(parts) - len(others)} of {len(parts)}, but not {shown}")
    notes += _at_their_points(claim, parts)
    low, high = (choose((part.ours or 0.0 for part in reached), default=None) for choose in (min, max))
    return replace(
        judged,
        low=low,
        high=high,
        verdict=worst,
        holds=all_of(part.holds for part in parts),
        notes=tuple(notes),
    )


def _at_their_points(claim: Claim, parts: tuple[Judged, ...]) -> Iterator[str]:
    """Yield the notes of all numbers of a claim, each once; with its points, unless it applies to all."""
    points_of_note: dict[str, dict[str, None]] = {}
    for part in parts:
        for note in part.notes:
            points_of_note.setdefault(note, {})[point_of(claim, part)] = None
    everywhere = {point_of(claim, part) for part in parts}
    for note, points in points_of_note.items():
        yield note if len(points) == len(everywhere) else f"{note} ({'; '.join(points)})"


def point_of(claim: Claim, part: Judged) -> str:
    """Return the point of a number on the axes along which its claim goes."""
    return ", ".join(f"{axis} = {point}" for axis, point in part.claim.at if _goes_along(claim, axis))


def _where(study: Study, claim: Claim, part: Judged) -> str:
    """Return the description of a claim's part: its point, and for an order the first variant there."""
    at = point_of(claim, part)
    against = [f"against {study.variant(part.claim.against).label}"] if len(claim.rivals) > 1 else []
    best = [f"where {study.variant(part.means[0][0]).label} is"] if claim.order and part.means else []
    return ", ".join(([f"at {at}"] if at else []) + against + best)


def _goes_along(claim: Claim, axis: str) -> bool:
    return len({dict(at)[axis] for at in claim.coordinates}) > 1
