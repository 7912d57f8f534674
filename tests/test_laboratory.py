"""The package without its laboratory: what is left of commands that need it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from command import environment
from studies import BRIEF, study_file

if TYPE_CHECKING:
    from pathlib import Path

#: The command line of an environment in which no package has added anything to it.
PROGRAM = """
import importlib.metadata, sys

importlib.metadata.entry_points = lambda **_: ()
sys.argv = ["floodway", *sys.argv[1:]]
from floodway.__main__ import main

main()
"""


def alone(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Call the command line without the laboratory."""
    line = [sys.executable, "-c", PROGRAM, *words]
    return subprocess.run(line, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "words", [("validate", "cases"), ("reproduce", "swing", "13a", "--quick")], ids=" ".join
)
def test_its_commands_say_in_a_line_what_they_need(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = alone(tmp_path, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: floodway {words[0]} needs the package floodway-lab, which is not installed: "
        "pip install ./lab in a clone of floodway\n"
    )
    assert "needs the package floodway-lab" in alone(tmp_path, words[0], "--help").stdout.lower()


def test_a_study_runs_and_prints_its_numbers(tmp_path: Path) -> None:
    study_file(tmp_path, BRIEF)
    done = alone(tmp_path, "study", "pools.toml", "--quick", "--out", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("no report: floodway-lab, which makes it, is not installed; runs: out/\n")
    assert len(list(tmp_path.glob("out/runs/*/run.json"))) == 2
    assert not list(tmp_path.glob("out/report.md"))
    for option in ("--report", "--json"):
        refused = alone(tmp_path, "study", "pools.toml", "--quick", "--out", "out", option)
        assert (refused.returncode, refused.stderr.startswith(f"error: {option} needs")) == (2, True)
