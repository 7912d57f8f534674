"""A worker process: tasks on stdin, answers on stdout, one line each."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from floodway.errors import FloodwayError, InUseError, OutOfMemoryError, OutputError
from floodway.mechanisms import load_file
from floodway.results.store import Reservation
from floodway.simulation import run
from floodway.study.running.runs import Recipe
from floodway.study.running.storage import Runs

if TYPE_CHECKING:
    from floodway._floodway import Progress

__all__ = ["answer_to", "main", "task_of"]


def task_of(recipe: Recipe, *, seed: int, folder: Path) -> str:
    """Write a task as a line."""
    return json.dumps({"recipe": recipe.__dict__, "seed": seed, "folder": os.fspath(folder)}) + "\n"


def main() -> None:
    """Work until stdin ends: without the parent process, nothing needs the current task.

    Arguments are files of Python with mechanisms that scenarios choose, each before what its user called it.
    """
    # Nothing that is printed to stdout must disturb the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks: queue.SimpleQueue[str] = queue.SimpleQueue()
    for file, given in zip(sys.argv[1::2], sys.argv[2::2], strict=True):
        load_file(Path(file), given=given)
    threading.Thread(target=_listen, args=(tasks,), daemon=True).start()
    while True:
        _say(answers, answer_to(json.loads(tasks.get()), answers))


def answer_to(task: dict[str, Any], answers: TextIO) -> dict[str, Any]:
    """Run a task, and return its answer; progress is printed meanwhile.

    The run's folder is locked from before the run to its end, so that no other process runs it as well.
    """
    recipe = Recipe(
        **{**task["recipe"], "sets": tuple((key, value) for key, value in task["recipe"]["sets"])}
    )
    folder = Path(task["folder"]).absolute()

    def poll(progress: Progress) -> None:
        seen = (progress.time_us, progress.flows_done, progress.flows_started, progress.packet_hops)
        _say(answers, {"progress": seen})

    store = Runs(folder.parent)
    try:
        with Reservation(folder, force=True) as place:
            # Another process may have ended it since it was missing here.
            if store.has(folder.name):
                return {"done": store.wall_s(folder.name)}
            scenario = recipe.scenario().with_seed(task["seed"])
            with contextlib.chdir(recipe.folder or "."):
                result = run(scenario, threads=1, on_progress=poll)
            broken = "; ".join(f"invariant {name} broken: {breach}" for name, breach in result.outcome.broken)
            if broken:
                return {"error": f"{broken}; this is a bug in the simulator"}
            place.publish(result, key=folder.name)
    except Exception as error:  # noqa: BLE001 (the other runs continue after any error)
        return _answer_of(error)
    return {"done": result.run.timings.wall_s}


def _answer_of(error: Exception) -> dict[str, Any]:
    match error:
        case InUseError():
            return {"taken": error.reason}
        case OutputError():
            return {"error": error.reason, "unwritable": True}
        case OutOfMemoryError():
            # Studies have none of the options that the rest of its text names.
            return {"error": error.reason}
        case FloodwayError():
            return {"error": str(error)}
        case _:
            return {"error": f"{type(error).__name__}: {error}"}


def _listen(tasks: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        tasks.put(line)
    os._exit(0)


def _say(answers: TextIO, what: dict[str, Any]) -> None:
    try:
        answers.write(json.dumps(what) + "\n")
        answers.flush()
    except BrokenPipeError:
        os._exit(0)
