"""Percentiles of few flows: the notes for percentiles that hardly any flow exceeds."""

from __future__ import annotations

__all__ = ["FEW_FLOWS_NOTE", "MARK", "few_counted", "few_noted", "is_few", "name_of", "of_flows"]

#: A percentile is marked where fewer flows than this lie beyond it: p99 of fewer than 1,000.
LEAST_BEYOND = 10
#: The mark of such a percentile.
MARK = "†"
#: The meaning of the mark, and that without a number after it.
FEW_BEYOND = f"fewer than {LEAST_BEYOND} lie above"
FEW_FLOWS_NOTE = f"{MARK} few flows: {FEW_BEYOND} this percentile"


def is_few(flows: int, *, thousandths: int) -> bool:
    """Whether a percentile is of so few flows that hardly any lie beyond it.

    Parameters
    ----------
    flows
        How many it is of.
    thousandths
        Which percentile, times 10.

    Examples
    --------
    >>> is_few(999, thousandths=990), is_few(1000, thousandths=990), is_few(9000, thousandths=999)
    (True, False, True)
    """
    return 0 < flows * (1000 - thousandths) < LEAST_BEYOND * 1000


def few_noted(unit: str, *, percentile: str = "this percentile") -> str:
    """Return the note on the mark that has a number of flows after it.

    Examples
    --------
    >>> few_noted("seed")
    '† few flows: the number after † is how many there were per seed; fewer than 10 lie above this percentile'
    """
    number = f"the number after {MARK} is how many there were per {unit}"
    return f"{MARK} few flows: {number}; {FEW_BEYOND} {percentile}"


def few_counted(fewest: int, most: int, *, unit: str) -> str:
    """Return the note on the mark, with the numbers of flows that the marked percentiles are of.

    Examples
    --------
    >>> few_counted(45, 984, unit="seed")
    '† few flows, 45 to 984 per seed: fewer than 10 lie above this percentile'
    """
    count = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
    return f"{MARK} few flows, {count} per {unit}: {FEW_BEYOND} this percentile"


def name_of(thousandths: int) -> str:
    """Return the name of a percentile.

    Examples
    --------
    >>> name_of(990), name_of(999)
    ('p99', 'p99.9')
    """
    return f"p{thousandths / 10:g}"


def of_flows(fewest: int, most: int, *, thousandths: int, unit: str = "") -> str:
    """Return the note on percentiles of few flows, with the number of flows; empty where no note is needed.

    Examples
    --------
    >>> of_flows(45, 46, thousandths=990, unit="each point")
    'p99 of each point is of 45 to 46 flows: fewer than 10 lie above it.'
    >>> of_flows(2000, 2000, thousandths=990)
    ''
    """
    if not is_few(fewest, thousandths=thousandths):
        return ""
    count = f"{fewest:,}" if fewest == most else f"{fewest:,} to {most:,}"
    where = f" of {unit}" if unit else ""
    flows = "flow" if most == 1 else "flows"
    name = name_of(thousandths)
    return f"{name}{where} is of {count} {flows}: fewer than {LEAST_BEYOND} lie above it."
