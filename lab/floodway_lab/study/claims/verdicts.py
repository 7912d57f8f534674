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

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from floodway.study.format.model import Claim, Study
    from floodway.study.numbers import Cell, Numbers
    from floodway_lab.study.claims.judgement import Verdict
    from floodway_lab.study.claims.rule import Answer

__all__ = ["alone", "claim_verdicts", "decided", "point_of"]

#: Maximum number of differing numbers that are named.
MOST_NAMED = 4


def claim_verdicts(study: Study, numbers: Numbers) -> tuple[Judged, ...]:
    """Judge every claim of a study, as if its statements had no part in other studies."""
    found = alone(study, numbers)
    return decided([(each.claim.statement, each) for each in found])


def alone(study: Study, numbers: Numbers) -> tuple[Judged, ...]:
    """Judge every claim of a study, and the same claims without their mechanism, but not yet together."""
    return tuple(_with_ablations(study, claim, numbers) for claim in study.claims)


def decided(found: Sequence[tuple[Hashable, Judged]]) -> tuple[Judged, ...]:
    """Decide by ablations which claims hold without their mechanism, too.

    Parameters
    ----------
    found
        Claims, each with the statement that it is of. The parts of a reading hold without the mechanism
        only if all of them do in the same experiment: of an ablation that several parts name, the answers
        are taken together.
    """
    readings: dict[tuple[Hashable, str], list[Judged]] = {}
    for statement, each in found:
        readings.setdefault((statement, each.claim.reading), []).append(each)
    return tuple(_decided(each, readings[statement, each.claim.reading]) for statement, each in found)


def _with_ablations(study: Study, claim: Claim, numbers: Numbers) -> Judged:
    """Judge a claim, and the same claim without its mechanism."""
    found = _claim_verdict(study, claim, numbers, looks=claim.looks)
    ablations = (
        *(_ablation(study, found, name, numbers) for name in claim.ablations),
        *(replace(_ablation(study, found, name, numbers), is_half=True) for name in claim.halves),
    )
    return replace(found, ablations=ablations, alone=found.verdict)


def _decided(found: Judged, parts: Sequence[Judged]) -> Judged:
    """Ask the ablations of a claim, of each together with all parts of its reading that name it, too."""
    found = replace(found, verdict=found.alone or found.verdict)
    deciding = [each for each in found.ablations if not each.is_half]
    if found.verdict not in HOLDS or not deciding:
        return found
    answers = {each.variant: _without(each, found, parts) for each in deciding}
    alike, undecided = (
        [each for each in deciding if answers[each.variant][0] == wanted] for wanted in ("yes", "open")
    )
    notes = [*found.notes, *(note for _, note in answers.values() if note)]
    if alike:
        verdict: Verdict = "holds without the mechanism too"
        return replace(found, verdict=verdict, notes=(*notes, *_added(found, alike)))
    missing = [each for each in deciding if each.judged.verdict == "not run"]
    if missing:
        notes.append(f"The experiment without the mechanism, {_labels(missing)}, is not run")
        return replace(found, verdict="not run", notes=tuple(notes))
    if undecided:
        what = "direction" if found.has_direction else "number"
        notes.append(
            f"The {what} is as published, but the seeds do not decide whether it also is with "
            f"{_labels(undecided)}"
        )
        return replace(found, verdict="not decided", notes=(*notes, *_added(found, undecided)))
    return replace(found, notes=tuple(notes))


def _without(ablation: Ablation, found: Judged, parts: Sequence[Judged]) -> tuple[Answer, str]:
    """Say whether a reading holds with an ablation in the place of its mechanism, in all parts that name it.

    With it comes what a reader of this part must know: it holds without the mechanism, too, but another
    part does not.
    """
    direction = found.has_direction
    answers = {
        part.claim.part: each.holds_alike(direction=direction)
        for part in parts
        for each in part.ablations
        if each.variant == ablation.variant and not each.is_half
    }
    failing = [part for part, answer in answers.items() if answer == "no"]
    if failing and ablation.holds_alike(direction=direction) != "no":
        return "no", f"With {ablation.label} this part alone holds, too, but not: {', '.join(failing)}"
    return all_of(answers.values()), ""


