"""Native work in a thread of its own: progress, Ctrl-C and the memory that is left.

Linux may grant memory that it does not have. So the memory that is left to the machine, the control group and
the process is checked ten times per second, and a run stops before the system ends the process.
"""

from __future__ import annotations

import contextlib
import ctypes
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from floodway._floodway import Progress

__all__ = ["POLL_S", "stopped_by_interrupt", "watched"]

#: The type that work returns.
Outcome = TypeVar("Outcome")

#: Seconds between two reads of the progress.
POLL_S = 0.1
#: Seconds that a run is given to stop before code of users in it is interrupted.
PATIENCE_S = 2.0


def _interrupt_own_code(thread: int) -> None:
    """Raise `KeyboardInterrupt` in code of users' mechanisms that does not return.

    Nothing happens while the simulator itself runs there: it checks whether to stop.
    """
    frame = sys._current_frames().get(thread)  # noqa: SLF001 (Python has no other way)
    if frame is None or frame.f_code.co_filename == __file__:
        return
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))


@contextlib.contextmanager
def stopped_by_interrupt(
    stop: Callable[[], None], *, afterwards: Callable[[], None] | None = None
) -> Iterator[None]:
    """Let Ctrl-C stop a run instead of raising an exception; this works in the main thread only.

    Parameters
    ----------
    stop
        Called at Ctrl-C while the block runs.
    afterwards
        Called at Ctrl-C from the end of the block on. Default: the earlier handler is in force again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: stop())
    try:
        yield
    finally:
        if afterwards is None:
            # None is a handler that is not Python's and cannot be restored.
            signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)
        else:
            signal.signal(signal.SIGINT, lambda *_: afterwards())


def watched(
    work: Callable[[], Outcome], progress: Progress, on_progress: Callable[[Progress], None] | None
) -> Outcome:
    """Call a function in a thread of its own, and report its progress about ten times a second.

    Where hardly any memory is left the work is stopped, before the system ends the whole process.

    Parameters
    ----------
    work
        The function that runs a scenario and updates the progress.
    progress
        The progress; an exception in the calling thread stops the work.
    on_progress
        Called with the progress, in the calling thread.
    """
    worker: list[int] = []

    def at_work() -> Outcome:
        worker.append(threading.get_ident())
        return work()

    stopping_s = 0.0
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="floodway") as pool:
        running = pool.submit(at_work)
        try:
            while wait((running,), timeout=POLL_S).not_done:
                progress.stop_if_short_of_memory()
                stopping_s += POLL_S if progress.is_stopping else 0.0
                if stopping_s >= PATIENCE_S and worker:
                    _interrupt_own_code(worker[0])
                if on_progress is not None:
                    on_progress(progress)
        except BaseException:
            progress.stop()
            raise
        return running.result()
