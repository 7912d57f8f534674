"""Numbers that the repository keeps: claims are judged by them as by the runs, and what does not count."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from command import environment
from floodway import OutputError
from floodway.scenarios import keys
from floodway.study import Conducted, Study, conduct, plan_of
from floodway.study.running.storage import Runs
from floodway_lab.reproduction.pages import Provenance, results_page
from floodway_lab.reproduction.paper import judge, take_in
from floodway_lab.reproduction.stored_numbers import StoredNumbers, file_of
from floodway_lab.study.named_studies import studies_of
from scenarios import SMALL
from studies import study_file

if TYPE_CHECKING:
    from pathlib import Path

#: Variants that pause, that lose packets and do not finish, and that fail; means, percentiles and counts.
LOSSY = """\
title = "Losses"
paper = "A paper"
scenario = "small.toml"
seeds = 3

[[variant]]
name = "pfc"

[[variant]]
name = "lossy"
label = "no flow control"
may-lose = true
set = { "defaults.flow-control" = "lossy", "defaults.buffer.shared.pool" = "5KB", "limit" = "2ms" }

[[variant]]
name = "broken"
scenario = "away.toml"

[metric.short-p99]
kind = "fct-p99"
size = ["0B", "10KB"]

[quick]
seeds = 1

[[claim]]
figure = "1"
says = "short flows are sooner with flow control"
metric = "short-p99"
variant = "pfc"
against = "lossy"
value = -10
without = "lossy"

[[claim]]
says = "nothing is lost with it"
metric = "drops"
variant = "pfc"
value = 0

[[claim]]
says = "the other one is no worse"
metric = "fct-mean"
variant = "pfc"
against = "broken"
value = 0
tolerance = 1

[[plot]]
name = "means"
kind = "bars"
metric = "fct-mean"
"""
CURVES = """\
title = "Curves"
paper = "A paper"
scenario = "small.toml"
seeds = 3

[[variant]]
name = "pfc"

[[claim]]
figure = "2"
says = "so many flows"
metric = "flows"
variant = "pfc"
value = 1
is = "at-least"

