"""Headroom that physics requires, and the frame sizes for which a row's headroom suffices.

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
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING

from floodway.planning.formulas import QUANTA
from floodway.planning.headroom import begun, largest_held, pfc_headroom
from floodway.planning.link import PREAMBLE_AND_GAP
from floodway.planning.question import HEADERS, RETH, SMALLEST, Question
from floodway.planning.units import PS_PER_METRE

if TYPE_CHECKING:
    from floodway.planning.sonic.row import Row

__all__ = ["Assumptions", "Bounds", "bounds", "holds_from", "obeyed_within_ps", "question_of_row"]

GIGA = 1_000_000_000


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
    return Question(
        rate_bps=rate_bps,
        delay_ps=length_m * PS_PER_METRE + (assumed.latency_ps or 0),
        length_m=length_m,
        mtu_bytes=assumed.mtu_bytes,
        cell_bytes=assumed.cell_bytes,
        mix_bytes=assumed.mix_bytes,
        react_ps=None if _knows_delays(rate_bps) else 0,
        interface_ps=None if _knows_delays(rate_bps) else 0,
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
        if pfc_headroom(replace(question, react_ps=middle, interface_ps=0)) <= row.xoff:
            enough = middle
        else:
            too_long = middle
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
        if _need(question, wire, middle) <= row.xoff:
            large = middle
        else:
            small = middle + 1
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
