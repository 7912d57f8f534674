"""The verdict on a row, by the headroom that physics requires: the frame sizes for which it suffices.

The bounds, from what no switch can do without to what holds for every traffic:

- propagation: what the fibre carries in a round trip;
- the least: frames of any size in memory that counts bytes, if a pause is obeyed at once;
- with the reaction that IEEE 802.3 allows the far end at that rate (31B.3.7), and the delay of the port's own
  interface (IEEE 802.1Qbb, Annex O);
- in the cells of the switch, for the mix that is asked;
- in the cells of the switch, for frames of any size.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

from floodway.planning.formulas import QUANTA
from floodway.planning.headroom import begun, largest_held, pfc_headroom
from floodway.planning.link import PREAMBLE_AND_GAP
from floodway.planning.question import HEADERS, RETH, SMALLEST, Question
from floodway.planning.units import PS_PER_METRE
from floodway.results.quantities import counted

if TYPE_CHECKING:
    from floodway.planning.sonic.row import Row

__all__ = ["Assumptions", "Bounds", "Level", "Verdict", "bounds", "holds_from", "obeyed_within_ps"]
__all__ += ["question_of_row", "verdict"]

GIGA = 1_000_000_000


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
    frames, short = counted(assumed.largest_frame, "byte"), counted(bound.least - row.xoff, "byte")
    even = "even if the far end obeys a pause at once and the port's own interface takes no time"
    text = f"below physics for frames of up to {frames} by {short}, {even}"
    return Verdict(level=Level.BELOW_PHYSICS, spare=spare, text=text)


def _any(bound: Bounds, assumed: Assumptions, spare: int, size: int | None) -> Verdict:
    """Judge what is enough for frames of any size: it holds only if no term of physics is left out."""
    if bound.reaction_ps is None or bound.interface_ps is None:
        enough = f"enough for frames of any size only if pauses are obeyed at once{_if(assumed, ', and ')}"
        text = f"{enough}: no reaction is known for this rate, nor the delay of the port's own interface"
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


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """Assumptions about a switch and its traffic.

    Attributes
    ----------
    mtu_bytes
        Payload of the largest packet on the link, in either direction.
    cell_bytes
        The cell of the switch's buffer; 1 where it counts bytes.
    mix_bytes
        Sizes of the frames of data, over and over in this order; any sizes, if there are none.
    asic
        The chip whose cell it is; empty for none.
    latency_ps
        One way, beside the cable: FEC, gearbox, retimer, MACsec; none where it was not given, and 0 is
        counted.
    """

    mtu_bytes: int = 4096
    cell_bytes: int = 1
    mix_bytes: tuple[int, ...] = ()
    asic: str = ""
    latency_ps: int | None = None

    @property
    def largest_frame(self) -> int:
        """The largest frame on the link, in bytes."""
        return max(SMALLEST, self.mtu_bytes + HEADERS + RETH)

    def with_frame(self, frame_bytes: int) -> Assumptions:
        """Return a copy with another largest frame."""
        return replace(self, mtu_bytes=max(1, frame_bytes - HEADERS - RETH))


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """Bytes of headroom that physics requires.

    Attributes
    ----------
    propagation
        Bytes on the fibre in a round trip.
    least
        Frames of any size, memory that counts bytes, pauses that are obeyed at once.
    in_bytes
        As `least`, with the reaction and the interface's delay that IEEE 802.3 allows.
    asked
        With the cells and the mix of the assumptions.
    any_size
        With the same cells, for frames of any size.
    reaction_ps
        The reaction that 802.3 allows at the rate, in ps; none where it is not known, and 0 is counted.
    interface_ps
        The delay of the port's own interface, in ps; likewise.
    """

    propagation: int
    least: int
    in_bytes: int
    asked: int
    any_size: int
    reaction_ps: int | None
    interface_ps: int | None


def question_of_row(rate_bps: int, length_m: int, assumed: Assumptions) -> Question:
    """Return the planner's question of a row's port: one link with one lossless class."""
    delay = None if _knows_delays(rate_bps) else 0
    return Question(
        rate_bps=rate_bps,
        delay_ps=length_m * PS_PER_METRE + (assumed.latency_ps or 0),
        length_m=length_m,
        mtu_bytes=assumed.mtu_bytes,
        cell_bytes=assumed.cell_bytes,
        mix_bytes=assumed.mix_bytes,
        react_ps=delay,
        interface_ps=delay,
        asic=assumed.asic,
    )


@lru_cache(maxsize=4096)
def bounds(rate_bps: int, length_m: int, assumed: Assumptions) -> Bounds:
    """Return the headroom that physics requires of a port and its cable."""
    question = question_of_row(rate_bps, length_m, assumed)
    any_size = replace(question, mix_bytes=())
    in_bytes = replace(any_size, cell_bytes=1)
    return Bounds(
        propagation=replace(question, delay_ps=length_m * PS_PER_METRE).round_trip_bytes,
        least=pfc_headroom(replace(in_bytes, react_ps=0, interface_ps=0)),
        in_bytes=pfc_headroom(in_bytes),
        asked=pfc_headroom(question),
        any_size=pfc_headroom(any_size),
        reaction_ps=question.reaction_ps if _knows_delays(rate_bps) else None,
        interface_ps=question.interface_delay_ps if _knows_delays(rate_bps) else None,
    )


def obeyed_within_ps(row: Row, assumed: Assumptions) -> int:
    """Return the longest that far end's reaction and own interface may take together, in ps.

    That is for which the headroom is enough, in memory that counts bytes. It is meant for rows between
    `Bounds.least` and `Bounds.in_bytes`.
    """
    question = replace(question_of_row(row.rate_bps, row.length_m, assumed), mix_bytes=(), cell_bytes=1)
    enough, too_long = 0, question.obeyed_after_ps
    while too_long - enough > 1:
        middle = (enough + too_long) // 2
        holds = pfc_headroom(replace(question, react_ps=middle, interface_ps=0)) <= row.xoff
        enough, too_long = (middle, too_long) if holds else (enough, middle)
    return enough


def holds_from(row: Row, assumed: Assumptions) -> int | None:
    """Return the size of frames from which on the headroom is enough in the cells asked.

    It is enough for any frames of this size and larger, up to the largest; none where it is not even enough
    for the largest alone. Frames that come one by one, such as acknowledgements, count as well.
    """
    question = replace(question_of_row(row.rate_bps, row.length_m, assumed), mix_bytes=())
    wire = begun(question)
    small, large = SMALLEST, question.largest_frame
    if _need(question, wire, large) > row.xoff:
        return None
    # The need never grows with the smallest size.
    while small < large:
        middle = (small + large) // 2
        holds = _need(question, wire, middle) <= row.xoff
        small, large = (small, middle) if holds else (middle + 1, large)
    return large


def _need(question: Question, wire: int, smallest: int) -> int:
    """Return what frames of `smallest` bytes and larger may occupy, as physics counts for any size."""
    cell, largest = question.cell_bytes, question.largest_frame
    # Of the larger ones only those can be worse whose last byte begins a cell, of which the first or the last
    # is worst.
    first, last = (smallest - 1) // cell * cell + cell + 1, (largest - 1) // cell * cell + 1
    sizes = (smallest, first, last)
    worst = max(_per_byte(size, cell) for size in sizes if smallest <= size <= largest)
    return ceil(wire * worst) + largest_held(question)


def _per_byte(frame: int, cell: int) -> Fraction:
    """Return what a frame occupies for a byte of the link's time."""
    if cell == 1:
        return Fraction(1)
    return Fraction(-(-frame // cell) * cell, frame + PREAMBLE_AND_GAP)


def _knows_delays(rate_bps: int) -> bool:
    return rate_bps % GIGA == 0 and rate_bps // GIGA in QUANTA
