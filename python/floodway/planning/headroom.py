"""Headroom: bytes that arrive after a decision to pause, the buffer that they occupy, and other formulas.

Side by side are physics, makers' plug-ins, rows that ship, and closed forms of papers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from floodway import _floodway
from floodway.common.errors import PlanError
from floodway.planning.asics import asic
from floodway.planning.formulas import (
    dnx_xoff,
    large_frames_xoff,
    nvidia_profile,
    small_frames_xoff,
    small_percent,
)
from floodway.planning.link import PREAMBLE_AND_GAP
from floodway.planning.question import SMALLEST, Question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = ["Formula", "begun", "formulas", "headroom_terms", "largest_held", "occupied", "pfc_headroom"]

ANNEX_O = "IEEE 802.1Qbb, Annex O"
#: Gbit/s at which Cisco quotes the delay of an interface.
QUOTED = (10, 25, 40, 100)
#: Versions of formulas: floodway's own, and that of the rows that ship.
OURS, ROWS = "floodway", "sonic-buildimage 086b03bd70 (2026-08-23)"
#: NVIDIA's chip where another is asked, or none.
USUAL_NVIDIA = "spectrum-4"
#: The cell where all-small-frames rows ship (Dell Z9664F), where none is asked.
USUAL_CELL = 254
PAUSE_FRAME = 64
#: Bytes a kilometre and 100 Gbit/s of a round trip in fibre (Bifrost, section III).
BIFROST_KM = 125_000


@dataclass(frozen=True)
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
    latency = f"2 x {_ns(question.delay_ps - question.fibre_ps)}"
    beside = "--latency: transponders, gearboxes, retimers, MACsec, FEC beyond the interface's"
    reaction = "--react" if question.react_ps is not None else "IEEE 802.3, 31B.3.7"
    length = f"2 x {question.length_m:,} m, 2 x {_ns(question.fibre_ps)}"
    interface = begun(question) - begun(reacts)
    yield Term("fibre, there and back", begun(fibre) - ahead, length, "5 ns a metre (SWING, Bifrost)")
    yield Term("latency beside it, there and back", begun(at_once) - begun(fibre), latency, beside)
    obeys = _bits(question, question.reaction_ps)
    yield Term("reaction of the far end", begun(reacts) - begun(at_once), obeys, reaction)
    delay = _bits(question, question.interface_delay_ps)
    yield Term("the port's own interface", interface, delay, _interface_source(question))
    yield from _frames(question)


def _frames(question: Question) -> Iterator[Term]:
    """Yield the frames, and what all of it occupies beyond its bytes on the wire."""
    first, pause = question.largest_frame + PREAMBLE_AND_GAP, SMALLEST + PREAMBLE_AND_GAP
    yield Term("frame ahead of the pause", first, f"{first:,} B", ANNEX_O)
    yield Term("the pause", pause, f"{pause} B", ANNEX_O)
    last = 0 if question.mix_bytes else largest_held(question)
    if last:
        yield Term("frame that the far end has begun", last, f"{last:,} B held", ANNEX_O)
    wire = begun(question)
    cells = "bytes are counted" if question.cell_bytes == 1 else f"cells of {question.cell_bytes} B"
    mix = "the mix asked, whole frames" if question.mix_bytes else "the frames that fill them worst"
    source = f"--asic, --cell, --mix: {mix}" if question.cell_bytes > 1 else f"--asic, --cell: {mix}"
    held = occupied(question, wire) - wire - last
    yield Term("held beyond its bytes on the wire", held, cells, source)


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


@dataclass(frozen=True)
class Formula:
    """What a formula sets aside for a lossless class of the port.

    Attributes
    ----------
    name, version, source
        What it is, which version, and where it is from.
    bytes
        Its headroom; none where it does not apply.
    difference
        Bytes above physics for the question, negative below.
    slope_only
        Whether it counts the fibre alone, without constants: then "below physics" is no verdict on a row
        that ships.
    why_not
        Why it does not apply.
    """

    name: str
    version: str
    source: str
    bytes: int | None = None
    difference: int | None = None
    slope_only: bool = False
    why_not: str = ""


def formulas(question: Question) -> tuple[Formula, ...]:
    """Return all formulas for a question, physics first."""
    physics = pfc_headroom(question)
    return tuple(
        formula if formula.bytes is None else replace(formula, difference=formula.bytes - physics)
        for formula in _all(question, physics)
    )


def _all(question: Question, physics: int) -> Iterator[Formula]:
    rate, length = question.rate_bps, question.length_m
    terms = "IEEE 802.1Qbb, Annex O; IEEE 802.3, 31B.3.7; terms above; cells and mix as asked"
    yield Formula("physics", OURS, terms, physics)
    if question.mix_bytes:
        any_size = pfc_headroom(replace(question, mix_bytes=()))
        worst = "the same for the frames that fill cells worst"
        yield Formula("physics, frames of any size", OURS, worst, any_size)
    reaction = question.obeyed_after_ps * rate // (8 * 1_000_000_000_000)
    closed = question.round_trip_bytes + reaction + 2 * question.largest_frame + PAUSE_FRAME
    closed_terms = "2 D C + reaction + own interface + 2 MTU + pause frame, without cells"
    yield Formula("closed form", "802.1Qbb-2011", closed_terms, closed)
    bifrost = BIFROST_KM * length * rate // (1000 * 100_000_000_000)
    fibre = "Bifrost, section III; the fibre alone"
    yield Formula("125 kB a km and 100G", "ICNP 2023", fibre, bifrost, slope_only=True)
    yield _nvidia(question)
    rows = "Arista 7800R3, Nokia IXR7250E: 64 and 1,082 bytes in cells of 254"
    yield _tried(Formula("DNX rows", ROWS, rows), lambda: dnx_xoff(rate_bps=rate, length_m=length))
    cell = question.cell_bytes if question.cell_bytes > 1 else USUAL_CELL
    small = small_frames_xoff(rate_bps=rate, length_m=length, cell_bytes=cell)
    slope = f"slope of Dell Z9664F and Nexthop, cells of {cell}; the fibre alone"
    yield Formula("all frames of 64 bytes", ROWS, slope, small, slope_only=True)
    frame = question.largest_frame
    large = large_frames_xoff(rate_bps=rate, length_m=length, cell_bytes=cell, frame_bytes=frame)
    slope = f"slope of NH-5010, cells of {cell}; the fibre alone"
    yield Formula("large frames only", ROWS, slope, large, slope_only=True)


def _nvidia(question: Question) -> Formula:
    """Return what NVIDIA's plug-in sets aside, on the chip that is asked if it is one of NVIDIA's."""
    chip = asic(question.asic or USUAL_NVIDIA)
    chip = chip if chip.generation else asic(USUAL_NVIDIA)
    small = small_percent(question.mix_bytes, chip.cell_bytes)
    name = f"NVIDIA, {chip.label.removeprefix('NVIDIA ')}"
    source = (
        f"buffer_headroom_mellanox.lua, {small} % of frames small, port MTU 9100, headroom that ports share"
    )
    profile = partial(
        nvidia_profile,
        chip,
        rate_bps=question.rate_bps,
        length_m=question.length_m,
        lossless_mtu=question.mtu_bytes,
        small_percent=small,
        shared_headroom=True,
    )
    return _tried(Formula(name, "sonic-swss e6b0c5b5d (2026-08-21)", source), lambda: profile().xoff)


def _tried(formula: Formula, compute: Callable[[], int]) -> Formula:
    try:
        return replace(formula, bytes=compute())
    except PlanError as error:
        return replace(formula, why_not=str(error))
