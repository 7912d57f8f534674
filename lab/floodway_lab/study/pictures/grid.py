"""Numbers of a study as a heat map: one axis against another, a panel for each metric."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LogNorm, Normalize

from floodway.plot.axes import figure_for, plain_style, shown
from floodway.plot.curves import Drawing
from floodway.plot.style import current, heading, panel_width
from floodway_lab.study.pictures.bars import VARIANT, bars_of, frame_of
from floodway_lab.study.pictures.captions import note_of
from floodway_lab.study.pictures.drawing import number_in, value_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from floodway.study.format.model import Study
    from floodway.study.numbers import Numbers
    from floodway_lab.study.model import Plot
    from floodway_lab.study.pictures.bars import Bar

__all__ = ["grid"]

#: Inches of a cell, of a letter of a row's name or a panel's title, of a panel's title, of a line below a
#: column, of the figure's title, and between panels.
WIDE, HIGH, LETTER, TITLE, LINE, TOP, BETWEEN = 0.78, 0.36, 0.075, 0.3, 0.15, 0.35, 0.25
#: Inches of a further line of the figure's title, and of the note on colours.
TITLE_LINE, BOTTOM = 0.2, 0.25
#: Letters of a line below a column, and panels side by side.
LETTERS, COLUMNS = 10, 2
#: Colours from light for small numbers to dark, so that a print in grey keeps their order.
COLOURS = "magma_r"
#: Share of the colours' range beyond which letters are white.
DARK = 0.42
#: The least ratio of the largest to the smallest number at which colours are logarithmic.
WIDE_RANGE = 4.0


def grid(study: Study, plot: Plot, numbers: Numbers) -> Drawing:
    """Draw a heat map for each metric: `x` goes across, `group` goes down, every cell has its number.

    Each panel has colours of its own, from its least number (light) to its most (dark). A star is at numbers
    that unfinished flows touch; a cell without a number says why.

    Raises
    ------
    PlotError
        If none of its runs is there.
    """
    table = bars_of(study, plot, numbers)
    across = list(dict.fromkeys(bar.at for bar in table))
    down = list(dict.fromkeys(bar.group for bar in table))
    rows = [shown(_name(study, plot.group, group)) for group in down]
    columns = ["\n".join(wrap(shown(_name(study, plot.along, at)), LETTERS)) for at in across]
    titles = [value_label(study, plot, metric) for metric in plot.metrics]
    sheet = _Sheet(plot, rows, columns, titles)
    note = note_of(plot, table)
    with plain_style():
        figure = figure_for(sheet.wide, sheet.high, layout=None)
        figure.suptitle(sheet.title, y=1 - 0.1 / sheet.high, va="top", fontsize="large")
        if current().note:
            text = f"{'in each panel, ' * (len(titles) > 1)}darker = more"
            figure.text(sheet.right, 0.08 / sheet.high, text, ha="right", va="bottom", fontsize="x-small")
        for number, metric in enumerate(plot.metrics):
            axes = figure.add_axes(sheet.panel_box(number))
            _panel(axes, [bar for bar in table if bar.metric == metric.name], across, down)
            axes.set_title(titles[number], fontsize="small", loc="left", pad=4)
            axes.set_xticks(range(len(across)), columns, fontsize="x-small")
            first = number % sheet.beside == 0
            axes.set_yticks(range(len(down)), rows if first else [], fontsize="x-small")
            if plot.along != VARIANT:
                axes.set_xlabel(shown(study.axis(plot.along).label), fontsize="x-small")
            if plot.group not in {VARIANT, ""} and first:
                axes.set_ylabel(shown(study.axis(plot.group).label), fontsize="x-small")
    return Drawing(figure=figure, data=frame_of(table), note=note)


class _Sheet:
    """Positions of the panels of a heat map, in inches: lines of at most two."""

    def __init__(
        self, plot: Plot, rows: Sequence[str], columns: Sequence[str], titles: Sequence[str]
    ) -> None:
        self.beside = min(COLUMNS, len(titles))
        self._left = 0.35 + LETTER * max(map(len, rows))
        self._below = 0.15 + LINE * (1 + max(name.count("\n") + 1 for name in columns))
        widest = max(len(line) for title in titles for line in title.splitlines())
        natural = max(WIDE * len(columns), LETTER * widest) + BETWEEN
        usual = self._left + natural * self.beside
        self.wide = current().wide(usual)
        self._pitch = panel_width(self.wide, around=self._left, panels=self.beside)
        narrower = self._pitch - BETWEEN
        self._panel = (narrower, HIGH * len(rows))
        self.title = heading(shown(plot.title), usual=usual)
        self._top = TOP + TITLE_LINE * max(0, len(self.title.splitlines()) - 1)
        self._lines = -(-len(titles) // self.beside)
        self.high = self._top + (TITLE + self._panel[1] + self._below) * self._lines + BOTTOM

    @property
    def right(self) -> float:
        """The right edge of the last panel, as a share of the figure."""
        return (self._left + self._pitch * (self.beside - 1) + self._panel[0]) / self.wide

    def panel_box(self, number: int) -> tuple[float, float, float, float]:
        """Return left, bottom, width and height of a panel, as shares of the figure."""
        line, column = divmod(number, self.beside)
        bottom = self.high - self._top - (TITLE + self._panel[1]) * (line + 1) - self._below * line
        begin = self._left + self._pitch * column
        return (
            begin / self.wide,
            bottom / self.high,
            self._panel[0] / self.wide,
            self._panel[1] / self.high,
        )


def _panel(axes: Axes, table: Sequence[Bar], across: Sequence[str], down: Sequence[str]) -> None:
    values = np.full((len(down), len(across)), np.nan)
    for bar in table:
        values[down.index(bar.group), across.index(bar.at)] = np.nan if bar.mean is None else bar.mean
    present = values[~np.isnan(values)]
    norm = _norm(present)
    axes.set_facecolor("0.85")
    axes.imshow(values, norm=norm, cmap=mpl.colormaps[COLOURS], aspect="auto")
    axes.tick_params(length=0)
    axes.set_xticks(np.arange(len(across) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(down) + 1) - 0.5, minor=True)
    axes.grid(visible=True, which="minor", color="white", linewidth=1.5)
    axes.tick_params(which="minor", length=0)
    for bar in table:
        look: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": "x-small"}
        is_dark = bar.mean is not None and float(norm(bar.mean)) > DARK
        missing = "not reached" if bar.unfinished else "not run"
        text = number_in(bar) or missing
        axes.text(
            across.index(bar.at), down.index(bar.group), text, color="white" if is_dark else "0.1", **look
        )


def _norm(values: np.ndarray[Any, np.dtype[np.float64]]) -> Normalize:
    if not len(values) or values.min() == values.max():
        # One colour, and a light one.
        lowest = float(values.min()) if len(values) else 0.0
        return Normalize(lowest, lowest + 1)
    wide = values.min() > 0 and values.max() > WIDE_RANGE * values.min()
    return (LogNorm if wide else Normalize)(float(values.min()), float(values.max()))


def _name(study: Study, axis: str, name: str) -> str:
    return study.variant(name).label if axis == VARIANT else name
