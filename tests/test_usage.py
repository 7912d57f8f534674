from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click import Context, Option

import floodway as package
from command import environment
from floodway.cli.app import app
from scenarios import SMALL, STARVED, written

if TYPE_CHECKING:
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["plot", "port", "out"],
            (
                "invalid value for KIND: 'port' is not one of 'fct', 'slowdown', 'series', 'heatmap', "
                "'ports', 'region', 'shares', 'timeline', 'busbw'; did you mean 'ports'?"
            ),
        ),
        (
            ["plot", "fct", "out", "--format", "gif"],
            "invalid value for --format: 'gif' is not a format; allowed: png, pdf, svg",
        ),
    ],
)
def test_a_choice_that_is_none_is_reported_with_the_nearest(
    floodway: Command, arguments: list[str], message: str
) -> None:
    assert refused(floodway(*arguments)) == message


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["check", "-h"]])
def test_help_opens_with_examples(floodway: Command, arguments: list[str]) -> None:
    done = floodway(*arguments)
    assert done.code == 0
    assert done.out.index("Examples:") < done.out.index("Options:")


@pytest.mark.parametrize("verb", ["run", "compare", "study", "reproduce", "plot", "validate"])
def test_help_has_every_option_once_and_in_groups(floodway: Command, verb: str) -> None:
    shown = floodway(verb, "--help").out
    sections = re.findall(r"^(\w[\w ]*):$", shown, re.MULTILINE)
    assert {"Results", "Messages"} <= set(sections)
    options = re.findall(r"^  (?:-\w, )?(--[\w-]+)", shown, re.MULTILINE)
    assert len(options) == len(set(options))
    command = app.get_command(Context(app), verb)
    assert command is not None
    assert set(options) == {
        *(max(each.opts, key=len) for each in command.params if isinstance(each, Option)),
        "--help",
    }


def test_without_a_verb_there_is_help_and_a_failure(floodway: Command) -> None:
    done = floodway()
    assert (done.code, done.out) == (2, "")
    assert "Commands:" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rnu", "x.toml"], "no such command rnu; did you mean run?"),
        (["run", "x.toml", "--sed", "1"], "no such option --sed; did you mean --seed?"),
        (["run"], "missing SCENARIO"),
        (["run", "x.toml", "--seed", "-1"], "invalid value for --seed: -1: expected 0 to "),
        (
            ["run", "x.toml", "--seed", str(2**64)],
            "invalid value for --seed: 18446744073709551616: expected 0 to 18446744073709551615",
        ),
        (["run", "x.toml", "--on-deadlock", "stpo"], "'stpo' is not one of 'stop', 'continue'"),
        (["run", "x.toml", "--set", "mtu"], "invalid value for --set: 'mtu' is not KEY.PATH=VALUE"),
        (["check", "x.toml", "--out", "x"], "no such option --out"),
    ],
)
def test_wrong_usage_is_reported_in_a_line(floodway: Command, arguments: list[str], message: str) -> None:
    assert message.casefold() in refused(floodway(*arguments)).casefold()


@pytest.mark.skipif(os.name != "posix", reason="arguments are bytes on POSIX")
def test_a_value_that_is_no_text_is_reported_in_a_line(floodway: Command, tmp_path: Path) -> None:
    line = refused(floodway("check", written(tmp_path, SMALL), "--set", os.fsdecode(b"name=\xff")))
    assert line == r"invalid value for --set: 'name=\udcff' is not text in UTF-8"


def test_whoever_imports_the_package_waits_for_nothing_that_it_does_not_use() -> None:
    code = (
        "import floodway, sys; print(*(name for name in ('polars', 'numpy', 'click') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
    assert {name: hasattr(package, name) for name in package.__all__} == dict.fromkeys(package.__all__, True)
    assert dir(package) == sorted(package.__all__)


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_the_program_is_imported_shows_no_trace(number: int, code: int) -> None:
    program = f"""
import os, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "polars":
            os.kill(os.getpid(), {int(number)})

# What runs in the background of a shell is born deaf to Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
sys.argv = ["floodway", "run", "small.toml"]
from floodway.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_an_interrupt_that_a_library_makes_an_error_of_is_one_all_the_same(tmp_path: Path) -> None:
    program = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "matplotlib":
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as error:
                raise ImportError("initialization failed") from error

sys.meta_path.insert(0, Interrupt())
sys.argv = ["floodway", "compare", "small.toml", "--vary", "seed=1,2", "--out", "out", "--quiet"]
from floodway.__main__ import main
main()
"""
    written(tmp_path, SMALL)
    line = [sys.executable, "-c", program]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("limit_mib", [60, 200, 500, 1000])
def test_too_little_memory_for_the_imports_is_reported_in_a_line(limit_mib: int) -> None:
    program = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit_mib} << 20, {limit_mib} << 20))
sys.argv = ["floodway", "--version"]
from floodway.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    start = f"error: not enough memory to start (ulimit -v allows {limit_mib} MiB): "
    assert done.stderr.startswith(start)
    assert done.stderr.count("\n") == 1


def test_a_stdout_that_takes_nothing_is_reported_in_a_line(floodway: Command, tmp_path: Path) -> None:
    line = floodway.line("run", written(tmp_path, SMALL), "--quiet", "--json")
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            line, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment()
        )
    assert (done.returncode, done.stderr) == (
        1,
        "error: stdout: cannot be written: No space left on device\n",
    )
    assert package.read(tmp_path / "out" / "small").outcome.stopped == "finished"


@pytest.mark.parametrize(("starved", "code"), [(False, 141), (True, 1)])
def test_a_reader_that_has_gone_ends_the_program_as_a_pipe_does_unless_the_run_failed(
    floodway: Command, tmp_path: Path, *, starved: bool, code: int
) -> None:
    file = written(tmp_path, STARVED if starved else SMALL)
    line = floodway.line("run", file, "--strict", "--out", "out")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        line, cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, text=True, check=False, env=environment()
    )
    os.close(writing)
    assert done.returncode == code
    assert "Broken pipe" not in done.stderr
    assert package.read(tmp_path / "out").outcome.stopped == "finished"


def test_a_stderr_that_takes_nothing_stops_no_run(floodway: Command, tmp_path: Path) -> None:
    line = floodway.line("run", written(tmp_path, SMALL), "--out", "out")
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=full, text=True, check=False, env=environment()
        )
    assert done.returncode == 0
    assert "results: out/" in done.stdout


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


def test_a_file_that_is_not_there_is_reported_in_a_line(floodway: Command) -> None:
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
