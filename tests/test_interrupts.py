"""Signals between the end of a simulation and the end of its command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import floodway as package
from command import environment
from scenarios import LISTED, written

if TYPE_CHECKING:
    from pathlib import Path

#: Runs the command line in one process after another, each interrupted one step later: at the next of the
#: lines of these files that the main thread executes from the start of the simulation on.
PROGRAM = """
import json, os, signal, sys
from pathlib import Path
import floodway
from floodway.cli import main, run
from floodway.results import document
from floodway.cli import show_document

number, stride, arguments = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
PARTS = ("cli/run.py", "cli/interrupts.py", "simulation/run.py", "simulation/watching.py", "results/store.py",
         "cli/output.py")
signal.signal(signal.SIGINT, signal.default_int_handler)


def interrupted(step):
    left, began = [step], [False]

    def line(frame, event, argument):
        if event == "line" and began[0]:
            left[0] -= 1
            if left[0] == 0:
                Path("sent").write_text("")
                os.kill(os.getpid(), number)
        return line

    def call(frame, event, argument):
        began[0] = began[0] or frame.f_code.co_name == "watched"
        return line if frame.f_code.co_filename.endswith(PARTS) else None

    sys.settrace(call)
    main(arguments)


answers = []
step = 1
while True:
    folder = Path(f"step-{step}").resolve()
    folder.mkdir()
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), descriptor)
        interrupted(step)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if not (folder / "sent").exists():
        break
    answers.append((step, code))
    step += stride
print(json.dumps(answers))
"""


def answers(folder: Path, number: str, stride: int, *more: str) -> list[tuple[int, int]]:
    """Return the steps at which a run was interrupted, with its exit codes."""
    scenario = str(written(folder, LISTED.replace("100MB", "1MB")))
    arguments = ["run", scenario, "--out", "out", "--threads", "1", *more]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, number, str(stride), *arguments],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    return [(step, code) for step, code in json.loads(done.stdout)]


@pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
@pytest.mark.parametrize(
    ("number", "code", "stride", "more"),
    [
        ("2", 130, 29, []),
        ("15", 143, 31, ["--quiet"]),
        ("2", 130, 53, ["--report"]),
        pytest.param("2", 130, 7, [], marks=pytest.mark.long),
        pytest.param("15", 143, 11, ["--report"], marks=pytest.mark.long),
    ],
)
def test_a_signal_at_any_line_after_the_simulation_loses_nothing_and_the_message_is_true(
    tmp_path: Path, number: str, code: int, stride: int, more: list[str]
) -> None:
    found = answers(tmp_path, number, stride, *more)
    assert len(found) >= 5
    assert code in {code for _, code in found}
    for step, exit_code in found:
        folder = tmp_path / f"step-{step}"
        said = (folder / "stderr").read_text(encoding="utf-8")
        is_cut = package.read(folder / "out").outcome.stopped == "interrupted"
        has_page = (folder / "out" / "report.html").exists()
        assert sorted(path.name for path in folder.iterdir()) == ["out", "sent", "stderr", "stdout"]
        last = said.splitlines()[-1:] if exit_code else []
        assert exit_code in {0, code}
        if not exit_code:
            # The command had ended, but for its last lines of code.
            assert "interrupted" not in said
        elif is_cut:
            assert last[0].startswith("interrupted at ")
        elif "--report" in more and not has_page:
            assert last == ["interrupted; the results are in out/, without report.html"]
        else:
            assert last == ["interrupted; the results are in out/"]
