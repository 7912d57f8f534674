"""Shards: processes that divide the runs of one folder."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import floodway as package
from command import environment, until
from floodway.common.errors import ComparisonError, InputError, InUseError
from floodway.results.locks import Lock, SharedLock
from floodway.results.verification import verified_all
from floodway.simulation.shards import Shard
from floodway.study import conduct, load_study, plan_of, report_of
from floodway_lab.study.report.report import TIMES
from scenarios import SMALL
from studies import BRIEF, study_file

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

#: Sixteen runs of some tenths of a second, so that shards can be met in their middle.
STUDY = BRIEF.replace("seeds = 2", "seeds = 4")
SLOWER = SMALL.replace('"2ms"', '"20ms"').replace('"20ms"\ntopology', '"60ms"\ntopology')


def contents(folder: Path) -> dict[str, bytes]:
    """All that a study writes beside its runs, without how long they took."""
    files = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    for name, mark in (("report.md", TIMES), ("index.html", TIMES.removeprefix("## "))):
        files[name] = files[name][: files[name].index(mark.encode())]
    return files


def times_of(folder: Path) -> dict[str, int]:
    """The runs that are there, each with the time at which it was."""
    return {mark.parent.name: mark.stat().st_mtime_ns for mark in folder.glob("runs/*/run.json")}


def hidden(folder: Path) -> list[str]:
    return [each.name for each in (*folder.rglob(".*"), *folder.parent.glob(".*"))]


def started(floodway: Command, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        floodway.line(*words),
        cwd=floodway.folder,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def _has_more(folder: Path, runs: int, shards: list[subprocess.Popen[bytes]]) -> bool:
    return len(times_of(folder)) > runs or all(shard.poll() is not None for shard in shards)


@given(st.integers(0, 200), st.integers(1, 40))
def test_shards_have_every_run_once(runs: int, count: int) -> None:
    listed: Any = range(runs)
    shares: list[Any] = [Shard(index, count).of(listed) for index in range(count)]
    assert sorted(run for share in shares for run in share) == list(listed)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize("text", ["", "1", "1/", "a/2", "-1/2", "2/2", "0/0", "1/2/3", "0.5/2", "٣/٤"])
def test_what_is_no_shard_is_refused(text: str, tmp_path: Path, floodway: Command) -> None:
    with pytest.raises(InputError, match="shard"):
        Shard.parse(text)
    study_file(tmp_path, STUDY)
    done = floodway("study", "pools.toml", f"--shard={text}")
    assert (done.code, "--shard" in done.err, done.out) == (2, True, "")


def test_shards_at_once_make_the_report_of_one_process(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    assert floodway("study", "pools.toml", "--quiet", "--out", "alone").code == 0
    shards = [
        started(floodway, "study", "pools.toml", "--jobs", "1", "--out", "out", "--shard", f"{index}/3")
        for index in range(3)
    ]
    assert [(shard.communicate(timeout=100), shard.returncode)[1] for shard in shards] == [0, 0, 0]
    assert contents(tmp_path / "out") == contents(tmp_path / "alone")
    assert hidden(tmp_path / "out") == []


def test_a_shard_before_the_last_says_what_is_missing(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    first = floodway("study", "pools.toml", "--shard", "0/2")
    assert first.code == 0
    assert "8 of 8 runs of shard 0/2 are there; 8 of all 16 are missing" in first.err
    assert not (tmp_path / "out/study/pools/report.md").exists()
    early = floodway("study", "pools.toml", "--report")
    assert (early.code, "8 of 16 runs are missing" in early.err) == (2, True)
    second = floodway("study", "pools.toml", "--shard", "1/2")
    assert (second.code, "report: " in second.out) == (0, True)
    # A shard that has nothing to do writes the report again.
    before = contents(tmp_path / "out/study/pools")
    (tmp_path / "out/study/pools/report.md").unlink()
    assert floodway("study", "pools.toml", "--shard", "1/2").code == 0
    assert contents(tmp_path / "out/study/pools") == before
    (tmp_path / "out/study/pools/report.md").unlink()
    assert floodway("study", "pools.toml", "--report").code == 0
    assert contents(tmp_path / "out/study/pools") == before


def test_a_report_of_a_folder_that_is_not_there_makes_none(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    done = floodway("study", "pools.toml", "--report", "--out", "none")
    assert (done.code, "none: 16 of 16 runs are missing" in done.err) == (2, True)
    assert not (tmp_path / "none").exists()


def test_killed_shards_lose_only_their_runs_at_work(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    (tmp_path / "small.toml").write_text(SLOWER, encoding="utf-8")
    assert floodway("study", "pools.toml", "--quiet", "--out", "alone").code == 0
    kept: dict[str, int] = {}
    for _ in range(3):
        shards = [
            started(floodway, "study", "pools.toml", "--jobs", "1", "--out", "out", "--shard", f"{index}/2")
            for index in range(2)
        ]
        until(partial(_has_more, tmp_path / "out", len(kept), shards), "no run was stored")
        for shard in shards:
            shard.send_signal(signal.SIGKILL)
            shard.communicate()
        found = times_of(tmp_path / "out")
        assert kept.items() <= found.items()
        assert [each for each in verified_all(tmp_path / "out") if each.faults] == []
        kept = found
    for index in range(2):
        assert floodway("study", "pools.toml", "--quiet", "--out", "out", "--shard", f"{index}/2").code == 0
    assert kept.items() <= times_of(tmp_path / "out").items()
    assert contents(tmp_path / "out") == contents(tmp_path / "alone")
    assert hidden(tmp_path / "out") == []


def test_one_shard_twice_at_once_takes_each_run_once(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    (tmp_path / "small.toml").write_text(SLOWER, encoding="utf-8")
    words = ("study", "pools.toml", "--jobs", "1", "--out", "out", "--shard", "0/1")
    first = started(floodway, *words)
    until(lambda: bool(times_of(tmp_path / "out")), "no run was stored", of=first)
    second = floodway(*words)
    _, first_err = first.communicate(timeout=100)
    # Each leaves to the other what that one is running, and the last to end sees all of them.
    for code, err in ((second.code, second.err), (first.returncode, first_err.decode())):
        assert code in {0, int("is in use: process" in err)}, err
    assert len(times_of(tmp_path / "out")) == 16
    assert (tmp_path / "out/report.md").exists()
    assert hidden(tmp_path / "out") == []


def test_a_run_of_another_shard_that_is_torn_is_not_read(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    assert floodway("study", "pools.toml", "--shard", "0/2").code == 0
    runs = tmp_path / "out/study/pools/runs"
    torn = min(runs.glob("*/flows.parquet"))
    torn.write_bytes(torn.read_bytes()[:-100])
    second = floodway("study", "pools.toml", "--shard", "1/2")
    assert second.code == 0
    assert "flows.parquet" in second.err
    assert "it is missing again" in second.err
    assert "1 of all 16 are missing" in second.err
    assert floodway("study", "pools.toml", "--shard", "0/2").code == 0
    assert (tmp_path / "out/study/pools/report.md").exists()


def test_a_failed_run_of_any_shard_is_in_the_report(tmp_path: Path, floodway: Command) -> None:
    plan = plan_of([load_study(study_file(tmp_path, STUDY))])
    conducted = conduct(plan, out=tmp_path / "out", shard=Shard(0, 2))
    assert (conducted.missing, conducted.files) == (8, ())
    (tmp_path / "out/runs" / f"{plan.runs[1].key}.failed").write_text('{"error": "on purpose"}')
    for run in plan.runs[3::2]:
        (tmp_path / "out/runs" / f"{run.key}.failed").write_text('{"error": "on purpose"}')
    reported = report_of(plan, out=tmp_path / "out")
    assert (reported.missing, len(reported.failures)) == (0, 8)
    assert "on purpose" in (tmp_path / "out/report.md").read_text()
    done = floodway("study", "pools.toml", "--report", "--out", "out")
    assert (done.code, done.err.count("on purpose")) == (1, 8)


@pytest.mark.parametrize(
    ("given", "crossed"),
    [
        (("--shard", "0/2", "--force"), "--force"),
        (("--shard", "0/2", "--json"), "--json"),
        (("--shard", "0/2", "--status"), "--shard"),
        (("--report", "--shard", "0/2"), "--shard"),
        (("--slurm", "--report"), "--report"),
    ],
)
def test_options_that_leave_one_another_without_meaning_are_refused(
    given: tuple[str, ...], crossed: str, tmp_path: Path, floodway: Command
) -> None:
    study_file(tmp_path, STUDY)
    done = floodway("study", "pools.toml", *given)
    assert (done.code, done.out) == (2, "")
    assert f"cannot go with {crossed}" in done.err


def test_the_script_for_slurm_runs_every_shard(tmp_path: Path, floodway: Command) -> None:
    study_file(tmp_path, STUDY)
    printed = floodway("study", "pools.toml", "--quick", "--slurm", "--out", "the place")
    assert (printed.code, (tmp_path / "the place").exists()) == (0, False)
    assert "#SBATCH --array=0-0\n" in printed.out
    (tmp_path / "job.sh").write_text(printed.out, encoding="utf-8")
    for index in range(2):
        variables = {**environment(), "SLURM_ARRAY_TASK_ID": str(index), "SLURM_ARRAY_TASK_COUNT": "2"}
        subprocess.run(["sh", "job.sh"], cwd=tmp_path, env=variables, check=True, timeout=100)  # noqa: S607
    assert (tmp_path / "the place/report.md").exists()
    assert len(times_of(tmp_path / "the place")) == 2


def test_shards_share_a_folder_and_a_whole_study_does_not(tmp_path: Path) -> None:
    place = tmp_path / "out"
    with (
        SharedLock(place, shown="out"),
        SharedLock(place, shown="out"),
        pytest.raises(InUseError, match=rf"process {os.getpid()} has been writing there"),
    ):
        Lock(place, shown="out")
    with (
        Lock(place, shown="out"),
        pytest.raises(InUseError, match=rf"process {os.getpid()} has been writing there"),
    ):
        SharedLock(place, shown="out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("locks", [True, False], ids=["locks", "no locks"])
def test_a_shard_that_was_killed_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, locks: bool
) -> None:
    lines = (
        "import os, signal, sys; from pathlib import Path; from floodway.results.locks import SharedLock; "
        "SharedLock(Path(sys.argv[1]), shown=''); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", lines, tmp_path / "out"], check=False)
    assert len(list((tmp_path / ".out.floodway").iterdir())) == 1
    if not locks:
        monkeypatch.setattr(fcntl, "flock", no_locks)
    with Lock(tmp_path / "out", shown="out"):
        pass
    assert list(tmp_path.iterdir()) == []


def no_locks(*_: object) -> None:
    raise OSError(errno.ENOLCK, "No locks available")


def test_shards_share_a_folder_where_the_file_system_has_no_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fcntl, "flock", no_locks)
    place = tmp_path / "out"
    with (
        SharedLock(place, shown="out"),
        SharedLock(place, shown="out"),
        pytest.raises(InUseError, match=r"has no locks: .* remove .*/shared\."),
    ):
        Lock(place, shown="out")
    with Lock(place, shown="out"), pytest.raises(InUseError, match=r"has no locks: .* remove .*/lock"):
        SharedLock(place, shown="out")
    assert list(tmp_path.iterdir()) == []


def test_what_no_process_has_written_of_itself_is_read_as_a_lock_of_nobody(tmp_path: Path) -> None:
    (tmp_path / ".out.floodway").mkdir()
    (tmp_path / ".out.floodway/shared.x").write_text(json.dumps({"pid": "x"}), encoding="utf-8")
    with Lock(tmp_path / "out", shown="out"):
        pass
    assert list(tmp_path.iterdir()) == []


COMPARE = ("compare", "small.toml", "--vary", "mtu=1000B,4096B", "--seeds", "3")


def compared(folder: Path) -> dict[str, bytes]:
    """All that a comparison writes beside its runs."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def test_shards_of_a_comparison_write_that_of_one_process(tmp_path: Path, floodway: Command) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    assert floodway(*COMPARE, "--quiet", "--out", "alone").code == 0
    first = floodway(*COMPARE, "--out", "out", "--shard", "0/3")
    assert (first.code, "4 of all 6 runs are missing" in first.err, first.out) == (0, True, "")
    others = [started(floodway, *COMPARE, "--out", "out", "--shard", f"{index}/3") for index in (1, 2)]
    assert [(shard.communicate(timeout=100), shard.returncode)[1] for shard in others] == [0, 0]
    assert compared(tmp_path / "out") == compared(tmp_path / "alone")
    assert hidden(tmp_path / "out") == []
    # All is there: it is read and shown.
    again = floodway(*COMPARE, "--out", "out", "--shard", "0/3")
    assert (again.code, "page with pictures: out/index.html" in again.out) == (0, True)


