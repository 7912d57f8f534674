"""Panels of a congestion region over time: a strip for each port, and counts of ports by role below."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from floodway.plot.axes import shown, time_unit
from floodway.plot.curves import panels_in_inches
from floodway.plot.port_panels import LONG_LABEL, state_colour
from floodway.plot.style import current

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from floodway.plot.region import Position

__all__ = ["draw"]

#: Heights of a strip and of the panel of counts, distances between the two and between results, in inches.
STRIP, COUNTS, TO_COUNTS, RESULT_GAP = 0.18, 1.1, 0.12, 0.4
#: Width of the space for hops on the right, and heights of a note's line and of the labels of results.
RIGHT, NOTE_LINE, LABELS = 1.05, 0.15, 0.22
#: Width of a letter of a port's name, and minimum width of the space for names, in inches.
LETTER, LEAST_LEFT = 0.06, 0.7
#: Share of a strip's height that is coloured.
FILLED = 0.8
#: Colours of ports outside the region: paler than quiet states in pictures of ports.
QUIET_COLOUR = "0.945"
#: Colour of lines between ports of different hops.
OF_HOPS: dict[str, Any] = {"color": "0.75", "linewidth": 0.5}
#: Maximum number of changes in a strip: of more, the states at so many instants are shown.
INSTANTS = 1500


def draw(  # noqa: PLR0913 (what is shown, and what it is called)
    roles: Sequence[pl.DataFrame],
    strips: Sequence[Position],
    limits: tuple[float, float],
    *,
    left_out: int,
    states: tuple[Sequence[str], Sequence[str]],
    roots: Mapping[str, str],
    title: str,
    labels: Sequence[str],
) -> Figure:
    """Draw results side by side, with the same ports from the top down.

    Parameters
    ----------
    roles
        `port`, `role`, `from_us`, `to_us` of all ports of the region, for each result.
    strips
        Ports that have a strip, in order.
    limits
        Begin and end of the window, in microseconds.
    left_out
        Number of ports without a strip.
    states
        States of ports in the region, the most severe first, and states of ports outside.
    roots
        Ports without a port of the region downstream, each with the state that makes it a root, or empty.
    title, labels
        Title of the figure, and label of each result; empty for a single one.
    """
    look = _Layout(strips, limits, states)
    notes = _notes(roots, left_out) if current().note else []
    figure, grid = look.grid(title, notes, results=len(roles), labelled=bool(labels))
    for c, frame in enumerate(roles):
        look.strips(grid[0][c], frame)
        look.counts(grid[1][c], frame)
        if labels:
            size = "medium" if len(labels[c]) <= LONG_LABEL else "x-small"
            grid[0][c].set_title(shown(labels[c]), fontsize=size, pad=4)
    look.finish(grid, roots)
    return figure


class _Layout:
    """The layout that all panels of a figure share: the unit of time, ports, colours."""

    def __init__(
        self,
        strips: Sequence[Position],
        limits: tuple[float, float],
        states: tuple[Sequence[str], Sequence[str]],
    ) -> None:
        self.positions = strips
        self.names = _names([position.port for position in strips])
        self.per_time, self.time = time_unit(limits[1])
        self.limits = limits
        self.roles, self.quiet = states

    def grid(
        self, title: str, notes: Sequence[str], *, results: int, labelled: bool
    ) -> tuple[Figure, list[list[Axes]]]:
        """Create the panels of strips and of counts, with title and legend, at positions in inches."""
        left = max(LEAST_LEFT, 0.15 + LETTER * max(map(len, self.names)))
        figure, grid = panels_in_inches(
            title,
            [(0.0, STRIP * len(self.positions), TO_COUNTS), (0.0, COUNTS, 0.0)],
            self.legend(),
            results=results,
            left=left,
            gap=RESULT_GAP,
            right=RIGHT,
            below_title=0.1 + NOTE_LINE * len(notes) + LABELS * labelled,
            notes=notes,
        )
        for axes in grid[1]:
            axes.tick_params(labelbottom=True)
        grid[0][0].set_xlim(self.limits[0] / self.per_time, self.limits[1] / self.per_time)
        return figure, grid

    def strips(self, axes: Axes, frame: pl.DataFrame) -> None:
        """Draw a strip for each port, coloured by its role."""
        axes.spines[:].set_visible(False)
        axes.tick_params(axis="both", length=0)
        spans_by_port = {str(key[0]): spans for key, spans in frame.group_by("port", maintain_order=True)}
        for position, port in enumerate(self.positions):
            spans = spans_by_port.get(port.port)
            if spans is None:
                continue
            for role, bars in self._bars(spans):
                colour = self._colour(role)
                axes.broken_barh(bars, (position - FILLED / 2, FILLED), facecolor=colour, linewidth=0)
        if frame.is_empty():
            look: dict[str, Any] = {"fontsize": "small", "color": "0.4", "backgroundcolor": "white"}
            axes.text(0.5, 0.5, "no states of these ports", transform=axes.transAxes, ha="center", **look)

    def counts(self, axes: Axes, frame: pl.DataFrame) -> None:
        """Draw the number of ports in each role, stacked."""
        axes.grid(visible=True, alpha=0.3)
        axes.set_axisbelow(True)
        times = np.unique(np.concatenate([self.limits, frame["from_us"], frame["to_us"]]))
        if len(times) > INSTANTS:
            times = np.linspace(*self.limits, INSTANTS + 1)
        below = np.zeros(len(times))
        for role in self.roles:
            spans = frame.filter(pl.col("role") == role)
            begun, ended = (np.sort(spans[column].to_numpy()) for column in ("from_us", "to_us"))
            now = np.searchsorted(begun, times, side="right") - np.searchsorted(ended, times, side="right")
            look: dict[str, Any] = {"step": "post", "facecolor": self._colour(role), "linewidth": 0}
            axes.fill_between(times / self.per_time, below, below + now, **look)
            below += now

    def finish(self, grid: Sequence[Sequence[Axes]], roots: Mapping[str, str]) -> None:
        """Label ports, hops and axes, after all panels are drawn."""
        grid[0][0].set_yticks(range(len(self.names)), self.names, fontsize="x-small")
        grid[0][0].set_ylim(len(self.names) - 0.5, -0.5)
        grid[1][0].set_ylim(bottom=0)
        grid[1][0].yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
        grid[1][0].set_ylabel("ports", fontsize="small")
        for axes in grid[1]:
            axes.set_xlabel(f"time in {self.time}")
        self._label_hops(grid[0], roots)

    def legend(self) -> list[tuple[str, Patch]]:
        """Return the labels of all states, with samples."""
        inside = [(shown(role), Patch(facecolor=self._colour(role))) for role in self.roles]
        look: dict[str, Any] = {"facecolor": QUIET_COLOUR, "edgecolor": "0.75", "linewidth": 0.5}
        return [*inside, (shown(", ".join(self.quiet)), Patch(**look))] if self.quiet else inside

    def _label_hops(self, row: Sequence[Axes], roots: Mapping[str, str]) -> None:
        """Label hops beside the last column of strips; lines separate hops, and darker ones trees."""
        # Consecutive roots without other ports share a label.
        marks = [(place.tree if place.hops else -1, _hops(place, roots)) for place in self.positions]
        begin = 0
        for (tree, word), same in groupby(marks):
            end = begin + len(list(same))
            look: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
            middle = (begin + end - 1) / 2
            row[-1].annotate(word, (1, middle), (5, 0), va="center", fontsize="x-small", color="0.35", **look)
            line: dict[str, Any] = {"color": "0.2", "linewidth": 0.9} if tree < 0 else OF_HOPS
            for axes in row if begin else ():
                axes.axhline(begin - 0.5, **line)
            begin = end

    def _bars(self, spans: pl.DataFrame) -> Iterator[tuple[str, list[tuple[float, float]]]]:
        """Yield for each role the begins and widths of its colour in a port's strip."""
        thin = _thinned(spans, self.limits) if len(spans) > INSTANTS else spans
        for role in (*self.quiet, *self.roles):
            widths = pl.col("to_us") - pl.col("from_us")
            of_role = thin.filter(pl.col("role") == role).select("from_us", widths) / self.per_time
            if not of_role.is_empty():
                yield role, list(of_role.iter_rows())

    def _colour(self, role: str) -> str:
        return QUIET_COLOUR if role in self.quiet else state_colour(role, self.roles)


