from __future__ import annotations

import io
import json
import re
from typing import TYPE_CHECKING

import pytest

import floodway as package
from floodway.cli.run import failures
from floodway.cli.show_document import show
from floodway.comparison.metrics import verdict
from floodway.results.document import document
from floodway.results.lossless import Lossless, brief, sentence
from floodway.study import conduct, load_study, plan_of
from made_up import made_up_result
from scenarios import SMALL, written
from studies import study_file

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

SHORT = {
    "ports": 16,
    "place": "x1 (x1-x2#1)",
    "class": 3,
    "has_bytes": 8_000_000,
    "needs_bytes": 20_332_585,
    "short_bytes": 12_332_585,
}
LOSS = {
    "packets": 5367,
    "bytes": 22_315_986,
    "ports": 8,
    "worst_place": "x2 (x1-x2#4)",
    "worst_port_bytes": 8_029_098,
    "place": "x2 (x1-x2#5)",
    "class": 3,
    "time_us": 411.73,
    "missing_bytes": 4150,
}
FAILED = {"packets": 7, "bytes": 7546, "drops": [["link_down", 5], ["no_route", 2]]}
DRIFT = {"why": "a relay has no feedback", "place": "r1 (l)", "ports": 2}

SIZES = "every lossless port has at least the buffer that its flow control needs"
BY_SIZING = f"held by sizing: {SIZES}"

HELD = {"verdict": "held-by-sizing", "react_is_zero": True}
LUCKY = {"verdict": "held-in-run", "short": SHORT, "react_is_zero": True}
UNSURE = {"verdict": "held-in-run", "unproven": [DRIFT], "react_is_zero": True}
VIOLATED = {"verdict": "violated", "short": SHORT, "loss": LOSS, "react_is_zero": True}
#: As older versions wrote it: of the first packet alone.
OLDER = {
    "verdict": "violated",
    "packets": 3,
    "bytes": 3234,
    "place": "s1 (l1)",
    "class": 3,
    "time_us": 12.345,
    "missing_bytes": 78,
    "worst_port_bytes": 3234,
}

#: A long link whose ends have less than their formula: nothing is lost while its far end drains.
LONG = """
limit = "5ms"
topology.chain = { switches = 2, rate = "100G", delay = "1us", trunk = { length = "20km" } }

[[override]]
name = "trunk"
links = { tag = "trunk" }
flow-control.pfc = { xoff = "320KB" }
buffer.static = { size = "SIZE" }

[[override]]
name = "stall"
hosts = "h2"
faults.pause = { from = "50us", to = "STALL" }

[[workload]]
name = "one"
flows = [{ from = "h1", to = "h2", size = "20MB" }]
"""


def long(folder: Path, *, size: str = "1MB", stall: str = "51us", down: str = "") -> Path:
    text = LONG.replace("SIZE", size).replace("STALL", stall)
    if down:
        text = text.replace('name = "trunk"\n', f'name = "trunk"\nfaults.down = {down}\n')
    return written(folder, text, name="long")


