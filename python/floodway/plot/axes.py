"""What all pictures have in common."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["axes_of", "panels_of", "plain_ticks", "png_of"]

#: Inches.
SIZE = (7.0, 4.2)
DOTS_PER_INCH = 150
#: Of panels below one another.
PANEL_HEIGHT = 1.6


def axes_of(across: str, up: str, *, title: str) -> tuple[Figure, Axes]:
    """Make a figure with one pair of axes."""
    figure = Figure(figsize=SIZE, dpi=DOTS_PER_INCH, layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlabel=across, ylabel=up, title=title)
    axes.grid(visible=True, alpha=0.3)
    return figure, axes


def panels_of(across: str, up: str, *, title: str, panels: int) -> tuple[Figure, list[Axes]]:
    """Make a figure with pairs of axes below one another, all over the same ranges."""
    size = (SIZE[0], max(SIZE[1], PANEL_HEIGHT * panels + 1.0))
    figure = Figure(figsize=size, dpi=DOTS_PER_INCH, layout="constrained")
    stacked = figure.subplots(panels, 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    for axes in stacked:
        axes.grid(visible=True, alpha=0.3)
    figure.suptitle(title)
    figure.supylabel(up, fontsize="medium")
    stacked[-1].set_xlabel(across)
    return figure, list(stacked)


def plain_ticks(axes: Axes) -> None:
    """Write the numbers of a logarithmic upward axis out: 1, 2, 5, 10, 20 and so on."""
    axes.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
    for labels in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        labels("{x:g}")


def png_of(figure: Figure) -> bytes:
    """Draw a figure; without the program's version in it the same result gives the same bytes."""
    drawn = BytesIO()
    figure.savefig(drawn, format="png", metadata={"Software": None})
    return drawn.getvalue()
