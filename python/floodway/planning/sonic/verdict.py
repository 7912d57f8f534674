"""The verdict on a row: the frame sizes for which its headroom suffices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING

from floodway.planning.sonic.physics import holds_from, obeyed_within_ps
from floodway.results.quantities import counted

if TYPE_CHECKING:
    from floodway.planning.sonic.physics import Assumptions, Bounds
    from floodway.planning.sonic.row import Row

__all__ = ["Level", "Verdict", "verdict"]


class Level(IntEnum):
    """Levels of a verdict, worst first: loss whatever the headroom, unknown headroom, how far it suffices."""

    NOT_LOSSLESS = 0
    NOT_JUDGED = 1
    BELOW_PROPAGATION = 2
    BELOW_PHYSICS = 3
    IF_OBEYED_SOONER = 4
    BELOW_WHAT_IS_ASKED = 5
    LARGE_FRAMES = 6
    MIX = 7
    ANY_SIZE = 8

    @property
    def label(self) -> str:
        """The level in documents and tables."""
        return self.name.lower().replace("_", "-")

    @property
    def holds(self) -> bool:
        """Whether nothing is lost in what is asked."""
        return self in {Level.MIX, Level.ANY_SIZE}


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The verdict on a row.

    Attributes
    ----------
    level
        How far its headroom reaches.
    spare
        Bytes above what is asked, negative below; none where the headroom is not known.
    text
        In words.
    holds_from_bytes
        It is enough for frames of this size and larger, in the cells asked; none where it is not enough even
        for the largest alone, or was not computed as it is below physics without cells.
    """

    level: Level
    spare: int | None
    text: str
    holds_from_bytes: int | None = None


def verdict(row: Row, bound: Bounds | None, assumed: Assumptions) -> Verdict:
    """Judge a row: the path of its packets by the file, and its headroom by physics.

    Parameters
    ----------
    row
        The row.
    bound
        The headroom that physics requires; None for a port of unknown rate or length.
    assumed
        The assumptions about the switch and its traffic.
    """
    if row.unknown or bound is None:
        headroom = Verdict(level=Level.NOT_JUDGED, spare=None, text=f"not judged: {row.unknown}")
    else:
        headroom = _headroom(row, bound, assumed)
    if not row.faults:
        return headroom
    text = f"not lossless: {'; '.join(row.faults)}"
    if not row.unknown:
        text += f". Its headroom: {headroom.text}"
    return replace(headroom, level=Level.NOT_LOSSLESS, text=text)


def _headroom(row: Row, bound: Bounds, assumed: Assumptions) -> Verdict:
    spare = row.xoff - bound.asked
    if row.xoff < bound.least:
        return _below(row, bound, assumed, spare)
    if row.xoff < bound.in_bytes:
        within = obeyed_within_ps(row, assumed)
        text = (
            f"holds only if the far end's reaction and the port's own interface take {within / 1000:,.0f} ns"
            f" together, where IEEE 802.3 allows {_ns(bound.reaction_ps)} and {_ns(bound.interface_ps)};"
            f" {counted(bound.in_bytes - row.xoff, 'byte')} short of that"
        )
        return Verdict(level=Level.IF_OBEYED_SOONER, spare=spare, text=text)
    size = holds_from(row, assumed)
    if row.xoff >= bound.any_size:
        return _any(bound, assumed, spare, size)
    larger = "" if size is None else f"holds for frames of {counted(size, 'byte')} and larger"
    short = f"{counted(bound.any_size - row.xoff, 'byte')} short for frames of any size"
    if not assumed.mix_bytes:
        text = f"{larger}; {short}" if larger else f"holds if memory counts bytes, not in cells; {short}"
        return Verdict(level=Level.LARGE_FRAMES, spare=spare, text=text, holds_from_bytes=size)
    if row.xoff >= bound.asked:
        text = f"holds for the mix asked{_if(assumed, ', if ')}; {short}"
        return Verdict(level=Level.MIX, spare=spare, text=text, holds_from_bytes=size)
    text = f"below physics for the mix asked by {counted(-spare, 'byte')}" + (f"; {larger}" if larger else "")
    return Verdict(level=Level.BELOW_WHAT_IS_ASKED, spare=spare, text=text, holds_from_bytes=size)


def _below(row: Row, bound: Bounds, assumed: Assumptions, spare: int) -> Verdict:
    if row.xoff < bound.propagation:
        text = f"below propagation alone by {counted(bound.propagation - row.xoff, 'byte')}"
        if not row.reserves_headroom and row.headroom_pool != 0:
            text += " (with a shared headroom pool that may be meant: simulate)"
        return Verdict(level=Level.BELOW_PROPAGATION, spare=spare, text=text)
    text = (
        f"below physics for frames of up to {counted(assumed.largest_frame, 'byte')} by"
        f" {counted(bound.least - row.xoff, 'byte')}, even if the far end obeys a pause at once and the"
        " port's own interface takes no time"
    )
    return Verdict(level=Level.BELOW_PHYSICS, spare=spare, text=text)


def _any(bound: Bounds, assumed: Assumptions, spare: int, size: int | None) -> Verdict:
    """Judge what is enough for frames of any size: it holds only if no term of physics is left out."""
    if bound.reaction_ps is None or bound.interface_ps is None:
        text = (
            f"enough for frames of any size only if pauses are obeyed at once{_if(assumed, ', and ')}: no"
            " reaction is known for this rate, nor the delay of the port's own interface"
        )
        return Verdict(level=Level.IF_OBEYED_SOONER, spare=spare, text=text, holds_from_bytes=size)
    text = f"holds for frames of any size{_if(assumed, ', if ')}"
    return Verdict(level=Level.ANY_SIZE, spare=spare, text=text, holds_from_bytes=size)


def _if(assumed: Assumptions, before: str) -> str:
    """Return the terms that are not counted as conditions, with a text before them."""
    terms = []
    if assumed.cell_bytes == 1:
        terms.append("memory counts bytes (--asic or --cell says how large its cells are)")
    if assumed.latency_ps is None:
        terms.append("FEC, gearbox, retimer and MACsec add no delay (--latency counts theirs)")
    return f"{before}{', and '.join(terms)}" if terms else ""


def _ns(span_ps: int | None) -> str:
    return f"{(span_ps or 0) / 1000:,.0f} ns"
