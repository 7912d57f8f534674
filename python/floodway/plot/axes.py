"""Figures and axes that all pictures share, with reproducible bytes."""

from __future__ import annotations

import contextlib
import math
import warnings
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
from matplotlib import style
from matplotlib.axis import XAxis
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation, LogLocator

from floodway.plot.look import LAYOUT_PT, current, heading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.text import Text

__all__ = [
    "FORMATS",
    "Format",
    "NotebookFigure",
    "alone_high",
    "axes_of",
    "bytes_of",
    "figure_for",
    "grid_of",
    "lower",
    "panels_of",
    "plain_style",
    "plain_ticks",
    "png_of",
    "scale_axes",
    "shown",
    "stacked",
]

Format = Literal["png", "pdf", "svg"]
#: The formats of pictures, by the endings of their files.
FORMATS: tuple[Format, ...] = ("png", "pdf", "svg")
#: Settings of matplotlib that pictures have from their caller.
FONTS = ("font.family", "font.serif", "font.sans-serif", "font.monospace")
#: Inches, as all lengths of layouts: those of letters of 10 points.
SIZE = (7.0, 4.2)
#: A narrower picture has more, so that it is at least so many pixels wide.
DOTS_PER_INCH, LEAST_PIXELS = 150, 1050
#: Of panels below one another.
PANEL_HEIGHT = 1.6
#: Of panels side by side.
PANEL_WIDTH = 4.4
#: An axis across has labels between powers of ten where its end is at most so many times its begin. Over
#: more, and from so much on, it has powers. Numbers from the last on have commas.
MOST_DECADES, LARGE, GROUPED = 1e3, 1e6, 10_000
#: Longer names are cut in the middle, and longer titles, which have several lines.
LONGEST_NAME, LONGEST_TITLE = 64, 192
#: Programs write themselves and the time into their files; without these, the same result has the same bytes.
_METADATA: dict[Format, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}


class NotebookFigure(Figure):
    """A figure that a notebook shows where a cell ends with it, without the state of `pyplot`.

    Its letters have the size that was chosen when it was made, wherever it is drawn.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 (matplotlib's)
        super().__init__(*arguments, **options)
        self._letters: Any = {"font.size": LAYOUT_PT * current().scale}
        self._beside: Text | None = None

    def _repr_png_(self) -> bytes:
        return png_of(self)

    def savefig(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 (matplotlib's)
        """Write it, as matplotlib does; a PDF's letters are type 42, which may be searched and selected."""
        # Labels of ticks are made as late as here.
        with mpl.rc_context({**self._letters, "pdf.fonttype": 42}):
            self._centre_label()
            super().savefig(*arguments, **options)

    def supylabel(self, *arguments: Any, **options: Any) -> Text:  # noqa: ANN401 (matplotlib's)
        """Name what goes up in all panels, in the middle of them; matplotlib has it in that of the figure."""
        self._beside = super().supylabel(*arguments, **options)
        return self._beside

    def _centre_label(self) -> None:
        engine = self.get_layout_engine()
        if self._beside is None or engine is None:
            return
        engine.execute(self)
        places = [axes.get_position() for axes in self.axes]
        self._beside.set_y((min(place.y0 for place in places) + max(place.y1 for place in places)) / 2)


def figure_for(wide: float, high: float, *, layout: str | None = "constrained") -> NotebookFigure:
    """Make a figure for a layout, whose lengths are in inches with letters of 10 points."""
    scale = current().scale
    dots = max(DOTS_PER_INCH, LEAST_PIXELS / (wide * scale))
    return NotebookFigure(figsize=(wide * scale, high * scale), dpi=dots, layout=layout)


def axes_of(across: str, up: str, *, title: str) -> tuple[Figure, Axes]:
    """Make a figure with one pair of axes."""
    figure = figure_for(current().wide(SIZE[0]), alone_high())
    axes = figure.add_subplot()
    axes.set(xlabel=across, ylabel=up, title=heading(title, usual=SIZE[0]))
    axes.grid(visible=True, alpha=0.3)
    return figure, axes


def alone_high() -> float:
    """Return how high the layout of a single pair of axes is."""
    return SIZE[1] * lower()


def lower() -> float:
    """Return what heights are multiplied by: a narrower picture is lower, too, but less so."""
    return math.sqrt(min(1.0, current().wide(SIZE[0]) / SIZE[0]))


def panels_of(across: str, up: str, *, title: str, panels: int) -> tuple[Figure, list[Axes]]:
    """Make a figure with pairs of axes below one another, all over the same ranges."""
    figure, grid = grid_of(across, up, title=title, rows=panels, columns=1)
    return figure, [row[0] for row in grid]


