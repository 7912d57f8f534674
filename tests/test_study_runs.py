from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import floodway as package
from command import environment, limited_files, until
from floodway.cli import app as cli
from floodway.cli import study as studying
from floodway.cli.pictures import PictureOptions
from floodway.results.digests import sealed
from floodway.results.verification import verified_all
from floodway.scenarios import keys
from floodway.study import conduct, expected_minutes, load_study, plan_of, states_of
from floodway.study.running.storage import StudyFolder
from floodway_lab.cli import reproduce as reproducing
from floodway_lab.study.report.report import TIMES
from scenarios import LONG, SMALL
from studies import BRIEF, study_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from command import Command

#: Runs of some tenths of a second, so that a study can be met in its middle.
SLOWER = SMALL.replace('"2ms"', '"20ms"').replace('"20ms"\ntopology', '"60ms"\ntopology')
#: A list of one flow.
FLOWS = "source,destination,size_bytes,start_us\nh1,h3,1000,0\n"


def keys_of(folder: Path) -> dict[str, int]:
    """Keys of the runs that are whole, each with the time of its mark."""
    return {mark.parent.name: mark.stat().st_mtime_ns for mark in folder.glob("runs/*/run.json")}


def report_of(folder: Path) -> dict[str, bytes]:
    """All that a study writes beside its runs, without how long they took."""
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    page = files.pop("index.html").decode()
    text = files.pop("report.md").decode()
    assert TIMES in text
    files["report.md"] = text[: text.index(TIMES)].encode()
    files["index.html"] = page[: page.index(TIMES.removeprefix("## "))].encode()
    return files


def plan_in(folder: Path, text: str = BRIEF) -> Any:  # noqa: ANN401 (a plan)
    return plan_of([load_study(study_file(folder, text))])


def listed_in(folder: Path) -> str:
    """Write the list of a scenario of one flow into a folder; return the scenario's text."""
    (folder / "flows.csv").write_text(FLOWS, encoding="utf-8")
    workload = '[[workload]]\nname = "list"\nflow-list = { file = "flows.csv" }\n'
    return SMALL[: SMALL.index("[[workload]]")] + workload


def test_a_key_changes_with_what_decides_a_result_and_with_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = listed_in(tmp_path)
    (tmp_path / "s.toml").write_text(listed, encoding="utf-8")

    def key(text: str = listed, *, name: str = "s", seed: int = 1) -> str:
        file = tmp_path / f"{name}.toml"
        file.write_text(text, encoding="utf-8")
        return keys.key_of(package.load(file).with_seed(seed), tmp_path)

    first = key()
    assert key() == first
    assert key("# A comment moves every line.\n" + listed) == first
    assert key(name="other") == first
    assert key(seed=2) != first
    assert key(listed.replace("10MB", "11MB")) != first
    (tmp_path / "flows.csv").write_text(FLOWS.replace("1000", "2000"), encoding="utf-8")
    changed = key()
    assert changed != first
    monkeypatch.setattr(keys, "engine", lambda: "another")
    assert key() != changed


def test_a_scenario_as_written_has_a_key_without_seed_and_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = listed_in(tmp_path)

    def key(text: str = listed, *, seed: int = 1) -> str:
        file = tmp_path / "s.toml"
        file.write_text(text, encoding="utf-8")
        return keys.written_key_of(package.load(file).with_seed(seed), tmp_path)

    first = key()
    assert key(f"# A comment.\nseed = 3\n{listed}", seed=2) == first
    assert key(listed.replace("10MB", "11MB")) != first
    monkeypatch.setattr(keys, "engine", lambda: "another")
    assert key() == first
    (tmp_path / "flows.csv").write_text(FLOWS.replace("1000", "2000"), encoding="utf-8")
    assert key() != first


def test_the_engine_is_known_by_its_version_and_its_native_half() -> None:
    version, plus, digest = keys.engine().partition("+")
    assert (version, plus, len(digest)) == (package.__version__, "+", 16)


