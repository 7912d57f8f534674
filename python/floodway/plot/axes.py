"""Figures and axes that all pictures share, with reproducible bytes; their units, and windows of time."""

from __future__ import annotations

import contextlib
import math
import warnings
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib import style
from matplotlib.axis import Axis, XAxis
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation, LogLocator

from floodway.common.errors import PlotError
from floodway.plot.style import LAYOUT_PT, current, heading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Text

    from floodway.plot.curves import Source
    from floodway.results import Result

__all__ = ["FORMATS", "Format", "NotebookFigure", "alone_high", "axes_of", "bytes_of", "figure_for"]
__all__ += ["grid_of", "inside", "limits_of", "lower", "panels_of", "plain_style", "plain_ticks", "png_of"]
__all__ += ["refuse_many", "scale_axes", "shown", "size_text", "stacked", "time_unit", "value_unit"]

Format = Literal["png", "pdf", "svg"]
#: The formats of pictures, by the endings of their files.
FORMATS: tuple[Format, ...] = ("png", "pdf", "svg")
#: Settings of matplotlib that pictures inherit from their caller.
FONTS = ("font.family", "font.serif", "font.sans-serif", "font.monospace")
#: Width and height of a picture in inches; all lengths of layouts are in inches with letters of 10 points.
SIZE = (7.0, 4.2)
#: Pixels per inch, and the minimum width in pixels: narrower pictures have more pixels per inch.
DOTS_PER_INCH, LEAST_PIXELS = 150, 1050
#: Height of each of several panels below one another.
PANEL_HEIGHT = 1.6
#: Width of each of several panels side by side.
PANEL_WIDTH = 4.4
#: Maximum ratio of the end of a horizontal axis to its begin with labels between powers of ten; numbers from
#: which the labels of axes over more are powers; and numbers from which labels have commas.
MOST_DECADES, LARGE, GROUPED = 1e3, 1e6, 10_000
#: Maximum number of characters of names and of titles, which may have several lines; longer ones are cut.
LONGEST_NAME, LONGEST_TITLE = 64, 192
#: Metadata that formats contain by default, removed here: so that equal results give equal bytes.
_METADATA: dict[Format, dict[str, Any]] = {
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
    "svg": {"Creator": None, "Date": None},
}
#: Units of axes by the suffix of a column: the column's unit, and larger ones with their sizes.
_UNITS = {
    "bytes": ("bytes", ((1e3, "KB"), (1e6, "MB"), (1e9, "GB"))),
    "us": ("µs", ((1e3, "ms"), (1e6, "s"))),
    "gbps": ("Gbit/s", ((1e3, "Tbit/s"),)),
    "percent": ("%", ()),
}
#: Powers of 1024.
KIB = 1024
BINARY = ("KiB", "MiB", "GiB", "TiB")
#: Maximum number of results side by side: more are hard to read.
MOST_RESULTS = 4


class NotebookFigure(Figure):
    """A figure that a notebook shows as the value of a cell, without the state of `pyplot`.

    It keeps the size of letters that was current when it was created.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 (matplotlib's)
        super().__init__(*arguments, **options)
        self._letters: Any = {"font.size": LAYOUT_PT * current().scale}
        self._beside: Text | None = None

    def _repr_png_(self) -> bytes:
        return png_of(self)

    def savefig(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 (matplotlib's)
        """Write the figure as matplotlib does, with text in PDFs that can be searched (type 42)."""
        # Labels of ticks are created only here.
        with mpl.rc_context({**self._letters, "pdf.fonttype": 42}):
            self._centre_label()
            super().savefig(*arguments, **options)

    def supylabel(self, *arguments: Any, **options: Any) -> Text:  # noqa: ANN401 (matplotlib's)
        """Add the label of all vertical axes, at the middle of the panels instead of the figure."""
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
    """Return a figure for a layout, whose lengths are in inches with letters of 10 points."""
    scale = current().scale
    dots = max(DOTS_PER_INCH, LEAST_PIXELS / (wide * scale))
    return NotebookFigure(figsize=(wide * scale, high * scale), dpi=dots, layout=layout)


def axes_of(across: str, up: str, *, title: str) -> tuple[Figure, Axes]:
    """Return a figure with one pair of axes."""
    figure = figure_for(current().wide(SIZE[0]), alone_high())
    axes = figure.add_subplot()
    axes.set(xlabel=across, ylabel=up, title=heading(title, usual=SIZE[0]))
    axes.grid(visible=True, alpha=0.3)
    return figure, axes


def alone_high() -> float:
    """Return the height of the layout of a single pair of axes, in inches."""
    return SIZE[1] * lower()


def lower() -> float:
    """Return the factor for heights: a narrower picture is lower, too, but less so."""
    return math.sqrt(min(1.0, current().wide(SIZE[0]) / SIZE[0]))


def panels_of(across: str, up: str, *, title: str, panels: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with pairs of axes below one another, all with the same ranges."""
    figure, grid = grid_of(across, up, title=title, rows=panels, columns=1)
    return figure, [row[0] for row in grid]


