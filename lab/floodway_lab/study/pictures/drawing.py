"""Pictures of a study: bars and lines of metrics, throughput in time, distributions.

A variant has the same colour in all pictures of a study. Published points are hollow, closed forms thin
lines.
"""

from __future__ import annotations

import math
from itertools import count, cycle
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.common.errors import PlotError
from floodway.plot.axes import (
    PANEL_HEIGHT,
    SIZE,
    alone_high,
    lower,
    plain_style,
    plain_ticks,
    scale_axes,
    shown,
    stacked,
)
from floodway.plot.curves import (
    COLOURS,
    LINES,
    MARKS,
    WIDER,
    WIDER_BELOW,
    WIDEST,
    WIDTH,
    Drawing,
    add_legend,
    colour_of,
)
from floodway.plot.style import current
from floodway_lab.study.model import plots_of
from floodway_lab.study.pictures.bars import VARIANT, bars_of, frame_of
from floodway_lab.study.pictures.captions import note_of
from floodway_lab.study.pictures.formulas import FORMULAS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from floodway.study.format.model import Metric, Study
    from floodway.study.numbers import Numbers
    from floodway_lab.study.model import Plot, Theory
    from floodway_lab.study.pictures.bars import Bar

__all__ = ["bars", "colour_in", "figure_of", "line_in", "lines", "number_in", "value_label"]

#: Share of the distance between two groups that bars fill.
FILLED = 0.8
#: Letters of a line beside an axis.
LONGEST_LINE = 32
#: Inches across the axes of a picture; letters to an inch below them; inches of a digit above a bar.
ACROSS, LETTERS, DIGIT = 6.0, 13.5, 0.058
#: The largest relative difference of points at which curves hide one another.
COINCIDE = 0.01
#: Letters of a line below the axes that is upright.
UPRIGHT_LINE = 26
#: Patterns of bars: after the last colour, colours repeat with the next pattern.
HATCHES = ("", "///", "...", "xxx")
#: The least number that is written without decimals.
WHOLE = 1000
#: Points of the curve of a formula.
CURVE_POINTS = 200
#: Lines of closed forms, so that they can be distinguished.
DASHES = ((0, (5, 2)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (5, 1, 1, 1, 1, 1)))
HOLLOW: dict[str, Any] = {
    "marker": "D",
    "linestyle": "none",
    "markerfacecolor": "none",
    "markeredgecolor": "black",
    "zorder": 5,
}


def bars(study: Study, plot: Plot, numbers: Numbers) -> Drawing:
    """Draw a panel of bars for each metric.

    Raises
    ------
    PlotError
        If none of its runs is there.
    """
    table = bars_of(study, plot, numbers)
    with plain_style():
        figure, panels = figure_of(plot.title, len(plot.metrics))
        for axes, metric in zip(panels, plot.metrics, strict=True):
            _bars(axes, study, plot, [bar for bar in table if bar.metric == metric.name])
            axes.set_ylabel(value_label(study, plot, metric))
        if plot.along != VARIANT:
            panels[-1].set_xlabel(shown(study.axis(plot.along).label))
        note = note_of(plot, table)
        _legend(figure, panels, note)
    return Drawing(figure=figure, data=frame_of(table), note=note)


def lines(study: Study, plot: Plot, numbers: Numbers) -> Drawing:
    """Draw a panel of lines along an axis for each metric, and the curves of formulas.

    Raises
    ------
    PlotError
        If none of its runs is there, or the axis has values that are no numbers.
    """
    table = bars_of(study, plot, numbers)
    across = _numbers_along(study, plot)
    curves: list[pl.DataFrame] = []
    with plain_style():
        figure, panels = figure_of(plot.title, len(plot.metrics))
        for axes, metric in zip(panels, plot.metrics, strict=True):
            _lines(axes, study, plot, [bar for bar in table if bar.metric == metric.name], across)
            theories = [theory for theory in plot.theory if theory.metric == metric.name]
            curves += [
                _curve(axes, theory, across, dash=dash) for theory, dash in zip(theories, cycle(DASHES))
            ]
            axes.set_ylabel(value_label(study, plot, metric))
            if "y" not in scale_axes(axes, plot.log):
                axes.set_ylim(bottom=0)
        points = {across[bar.at] for bar in table if bar.mean is not None}
        if len(points) == 1:
            _around(panels, points.pop())
        panels[-1].set_xlabel(shown(study.axis(plot.along).label))
        note = note_of(plot, table)
        if any(
            any(_hidden([bar for bar in table if bar.metric == metric.name]).values())
            for metric in plot.metrics
        ):
            note = f"{note} {WIDER_BELOW}"
        _legend(figure, panels, note)
    data = pl.concat([frame_of(table), *curves], how="diagonal")
    return Drawing(figure=figure, data=data, note=note)


