from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import floodway as package
from floodway.cli.app import app
from floodway.common.errors import Fault, OutputError, ScenarioError, ValidationError
from floodway_lab.validation import (
    Case,
    CaseResult,
    Reference,
    Side,
    Validation,
    cases_of,
    compare_sides,
    document,
    validate,
)
from floodway_lab.validation import validation as validating
from floodway_lab.validation.report import BEGIN, END, draw_into, write_report
from floodway_lab.validation.running import refusal_of
from hpcc_cases import FLOWS_TEXT, case_in, case_of, flows_of, queues_of, side
from scenarios import SMALL

if TYPE_CHECKING:
    from command import Command
    from floodway.results import Result
    from floodway_lab.validation import Row

ROOT = os.environ.get("FLOODWAY_REFERENCE")
REFERENCE = Path(ROOT or ".", "reference", "ns3")
needs_reference = pytest.mark.skipif(
    ROOT is None, reason="FLOODWAY_REFERENCE names no folder with the HPCC simulator's results"
)


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let every run be a small one whose export is the reference with times multiplied by the first value."""
    by = [1.0]
    scenario = package.Scenario.from_toml(SMALL)
    cases: dict[str, Case] = {}

    def scenario_of(case: Case) -> package.Scenario:
        name = f"{case.name}-{case.tag}"
        cases[name] = case
        return scenario.replace(name=name)

    def export(result: Result, _: package.Scenario, folder: Path) -> None:
        result.save(folder, force=True)
        case = cases[result.run.name]
        lines = [line.split() for line in case.flows.read_text(encoding="utf-8").splitlines()]
        changed = [[*words[:6], str(round(int(words[6]) * by[0])), words[7]] for words in lines]
        (folder / "fct.txt").write_text(
            "".join(" ".join(words) + "\n" for words in changed), encoding="utf-8"
        )
        shutil.copy(str(case.pauses), folder / "pfc.txt")

    monkeypatch.setattr(validating, "scenario_of", scenario_of)
    monkeypatch.setattr(validating, "export", export)
    return by


def test_cases_that_are_not_equal_are_run_as_often_as_chance_decides_them(
    tmp_path: Path, runner: list[float]
) -> None:
    runner[0] = 1.004
    case_in(tmp_path / "cases", tag="hpcc")
    case_in(tmp_path / "cases", tag="dcqcn", mode=1)
    once = validate(tmp_path / "cases", seeds=3)
    verdicts = {case.case.tag: (case.seeds, case.verdict) for case in once.cases}
    assert verdicts == {"dcqcn": ((1,), "fail"), "hpcc": ((1,), "fail")}
    found = validate(tmp_path / "cases", seeds=3, other_build=True, out=tmp_path / "out")
    assert {case.case.tag: (case.seeds, case.verdict) for case in found.cases} == {
        "dcqcn": ((1, 2, 3), "pass"),
        "hpcc": ((1,), "pass"),
    }
    assert found.verdict == "pass"
    assert all(len(case.wall_s) == len(case.seeds) for case in found.cases)
    kept = sorted(file.parent.relative_to(tmp_path / "out").as_posix() for file in tmp_path.rglob("fct.txt"))
    assert kept == ["cases-dcqcn/seed-1", "cases-dcqcn/seed-2", "cases-dcqcn/seed-3", "cases-hpcc/seed-1"]
    written = json.loads((tmp_path / "out" / "validate.json").read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(document(found)))


@pytest.mark.usefixtures("runner")
def test_what_is_equal_is_run_once_and_passes(tmp_path: Path) -> None:
    case_in(tmp_path / "cases", tag="dcqcn", mode=1)
    case_in(tmp_path / "cases", tag="tied", flows=FLOWS_TEXT.replace("2000002000", "2000000000"))
    found = validate(tmp_path / "cases", seeds=3)
    assert [(case.seeds, case.equal, case.verdict) for case in found.cases] == [((1,), True, "pass")] * 2


@pytest.mark.usefixtures("runner")
def test_an_earlier_validation_is_replaced_only_on_demand(tmp_path: Path) -> None:
    folder, out = case_in(tmp_path / "case", mode=1), tmp_path / "out"
    validate(folder, seeds=2, out=out)
    (out / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="holds a validation already; --force replaces it"):
        validate(folder, out=out)
    validate(folder, seeds=1, out=out, force=True)
    assert sorted(entry.name for entry in (out / "case-hpcc").iterdir()) == ["seed-1"]
    assert (out / "mine.txt").is_file()
    with pytest.raises(OutputError, match="holds something other than a validation"):
        validate(folder, out=folder, force=True)


def test_a_quick_look_leaves_out_what_is_long(tmp_path: Path, runner: list[float]) -> None:
    runner[0] = 1.004
    long = FLOWS_TEXT.replace(" 2000000 ", " 2000000000 ")
    case_in(tmp_path / "cases", tag="long", flows=long)
    case_in(tmp_path / "cases", tag="short", mode=1)
    case_in(tmp_path / "cases", tag="tied", flows=FLOWS_TEXT.replace("2000002000", "2000000000"))
    cases = validate(tmp_path / "cases", quick=True, other_build=True).cases
    found = {case.case.tag: case for case in cases}
    assert found["long"].not_run == "left out of the quick version: 2.0 GB of payload"
    assert found["long"].verdict == "not run"
    assert found["short"].seeds == (1, 2, 3, 4, 5)
    assert found["tied"].seeds == (1,)


@pytest.mark.usefixtures("runner")
def test_patterns_choose_cases(tmp_path: Path) -> None:
    case_in(tmp_path / "cases", tag="hpcc")
    case_in(tmp_path / "cases", tag="timely", mode=7)
    assert [case.case.tag for case in validate(tmp_path / "cases", only=["*/t*"]).cases] == ["timely"]
    with pytest.raises(
        ValidationError, match=r"'cases/timley' matches none of the cases.*did you mean cases/timely"
    ):
        validate(tmp_path / "cases", only=["cases/timley"])


def test_what_a_configuration_asks_in_vain_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (case,) = cases_of(case_in(tmp_path / "case"))
    fault = Fault(text="config_hpcc.txt:9: ENABLE_IRN 1 is not there yet", file=str(case.config), line=9)

    def refuse(_: Case) -> package.Scenario:
        raise ScenarioError((fault,))

    monkeypatch.setattr(validating, "scenario_of", refuse)
    found = validate(tmp_path / "case")
    assert (found.verdict, found.cases[0].not_run) == ("not run", fault.text)
    elsewhere = replace(fault, file=str(tmp_path / "topology.txt"))
    assert refusal_of(case, ScenarioError((elsewhere,))) is None
    assert refusal_of(case, ScenarioError((fault, elsewhere))) is None
    missing = replace(fault, key="FLOW_FILE")
    assert refusal_of(case, ScenarioError((missing,))) is None


def test_the_verdict_is_reported_and_is_the_exit_code(
    tmp_path: Path, runner: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case_in(tmp_path / "case")
    code, out, err = run_app("case", "--quiet")
    assert (code, out, err) == (0, "", "")
    _, out, _ = run_app("case", "--force")
    assert "FCT within 0.5 %" not in out
    assert "1 configuration: 1 pass; 1 equal to the nanosecond" in out
    runner[0] = 1.03
    code, out, err = run_app("case", "--force")
    assert code == 1
    assert "median signed difference" not in out
    assert "1 configuration: 1 fail; 0 equal to the nanosecond; 1 runs" in out
    first = "first difference 5,000 ns after the first start: flow 0:10000 to 256:100, 1,000 bytes"
    assert first in out
    assert "median signed difference" in run_app("case", "--force", "--full")[1]
    assert "error: case/hpcc: FCT equal to the ns\n" in err
    assert "--other-build" in err
    code, _, err = run_app("case", "--force", "--other-build")
    assert code == 1
    assert "error: case/hpcc: FCT within 0.5 %; largest difference of an FCT" in err
    runner[0] = 1.004
    code, out, _ = run_app("case", "--force", "--other-build")
    assert (code, "pass, within bounds: nothing left to chance" in " ".join(out.split())) == (0, True)
    assert run_app("case", "--force", "--quiet")[0] == 1


def run_app(*arguments: str) -> tuple[int, str, str]:
    """Call the verb in this process, where runs are made up."""
    codes: list[int] = []

    def call() -> None:
        codes.append(app(["validate", *arguments], prog_name="floodway", standalone_mode=False))

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        call()
    return codes[0], out.getvalue(), err.getvalue()


def test_a_folder_without_cases_is_bad_usage(floodway: Command, tmp_path: Path) -> None:
    done = floodway("validate", "nothing")
    assert (done.code, done.out) == (2, "")
    assert done.err == "error: nothing: no such folder\n"
    case_in(tmp_path / "case", flows="1 2 3\n")
    done = floodway("validate", "case")
    assert done.code == 2
    columns = "source destination source_port destination_port size_bytes start_ns fct_ns standalone_ns"
    assert done.err == f"error: case/fct_hpcc.txt:1: expected 8 columns ({columns}), got 3\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("page.md", "mine", "page.md: has no lines <!-- begin: validation --> and"),
        ("page", "", "page: is not a page: its name does not end with .md"),
    ],
)
def test_a_page_that_cannot_be_written_is_reported_before_the_first_run(
    floodway: Command, tmp_path: Path, name: str, text: str, message: str
) -> None:
    case_in(tmp_path / "case")
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = floodway("validate", "case", "--report", name)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {message}")
    assert not (tmp_path / "out").exists()


def test_json_pictures_and_a_page_are_written(
    tmp_path: Path, runner: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runner[0] = 1.004
    case_in(tmp_path / "case", mode=1)
    code, out, _ = run_app(
        *("case", "--json", "--seeds", "2", "--plot", "--report", "page.md", "--out", "there"),
        "--other-build",
    )
    printed = json.loads(out)
    assert (code, printed["verdict"], printed["counts"]) == (0, "pass", {"pass": 1})
    assert printed["cases"][0]["seeds"] == [1, 2]
    assert {file.name for file in (tmp_path / "there").glob("case-*.*")} == {
        "case-fct.csv",
        "case-fct.png",
        "case-slowdown.csv",
        "case-slowdown.png",
    }
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert "| case/hpcc | 3 | 0 % | 0.40 % | +0.40 % | 0 (0) |" in page
    assert "| median difference of FCTs | - | 0.40 % | - | ≤ 2 % | pass |" in page
    # With few flows a page has no picture of them.
    assert "](page/" not in page


def validation_of(*ours: Side) -> Validation:
    expected = side(flows_of(range(100, 400)), queues=queues_of({5: 2000}))
    case = CaseResult(
        reference=Reference(case=case_of(marks=False), side=expected),
        seeds=tuple(range(len(ours))),
        sides=ours,
        wall_s=(1.0,) * len(ours),
    )
    return Validation(cases=(case,), failures=(), complete=True)


def test_a_page_keeps_what_stands_outside_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(f"before\n\n{BEGIN}\nold\n{END}\n\nafter\n", encoding="utf-8")
    ours = side(flows_of(range(100, 400)), queues=queues_of({5: 2000}))
    written = write_report(validation_of(ours), page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"before\n\n{BEGIN}\n| case/configuration | flows |")
    assert "1 pass; 1 equal to the nanosecond" in text
    assert "](page/made-up-fct.png)" in text
    assert text.endswith(f"{END}\n\nafter\n")
    assert "old" not in text
    assert [file.name for file in written] == [
        "page.md",
        "made-up-slowdown.png",
        "made-up-fct.png",
        "made-up-queues.png",
    ]
    before = {file: file.read_bytes() for file in written}
    assert {file: file.read_bytes() for file in write_report(validation_of(ours), page)} == before


def test_a_page_without_marks_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="has no lines"):
        write_report(validation_of(side(flows_of(range(100, 400)))), page)
    assert page.read_text(encoding="utf-8") == "mine"


def test_pictures_are_left_out_where_there_is_nothing_to_show(tmp_path: Path) -> None:
    drawn = draw_into(validation_of(side(flows_of(range(100, 400)))).cases, tmp_path)
    assert [file.name for file in drawn] == [
        "made-up-slowdown.png",
        "made-up-slowdown.csv",
        "made-up-fct.png",
        "made-up-fct.csv",
    ]
    assert draw_into((), tmp_path) == []


@needs_reference
def test_the_reference_keeps_within_every_bound_of_itself() -> None:
    cases = cases_of(REFERENCE)
    assert {case.name for case in cases} >= {"c1_incast", "c1_incast_pfc", "c2_mercury_small", "c7_fattree16"}
    for case in cases:
        reference = Reference.of(case)
        rows = compared_rows(reference)
        assert {row.verdict for row in rows} <= {"pass", "shown"}, case.label
        assert all(not row.difference for row in rows), case.label


def compared_rows(reference: Reference) -> list[Row]:
    return list(compare_sides(reference, [reference.side]))


@needs_reference
def test_the_reference_s_cases_are_of_the_kinds_that_its_notes_tell() -> None:
    kinds = {case.label: Reference.of(case).chance for case in cases_of(REFERENCE)}
    assert kinds["c1_incast/timely"] == kinds["c1_incast_pfc/hpcc"] == "tied"
    assert kinds["c7_fattree16/hpcc"] == kinds["c7_fattree16/timely"] == "exact"
    assert {kind for label, kind in kinds.items() if "dcqcn" in label} == {"random"}


@needs_reference
def test_one_algorithm_is_not_taken_for_another() -> None:
    sides = {case.tag: Reference.of(case) for case in cases_of(REFERENCE / "c7_fattree16")}
    for tag, reference in sides.items():
        for other, ours in sides.items():
            for asked in (reference, replace(reference, other_build=True)):
                rows = list(compare_sides(asked, [ours.side]))
                assert any(row.verdict == "fail" for row in rows) == (tag != other)
