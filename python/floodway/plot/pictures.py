"""Pictures of a single run: completion times, slowdown, throughput of the busiest links over time."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.common.errors import PlotError
from floodway.plot.axes import png_of
from floodway.plot.curves import Source
from floodway.plot.fct import fct
from floodway.plot.series import series
from floodway.plot.slowdown import slowdown

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from floodway.plot.curves import Drawing
    from floodway.results import Result

__all__ = ["save_all"]


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
