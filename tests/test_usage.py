from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import floodway as package
from scenarios import SMALL, written

if TYPE_CHECKING:
    from pathlib import Path

    from command import Command, Done


def refused(done: Done) -> str:
    """The only line of a command that was refused."""
    assert (done.code, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert line.startswith("error: ")
    return line.removeprefix("error: ")


def test_the_version_is_the_package_s(floodway: Command) -> None:
    done = floodway("--version")
    assert (done.code, done.out, done.err) == (0, f"floodway {package.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["check", "-h"]])
def test_help_opens_with_examples(floodway: Command, arguments: list[str]) -> None:
    done = floodway(*arguments)
    assert done.code == 0
    assert done.out.index("Examples:") < done.out.index("Options:")


def test_without_a_verb_there_is_help_and_a_failure(floodway: Command) -> None:
    done = floodway()
    assert (done.code, done.out) == (2, "")
    assert "Commands:" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rnu", "x.toml"], "no such command 'rnu'. Did you mean 'run'?"),
        (["run", "x.toml", "--sed", "1"], "no such option --sed; did you mean --seed?"),
        (["run"], "missing argument 'SCENARIO'."),
        (["run", "x.toml", "--seed", "-1"], "invalid value for '--seed': Input should be greater than"),
        (["run", "x.toml", "--seed", str(2**64)], "invalid value for '--seed': Input should be less than"),
        (["run", "x.toml", "--on-deadlock", "stpo"], "'stpo' is not one of 'stop', 'continue'"),
        (["run", "x.toml", "--set", "mtu"], "invalid value for --set: 'mtu' is not KEY.PATH=VALUE"),
        (["check", "x.toml", "--out", "x"], "no such option --out"),
    ],
)
def test_wrong_usage_is_told_in_a_line(floodway: Command, arguments: list[str], message: str) -> None:
    assert message.casefold() in refused(floodway(*arguments)).casefold()


def test_check_prints_and_writes_nothing(floodway: Command, tmp_path: Path) -> None:
    small = written(tmp_path, SMALL)
    done = floodway("check", small)
    assert done.code == 0
    assert "bottleneck" in done.out
    assert "base RTT" in done.out
    assert [file.name for file in tmp_path.iterdir()] == ["small.toml"]
    assert len(floodway("check", small, "--resolved").out) > len(done.out)
    assert json.loads(floodway("check", small, "--json").out)


def test_a_place_that_cannot_be_written_is_found_before_the_run(floodway: Command, tmp_path: Path) -> None:
    small = written(tmp_path, SMALL)
    line = refused(floodway("run", small, "--out", small / "deep" / "out"))
    assert re.search(r"small\.toml/deep/out: cannot be written: (Not a directory|File exists)$", line)
    assert refused(floodway("run", small, "--out", small)).endswith("small.toml: is not a folder")


def test_a_folder_of_something_else_is_kept_whatever_is_asked(floodway: Command, tmp_path: Path) -> None:
    small = written(tmp_path, SMALL)
    line = refused(floodway("run", small, "--out", ".", "--force"))
    assert line == ".: holds something other than results; choose another folder"


def test_a_file_that_is_not_there_is_told_in_a_line(floodway: Command) -> None:
    assert "nothing.toml" in refused(floodway("run", "nothing.toml"))


def test_a_fault_has_its_place_as_attributes(tmp_path: Path) -> None:
    small = written(tmp_path, SMALL.replace("flow-control.pfc", "flow-control.pcf"))
    with pytest.raises(package.ScenarioError) as caught:
        package.load(small)
    error = caught.value
    assert isinstance(error, package.FloodwayError)
    assert (error.file, error.line, error.given, error.nearest) == (str(small), 6, "pcf", "pfc")
    assert error.key == "defaults.flow-control"
    assert "pfc" in error.allowed