def _notes(roots: Mapping[str, str], left_out: int) -> list[str]:
    """Return notes on the order of strips, and on the number left out."""
    top = "each root" if any(roots.values()) else "the port farthest downstream"
    ordered = (
        f"from the top: {top}, then the ports upstream of it by hops, and by when they joined the region"
    )
    were = "port was" if left_out == 1 else "ports were"
    less = f"{left_out:,} more {were} in it for less time, without a strip"
    return [ordered, less] if left_out else [ordered]


def _names(ports: Sequence[str]) -> list[str]:
    """Return names of ports: the direction of the link, with the link if two have the same direction."""
    directions = [port.partition(": ")[2] or port for port in ports]
    pairs = zip(ports, directions, strict=True)
    return [shown(direction if directions.count(direction) == 1 else port) for port, direction in pairs]


def _hops(position: Position, roots: Mapping[str, str]) -> str:
    if not position.hops:
        return shown(roots[position.port]) or "farthest down"
    return f"{position.hops} {'hop' if position.hops == 1 else 'hops'} up"


def _thinned(spans: pl.DataFrame, limits: tuple[float, float]) -> pl.DataFrame:
    """Return the states at the middles of many equal parts of the window, each as wide as its part."""
    width = (limits[1] - limits[0]) / INSTANTS
    begins = limits[0] + width * np.arange(INSTANTS)
    starts = spans["from_us"].to_numpy()
    position = np.searchsorted(starts, begins + width / 2, side="right") - 1
    is_covered = (position >= 0) & (begins + width / 2 < spans["to_us"].to_numpy()[position])
    covering = spans[position[is_covered]]
    return covering.with_columns(from_us=begins[is_covered], to_us=begins[is_covered] + width)
