"""`python -m floodway` and `floodway`: the command line."""

from __future__ import annotations

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # With `-m` the working folder stands first, whose files would replace modules of Python and of packages.
    del sys.path[0]

import atexit
import gc
from typing import TYPE_CHECKING

from floodway.common.loading import loading, refuse_little_memory

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]

#: Objects that are made between two searches for garbage. Nearly all that a small command makes belong to
#: modules and stay; by default they are searched a hundred times while modules are imported.
SEARCH_AFTER = 100_000


def main() -> NoReturn:
    """Run the command line; a signal ends it quietly while its parts are still being imported, too."""
    gc.set_threshold(SEARCH_AFTER)
    # What is left at the end goes with the process.
    atexit.register(gc.freeze)
    with loading():
        refuse_little_memory()
        from floodway.cli import main as run  # noqa: PLC0415 (with the handlers)
    run()


if __name__ == "__main__":
    main()
