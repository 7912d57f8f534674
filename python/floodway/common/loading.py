"""Imports of libraries, during which a signal or a lack of memory ends the program without a traceback."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import NoReturn

__all__ = ["loading", "refuse_little_memory"]

#: The exit statuses of `floodway.cli.exits`, which is not imported yet.
FAILED, INTERRUPTED, TERMINATED = 1, 130, 143
#: Address space, in MiB, that the libraries take for a small run with pictures: without threads, and for
#: those of one core. Measured.
LIBRARIES_MIB, CORE_MIB = 1408, 64


@contextlib.contextmanager
def loading() -> Iterator[None]:
    """Import libraries in a `with` block.

    There is nothing to clean up yet, so a signal ends the process at once: as an exception it would show a
    traceback through the imports. Afterwards the earlier handlers are in force again.
    """
    before, collects = _ended_by_signals(), gc.isenabled()
    # Imported objects stay, so searching them for garbage is useless.
    gc.disable()
    try:
        yield
    except BaseException as error:
        if isinstance(error, MemoryError) or (_limit_mib() is not None and not _is_of_code(error)):
            _refuse()
        raise
    finally:
        if collects:
            gc.enable()
        for number, handler in before.items():
            signal.signal(number, handler)


def refuse_little_memory() -> None:
    """End the process where memory is too little for the libraries; some would write warnings without end."""
    limit = _limit_mib()
    if limit is not None and limit < LIBRARIES_MIB + CORE_MIB:
        _refuse()


def _is_of_code(error: BaseException) -> bool:
    """Whether an error of an import says what the code lacks, as where another file took a module's place."""
    is_name = isinstance(error, ImportError) and str(error).startswith("cannot import name")
    return is_name or isinstance(error, (ModuleNotFoundError, AttributeError, NameError, SyntaxError))


def _limit_mib() -> int | None:
    """Return to how much address space this process is limited; none where it is not."""
    try:
        import resource  # noqa: PLC0415 (not on every system)
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit >> 20


def _ended_by_signals() -> dict[int, Callable[[int, FrameType | None], object] | int]:
    """Let signals end the process, and return who handled them."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    codes = {signal.SIGTERM: TERMINATED}
    # Ctrl-C stays ignored where it is, as in the background of a shell; other handlers stay, too.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        codes[signal.SIGINT] = INTERRUPTED
    # None is a handler that is not Python's and cannot be restored.
    return {number: signal.signal(number, _ending(code)) or signal.SIG_DFL for number, code in codes.items()}


def _ending(code: int) -> Callable[[int, FrameType | None], object]:
    return lambda *_: os._exit(code)


def _refuse() -> NoReturn:
    """Say in a line that there is not enough memory for the libraries."""
    limit, needed = _limit_mib(), LIBRARIES_MIB + CORE_MIB * (os.cpu_count() or 1)
    limited = "" if limit is None else f" (ulimit -v allows {limit} MiB)"
    sys.stderr.write(
        f"error: not enough memory to start{limited}: libraries take about {needed} MiB of addresses\n"
    )
    sys.stderr.flush()
    # Half-imported libraries may not end by themselves.
    os._exit(FAILED)
