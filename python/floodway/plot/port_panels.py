"""Panels of ports and senders over time: queues with pauses, and strips of ticks and states below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from floodway.plot.axes import shown, time_unit, value_unit
from floodway.plot.curves import colour_of, panels_in_inches

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from floodway.plot.ports import FlowInTime, PortInTime

__all__ = ["draw", "state_colour"]

#: Heights of a queue's panel, of a row of the strip below it, and of the panel of senders, in inches.
QUEUE_HEIGHT, ROW_HEIGHT, FLOWS_HEIGHT = 1.2, 0.15, 1.6
#: Distances in inches: a port's name above its queue, queue to strip, port to port, and result to result.
NAME, TO_STRIP, TO_NEXT, RESULT_GAP = 0.16, 0.06, 0.08, 0.35
#: Inches left and right of all panels, and height of results' labels.
LEFT, RIGHT, LABELS = 0.7, 0.3, 0.2
#: Maximum number of characters of a result's label in normal size; longer labels are smaller.
LONG_LABEL = 42
#: Colours of ticks by event, in the order of their rows.
TICK_COLOURS: Mapping[str, str] = {"mark-ce": "#d55e00", "mark-ue": "#cc79a7", "cnp": "#000000"}
TICK_NAMES: Mapping[str, str] = {"mark-ce": "CE", "mark-ue": "UE", "cnp": "CNP made"}
PAUSED: dict[str, Any] = {"facecolor": "0.82", "linewidth": 0}
#: Colours of the mechanisms' states, pale for calm ones; and colours of other states.
STATE_COLOURS: Mapping[str, str] = {
    "determined": "#b5e0d2",
    "non-congestion": "#b5e0d2",
    "undetermined": "#e69f00",
    "checking": "#56b4e9",
    "congestion": "#d55e00",
    "uncongested": "#d5d0ea",
    "congested": "#7b4fb5",
    "outside": "#e6e6e6",
    "edge": "#f6c667",
    "inner": "#e07b39",
    "root": "#b2182b",
    "lossless": "#d3e5cf",
    "isolating": "#4d8b31",
}
OTHER_STATES = ("#f0e442", "#cc79a7", "#999999", "#009e73")
#: Colour of queues, different from the colours of flows.
QUEUE_COLOUR = "0.2"


def draw(
    columns: Sequence[Sequence[PortInTime]],
    senders: Sequence[Sequence[FlowInTime]],
    limits: tuple[float, float],
    *,
    title: str,
    labels: Sequence[str],
) -> Figure:
    """Draw results side by side, their ports below one another, their senders at the bottom.

    Parameters
    ----------
    columns
        Ports of each result, with the same names in all.
    senders
        Flows of each result, with the same names in all; without flows there is no panel.
    limits
        Begin and end of the window, in microseconds.
    title, labels
        Title of the figure, and label of each result; empty for a single one.
    """
    look = _Layout(columns, senders, limits)
    figure, grid = look.grid(title, labelled=bool(labels))
    for c, column in enumerate(columns):
        for p, port in enumerate(column):
            look.queue(grid[2 * p][c], port)
            look.strip(grid[2 * p + 1][c], port, labelled=c == 0)
        if labels:
            size = "medium" if len(labels[c]) <= LONG_LABEL else "x-small"
            grid[0][c].set_title(shown(labels[c]), fontsize=size, pad=72 * NAME + 2)
        if look.has_senders:
            look.senders(grid[-1][c], senders[c])
        last = grid[-1 if look.has_senders or look.rows else -2][c]
        last.set_xlabel(f"time in {look.time}")
        last.tick_params(labelbottom=True)
    look.finish(grid)
    return figure


def state_colour(state: str, states: Sequence[str]) -> str:
    """Return the colour of a state; an unknown state has a colour by its position in `states`."""
    others = [other for other in states if other not in STATE_COLOURS]
    return STATE_COLOURS.get(state) or OTHER_STATES[others.index(state) % len(OTHER_STATES)]


class _Layout:
    """The layout that all panels of a figure share: units, rows of the strips, colours."""

    def __init__(
        self,
        columns: Sequence[Sequence[PortInTime]],
        senders: Sequence[Sequence[FlowInTime]],
        limits: tuple[float, float],
    ) -> None:
        every = [port for column in columns for port in column]
        self.exact = all(port.pauses_recorded for port in every)
        self.ports = [port.name for port in columns[0]]
        self.results = len(columns)
        self.per_time, self.time = time_unit(limits[1])
        self.limits = (limits[0] / self.per_time, limits[1] / self.per_time)
        self.per_queue, self.queue_unit = value_unit("queue_bytes", [port.queue for port in every])
        rows = list(zip(*columns, strict=True))
        self.empty = [not any((port.queue["value"] > 0).any() for port in row) for row in rows]
        self.has_senders = any(senders)
        self.flows = [flow.name for flow in senders[0]] if self.has_senders else []
        self.carried = any(not flow.carried.is_empty() for flows in senders for flow in flows)
        self.paused = any(not port.pauses.is_empty() for port in every)
        self.watched = any(not port.queue.is_empty() for port in every)
        shown_events = [
            event for event in TICK_NAMES if any(not port.ticks[event].is_empty() for port in every)
        ]
        states = [port.states for port in every if not port.states.is_empty()]
        self.classes = sorted({number for frame in states for number in frame["class"]})
        self.states = sorted({str(state) for frame in states for state in frame["state"]})
        #: Rows of each strip from the top down: an event, or the class whose states it shows.
        self.rows: list[str | int] = [*shown_events, *self.classes]

    def grid(self, title: str, *, labelled: bool) -> tuple[Figure, list[list[Axes]]]:
        """Create a row of queues and one of strips for each port, and one of senders."""
        strip = (0.0, ROW_HEIGHT * len(self.rows) or 0.01, TO_NEXT)
        rows = [(NAME, QUEUE_HEIGHT, TO_STRIP), strip] * len(self.ports)
        rows += [(TO_NEXT, FLOWS_HEIGHT, 0.0)] * self.has_senders
        figure, grid = panels_in_inches(
            title,
            rows,
            self.legend(),
            results=self.results,
            left=LEFT,
            gap=RESULT_GAP,
            right=RIGHT,
            below_title=0.02 + LABELS * labelled,
        )
        grid[0][0].set_xlim(*self.limits)
        return figure, grid

    def queue(self, axes: Axes, port: PortInTime) -> None:
        """Draw a queue, and the pauses of its port behind it."""
        axes.grid(visible=True, alpha=0.3)
        axes.set_axisbelow(True)
        for begin, end in port.pauses.iter_rows():
            axes.axvspan(begin / self.per_time, end / self.per_time, **PAUSED)
        name = shown(port.name.partition(": ")[2] or port.name)
        above: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "bottom"}
        axes.annotate(name, (0, 1), (0, 2), ha="left", fontsize="small", **above)
        unknown = "packets wait in queue pairs" if port.at_host else "queue not watched"
        if port.at_host or port.queue.is_empty():
            axes.annotate(unknown, (1, 1), (0, 2), ha="right", fontsize="x-small", color="0.4", **above)
            return
        self._step(axes, port.queue, self.per_queue, color=QUEUE_COLOUR, linewidth=1.0)

    def strip(self, axes: Axes, port: PortInTime, *, labelled: bool) -> None:
        """Draw ticks of marks and CNPs, and states as coloured spans, in a row each."""
        if not self.rows:
            axes.set_visible(False)
            return
        axes.set_ylim(len(self.rows) - 0.5, -0.5)
        axes.spines[:].set_visible(False)
        axes.tick_params(axis="x", length=0)
        for row_number, row in enumerate(self.rows):
            if isinstance(row, str):
                times = port.ticks[row].select((pl.col("from_us") + pl.col("to_us")) / 2).to_series()
                at, ends = times.to_numpy() / self.per_time, (row_number - 0.4, row_number + 0.4)
                axes.vlines(at, *ends, colors=TICK_COLOURS[row], linewidth=0.5)
                continue
            for state, begin, end in self._states(port, row):
                span = (begin / self.per_time, (end - begin) / self.per_time)
                colour = state_colour(state, self.states)
                axes.broken_barh([span], (row_number - 0.4, 0.8), facecolor=colour, linewidth=0)
        several = len(self.classes) > 1
        state = "state {}" if several else "state"
        labels = [TICK_NAMES[row] if isinstance(row, str) else state.format(row) for row in self.rows]
        axes.set_yticks(range(len(labels)), labels, fontsize="xx-small")
        axes.tick_params(axis="y", length=0, labelleft=labelled)

    def senders(self, axes: Axes, flows: Sequence[FlowInTime]) -> None:
        """Draw the allowed rates of senders, and in thinner lines the rates of their last links."""
        axes.grid(visible=True, alpha=0.3)
        for number, flow in enumerate(flows):
            colour = colour_of(number)
            if not flow.carried.is_empty():
                self._step(axes, flow.carried, 1.0, color=colour, linewidth=0.6, alpha=0.55, zorder=1.5)
            begins, ends, rates = (column.to_numpy() for column in flow.allowed.get_columns())
            if len(begins):
                edges = np.append(begins, ends[-1]) / self.per_time
                axes.step(edges, np.append(rates, rates[-1]), where="post", linewidth=1.5, color=colour)

    def finish(self, grid: Sequence[Sequence[Axes]]) -> None:
        """Label the vertical axes and set their ranges, after all panels are drawn."""
        for p, was_empty in enumerate(self.empty):
            axes = grid[2 * p][0]
            axes.set_ylabel(self.queue_unit if self.watched else "", fontsize="small")
            # A queue that was always empty has no range.
            axes.set_ylim(bottom=0, top=1.0 if was_empty else None)
        if self.has_senders:
            grid[-1][0].set_ylabel("Gbit/s", fontsize="small")
            grid[-1][0].set_ylim(bottom=0)

    def legend(self) -> list[tuple[str, Artist]]:
        """Return the labels of everything that is drawn, with samples."""
        samples: list[tuple[str, Artist]] = []
        if self.watched:
            samples.append(("longest queue", Line2D([], [], color=QUEUE_COLOUR)))
        if self.paused:
            samples.append(("paused" if self.exact else "paused, to within a bucket", Patch(**PAUSED)))
        colours = ((state, state_colour(state, self.states)) for state in self.states)
        samples += [(shown(state), Patch(facecolor=colour)) for state, colour in colours]
        for number, flow in enumerate(self.flows):
            samples.append((f"{shown(flow)} allowed", Line2D([], [], color=colour_of(number), linewidth=1.5)))
        if self.carried:
            samples.append(("thin: total of its last link", Line2D([], [], color="0.4", linewidth=0.6)))
        return samples

    def _states(self, port: PortInTime, number: int) -> list[tuple[str, float, float]]:
        if port.states.is_empty():
            return []
        states = port.states.filter(pl.col("class") == number)
        return list(states.select("state", "from_us", "to_us").iter_rows())

    def _step(self, axes: Axes, curve: pl.DataFrame, per: float, **look: Any) -> None:  # noqa: ANN401 (of lines)
        begins, spans, values = (column.to_numpy() for column in curve.get_columns())
        edges = np.append(begins, begins[-1] + spans[-1]) / self.per_time
        axes.step(edges, np.append(values, values[-1]) / per, where="post", **look)
