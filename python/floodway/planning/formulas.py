"""Formulas of headroom by makers and papers, for a lossless class of a port.

Each gives the bytes that a source lets arrive after a port has decided to pause, says which version of the
source it follows, and is computed in whole numbers and fractions, so that a row of a published file is met to
the byte or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from floodway.common.errors import PlanError

if TYPE_CHECKING:
    from floodway.planning.asics import Asic

__all__ = ["Profile", "dnx_xoff", "large_frames_xoff", "nvidia_profile", "reaction_quanta"]
__all__ += ["small_frames_xoff", "small_percent"]

KIB = 1024
#: Quanta of 512 bit times within which IEEE 802.3 (31B.3.7) has a MAC obey a pause, by Gbit/s.
QUANTA = {10: 60, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905}
#: Quanta in `buffer_headroom_mellanox.lua` where they differ from those, by Gbit/s.
NVIDIA_QUANTA = {10: 67}
QUANTUM_BYTES = 64
#: Metres per second in a fibre, as NVIDIA's plug-in counts.
NVIDIA_SPEED = 198_000_000
#: Bytes of MAC and PHY of NVIDIA's chips: 0.8 KiB.
NVIDIA_MAC_PHY = Fraction(4096, 5)
#: Above this cell NVIDIA counts cells by the smallest frame, below by the worst one.
NVIDIA_LARGE_CELL = 128
#: Chips with tiles, whose crossing takes 120 ns.
TILED = (4, 5)
TILE_NS = 120
#: The chip on which xoff has 18 KiB more.
SPECTRUM_6 = 6
LANES_OF_WIDE_PORTS = 8
#: Percent.
ALL = 100
#: Bytes that Jericho's rows have beside what the fibre holds, by Gbit/s: within 3.5 kB of 15 rows of 7800R3
#: and IXR7250E (40G to 400G), and of 7280R4 (800G).
DNX_CONSTANT = {40: 50_000, 100: 59_000, 400: 113_000, 800: 187_000}
#: Nanoseconds of a metre of fibre.
NS_PER_METRE = 5
SMALLEST, GAP = 64, 20


@dataclass(frozen=True, kw_only=True)
class Profile:
    """Sizes in a row of `pg_profile_lookup.ini` for a class of a port, in bytes.

    Attributes
    ----------
    size
        Reserved for the class; with shared headroom without `xoff`.
    xon
        The threshold at which it resumes.
    xoff
        Headroom: what may arrive after the port has decided to pause.
    """

    size: int
    xon: int
    xoff: int


def reaction_quanta(rate_bps: int) -> int:
    """Return the quanta in which a MAC obeys a pause (IEEE 802.3, 31B.3.7).

    Raises
    ------
    PlanError
        If none are known for the rate.
    """
    quanta = QUANTA.get(rate_bps // 1_000_000_000)
    if quanta is None or rate_bps % 1_000_000_000:
        rates = ", ".join(f"{gbps}G" for gbps in QUANTA)
        raise PlanError(f"rate: no reaction time is known for {rate_bps} bit/s, but for {rates}", key="rate")
    return quanta


def nvidia_profile(  # noqa: PLR0913 (the plug-in's own parameters)
    asic: Asic,
    *,
    rate_bps: int,
    length_m: int,
    port_mtu: int = 9100,
    lossless_mtu: int = 1500,
    small_percent: int = 100,
    lane_count: int = 4,
    shared_headroom: bool = False,
    gearbox_ns: int = 0,
) -> Profile:
    """Return NVIDIA's profile of a port and class.

    Source: `buffer_headroom_mellanox.lua` of sonic-swss at e6b0c5b5d (2026-08-21).

    Raises
    ------
    PlanError
        If the plug-in knows no reaction time for the rate, or the chip is not one of NVIDIA's.
    """
    if not asic.generation or asic.pipeline_kib is None:
        raise PlanError(f"asic: {asic.label} is not a chip of NVIDIA's plug-in", key="asic")
    mbps, cell, share = Fraction(rate_bps, 1_000_000), asic.cell_bytes, small_percent
    large = cell > NVIDIA_LARGE_CELL
    worst = ceil(Fraction(cell, SMALLEST)) if large else ceil(Fraction(2 * cell, 1 + cell))
    # The share of small frames by bytes, as the plug-in computes it: without their percentage.
    mean = Fraction(SMALLEST * share + lossless_mtu * (100 - share), 100)
    by_bytes = Fraction(100 * SMALLEST) / mean
    cable = 2 * length_m * mbps * 1_000_000_000 / NVIDIA_SPEED / 8000
    tile = mbps / 1000 * TILE_NS / 8 if asic.generation in TILED else Fraction(0)
    gearbox = 2 * mbps * gearbox_ns / 8000
    peer = QUANTUM_BYTES * NVIDIA_QUANTA.get(rate_bps // 1_000_000_000, reaction_quanta(rate_bps))
    propagation = port_mtu + cable + gearbox + NVIDIA_MAC_PHY + peer + tile

    def xoff_of(percent: Fraction) -> int:
        occupancy = (100 - percent + percent * worst) / 100
        more = 18 * KIB if asic.generation == SPECTRUM_6 else 0
        return _in_kib(lossless_mtu + propagation * occupancy) + more

    xoff, most = xoff_of(by_bytes), xoff_of(Fraction(100))
    # Without a shared pool of headroom it is 2 KiB more, if that is still 2 KiB below all small frames.
    if not shared_headroom and share < ALL and xoff + 2 * KIB <= most:
        xoff += 2 * KIB
    wide = lane_count == LANES_OF_WIDE_PORTS
    xon = _in_kib(Fraction(asic.pipeline_kib * KIB * (2 if wide else 1)))
    size = xon if shared_headroom else _in_kib(Fraction(xoff + xon + (port_mtu if wide else 0)))
    return Profile(size=size, xon=xon, xoff=xoff)


def small_percent(mix_bytes: tuple[int, ...], cell_bytes: int) -> int:
    """Return the percentage of a mix's frames that the plug-in calls small, rounded up.

    It knows small frames and those of the lossless MTU; small are those that fit into one cell. Of a mix of
    any sizes all are.
    """
    small = sum(frame <= cell_bytes for frame in mix_bytes)
    return ceil(Fraction(ALL * small, len(mix_bytes))) if mix_bytes else ALL


def dnx_xoff(*, rate_bps: int, length_m: int) -> int:
    """Return the headroom of Jericho's rows: as many frames of 64 as of 1,082 bytes, in cells of 254.

    Source: rows of Arista 7800R3 and Nokia IXR7250E in sonic-buildimage at 086b03bd70 (2026-08-23), which are
    multiples of 4,096 and within one of those of this formula.

    Raises
    ------
    PlanError
        If no row has the rate.
    """
    constant = DNX_CONSTANT.get(rate_bps // 1_000_000_000)
    if constant is None or rate_bps % 1_000_000_000:
        rates = ", ".join(f"{gbps}G" for gbps in DNX_CONSTANT)
        raise PlanError(f"rate: no row is known for {rate_bps} bit/s, but for {rates}", key="rate")
    return constant + ceil(_in_fibre(rate_bps, length_m) * Fraction(254 + 5 * 254, 64 + 1082))


def small_frames_xoff(*, rate_bps: int, length_m: int, cell_bytes: int) -> int:
    """Return what the fibre holds if all frames have 64 bytes: the slope of rows of Tomahawk 4 and 5.

    Source: rows of Dell Z9664F and Z9864F (cells of 254), Nexthop (cells of 420). Without their constants.
    """
    return ceil(_in_fibre(rate_bps, length_m) * Fraction(_cells(SMALLEST, cell_bytes), SMALLEST + GAP))


def large_frames_xoff(*, rate_bps: int, length_m: int, cell_bytes: int, frame_bytes: int) -> int:
    """Return what the fibre holds if all frames are large.

    Source: the slope of the rows of Nexthop NH-5010, 1.036. Without their constants.
    """
    return ceil(_in_fibre(rate_bps, length_m) * Fraction(_cells(frame_bytes, cell_bytes), frame_bytes + GAP))


def _in_fibre(rate_bps: int, length_m: int) -> Fraction:
    """Bytes on the fibre, there and back."""
    return Fraction(2 * rate_bps * NS_PER_METRE * length_m, 8 * 1_000_000_000)


def _cells(frame: int, cell: int) -> int:
    return ceil(Fraction(frame, cell)) * cell


def _in_kib(value: Fraction) -> int:
    """Round up to whole KiB."""
    return ceil(value / KIB) * KIB
