"""The short form of `make soak`: a few random scenarios, and that violations would be reported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SOAK = Path(__file__).parent / "soak" / "run.py"


def soak(*options: str) -> tuple[int, str]:
    line = [sys.executable, str(SOAK), "--jobs", "1", *options]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.long
def test_random_scenarios_run_to_the_same_bytes_on_one_thread_and_two_or_are_refused_in_clear_lines() -> None:
    code, out = soak("--first", "1", "--count", "40")
    assert (code, "40 scenarios: " in out, ", 0 findings; " in out) == (0, True, True), out
    ran = int(out.split("40 scenarios: ")[1].split()[0])
    assert ran > 20, out


@pytest.mark.parametrize(
    ("limit", "told"),
    [
        (("--seconds", "0"), "nothing came for 0 s"),
        (("--memory-gib", "0.01"), "its process ended with"),
    ],
)
def test_a_scenario_that_hangs_or_kills_its_process_is_found(limit: tuple[str, str], told: str) -> None:
    code, out = soak("--first", "7", "--count", "1", *limit)
    assert code == 1
    assert f"finding: seed 7: {told}" in out
    assert "again: .venv/bin/python tests/soak/run.py --first 7 --count 1" in out


def test_a_seed_makes_the_same_scenario_each_time() -> None:
    code, out = soak("--first", "7", "--count", "2", "--show")
    assert code == 0
    assert out.count("topology = ") == 2
    assert soak("--first", "7", "--count", "2", "--show") == (0, out)
