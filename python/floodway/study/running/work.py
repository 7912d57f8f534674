"""The execution of a run from its recipe, in a process of a pool or of a cluster.

What travels are plain values: paths, keys and numbers there, and a summary back. The process writes the
results to their place. Where it does not see the folder of the study, it is sent what the run reads, and
sends the files of the results back.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway.common.errors import FloodwayError, InUseError, OutOfMemoryError, OutputError, RunError
from floodway.results.store import Reservation
from floodway.scenarios.keys import engine, files_of
from floodway.scenarios.mechanisms import load_file
from floodway.scenarios.own_code import FILES
from floodway.scenarios.scenario import inline
from floodway.simulation.run import run
from floodway.study.running.runs import Recipe
from floodway.study.running.storage import Runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from floodway._floodway import Progress
    from floodway.results import Result
    from floodway.scenarios.scenario import Extent, Scenario
    from floodway.study.running.runs import Run

__all__ = ["Task", "TaskProgress", "answer_to", "report_by", "sees", "task_of", "topic_of", "with_contents"]

#: A worker of a cluster reports progress no more often, in seconds.
REPORT_EVERY_S = 1.0

#: A task or an answer: plain values, which are written as JSON or pickled.
Plain = dict[str, Any]
#: Folders that are there until the process ends.
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
_LOADING = threading.Lock()
#: The function that reports the progress of this process's runs, if it is one of a pool.
_REPORTS: list[Callable[[Plain], None]] = []


def plain_progress(progress: Progress) -> Plain:
    """Return how far a run is, as the arguments of `TaskProgress`."""
    return {field.name: getattr(progress, field.name) for field in fields(TaskProgress)}


def task_of(run: Run, *, folder: Path, mark: Path | None) -> Plain:
    """Return a task: a run, and the folder that its results go to.

    Parameters
    ----------
    run
        What is run.
    folder
        The folder that its results go to.
    mark
        A file of this command alone beside the runs: a process that sees it sees the folder. None for a
        process of this command, with its working folder and its files of `--python`.
    """
    recipe = run.recipe
    task = {
        "recipe": recipe.__dict__,
        "given": recipe.file,
        "seed": run.seed,
        "folder": os.fspath(folder.absolute()),
        "engine": engine(),
    }
    if mark is None:
        return {**task, "mark": None, "python": []}
    file = None if recipe.file is None else os.path.abspath(recipe.file)  # noqa: PTH100 (links stay links)
    return {
        **task,
        "recipe": {**recipe.__dict__, "file": file},
        "mark": os.fspath(mark.absolute()),
        "topic": topic_of(mark),
        "python": [(os.fspath(path), shown) for path, shown in FILES.items()],
    }


def topic_of(mark: Path) -> str:
    """Return the topic of a cluster under which the workers of a command report progress."""
    return f"floodway-{mark.name}"


def report_by(report: Callable[[Plain], None]) -> None:
    """Set the function by which this process reports the progress of its runs."""
    _REPORTS.append(report)


def _reporter(task: Plain) -> Callable[[Progress], None] | None:
    """Return the function that reports the progress of a task; None where nothing receives it."""
    key = Path(task["folder"]).name
    if _REPORTS:
        return lambda progress: _REPORTS[-1]({"run": key, "progress": plain_progress(progress)})
    # An executor's process has not imported it, and need not.
    distributed = sys.modules.get("distributed")
    try:
        worker = None if distributed is None else distributed.get_worker()
    except ValueError:
        return None
    if worker is None:
        return None
    reported = time.monotonic()

    def report(progress: Progress) -> None:
        nonlocal reported
        if time.monotonic() - reported >= REPORT_EVERY_S:
            reported = time.monotonic()
            worker.log_event(task["topic"], {"run": key, "progress": plain_progress(progress)})

    return report


def with_contents(task: Plain, run: Run) -> Plain:
    """Return a task with all that the run reads, for a process that does not see the files here."""
    scenario = run.recipe.scenario().with_seed(run.seed)
    keys = scenario.to_dict()
    files = files_of(keys, run.recipe.reads_from)
    names = {path_text: _remote_name(number, path_text) for number, path_text in enumerate(files)}
    return {
        **task,
        "keys": json.dumps(_mapped(keys, lambda text: names.get(text, text))),
        "name": scenario.name,
        "document": scenario.resolved(),
        "files": {
            name: path.read_bytes()
            for path_text, paths in files.items()
            for name, path in _paths_by_name(names[path_text], paths)
        },
        "python": [(path, shown, Path(path).read_bytes()) for path, shown in task["python"]],
    }


def answer_to(task: Plain) -> Plain:
    """Run a task, store its results, and return an answer with the host and the process.

    The run's folder is locked from before the run to its end, so that no other process runs it as well.

    An answer may be that the process has another version, or that it does not see the files of the task.
    """
    process = {"host": socket.gethostname(), "pid": os.getpid()}
    if task["engine"] != engine():
        return {**process, "engine": engine()}
    try:
        if task["mark"] is None or sees(Path(task["mark"])):
            return {**process, **_answer_beside(task)}
        if "keys" not in task:
            return {**process, "sees": False}
        return {**process, **_answer_from_afar(task)}
    except Exception as error:  # noqa: BLE001 (the other runs continue after any error)
        return {**process, **_answer_of(error)}


def sees(mark: Path) -> bool:
    """Whether this process sees the folder of a study, by the mark of its command."""
    return mark.is_file()


def _answer_beside(task: Plain) -> Plain:
    """Run a task of a folder that this process sees."""
    _load([(Path(path), shown) for path, shown, *_ in task["python"]])
    recipe, shown = _recipe_of(task), task["given"]

    def result() -> Result:
        run_result = _result(recipe.scenario(), task, _reporter(task))
        if recipe.file == shown or recipe.file is None:
            return run_result
        # The record does not depend on the process that ran it.
        return _with_document(run_result, _as_given(run_result.run.scenario, recipe.file, shown))

    return _stored(Path(task["folder"]), result)


def _answer_from_afar(task: Plain) -> Plain:
    """Run a task whose files came with it, and return its results as files."""
    with tempfile.TemporaryDirectory(prefix="floodway-") as scratch:
        folder = Path(scratch)
        for name, content in task["files"].items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        _load([(_python_file(Path(path).name, content), shown) for path, shown, content in task["python"]])
        key = Path(task["folder"]).name
        place = folder / "runs" / key

        def result() -> Result:
            scenario = inline(task["name"], task["keys"], folder=folder)
            return _with_document(_result(scenario, task, _reporter(task)), task["document"])

        answer = _stored(place, result)
        return {**answer, "files": {file.name: file.read_bytes() for file in place.iterdir()}}


def _paths_by_name(name: str, paths: Path | tuple[Path, ...]) -> Iterator[tuple[str, Path]]:
    """Yield names in the other process with their paths: of a file, or of the files of a folder."""
    if isinstance(paths, Path):
        yield name, paths
    else:
        yield from ((f"{name}/{path.name}", path) for path in paths)


def _remote_name(number: int, path_text: str) -> str:
    """Return the name of a file or folder in the other process: the same inside the scenario's folder.

    A name such as `h1` may mean a host in another place of the scenario, so it has to stay.
    """
    inside = not Path(path_text).is_absolute() and ".." not in Path(path_text).parts and "$" not in path_text
    # The ending of a file decides its format, so it is kept.
    return path_text if inside else f".floodway/{number}-{Path(path_text).name}"


def _load(files: Sequence[tuple[Path, str]]) -> None:
    """Load files of `--python`: one thread at a time, since classes are registered for the process."""
    with _LOADING:
        for path, shown in files:
            load_file(path, name=shown)


@cache
def _python_file(name: str, content: bytes) -> Path:
    """Write a file of `--python` once for this process, since its classes are registered once."""
    folder = tempfile.TemporaryDirectory(prefix="floodway-")
    _FOLDERS.append(folder)
    path = Path(folder.name) / name
    path.write_bytes(content)
    return path


def _recipe_of(task: Plain) -> Recipe:
    recipe = task["recipe"]
    return Recipe(**{**recipe, "sets": tuple((key, value) for key, value in recipe["sets"])})


def _result(scenario: Scenario, task: Plain, on_progress: Callable[[Progress], None] | None = None) -> Result:
    result = run(scenario.with_seed(task["seed"]), threads=1, on_progress=on_progress)
    broken = "; ".join(f"invariant {name} broken: {breach}" for name, breach in result.outcome.broken)
    if broken:
        raise RunError(f"{broken}; this is a bug in the simulator")
    return result


def _stored(folder: Path, make: Callable[[], Result]) -> Plain:
    """Make a result and store it unless it is stored already, and return the answer."""
    place = folder.absolute()
    store = Runs(place.parent)
    with Reservation(place, force=True) as reserved:
        # Another process may have ended it since it was missing.
        if store.has(place.name):
            return {"done": store.wall_s(place.name)}
        result = make()
        reserved.publish(result, key=place.name)
    return {"done": result.run.timings.wall_s}


def _answer_of(error: Exception) -> Plain:
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


def _with_document(result: Result, document: Mapping[str, Any]) -> Result:
    return replace(result, run=replace(result.run, scenario=document))


def _as_given(document: Any, file: str, shown: str) -> Any:  # noqa: ANN401 (any JSON value)
    """Return the record of a scenario with the user's name of its file, also in the places of settings."""
    return _mapped(
        document, lambda text: shown if text == file else text.replace(f", {file}:", f", {shown}:")
    )


