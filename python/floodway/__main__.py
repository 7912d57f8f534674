"""`python -m floodway` and `floodway`: the command line."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

__all__ = ["main"]

#: As `floodway.cli.exits` has them, which is not imported yet.
FAILED, INTERRUPTED, TERMINATED = 1, 130, 143
#: Address space, in MiB, that the libraries take for a small run: without threads, and for those of one core.
#: Measured.
LIBRARIES_MIB, CORE_MIB = 1024, 64


def main() -> NoReturn:
    """Run the command line; a signal ends it quietly while its parts are still being imported, too."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        # There is nothing to clean up yet, and an exception would show its way through the imports.
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    signal.signal(signal.SIGTERM, lambda *_: os._exit(TERMINATED))
    run = _imported()
    signal.signal(signal.SIGINT, before)
    run()


def _imported() -> Callable[[], NoReturn]:
    """Import the command line, or say in a line that there is not enough memory for it."""
    limit_mib = _limit_mib()
    needed_mib = LIBRARIES_MIB + CORE_MIB * (os.cpu_count() or 1)
    # With less some libraries end the process, or write warnings without end.
    if limit_mib is not None and limit_mib < LIBRARIES_MIB + CORE_MIB:
        _refuse(limit_mib, needed_mib)
    try:
        from floodway.cli import main as run  # noqa: PLC0415 (after the handlers)
    except BaseException as error:
        if limit_mib is None and not isinstance(error, MemoryError):
            raise
        _refuse(limit_mib, needed_mib)
    return run


def _limit_mib() -> int | None:
    """Return to how much address space this process is limited; none where it is not."""
    try:
        import resource  # noqa: PLC0415 (not on every system)
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit >> 20


def _refuse(limit_mib: int | None, needed_mib: int) -> NoReturn:
    limited = "" if limit_mib is None else f" (ulimit -v allows {limit_mib} MiB)"
    sys.stderr.write(
        f"error: not enough memory to start{limited}: libraries take about {needed_mib} MiB of addresses\n"
    )
    sys.stderr.flush()
    # Half-imported libraries may not end by themselves.
    os._exit(FAILED)


if __name__ == "__main__":
    main()
