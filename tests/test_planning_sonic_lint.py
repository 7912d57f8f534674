"""Verdicts on SONiC's headroom: against physics, against the formulas of makers, and against runs."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floodway import _floodway
from floodway import run as floodway_run
from floodway.common.errors import PlanError, UnknownNameError
from floodway.planning import trials as planning_runs
from floodway.planning.asics import asic
from floodway.planning.formulas import dnx_xoff, nvidia_profile, small_frames_xoff
from floodway.planning.headroom import largest_held, occupied
from floodway.planning.sonic import lint
from floodway.planning.sonic.row import Row
from floodway.planning.sonic.verdict import (
    Assumptions,
    Level,
    bounds,
    holds_from,
    obeyed_within_ps,
    question_of_row,
    verdict,
)
from floodway.planning.trials import Runs, least_headroom

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from command import Command
    from floodway._floodway import Progress
    from floodway.planning.question import Question
    from floodway.planning.sonic import Lint
    from floodway.results import Result
    from floodway.scenarios.scenario import Scenario

G = 1_000_000_000
RATES = (10, 25, 40, 50, 100, 200, 400, 800)
CELLS = (1, 64, 80, 144, 176, 192, 208, 254, 256, 420)


def published() -> Path:
    reference = os.environ.get("FLOODWAY_REFERENCE")
    if not reference:
        pytest.skip("FLOODWAY_REFERENCE is not set: it names the folder with published rows")
    return Path(reference) / "reference" / "sonic" / "pg_profile_lookup.tsv"


def linted(folder: Path, rows: Iterable[tuple[int, int, int]], *, asic: str | None = None) -> Lint:
    """Judge rows of a rate in Gbit/s, a length in metres, and xoff in bytes."""
    file = folder / "pg_profile_lookup.ini"
    file.write_text("\n".join(f"{gbps}000 {metres}m 0 2560 {xoff} -5" for gbps, metres, xoff in rows))
    return lint(file, asic=asic)


def row(xoff: int, *, gbps: int = 400, metres: int = 300, size: int = 0) -> Row:
    return Row(place="file:1", group="", rate_bps=gbps * G, length_m=metres, size=size, xon=0, xoff=xoff)


def level(xoff: int, assumed: Assumptions) -> Level:
    one = row(xoff)
    return verdict(one, bounds(one.rate_bps, one.length_m, assumed), assumed).level


def test_published_rows_below_propagation_and_below_two_frames_more_are_found() -> None:
    found = lint(published())
    assert len(found.rows) == 1392
    assert found.counts[Level.BELOW_PROPAGATION] == 20
    frame = found.frame
    assert frame.filter(frame["xoff_bytes"] < frame["propagation_bytes"]).height == 20
    assert frame.filter(frame["xoff_bytes"] < frame["propagation_bytes"] + 2 * 9216 + 64).height == 131


def test_the_published_row_that_lacks_most_is_said_to_be_meant_perhaps() -> None:
    judged = [(each, each.bounds) for each in lint(published()).rows if each.bounds is not None]
    worst, bounds = max(judged, key=lambda each: each[1].propagation - each[0].row.xoff)
    assert (worst.row.xoff, bounds.propagation) == (555_008, 1_000_000)
    assert worst.verdict.text == (
        "below propagation alone by 444,992 bytes (with a shared headroom pool that may be meant: simulate)"
    )


def test_rows_are_worst_first() -> None:
    found = lint(published(), asic="tomahawk-5")
    keys = [(each.verdict.level, each.part) for each in found.rows]
    assert keys == sorted(keys)


def test_published_rows_follow_the_formulas_of_their_makers() -> None:
    counts = Counter(
        (each.row.group.rpartition("/")[2], each.fit.formula) for each in lint(published()).rows if each.fit
    )
    five = "NVIDIA, Spectrum-4 or Spectrum-5, MTU 9216"
    assert counts["ACS-SN5600", f"{five}/1024, 100 % small"] == 48
    assert counts["Mellanox-SN5640-C448O16", f"{five}/4096, 50 % small, shared headroom"] == 36
    dnx = "DNX rows, within a step of 4,096"
    assert counts["Arista-7800R3-48CQ2-C48", dnx] == counts["1", dnx] == 15
    assert counts["DellEMC-Z9664f-O64", "slope 3.024: all frames of 64 bytes, cells of 254"] == 9
    assert counts["Dell-Z9864f-O64", "slope 3.024: all frames of 64 bytes, cells of 254"] == 12
    assert counts["BALANCED", "slope 1.036: large frames"] == 6


@pytest.mark.parametrize("platform", ["msn2700", "msn3700", "msn4700"])
def test_rows_of_older_formulas_follow_none(platform: str) -> None:
    """Single rows are met by one of many parameters, which says nothing of the file."""
    rows = [each for each in lint(published()).rows if platform in each.row.group]
    assert len(rows) >= 18
    assert not [each for each in rows if each.fit]


@pytest.mark.parametrize("name", ["spectrum-2", "spectrum-4", "spectrum-6"])
def test_a_file_made_by_nvidia_s_plug_in_is_recognised(tmp_path: Path, name: str) -> None:
    lines = []
    for gbps in (100, 400):
        for metres in range(5, 2005, 100):
            made = nvidia_profile(
                asic(name),
                rate_bps=gbps * G,
                length_m=metres,
                port_mtu=9216,
                lossless_mtu=4096,
                small_percent=50,
            )
            lines.append(f"{gbps}000 {metres}m {made.size} {made.xon} {made.xoff} 0")
    file = tmp_path / "pg_profile_lookup.ini"
    file.write_text("\n".join(lines))
    label = asic(name).label.removeprefix("NVIDIA ")
    for each in lint(file).rows:
        assert each.fit is not None
        assert each.fit.formula.startswith("NVIDIA, ")
        assert label in each.fit.formula
        assert each.fit.formula.endswith(", MTU 9216/4096, 50 % small")
        assert (each.fit.rows, each.fit.of, each.fit.others) == (40, 40, 0)


def test_one_byte_more_is_no_longer_nvidia_s(tmp_path: Path) -> None:
    lines = []
    for metres in (5, 40, 300):
        made = nvidia_profile(asic("spectrum-4"), rate_bps=100 * G, length_m=metres)
        lines.append(f"100000 {metres}m {made.size} {made.xon} {made.xoff + (metres == 300)} 0")
    file = tmp_path / "pg_profile_lookup.ini"
    file.write_text("\n".join(lines))
    assert not any(each.fit and each.fit.formula.startswith("NVIDIA") for each in lint(file).rows)


def test_rows_in_steps_near_jericho_s_are_recognised_and_others_are_not(tmp_path: Path) -> None:
    lengths = (300, 2000, 80_000)
    near = [dnx_xoff(rate_bps=400 * G, length_m=metres) // 4096 * 4096 for metres in lengths]
    rows = [(400, metres, xoff) for metres, xoff in zip(lengths, near, strict=True)]
    for each in linted(tmp_path, rows).rows:
        assert each.fit is not None
        assert each.fit.text == "DNX rows, within a step of 4,096 (3 of 3 rows)"
    off = [(gbps, metres, xoff + 1) for gbps, metres, xoff in rows]
    assert not any(each.fit and each.fit.formula.startswith("DNX") for each in linted(tmp_path, off).rows)


@pytest.mark.parametrize(("cell", "slope"), [(254, "3.024"), (420, "5")])
def test_a_slope_is_recognised_whatever_the_constant(tmp_path: Path, cell: int, slope: str) -> None:
    rows = [
        (400, metres, 77_777 + small_frames_xoff(rate_bps=400 * G, length_m=metres, cell_bytes=cell))
        for metres in (300, 2000, 80_000)
    ]
    for each in linted(tmp_path, rows).rows:
        assert each.fit is not None
        assert each.fit.formula == f"slope {slope}: all frames of 64 bytes, cells of {cell}"
    steeper = [(gbps, metres, round(xoff * 1.002)) for gbps, metres, xoff in rows]
    assert not any(each.fit for each in linted(tmp_path, steeper).rows)


def test_levels_begin_at_their_bounds_to_the_byte() -> None:
    assumed = Assumptions(cell_bytes=254, mix_bytes=(64, 1082))
    found = bounds(400 * G, 300, assumed)
    steps = (found.propagation, found.least, found.in_bytes, found.asked, found.any_size)
    assert list(steps) == sorted(set(steps))
    levels = list(Level)
    below = [level(step - 1, assumed) for step in steps]
    at = [level(step, assumed) for step in steps]
    mixed = [each for each in levels[2:] if each is not Level.LARGE_FRAMES]
    assert below == mixed[:-1]
    assert at == mixed[1:]


def test_without_a_mix_what_is_short_of_any_size_holds_for_large_frames() -> None:
    assumed = Assumptions(cell_bytes=254)
    found = bounds(400 * G, 300, assumed)
    assert found.asked == found.any_size
    assert level(found.in_bytes, assumed) is level(found.any_size - 1, assumed) is Level.LARGE_FRAMES


def test_a_reserve_that_holds_the_headroom_has_no_shared_pool() -> None:
    assumed = Assumptions()
    found = bounds(400 * G, 300, assumed)
    assert "pool" in verdict(row(100_000), found, assumed).text
    assert "pool" not in verdict(row(100_000, size=120_000), found, assumed).text


@given(
    gbps=st.sampled_from(RATES),
    metres=st.integers(1, 200_000),
    cell=st.sampled_from(CELLS),
    mtu=st.integers(256, 9000),
)
def test_the_bounds_are_in_order(gbps: int, metres: int, cell: int, mtu: int) -> None:
    found = bounds(gbps * G, metres, Assumptions(mtu_bytes=mtu, cell_bytes=cell))
    assert found.propagation < found.least < found.in_bytes <= found.any_size == found.asked


@given(
    gbps=st.sampled_from(RATES),
    metres=st.integers(1, 200_000),
    cell=st.sampled_from(CELLS),
    mtu=st.integers(256, 9000),
    share=st.floats(0.9, 1.1),
)
def test_frames_of_the_size_that_is_said_to_hold_do(
    gbps: int, metres: int, cell: int, mtu: int, share: float
) -> None:
    assumed = Assumptions(mtu_bytes=mtu, cell_bytes=cell)
    found = bounds(gbps * G, metres, assumed)
    one = row(round(found.in_bytes + (found.any_size - found.in_bytes) * share), gbps=gbps, metres=metres)
    size = holds_from(one, assumed)
    if one.xoff >= found.any_size:
        assert size == 64
        return
    question = question_of_row(one.rate_bps, metres, assumed)
    assert size is None or size > 64
    if size is not None:
        begun = _until_obeyed(question)
        for frame in range(size, question.largest_frame + 1, 97):
            assert (
                _floodway.occupied_bytes(
                    begun, cell_bytes=cell, mtu_frame_bytes=question.largest_frame, mix_bytes=[frame]
                )
                <= one.xoff
            )


@given(gbps=st.sampled_from(RATES), metres=st.integers(1, 100_000), share=st.floats(0, 0.999))
def test_the_far_end_may_take_the_time_that_is_said_and_no_ns_more(
    gbps: int, metres: int, share: float
) -> None:
    assumed = Assumptions()
    found = bounds(gbps * G, metres, assumed)
    one = row(found.least + int((found.in_bytes - found.least - 1) * share), gbps=gbps, metres=metres)
    within = obeyed_within_ps(one, assumed)
    question = question_of_row(one.rate_bps, metres, assumed)

    def needed(react_ps: int) -> int:
        return occupied(
            question,
            _floodway.pfc_bytes_until_heeded(
                rate_bps=question.rate_bps,
                delay_ps=question.delay_ps,
                react_ps=react_ps,
                mtu_frame_bytes=question.largest_frame,
            ),
        )

    assert needed(within) <= one.xoff < needed(within + 1)


def _until_obeyed(question: Question) -> int:
    return _floodway.pfc_bytes_until_heeded(
        rate_bps=question.rate_bps,
        delay_ps=question.delay_ps,
        react_ps=question.obeyed_after_ps,
        mtu_frame_bytes=question.largest_frame,
    )


@settings(max_examples=15)
@given(
    gbps=st.sampled_from(RATES),
    metres=st.integers(1, 1000),
    cell=st.sampled_from(CELLS),
    mtu=st.integers(1100, 9000),
    mix=st.sampled_from(((), (64,), (64, 1082))),
)
def test_the_least_headroom_of_runs_is_never_above_physics_and_not_far_below(
    gbps: int, metres: int, cell: int, mtu: int, mix: tuple[int, ...]
) -> None:
    """Below by the last frame, which the formula takes for the largest, and by a packet that is not whole.

    Where memory counts bytes, also by the preamble and the gap of each frame, which are no bytes of a buffer.
    """
    assumed = Assumptions(mtu_bytes=mtu, cell_bytes=cell, mix_bytes=mix)
    question = question_of_row(gbps * G, metres, assumed)
    found = bounds(gbps * G, metres, assumed)
    frame = min(mix or (question.largest_frame,))
    unseen = found.asked * 20 // (frame + 20) if cell == 1 else 0
    assert 0 <= found.asked - least_headroom(question) <= 2 * largest_held(question) + unseen


def test_what_was_simulated_is_kept_and_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Scenario] = []
    limit = 5

    def run(scenario: Scenario, *, on_progress: Callable[[Progress], None]) -> Result:
        if len(seen) == limit:
            raise KeyboardInterrupt
        seen.append(scenario)
        return floodway_run(scenario, on_progress=on_progress)

    monkeypatch.setattr(planning_runs, "run", run)
    file = tmp_path / "pg_profile_lookup.ini"
    file.write_text("".join(f"100000 {metres}m 0 0 300000 0\n" for metres in (40, 5)))
    done: list[tuple[int, int]] = []

    def tried() -> dict[int, int | None]:
        runs = Runs(tmp_path / "kept")
        found = lint(
            file, least=least_headroom, jobs=1, runs=runs, done=lambda count, of: done.append((count, of))
        )
        assert runs.error is None
        return {each.row.length_m: each.least for each in found.rows}

    with pytest.raises(KeyboardInterrupt):
        tried()
    kept = {folder.name for folder in (tmp_path / "kept").iterdir()}
    assert len(kept) == 5
    limit = -1
    before = seen[:]
    seen.clear()
    done.clear()
    found = tried()
    # A row takes four runs; five of the eight were there.
    assert len(before) + len(seen) == 8
    assert done == [(0, 2), (1, 2), (2, 2)]
    seen.clear()
    assert tried() == found == {metres: least_headroom(of_row(metres)) for metres in (5, 40)}
    # A run that has changed is run again, in its place.
    flows = tmp_path / "kept" / min(kept) / "flows.parquet"
    flows.write_bytes(flows.read_bytes()[:-1])
    seen.clear()
    assert tried() == found
    assert len(seen) == 1


def of_row(metres: int) -> Question:
    return question_of_row(100 * G, metres, Assumptions(mtu_bytes=4096, cell_bytes=1, mix_bytes=()))


def test_assumptions_are_checked_as_those_of_a_plan(tmp_path: Path) -> None:
    file = tmp_path / "pg_profile_lookup.ini"
    file.write_text("100000 5m 0 0 300000 0\n")
    with pytest.raises(UnknownNameError, match="did you mean 'tomahawk-5'"):
        lint(file, asic="tomahawk5")
    with pytest.raises(PlanError, match="mix: 'some' is neither"):
        lint(file, mix="some")


def test_a_rate_without_a_known_reaction_is_told(tmp_path: Path) -> None:
    found = linted(tmp_path, [(1, 300, 100_000)])
    assert "no reaction to a pause is known for 1000 Mb/s" in found.notes[0]
    assert "no reaction is known for this rate" in found.rows[0].verdict.text


def test_the_document_has_a_row_for_each_and_its_assumptions(tmp_path: Path) -> None:
    found = linted(tmp_path, [(400, 300, 400_000), (100, 5, 10)], asic="tomahawk-5")
    document = json.loads(json.dumps(found.to_dict()))
    assert document["assumed"] == {
        "mtu_bytes": 4096,
        "cell_bytes": 254,
        "mix_bytes": [],
        "asic": "tomahawk-5",
        "latency_ps": None,
    }
    assert [each["xoff_bytes"] for each in document["rows"]] == [10, 400_000]
    assert document["counts"] == {"below-propagation": 1, "large-frames": 1}


def test_a_configuration_without_rows_has_a_frame_of_the_same_columns(tmp_path: Path) -> None:
    file = tmp_path / "config_db.json"
    file.write_text('{"PORT": {}}')
    empty = lint(file).frame
    assert (empty.height, empty.columns) == (0, linted(tmp_path, [(100, 5, 10)]).frame.columns)


def test_the_command_prints_the_worst_rows_and_says_by_its_code_whether_all_hold(
    floodway: Command, tmp_path: Path
) -> None:
    file = tmp_path / "pg_profile_lookup.ini"
    file.write_text("".join(f"100000 {metres}m 0 0 300000 0\n" for metres in range(1, 31)))
    done = floodway("lint", file)
    assert done.code == 0
    assert done.out.startswith(f"{file}, pg_profile_lookup.ini: 30 rows\n\nevery row holds, ")
    assert len(done.out.splitlines()) <= 40
    assert "22 more kinds of rows: --full" in done.out
    assert "any size 30" in done.out
    assert all(f"{metres} m" in floodway("lint", file, "--full").out for metres in range(1, 31))
    file.write_text("100000 5m 0 0 10 0\n")
    done = floodway("lint", file)
    assert done.code == 1
    assert "below propagation alone by 615 bytes" in " ".join(done.out.split())
    done = floodway("lint", file, "--json")
    assert done.code == 1
    printed = json.loads(done.out)
    assert printed["answer"] == printed["verdict"]
    assert printed["rows"][0]["level"] == "below-propagation"


def test_the_command_keeps_what_it_simulates(floodway: Command, tmp_path: Path) -> None:
    file = tmp_path / "pg_profile_lookup.ini"
    file.write_text("100000 5m 0 0 300000 0\n")
    done = floodway("lint", file, "--simulate", "--out", tmp_path / "kept")
    assert done.code == 0
    assert "holds, 2" in done.out
    assert len(list((tmp_path / "kept").iterdir())) == 4


def test_a_mistake_is_one_line_and_an_error_of_usage(floodway: Command, tmp_path: Path) -> None:
    file = tmp_path / "pg_profile_lookup.ini"
    file.write_text("100000 5m 0 0 300000\n")
    done = floodway("lint", file)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {file}:1: threshold: the column is missing")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("speed", "message"),
    [("abc", "'abc' is not a whole number"), ("0", "0 is not a speed in Mb/s, 1 to 1600000")],
)
def test_the_speed_of_a_port_without_lossless_classes_is_checked_too(
    floodway: Command, speed: str, message: str
) -> None:
    text = json.dumps({"PORT": {"Ethernet0": {"speed": speed}}})
    (floodway.folder / "db.json").write_text(text, encoding="utf-8")
    done = floodway("lint", "db.json")
    assert (done.code, done.err) == (2, f"error: db.json: PORT|Ethernet0: speed: {message}\n")
