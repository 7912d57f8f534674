"""Files of pictures, with the data that they show beside them; and every picture of a single run."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.common.errors import OutputError, PlotError, unwritable
from floodway.plot.axes import Format, bytes_of, png_of
from floodway.plot.curves import Drawing, Source
from floodway.plot.flows import fct, slowdown
from floodway.plot.series import series
from floodway.results.files import new_folder, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from floodway.results import Result

__all__ = ["refuse_taken", "save", "save_all"]


def refuse_taken(files: Sequence[Path], *, force: bool) -> None:
    """Raise an error if a file exists and must not be replaced.

    Parameters
    ----------
    files
        Paths of the files to write.
    force
        Whether existing files may be replaced.

    Raises
    ------
    OutputError
        If a file exists and `force` is not set, or the path is a folder.
    """
    for file in files:
        if file.is_dir():
            raise OutputError(os.fspath(file), "is a folder; choose another file")
        if not force and (file.exists() or file.is_symlink()):
            raise OutputError(os.fspath(file), "is there already; --force, in Python force=True, replaces it")


def save(drawing: Drawing, files: Sequence[Path], *, force: bool = False) -> None:
    """Write a picture into files, in the formats of their suffixes; `.csv` is the data.

    Parameters
    ----------
    drawing
        Picture with its data.
    files
        Paths of the files; missing folders are created.
    force
        Whether existing files may be replaced.

    Raises
    ------
    OutputError
        If a file exists, or cannot be written.
    """
    refuse_taken(files, force=force)
    contents = {file: _content(drawing, file.suffix[1:]) for file in files}
    for file, content in contents.items():
        try:
            with new_folder(file.parent):
                replace_file(file, content)
        except OSError as error:
            raise unwritable(file, error) from error


def _content(drawing: Drawing, ending: str) -> bytes:
    if ending == "csv":
        return drawing.data.write_csv().encode()
    form: Format = ending  # type: ignore[assignment]
    return bytes_of(drawing.figure, form)


def save_all(result: Result, folder: str | os.PathLike[str]) -> list[Path]:
    """Draw every picture of a result into a folder.

    Pictures without data are left out, such as throughput of a run without watched links.

    Parameters
    ----------
    result
        Result of a run.
    folder
        Existing folder for the pictures; files in it are replaced.

    Returns
    -------
    list of Path
        Paths of the pictures, in PNG.
    """
    sources = (Source(label=result.run.name, results=(result,)),)
    pictures: dict[str, Callable[[], Drawing]] = {
        "fct.png": lambda: fct(sources),
        "slowdown.png": lambda: slowdown(sources),
        "throughput.png": lambda: series(sources),
    }
    drawn = []
    for name, draw in pictures.items():
        with contextlib.suppress(PlotError):
            content = png_of(draw().figure)
            file = Path(folder) / name
            file.write_bytes(content)
            drawn.append(file)
    return drawn
