"""Confidence intervals of means over seeds, by Student's t."""

from __future__ import annotations

import math
from functools import cache
from statistics import fmean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LEAST_SEEDS", "difference_half_width", "half_width", "interval_note", "ratio_half_width"]
__all__ += ["ratio_residuals", "student_t"]

#: Fewer seeds have no interval: that of two is nine times as wide as their distance.
LEAST_SEEDS = 3
#: Probability that the interval of a mean holds the true mean.
LEVEL = 0.95
#: Quantiles are looked for below this; that of one degree of freedom at 99.99 % is 6,366.
LARGEST_T = 65536.0
#: Halvings until a quantile is exact to a billionth.
HALVINGS = 70


def half_width(values: Sequence[float], *, level: float = LEVEL) -> float | None:
    """Return half the width of the confidence interval of a mean.

    Parameters
    ----------
    values
        One a seed; the seeds are independent of one another.
    level
        How often the interval holds the true mean: 95 times of 100 by default.

    Returns
    -------
    float or None
        None for fewer than three seeds.

    Examples
    --------
    >>> round(half_width([1.0, 2.0, 3.0]), 3)
    2.484
    >>> half_width([1.0, 2.0]) is None
    True
    """
    if len(values) < LEAST_SEEDS:
        return None
    return student_t(len(values) - 1, level) * stdev(values) / math.sqrt(len(values))


def ratio_residuals(values: Sequence[float], bases: Sequence[float]) -> list[float]:
    """Return value - ratio x base of each pair, where the ratio is that of the means; that of bases is not 0.

    Examples
    --------
    >>> ratio_residuals([1.0, 3.0], [1.0, 1.0])
    [-1.0, 1.0]
    """
    ratio = fmean(values) / fmean(bases)
    return [value - ratio * base for value, base in zip(values, bases, strict=True)]


def ratio_half_width(
    values: Sequence[float], bases: Sequence[float], *, level: float = LEVEL
) -> float | None:
    """Return half the width of the interval of a ratio of means, where each pair is of one seed.

    It is that of the residuals, value - ratio x base, over the mean of the bases (Cochran 1977, chapter 6).

    Examples
    --------
    >>> ratio_half_width([2.0, 4.0, 6.0], [1.0, 2.0, 3.0])
    0.0
    """
    base = fmean(bases) if bases else 0.0
    if not base:
        return None
    reach = half_width(ratio_residuals(values, bases), level=level)
    return None if reach is None else reach / abs(base)


def difference_half_width(
    values: Sequence[float], bases: Sequence[float], *, paired: bool, level: float = LEVEL
) -> float | None:
    """Return half the width of the interval of a difference of means: paired by seed, or independent.

    Degrees of freedom of independent seeds are those of the smaller sample, which makes the interval rather
    too wide (Welch 1938).

    Examples
    --------
    >>> round(difference_half_width([2.0, 4.0, 6.0], [1.0, 2.0, 3.0], paired=True), 3)
    2.484
    >>> round(difference_half_width([1.0, 2.0, 3.0], [5.0, 5.0, 5.0], paired=False), 3)
    2.484
    """
    if paired:
        return half_width([value - base for value, base in zip(values, bases, strict=True)], level=level)
    fewest = min(len(values), len(bases))
    if fewest < LEAST_SEEDS:
        return None
    errors = (stdev(sample) / math.sqrt(len(sample)) for sample in (values, bases))
    return student_t(fewest - 1, level) * math.hypot(*errors)


def interval_note(fewest: int, most: int) -> str:
    """Return what error bars over these seeds are, or why there are none.

    Examples
    --------
    >>> interval_note(5, 5)
    "Error bars: 95 % confidence intervals of the mean, by Student's t over 5 seeds."
    >>> interval_note(1, 2)
    'No error bars: too few seeds (1 to 2; a confidence interval needs 3).'
    """
    seeds = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    if most < LEAST_SEEDS:
        return f"No error bars: too few seeds ({seeds}; a confidence interval needs {LEAST_SEEDS})."
    none = f"; none where there are fewer than {LEAST_SEEDS}" if fewest < LEAST_SEEDS else ""
    return f"Error bars: 95 % confidence intervals of the mean, by Student's t over {seeds} seeds{none}."


@cache
def student_t(freedom: int, level: float = LEVEL) -> float:
    """Return the two-sided quantile of Student's t at a confidence level.

    Parameters
    ----------
    freedom
        Degrees of freedom, 1 or more.
    level
        A share below 1.

    Examples
    --------
    >>> [round(student_t(freedom), 3) for freedom in (1, 2, 4, 9)]
    [12.706, 4.303, 2.776, 2.262]
    >>> round(student_t(4, 0.99), 3)
    4.604
    """
    low, high = 0.0, LARGEST_T
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _inside(middle, freedom) < level else (low, middle)
    # The last digits depend on the platform's arithmetic.
    return round(low, 9)


def _inside(t: float, freedom: int) -> float:
    """Return the probability of |T| < t by Student's t (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    is_odd = freedom % 2
    term = math.cos(angle) if is_odd else 1.0
    total = term if freedom > 1 else 0.0
    for step in range(2 + is_odd, freedom, 2):
        term *= square * (step - 1) / step
        total += term
    inside = math.sin(angle) * total
    return (angle + inside) * 2 / math.pi if is_odd else inside
