"""The file that a command writes: there only when it is complete."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from floodway.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import TextIO

__all__ = ["new_file"]


@contextlib.contextmanager
def new_file(out: Path, *, force: bool) -> Iterator[TextIO]:
    """Write a file in a `with` block; its folders are made. If it fails, all is as it was.

    Raises
    ------
    OutputError
        If the file is there already and `force` is not given, is a folder or a device, or cannot be written.
    """
    if not force and (out.exists() or out.is_symlink()):
        raise OutputError(str(out), "is there already; --force replaces it")
    if out.exists() and not out.is_file():
        raise OutputError(str(out), "is not a regular file; without --out, the text goes to stdout")
    part = out.with_name(f".{out.name}.part")
    made = [folder for folder in out.parents if not folder.exists()]
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("w", encoding="utf-8") as file:
                yield file
            part.replace(out)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(str(out), f"cannot be written: {error.strerror}") from None
    finally:
        for folder in made if not out.exists() else ():
            with contextlib.suppress(OSError):
                folder.rmdir()