def test_a_second_call_runs_nothing_and_leaves_the_same_bytes(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, BRIEF)
    first = floodway("study", "pools.toml", "--out", "out")
    assert first.code == 0
    assert "Pools: 8 runs, how long that takes is not known yet" in first.err
    runs_before, report = keys_of(tmp_path / "out"), report_of(tmp_path / "out")
    second = floodway("study", "pools.toml", "--out", "out")
    assert second.code == 0
    assert second.err == "Pools: all 8 runs are in out/\n"
    assert second.out == first.out
    assert len(runs_before) == 8
    assert keys_of(tmp_path / "out") == runs_before
    assert report_of(tmp_path / "out") == report
    forced = floodway("study", "pools.toml", "--out", "out", "--force", "--quiet")
    assert (forced.code, forced.err) == (0, "")
    assert set(keys_of(tmp_path / "out").values()).isdisjoint(runs_before.values())
    assert report_of(tmp_path / "out") == report


@pytest.mark.long
def test_the_full_size_goes_on_from_the_quick_version(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, BRIEF)
    assert floodway("study", "pools.toml", "--out", "out", "--quick", "--quiet").code == 0
    few = keys_of(tmp_path / "out")
    assert len(few) == 2
    done = floodway("study", "pools.toml", "--out", "out")
    assert "Pools: 6 of 8 runs, less than a minute" in done.err
    assert few.items() <= keys_of(tmp_path / "out").items()


@pytest.mark.long
def test_after_a_kill_only_what_was_unfinished_is_run_and_the_report_is_the_same(
    tmp_path: Path, floodway: Command
) -> None:
    study_file(tmp_path, scenario=SLOWER)
    line = floodway.line("study", "pools.toml", "--out", "cut", "--jobs", "2")
    with subprocess.Popen(
        line, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    ) as running:
        until(lambda: len(keys_of(tmp_path / "cut")) >= 3, "three runs")
        running.kill()
    whole = keys_of(tmp_path / "cut")
    assert 3 <= len(whole) < 8
    # What was at work when it was killed may have left something.
    (tmp_path / "cut" / "runs" / f".{'0' * 64}.floodway").mkdir()
    (tmp_path / "cut" / "runs" / f".{'0' * 64}.floodway" / "new").mkdir()
    again = floodway("study", "pools.toml", "--out", "cut")
    assert again.code == 0
    assert f"Pools: {8 - len(whole)} of 8 runs, " in again.err
    assert whole.items() <= keys_of(tmp_path / "cut").items()
    assert not [entry.name for entry in (tmp_path / "cut" / "runs").iterdir() if entry.name.startswith(".")]
    assert floodway("study", "pools.toml", "--out", "whole", "--quiet").code == 0
    assert report_of(tmp_path / "cut") == report_of(tmp_path / "whole")


