"""Verdicts on single numbers and orders, without what their runs lost and without ablations."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floodway.results.interval import LEAST_SEEDS
from floodway_lab.study.claims.judgement import Judged
from floodway_lab.study.claims.rule import (
    band_of,
    chance_of,
    change,
    change_less,
    level_of,
    margin_answer,
    mean_of,
)
from floodway_lab.study.facts import is_exact, is_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from floodway.study.format.model import Study
    from floodway.study.numbers import Cell, Numbers
    from floodway_lab.study.claims.judgement import Verdict
    from floodway_lab.study.claims.rule import Answer, Interval
    from floodway_lab.study.model import Claim

__all__ = [
    "Ranking",
    "all_of",
    "few_of_all",
    "pairs_of",
    "undecided",
    "verdict_on_number",
    "verdict_on_order",
]


def verdict_on_number(claim: Claim, numbers: Numbers, *, level: float) -> Judged:
    """Judge one number of a claim; its interval is of this level."""
    subject = numbers.cell(claim.metric, claim.variant, claim.at)
    other = numbers.cell(claim.metric, claim.against, claim.against_at) if claim.relative else None
    cells = [numbers.cell(claim.metric, name, at) for name, at in claim.cells]
    if any(not cell.values or cell.missing for cell in cells):
        return Judged(claim=claim)
    unfinished = sum(cell.unfinished for cell in cells)
    # A number that is compared with itself, as in some ablations, has no difference.
    itself = (claim.variant, claim.at) == (claim.against, claim.against_at)
    exact = itself or all(is_exact(cell) for cell in cells)
    less = _subtracted(claim, numbers)
    interval = _interval(subject, other, less, exact=exact, level=level)
    seeds = len(frozenset.intersection(*(frozenset(cell.values) for cell in cells)))
    judged = Judged(
        claim=claim,
        seeds=seeds,
        exact=exact,
        unfinished=unfinished,
        cause=_of_cause(claim, numbers, other),
        few=subject.few(claim.metric.kind.thousandths),
    )
    if interval is None:
        return replace(judged, holds="no", verdict="unfinished" if unfinished else "differs")
    judged = replace(judged, ours=interval.middle, low=interval.low, high=interval.high)
    if unfinished:
        return replace(judged, holds="no", verdict="unfinished")
    chance = 0.0 if exact or less else chance_of(claim, *_by_seed(subject, other))
    judged = replace(judged, chance=chance)
    band = band_of(claim, chance=chance)
    holds, sign = band.holds(interval), band.has_sign(interval)
    verdict: Verdict = "not decided"
    notes: tuple[str, ...] = ()
    if holds == "yes":
        verdict = "agrees"
    elif claim.relative and sign == "yes":
        verdict = "agrees in direction"
    elif holds == "no":
        verdict = "differs"
    if holds == "open":
        notes = (undecided(seeds, "the interval reaches beyond what agrees"),)
    return replace(judged, holds=holds, verdict=verdict, notes=notes)


def undecided(seeds: int, why: str) -> str:
    """Return a sentence on why the seeds do not decide."""
    if seeds < LEAST_SEEDS:
        have = "One seed has" if seeds == 1 else f"{seeds} seeds have"
        return f"{have} no confidence interval: that needs {LEAST_SEEDS}, or 2 with exactly the same results"
    return f"Over {seeds} seeds {why}"


def _subtracted(claim: Claim, numbers: Numbers) -> tuple[Cell, Cell] | None:
    """Return the two cells of the difference that a claim subtracts from its own."""
    if not claim.less_points:
        return None
    at, against_at = claim.less_at
    return numbers.cell(claim.metric, claim.variant, at), numbers.cell(
        claim.metric, claim.against, against_at
    )


def _interval(
    subject: Cell, other: Cell | None, less: tuple[Cell, Cell] | None = None, *, exact: bool, level: float
) -> Interval | None:
    """Return a mean over the seeds, or a difference in percent over the pairs; None without numbers.

    `less` has the cells of a difference that is subtracted.
    """
    if other is None:
        return mean_of(subject.known, exact=exact, level=level) if subject.mean is not None else None
    cells = (subject, other, *(less or ()))
    if any(cell.mean is None for cell in cells):
        return None
    values = seeds_of(*cells)
    if not values[0]:
        return None
    if less is None:
        return change(values[0], values[1], exact=exact, level=level)
    return change_less(values[:2], values[2:], exact=exact, level=level)


def _by_seed(cell: Cell, other: Cell | None) -> tuple[list[float], list[float] | None]:
    """Return the numbers of a cell, and the bases of a difference, if it is one."""
    return (list(cell.known), None) if other is None else pairs_of(cell, other)


def pairs_of(cell: Cell, other: Cell) -> tuple[list[float], list[float]]:
    """Return the numbers of both cells for the seeds that both have."""
    values, others = seeds_of(cell, other)
    return values, others


def seeds_of(*cells: Cell) -> list[list[float]]:
    """Return the numbers of each cell for the seeds that all have."""
    rows = [[cell.values[seed].value for cell in cells] for seed in cells[0].values if _have(cells, seed)]
    complete = [[value for value in row if value is not None] for row in rows if None not in row]
    return [list(column) for column in zip(*complete, strict=True)] or [[] for _ in cells]


def _have(cells: Iterable[Cell], seed: int) -> bool:
    return all(seed in cell.values for cell in cells)


def verdict_on_order(study: Study, claim: Claim, numbers: Numbers, *, level: float) -> Judged:
    """Judge an order, or its first variant alone; the intervals of its differences are of this level."""
    ranking = Ranking.of(claim, numbers, level=level)
    if ranking is None:
        return Judged(claim=claim)
    judged = ranking.judged
    if not ranking.comparable:
        return replace(judged, holds="no", verdict="unfinished")
    first = claim.order[0]
    of_first = {(first, name): ranking.better(first, name) for name in claim.order[1:]}
    consecutive = (
        of_first
        if claim.only_first
        else {pair: ranking.better(*pair) for pair in itertools.pairwise(claim.order)}
    )
    holds, leads = all_of(consecutive.values()), all_of(of_first.values())
    verdict: Verdict = "differs" if holds == "no" else "not decided"
    if holds == "yes":
        verdict = "agrees"
    elif not claim.only_first and leads == "yes":
        verdict = "agrees in direction"
    notes = ranking.equal(study)
    if holds == "open":
        notes.append(undecided(judged.seeds, "the differences are not beyond chance"))
    by_pair = tuple(ranking.lead(*pair) for pair in consecutive)
    return replace(judged, holds=holds, verdict=verdict, leads=by_pair, notes=tuple(notes))


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The variants of an order at one point.

    Attributes
    ----------
    judged
        The order of our means, without a verdict.
    cells
        The numbers of each variant.
    last
        Variants that leave flows unfinished: they are worse than all others.
    level
        The level of the intervals of differences.
    """

    judged: Judged
    cells: Mapping[str, Cell]
    last: tuple[str, ...]
    level: float

    @classmethod
    def of(cls, claim: Claim, numbers: Numbers, *, level: float) -> Ranking | None:
        """Return the ranking at a claim's own point; None where a run is missing."""
        cells = {name: numbers.cell(claim.metric, name, claim.at) for name in claim.order}
        if any(not cell.values or cell.missing for cell in cells.values()):
            return None
        means = {name: cell.mean for name, cell in cells.items() if not cell.unfinished}
        known_means = {name: mean for name, mean in means.items() if mean is not None}
        ranked = sorted(
            known_means, key=lambda name: known_means[name] * (1 if claim.best == "lowest" else -1)
        )
        judged = Judged(
            claim=claim,
            means=tuple((name, known_means[name]) for name in ranked),
            seeds=min(len(cell.values) for cell in cells.values()),
            exact=all(is_exact(cell) for cell in cells.values()),
            unfinished=sum(cell.unfinished for cell in cells.values()),
            few=few_of_all(cell.few(claim.metric.kind.thousandths) for cell in cells.values()),
        )
        return cls(
            judged=judged, cells=cells, last=tuple(n for n in cells if n not in known_means), level=level
        )

    @property
    def comparable(self) -> bool:
        """Whether at most one variant leaves flows unfinished, where that makes it the last."""
        return not self.last or (len(self.last) == 1 and self.judged.claim.best == "lowest")

    def better(self, better: str, worse: str) -> Answer:
        """Decide whether one variant is better than another, by the margin and beyond chance."""
        claim, cell, other = self.judged.claim, self.cells[better], self.cells[worse]
        if better == worse or cell.unfinished:
            return "no"
        if better in self.last or worse in self.last:
            # A variant is last if it left flows unfinished with every seed; a missing number decides nothing.
            always = all(value.unfinished for value in other.values.values())
            return "yes" if better not in self.last and always else "open"
        exact = is_exact(cell) and is_exact(other)
        values, others = pairs_of(cell, other)
        return margin_answer(
            values, others, best=claim.best, margin=claim.margin, exact=exact, level=self.level
        )

    def lead(self, better: str, worse: str) -> Interval | None:
        """Return the lead of one variant in percent of the larger number; None without numbers."""
        cell, other = self.cells[better], self.cells[worse]
        if better in self.last or worse in self.last:
            return None
        pairs = pairs_of(cell, other)
        smaller, larger = pairs if self.judged.claim.best == "lowest" else reversed(pairs)
        if not smaller or min(*smaller, *larger) <= 0:
            return None
        exact = is_exact(cell) and is_exact(other)
        interval = change(smaller, larger, exact=exact, level=self.level)
        return None if interval is None else replace(interval, middle=-interval.middle)

    def equal(self, study: Study) -> list[str]:
        """Return notes on neighbours in the order that are equal within the margin."""
        pairs = itertools.pairwise(name for name, _ in self.judged.means)
        claim = self.judged.claim
        return [_equal(study, claim, pair) for pair in pairs if _are_equal(claim, self.cells, pair)]