def _mapped(value: Any, change: Callable[[str], str]) -> Any:  # noqa: ANN401 (any JSON value)
    """Return a value with each of its texts changed; keys stay."""
    match value:
        case dict():
            return {key: _mapped(inner, change) for key, inner in value.items()}
        case list():
            return [_mapped(inner, change) for inner in value]
        case str():
            return change(value)
        case _:
            return value


@dataclass(frozen=True)
class TaskProgress:
    """The progress of a run, as its process reported it last."""

    time_us: float
    flows_done: int
    flows_started: int
    packet_hops: int
    share: float
    by_work: bool
    bytes: tuple[int, int]
    operations: tuple[int, int]


@dataclass(eq=False, kw_only=True)
class Task:
    """A run to be done, and its progress.

    Attributes
    ----------
    run
        What is run.
    folder
        The folder that its results go to.
    began, progress
        When it began, by the monotonic clock, and how far it is.
    wall_s
        What it took; none before its end.
    error
        Why it failed; empty where it did not.
    unwritable
        Whether it failed because its results could not be written.
    taken
        Which other process runs it; empty where none does.
    suspected
        Whether a worker of a cluster died that had it among others.
    """

    run: Run
    folder: Path
    began: float = 0.0
    progress: TaskProgress | None = None
    wall_s: float | None = None
    error: str = ""
    unwritable: bool = False
    taken: str = ""
    suspected: bool = False

    @property
    def label(self) -> str:
        """Its name in messages."""
        return self.run.label

    @property
    def extent(self) -> Extent:
        """How far it goes."""
        return self.run.extent

    @property
    def failed(self) -> bool:
        """Whether it failed."""
        return bool(self.error)

    @property
    def ended(self) -> bool:
        """Whether it completed or failed, or is left to another process."""
        return self.wall_s is not None or self.failed or bool(self.taken)