def test_ctrl_c_ends_soon_keeps_what_had_ended_and_says_so(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, BRIEF.replace('"1 MB"', '"1 MB"\nscenario = "long.toml"'))
    (tmp_path / "long.toml").write_text(LONG, encoding="utf-8")
    line = floodway.line("study", "pools.toml", "--out", "out", "--jobs", "2")
    with subprocess.Popen(
        line, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        until(lambda: len(keys_of(tmp_path / "out")) == 4, "the four short runs")
        running.send_signal(signal.SIGINT)
        sent = time.monotonic()
        out, err = running.communicate()
    assert (running.returncode, out) == (130, "")
    assert time.monotonic() - sent < 10, "a second, and what a busy machine takes to end processes"
    last = "interrupted; 4 of 8 runs are kept in out/, and the same command continues from there"
    assert err.splitlines()[-1] == last
    assert len(keys_of(tmp_path / "out")) == 4
    status = floodway("study", "pools.toml", "--out", "out", "--status")
    assert status.out.splitlines()[0] == "out: 8 runs: 4 done, 0 failed, 4 to do"
    assert re.search(r"^ +pools +large +4 *$", status.out, re.MULTILINE)
    assert re.search(r"^ +little +4 *$", status.out, re.MULTILINE)


def workers_of(pid: int) -> list[str]:
    """Of all threads of a process."""
    children = Path(f"/proc/{pid}/task").glob("*/children")
    return [child for file in children for child in file.read_text(encoding="utf-8").split()]


@pytest.mark.long
def test_a_killed_worker_is_a_failed_run_and_the_others_go_on(tmp_path: Path, floodway: Command) -> None:
    text = BRIEF.replace("seeds = 2", "seeds = 1").replace('"1 MB"', '"1 MB"\nscenario = "long.toml"')
    study_file(tmp_path, text.replace("values = [0.2, 0.4]", "values = [0.4, 0.2]"))
    (tmp_path / "long.toml").write_text(LONG, encoding="utf-8")
    line = floodway.line("study", "pools.toml", "--out", "out", "--jobs", "1")
    with subprocess.Popen(
        line, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        for _ in range(2):
            # Both of the long runs, one after the other.
            until(lambda: len(keys_of(tmp_path / "out")) == 2, "the two short runs")
            until(lambda: len(workers_of(running.pid)) == 1, "a worker")
            (worker,) = workers_of(running.pid)
            time.sleep(0.3)
            os.kill(int(worker), signal.SIGKILL)
            until(lambda gone=worker: not Path(f"/proc/{gone}").exists(), "its end")  # type: ignore[misc]
            time.sleep(0.5)
        out, err = running.communicate()
    assert running.returncode == 1
    errors = [line for line in err.splitlines() if line.startswith("error: ")]
    assert errors == [
        f"error: little, load={load}, seed 1: its process was killed by SIGKILL" for load in ("0.4", "0.2")
    ]
    assert "not run" in out
    document = json.loads((tmp_path / "out" / "study.json").read_text(encoding="utf-8"))
    verdicts = [claim["verdict"] for claim in document["studies"][0]["claims"]]
    assert verdicts == ["not run", "not decided"]
    status = floodway("study", "pools.toml", "--out", "out", "--status")
    assert status.out.splitlines()[0] == "out: 4 runs: 2 done, 2 failed, 0 to do"
    # Runs that failed for one reason are told together.
    said = "  failed: pools: little, load=0.4, seed 1 and 1 more: its process was killed by SIGKILL"
    assert status.out.splitlines()[-1] == said


def test_a_run_that_fails_is_named_and_tried_again(tmp_path: Path) -> None:
    study_file(tmp_path, BRIEF)
    text = BRIEF.replace('"1 MB"', '"1 MB"\nscenario = "other.toml"')
    (tmp_path / "other.toml").write_text(SMALL, encoding="utf-8")
    plan = plan_in(tmp_path, text)
    (tmp_path / "other.toml").rename(tmp_path / "away.toml")
    said: list[str] = []
    conducted = conduct(plan, out=tmp_path / "out", jobs=2, on_message=said.append)
    assert conducted.complete
    failed = {run.key: run.label for run in plan.runs if run.variant == "little"}
    assert set(conducted.failures) == set(failed)
    assert all("cannot read" in error for error in conducted.failures.values())
    assert sorted(line.split(": ")[0] for line in said) == sorted(failed.values())
    assert set(states_of(plan, tmp_path / "out").values()) == {"done", "failed"}
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "- little, load=0.2, seed 1: failed: " in report
    (tmp_path / "away.toml").rename(tmp_path / "other.toml")
    again = conduct(plan, out=tmp_path / "out", jobs=2)
    assert not again.failures
    assert set(states_of(plan, tmp_path / "out").values()) == {"done"}


def remarked(run: Path, **more: str) -> None:
    """Replace the key of a run by another one, or by none."""
    file = run / "run.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    del document["key"], document["sha256"]
    file.write_text(json.dumps(sealed({**document, **more})), encoding="utf-8")


def changed(file: Path) -> None:
    """Change a byte in the middle of a file."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def altered(file: Path) -> None:
    """Change a number in a file of JSON."""
    document = json.loads(file.read_text(encoding="utf-8"))
    document["verdicts"]["packet_hops"] += 1
    file.write_text(json.dumps(document), encoding="utf-8")


def harms(run: Path) -> dict[str, Callable[[], object]]:
    """Return what may happen to the folder of a run, by what is said of it."""
    return {
        "flows.parquet has changed": lambda: changed(run / "flows.parquet"),
        "series.parquet is missing": (run / "series.parquet").unlink,
        "run.json has changed": lambda: altered(run / "run.json"),
        "run.json has no key": lambda: remarked(run),
        f"run.json belongs to another run, {'0' * 12}": lambda: remarked(run, key="0" * 64),
    }


@pytest.mark.long
def test_a_run_that_is_not_whole_is_run_again(tmp_path: Path) -> None:
    plan, out = plan_in(tmp_path, BRIEF.replace("seeds = 2", "seeds = 1")), tmp_path / "out"
    conduct(plan, out=out, jobs=2)
    before, report, harmed = keys_of(out), report_of(out), plan.runs[1]
    for said, harm in harms(out / "runs" / harmed.key).items():
        harm()
        messages: list[str] = []
        again = conduct(plan, out=out, jobs=2, on_message=messages.append)
        assert messages == [f"{harmed.label}: {said}; it is run again"]
        assert again.complete
        kept = {key: made for key, made in before.items() if key != harmed.key}
        assert kept.items() <= keys_of(out).items()
        assert harmed.key in keys_of(out)
        assert report_of(out) == report


def test_a_study_whose_disk_is_full_ends_at_once_and_goes_on_when_there_is_room(
    tmp_path: Path, floodway: Command
) -> None:
    study_file(tmp_path, BRIEF)
    with limited_files(6000):
        done = floodway("study", "pools.toml", "--out", "out", "--jobs", "1")
    assert done.code == 1
    assert ": done in " not in done.err
    assert done.err.splitlines()[-1] == (
        "error: out: large, load=0.2, seed 1: cannot be written: File too large; completed runs are "
        "kept, and the same command continues once that is fixed"
    )
    assert not list((tmp_path / "out").rglob(".*"))
    assert floodway("study", "pools.toml", "--out", "out", "--quiet").code == 0


def test_what_is_not_a_study_s_is_never_touched(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, BRIEF)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("mine", encoding="utf-8")
    for force in ([], ["--force"]):
        done = floodway("study", "pools.toml", "--out", "mine", "--quiet", *force)
        assert (done.code, done.out) == (2, "")
        assert done.err == "error: mine: holds something other than a study; choose another folder\n"
    assert [entry.name for entry in (tmp_path / "mine").iterdir()] == ["thesis.tex"]
    assert floodway("study", "pools.toml", "--out", "small.toml", "--quiet").err == (
        "error: small.toml: is not a folder\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\xff",
        "[]",
        "{}",
        '{"complete": true}',
        '{"title": "my survey", "answers": [1, 2]}',
        '{"complete": "yes", "engine": "V8"}',
        '{"complete": true, "engine": 8}',
        pytest.param("[" * 50_000, id="one that nests too deep"),
    ],
)
def test_another_program_s_study_file_is_never_touched(tmp_path: Path, floodway: Command, text: str) -> None:
    study_file(tmp_path, BRIEF)
    (tmp_path / "mine").mkdir()
    for name in ("study.json", "report.md"):
        (tmp_path / "mine" / name).write_text(text, encoding="latin-1")
    for force in ([], ["--force"]):
        done = floodway("study", "pools.toml", "--out", "mine", "--quick", "--quiet", *force)
        assert (done.code, done.out) == (2, "")
        assert done.err == (
            "error: mine: holds a study.json that floodway did not write; choose another folder\n"
        )
    files = {entry.name: entry.read_text(encoding="latin-1") for entry in (tmp_path / "mine").iterdir()}
    assert files == {"study.json": text, "report.md": text}


@pytest.mark.long
def test_pipes_in_the_place_of_files_are_refused_or_replaced_and_nothing_waits_for_them(
    tmp_path: Path, floodway: Command
) -> None:
    plan, out = plan_in(tmp_path, BRIEF.replace("seeds = 2", "seeds = 1")), tmp_path / "out"
    conduct(plan, out=out, jobs=2)
    key = plan.runs[0].key
    shutil.rmtree(out / "runs" / key)
    os.mkfifo(out / "runs" / f"{key}.failed")
    os.mkfifo(out / ".study.json.floodway-new")
    assert states_of(plan, out)[key] == "to do"
    assert conduct(plan, out=out, jobs=2).complete
    assert not (out / "runs" / f"{key}.failed").exists()
    (out / "study.json").unlink()
    os.mkfifo(out / "study.json")
    for force in ([], ["--force"]):
        done = floodway("study", "pools.toml", "--out", "out", "--quiet", *force)
        assert (done.code, done.out) == (2, "")
        assert done.err == "error: out: holds something other than a study; choose another folder\n"


@pytest.mark.long
def test_pictures_that_cannot_be_written_are_a_failure_and_the_runs_are_kept(
    tmp_path: Path, floodway: Command
) -> None:
    picture = '[[plot]]\nname = "1"\nkind = "bars"\nmetric = "fct-p99"\nx = "load"\n'
    study_file(tmp_path, f"{BRIEF}\n{picture}".replace("seeds = 2", "seeds = 1"))
    with limited_files(16_000):
        done = floodway("study", "pools.toml", "--out", "out", "--quiet")
    assert done.code == 1
    assert done.err == (
        "error: out/1.png: cannot be written: File too large; completed runs are kept, and the same "
        "command continues once that is fixed\n"
    )
    runs = keys_of(tmp_path / "out")
    assert len(runs) == 4
    assert floodway("study", "pools.toml", "--out", "out", "--quiet").code == 0
    assert keys_of(tmp_path / "out") == runs


def test_a_folder_is_a_study_s_from_its_begin_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    # As a study that was killed as it began leaves it.
    (tmp_path / "out" / ".study.json.floodway-new").write_text("{", encoding="utf-8")
    with StudyFolder(tmp_path / "out"):
        begun = json.loads((tmp_path / "out" / "study.json").read_text(encoding="utf-8"))
    assert begun == {"complete": False, "engine": keys.engine()}
    assert not (tmp_path / "out" / ".study.json.floodway-new").exists()
    plan = plan_in(tmp_path, BRIEF.replace("seeds = 2", "seeds = 1"))
    for _ in range(2):
        assert conduct(plan, out=tmp_path / "out", jobs=2).complete


def test_where_nothing_can_be_made_beside_a_folder_the_lock_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setattr(os, "access", lambda path, _: Path(path) != tmp_path)
    with StudyFolder(out):
        assert (out / ".floodway" / "lock").is_file()
        with pytest.raises(package.OutputError, match=f"is in use: process {os.getpid()} "):
            StudyFolder(out)
    # A folder of runs that stays empty goes again.
    assert [entry.name for entry in out.iterdir()] == ["study.json"]
    assert [entry.name for entry in tmp_path.iterdir()] == ["out"]


def test_a_run_under_another_s_key_is_named_and_run_again(tmp_path: Path) -> None:
    plan, out = plan_in(tmp_path, BRIEF.replace("seeds = 2", "seeds = 1")), tmp_path / "out"
    conduct(plan, out=out, jobs=2)
    report, one, other = report_of(out), plan.runs[0], plan.runs[1]
    shutil.rmtree(out / "runs" / one.key)
    shutil.copytree(out / "runs" / other.key, out / "runs" / one.key)
    assert states_of(plan, out)[one.key] == "to do"
    messages: list[str] = []
    again = conduct(plan, out=out, jobs=2, on_message=messages.append)
    assert messages == [f"{one.label}: run.json belongs to another run, {other.key[:12]}; it is run again"]
    assert again.complete
    assert report_of(out) == report
    assert not any(found.faults for found in verified_all(out))
    shutil.rmtree(out / "runs" / one.key)
    shutil.copytree(out / "runs" / other.key, out / "runs" / one.key)
    faults = {found.folder.name: found.faults for found in verified_all(out) if found.faults}
    assert faults == {one.key: ("run.json belongs to another run",)}


def test_something_else_in_the_place_of_a_run_is_named_and_kept(tmp_path: Path) -> None:
    plan = plan_in(tmp_path)
    conduct(plan, out=tmp_path / "out", jobs=2)
    place = tmp_path / "out" / "runs" / plan.runs[0].key
    shutil.rmtree(place)
    place.mkdir()
    (place / "notes.txt").write_text("mine", encoding="utf-8")
    for force in (False, True):
        with pytest.raises(package.OutputError, match="holds something else; move it away"):
            conduct(plan, out=tmp_path / "out", force=force)
    assert (place / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.long
def test_two_studies_at_once_on_a_folder_are_refused(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, BRIEF, scenario=LONG)
    line = floodway.line("study", "pools.toml", "--out", "out", "--quiet")
    with subprocess.Popen(line, cwd=tmp_path, env=environment()) as running:
        until((tmp_path / "out" / "runs").is_dir, "its begin")
        done = floodway("study", "pools.toml", "--out", "out", "--quiet")
        assert (done.code, done.out) == (2, "")
        assert re.fullmatch(
            rf"error: out: is in use: process {running.pid} has been writing there since [-0-9T:+]+; "
            "wait for its end, or choose another folder\n",
            done.err,
        )
        running.send_signal(signal.SIGTERM)
    assert running.returncode == 143


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--seeds", "0"], "'0' is neither a number of seeds nor a list like 1,2,7"),
        (["--seeds", "1,1"], "'1,1' is neither a number of seeds nor a list like 1,2,7"),
        (["--seeds", "x"], "'x' is neither a number of seeds nor a list like 1,2,7"),
        (["pools.toml", "--out", "out"], "invalid value for --out: is one folder, and 2 studies are given"),
    ],
)
def test_bad_usage_is_reported_before_anything_runs(
    tmp_path: Path, floodway: Command, given: list[str], said: str
) -> None:
    study_file(tmp_path, BRIEF)
    done = floodway("study", "pools.toml", *given)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("verb", ["study", "reproduce"])
def test_both_verbs_take_the_same_options(monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    asked: list[studying.Request] = []
    module = reproducing if verb == "reproduce" else studying
    monkeypatch.setattr(module, verb, lambda _, request: asked.append(request))
    nothing = studying.Request(
        out=None, jobs=None, seeds=None, quick=False, status=False, force=False, quiet=False, json=False
    )
    options: dict[str, tuple[list[str], object]] = {
        "out": (["--out", "x"], Path("x")),
        "jobs": (["--jobs", "3"], 3),
        "seeds": (["--seeds", "7,9"], (7, 9)),
        "pictures": (
            [
                *("--format", "svg,pdf", "--width", "3.4", "--font-size", "8"),
                *("--log", "x,y", "--no-note", "--title", ""),
            ],
            PictureOptions(
                formats=("svg", "pdf"), width_in=3.4, font_pt=8.0, title="", log=("x", "y"), note=False
            ),
        ),
        **{each: ([f"--{each}"], True) for each in ("quick", "status", "force", "quiet", "json")},
    }
    for given, _ in [([], None), *options.values()]:
        cli.app([verb, "any", *given], standalone_mode=False)
    assert asked == [nothing, *(replace(nothing, **{name: to}) for name, (_, to) in options.items())]  # type: ignore[arg-type]


@pytest.mark.parametrize(("quick", "minutes"), [(False, 10.0), (True, 10.0)])
def test_the_time_of_runs_that_studies_share_counts_once(
    tmp_path: Path, *, quick: bool, minutes: float
) -> None:
    # Without a quick version of its own, a study takes as long in both.
    plain = BRIEF.replace("quick = [0.2]\n", "").replace("[quick]\nseeds = 1\n", "")
    text = f"minutes = 10\n{plain}"
    (tmp_path / "other").mkdir()
    both = [load_study(study_file(folder, text)) for folder in (tmp_path, tmp_path / "other")]
    plan = plan_of(both, quick=quick)
    assert expected_minutes(plan, tmp_path, states=states_of(plan, tmp_path), jobs=2) == minutes
    assert expected_minutes(plan, tmp_path, states=states_of(plan, tmp_path), jobs=1) == 2 * minutes


def test_seeds_of_the_command_line_stand_for_those_of_the_study(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, BRIEF)
    done = floodway("study", "pools.toml", "--status", "--seeds", "7,9", "--json")
    seeds = {row["run"].rpartition(" ")[2] for row in json.loads(done.out)}
    assert (done.code, seeds) == (0, {"7", "9"})
    assert not (tmp_path / "out").exists()
