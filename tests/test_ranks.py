"""One run over several processes: what is refused, and the same results by MPI where it is built."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from floodway import _floodway
from floodway.cli.exits import DONE, USAGE
from floodway.ranks import processes, refusal

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "scenarios" / "demo.toml"
TABLES = ("flows", "latency", "series", "counters")

needs_mpi = pytest.mark.skipif(
    not _floodway.Ranks.is_built() or shutil.which("mpirun") is None,
    reason="floodway is built without MPI, or mpirun is missing: make mpi",
)


def _floodway_in(count: int, *arguments: str) -> subprocess.CompletedProcess[str]:
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    start = ["mpirun", *root, "--oversubscribe", "-n", str(count)] if count > 1 else []
    return subprocess.run(
        [*start, sys.executable, "-m", "floodway", *arguments],
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
