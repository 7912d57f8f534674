"""Results written to another folder when their own cannot be written."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.common.errors import LostResultsError, OutputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["rescued"]


def rescued(write: Callable[[Path], None], *, name: str, error: OutputError) -> Path:
    """Write results into a new folder: among temporary files, or else in the user's own folder.

    Parameters
    ----------
    write
        Writes them into the empty folder that it is given.
    name
        What the new folder is called after.
    error
        Why they cannot be written to their place.

    Returns
    -------
    Path
        The new folder.

    Raises
    ------
    LostResultsError
        If they cannot be written there either.
    """
    tried = []
    for base in _bases():
        try:
            folder = Path(tempfile.mkdtemp(prefix=f"floodway-{name}-", dir=base))
        except OSError:
            tried.append(str(base))
            continue
        try:
            write(folder)
        except (OSError, OutputError):
            tried.append(str(base))
            shutil.rmtree(folder, ignore_errors=True)
        else:
            return folder
    nor = (
        f"; neither can {' and '.join(tried)}, and the results are lost"
        if tried
        else "; the results are lost"
    )
    raise LostResultsError(error.path, f"{error.reason}{nor}") from error


def _bases() -> Iterator[Path]:
    # Looking for a folder for temporary files writes to it, and finds none where all are full.
    with contextlib.suppress(OSError):
        yield Path(tempfile.gettempdir())
    with contextlib.suppress(OSError, RuntimeError):
        yield Path.home()