def grid_of(across: str, up: str, *, title: str, rows: int, columns: int) -> tuple[Figure, list[list[Axes]]]:
    """Make a figure with rows of pairs of axes, all over the same ranges."""
    usual = SIZE[0] if columns == 1 else 1.0 + PANEL_WIDTH * columns
    figure = figure_for(current().wide(usual), max(alone_high(), PANEL_HEIGHT * rows + 1.0))
    grid = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for axes in grid.flat:
        axes.grid(visible=True, alpha=0.3)
    figure.suptitle(heading(title, usual=usual))
    figure.supylabel(up, fontsize="medium")
    if columns == 1:
        grid[-1, 0].set_xlabel(across)
    else:
        figure.supxlabel(across, fontsize="medium")
    return figure, [list(row) for row in grid]


def stacked(
    title: str, heights: float, panels: int, *, ratios: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """Make a figure with panels below one another, each with a range of its own upward.

    Parameters
    ----------
    title
        What stands above.
    heights
        Inches of all together.
    panels
        How many.
    ratios
        Their heights in relation to one another. Default: all alike.
    """
    figure = figure_for(current().wide(SIZE[0]), heights)
    grid = figure.subplots(panels, 1, sharex=True, squeeze=False, height_ratios=ratios)
    for axes in grid.flat:
        axes.grid(visible=True, alpha=0.3)
        axes.set_axisbelow(True)
    figure.suptitle(heading(shown(title, longest=LONGEST_TITLE), usual=SIZE[0]), fontsize="large")
    return figure, [row[0] for row in grid]


def scale_axes(axes: Axes, usual: Sequence[str]) -> tuple[str, ...]:
    """Make axes logarithmic, those that are chosen or else the usual ones, and return which.

    Parameters
    ----------
    axes
        The axes.
    usual
        `x`, `y`, both or none.
    """
    log = current().log
    chosen = tuple(usual if log is None else log)
    for name, axis, change in (("x", axes.xaxis, axes.set_xscale), ("y", axes.yaxis, axes.set_yscale)):
        if name in chosen:
            change("log")
            plain_ticks(axis)
    return chosen


@contextlib.contextmanager
def plain_style() -> Iterator[None]:
    """Draw with matplotlib's own defaults but for fonts, so that the same result gives the same picture."""
    settings: Any = mpl.rcParams
    chosen: Any = {name: settings[name] for name in FONTS} | {"font.size": LAYOUT_PT * current().scale}
    with style.context("default"), mpl.rc_context(chosen):
        yield


def shown(name: str, *, longest: int = LONGEST_NAME) -> str:
    """Return a name as pictures show it: no sign has a meaning of its own, and it is not too long.

    Examples
    --------
    >>> shown("_" + "long" * 20)
    ' _longlonglonglonglonglonglongl ... nglonglonglonglonglonglonglong'
    """
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    if len(plain) > longest:
        half = longest // 2 - 2
        plain = f"{plain[:half]} ... {plain[-half:]}"
    # A legend leaves out what begins with an underscore.
    return (f" {plain}" if plain.startswith("_") else plain).replace("$", r"\$")


def plain_ticks(axis: Axis, *, write: Callable[[float], str] | None = None) -> None:
    """Write the numbers of a logarithmic axis out: 1, 2, 5, 10, 20 and so on.

    An axis across has no room for that over many decades: it has the powers of ten alone then, as such where
    they are large. `write` writes numbers in another way, such as sizes with their units.
    """
    written = write or _written_out
    powers = LogFormatterSciNotation()
    powers.set_axis(axis)

    def is_wide() -> bool:
        low, high = sorted(axis.get_view_interval())
        return isinstance(axis, XAxis) and high > MOST_DECADES * low

    def major(value: float, _: float | None = None) -> str:
        large = max(axis.get_view_interval()) >= LARGE
        return str(powers(value)) if large and is_wide() and write is None else written(value)

    def minor(value: float, _: float | None = None) -> str:
        return "" if is_wide() else written(value)

    axis.set_minor_locator(LogLocator(subs=(2, 5)))
    axis.set_major_formatter(major)
    axis.set_minor_formatter(minor)


def _written_out(value: float) -> str:
    return f"{value:g}" if value < GROUPED else f"{value:,.0f}"


def png_of(figure: Figure) -> bytes:
    """Draw a figure as PNG; the same result gives the same bytes."""
    return bytes_of(figure, "png")


def bytes_of(figure: Figure, form: Format) -> bytes:
    """Draw a figure in a format; the same result gives the same bytes."""
    drawn = BytesIO()
    with (
        plain_style(),
        mpl.rc_context({"svg.hashsalt": "floodway"}),
        warnings.catch_warnings(),
    ):
        # A letter that the font lacks is shown as a box; who reads it knows the name.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(drawn, format=form, metadata=_METADATA[form])
    return drawn.getvalue()
