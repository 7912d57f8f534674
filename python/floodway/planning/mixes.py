"""PFC's buffer for each usual mix of frame sizes, which decides most where memory consists of cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floodway.planning.flow_controls import flow_control
from floodway.planning.question import MIXES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from floodway.planning.question import Question

__all__ = ["MEANINGS", "OfMix", "by_mix"]

#: The traffic that each named mix assumes.
MEANINGS = {
    "any": "whatever is sent: the frames that fill cells worst, one after another",
    "small": "64 B only: acknowledgements, or messages of a few bytes",
    "dnx": "as many of 64 B as of 1,082 B: what makers of deep-buffered switches assume",
}


@dataclass(frozen=True, kw_only=True)
class OfMix:
    """PFC's buffer for a mix of frame sizes, in bytes of all links and classes.

    Attributes
    ----------
    mix
        What `--mix` takes.
    meaning
        What it assumes of the traffic.
    is_asked
        Whether it is the mix of the question.
    no_loss, busy
        What is needed to lose nothing, and to keep the links busy as well.
    fits, keeps_busy
        Whether the given memory suffices for either; none where no memory is given.
    """

    mix: str
    meaning: str
    is_asked: bool
    no_loss: int
    busy: int
    fits: bool | None = None
    keeps_busy: bool | None = None

    @property
    def verdict(self) -> str:
        """What the given memory is enough for, in words."""
        if self.fits is None:
            return "-"
        return "enough" if self.keeps_busy else "may idle" if self.fits else "not enough"


def by_mix(question: Question) -> tuple[OfMix, ...]:
    """Return PFC's buffer for the named mixes, for full frames, and for the question's own mix.

    It is empty where memory counts bytes, since the mix changes nothing there.
    """
    if question.cell_bytes == 1:
        return ()
    return tuple(_of_mix(question, *mix) for mix in _mixes(question))


def _mixes(question: Question) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield mixes as `--mix` takes them, what they mean, and their frames."""
    full = question.largest_frame
    mixes = {name: (MEANINGS[name], sizes) for name, sizes in MIXES.items()}
    mixes[f"{full}B"] = (f"{full:,} B only: large messages one way, in a class of their own", (full,))
    if question.mix_bytes not in (sizes for _, sizes in mixes.values()):
        yield "as asked", "the frames of --mix", question.mix_bytes
    for name, (meaning, sizes) in mixes.items():
        if all(size <= full for size in sizes):
            yield name, meaning, sizes


def _of_mix(question: Question, mix: str, meaning: str, sizes: tuple[int, ...]) -> OfMix:
    pfc, with_mix = flow_control("pfc"), replace(question, mix_bytes=sizes)
    count, memory = question.links * question.classes, question.buffer_bytes
    restart = 0 if question.flap_ps is None else pfc.restart(with_mix)
    no_loss, busy = (count * (size + restart) for size in (pfc.no_loss(with_mix), pfc.busy(with_mix)))
    return OfMix(
        mix=mix,
        meaning=meaning,
        is_asked=sizes == question.mix_bytes,
        no_loss=no_loss,
        busy=busy,
        fits=None if memory is None else no_loss <= memory,
        keeps_busy=None if memory is None else busy <= memory,
    )