def all_of(answers: Iterable[Answer]) -> Answer:
    """Return whether all of several statements hold."""
    distinct = set(answers)
    return "no" if "no" in distinct else "open" if "open" in distinct else "yes"


def _are_equal(claim: Claim, cells: Mapping[str, Cell], pair: tuple[str, str]) -> bool:
    """Whether two means differ by less than the claim's margin, without regard to chance."""
    one, two = (cells[name].mean or 0.0 for name in pair)
    return one == two or abs(one - two) < claim.margin / 100 * max(abs(one), abs(two))


def _equal(study: Study, claim: Claim, pair: tuple[str, str]) -> str:
    one, two = (study.variant(name).label for name in pair)
    return f"{one} and {two} are equal within {claim.margin:g} %"


def few_of_all(few: Iterable[tuple[int, int, int] | None]) -> tuple[int, int, int] | None:
    """Return a percentile with the least and the most flows of it in several numbers."""
    present = [counts for counts in few if counts is not None]
    if not present:
        return None
    return present[0][0], min(counts[1] for counts in present), max(counts[2] for counts in present)


def _of_cause(claim: Claim, numbers: Numbers, other: Cell | None) -> float | None:
    """Return the number with the variant that isolates the cause in the place of the claim's own."""
    if not claim.cause:
        return None
    cell = numbers.cell(claim.metric, claim.cause, claim.at)
    if claim.cause_against and claim.cause_against != claim.against:
        other = numbers.cell(claim.metric, claim.cause_against, claim.at)
    if not is_whole(cell) or cell.unfinished:
        return None
    interval = _interval(cell, other, exact=True, level=level_of(1))
    return None if interval is None else interval.middle
