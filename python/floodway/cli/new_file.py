"""Files that commands write, which appear only when they are complete."""

from __future__ import annotations

import contextlib
from typing import IO, TYPE_CHECKING, Any

from floodway.common.errors import OutputError, unwritable
from floodway.results.files import new_folder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["new_file"]


@contextlib.contextmanager
def new_file(out: Path, *, force: bool, mode: str = "w") -> Iterator[IO[Any]]:
    """Write a file in a `with` block, and create its folders; after an error nothing has changed.

    Parameters
    ----------
    out
        The file.
    force
        Whether it may be replaced.
    mode
        `w` for a text, `wb` for bytes.

    Raises
    ------
    OutputError
        If the file is there already and `force` is not given, is a folder or a device, or cannot be written.
    """
    if not force and (out.exists() or out.is_symlink()):
        raise OutputError(str(out), "is there already; --force replaces it")
    if out.exists() and not out.is_file():
        raise OutputError(str(out), "is not a regular file")
    part = out.with_name(f".{out.name}.part")
    try:
        with new_folder(out.parent):
            try:
                with part.open(mode, encoding=None if "b" in mode else "utf-8") as file:
                    yield file
                part.replace(out)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise unwritable(out, error) from None
