"""Runs side by side, one thread each: the native module releases the interpreter lock."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from floodway.common.errors import MechanismError, RunError
from floodway.simulation.driver import Future, in_threads
from floodway.simulation.run import run

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from floodway._floodway import Progress
    from floodway.scenarios.scenario import Extent, Scenario
    from floodway.simulation.analysis import Result

__all__ = ["Resources", "Task", "cores", "run_all"]


@dataclass(frozen=True)
class Resources:
    """Resources of each run: threads, and whether to ignore that they do not pay or that memory is short."""

    threads: int = 1
    force_threads: bool = False
    force_memory: bool = False


#: The default resources of a run.
USUAL = Resources()


@dataclass(eq=False, kw_only=True)
class Task:
    """One run of several, with its progress.

    Attributes
    ----------
    label
        Its name in messages.
    scenario
        The scenario to simulate.
    began
        Its begin by the monotonic clock, in seconds.
    progress
        Its progress; `None` before the first report.
    result
        Its result; `None` before its end, and where it was interrupted.
    """

    label: str
    scenario: Scenario
    began: float = 0.0
    progress: Progress | None = None
    result: Result | None = None

    @property
    def extent(self) -> Extent:
        """The end of the run, by which its progress is estimated."""
        return self.scenario.extent

    @property
    def wall_s(self) -> float | None:
        """Wall-clock time that it took, in seconds; `None` before its end."""
        return self.result.run.timings.wall_s if self.result is not None else None

    @property
    def failed(self) -> bool:
        """Whether it failed: always false, since a failure ends all runs."""
        return False


def cores() -> int:
    """Return the number of cores that this process may use, and so of runs at a time."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # Not on every system.
        return os.cpu_count() or 1


def run_all(  # noqa: PLR0913 (what a comparison chooses)
    tasks: Sequence[Task],
    *,
    jobs: int,
    resources: Resources = USUAL,
    only: Container[int] | None = None,
    on_progress: Callable[[Sequence[Task]], None] | None,
    on_result: Callable[[int, Result], None],
) -> None:
    """Run every task to its end; Ctrl-C ends those that have not finished.

    Parameters
    ----------
    tasks
        The runs; each gets its result, unless it has one already.
    jobs
        Number of runs at a time.
    resources
        Resources of each run.
    only
        The numbers of the tasks to run here; `None` for all.
    on_progress
        Called about ten times a second in the calling thread.
    on_result
        Called in the calling thread with a task's number as soon as its run has ended.

    Raises
    ------
    RunError
        If a run failed; the others are then stopped.
    """
    stop = threading.Event()
    missing = [
        (number, task)
        for number, task in enumerate(tasks)
        if task.result is None and (only is None or number in only)
    ]

    def end(place: int, future: Future) -> None:
        number, task = missing[place]
        try:
            result: Result | None = future.result()
        except CancelledError:
            return
        except MechanismError as error:
            # It has its cause, and keeps it.
            error.label = task.label
            raise
        except RunError as error:
            raise type(error)(f"{task.label}: {error}", label=task.label) from error
        if result is not None:
            on_result(number, result)
            task.result = result

    def look() -> None:
        if on_progress is not None:
            on_progress([task for _, task in missing])

    calls = [partial(_run, task, stop, resources) for _, task in missing]
    in_threads(calls, jobs=jobs, stop=stop, end=end, look=look)


def _run(task: Task, stop: threading.Event, resources: Resources) -> Result | None:
    def look(progress: Progress) -> None:
        task.progress = progress
        if stop.is_set():
            progress.stop()

    if stop.is_set():
        return None
    task.began = time.monotonic()
    result = run(
        task.scenario,
        threads=resources.threads,
        force_threads=resources.force_threads,
        force_memory=resources.force_memory,
        on_progress=look,
    )
    return None if result.outcome.stopped == "interrupted" else result