def _around(panels: Sequence[Axes], point: float) -> None:
    """Centre a single point: a logarithmic axis finds no limits for it."""
    for axes in panels:
        if axes.get_xscale() == "log":
            axes.set_xlim(point / 2, point * 2)
        else:
            axes.set_xlim(point - (abs(point) or 1) / 2, point + (abs(point) or 1) / 2)


def figure_of(title: str, panels: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels below one another, each with a range of its own."""
    return stacked(
        title, alone_high() if panels == 1 else (PANEL_HEIGHT + 1.0) * lower() * panels + 0.8, panels
    )


def colour_in(study: Study, variant: str) -> str:
    """Return the colour of a variant: the same in all pictures, and no other variant's of a picture."""
    return colour_of(_rank(study, variant))


def _rank(study: Study, variant: str) -> int:
    """Return the number of a variant's colour.

    It is its own place among the variants, unless a picture shows it together with an earlier variant of that
    colour: then it is the first number that no earlier variant of its pictures has.
    """
    shown_together = [frozenset(plot.variants) for plot in plots_of(study)]
    ranks: dict[str, int] = {}
    for place, candidate in enumerate(study.variants):
        beside = {name for names in shown_together if candidate.name in names for name in names}
        taken = {ranks[name] for name in beside if name in ranks}
        rank = place % len(COLOURS)
        ranks[candidate.name] = rank if rank not in taken else next(n for n in count() if n not in taken)
    return ranks[variant]


def _bars(axes: Axes, study: Study, plot: Plot, table: Sequence[Bar]) -> None:
    across = list(dict.fromkeys(bar.at for bar in table))
    groups = list(dict.fromkeys(bar.group for bar in table))
    width = FILLED / len(groups)
    middle = (len(groups) - 1) / 2
    xs = [across.index(bar.at) + (groups.index(bar.group) - middle) * width for bar in table]
    for x, bar in zip(xs, table, strict=True):
        first = bar is next(other for other in table if other.group == bar.group)
        label = _group_label(study, plot, bar.group) if first and len(groups) > 1 else None
        colour = _colour(study, plot, bar, groups)
        height = 0.0 if bar.mean is None else bar.mean
        look: dict[str, Any] = {"color": colour, "hatch": _hatch(study, plot, bar), "edgecolor": "white"}
        axes.bar(x, height, yerr=bar.reach, width=width * 0.92, capsize=3, label=label, linewidth=0, **look)
        if bar.published is not None:
            axes.plot(x, bar.published, **HOLLOW)
    room = ACROSS * current().wide(SIZE[0]) / SIZE[0]
    upright = max(len(number_in(bar)) for bar in table) * DIGIT > room / len(across) * width
    for x, bar in zip(xs, table, strict=True):
        _label_value(axes, x, bar, upright=upright)
    _name_bars(
        axes, [study.variant(point).label if plot.along == VARIANT else point for point in across], room
    )
    axes.grid(visible=False, axis="x")
    axes.margins(y=0.3 if upright else 0.15)
    values = [value for bar in table for value in (bar.mean, bar.ends[1], bar.published) if value]
    _range(axes, plot, values, room=5 if upright else 2)


def _name_bars(axes: Axes, names: Sequence[str], room: float) -> None:
    """Write names below the axes, in lines of whole words; upright where a word is wider than its place."""
    letters = max(1, int(room / len(names) * LETTERS))
    upright = max(len(word) for name in names for word in (*name.split(), "")) > letters
    lines = UPRIGHT_LINE if upright else letters
    labels = ["\n".join(wrap(shown(name), lines, break_on_hyphens=not upright)) for name in names]
    axes.set_xticks(range(len(names)), labels, rotation=90 if upright else 0)
    if upright or any(len(name) > letters for name in names):
        axes.tick_params(axis="x", labelsize="small")


def _range(axes: Axes, plot: Plot, values: Sequence[float], *, room: float) -> None:
    """Start bars at zero, or, on a logarithmic axis, on the power of ten below the least of them."""
    log = plot.log if current().log is None else current().log
    if "y" not in (log or ()) or not values:
        # Where all values are zero, an automatic range would only show rounding.
        axes.set_ylim(bottom=0, top=None if values else 1)
        return
    axes.set_yscale("log")
    axes.set_ylim(10.0 ** math.floor(math.log10(min(values) * 0.999)), max(values) * room)
    plain_ticks(axes.yaxis)


def number_in(bar: Bar) -> str:
    """Return a bar's number as text, with a star where flows did not finish; empty without a number."""
    if bar.mean is None:
        return ""
    number = f"{bar.mean:,.0f}" if abs(bar.mean) >= WHOLE else f"{bar.mean:.4g}"
    return f"{number}{'*' if bar.unfinished else ''}"


def _label_value(axes: Axes, x: float, bar: Bar, *, upright: bool) -> None:
    """Write a bar's number above it, upright if wider than the bar; the reason if there is no number."""
    look: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": "x-small"}
    if bar.mean is None:
        why = "not reached" if bar.unfinished else "not run"
        axes.annotate(why, (x, 0), (0, 4), xycoords=axes.get_xaxis_transform(), rotation=90, **look)
        return
    top = max(value for value in (bar.mean, bar.ends[1], bar.published) if value is not None)
    if not top:
        # Zero is nowhere on a logarithmic axis.
        look["xycoords"] = axes.get_xaxis_transform()
    axes.annotate(number_in(bar), (x, top), (0, 5), rotation=90 if upright else 0, **look)


def _lines(axes: Axes, study: Study, plot: Plot, table: Sequence[Bar], across: dict[str, float]) -> None:
    groups = list(dict.fromkeys(bar.group for bar in table))
    hidden = _hidden(table)
    for number, group in enumerate(groups):
        drawn = [bar for bar in table if bar.group == group and bar.mean is not None]
        if not drawn:
            continue
        colour = _colour(study, plot, drawn[0], groups)
        xs = [across[bar.at] for bar in drawn]
        axes.errorbar(
            xs,
            [_mean(bar) for bar in drawn],
            yerr=[bar.reach or 0.0 for bar in drawn] if any(bar.reach for bar in drawn) else None,
            label=_group_label(study, plot, group) if group and (len(groups) > 1 or plot.theory) else None,
            color=colour,
            linestyle=_line(study, plot, group, number),
            marker=MARKS[number % len(MARKS)],
            markersize=4,
            linewidth=min(WIDEST, WIDTH + WIDER * hidden[group]),
            capsize=2,
        )
        cut = [bar for bar in drawn if bar.unfinished]
        axes.plot([across[bar.at] for bar in cut], [_mean(bar) for bar in cut], "x", color="black", zorder=6)
    for bar in table:
        if bar.published is not None:
            axes.plot(across[bar.at], bar.published, **HOLLOW)


def _hatch(study: Study, plot: Plot, bar: Bar) -> str:
    """Return the pattern of a variant's bars; points of an axis have colours alone."""
    if plot.group == VARIANT:
        rank = _rank(study, bar.group)
    elif not plot.group and plot.along == VARIANT:
        rank = _rank(study, bar.at)
    else:
        return ""
    return HATCHES[rank // len(COLOURS) % len(HATCHES)]


def line_in(study: Study, variant: str) -> Any:  # noqa: ANN401 (of lines)
    """Return the line of a variant: those beyond the colours go round them with another one."""
    return LINES[_rank(study, variant) // len(COLOURS) % len(LINES)]


def _hidden(table: Sequence[Bar]) -> dict[str, int]:
    """Return by group the number of later curves of a panel that coincide with it and would hide it."""
    values: dict[str, dict[str, float]] = {}
    for bar in table:
        values.setdefault(bar.group, {})
        if bar.mean is not None:
            values[bar.group][bar.at] = bar.mean
    groups = list(values)
    return {
        group: sum(_coincide(values[group], values[later]) for later in groups[number + 1 :])
        for number, group in enumerate(groups)
    }


def _coincide(one: dict[str, float], other: dict[str, float]) -> bool:
    """Whether two curves look the same, at the points that both have."""
    both = one.keys() & other.keys()
    return bool(both) and all(math.isclose(one[at], other[at], rel_tol=COINCIDE) for at in both)


def _line(study: Study, plot: Plot, group: str, number: int) -> Any:  # noqa: ANN401 (of lines)
    """Return the line of a group, a variant or a point of an axis."""
    return line_in(study, group) if plot.group == VARIANT else LINES[number // len(COLOURS) % len(LINES)]


def _curve(axes: Axes, theory: Theory, across: dict[str, float], *, dash: Any) -> pl.DataFrame:  # noqa: ANN401
    """Draw a closed form over the range of the axis."""
    low, high = min(across.values()), max(across.values())
    steps = [low + (high - low) * n / (CURVE_POINTS - 1) for n in range(CURVE_POINTS)]
    along = theory.along.replace("-", "_")
    formula = FORMULAS[theory.formula]
    values = [formula(**{**theory.arguments, along: step * theory.factor}) for step in steps]
    axes.plot(steps, values, color="0.35", linewidth=0.9, linestyle=dash, label=shown(theory.label))
    return pl.DataFrame(
        {"metric": theory.formula, "group": theory.label, "x": [repr(step) for step in steps], "mean": values}
    )


def _numbers_along(study: Study, plot: Plot) -> dict[str, float]:
    if plot.along == VARIANT:
        raise PlotError("lines go along an axis of numbers, not along variants; bars do")
    points = study.axis(plot.along).points
    missing = next((point.name for point in points if point.number is None), None)
    if missing is not None:
        raise PlotError(
            f"axis.{plot.along}: {missing!r} is not a number; give the axis `numbers`, or draw bars"
        )
    return {point.name: point.number for point in points if point.number is not None}


def _colour(study: Study, plot: Plot, bar: Bar, groups: Sequence[str]) -> str:
    if plot.group == VARIANT:
        return colour_in(study, bar.group)
    if plot.group:
        return colour_of(groups.index(bar.group))
    return colour_in(study, bar.at if plot.along == VARIANT else plot.variants[0])


def _group_label(study: Study, plot: Plot, group: str) -> str:
    name = study.variant(group).label if plot.group == VARIANT else f"{study.axis(plot.group).label} {group}"
    return shown(name)


def value_label(study: Study, plot: Plot, metric: Metric) -> str:
    """Return the label of a metric's axis, in lines that are not too long."""
    title = metric.title
    if plot.relative_to:
        title = f"{metric.label} over that of {study.variant(plot.relative_to).label}"
    return "\n".join(shown(line) for line in wrap(title, LONGEST_LINE))


def _mean(bar: Bar) -> float:
    return float("nan") if bar.mean is None else bar.mean


def _legend(figure: Figure, panels: Sequence[Axes], note: str) -> None:
    """Add the legend: each group once, an entry for hollow points if there are any, and the note."""
    if any(line.get_markerfacecolor() == "none" for panel in panels for line in panel.get_lines()):
        panels[0].plot([], [], label="published", **HOLLOW)
    handles: dict[str, Artist] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    add_legend(figure, tuple(handles), handles=tuple(handles.values()), note=note)
