"""One run over several processes: what is refused, and the same results by MPI where it is built."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

import floodway
from floodway import _floodway
from floodway.cli.output import DONE, TERMINATED, USAGE
from floodway.common.errors import RanksError
from floodway.simulation.ranks import processes, refusal, require_alike

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "scenarios" / "demo.toml"
TABLES = ("flows", "latency", "series", "counters")

needs_mpi = pytest.mark.skipif(
    not _floodway.Ranks.is_built() or shutil.which("mpirun") is None,
    reason="floodway is built without MPI, or mpirun is missing: make mpi",
)


def _floodway_in(count: int, *arguments: str, second: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command in so many processes, the second of which may have another scenario."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    call = [sys.executable, "-m", "floodway", *arguments]
    start = ["mpirun", *root, "--oversubscribe", "-n", str(count if second is None else 1)]
    other = [argument if argument != str(DEMO) or second is None else second for argument in call]
    more = [] if second is None else [":", "-n", "1", *other]
    return subprocess.run(
        [*(start if count > 1 else []), *call, *more],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        timeout=300,
    )


def test_a_process_that_mpi_did_not_start_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE"):
        monkeypatch.delenv(variable, raising=False)
    assert processes() == 1
    assert refusal(["study", "a.toml"]) is None


@pytest.mark.parametrize("size", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"])
def test_other_commands_than_run_are_refused_in_several_processes(
    monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    monkeypatch.setenv(size, "4")
    refused = refusal(["--quiet", "study", "a.toml"])
    assert refused is not None
    assert refused.startswith("floodway study was started in 4 processes; only `floodway run` divides")
    assert refusal(["--version"]) is None


@pytest.mark.skipif(_floodway.Ranks.is_built(), reason="floodway is built with MPI")
def test_a_build_without_mpi_says_what_builds_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    refused = refusal(["run", "a.toml"])
    assert refused is not None
    assert refused.endswith("this floodway is built without MPI: `make mpi` builds one with it")


@needs_mpi
@pytest.mark.parametrize("count", [2, 4])
def test_several_processes_write_what_one_does(tmp_path: Path, count: int) -> None:
    for processes_of_run in (1, count):
        out = str(tmp_path / str(processes_of_run))
        done = _floodway_in(processes_of_run, "run", str(DEMO), "--out", out, "--quiet")
        assert done.returncode == DONE, done.stderr
    for table in TABLES:
        one, many = (tmp_path / folder / f"{table}.parquet" for folder in ("1", str(count)))
        assert one.read_bytes() == many.read_bytes(), table


@needs_mpi
def test_a_run_in_one_order_is_refused_once_with_its_reason(tmp_path: Path) -> None:
    sets = ("--set", "semantics.ties=scheduling-order")
    refused = _floodway_in(2, "run", str(DEMO), *sets, "--out", str(tmp_path / "out"), "--quiet")
    assert refused.returncode == USAGE
    assert refused.stderr.count("2 processes cannot simulate demo: ties go by the order") == 1


class TwoProcesses:
    """This process and another one, which says something else."""

    rank = 0

    def __init__(self, what: str) -> None:
        self.what = what

    def agree(self, text: str | None) -> list[str | None]:
        is_build = text is not None and text.startswith(_floodway.__version__)
        return [text, "9.9.9+0" if self.what == "floodway" and is_build else "x" if not is_build else text]


@pytest.mark.parametrize(("what", "other"), [("floodway", "9.9.9+0"), ("scenario", "x")])
def test_processes_that_are_not_alike_are_refused_with_both_named(what: str, other: str) -> None:
    scenario = floodway.load(DEMO)
    with pytest.raises(
        RanksError, match=f"^rank 0 has {what} .*, and rank 1 has {what} {re.escape(other)}: "
    ):
        require_alike(cast("_floodway.Ranks", TwoProcesses(what)), scenario)


def test_processes_have_the_threads_that_the_scenario_asks_for() -> None:
    scenario = floodway.load(DEMO)
    asked = scenario.replace(sets=[("engine.threads", "2")])
    for of, threads, expected in ((scenario, None, 1), (asked, None, 2), (asked, 1, 1)):
        plan = _floodway.Plan(of.native, threads=threads, force=False, ranks=2)
        assert plan.threads == expected


@needs_mpi
def test_processes_with_different_files_are_refused_once(tmp_path: Path) -> None:
    other = tmp_path / "demo.toml"
    other.write_text(f"seed = 99\n{DEMO.read_text(encoding='utf-8')}", encoding="utf-8")
    refused = _floodway_in(2, "run", str(DEMO), "--out", str(tmp_path / "out"), "--quiet", second=str(other))
    assert refused.returncode != DONE
    assert refused.stderr.count("rank 0 has scenario") == 1
    assert not (tmp_path / "out").exists()


@needs_mpi
def test_a_signal_that_mpirun_hands_on_ends_the_run_and_keeps_what_there_is(tmp_path: Path) -> None:
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    longer = ("--set", "workload.hadoop.until=4s", "--set", "limit=4s")
    scenario = str(ROOT / "benchmarks" / "two-dc-80km.toml")
    call = [sys.executable, "-m", "floodway", "run", scenario, *longer, "--out", str(tmp_path / "out")]
    running = subprocess.Popen(
        ["mpirun", *root, "--oversubscribe", "-n", "2", *call],  # noqa: S607 (where MPI is, users say)
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stderr is not None
    # It says so once it has begun.
    assert any(line.startswith("running ") for line in running.stderr)
    running.send_signal(signal.SIGUSR1)
    _, said = running.communicate(timeout=100)
    assert running.returncode == TERMINATED
    assert "interrupted at " in said
    assert floodway.read(tmp_path / "out").outcome.stopped == "interrupted"
