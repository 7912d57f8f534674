"""Panels of shares of a link: a step line for each flow, with the same ranges and colours in all panels."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.ticker import AutoMinorLocator, MaxNLocator

from floodway.plot.axes import grid_of, shown
from floodway.plot.curves import COLOURS, LEGEND_KEY, LEGEND_LETTERS, LEGEND_ROW, colour_of, note_lines
from floodway.plot.style import current
from floodway.plot.units import time_unit, value_unit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from floodway.plot.shares import SharedLink

__all__ = ["draw"]

#: Heights of a single panel, of each of several, and of the space around all panels, in inches.
SINGLE_PANEL, PANEL, AROUND = 3.0, 2.1, 1.2
#: Range of the shades of a workload's flows: shares of black (below 0) and of white that are mixed in.
DARKEST, LIGHTEST = -0.45, 0.55
#: Numbers of distinguishable shades of a colour, and of colours with shades.
MOST_SHADES, MOST_SHADED = 4, 3
#: Style of lines when shades or colours repeat.
DASHED: Any = (0, (3, 1))
#: Widths in points: of the top line, of the bottom line at most, and of a workload's only flow beside others.
WIDTH, WIDEST, ALONE_WIDTH = 1.1, 3.0, 2.0
#: Maximum difference in width to the line above, in points.
WIDER = 0.6
OTHER_FLOWS: dict[str, Any] = {"color": "0.6", "linewidth": 1.0, "linestyle": "-", "zorder": 2.0}


def draw(  # noqa: PLR0913 (what is shown, and what it is called)
    columns: Sequence[Sequence[SharedLink]],
    flows: Mapping[str, str],
    others: str,
    limits: tuple[float, float],
    *,
    title: str,
    note: str,
) -> Figure:
    """Draw a panel for each direction and result.

    Parameters
    ----------
    columns
        Directions of each result, the same in all.
    flows
        Workloads by `flow_id` of the flows with lines of their own, in the order of the legend.
    others
        Label of the line of all others; empty without others.
    limits
        Begin and end of the window, in microseconds.
    title, note
        Texts above and below the figure.
    """
    results, names = len(columns), len(columns[0])
    every = [line for links in columns for link in links for line in link.lines.values()]
    per_time, time = time_unit([pl.DataFrame({"time_us": [limits[0]], "span_us": [limits[1] - limits[0]]})])
    values = [line.select(value="throughput_gbps") for line in every]
    per_value, unit = value_unit("throughput_gbps", values)
    rows, across = sorted((names, results), reverse=True)
    figure, grid = grid_of("", unit, title=title, rows=rows, columns=across)
    styles = {**styles_of(flows), others: OTHER_FLOWS}
    for c, links in enumerate(columns):
        for n, link in enumerate(links):
            axes = grid[n][c] if names >= results else grid[c][n]
            _panel(axes, link, styles, (per_time, per_value))
            parts = [link.source] * (results > 1) + [link.object.partition(": ")[2] or link.object]
            axes.set_title(shown(", ".join(parts)), loc="left", fontsize="small")
    # The panels share their ranges, which are set after all lines are drawn.
    grid[0][0].set_ylim(bottom=0)
    # Rates of links, and halves and quarters of these, are multiples of these steps.
    grid[0][0].yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2.5, 5, 10]))
    grid[0][0].yaxis.set_minor_locator(AutoMinorLocator(5))
    grid[0][0].set_xlim(limits[0] / per_time, limits[1] / per_time)
    for axes in grid[-1]:
        axes.set_xlabel(f"time in {time}")
    figure.set_figheight(((SINGLE_PANEL if rows == 1 else PANEL * rows) + AROUND) * current().scale)
    _legend(figure, flows, styles, others, note)
    return figure


def styles_of(flows: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the style of each flow's line, by the workloads of the flows.

    Of two or three workloads each has a colour, and its flows shades of it; else each flow has a colour of
    its own.

    Examples
    --------
    >>> [look["color"] for look in styles_of({"one:h1:0": "one", "two:h2:0": "two"}).values()]
    ['#0072b2', '#d55e00']
    """
    counts = Counter(flows.values())
    workloads = list(counts)
    shaded = 1 < len(workloads) <= MOST_SHADED
    seen: Counter[str] = Counter()
    styles = {}
    for number, (flow, workload) in enumerate(flows.items()):
        rank = seen[workload]
        # Lines below others are wider, so that equal lines are all visible.
        below = (counts[workload] if shaded else len(flows)) - 1 - (rank if shaded else number)
        width = WIDTH + below * min(WIDER, (WIDEST - WIDTH) / len(flows))
        look: dict[str, Any] = {"linewidth": width, "zorder": 2.2}
        seen[workload] += 1
        if shaded:
            base = colour_of(workloads.index(workload))
            shades = min(counts[workload], MOST_SHADES)
            look |= {"color": _shade(base, rank % shades, shades), "linestyle": _line(rank // shades)}
            if counts[workload] == 1 and max(counts.values()) > 1:
                look |= {"linewidth": ALONE_WIDTH, "zorder": 2.4}
        else:
            look |= {"color": colour_of(number), "linestyle": _line(number // len(COLOURS))}
        styles[flow] = look
    return styles


def _shade(base: str, number: int, count: int) -> str:
    """Return one of `count` shades of a colour, from dark to light; of a single one, the colour itself."""
    share = DARKEST + (LIGHTEST - DARKEST) * number / (count - 1) if count > 1 else 0.0
    toward = 0.0 if share < 0 else 1.0
    mixed = (np.array(to_rgb(base)) * (1 - abs(share)) + toward * abs(share)).tolist()
    return to_hex(mixed)


def _line(turn: int) -> Any:  # noqa: ANN401 (of lines)
    return DASHED if turn else "-"


def _panel(
    axes: Axes, link: SharedLink, styles: Mapping[str, dict[str, Any]], per: tuple[float, float]
) -> None:
    """Draw a step line for each flow, in the order of the lines."""
    if not link.lines:
        axes.text(0.5, 0.5, link.lacking, transform=axes.transAxes, ha="center", va="center", color="0.5")
    for flow, line in link.lines.items():
        begins, spans, _, rates = (column.to_numpy() for column in line.get_columns())
        edges = np.append(begins, begins[-1] + spans[-1]) / per[0]
        axes.step(edges, np.append(rates, rates[-1]) / per[1], where="post", **styles[flow])


def _legend(
    figure: Figure, flows: Mapping[str, str], styles: Mapping[str, dict[str, Any]], others: str, note: str
) -> None:
    """Add a legend of the flows below the panels; flows of a single workload are without its name."""
    workloads = set(flows.values())
    single = next(iter(workloads)) if len(workloads) == 1 and len(flows) > 1 else ""
    labels = {flow: shown(flow.removeprefix(f"{single}:") if single else flow) for flow in flows}
    if others:
        labels[others] = others
    handles = [Line2D([], [], **styles[flow]) for flow in labels]
    scale = current().scale
    wide = figure.get_figwidth() / scale
    longest = max(map(len, labels.values()), default=0)
    columns = max(1, int(LEGEND_LETTERS * wide) // (longest + LEGEND_KEY))
    lines = [*note_lines(note, wide=wide), *([f"flows of {shown(single)}"] if single else [])]
    high = -(-len(labels) // columns) - 1 + len(lines)
    figure.set_figheight(figure.get_figheight() + LEGEND_ROW * scale * high)
    look: dict[str, Any] = {"loc": "outside lower center", "ncols": columns, "fontsize": "small"}
    if lines:
        look |= {"title": "\n".join(lines), "title_fontsize": "small"}
    figure.legend(handles, list(labels.values()), **look)
