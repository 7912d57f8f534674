"""Files that are written completely or not at all, and synchronised before they are renamed."""

from __future__ import annotations

import contextlib
import os
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["EXPORTED", "NEW_SUFFIX", "REPORT_FILE", "TRACE_FILE", "missing_folders", "new_folder"]
__all__ += ["remove_empty", "replace_file", "to_disk"]

#: The files of an export in the formats of the HPCC simulator.
EXPORTED = ("fct.txt", "pfc.txt", "qlen.txt", "nodes.txt")
#: The trace for Perfetto.
TRACE_FILE = "trace.perfetto-trace"
#: The page of a run.
REPORT_FILE = "report.html"
#: End of the names of files that are being written; they begin with a dot.
NEW_SUFFIX = ".floodway-new"


def replace_file(file: Path, content: bytes) -> None:
    """Write a file; an existing one is replaced.

    Raises
    ------
    OSError
        If it cannot be written; what was there before is then still there.
    """
    # A name of its own: several processes may replace one file at once.
    new = file.with_name(f".{file.name}.{uuid.uuid4().hex}{NEW_SUFFIX}")
    try:
        with new.open("xb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        new.replace(file)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    to_disk(file.parent)


def missing_folders(folder: Path) -> list[Path]:
    """Return a folder and its parents that do not exist, the innermost first."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove the empty ones of some folders, which are in the order from the innermost outwards."""
    for folder in folders:
        with contextlib.suppress(OSError):
            folder.rmdir()


@contextlib.contextmanager
def new_folder(folder: Path) -> Iterator[None]:
    """Make a folder for a `with` block; folders made for it that are empty at the end are removed.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    missing = missing_folders(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        remove_empty(missing)


def to_disk(folder: Path) -> None:
    """Write the names in a folder to the disk, where its file system can do that."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)