def test_a_killed_shard_of_a_comparison_loses_only_its_run_at_work(tmp_path: Path, floodway: Command) -> None:
    (tmp_path / "small.toml").write_text(SLOWER, encoding="utf-8")
    words = (*COMPARE, "--jobs", "1", "--out", "out", "--shard", "0/2")
    shard = started(floodway, *words)
    until(lambda: any((tmp_path / "out").glob("*/*/run.json")), "no run was stored", of=shard)
    shard.send_signal(signal.SIGKILL)
    shard.communicate()
    kept = {file: file.stat().st_mtime_ns for file in (tmp_path / "out").glob("*/*/run.json")}
    assert floodway(*words).code == 0
    assert floodway(*words[:-1], "1/2").code == 0
    assert (tmp_path / "out/index.html").exists()
    assert kept == {file: file.stat().st_mtime_ns for file in kept}
    assert hidden(tmp_path / "out") == []


def test_shards_of_another_comparison_are_refused(tmp_path: Path, floodway: Command) -> None:
    (tmp_path / "small.toml").write_text(SMALL, encoding="utf-8")
    assert floodway(*COMPARE, "--out", "out", "--shard", "0/2").code == 0
    other = floodway(*COMPARE, "--set", "seed=9", "--out", "out", "--shard", "1/2")
    assert (other.code, "out: holds a comparison of other runs" in other.err) == (2, True)
    crossed = floodway(*COMPARE, "--out", "out", "--shard", "1/2", "--force")
    assert (crossed.code, "cannot go with --force" in crossed.err) == (2, True)
    with pytest.raises(ComparisonError, match="share the folder"):
        package.compare(package.vary(tmp_path / "small.toml", [("seed", ("1", "2"))]), shard=Shard(0, 2))
