"""Facts about the runs of a number, by which claims are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from floodway.study.numbers import Cell

__all__ = ["deadlocks_of", "is_exact", "is_whole", "losses_of"]


def is_exact(cell: Cell) -> bool:
    """Whether chance seems to play no part: two seeds or more gave the same results to the byte.

    A chance that rarely shows, such as a hash that selects one of two links, may still be there.
    """
    return len(cell.facts) > 1 and len({fact.digest for fact in cell.facts}) == 1


def is_whole(cell: Cell) -> bool:
    """Whether every seed has been run and has a value."""
    return bool(cell.values) and not cell.missing and len(cell.known) == len(cell.values)


def losses_of(cell: Cell) -> int:
    """Return the packets that the runs of a cell lost."""
    return sum(fact.lost for fact in cell.facts)


def deadlocks_of(cell: Cell) -> int:
    """Return how many runs of a cell ran into a deadlock."""
    return sum(fact.deadlocked for fact in cell.facts)
