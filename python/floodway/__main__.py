"""`python -m floodway` and `floodway`: the command line."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]

#: As `floodway.cli.exits` has it, which is not imported yet.
INTERRUPTED = 130


def main() -> NoReturn:
    """Run the command line; Ctrl-C ends it quietly while its parts are still being imported, too."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        # There is nothing to clean up yet, and an exception would show its way through the imports.
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from floodway.cli import main as run  # noqa: PLC0415 (after the handler)

    signal.signal(signal.SIGINT, before)
    run()


if __name__ == "__main__":
    main()
