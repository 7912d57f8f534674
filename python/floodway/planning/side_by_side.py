"""Formulas of headroom side by side: physics, makers' plug-ins, rows that ship, closed forms of papers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floodway.common.errors import PlanError
from floodway.planning.asics import asic
from floodway.planning.formulas import (
    dnx_xoff,
    large_frames_xoff,
    nvidia_profile,
    small_frames_xoff,
    small_percent,
)
from floodway.planning.headroom import pfc_headroom

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from floodway.planning.question import Question

__all__ = ["Formula", "formulas"]

#: NVIDIA's chip where another is asked, or none.
USUAL_NVIDIA = "spectrum-4"
#: The cell where all-small-frames rows ship (Dell Z9664F), where none is asked.
USUAL_CELL = 254
PAUSE_FRAME = 64
#: Bytes a kilometre and 100 Gbit/s of a round trip in fibre (Bifrost, section III).
BIFROST_KM = 125_000


@dataclass(frozen=True, kw_only=True)
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
    yield Formula(
        name="physics",
        version="floodway",
        source="IEEE 802.1Qbb, Annex O; IEEE 802.3, 31B.3.7; terms above; cells and mix as asked",
        bytes=physics,
    )
    if question.mix_bytes:
        any_size = replace(question, mix_bytes=())
        yield Formula(
            name="physics, frames of any size",
            version="floodway",
            source="the same for the frames that fill cells worst",
            bytes=pfc_headroom(any_size),
        )
    round_trip = question.round_trip_bytes
    reaction = question.obeyed_after_ps * rate // (8 * 1_000_000_000_000)
    yield Formula(
        name="closed form",
        version="802.1Qbb-2011",
        source="2 D C + reaction + own interface + 2 MTU + pause frame, without cells",
        bytes=round_trip + reaction + 2 * question.largest_frame + PAUSE_FRAME,
    )
    yield Formula(
        name="125 kB a km and 100G",
        version="ICNP 2023",
        source="Bifrost, section III; the fibre alone",
        bytes=BIFROST_KM * length * rate // (1000 * 100_000_000_000),
        slope_only=True,
    )
    chip = asic(question.asic or USUAL_NVIDIA)
    chip = chip if chip.generation else asic(USUAL_NVIDIA)
    small = small_percent(question.mix_bytes, chip.cell_bytes)
    yield _tried(
        Formula(
            name=f"NVIDIA, {chip.label.removeprefix('NVIDIA ')}",
            version="sonic-swss e6b0c5b5d (2026-08-21)",
            source=(
                f"buffer_headroom_mellanox.lua, {small} % of frames small, port MTU 9100, headroom that ports"
                " share"
            ),
        ),
        lambda: (
            nvidia_profile(
                chip,
                rate_bps=rate,
                length_m=length,
                lossless_mtu=question.mtu_bytes,
                small_percent=small,
                shared_headroom=True,
            ).xoff
        ),
    )
    yield _tried(
        Formula(
            name="DNX rows",
            version="sonic-buildimage 086b03bd70 (2026-08-23)",
            source="Arista 7800R3, Nokia IXR7250E: 64 and 1,082 bytes in cells of 254",
        ),
        lambda: dnx_xoff(rate_bps=rate, length_m=length),
    )
    cell = question.cell_bytes if question.cell_bytes > 1 else USUAL_CELL
    yield Formula(
        name="all frames of 64 bytes",
        version="sonic-buildimage 086b03bd70 (2026-08-23)",
        source=f"slope of Dell Z9664F and Nexthop, cells of {cell}; the fibre alone",
        bytes=small_frames_xoff(rate_bps=rate, length_m=length, cell_bytes=cell),
        slope_only=True,
    )
    yield Formula(
        name="large frames only",
        version="sonic-buildimage 086b03bd70 (2026-08-23)",
        source=f"slope of NH-5010, cells of {cell}; the fibre alone",
        bytes=large_frames_xoff(
            rate_bps=rate, length_m=length, cell_bytes=cell, frame_bytes=question.largest_frame
        ),
        slope_only=True,
    )


def _tried(formula: Formula, compute: Callable[[], int]) -> Formula:
    try:
        return replace(formula, bytes=compute())
    except PlanError as error:
        return replace(formula, why_not=str(error))
