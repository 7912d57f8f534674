"""What all pictures have in common: figures that notebooks show, axes, and bytes that do not change."""

from __future__ import annotations

import contextlib
import warnings
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
from matplotlib import style
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

__all__ = [
    "FORMATS",
    "Format",
    "NotebookFigure",
    "axes_of",
    "bytes_of",
    "grid_of",
    "panels_of",
    "plain_style",
    "plain_ticks",
    "png_of",
    "shown",
]

Format = Literal["png", "pdf", "svg"]
#: The formats of pictures, by the endings of their files.
FORMATS: tuple[Format, ...] = ("png", "pdf", "svg")
#: Inches.
SIZE = (7.0, 4.2)
DOTS_PER_INCH = 150
#: Of panels below one another.
PANEL_HEIGHT = 1.6
#: Of panels beside one another.
PANEL_WIDTH = 4.4
#: Longer names are cut in the middle.
LONGEST_NAME = 64
#: Programs write themselves and the time into their files; without these, the same result has the same bytes.
_METADATA: dict[Format, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}


class NotebookFigure(Figure):
    """A figure that a notebook shows where a cell ends with it, without the state of `pyplot`."""

    def _repr_png_(self) -> bytes:
        return png_of(self)


def axes_of(across: str, up: str, *, title: str) -> tuple[Figure, Axes]:
    """Make a figure with one pair of axes."""
    figure = NotebookFigure(figsize=SIZE, dpi=DOTS_PER_INCH, layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlabel=across, ylabel=up, title=title)
    axes.grid(visible=True, alpha=0.3)
    return figure, axes


def panels_of(across: str, up: str, *, title: str, panels: int) -> tuple[Figure, list[Axes]]:
    """Make a figure with pairs of axes below one another, all over the same ranges."""
    figure, grid = grid_of(across, up, title=title, rows=panels, columns=1)
    return figure, [row[0] for row in grid]


def grid_of(across: str, up: str, *, title: str, rows: int, columns: int) -> tuple[Figure, list[list[Axes]]]:
    """Make a figure with rows of pairs of axes, all over the same ranges."""
    wide = SIZE[0] if columns == 1 else 1.0 + PANEL_WIDTH * columns
    size = (wide, max(SIZE[1], PANEL_HEIGHT * rows + 1.0))
    figure = NotebookFigure(figsize=size, dpi=DOTS_PER_INCH, layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for axes in grid.flat:
        axes.grid(visible=True, alpha=0.3)
    figure.suptitle(title)
    figure.supylabel(up, fontsize="medium")
    if columns == 1:
        grid[-1, 0].set_xlabel(across)
    else:
        figure.supxlabel(across, fontsize="medium")
    return figure, [list(row) for row in grid]


@contextlib.contextmanager
def plain_style() -> Iterator[None]:
    """Draw as matplotlib does without anybody's settings, so that the same result gives the same picture."""
    with style.context("default"):
        yield


def shown(name: str) -> str:
    """Return a name as pictures show it: no sign has a meaning of its own, and it is not too long.

    Examples
    --------
    >>> shown("_" + "long" * 20)
    ' _longlonglonglonglonglonglongl ... nglonglonglonglonglonglonglong'
    """
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    if len(plain) > LONGEST_NAME:
        half = LONGEST_NAME // 2 - 2
        plain = f"{plain[:half]} ... {plain[-half:]}"
    # A legend leaves out what begins with an underscore.
    return (f" {plain}" if plain.startswith("_") else plain).replace("$", r"\$")


def plain_ticks(axis: Axis) -> None:
    """Write the numbers of a logarithmic axis out: 1, 2, 5, 10, 20 and so on."""
    axis.set_minor_locator(LogLocator(subs=(2, 5)))
    for labels in (axis.set_major_formatter, axis.set_minor_formatter):
        labels("{x:g}")


def png_of(figure: Figure) -> bytes:
    """Draw a figure as PNG; the same result gives the same bytes."""
    return bytes_of(figure, "png")


def bytes_of(figure: Figure, form: Format) -> bytes:
    """Draw a figure in a format; the same result gives the same bytes."""
    drawn = BytesIO()
    with (
        plain_style(),
        # Type 42: what a PDF shows may be searched and selected.
        mpl.rc_context({"svg.hashsalt": "floodway", "pdf.fonttype": 42}),
        warnings.catch_warnings(),
    ):
        # A letter that the font lacks is shown as a box; who reads it knows the name.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(drawn, format=form, metadata=_METADATA[form])
    return drawn.getvalue()
