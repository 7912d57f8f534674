"""A pool of processes for runs: a process that is killed does not affect the others."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from floodway.scenarios.mechanisms import loaded_files
from floodway.simulation.watching import POLL_S, stopped_by_interrupt
from floodway.study.running.work import task_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from floodway.scenarios.scenario import Extent
    from floodway.study.running.runs import Run

__all__ = ["Task", "TaskProgress", "run_tasks"]


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


@dataclass(eq=False, kw_only=True)
class _Worker:
    """A process and its current task."""

    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    task: Task | None = None
    received: bytearray = field(default_factory=bytearray)

    @property
    def answers(self) -> IO[bytes]:
        assert self.process.stdout is not None  # noqa: S101 (made with a pipe)
        return self.process.stdout


def run_tasks(
    tasks: Sequence[Task],
    *,
    jobs: int,
    on_progress: Callable[[Sequence[Task]], None] | None = None,
    on_end: Callable[[Task], None] | None = None,
) -> bool:
    """Run every task, and return whether all have ended: false after Ctrl-C.

    Parameters
    ----------
    tasks
        What to run, in this order.
    jobs
        Number of processes.
    on_progress
        Called about ten times a second.
    on_end
        Called as soon as a task has ended, or failed.
    """
    stop = threading.Event()
    pool = _Pool(tasks, jobs=min(jobs, len(tasks)), on_end=on_end)
    with stopped_by_interrupt(stop.set), pool.selector:
        try:
            while pool.has_work() and not stop.is_set():
                pool.poll()
                if on_progress is not None:
                    on_progress(tasks)
        finally:
            pool.end()
    return all(task.ended for task in tasks)


class _Pool:
    def __init__(self, tasks: Sequence[Task], *, jobs: int, on_end: Callable[[Task], None] | None) -> None:
        self.selector = selectors.DefaultSelector()
        self._waiting = list(reversed(tasks))
        self._jobs = jobs
        self._on_end = on_end
        self._workers: list[_Worker] = []

    def has_work(self) -> bool:
        """Assign tasks to idle processes, and return whether anything is left."""
        while len(self._workers) < self._jobs and len(self._waiting) > self._idle():
            self._begin()
        for worker in [worker for worker in self._workers if worker.task is None]:
            if self._waiting:
                self._assign(worker, self._waiting.pop())
        return bool(self._waiting) or any(worker.task is not None for worker in self._workers)

    def poll(self) -> None:
        """Read the answers of processes, for at most a tenth of a second."""
        for key, _ in self.selector.select(timeout=POLL_S):
            worker: _Worker = key.data
            received = os.read(worker.answers.fileno(), 1 << 16)
            if not received:
                self._died(worker)
                continue
            worker.received += received
            *lines, rest = bytes(worker.received).split(b"\n")
            worker.received = bytearray(rest)
            for line in lines:
                self._on_answer(worker, line)

    def end(self) -> None:
        """End every process; running tasks are lost."""
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            _close(worker)
        self._workers.clear()

    def _idle(self) -> int:
        return sum(worker.task is None for worker in self._workers)

    def _begin(self) -> None:
        errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)
        # A group of its own: Ctrl-C reaches this process only, which stops the others.
        process = subprocess.Popen(  # noqa: S603 (this very program, and files that its user named)
            [sys.executable, "-P", "-m", "floodway.study", *_named_files()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            process_group=0,
            bufsize=0,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(_search_path())},
        )
        worker = _Worker(process=process, errors=errors)
        self.selector.register(worker.answers, selectors.EVENT_READ, worker)
        self._workers.append(worker)

    def _assign(self, worker: _Worker, task: Task) -> None:
        worker.task = task
        task.began = time.monotonic()
        line = json.dumps(task_of(task.run, folder=task.folder)) + "\n"
        try:
            assert worker.process.stdin is not None  # noqa: S101 (made with a pipe)
            worker.process.stdin.write(line.encode())
        except BrokenPipeError:
            self._died(worker)

    def _on_answer(self, worker: _Worker, line: bytes) -> None:
        answer = json.loads(line)
        task = worker.task
        if task is None:
            return
        if "progress" in answer:
            task.progress = TaskProgress(**answer["progress"])
            return
        task.wall_s, task.error = answer.get("done"), answer.get("error", "")
        task.unwritable, task.taken = answer.get("unwritable", False), answer.get("taken", "")
        self._ended(worker, task)

    def _died(self, worker: _Worker) -> None:
        self.selector.unregister(worker.answers)
        self._workers.remove(worker)
        task = worker.task
        code = worker.process.wait()
        if task is not None:
            task.error = f"its process {_exit_text(code)}{_last_error_line(worker.errors)}"
            self._ended(worker, task)
        _close(worker)

    def _ended(self, worker: _Worker, task: Task) -> None:
        worker.task = None
        if self._on_end is not None:
            self._on_end(task)


def _close(worker: _Worker) -> None:
    worker.process.wait()
    for stream in (worker.process.stdin, worker.process.stdout, worker.errors):
        if stream is not None:
            stream.close()


def _search_path() -> list[str]:
    """Let the other process find this package where this one found it."""
    own = os.fspath(Path(__file__).parents[3])
    before = os.environ.get("PYTHONPATH", "")
    return [own, *([before] if before else [])]


def _exit_text(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def _last_error_line(errors: IO[bytes]) -> str:
    errors.seek(0)
    lines = errors.read().decode(errors="replace").strip().splitlines()
    return f": {lines[-1]}" if lines else ""


def _named_files() -> Iterator[str]:
    """Yield the files of `--python`, each with what its user called it."""
    for path, given in loaded_files().items():
        yield from (os.fspath(path), given)