def _added(found: Judged, ablations: Iterable[Ablation]) -> Iterator[str]:
    """Say of a direction whether the mechanism adds to what is there, or may be there, without it."""
    if not found.has_direction or found.ours is None or not found.claim.relative:
        return
    if all(each.differs and _is_less(each.judged, found) for each in ablations):
        yield "The mechanism adds to it beyond chance"


def _is_less(one: Judged, other: Judged) -> bool:
    """Whether a difference with an interval is smaller than another one, or has the other sign."""
    if one.ours is None or one.low is None or other.ours is None:
        return False
    return one.ours < other.ours if other.ours > 0 else one.ours > other.ours


def _labels(ablations: Iterable[Ablation]) -> str:
    return ", ".join(each.label for each in ablations)


def _ablation(study: Study, own: Judged, name: str, numbers: Numbers) -> Ablation:
    """Judge a claim with another variant in the place of the one that it is about."""
    claim = own.claim
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
    found = _claim_verdict(study, changed, numbers, looks=claim.looks)
    # A larger effect without the mechanism is no effect of the mechanism either.
    larger = _at_all(changed)
    at_all = found if larger is changed else _claim_verdict(study, larger, numbers, looks=claim.looks)
    agrees = _alike(own, at_all)
    direction = _direction(own, found)
    # Without the mechanism packets are lost that must not be, or flows never finish: then it does not hold.
    if found.failed:
        agrees = direction = "no"
    elif found.verdict == "unfinished":
        agrees = direction = "no" if _never_finishes(changed, name, numbers) else "open"
    differs = found.verdict == "not run" or found.failed or _differ(claim, subject, name, numbers)
    label = study.variant(name).label
    return Ablation(
        variant=name, label=label, judged=found, agrees=agrees, direction=direction, differs=differs
    )


def _alike(own: Judged, found: Judged) -> Answer:
    """Whether a claim holds without its mechanism, too; an order not where most of a lead is gone."""
    pairs = _by_part(own, found)
    if pairs:
        return all_of(_alike(*pair) for pair in pairs)
    return "no" if _has_lost_a_lead(own, found) else found.holds


def _by_part(own: Judged, found: Judged) -> list[tuple[Judged, Judged]]:
    """Return the numbers of a claim over each of several, with and without the mechanism."""
    if own.claim.several and own.claim.take == "each" and len(own.parts) == len(found.parts):
        return list(zip(own.parts, found.parts, strict=True))
    return []


def _has_lost_a_lead(own: Judged, found: Judged) -> bool:
    """Whether without the mechanism some lead of an order is less than half, both with their intervals."""
    for lead, less in zip(own.leads, found.leads, strict=False):
        if lead is None or less is None or lead.low is None or less.high is None:
            continue
        if less.high < lead.low / 2:
            return True
    return False


