"""The verdict on a row: what its headroom is enough for, worst first."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from floodway.planning.sonic.physics import holds_from, obeyed_within_ps

if TYPE_CHECKING:
    from floodway.planning.sonic.physics import Assumptions, Bounds
    from floodway.planning.sonic.row import Row

__all__ = ["Level", "Verdict", "verdict"]


class Level(IntEnum):
    """How far the headroom reaches, the worst first."""

    BELOW_PROPAGATION = 0
    BELOW_PHYSICS = 1
    IF_OBEYED_SOONER = 2
    BELOW_WHAT_IS_ASKED = 3
    LARGE_FRAMES = 4
    MIX = 5
    ANY_SIZE = 6

    @property
    def label(self) -> str:
        """The level in documents and tables."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What is said of a row.

    Attributes
    ----------
    level
        How far its headroom reaches.
    spare
        Bytes above what is asked, negative below.
    text
        In words.
    holds_from_bytes
        It is enough for frames of this size and larger, in the cells asked; none where it is not enough even
        for the largest alone, or was not computed as it is below physics without cells.
    """

    level: Level
    spare: int
    text: str
    holds_from_bytes: int | None = None


def verdict(row: Row, bound: Bounds, assumed: Assumptions) -> Verdict:
    """Judge a row's headroom by what physics asks for."""
    spare = row.xoff - bound.asked
    if row.xoff < bound.least:
        return _below(row, bound, assumed, spare)
    if row.xoff < bound.in_bytes:
        within, allowed = obeyed_within_ps(row, assumed), bound.reaction_ps or 0
        text = (
            f"holds only if the far end obeys a pause within {within / 1000:,.0f} ns, where 802.3 allows"
            f" {allowed / 1000:,.0f} ns; {bound.in_bytes - row.xoff:,} bytes short of that"
        )
        return Verdict(level=Level.IF_OBEYED_SOONER, spare=spare, text=text)
    size = holds_from(row, assumed)
    if row.xoff >= bound.any_size:
        return Verdict(level=Level.ANY_SIZE, spare=spare, text=_any(bound, assumed), holds_from_bytes=size)
    larger = "" if size is None else f"holds for frames of {size:,} bytes and larger"
    short = f"{bound.any_size - row.xoff:,} bytes short for frames of any size"
    if not assumed.mix_bytes:
        text = f"{larger}; {short}" if larger else f"holds if memory counts bytes, not in cells; {short}"
        return Verdict(level=Level.LARGE_FRAMES, spare=spare, text=text, holds_from_bytes=size)
    if row.xoff >= bound.asked:
        text = f"holds for the mix asked; {short}"
        return Verdict(level=Level.MIX, spare=spare, text=text, holds_from_bytes=size)
    text = f"below physics for the mix asked by {-spare:,} bytes" + (f"; {larger}" if larger else "")
    return Verdict(level=Level.BELOW_WHAT_IS_ASKED, spare=spare, text=text, holds_from_bytes=size)


def _below(row: Row, bound: Bounds, assumed: Assumptions, spare: int) -> Verdict:
    if row.xoff < bound.propagation:
        text = f"below propagation alone by {bound.propagation - row.xoff:,} bytes"
        if not row.reserves_headroom and row.headroom_pool != 0:
            text += " (with a shared headroom pool that may be meant: simulate)"
        return Verdict(level=Level.BELOW_PROPAGATION, spare=spare, text=text)
    text = (
        f"below physics for MTU {assumed.mtu_bytes} by {bound.least - row.xoff:,} bytes, even if the far end"
        " obeys a pause at once"
    )
    return Verdict(level=Level.BELOW_PHYSICS, spare=spare, text=text)


def _any(bound: Bounds, assumed: Assumptions) -> str:
    text = "holds for frames of any size"
    if assumed.cell_bytes == 1:
        text += ", if memory counts bytes (--asic or --cell says how large its cells are)"
    if bound.reaction_ps is None:
        text += ", if the far end obeys a pause at once: no reaction is known for this rate"
    return text
