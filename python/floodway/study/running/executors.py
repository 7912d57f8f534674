"""Runs in the hands of an executor: Dask's client, or any of `concurrent.futures`.

Few runs are in its hands at once, so that neither it nor this process has to remember thousands. Results are
not among what comes back: who runs them stores them.
"""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
from collections import deque
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from floodway.common.errors import ClusterError, OutputError
from floodway.results.store import Reservation
from floodway.scenarios.keys import engine
from floodway.simulation.watching import POLL_S, stopped_by_interrupt
from floodway.study.running.pool import TaskProgress
from floodway.study.running.work import answer_to_far, far_task_of, topic_of, with_contents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from distributed import Client

    from floodway.study.running.pool import Task

__all__ = ["IN_HAND", "run_on", "threads_of"]

#: Runs in the hands of each worker: one at work, and the next ones, so that it never waits for them.
IN_HAND = 4
#: How often workers are counted, in seconds.
COUNT_EVERY_S = 1.0
#: Workers that are started again are missing no longer than this, in seconds.
PATIENCE_S = 15.0
#: What an error of a lost cluster ends with.
CONTINUES = "; completed runs are kept, and the same command continues"


class Future(Protocol):
    """What executors return."""

    def result(self) -> Any:  # noqa: ANN401 (as executors have it)
        """Return what came out, or raise why nothing did."""

    def cancel(self) -> object:
        """Give it up."""

    def add_done_callback(self, fn: Callable[[Any], object], /) -> object:
        """Call something once it has ended."""


class _Hands(Protocol):
    """Where runs are put."""

    def room(self) -> int:
        """Return how many it may have at once; none while it has no workers."""

    def submit(self, task: dict[str, Any], *, name: str) -> Future:
        """Give it one."""


@dataclass(frozen=True)
class _ExecutorHands:
    executor: Executor
    most: int

    def room(self) -> int:
        return self.most

    def submit(self, task: dict[str, Any], *, name: str) -> Future:  # noqa: ARG002 (Dask's alone has names)
        return self.executor.submit(answer_to_far, task)


class _ClientHands:
    def __init__(self, client: Client, *, on_message: Callable[[str], None]) -> None:
        self._client = client
        self._notify = on_message
        self._counted = -COUNT_EVERY_S
        self._room = 0
        self._none_since: float | None = None
        self._had_some = False

    def room(self) -> int:
        if time.monotonic() - self._counted >= COUNT_EVERY_S:
            self._room = IN_HAND * threads_of(self._client)
            self._counted = time.monotonic()
            self._say_if_none()
        return self._room

    def _say_if_none(self) -> None:
        """Say once that there are no workers, where that lasts."""
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

    def submit(self, task: dict[str, Any], *, name: str) -> Future:
        future: Future = self._client.submit(answer_to_far, task, key=name, pure=False)
        return future


@dataclass(eq=False, kw_only=True)
class _InHand:
    """A run in the hands of an executor."""

    task: Task
    future: Future


