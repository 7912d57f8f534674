"""Execution of runs: by processes of this command, Dask's client, or any of `concurrent.futures`.

Few runs are in its hands at once, so that neither it nor this process has to remember thousands. Results are
not among what comes back: who runs them stores them.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections import deque
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from floodway.common.errors import ClusterError, OutputError
from floodway.results.store import Reservation
from floodway.scenarios.keys import engine
from floodway.simulation.driver import drive
from floodway.simulation.watching import stopped_by_interrupt
from floodway.study.running.pool import ProcessDiedError, ProcessPool
from floodway.study.running.work import TaskProgress, answer_to, task_of, topic_of, with_contents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from distributed import Client

    from floodway.simulation.driver import Future
    from floodway.study.running.work import Task

__all__ = ["IN_HAND", "run_on", "threads_of"]

#: Runs submitted for each thread of a worker: one at work, and the next ones, so that it never waits.
IN_HAND = 4
#: Interval at which workers are counted, in seconds.
COUNT_EVERY_S = 1.0
#: Workers that are started again are missing no longer than this, in seconds.
PATIENCE_S = 15.0
#: End of the error of a lost cluster.
CONTINUES = "; completed runs are kept, and the same command continues"


class _Cluster:
    """A client of Dask, and how many runs its workers may have."""

    def __init__(self, client: Client, *, on_message: Callable[[str], None]) -> None:
        self._client = client
        self._notify = on_message
        self._counted = -COUNT_EVERY_S
        self._room = 0
        self._none_since: float | None = None
        self._had_some = False

    def room(self) -> int:
        """Return how many runs it may have at once; 0 while it has no workers."""
        if time.monotonic() - self._counted >= COUNT_EVERY_S:
            self._room = IN_HAND * threads_of(self._client)
            self._counted = time.monotonic()
            self._say_if_none()
        return self._room

    def _say_if_none(self) -> None:
        """Notify once that there are no workers, if that lasts."""
        if self._room:
            self._none_since, self._had_some = None, True
        elif self._none_since is None:
            self._none_since = self._counted
        elif self._counted - self._none_since > PATIENCE_S:
            left = f"; those that were there have left: is floodway {engine()} installed where they run?"
            self._notify(
                f"the cluster has no workers now; runs wait for them{left if self._had_some else ''}"
            )
            self._none_since = math.inf

    def submit(self, task: dict[str, Any], name: str) -> Future:
        """Submit a run."""
        future: Future = self._client.submit(answer_to, task, key=name, pure=False)
        return future


@dataclass(eq=False, kw_only=True)
class _Studies:
    """The runs of studies, as work for an executor."""

    #: How many runs may be in hand at once, and the function that submits one under a name.
    room: Callable[[], int]
    submit_as: Callable[[dict[str, Any], str], Future]
    mark: Path | None
    waiting: deque[Task]
    on_end: Callable[[Task], None]
    #: Runs that were in the hands of workers that died; whether it was theirs, each alone shows.
    suspects: deque[Task] = field(default_factory=deque)
    in_hand: int = 0
    #: Whether a worker does not see the folder: then runs carry what they read.
    far: bool = False
    attempts: int = 0

    @property
    def waits(self) -> bool:
        return bool(self.waiting or self.suspects)

    def take(self, in_hand: int) -> Task | None:
        self.in_hand = in_hand
        room = self.room()
        if self.waiting:
            return self.waiting.popleft() if in_hand < room else None
        return self.suspects.popleft() if self.suspects and room and not in_hand else None

    def submit(self, piece: Task) -> Future:
        plain = task_of(piece.run, folder=piece.folder, mark=self.mark)
        if self.far:
            plain = with_contents(plain, piece.run)
        self.attempts += 1
        piece.began = time.monotonic()
        mark = "" if self.mark is None else self.mark.name[1:9]
        return self.submit_as(plain, f"floodway-{piece.run.key[:16]}-{mark}-{self.attempts}")

    def end(self, piece: Task, future: Future) -> None:
        self.in_hand -= 1
        try:
            answer = future.result()
        except CancelledError as error:
            why = getattr(error, "reason", None) or "it gave up the runs"
            raise _lost(why) from error
        except BrokenExecutor as error:
            raise ClusterError(f"the executor is lost: {error}{CONTINUES}") from error
        except OSError as error:
            # Errors of the run itself are in its answer: this one is of the way to it.
            raise _lost(error) from error
        except ProcessDiedError as error:
            piece.error = str(error)
            self.on_end(piece)
        except Exception as error:  # noqa: BLE001 (whatever a library raises)
            self._failed(piece, error)
        else:
            self._take(piece, answer)

    def _failed(self, task: Task, error: Exception) -> None:
        if isinstance(error, ImportError) and (error.name or "").startswith("floodway"):
            text = f"a worker lacks what this version, {engine()}, needs: {error}; install the same there"
            raise ClusterError(f"{text}{CONTINUES}") from error
        killed = _deaths(error)
        if killed and not (task.suspected and self.in_hand == 0):
            # It may have been another's: those that were waiting there are suspected as well.
            task.suspected = True
            self.suspects.append(task)
            return
        task.error = (
            f"{killed} workers died in turn while they had this run alone; it is left out"
            if killed
            else f"{type(error).__name__}: {error}"
        )
        self.on_end(task)

    def _take(self, task: Task, answer: dict[str, Any]) -> None:
        where = f"the worker on {answer['host']} (process {answer['pid']})"
        if "engine" in answer:
            text = f"{where} has floodway {answer['engine']}, and this is {engine()}; install the same there"
            raise ClusterError(f"{text}{CONTINUES}")
        if "sees" in answer:
            self.far = True
            self.waiting.appendleft(task)
            return
        if "files" in answer:
            answer |= _stored_here(task, answer["files"])
        task.wall_s, task.error = answer.get("done"), answer.get("error", "")
        task.unwritable, task.taken = answer.get("unwritable", False), answer.get("taken", "")
        self.on_end(task)


def _lost(why: object) -> ClusterError:
    """Return the error of a cluster that does not answer any more."""
    return ClusterError(f"the cluster is lost: {why}{CONTINUES}")


def threads_of(client: Client) -> int:
    """Return how many runs the workers of a cluster do at once.

    Raises
    ------
    ClusterError
        If its scheduler does not answer.
    """
    try:
        return sum(client.nthreads().values())  # type: ignore[no-untyped-call]
    except OSError as error:
        raise _lost(error) from error


def run_on(  # noqa: PLR0913 (as `conduct`)
    executor: Executor | Client | None,
    tasks: Sequence[Task],
    *,
    mark: Path | None,
    jobs: int,
    on_progress: Callable[[Sequence[Task]], None] | None,
    on_end: Callable[[Task], None],
    on_message: Callable[[str], None],
) -> bool:
    """Run every task on an executor, and return whether all have ended: false after Ctrl-C.

    Parameters
    ----------
    executor
        Of `concurrent.futures`, or a client of Dask; none for processes of this command.
    tasks
        What to run, in this order.
    mark
        A file of this command alone beside the runs, by which a worker knows whether it sees their folder;
        none for processes of this command.
    jobs
        Of an executor, the runs that are at work at once.
    on_progress
        Called about ten times a second.
    on_end
        Called as soon as a task has ended, or failed.
    on_message
        Called with messages.

    Raises
    ------
    ClusterError
        If the executor is lost, or a worker has another version of floodway.
    """
    if executor is not None and not isinstance(executor, Executor) and not hasattr(executor, "nthreads"):
        raise TypeError(
            f"a {type(executor).__name__} is no executor of concurrent.futures and no distributed.Client"
        )
    stop = threading.Event()

    def look() -> None:
        if on_progress is not None:
            on_progress(tasks)

    with (
        stopped_by_interrupt(stop.set),
        _hands(executor, tasks, mark=mark, jobs=jobs, on_message=on_message) as (room, submit),
    ):
        studies = _Studies(room=room, submit_as=submit, mark=mark, waiting=deque(tasks), on_end=on_end)
        drive(studies, stop=stop, look=look)
    return all(task.ended for task in tasks)


@contextlib.contextmanager
def _hands(
    executor: Executor | Client | None,
    tasks: Sequence[Task],
    *,
    mark: Path | None,
    jobs: int,
    on_message: Callable[[str], None],
) -> Iterator[tuple[Callable[[], int], Callable[[dict[str, Any], str], Future]]]:
    """Open the executor of runs, record the progress that it reports, and return its room and `submit`."""
    by_key = {task.run.key: task for task in tasks}

    def take(seen: dict[str, Any]) -> None:
        task = by_key.get(seen["run"])
        if task is not None:
            task.progress = TaskProgress(**seen["progress"])

    if executor is None:
        most = min(jobs, len(tasks))
        with ProcessPool(most, on_report=take) as pool:
            yield lambda: most, lambda task, _: pool.submit(answer_to, task)
    elif isinstance(executor, Executor):
        yield lambda: IN_HAND * jobs, lambda task, _: executor.submit(answer_to, task)
    else:
        topic = topic_of(mark) if mark is not None else ""
        cluster = _Cluster(executor, on_message=on_message)
        executor.subscribe_topic(topic, lambda event: take(event[1]))  # type: ignore[no-untyped-call]
        try:
            yield cluster.room, cluster.submit
        finally:
            # Without a scheduler there is nothing to end.
            with contextlib.suppress(ValueError, OSError):
                executor.unsubscribe_topic(topic)  # type: ignore[no-untyped-call]


def _deaths(error: Exception) -> int:
    """Return how many workers died one after another with a run; 0 for any other error."""
    if type(error).__name__ != "KilledWorker":
        return 0
    return int(getattr(error, "allowed_failures", 0)) + 1


def _stored_here(task: Task, files: dict[str, bytes]) -> dict[str, Any]:
    """Store the files of a run that came from a worker, and return its answer."""
    try:
        with Reservation(task.folder, force=True) as place:
            place.receive(files, key=task.run.key)
    except OutputError as error:
        return {"error": error.reason, "unwritable": True}
    return {}
