"""The rule of a verdict: intervals of our numbers, bands around published ones, and how they lie.

It reads numbers only: so a test draws them with a known truth and counts the errors of the rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Literal

from floodway.results.interval import LEVEL, half_width, ratio_half_width, ratio_residuals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway_lab.study.model import Claim

__all__ = [
    "Answer",
    "Band",
    "Interval",
    "band_of",
    "chance_of",
    "change",
    "change_less",
    "level_of",
    "margin_answer",
    "mean_of",
]

#: Whether a statement holds: yes, no, or undecided with the number of seeds.
Answer = Literal["yes", "no", "open"]
#: Differences in percent below this are printed as 0.0 and have no sign.
LEAST_CHANGE = 0.05
#: Fewer seeds than this do not tell the standard deviation of a run.
LEAST_DRAWS = 10


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A number with its confidence interval.

    Attributes
    ----------
    middle
        The number: a mean, or a difference in percent.
    reach
        Half of the interval's width: 0 where chance plays no part, None where there are too few seeds for an
        interval.
    """

    middle: float
    reach: float | None

    @property
    def low(self) -> float | None:
        """Lower end."""
        return None if self.reach is None else self.middle - self.reach

    @property
    def high(self) -> float | None:
        """Upper end."""
        return None if self.reach is None else self.middle + self.reach


@dataclass(frozen=True, kw_only=True)
class Band:
    """The range of numbers that agree with a published one: from `low` to `high`, both included.

    Attributes
    ----------
    low, high
        Its ends; infinite for a bound.
    sign
        The sign of all numbers in the band: +1 or -1; 0 if both agree.
    minimum
        The least distance from zero of a number with that sign.
    """

    low: float
    high: float
    sign: int = 0
    minimum: float = 0.0

    def holds(self, interval: Interval) -> Answer:
        """Return whether a number is in the band: `yes` with its whole interval, `no` with no part of it."""
        if interval.low is None or interval.high is None:
            return "open"
        low, high = self._ends
        if interval.low >= low and interval.high <= high:
            return "yes"
        return "no" if interval.high < low or interval.low > high else "open"

    def has_sign(self, interval: Interval) -> Answer:
        """Return whether a number has the published sign, with its whole interval."""
        if not self.sign or interval.low is None or interval.high is None:
            return "open"
        near, far = sorted((interval.low * self.sign, interval.high * self.sign))
        if near >= self._smallest:
            return "yes"
        return "no" if far < self._smallest else "open"

    @property
    def _smallest(self) -> float:
        """The smallest distance from zero that has a sign."""
        return self.minimum or math.ulp(0.0)

    @property
    def _ends(self) -> tuple[float, float]:
        low = max(self.low, self._smallest) if self.sign > 0 else self.low
        high = min(self.high, -self._smallest) if self.sign < 0 else self.high
        return low, high


def band_of(claim: Claim, *, chance: float = 0.0) -> Band:
    """Return the band of a claim: its published number with the tolerance, never across zero.

    A bound is a band with one end; a difference of at least zero, or at most, is one with a sign. A published
    zero has no side: ours may be off in both directions. A range that ends at zero is not made longer there.

    Parameters
    ----------
    claim
        A claim of a number.
    chance
        The standard deviation of the published number, in its unit, where it is of a few runs: the tolerance
        grows by it, but not beyond half of the number.
    """
    low, high = claim.between or (_number(claim), _number(claim))
    if claim.bound == "at-most":
        low = -math.inf
    if claim.bound == "at-least":
        high = math.inf
    sign = 1 if low > 0 else -1 if high < 0 else 0
    if claim.relative and claim.bound == "at-least" and low == 0:
        sign = 1
    if claim.relative and claim.bound == "at-most" and high == 0:
        sign = -1
    nearest = low if sign > 0 else -high
    return Band(
        low=low if low == 0 < high else low - _allowed(claim, low, chance),
        high=high if high == 0 > low else high + _allowed(claim, high, chance),
        sign=sign,
        minimum=LEAST_CHANGE if sign and claim.relative and not 0 < nearest < LEAST_CHANGE else 0.0,
    )


def _number(claim: Claim) -> float:
    return math.nan if claim.value is None else claim.value


def _allowed(claim: Claim, end: float, chance: float) -> float:
    """Return the allowed deviation with chance: points of a percentage, percent of any other number."""
    if not math.isfinite(end):
        return 0.0
    in_points = claim.relative or claim.unit == "%"
    allowed = claim.tolerance if in_points else abs(end) * claim.tolerance / 100
    # A number of pure chance must not agree with an effect, nor must one of half its size.
    return max(allowed, min(allowed + chance, abs(end) / 2))