@pytest.mark.parametrize(
    ("raw", "whole", "short"),
    [
        (
            HELD,
            f"held by sizing if upstreams obey a pause at once (react = 0us): {SIZES}",
            "held by sizing (react = 0us)",
        ),
        (
            LUCKY,
            (
                "held in this run, though 12,332,585 bytes short of its formula at x1 (x1-x2#1), class 3 "
                "(16 ports are short)"
            ),
            "held in this run, 12.3 MB short of its formula",
        ),
        (
            UNSURE,
            (
                "held in this run, though sizes do not guarantee it: a relay has no feedback "
                "(r1 (l) and 1 more)"
            ),
            "held in this run, not by sizing",
        ),
        (
            VIOLATED,
            (
                "violated: 22,315,986 bytes (5,367 packets) lost at 8 ports, most at x2 (x1-x2#4) "
                "(8,029,098 bytes there); the first at x2 (x1-x2#5), class 3, 411.730 us, "
                "which did not fit by 4,150 bytes; x1 (x1-x2#1) is 12,332,585 bytes short of its formula"
            ),
            "violated, 22.3 MB lost, most at x2 (x1-x2#4)",
        ),
        (
            {**VIOLATED, "short": None, "unproven": [DRIFT]},
            (
                "violated: 22,315,986 bytes (5,367 packets) lost at 8 ports, most at x2 (x1-x2#4) "
                "(8,029,098 bytes there); the first at x2 (x1-x2#5), class 3, 411.730 us, "
                "which did not fit by 4,150 bytes; sizes do not guarantee it: a relay has no feedback "
                "(r1 (l) and 1 more)"
            ),
            "violated, 22.3 MB lost, most at x2 (x1-x2#4)",
        ),
        (
            {**HELD, "react_is_zero": False, "failed": FAILED},
            (
                "failures lost 7 packets (7,546 bytes) of lossless classes: link_down 5, no_route 2; "
                f"no buffer overflowed, {BY_SIZING}"
            ),
            "held by sizing, 7 packets lost by failures",
        ),
        (
            {"verdict": "not-asked", "react_is_zero": False},
            "no class has a lossless flow control",
            "no lossless class",
        ),
        (
            {"verdict": "held"},
            "held in this run; an older version wrote it, which did not compare sizes",
            "held (sizes unknown: an older run)",
        ),
    ],
)
def test_verdicts_say_no_more_than_was_shown(raw: dict[str, object], whole: str, short: str) -> None:
    lossless = Lossless.from_json(raw)
    assert sentence(lossless) == whole
    assert brief([lossless]) == short


def test_a_loss_that_an_older_version_wrote_is_read() -> None:
    lossless = Lossless.from_json(OLDER)
    assert lossless.loss is not None
    assert (lossless.loss.packets, lossless.loss.place, lossless.loss.worst_place) == (3, "s1 (l1)", "")
    assert sentence(lossless).startswith("violated: 3,234 bytes (3 packets) lost at ")
    assert "a port that an older version did not name" in sentence(lossless)


def test_terminal_notebooks_and_comparisons_show_the_same_words() -> None:
    result = made_up_result(lossless=LUCKY)
    text = io.StringIO()
    show(document(result, "out"), text)
    whole = "lossless: held in this run, though 12,332,585 bytes short of its formula at x1"
    assert whole in text.getvalue()
    assert whole in result._repr_html_()
    assert verdict([result]) == "held in this run, 12.3 MB short of its formula"


def test_seeds_that_differ_in_bytes_alone_have_one_verdict() -> None:
    more = {
        **VIOLATED,
        "loss": {**LOSS, "bytes": 40_000_000, "worst_port_bytes": 9_000_000, "worst_place": "y"},
    }
    results = [made_up_result(lossless=raw) for raw in (VIOLATED, more)]
    assert verdict(results) == "violated, 22.3 MB to 40 MB lost, most at y"
    mixed = [made_up_result(lossless=raw) for raw in (VIOLATED, HELD, HELD)]
    assert verdict(mixed) == (
        "violated, 22.3 MB lost, most at x2 (x1-x2#4) (1 of 3 seeds); "
        "held by sizing (react = 0us) (2 of 3 seeds)"
    )


def test_strict_fails_on_whatever_lossless_classes_lost() -> None:
    of = {name: made_up_result(lossless=raw).outcome for name, raw in (("held", HELD), ("lost", VIOLATED))}
    failed = made_up_result(lossless={**HELD, "failed": FAILED}).outcome
    assert not any(failures(outcome, strict=False) for outcome in (*of.values(), failed))
    assert failures(of["held"], strict=True) == []
    assert failures(of["lost"], strict=True) == [
        "lossless classes lost 22,315,986 bytes (5,367 packets) by buffer overflow"
    ]
    assert failures(failed, strict=True) == ["lossless classes lost 7,546 bytes (7 packets) by failures"]


