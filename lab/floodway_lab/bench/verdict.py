"""Comparison of two entries of the history: the cases that have become slower."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floodway.common.errors import FloodwayError
from floodway_lab.bench.history import kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["MOST_LOSS", "MOST_MORE_INSTRUCTIONS", "Change", "changes", "last_of_kind", "last_two"]

#: The largest loss of packet-hops per second, as a part, that is not flagged.
MOST_LOSS = 0.10
#: The largest growth of a count, as a part, that is not flagged: counts have no noise.
MOST_MORE_INSTRUCTIONS = 0.02


@dataclass(frozen=True, kw_only=True)
class Change:
    """The change of a number.

    Parameters
    ----------
    name
        The case with its threads, or the count.
    unit
        The unit of the numbers.
    before, after
        The numbers.
    flagged
        Whether it is a larger loss than is allowed.
    """

    name: str
    unit: str
    before: float
    after: float
    flagged: bool

    @property
    def part(self) -> float:
        """The change as a part of the number before."""
        return self.after / self.before - 1.0


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Compare the cases and counts that both entries have.

    Parameters
    ----------
    before, after
        Entries of the history.

    Raises
    ------
    FloodwayError
        They are of different machines, or have nothing in common.
    """
    if kind(before) != kind(after):
        one, other = (f"{cpu} of {cores} cores" for cpu, cores in (kind(before), kind(after)))
        raise FloodwayError(f"{one} and {other} cannot be compared: times are those of their machine")
    rows = [*_speeds(before, after), *_counts(before, after)]
    if not rows:
        raise FloodwayError("the two entries have no case in common")
    return rows


def _speeds(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    old, new = (
        {(case["case"], case["threads"]): case["packet_hops_per_s"] for case in entry["cases"]}
        for entry in (before, after)
    )
    return [
        Change(
            name=f"{case}, {threads} thread{'' if threads == 1 else 's'}",
            unit="packet-hops/s",
            before=old[case, threads],
            after=rate,
            flagged=rate < (1.0 - MOST_LOSS) * old[case, threads],
        )
        for (case, threads), rate in new.items()
        if (case, threads) in old
    ]


def _counts(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    old = before["instructions"]
    return [
        Change(
            name=name,
            unit="instructions/packet-hop",
            before=old[name],
            after=count,
            flagged=count > (1.0 + MOST_MORE_INSTRUCTIONS) * old[name],
        )
        for name, count in after["instructions"].items()
        if name in old
    ]


def last_two(entries: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the last entry, and the one before it of the same kind of machine.

    Raises
    ------
    FloodwayError
        There are no two of one kind.
    """
    if not entries:
        raise FloodwayError("the history is empty: `make bench` begins it")
    return last_of_kind(entries[:-1], entries[-1]), entries[-1]


def last_of_kind(entries: Sequence[Mapping[str, Any]], new: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the last entry of the same kind of machine as a new one.

    Raises
    ------
    FloodwayError
        No earlier entry is of that kind.
    """
    same_kind = [entry for entry in entries if kind(entry) == kind(new)]
    if not same_kind:
        cpu, cores = kind(new)
        raise FloodwayError(f"no earlier entry is of such a machine ({cpu}, {cores} cores)")
    return same_kind[-1]
