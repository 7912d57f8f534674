"""Imports of the command line: slow libraries are imported only where they are used."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import floodway as package
from command import environment
from floodway import results
from scenarios import SMALL, written

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command

#: Calls the command line, and writes the names of all modules to a file.
PROGRAM = """
import json, sys
arguments, names = sys.argv[2:], sys.argv[1]
sys.argv = ["floodway", *arguments]
from floodway.__main__ import main
try:
    main()
except SystemExit as end:
    with open(names, "w", encoding="utf-8") as file:
        json.dump({"code": end.code or 0, "modules": sorted(sys.modules)}, file)
"""
#: Libraries, and modules of the package, that take as long as all the rest of a small command.
SLOW = {
    "floodway.builders",
    "floodway.comparison",
    "floodway.plot",
    "floodway.study",
    "floodway_lab.validation",
    "jinja2",
    "markdown_it",
    "matplotlib",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "pydantic",
    "rich",
}


def asked_by_a_shell(floodway: Command, what: str, **variables: str) -> str:
    """Return the completions that a shell gets for the words of a line."""
    environ = {**environment(), "_FLOODWAY_COMPLETE": what, **variables}
    line = floodway.line()
    done = subprocess.run(line, cwd=floodway.folder, env=environ, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout


def slow_modules(folder: Path, *arguments: str) -> set[str]:
    """Return which of the slow modules a successful call imports."""
    names = folder / "modules.json"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(names), *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(names.read_text(encoding="utf-8"))
    assert found["code"] == 0, done.stderr
    return SLOW & set(found["modules"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["run", "--help"],
        ["study", "--help"],
        ["import", "hpcc", "--help"],
        ["check", "small.toml"],
        ["check", "small.toml", "--set", "seed=3", "--json"],
        ["check", "small.toml", "--resolved"],
        ["schema"],
    ],
    ids=" ".join,
)
def test_what_runs_nothing_imports_no_slow_library(tmp_path: Path, arguments: list[str]) -> None:
    written(tmp_path, SMALL)
    # The grammar is printed by the module of `list` and `explain`, which show tables.
    assert slow_modules(tmp_path, *arguments) == ({"rich"} if arguments == ["schema"] else set())


@pytest.mark.parametrize(
    ("more", "imported"),
    [
        ([], {"polars", "rich"}),
        (["--quiet"], {"polars"}),
        (["--json"], {"polars", "rich"}),
        (["--quiet", "--seed", "3", "--threads", "1"], {"polars"}),
    ],
    ids=lambda words: " ".join(sorted(words)) or "none",
)
def test_a_run_imports_the_libraries_of_tables_alone(
    tmp_path: Path, more: list[str], imported: set[str]
) -> None:
    written(tmp_path, SMALL)
    assert slow_modules(tmp_path, "run", "small.toml", "--out", "out", *more) == imported


def test_a_comparison_without_pictures_imports_nothing_that_draws(tmp_path: Path) -> None:
    written(tmp_path, SMALL)
    words = ("compare", "small.toml", "--vary", "mtu=1000B,2000B", "--out", "out", "--no-pictures")
    assert slow_modules(tmp_path, *words) == {"floodway.comparison", "jinja2", "polars", "rich"}


def test_a_process_of_a_study_imports_nothing_that_draws_or_shows() -> None:
    program = "import floodway.study.__main__, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    used = {"floodway.study", "numpy", "polars"}
    assert SLOW & set(done.stdout.split()) == used


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (["--seed", "-1"], "-1: expected 0 to 18446744073709551615"),
        (["--seed", "18446744073709551616"], "expected 0 to 18446744073709551615"),
        (["--seed", "x"], "expected a whole number"),
        (["--seed", "1.5"], "expected a whole number"),
        (["--threads", "0"], "0: expected 1 to "),
        (["--on-deadlock", "hope"], "'hope' is not one of 'stop', 'continue'"),
    ],
)
def test_a_wrong_value_of_an_option_is_an_error_of_one_line(
    tmp_path: Path, given: list[str], fault: str
) -> None:
    written(tmp_path, SMALL)
    line = [sys.executable, "-m", "floodway", "run", "small.toml", *given]
    done = subprocess.run(line, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (said,) = done.stderr.splitlines()
    assert said.startswith(f"error: invalid value for {given[0]}: ")
    assert fault in said


def test_public_names_are_there_though_their_modules_come_late() -> None:
    for module in (package, results):
        assert all(hasattr(module, name) for name in module.__all__)
        assert dir(module) == sorted(module.__all__)
        assert not hasattr(module, "nothing")
    program = "from floodway import *; from floodway.results import *; print(Scenario, HpccExport)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "Scenario" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_completion_script(floodway: Command, shell: str) -> None:
    said = asked_by_a_shell(floodway, f"{shell}_source")
    assert f"_FLOODWAY_COMPLETE={shell}_complete" in said
    assert "Shell" not in said


def test_words_are_completed(floodway: Command) -> None:
    words = {"floodway ver": ["verify"], "floodway run --see": ["--seed"], "floodway list me": ["mechanisms"]}
    for line, expected in words.items():
        place = str(len(line.split()) - 1)
        said = asked_by_a_shell(floodway, "bash_complete", COMP_WORDS=line, COMP_CWORD=place)
        assert said.split() == [f"plain,{word}" for word in expected]