def grid_of(across: str, up: str, *, title: str, rows: int, columns: int) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with rows of pairs of axes, all with the same ranges."""
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
    """Return a figure with panels below one another, each with its own vertical range.

    Parameters
    ----------
    title
        Title above the panels.
    heights
        Height of all panels together, in inches.
    panels
        Number of panels.
    ratios
        Relative heights of the panels. Default: all equal.
    """
    figure = figure_for(current().wide(SIZE[0]), heights)
    grid = figure.subplots(panels, 1, sharex=True, squeeze=False, height_ratios=ratios)
    for axes in grid.flat:
        axes.grid(visible=True, alpha=0.3)
        axes.set_axisbelow(True)
    figure.suptitle(heading(shown(title, longest=LONGEST_TITLE), usual=SIZE[0]), fontsize="large")
    return figure, [row[0] for row in grid]


def scale_axes(axes: Axes, usual: Sequence[str]) -> tuple[str, ...]:
    """Set the scale of axes: the chosen ones are logarithmic, or else the usual ones.

    Parameters
    ----------
    axes
        Axes to scale.
    usual
        Axes that are logarithmic by default: `x`, `y`, both or empty.

    Returns
    -------
    tuple of str
        Axes that are logarithmic.
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
    """Draw with matplotlib's defaults except for fonts, so that equal results give equal pictures."""
    settings: Any = mpl.rcParams
    chosen: Any = {name: settings[name] for name in FONTS} | {"font.size": LAYOUT_PT * current().scale}
    with style.context("default"), mpl.rc_context(chosen):
        yield


def shown(name: str, *, longest: int = LONGEST_NAME) -> str:
    """Return a name for pictures: characters have no special meaning, and long names are cut.

    Examples
    --------
    >>> shown("_" + "long" * 20)
    ' _longlonglonglonglonglonglongl ... nglonglonglonglonglonglonglong'
    """
    plain = "".join(letter if letter.isprintable() else "?" for letter in name)
    if len(plain) > longest:
        half = longest // 2 - 2
        plain = f"{plain[:half]} ... {plain[-half:]}"
    # A legend omits labels that begin with an underscore.
    return (f" {plain}" if plain.startswith("_") else plain).replace("$", r"\$")


