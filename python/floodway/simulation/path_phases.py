"""Phases of a critical path: consecutive steps of one operation at one place.

A hierarchical collective has one for each of its levels and directions: within nodes, between nodes, between
sites, and back. They follow from the steps alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway.simulation.critical_path import Step
    from floodway.simulation.why import Part

__all__ = ["Phase", "phases_of"]

#: The places that messages can be in.
WITHIN_NODES, BETWEEN_NODES, BETWEEN_SITES = "within nodes", "between nodes", "between sites"
#: The place of messages of a scale-up domain.
SCALE_UP = "scale-up"
#: Propagation of a long link, a kilometre of fibre or more.
LONG_PS = 5_000_000
#: A send, receive or computation in words, behind its own name if it has one.
_OPERATION = re.compile(r"(?:(.+) \()?(send|recv|compute) (?:of|from|for) .*")
#: The largest number of stretches that are a phase each; with more, stretches that are alike form one phase.
MOST_PHASES = 12


@dataclass(frozen=True)
class Phase:
    """Steps of a critical path that belong together.

    Attributes
    ----------
    name
        The operation that they are parts of: its own name, or what it does.
    place
        `within nodes`, `between nodes` or `between sites`, where their messages go; `computation`.
    steps
        The steps, in their order.
    stretches
        Number of stretches of the path that it consists of; 1 unless the path alternates too often.
    """

    name: str
    place: str
    steps: tuple[Step, ...]
    stretches: int

    @property
    def from_ps(self) -> int:
        """Begin of its first step, in picoseconds."""
        return self.steps[0].from_ps

    @property
    def to_ps(self) -> int:
        """End of its last step, in picoseconds."""
        return self.steps[-1].to_ps

    @property
    def time_ps(self) -> int:
        """Total time of its steps, in picoseconds."""
        return sum(step.time_ps for step in self.steps)

    @property
    def ranks(self) -> int:
        """Number of ranks at which its steps ended."""
        return len({step.rank for step in self.steps})

    @property
    def parts(self) -> tuple[Part, ...]:
        """The causes of its time, step by step."""
        return tuple(part for step in self.steps for part in step.parts)


def place_of(step: Step) -> str:
    """Return where the message of a step goes; `computation` or `reduction` of others."""
    if step.kind in ("computation", "reduction"):
        return step.kind
    if any(part.port == SCALE_UP for part in step.parts):
        return WITHIN_NODES
    long = any(part.cause == "propagation" and part.time_ps >= LONG_PS for part in step.parts)
    return BETWEEN_SITES if long else BETWEEN_NODES


def phases_of(steps: Sequence[Step]) -> tuple[Phase, ...]:
    """Divide a path into phases, in the order of their first steps.

    A reduction belongs to the messages before it. A path of more than a dozen stretches, like that of a ring
    through nodes or of an iteration, has one phase for each operation and place, of several stretches.
    """
    pairs = zip(_keys(steps), steps, strict=True)
    stretches = [
        (key, tuple(step for _, step in group)) for key, group in groupby(pairs, key=lambda pair: pair[0])
    ]
    if len(stretches) <= MOST_PHASES:
        return tuple(Phase(name, place, stretch, 1) for (name, place), stretch in stretches)
    alike: dict[tuple[str, str], list[tuple[Step, ...]]] = {}
    for key, stretch in stretches:
        alike.setdefault(key, []).append(stretch)
    return tuple(
        Phase(name, place, tuple(chain.from_iterable(group)), len(group))
        for (name, place), group in alike.items()
    )


def _short(name: str) -> str:
    """Return the name of an operation without its time, bytes and peer, which differ from step to step."""
    match = _OPERATION.fullmatch(name)
    return (match[1] or match[2]) if match else name


def _keys(steps: Sequence[Step]) -> Iterator[tuple[str, str]]:
    """Yield the name and place of each step's phase."""
    before: tuple[str, str] | None = None
    for step in steps:
        place = place_of(step)
        if place == "reduction" and before is not None and before[0] == _short(step.name):
            place = before[1]
        before = (_short(step.name), place)
        yield before
