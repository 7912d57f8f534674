"""A claim with what was found: our number, the verdict, and the same without the mechanism."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from floodway.results.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from floodway.study.format.model import Claim
    from floodway_lab.study.claims.rule import Answer, Interval

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
#: From best to worst, where a direction that the mechanism decides is worth more than a number that it does
#: not: a statement has the best verdict of its readings, a claim over several numbers the worst of theirs.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
#: Those with which a claim holds, if nobody asks for ablations.
HOLDS: frozenset[Verdict] = frozenset({"agrees", "agrees in direction"})


@dataclass(frozen=True, kw_only=True)
class Ablation:
    """A claim without its mechanism, judged by the same rule.

    Attributes
    ----------
    variant, label
        What stands in the place of the claim's variant, and what tables call it.
    judged
        What was found.
    agrees
        Whether the claim holds in this way, too, or with a larger effect; `open` where too few seeds, or no
        runs, decide it.
    direction
        Whether it has the direction of the claim: `no` where its difference is less than half of the
        claim's, both with their whole intervals, so that most of the effect is the mechanism's. Of an order
        this decides `agrees` as well.
    is_half
        Whether it lacks a part of the mechanism only: it says what carries the claim, and decides nothing.
    differs
        Whether its numbers differ from those of what it stands for, beyond chance and by what the claim
        takes for a difference.
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
    """A claim with what was found.

    Attributes
    ----------
    claim
        What was published.
    ours
        Our number: in percent where the claim is relative; None where there is none.
    low, high
        Its confidence interval, or for a claim over several numbers the smallest and the largest of them;
        None where there are too few seeds.
    seeds
        How many seeds it is of.
    exact
        Whether chance plays no part in it: all seeds gave the same results.
    unfinished
        Flows that did not finish among those that it is of.
    means
        For an order: the variants with their means, the best of our runs first.
    leads
        For an order: by how many percent each is better than the next, or the first than each of the others,
        in the order of the claim; None where there is no percentage.
    cause
        The number that the experiment of its cause gives in its place; None where there is none.
    few
        Of a percentile of flows: which one, times 10, and of how many flows it is at least and at most.
    chance
        By how much chance widens the tolerance, in the unit of the number: the standard deviation of a
        published number that is of a few runs.
    verdict, alone
        The verdict; and what it is if nobody asks for ablations.
    holds
        Whether the number or order is as published, whatever the verdict says of losses and ablations.
    failed
        Whether a variant lost packets that must lose none.
    notes
        What a reader of the verdict must know besides the claim's own remark.
    parts
        Of a claim over several numbers or orders: each of those that are run.
    ablations
        The same claim without the mechanism.
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
        """The verdict as tables say it."""
        if self.verdict != "not decided":
            return self.verdict
        return f"not decided by {counted(self.seeds, 'seed')}"

    @property
    def has_direction(self) -> bool:
        """Whether it has the published direction and no more, whatever its ablations say."""
        return (self.alone or self.verdict) == "agrees in direction"

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


def best_reading(claims: Iterable[Judged]) -> Judged:
    """Return the reading of a statement that comes nearest to it: the best verdict, then the nearest number.

    A reading in parts is as good as the worst of them, which stands for it. Among equals it is the first.
    """
    readings: dict[str, list[Judged]] = {}
    for judged in claims:
        readings.setdefault(judged.claim.reading, []).append(judged)

    def rank(candidate: Judged) -> tuple[int, float]:
        off = abs(candidate.difference) if candidate.difference is not None else float("inf")
        return VERDICTS.index(candidate.verdict), off

    worst = [max(parts, key=rank) for parts in readings.values()]
    return min(worst, key=rank)