def _direction(own: Judged, found: Judged) -> Answer:
    """Whether a claim has its direction without its mechanism, too; not where most of the effect is gone."""
    pairs = _by_part(own, found)
    if pairs:
        return all_of(_direction(*pair) for pair in pairs)
    has_it = found.verdict in HOLDS
    if _has_lost_a_lead(own, found):
        return "no"
    if not own.claim.relative or own.claim.order:
        return "yes" if has_it else "open" if found.verdict == "not decided" else "no"
    if own.low is None or own.high is None or found.low is None or found.high is None:
        return "open"
    sign = band_of(own.claim).sign
    least = min(own.low * sign, own.high * sign)
    most = max(found.low * sign, found.high * sign)
    return "no" if most < least / 2 else "yes" if has_it else "open"


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

    What happens with some seeds only, such as one flow of many that does not end, decides nothing.
    """
    cells = [
        numbers.cell(claim.metric, own, at) for part in claim.parts for own, at in part.cells if own == name
    ]
    return any(cell.values and all(each.unfinished for each in cell.values.values()) for cell in cells)


def _differ(claim: Claim, subject: str, name: str, numbers: Numbers) -> bool:
    """Whether a variant and its ablation differ somewhere in a claim, beyond chance and by enough."""
    places = {at for part in claim.parts for own, at in part.cells if own == subject}
    pairs = [[numbers.cell(claim.metric, each, at) for each in (subject, name)] for at in sorted(places)]
    known = [cells for cells in pairs if all(cell.whole for cell in cells)]
    if any(cell.unfinished for cells in known for cell in cells):
        return True
    level = level_of(max(1, len(known)))
    return any(
        _beyond_chance(claim, *pairs_of(*cells), exact=all(cell.exact for cell in cells), level=level)
        for cells in known
    )


def _beyond_chance(claim: Claim, one: list[float], other: list[float], *, exact: bool, level: float) -> bool:
    """Whether the numbers of pairs of seeds differ; as the claim compares them, by ratio or difference.

    A difference is at least the tolerance, which the claim takes for no difference; of a bound or an order it
    is at least the margin.
    """
    if not exact and len(one) < LEAST_SEEDS:
        return True
    least = claim.margin if claim.order or claim.bound != "about" else claim.tolerance
    as_ratio = claim.relative or (bool(claim.order) and min(*one, *other) > 0)
    interval = change(one, other, exact=exact, level=level) if as_ratio else None
    if interval is None:
        differences = [own - without for own, without in zip(one, other, strict=True)]
        interval = mean_of(differences, exact=exact, level=level)
        largest = max(abs(fmean(one)), abs(fmean(other)))
        least = least if claim.unit == "%" and not claim.order else least / 100 * largest
    if interval.low is None or interval.high is None:
        return True
    return not interval.low <= 0 <= interval.high and abs(interval.middle) >= least


def _claim_verdict(study: Study, claim: Claim, numbers: Numbers, *, looks: int) -> Judged:
    if claim.unchanged:
        return _unchanged_order(study, claim, numbers, level=level_of(looks))
    if claim.several:
        own = [part for part in claim.parts if _is_planned(part, numbers)]
        looks *= len(own) if claim.take != "each" else 1
        parts = [_claim_verdict(study, part, numbers, looks=max(1, looks)) for part in own]
        return _together(study, claim, tuple(parts))
    found = (
        verdict_on_order(study, claim, numbers, level=level_of(looks))
        if claim.order
        else verdict_on_number(claim, numbers, level=level_of(looks))
    )
    return _with_faults(study, found, numbers)


def _unchanged_order(study: Study, claim: Claim, numbers: Numbers, *, level: float) -> Judged:
    own = [part for part in claim.parts if _is_planned(part, numbers)]
    rankings = [Ranking.of(part, numbers, level=level) for part in own]
    known = [each for each in rankings if each is not None]
    # One point has nothing to be compared with.
    if len(known) < len(own) or len(known) < len(("one", "another")):
        return Judged(claim=claim)
    points = [_with_faults(study, each.found, numbers) for each in known]
    found = verdict_on_unchanged_order(study, claim, known, points)
    left_out = len(claim.parts) - len(own)
    notes = [f"Of {len(own)} of {len(claim.parts)} points: the others are not run"] if left_out else []
    failed = any(each.failed for each in points)
    notes += [*found.notes, *_at_their_points(claim, tuple(points))]
    verdict: Verdict = "differs" if failed and found.verdict != "unfinished" else found.verdict
    holds: Answer = "no" if failed else found.holds
    return replace(found, notes=tuple(notes), failed=failed, verdict=verdict, holds=holds)


def _with_faults(study: Study, found: Judged, numbers: Numbers) -> Judged:
    """Say what the variants of a claim lost and where they stood still; what may lose nothing fails by it."""
    claim = found.claim
    cells = {place: numbers.cell(claim.metric, *place) for place in claim.cells}
    notes: list[str] = []
    failed = False
    for (name, at), cell in cells.items():
        label = study.variant(name).label
        if at != claim.at:
            label += " at " + ", ".join(
                f"{axis} = {point}" for axis, point in at if dict(claim.at)[axis] != point
            )
        if cell.lost:
            must_not = name not in claim.may_lose
            failed |= must_not
            notes.append(f"{label} lost {_packets(cell)}" + (", and must lose none" if must_not else ""))
        if cell.deadlocked:
            notes.append(f"{label} ran into a deadlock")
        notes += [f"{label}: failed: {error}" for error in dict.fromkeys(cell.failures)]
    notes = [*found.notes, *notes]
    if not failed:
        return replace(found, notes=tuple(notes))
    verdict: Verdict = found.verdict if found.verdict in ("not run", "unfinished") else "differs"
    return replace(found, notes=tuple(notes), verdict=verdict, holds="no", failed=True)


def _packets(cell: Cell) -> str:
    """Say how many packets were lost, and in how many runs."""
    count = counted(cell.lost, "packet")
    runs = sum(each.lost > 0 for each in cell.facts)
    return f"{count} in {runs} runs" if runs > 1 else count


def _is_planned(claim: Claim, numbers: Numbers) -> bool:
    """Whether all that a claim needs is to be run: the quick version leaves points and variants out."""
    cells = [numbers.cell(claim.metric, name, at) for name, at in claim.cells]
    return all(cell.values or cell.missing for cell in cells)


def _together(study: Study, claim: Claim, parts: tuple[Judged, ...]) -> Judged:
    """Return the verdict on a claim over several numbers from the verdicts on each."""
    left_out = len(claim.coordinates) * max(1, len(claim.rivals)) - len(parts)
    notes: list[str] = []
    if left_out and parts:
        notes.append(f"Of {len(parts)} of {len(parts) + left_out} numbers: the others are not run")
    unfinished = sum(part.unfinished for part in parts)
    found = Judged(
        claim=claim,
        parts=parts,
        unfinished=unfinished,
        seeds=min((part.seeds for part in parts), default=0),
        exact=bool(parts) and all(part.exact for part in parts),
        few=few_of_all(part.few for part in parts),
        notes=tuple(notes),
    )
    if not parts or any(part.verdict == "not run" for part in parts):
        return found
    known = [part for part in parts if part.ours is not None]
    lossy = any(part.failed for part in parts)
    # What was lost or did not finish counts, wherever the selected number is.
    if claim.take != "each" and len(known) == len(parts) and not unfinished and not lossy:
        extreme = (min if claim.take == "lowest" else max)(known, key=lambda part: part.ours or 0.0)
        notes += [f"Ours is {_where(study, claim, extreme)}", *extreme.notes]
        return replace(extreme, claim=claim, parts=parts, unfinished=unfinished, notes=tuple(notes))
    worst = max((part.verdict for part in parts), key=VERDICTS.index)
    if worst not in {"agrees", "unfinished"}:
        others = [_where(study, claim, part) for part in parts if part.verdict != "agrees"]
        shown = "; nor ".join(others[:MOST_NAMED]) + (" and others" if len(others) > MOST_NAMED else "")
        notes.append(f"Holds for {len(parts) - len(others)} of {len(parts)}, but not {shown}")
    notes += _at_their_points(claim, parts)
    low, high = (choose((part.ours or 0.0 for part in known), default=None) for choose in (min, max))
    return replace(
        found,
        low=low,
        high=high,
        verdict=worst,
        holds=all_of(part.holds for part in parts),
        notes=tuple(notes),
    )


def _at_their_points(claim: Claim, parts: tuple[Judged, ...]) -> Iterator[str]:
    """Return the notes of all numbers of a claim, each once; with its points, unless it is of all."""
    found: dict[str, dict[str, None]] = {}
    for part in parts:
        for note in part.notes:
            found.setdefault(note, {})[point_of(claim, part)] = None
    everywhere = {point_of(claim, part) for part in parts}
    for note, points in found.items():
        yield note if len(points) == len(everywhere) else f"{note} ({'; '.join(points)})"


def point_of(claim: Claim, part: Judged) -> str:
    """Return the point of a number on the axes along which its claim goes."""
    return ", ".join(f"{axis} = {point}" for axis, point in part.claim.at if _goes_along(claim, axis))


def _where(study: Study, claim: Claim, part: Judged) -> str:
    """Say which of its numbers a part of a claim is, and of an order who is the first there."""
    at = point_of(claim, part)
    against = [f"against {study.variant(part.claim.against).label}"] if len(claim.rivals) > 1 else []
    best = [f"where {study.variant(part.found[0][0]).label} is"] if claim.order and part.found else []
    return ", ".join(([f"at {at}"] if at else []) + against + best)


def _goes_along(claim: Claim, axis: str) -> bool:
    return len({dict(at)[axis] for at in claim.coordinates}) > 1
