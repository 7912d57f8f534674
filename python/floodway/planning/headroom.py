"""Bytes that arrive at the end of a link after a decision to pause, and the buffer that they occupy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floodway import _floodway
from floodway.planning.link import PREAMBLE_AND_GAP
from floodway.planning.question import SMALLEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from floodway.planning.question import Question

__all__ = ["Term", "begun", "headroom_terms", "largest_held", "occupied", "pfc_headroom"]

ANNEX_O = "IEEE 802.1Qbb, Annex O"
#: Gbit/s at which Cisco quotes the delay of an interface.
QUOTED = (10, 25, 40, 100)


@dataclass(frozen=True, kw_only=True)
class Term:
    """A part of the headroom.

    Attributes
    ----------
    name
        What arrives meanwhile.
    bytes
        Bytes of the link's time that it counts, or of the buffer beyond those.
    value
        What is assumed, with its unit.
    source
        Where that is from.
    """

    name: str
    bytes: int
    value: str
    source: str


def pfc_headroom(question: Question) -> int:
    """Return the bytes that frames occupy which arrive after a port has decided to pause.

    Those are the frames that begin in two delays, the delay of the port's own interface, the far end's
    reaction, a full frame ahead of the pause and the pause itself, and the frame that the far end has begun
    (IEEE 802.1Qbb, Annex O; IEEE 802.3, 31B.3.7).
    """
    return occupied(question, begun(question))


def begun(question: Question) -> int:
    """Return the bytes of the link's time from a decision to pause to the first moment that obeys it."""
    return _floodway.pfc_bytes_until_heeded(
        rate_bps=question.rate_bps,
        delay_ps=question.delay_ps,
        react_ps=question.obeyed_after_ps,
        mtu_frame_bytes=question.largest_frame,
    )


def headroom_terms(question: Question) -> tuple[Term, ...]:
    """Return the terms of `pfc_headroom`, whose bytes add up to it."""
    return tuple(_terms(question))


def _terms(question: Question) -> Iterator[Term]:
    at_once = replace(question, react_ps=0, interface_ps=0)
    fibre = replace(at_once, delay_ps=question.fibre_ps)
    # Each is what the one formula gives with it beyond what it gives without.
    ahead = begun(replace(at_once, delay_ps=0))
    reacts = replace(at_once, react_ps=question.reaction_ps)
    yield Term(
        name="fibre, there and back",
        bytes=begun(fibre) - ahead,
        value=f"2 x {question.length_m:,} m, 2 x {_ns(question.fibre_ps)}",
        source="5 ns a metre (SWING, Bifrost)",
    )
    yield Term(
        name="latency beside it, there and back",
        bytes=begun(at_once) - begun(fibre),
        value=f"2 x {_ns(question.delay_ps - question.fibre_ps)}",
        source="--latency: transponders, gearboxes, retimers, MACsec, FEC beyond the interface's",
    )
    yield Term(
        name="reaction of the far end",
        bytes=begun(reacts) - begun(at_once),
        value=_bits(question, question.reaction_ps),
        source="--react" if question.react_ps is not None else "IEEE 802.3, 31B.3.7",
    )
    yield Term(
        name="the port's own interface",
        bytes=begun(question) - begun(reacts),
        value=_bits(question, question.interface_delay_ps),
        source=_interface_source(question),
    )
    yield from _frames(question)


def _frames(question: Question) -> Iterator[Term]:
    """Yield the frames, and what all of it occupies beyond its bytes on the wire."""
    first = question.largest_frame + PREAMBLE_AND_GAP
    yield Term(name="frame ahead of the pause", bytes=first, value=f"{first:,} B", source=ANNEX_O)
    pause = SMALLEST + PREAMBLE_AND_GAP
    yield Term(name="the pause", bytes=pause, value=f"{pause} B", source=ANNEX_O)
    last = 0 if question.mix_bytes else largest_held(question)
    if last:
        yield Term(
            name="frame that the far end has begun", bytes=last, value=f"{last:,} B held", source=ANNEX_O
        )
    wire = begun(question)
    cells = "bytes are counted" if question.cell_bytes == 1 else f"cells of {question.cell_bytes} B"
    mix = "the mix asked, whole frames" if question.mix_bytes else "the frames that fill them worst"
    yield Term(
        name="held beyond its bytes on the wire",
        bytes=occupied(question, wire) - wire - last,
        value=cells,
        source=f"--asic, --cell, --mix: {mix}" if question.cell_bytes > 1 else f"--asic, --cell: {mix}",
    )


def _interface_source(question: Question) -> str:
    if question.interface_ps is not None:
        return "--interface-delay"
    if question.rate_bps // 1_000_000_000 in QUOTED:
        return f"{ANNEX_O}, with the largest value that Cisco quotes"
    return f"{ANNEX_O}; none is quoted at this rate: as much as IEEE 802.3, 31B.3.7 allows an interface"


def _bits(question: Question, span_ps: int) -> str:
    bits = span_ps * question.rate_bps // 1_000_000_000_000
    return f"{bits:,} bit times, {_ns(span_ps)}"


def _ns(span_ps: int) -> str:
    return f"{span_ps / 1000:,.10g} ns"


def occupied(question: Question, wire_bytes: int) -> int:
    """Return the most that the question's frames occupy which begin in so many bytes of the link's time."""
    return _floodway.occupied_bytes(
        wire_bytes,
        cell_bytes=question.cell_bytes,
        mtu_frame_bytes=question.largest_frame,
        mix_bytes=list(question.mix_bytes),
    )


def largest_held(question: Question) -> int:
    """Return what the largest frame occupies."""
    return -(-question.largest_frame // question.cell_bytes) * question.cell_bytes
