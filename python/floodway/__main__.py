"""`python -m floodway` and `floodway`: the command line."""

from __future__ import annotations

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    # With `-m` the working folder comes first, and its files would replace modules of Python and of packages.
    del sys.path[0]

import atexit
import gc
from typing import TYPE_CHECKING

from floodway.common.loading import loading, refuse_little_memory

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main"]

#: Objects that are created between two garbage collections. Nearly all objects of a small command belong to
#: modules and remain; by default there are a hundred collections while modules are imported.
SEARCH_AFTER = 100_000


def main() -> NoReturn:
    """Run the command line; a signal ends it quietly while its parts are still being imported, too."""
    gc.set_threshold(SEARCH_AFTER)
    # The end of the process frees all objects; they need no collection before.
    atexit.register(gc.freeze)
    with loading():
        refuse_little_memory()
        from floodway.cli import main as run  # noqa: PLC0415 (with the handlers)
    run()


if __name__ == "__main__":
    main()
