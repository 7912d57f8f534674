"""The longest link, and the number of links, for which a buffer suffices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from floodway.planning.flow_controls import FlowControl
    from floodway.planning.question import Question

__all__ = ["FARTHEST_M", "links_for", "reach_m"]

#: The longest link that is looked at: half of the way round the Earth.
FARTHEST_M = 20_000_000


def reach_m(question: Question, control: FlowControl, need: Callable[[Question], int]) -> int | None:
    """Return the longest link, in whole metres, for which the question's buffer suffices.

    None if it does not suffice for any length for which the flow control is made, if no buffer is known, or
    if the length does not matter to the switch.
    """
    share = question.share_bytes
    if share is None:
        return None

    def fits(metres: int) -> bool | None:
        at = question.at(metres)
        try:
            return control.in_switch(at, need(at)) <= share
        except PlanError:
            return None

    # A flow control may be made for long links only: what is too short for it is not too long.
    low, high = 0, FARTHEST_M + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) is False else (middle, high)
    return low if 0 < low < FARTHEST_M and fits(low) else None


def links_for(question: Question, class_bytes: int) -> int | None:
    """Return for how many links the question's buffer suffices, if each class of each takes so many bytes."""
    memory = question.buffer_bytes
    return None if memory is None else memory // (class_bytes * question.classes)
