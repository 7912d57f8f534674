"""Execution of many pieces of work by an executor: the runs of comparisons, of plans and of studies.

The executor is one of `concurrent.futures`, or a client of Dask. Only a few pieces are submitted at a time.
Results are collected in the calling thread, one by one, so that an interrupt loses none of them.
"""

from __future__ import annotations

import queue
from collections import deque
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from floodway.simulation.watching import POLL_S, stopped_by_interrupt

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Future", "drive", "in_threads"]

#: A piece of work.
Piece = TypeVar("Piece")


class Future(Protocol):
    """The result of a piece of work to come, as executors and clients of Dask return it."""

    def result(self) -> Any:  # noqa: ANN401 (as executors have it)
        """Return the result of the piece, or raise the error that it ended with."""

    def cancel(self) -> object:
        """Cancel the piece, if it has not begun."""

    def add_done_callback(self, fn: Callable[[Any], object], /) -> object:
        """Register a callback for the end of the piece."""


class Work(Protocol[Piece]):
    """A list of pieces of work, with their submission and the collection of their results."""

    @property
    def waits(self) -> bool:
        """Whether pieces are left that have not been submitted."""

    def take(self, in_hand: int) -> Piece | None:
        """Return the next piece to submit; `None` while `in_hand` unfinished pieces are enough."""

    def submit(self, piece: Piece) -> Future:
        """Submit a piece to the executor."""

    def end(self, piece: Piece, future: Future) -> None:
        """Collect the result of a piece that has ended."""


def drive(
    work: Work[Piece], *, stop: threading.Event, look: Callable[[], None] = lambda: None, finish: bool = False
) -> None:
    """Execute all pieces of work, until `stop` is set.

    Parameters
    ----------
    work
        The pieces of work.
    stop
        Event that ends the work: pieces that have not begun are cancelled. An error sets it, too.
    look
        Called about ten times a second in the calling thread.
    finish
        Whether to wait, after a stop, for the pieces that have begun, since they stop by themselves.
    """
    in_hand: dict[int, tuple[Piece, Future]] = {}
    ended: queue.SimpleQueue[int] = queue.SimpleQueue()
    handed = 0
    try:
        while in_hand or (work.waits and not stop.is_set()):
            while not stop.is_set() and (piece := work.take(len(in_hand))) is not None:
                future = work.submit(piece)
                in_hand[handed] = piece, future
                future.add_done_callback(partial(_note, ended, handed))
                handed += 1
            if stop.is_set():
                _give_up(in_hand)
                if not finish:
                    return
            for number in sorted(_ended(ended)):
                work.end(*in_hand.pop(number))
            look()
    except BaseException:
        stop.set()
        raise
    finally:
        _give_up(in_hand)


def in_threads(
    calls: Sequence[Callable[[], Any]],
    *,
    jobs: int,
    stop: threading.Event,
    end: Callable[[int, Future], None],
    look: Callable[[], None] = lambda: None,
) -> None:
    """Make calls in threads of this process; Ctrl-C sets `stop`, which the calls check.

    Parameters
    ----------
    calls
        The calls.
    jobs
        Number of calls at a time: the native module releases the interpreter's lock.
    stop, look
        As in `drive`.
    end
        Called in the calling thread with the number of a call and its future.
    """
    with stopped_by_interrupt(stop.set), ThreadPoolExecutor(jobs, thread_name_prefix="floodway") as pool:
        drive(_Calls(pool, jobs, deque(enumerate(calls)), end), stop=stop, look=look, finish=True)


@dataclass
class _Calls:
    executor: Executor
    jobs: int
    left: deque[tuple[int, Callable[[], Any]]]
    on_end: Callable[[int, Future], None]

    @property
    def waits(self) -> bool:
        return bool(self.left)

    def take(self, in_hand: int) -> tuple[int, Callable[[], Any]] | None:
        return self.left.popleft() if self.left and in_hand < self.jobs else None

    def submit(self, piece: tuple[int, Callable[[], Any]]) -> Future:
        return self.executor.submit(piece[1])

    def end(self, piece: tuple[int, Callable[[], Any]], future: Future) -> None:
        self.on_end(piece[0], future)


def _note(ended: queue.SimpleQueue[int], number: int, _: object) -> None:
    ended.put(number)


def _ended(ended: queue.SimpleQueue[int]) -> Iterator[int]:
    """Yield the numbers of pieces that have ended, after at most a tenth of a second."""
    try:
        yield ended.get(timeout=POLL_S)
        while True:
            yield ended.get_nowait()
    except queue.Empty:
        return


def _give_up(in_hand: dict[int, tuple[Any, Future]]) -> None:
    for _, future in in_hand.values():
        future.cancel()
