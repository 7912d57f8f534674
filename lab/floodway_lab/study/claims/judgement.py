"""Results of claims: our number, the verdict, and both without the mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from floodway.results.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from floodway_lab.study.claims.rule import Answer, Interval
    from floodway_lab.study.model import Claim

__all__ = ["HOLDS", "VERDICTS", "Ablation", "Judged", "Verdict", "best_reading"]

Verdict = Literal[
    "agrees",
    "agrees in direction",
    "holds without the mechanism too",
    "not decided",
    "differs",
    "unfinished",
    "not run",
]
#: Verdicts from best to worst. A direction that depends on the mechanism is better than a number that does
#: not. A statement has the best verdict of its readings, a claim over several numbers the worst of theirs.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
#: Verdicts with which a claim holds before its ablations are considered.
HOLDS: frozenset[Verdict] = frozenset({"agrees", "agrees in direction"})


@dataclass(frozen=True, kw_only=True)
class Ablation:
    """A claim without its mechanism, judged by the same rule.

    Attributes
    ----------
    variant, label
        The variant in the place of the claim's, and its name in tables.
    judged
        The result of the claim with that variant.
    agrees
        Whether the claim holds in this way, too, or with a larger effect; `open` where too few seeds, or no
        runs, decide it.
    direction
        Whether it has the direction of the claim: `no` where its difference is less than half of the
        claim's, both with their whole intervals, so that most of the effect is the mechanism's. Of an order
        this decides `agrees` as well.
    is_half
        Whether only a part of the mechanism is missing: it shows which part matters, and decides nothing.
    differs
        Whether its numbers differ from those of the variant that it replaces, beyond chance and by at least
        the claim's tolerance or margin.
    """

    variant: str
    label: str
    judged: Judged
    agrees: Answer
    direction: Answer
    differs: bool
    is_half: bool = False

    def holds_alike(self, *, direction: bool) -> Answer:
        """Whether a claim holds, or only has its direction, without its mechanism or a difference by it."""
        answer = self.direction if direction else self.agrees
        return "yes" if answer == "no" and not self.differs else answer


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A claim with our number and its verdict.

    Attributes
    ----------
    claim
        The published claim.
    ours
        Our number: in percent where the claim is relative; None where there is none.
    low, high
        Its confidence interval, or for a claim over several numbers the smallest and the largest of them;
        None where there are too few seeds.
    seeds
        Number of seeds of our number.
    exact
        Whether chance plays no part in it: all seeds gave the same results.
    unfinished
        Number of unfinished flows among those of our number.
    means
        For an order: the variants with their means, the best of our runs first.
    leads
        For an order: lead of each variant over the next, or of the first over each of the others, in percent
        and in the order of the claim; None where there is no percentage.
    cause
        The number of the experiment that isolates its cause; None where there is none.
    few
        For a percentile of flows: the percentile times 10, and the least and the most flows of a run.
    chance
        Widening of the tolerance by chance, in the unit of the number: the standard deviation of a published
        number that is the mean of a few runs.
    verdict, alone
        The verdict, and the verdict without regard to ablations.
    holds
        Whether the number or order is as published, without regard to losses and ablations.
    failed
        Whether a variant that must be lossless lost packets.
    notes
        Notes for readers of the verdict, besides the claim's own remark.
    parts
        For a claim over several numbers or orders: the results of those that are run.
    ablations
        The results of the same claim without the mechanism.
    """

    claim: Claim
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    seeds: int = 0
    exact: bool = False
    unfinished: int = 0
    means: tuple[tuple[str, float], ...] = ()
    leads: tuple[Interval | None, ...] = ()
    cause: float | None = None
    few: tuple[int, int, int] | None = None
    chance: float = 0.0
    verdict: Verdict = "not run"
    alone: Verdict | None = None
    holds: Answer = "open"
    failed: bool = False
    notes: tuple[str, ...] = ()
    parts: tuple[Judged, ...] = ()
    ablations: tuple[Ablation, ...] = ()

    @property
    def words(self) -> str:
        """The verdict as text for tables."""
        if self.verdict != "not decided":
            return self.verdict
        return f"not decided by {counted(self.seeds, 'seed')}"

    @property
    def has_direction(self) -> bool:
        """Whether it only has the published direction, without regard to its ablations."""
        return (self.alone or self.verdict) == "agrees in direction"

    @property
    def difference(self) -> float | None:
        """Difference of our number from the published value, or from the nearer end of a range; 0 inside."""
        return None if self.ours is None or self.nearest is None else self.ours - self.nearest

    @property
    def nearest(self) -> float | None:
        """The published number that is nearest to ours."""
        if self.claim.between is None or self.ours is None:
            return self.claim.value
        low, high = self.claim.between
        return min(max(self.ours, low), high)


def best_reading(claims: Iterable[Judged]) -> Judged:
    """Return the best reading of a statement: the best verdict, then the number nearest to the published one.

    The worst part of a reading represents it. Among equal readings the first is returned.
    """
    readings: dict[str, list[Judged]] = {}
    for judged in claims:
        readings.setdefault(judged.claim.reading, []).append(judged)

    def rank(candidate: Judged) -> tuple[int, float]:
        off = abs(candidate.difference) if candidate.difference is not None else float("inf")
        return VERDICTS.index(candidate.verdict), off

    worst = [max(parts, key=rank) for parts in readings.values()]
    return min(worst, key=rank)