@dataclass(eq=False, kw_only=True)
class _Driver:
    hands: _Hands
    mark: Path
    waiting: deque[Task]
    on_end: Callable[[Task], None] | None
    #: Runs that were in the hands of workers that died; whether it was theirs, each alone shows.
    suspects: deque[Task] = field(default_factory=deque)
    in_hand: set[_InHand] = field(default_factory=set)
    ended: queue.SimpleQueue[_InHand] = field(default_factory=queue.SimpleQueue)
    #: Whether a worker does not see the folder: then runs carry what they read.
    far: bool = False
    attempts: int = 0

    def has_work(self) -> bool:
        """Hand over what there is room for, and return whether anything is left."""
        room = self.hands.room()
        while self.waiting and len(self.in_hand) < room:
            self._hand_over(self.waiting.popleft())
        if self.suspects and not self.in_hand and not self.waiting and room:
            self._hand_over(self.suspects.popleft())
        return bool(self.waiting or self.suspects or self.in_hand)

    def poll(self) -> None:
        """Look at what has ended, for at most a tenth of a second."""
        try:
            held = self.ended.get(timeout=POLL_S)
            while True:
                self._end(held)
                held = self.ended.get_nowait()
        except queue.Empty:
            return

    def give_up(self) -> None:
        """Give up what is in hand; what a worker has begun it ends."""
        for held in self.in_hand:
            held.future.cancel()

    def _hand_over(self, task: Task) -> None:
        plain = far_task_of(task.run, folder=task.folder, mark=self.mark)
        if self.far:
            plain = with_contents(plain, task.run)
        self.attempts += 1
        task.began = time.monotonic()
        name = f"floodway-{task.run.key[:16]}-{self.mark.name[1:9]}-{self.attempts}"
        held = _InHand(task=task, future=self.hands.submit(plain, name=name))
        self.in_hand.add(held)
        held.future.add_done_callback(lambda _: self.ended.put(held))

    def _end(self, held: _InHand) -> None:
        self.in_hand.discard(held)
        task = held.task
        try:
            answer = held.future.result()
        except CancelledError as error:
            why = getattr(error, "reason", None) or "it gave up the runs"
            raise _lost(why) from error
        except BrokenExecutor as error:
            raise ClusterError(f"the executor is lost: {error}{CONTINUES}") from error
        except OSError as error:
            # Errors of the run itself are in its answer: this one is of the way to it.
            raise _lost(error) from error
        except Exception as error:  # noqa: BLE001 (whatever a library raises)
            self._failed(held, error)
            return
        self._take(task, answer)

    def _failed(self, held: _InHand, error: Exception) -> None:
        task = held.task
        if isinstance(error, ImportError) and (error.name or "").startswith("floodway"):
            text = f"a worker lacks what this version, {engine()}, needs: {error}; install the same there"
            raise ClusterError(f"{text}{CONTINUES}") from error
        killed = _deaths(error)
        if killed and not (task.suspected and len(self.in_hand) == 0):
            # It may have been another's: those that were waiting there are suspected as well.
            task.suspected = True
            self.suspects.append(task)
            return
        task.error = (
            f"{killed} workers died in turn while they had this run alone; it is left out"
            if killed
            else f"{type(error).__name__}: {error}"
        )
        self._tell(task)

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
        self._tell(task)

    def _tell(self, task: Task) -> None:
        if self.on_end is not None:
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
    executor: Executor | Client,
    tasks: Sequence[Task],
    *,
    mark: Path,
    jobs: int,
    on_progress: Callable[[Sequence[Task]], None] | None = None,
    on_end: Callable[[Task], None] | None = None,
    on_message: Callable[[str], None],
) -> bool:
    """Run every task on an executor, and return whether all have ended: false after Ctrl-C.

    Parameters
    ----------
    executor
        Of `concurrent.futures`, or a client of Dask.
    tasks
        What to run, in this order.
    mark
        A file of this command alone beside the runs, by which a worker knows whether it sees their folder.
    jobs
        Of an executor, the runs that are at work at once.
    on_progress, on_end
        As `run_tasks`'s.
    on_message
        Called with messages.

    Raises
    ------
    ClusterError
        If the executor is lost, or a worker has another version of floodway.
    """
    if not isinstance(executor, Executor) and not hasattr(executor, "nthreads"):
        raise TypeError(
            f"a {type(executor).__name__} is no executor of concurrent.futures and no distributed.Client"
        )
    stop = threading.Event()
    hands: _Hands = (
        _ExecutorHands(executor, IN_HAND * jobs)
        if isinstance(executor, Executor)
        else _ClientHands(executor, on_message=on_message)
    )
    driver = _Driver(hands=hands, mark=mark, waiting=deque(tasks), on_end=on_end)
    reports = (
        contextlib.nullcontext() if isinstance(executor, Executor) else _reports(executor, tasks, mark=mark)
    )
    with stopped_by_interrupt(stop.set), reports:
        try:
            while driver.has_work() and not stop.is_set():
                driver.poll()
                if on_progress is not None:
                    on_progress(tasks)
        finally:
            driver.give_up()
    return all(task.ended for task in tasks)


@contextlib.contextmanager
def _reports(client: Client, tasks: Sequence[Task], *, mark: Path) -> Iterator[None]:
    """Take the progress that workers report meanwhile."""
    by_key = {task.run.key: task for task in tasks}

    def take(event: tuple[float, dict[str, Any]]) -> None:
        _, seen = event
        task = by_key.get(seen["run"])
        if task is not None:
            task.progress = TaskProgress(**seen["progress"])

    topic = topic_of(mark)
    client.subscribe_topic(topic, take)  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        # Without a scheduler there is nothing to end.
        with contextlib.suppress(ValueError, OSError):
            client.unsubscribe_topic(topic)  # type: ignore[no-untyped-call]


def _deaths(error: Exception) -> int:
    """Return how many workers died one after another with a run; none where that is not what happened."""
    if type(error).__name__ != "KilledWorker":
        return 0
    return int(getattr(error, "allowed_failures", 0)) + 1


def _stored_here(task: Task, files: dict[str, bytes]) -> dict[str, Any]:
    """Store the files of a run that came from a worker, and return what is said of it."""
    try:
        with Reservation(task.folder, force=True) as place:
            place.receive(files, key=task.run.key)
    except OutputError as error:
        return {"error": error.reason, "unwritable": True}
    return {}
