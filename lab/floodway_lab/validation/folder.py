"""The folder of a validation: `validate.json`, a folder a run, pictures."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.common.errors import OutputError, unwritable
from floodway.results.digests import RUN_FILE
from floodway.results.files import new_folder, replace_file

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DOCUMENT_FILE", "PICTURES", "open_folder"]

#: The file that identifies the folder of a validation.
DOCUMENT_FILE = "validate.json"
#: The names of the pictures of a case.
PICTURES = ("slowdown", "fct", "queues")


@contextlib.contextmanager
def open_folder(out: str | os.PathLike[str] | None, *, force: bool) -> Iterator[Path]:
    """Open a folder for the runs: the given one, or a temporary one that is removed at the end.

    Parameters
    ----------
    out
        The folder, which is made if it does not exist; by default a temporary one.
    force
        Whether an earlier validation there may be replaced; other files beside it are kept.

    Raises
    ------
    OutputError
        If the folder has other files, or cannot be written.
    """
    if out is None:
        with tempfile.TemporaryDirectory(prefix="floodway-validate-") as folder:
            yield Path(folder)
        return
    target = Path(out)
    shown = os.fspath(target)
    try:
        if target.exists() and not target.is_dir():
            raise OutputError(shown, "is not a folder")
        if target.is_dir() and any(target.iterdir()):
            if not (target / DOCUMENT_FILE).is_file():
                raise OutputError(shown, "holds something other than a validation; choose another folder")
            if not force:
                raise OutputError(shown, "holds a validation already; --force replaces it")
            _remove_earlier(target)
        with new_folder(target):
            # An interrupted validation can be replaced.
            replace_file(target / DOCUMENT_FILE, b'{"complete": false}\n')
            yield target
    except OSError as error:
        raise unwritable(shown, error) from error


def _remove_earlier(target: Path) -> None:
    """Remove the runs and pictures of an earlier validation; other files are kept."""
    for run in target.glob("*/seed-*"):
        if (run / RUN_FILE).is_file():
            shutil.rmtree(run)
            with contextlib.suppress(OSError):
                run.parent.rmdir()
    for picture in (file for name in PICTURES for file in target.glob(f"*-{name}.*")):
        picture.unlink()