def test_a_run_that_lost_nothing_by_luck_says_so_and_loses_when_its_receiver_stalls(
    floodway: Command, tmp_path: Path
) -> None:
    # 320 KB, a frame less a byte, and headroom for 20 km there and back: 2.5 MB, two frames and 64 bytes.
    needs = 320_000 + 1_077 + 2_500_000 + 2 * 1_078 + 64
    lucky = floodway("run", long(tmp_path), "--out", "lucky")
    text = f"held in this run, though {needs - 1_000_000:,} bytes short of its formula at s"
    assert text in lucky.out
    assert json.loads((tmp_path / "lucky" / "run.json").read_text())["verdicts"]["lossless"]["verdict"] == (
        "held-in-run"
    )
    stalled = floodway("run", long(tmp_path, stall="1ms"), "--out", "stalled")
    loss = package.read(tmp_path / "stalled").outcome.lossless.loss
    assert loss is not None
    assert (
        f"lossless: violated: {loss.bytes:,} bytes ({loss.packets:,} packets) lost at s2 (s1-s2)"
        in stalled.out
    )
    right = floodway("run", long(tmp_path, size=f"{needs}B", stall="1ms"), "--out", "right")
    assert "lossless: held by sizing" in right.out


def test_what_a_failed_link_loses_is_reported_and_strict_fails(floodway: Command, tmp_path: Path) -> None:
    scenario = long(tmp_path, size="10MB", down='{ from = "200us", to = "9ms" }')
    done = floodway("run", scenario, "--strict")
    assert done.code == 1
    assert "lossless: failures lost " in done.out
    assert "; no buffer overflowed, held by sizing if upstreams obey a pause at once" in done.out
    assert "link_down" in done.out
    assert done.err.splitlines()[-1].endswith(" by failures")


def test_comparisons_carry_the_warnings_of_their_variants(floodway: Command, tmp_path: Path) -> None:
    done = floodway("compare", long(tmp_path), "--vary", "trunk.buffer.static.size=1MB,6MB", "--out", "out")
    page = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    (listed,) = [
        each for each in json.loads(floodway_json(floodway, tmp_path))["warnings"] if "short" in each["text"]
    ]
    assert listed["variants"] == ["size=1MB"]
    said = [re.fullmatch(r"warning( \[\d\])?: (.*)", line) for line in done.out.splitlines()]
    warnings = [found[2] for found in said if found]
    assert [line for line in warnings if line.startswith("size=1MB: ") and "short of the" in line]
    # The column that a warning concerns has its number.
    assert re.search(r"size=1MB \[\d\]", done.out)
    assert "size=6MB [" not in done.out
    # Both have a threshold that leaves the link idle.
    (idle,) = [line for line in warnings if "SWING, Eq. 4" in line]
    assert not idle.startswith("size=")
    for line in warnings:
        assert line.replace('"', "&#34;").replace(">", "&gt;") in page


def floodway_json(floodway: Command, folder: Path) -> str:
    vary = ("--vary", "trunk.buffer.static.size=1MB,6MB", "--out", "json", "--json", "--quiet")
    return floodway("compare", folder / "long.toml", *vary).out


def test_comparisons_of_quiet_variants_have_no_warnings(floodway: Command, tmp_path: Path) -> None:
    small = written(tmp_path, SMALL)
    done = floodway("compare", small, "--vary", "workload.rpc.poisson.load=0.2,0.4", "--out", "out")
    assert "warning" not in done.out
    assert 'class="warnings"' not in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_reports_of_studies_have_verdicts_and_warnings_once_with_their_variants(tmp_path: Path) -> None:
    text = study_file(tmp_path).read_text(encoding="utf-8")
    beyond = text.replace(
        '"defaults.buffer.shared.pool" = "1MB"', '"defaults.flow-control.pfc.xoff.alpha" = 8'
    )
    assert beyond != text
    study = study_file(tmp_path)
    study.write_text(beyond, encoding="utf-8")
    conducted = conduct(plan_of([load_study(study)]), out=tmp_path / "out", jobs=2)
    for file in conducted.files[:2]:
        report = file.read_text(encoding="utf-8")
        assert "Lossless classes: held by sizing (react = 0us) in 8 runs (10 MB, 1 MB)." in report
        assert report.count("beyond the 10MB of the pool itself") == 1
        assert "1 MB: " in report.split("floodway check", 1)[1]