[[plot]]
name = "curves"
kind = "cdf"
of = "slowdown"
"""
SINCE = "by 2026-01-01, or have changed since; what needs them is not run."
MADE = Provenance(command="pages", date="2026-01-02", revision="def")


@dataclass(frozen=True)
class Paper:
    """A paper of two studies in a folder, with the pictures and numbers of its page."""

    folder: Path

    @property
    def results(self) -> Path:
        return self.folder / "out" / "reproduce" / "pools"

    @property
    def page(self) -> Path:
        return self.folder / "docs" / "reproduced" / "pools"

    @property
    def studies(self) -> tuple[Study, ...]:
        ((_, studies),) = studies_of(("pools",), self.folder / "studies")
        return studies

    def take_in(self, name: str) -> None:
        study = next(study for study in self.studies if study.name == name)
        take_in(
            study,
            self.results,
            self.page,
            date="2026-01-01",
            revision="abc",
            several=True,
            on_message=pytest.fail,
        )

    def judged(self) -> dict[str, Any]:
        found = judge(self.studies, self.page)
        assert found is not None
        return found

    def edit(self, study: str, old: str, new: str) -> None:
        file = self.folder / "studies" / "pools" / f"{study}.toml"
        text = file.read_text(encoding="utf-8")
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")

    def copy(self, folder: Path) -> Paper:
        return Paper(shutil.copytree(self.folder, folder / "copy"))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Paper, Conducted]:
    """Run both studies; the runs of one variant fail, and the numbers of both are kept."""
    paper = Paper(tmp_path_factory.mktemp("kept"))
    own = paper.folder / "studies" / "pools"
    own.mkdir(parents=True)
    study_file(own, LOSSY, name="losses")
    study_file(own, CURVES, name="curves")
    (own / "away.toml").write_text(SMALL.replace("0.4", "0.3"), encoding="utf-8")
    # Files that begin so are no studies.
    for scenario in ("small", "away"):
        for study in ("losses", "curves"):
            file = own / f"{study}.toml"
            text = file.read_text(encoding="utf-8")
            file.write_text(text.replace(f'"{scenario}.toml"', f'"_{scenario}.toml"'), encoding="utf-8")
        (own / f"{scenario}.toml").rename(own / f"_{scenario}.toml")
    plan = plan_of(paper.studies)
    (own / "_away.toml").rename(own / "_gone")
    conducted = conduct(plan, out=paper.results, jobs=2)
    (own / "_gone").rename(own / "_away.toml")
    for each in paper.studies:
        paper.take_in(each.name)
    return paper, conducted


def verdicts(found: dict[str, Any]) -> dict[str, str]:
    """Return the verdict of each claim by what it says."""
    return {claim["says"]: claim["verdict"] for study in found["studies"] for claim in study["claims"]}


def test_claims_are_judged_by_kept_numbers_as_by_the_runs(ran: tuple[Paper, Conducted]) -> None:
    paper, conducted = ran
    assert len(conducted.failures) == 3
    for part in conducted.parts:
        study, runs = part.study, part.numbers.runs
        kept = StoredNumbers.read(file_of(paper.page, study.name, quick=False)).numbers(study, runs)
        failures = {
            key: error for key, error in part.numbers.failures.items() if key in {run.key for run in runs}
        }
        assert kept == replace(part.numbers, failures=failures)
    losses = next(part.numbers for part in conducted.parts if part.study.name == "losses")
    assert any(each.lost for each in losses.facts.values())
    assert any(value.unfinished for value in losses.values["fct-mean"].values())
    assert all((value.flows or 0) > 1 for value in losses.values["short-p99"].values())
    document = json.loads((paper.results / "study.json").read_text(encoding="utf-8"))
    found = paper.judged()
    for key in ("counts", "glance"):
        assert found[key] == document[key]
    for own, other in zip(found["studies"], document["studies"], strict=True):
        for key in ("rows", "claims", "runs", "pictures", "readings"):
            assert own[key] == other[key]
    # Both studies have three of these runs.
    assert (found["lacks"], found["run_count"]) == ([], 6)


def test_the_engine_that_is_here_does_not_matter(
    ran: tuple[Paper, Conducted], monkeypatch: pytest.MonkeyPatch
) -> None:
    paper, _ = ran
    before = paper.judged()
    monkeypatch.setattr(keys, "engine", lambda: "another")
    after = paper.judged()
    assert {run["key"] for run in after["studies"][0]["runs"]}.isdisjoint(
        run["key"] for run in before["studies"][0]["runs"]
    )
    assert (verdicts(after), after["lacks"]) == (verdicts(before), [])


def test_runs_of_another_scenario_do_not_count(ran: tuple[Paper, Conducted], tmp_path: Path) -> None:
    paper = ran[0].copy(tmp_path)
    before = verdicts(paper.judged())
    paper.edit("losses", "5KB", "6KB")
    # A claim decides no run.
    paper.edit("curves", "value = 1", "value = 1e6")
    found = paper.judged()
    after = verdicts(found)
    assert found["lacks"] == [f"losses: 3 of 9 runs were not run {SINCE}"]
    short = "short flows are sooner with flow control"
    assert (before[short], after[short]) == ("unfinished", "not run")
    assert before["nothing is lost with it"] == after["nothing is lost with it"] == "agrees"
    assert (before["so many flows"], after["so many flows"]) == ("agrees", "differs")
    paper.edit("curves", "seeds = 3", "seeds = 4")
    found = paper.judged()
    assert "curves: 1 of 4 runs were not run" in found["lacks"][0]
    assert verdicts(found)["so many flows"] == "not run"
    # It is of runs of which some are no longer all that the study has.
    assert [study["pictures"] for study in found["studies"] if study["name"] == "curves"] == [[]]
    page = results_page("pools", found, None, MADE)
    assert f"losses: 3 of 9 runs were not run {SINCE}" in page


def test_a_file_that_a_scenario_reads_and_its_text_decide_which_run_it_is(
    ran: tuple[Paper, Conducted], tmp_path: Path
) -> None:
    paper = ran[0].copy(tmp_path)
    small = paper.folder / "studies" / "pools" / "_small.toml"
    small.write_text("# A comment.\n" + small.read_text(encoding="utf-8"), encoding="utf-8")
    assert paper.judged()["lacks"] == []
    small.write_text(SMALL.replace('"1us"', '"2us"'), encoding="utf-8")
    assert [line.partition(" were")[0] for line in paper.judged()["lacks"]] == [
        "curves: 3 of 3 runs",
        "losses: 6 of 9 runs",
    ]


def test_a_metric_that_is_of_something_else_now_does_not_count(
    ran: tuple[Paper, Conducted], tmp_path: Path
) -> None:
    paper = ran[0].copy(tmp_path)
    paper.edit("losses", '"10KB"', '"20KB"')
    found = paper.judged()
    assert found["lacks"] == [f"losses: the metrics short-p99 were not computed {SINCE}"]
    assert verdicts(found)["short flows are sooner with flow control"] == "not run"
    assert verdicts(found)["nothing is lost with it"] == "agrees"


def test_studies_without_numbers_are_named_and_their_pictures_stay(
    ran: tuple[Paper, Conducted], tmp_path: Path
) -> None:
    paper = ran[0].copy(tmp_path)
    file_of(paper.page, "curves", quick=False).unlink()
    (paper.page / "of-no-study.png").touch()
    found = paper.judged()
    assert verdicts(found)["so many flows"] == "not run"
    page = results_page("pools", found, None, MADE)
    first = page.split("## Figure by figure")[0]
    assert "No numbers are kept of curves: their statements are not run." in first
    assert "`floodway reproduce pools curves`: no numbers are kept" in page
    assert "[numbers](pools/numbers/losses.parquet) of 2026-01-01, revision abc" in page
    assert "![curves](pools/curves.png)" not in page
    assert (paper.page / "curves.png").exists()
    assert not (paper.page / "of-no-study.png").exists()
    file_of(paper.page, "losses", quick=False).unlink()
    assert judge(paper.studies, paper.page) is None


def test_a_file_that_has_no_numbers_is_refused(ran: tuple[Paper, Conducted], tmp_path: Path) -> None:
    paper = ran[0].copy(tmp_path)
    file = file_of(paper.page, "curves", quick=False)
    for content in (b"", b"PAR1 and so on PAR1", file.read_bytes()[:-100]):
        file.write_bytes(content)
        with pytest.raises(OutputError, match=r"curves\.parquet: has no numbers of a study: "):
            paper.judged()
    pl.DataFrame({"a": [1]}).write_parquet(file)
    with pytest.raises(OutputError, match=r"curves\.parquet: has no numbers of a study: "):
        paper.judged()


def test_an_unfinished_study_is_refused_and_others_are_kept(
    ran: tuple[Paper, Conducted], tmp_path: Path
) -> None:
    paper = ran[0].copy(tmp_path)
    shutil.rmtree(paper.page)
    part = next(part for part in ran[1].parts if part.study.name == "losses")
    Runs(paper.results / "runs").drop(part.numbers.runs[4].key)
    with pytest.raises(
        OutputError, match="1 of 9 runs of losses are missing, such as lossy, seed 2; `floodway"
    ):
        paper.take_in("losses")
    assert not paper.page.exists()
    paper.take_in("curves")
    assert [file.name for file in paper.page.rglob("*.*")] == ["curves.png", "curves.parquet"]


def test_the_commands_keep_what_is_finished_and_leave_pages_without_numbers_alone(
    ran: tuple[Paper, Conducted], tmp_path: Path
) -> None:
    paper = ran[0].copy(tmp_path)
    shutil.rmtree(paper.page)

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "floodway_lab.reproduction", *words]
        done = subprocess.run(
            line, cwd=paper.folder, env=environment(), capture_output=True, text=True, check=False
        )
        assert "Traceback" not in done.stderr
        return done

    page = paper.page.with_suffix(".md")
    page.parent.mkdir(exist_ok=True)
    page.write_text("an earlier page", encoding="utf-8")
    none = call("pages", "pools")
    assert (none.returncode, page.read_text(encoding="utf-8")) == (1, "an earlier page")
    assert "docs/reproduced/pools: keeps no numbers" in none.stderr
    # The quick form has a part of the same runs.
    quick = call("numbers", "pools", "--quick", "--out", "out/reproduce")
    assert (quick.returncode, quick.stdout, quick.stderr) == (0, "", "")
    done = call("numbers", "pools", "--engine", "fed")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert call("pages", "pools").returncode == 0
    text = page.read_text(encoding="utf-8")
    assert "This page is generated: `python -m floodway_lab.reproduction pages pools`" in text
    assert text.count(", revision fed") == 2
    assert "`--quick` judges " in text