def chance_of(claim: Claim, values: Sequence[float], bases: Sequence[float] | None) -> float:
    """Return the standard deviation of a published number that is the mean of a few runs.

    It is estimated from our runs, at least `LEAST_DRAWS` of them; with fewer it is 0, as where the claim does
    not say of how many runs the published number is.

    Parameters
    ----------
    claim
        A claim of a number.
    values, bases
        The values, one a seed; and the bases of a difference in percent, in pairs with them.
    """
    if not claim.draws or len(values) < LEAST_DRAWS:
        return 0.0
    if bases is None:
        return stdev(values) / math.sqrt(claim.draws)
    base = fmean(bases)
    if not base:
        return 0.0
    return 100 * stdev(ratio_residuals(values, bases)) / abs(base) / math.sqrt(claim.draws)


def level_of(looks: int) -> float:
    """Return the level of each interval so that all of them hold their true numbers 95 times of 100.

    Where the best of several numbers counts, of the readings of a statement or of the points that `take`
    chooses from, the error probability of each is divided by their number (Bonferroni), so that more numbers
    do not make a verdict kinder.

    Examples
    --------
    >>> level_of(1), level_of(5)
    (0.95, 0.99)
    """
    return round(1 - (1 - LEVEL) / looks, 12)


def mean_of(values: Sequence[float], *, exact: bool, level: float) -> Interval:
    """Return a mean over seeds with its interval; `exact` where chance plays no part."""
    return Interval(middle=fmean(values), reach=0.0 if exact else half_width(values, level=level))


def change(values: Sequence[float], bases: Sequence[float], *, exact: bool, level: float) -> Interval | None:
    """Return the difference of means in percent, with its interval over the pairs of a seed.

    None where the mean of the bases is zero: then there is no percentage.
    """
    base = fmean(bases)
    if not base:
        return None
    reach = 0.0 if exact else ratio_half_width(values, bases, level=level)
    return Interval(middle=(fmean(values) / base - 1) * 100, reach=None if reach is None else reach * 100)


def change_less(
    minuend: Sequence[Sequence[float]], subtrahend: Sequence[Sequence[float]], *, exact: bool, level: float
) -> Interval | None:
    """Return a difference in percent less another one, in points, with its interval over the seeds.

    Parameters
    ----------
    minuend, subtrahend
        The values and the bases of each difference, one a seed, for the same seeds.
    exact
        Whether chance plays no part.
    level
        The level of the interval, which is computed from the difference of both ratios' residuals, each over
        the mean of its bases, seed by seed: the two need not be independent.

    Returns
    -------
    Interval or None
        None where the mean of the bases of one is zero.
    """
    residuals: list[list[float]] = []
    middles: list[float] = []
    for values, bases in (minuend, subtrahend):
        interval = change(values, bases, exact=True, level=level)
        if interval is None:
            return None
        middles.append(interval.middle)
        ratio, base = 1 + interval.middle / 100, fmean(bases)
        residuals.append(
            [(value - ratio * base_value) / base for value, base_value in zip(values, bases, strict=True)]
        )
    differences = [one - two for one, two in zip(*residuals, strict=True)]
    reach = 0.0 if exact else half_width(differences, level=level)
    return Interval(middle=middles[0] - middles[1], reach=None if reach is None else reach * 100)


def margin_answer(  # noqa: PLR0913 (what the comparison is of)
    better: Sequence[float],
    worse: Sequence[float],
    *,
    best: str,
    margin: float,
    exact: bool,
    level: float,
) -> Answer:
    """Decide whether one number is better than another, by a margin and beyond chance.

    The interval is that of the difference in percent. Where a number is zero, it is that of the differences:
    a ratio of 0 has no variance, however rarely the other number is not zero.

    Parameters
    ----------
    better, worse
        The numbers, one a seed, in pairs.
    best
        Whether the `lowest` or the `highest` number is best.
    margin
        The least difference, in percent of the larger of both means.
    exact
        Whether chance plays no part.
    level
        The level of the interval.
    """
    smaller, larger = (better, worse) if best == "lowest" else (worse, better)
    if min(*better, *worse) > 0:
        ratio = change(smaller, larger, exact=exact, level=level)
        if ratio is None or ratio.low is None or ratio.high is None:
            return "open"
        if ratio.high <= -margin and ratio.high < 0:
            return "yes"
        return "no" if ratio.low > -margin or ratio.low >= 0 else "open"
    sign = 1 if best == "lowest" else -1
    gains = [sign * (other - value) for value, other in zip(better, worse, strict=True)]
    interval = mean_of(gains, exact=exact, level=level)
    minimum = margin / 100 * max(abs(fmean(better)), abs(fmean(worse)))
    if interval.low is None or interval.high is None:
        return "open"
    if interval.low >= minimum and interval.low > 0:
        return "yes"
    return "no" if interval.high < minimum or interval.high <= 0 else "open"
