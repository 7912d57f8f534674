"""Work in the hands of an executor, few pieces at once: the runs of comparisons, of plans and of studies.

An executor is any of `concurrent.futures`. What has ended is taken in the calling thread, piece by piece, so
that an interrupt loses nothing of it.
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

__all__ = ["Future", "Work", "drive", "in_threads"]

#: A piece of work.
Piece = TypeVar("Piece")


class Future(Protocol):
    """What executors return, and clients of Dask."""

    def result(self) -> Any:  # noqa: ANN401 (as executors have it)
        """Return what came out, or raise why nothing did."""

    def cancel(self) -> object:
        """Give it up."""

    def add_done_callback(self, fn: Callable[[Any], object], /) -> object:
        """Call something once it has ended."""


class Work(Protocol[Piece]):
    """What is to be done, and what becomes of it."""

    @property
    def waits(self) -> bool:
        """Whether pieces are left that nobody has in hand."""

    def take(self, in_hand: int) -> Piece | None:
        """Return the next piece, if so many may be in hand and one more; none for now."""

    def submit(self, piece: Piece) -> Future:
        """Hand it over."""

    def end(self, piece: Piece, future: Future) -> None:
        """Take what came out of it."""


def drive(
    work: Work[Piece], *, stop: threading.Event, look: Callable[[], None] = lambda: None, finish: bool = False
) -> None:
    """Bring all work to its end, or until `stop` is set.

    Parameters
    ----------
    work
        What is to be done.
    stop
        Ends it: what has not begun is given up. It is set where an error ends it.
    look
        Called about ten times a second in the calling thread.
    finish
        Whether what has begun is waited for after a stop, since it stops by itself.
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
    """Make calls in threads of this process, so many at once; Ctrl-C sets `stop`, for which they look.

    Parameters
    ----------
    calls
        What is called.
    jobs
        How many are at work at once: the native module releases the interpreter's lock.
    stop, look
        As `drive`'s.
    end
        Called in the calling thread with a call's number and what came out.
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
    """Yield what has ended, after at most a tenth of a second."""
    try:
        yield ended.get(timeout=POLL_S)
        while True:
            yield ended.get_nowait()
    except queue.Empty:
        return


def _give_up(in_hand: dict[int, tuple[Any, Future]]) -> None:
    for _, future in in_hand.values():
        future.cancel()