def plain_ticks(axis: Axis, *, write: Callable[[float], str] | None = None) -> None:
    """Label a logarithmic axis with plain numbers: 1, 2, 5, 10, 20 and so on.

    A horizontal axis over many decades has only labels at powers of ten, written as powers if they are large.
    `write` formats numbers in another way, such as sizes with their units.
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
    """Return a figure as PNG; equal results give equal bytes."""
    return bytes_of(figure, "png")


def bytes_of(figure: Figure, form: Format) -> bytes:
    """Return a figure in a format; equal results give equal bytes."""
    drawn = BytesIO()
    with plain_style(), mpl.rc_context({"svg.hashsalt": "floodway"}), warnings.catch_warnings():
        # A letter that the font lacks is drawn as a box, without a warning.
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(drawn, format=form, metadata=_METADATA[form])
    return drawn.getvalue()


def value_unit(column: str, frames: Iterable[pl.DataFrame]) -> tuple[float, str]:
    """Return the unit of a column by its largest value: the divisor, and the unit's name.

    Examples
    --------
    >>> import polars as pl
    >>> value_unit("queue_max_bytes", [pl.DataFrame({"value": [2.5e6]})])
    (1000000.0, 'MB')
    """
    largest = max((frame["value"].max() or 0.0 for frame in frames), default=0.0)
    return _unit(column.rpartition("_")[2], largest)  # type: ignore[arg-type]


def size_text(size_bytes: int) -> str:
    """Return a size with its unit, in at most three digits: powers of two in units of 1024.

    Examples
    --------
    >>> size_text(1_048_576), size_text(64_000), size_text(1_050_000), size_text(8)
    ('1 MiB', '64 KB', '1.05 MB', '8 B')
    """
    if size_bytes.bit_count() == 1 and size_bytes >= KIB:
        power = min((size_bytes.bit_length() - 1) // 10, len(BINARY))
        return f"{size_bytes >> 10 * power} {BINARY[power - 1]}"
    units = reversed(_UNITS["bytes"][1])
    size, name = next((unit for unit in units if size_bytes >= unit[0]), (1.0, "B"))
    return f"{size_bytes / size:.3g} {name}"


def time_unit(end_us: float) -> tuple[float, str]:
    """Return the unit of times until an end, in microseconds: the divisor, and the unit's name."""
    return _unit("us", end_us)


def _unit(suffix: str, largest: float) -> tuple[float, str]:
    plain, larger = _UNITS.get(suffix, ("", ()))
    # A few hundred of a unit are easier to read than a fraction of the next.
    reached = [(size, name) for size, name in larger if largest >= 2 * size]
    return reached[-1] if reached else (1.0, plain)


def refuse_many(sources: Sequence[Source]) -> None:
    """Raise an error for more results than can be read side by side.

    Raises
    ------
    PlotError
        If there are more than four.
    """
    if len(sources) > MOST_RESULTS:
        text = f"{len(sources)} results are too many side by side; choose at most {MOST_RESULTS}"
        raise PlotError(text, key="result")


def limits_of(results: Sequence[Result], window: tuple[float | None, float | None]) -> tuple[float, float]:
    """Return the begin and end of the shown time, in microseconds: at most until the end of the longest run.

    Parameters
    ----------
    results
        Results that are side by side.
    window
        Begin and end in microseconds; None for those of the runs.

    Raises
    ------
    PlotError
        If the window is empty, or its limits are not times.
    """
    for key, time in zip(("from", "to"), window, strict=True):
        if time is not None and not time >= 0:
            raise PlotError(f"{key}: {time:g} is not a time from 0 us on", key=key, given=f"{time:g}")
    end = max(result.outcome.simulated_us for result in results)
    begin = 0.0 if window[0] is None else window[0]
    if window[1] is not None and begin >= window[1]:
        text = f"from, {_plain_us(begin)}, is not before to, {_plain_us(window[1])}"
        raise PlotError(text, key="from" if window[0] is not None else "to")
    last = end if window[1] is None else min(window[1], end)
    if begin >= last:
        text = f"nothing lies from {_plain_us(begin)} on: the run ends at {_plain_us(end)}"
        raise PlotError(text, key="from")
    return begin, last


def inside(spans: pl.DataFrame, limits: tuple[float, float]) -> pl.DataFrame:
    """Return spans, from `from_us` to `to_us`, cut to the limits."""
    begin = pl.max_horizontal("from_us", pl.lit(limits[0]))
    end = pl.min_horizontal("to_us", pl.lit(limits[1]))
    cut = spans.with_columns(begin.alias("from_us"), end.alias("to_us"))
    return cut.filter(pl.col("from_us") < pl.col("to_us"))


def _plain_us(time: float) -> str:
    """Return a time with all its digits, without an exponent."""
    return f"{np.format_float_positional(time, trim='-')} us"
