"""PFC in a shared buffer: headroom set aside for all ports, the rest shared by a dynamic threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floodway.planning.asics import asic, exponents, pipeline_reserve
from floodway.planning.flow_controls import flow_control
from floodway.planning.headroom import largest_held, pfc_headroom
from floodway.planning.link import Buffers, until_obeyed

if TYPE_CHECKING:
    from floodway.planning.question import Question

__all__ = ["Pool", "pool"]


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A shared buffer, in bytes.

    Attributes
    ----------
    total
        The memory.
    headroom_each
        Of each class of each link: beside a pool the packet that causes the pause is in headroom, too.
    headroom_pool
        For all of them.
    reserve_each
        What each class of each link reserves beside it: what the pipeline of NVIDIA's chips holds.
    oversubscribed
        By how much their sum exceeds it; 1 if all can pause at once.
    shared
        What is left for the classes to share: 0 or less if there is nothing.
    exponent
        SONiC's `dynamic_th`; none if nothing is left.
    is_largest
        Whether no alpha of the chip keeps the link of a class that is alone busy, and it has the largest.
    xoff_alone, xoff_all
        The threshold of a class that is alone, and if all are congested.
    """

    total: int
    headroom_each: int
    headroom_pool: int
    oversubscribed: float
    shared: int
    reserve_each: int = 0
    exponent: int | None = None
    is_largest: bool = False
    xoff_alone: int = 0
    xoff_all: int = 0

    @property
    def alpha(self) -> float | None:
        """The share of the pool's free bytes that is a class's threshold."""
        return None if self.exponent is None else 2.0**self.exponent

    def buffers(self, question: Question, pause: str = "on-off") -> Buffers:
        """Return what a scenario sets for it."""
        control = (
            f'{{ pfc = {{ xoff = {{ alpha = {self.alpha} }}, headroom = "{self.headroom_each}B", '
            f'pause = "{pause}", {", ".join(until_obeyed(question))} }} }}'
        )
        reserve = f'reserve = "{self.reserve_each}B", ' if self.reserve_each else ""
        shared = f'{{ pool = "{self.shared}B", {reserve}headroom-pool = "{self.headroom_pool}B" }}'
        return Buffers(control=control, shared=shared, headroom_pool=self.headroom_pool)


def pool(question: Question, *, oversubscribed: float = 1.0) -> Pool | None:
    """Return how PFC shares the question's buffer; none if no buffer is known.

    alpha is the least power of two that lets a class which is alone keep its link busy, and the largest that
    the chip has if none does.
    """
    memory = question.buffer_bytes
    if memory is None:
        return None
    class_headroom = pfc_headroom(question) + largest_held(question)
    count = question.links * question.classes
    headroom = (
        -(-count * class_headroom // oversubscribed) if oversubscribed != 1.0 else count * class_headroom
    )
    # How many SerDes a port has is not known. The reserve of eight is twice that of four.
    reserve = pipeline_reserve(asic(question.asic)) if question.asic else 0
    sharing = Pool(
        total=memory,
        headroom_each=class_headroom,
        headroom_pool=int(headroom),
        oversubscribed=oversubscribed,
        shared=memory - int(headroom) - count * reserve,
        reserve_each=reserve,
    )
    if sharing.shared <= 0:
        return sharing
    busy = flow_control("pfc")
    xoff = busy.thresholds(question, busy.busy(question)).xoff or 0

    def threshold(exponent: int, congested: int) -> int:
        alpha = 2.0**exponent
        return int(sharing.shared * alpha / (1 + congested * alpha))

    candidates = exponents(question.asic)
    exponent = next(
        (candidate for candidate in candidates if threshold(candidate, 1) >= xoff), candidates[-1]
    )
    return replace(
        sharing,
        exponent=exponent,
        is_largest=threshold(exponent, 1) < xoff,
        xoff_alone=threshold(exponent, 1),
        xoff_all=threshold(exponent, count),
    )
