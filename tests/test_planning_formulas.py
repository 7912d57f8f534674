"""Formulas of headroom, row by row of what ships."""

from __future__ import annotations

import csv
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from floodway.common.errors import PlanError, UnknownNameError
from floodway.planning.asics import asic, asics
from floodway.planning.formulas import (
    dnx_xoff,
    large_frames_xoff,
    nvidia_profile,
    small_frames_xoff,
    small_percent,
)
from floodway.planning.headroom import formulas
from floodway.planning.question import Question

G = 1_000_000_000


@dataclass(frozen=True)
class Row:
    platform: str
    rate_bps: int
    length_m: int
    size: int
    xon: int
    xoff: int


def rows() -> list[Row]:
    reference = os.environ.get("FLOODWAY_REFERENCE")
    if not reference:
        pytest.skip("FLOODWAY_REFERENCE is not set: it names the folder with published rows")
    file = Path(reference) / "reference" / "sonic" / "pg_profile_lookup.tsv"
    with file.open(encoding="utf-8") as lines:
        return [
            Row(
                platform=line["platform"],
                rate_bps=int(line["speed_mbps"]) * 1_000_000,
                length_m=int(line["cable"].removesuffix("m")),
                size=int(line["size"]),
                xon=int(line["xon"]),
                xoff=int(line["xoff"]),
            )
            for line in csv.DictReader(lines, delimiter="\t")
            if line["cable"].removesuffix("m").isdigit()
        ]


@pytest.mark.parametrize(
    ("platform", "small", "mtu", "shared", "count"),
    [
        ("nvidia_sn5600-r0/ACS-SN5600", 100, 1024, False, 24),
        ("nvidia_sn5640-r0/Mellanox-SN5640-C448O16", 50, 4096, True, 36),
    ],
)
def test_nvidia_s_headroom_is_that_of_the_published_rows(
    *, platform: str, small: int, mtu: int, shared: bool, count: int
) -> None:
    found = [row for row in rows() if row.platform.endswith(platform)]
    chip = asic("spectrum-4" if "5600" in platform else "spectrum-5")
    profiles = [
        nvidia_profile(
            chip,
            rate_bps=row.rate_bps,
            length_m=row.length_m,
            port_mtu=9216,
            lossless_mtu=mtu,
            small_percent=small,
            lane_count=8 if row.rate_bps == 800 * G else 4,
            shared_headroom=shared,
        )
        for row in found
    ]
    assert len(found) == count
    assert [(each.xoff, each.xon) for each in profiles] == [(row.xoff, row.xon) for row in found]
    # The file's sizes are sums of numbers that were not rounded, so that some are one KiB less.
    assert all(each.size - row.size in (0, 1024) for each, row in zip(profiles, found, strict=True))


def test_nvidia_s_headroom_at_its_defaults() -> None:
    """100G over 300 m on Spectrum-3: the number of its documentation."""
    assert nvidia_profile(asic("spectrum-3"), rate_bps=100 * G, length_m=300).xoff == 221_184


@pytest.mark.parametrize(
    ("mix", "percent", "xoff"),
    [
        ("any", 100, 659_456),
        ("small", 100, 659_456),
        ("64B,1082B", 50, 272_384),
        ("64B:1,1082B:99", 1, 248_832),
    ],
)
def test_nvidia_s_formula_follows_the_mix(mix: str, percent: int, xoff: int) -> None:
    """400G over 300 m on Spectrum-3: at 50 % the row of sonic-swss's pull request 3235."""
    question = Question.of(rate="400G", length="300m", asic="spectrum-3", mtu="1024B", mix=mix, buffer="64MB")
    assert small_percent(question.mix_bytes, question.cell_bytes) == percent
    (found,) = [each for each in formulas(question) if each.name.startswith("NVIDIA")]
    assert found.bytes == xoff
    assert f"{percent} % of frames small" in found.source


def test_jericho_s_rows_are_met_within_one_step() -> None:
    found = [row for row in rows() if "ixr7250e" in row.platform]
    assert len(found) == 15
    for row in found:
        assert abs(dnx_xoff(rate_bps=row.rate_bps, length_m=row.length_m) - row.xoff) < 4096, row


def test_slopes_are_those_of_the_files() -> None:
    """Bytes a metre between two rows, beside those of the formulas: 3.024 and 5.0 a byte on the wire."""
    per_metre = 2 * 400 * 5 / 8
    for cell, slope in ((254, 3.024), (420, 5.0)):
        ours = small_frames_xoff(rate_bps=400 * G, length_m=1000, cell_bytes=cell) / 1000 / per_metre
        assert ours == pytest.approx(slope, rel=1e-3)
    large = large_frames_xoff(rate_bps=400 * G, length_m=1000, cell_bytes=254, frame_bytes=1450)
    assert large / 1000 / per_metre == pytest.approx(6 * 254 / 1470, rel=1e-3)


def test_a_rate_without_a_reaction_time_is_refused() -> None:
    with pytest.raises(
        PlanError, match=r"rate: no reaction time is known for 33000000000 bit/s, but for 10G"
    ):
        nvidia_profile(asic("spectrum-3"), rate_bps=33 * G, length_m=300)
    with pytest.raises(PlanError, match="not a chip of NVIDIA's plug-in"):
        nvidia_profile(asic("tomahawk-3"), rate_bps=100 * G, length_m=300)
    with pytest.raises(PlanError, match=r"rate: no row is known for 33000000000 bit/s"):
        dnx_xoff(rate_bps=33 * G, length_m=300)


def test_chips_say_where_their_memory_is_from() -> None:
    assert all(chip.source for chip in asics().values() if chip.buffer_bytes)
    assert {name for name, chip in asics().items() if chip.firm} == {
        "tomahawk-2",
        "jericho-2",
        "bifrost-prototype",
    }
    with pytest.raises(UnknownNameError, match="did you mean 'tomahawk-2'"):
        asic("tomahawk2")


def test_chips_have_the_names_that_operators_write() -> None:
    names = [name.casefold() for chip in asics().values() for name in (chip.name, *chip.aliases)]
    assert len(names) == len(set(names))
    for name in ("TH4", "th4", "BCM56990", "Tomahawk-4"):
        assert asic(name) is asics()["tomahawk-4"]
    with pytest.raises(UnknownNameError, match=r"'TH9' is not a chip; allowed: spectrum-1.*did you mean 'TH"):
        asic("TH9")
