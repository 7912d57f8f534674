"""Drawings and curves: results under a label, each with the same colour in every picture."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.common.errors import PlotError
from floodway.common.names import not_a_choice
from floodway.plot.axes import shown
from floodway.plot.look import current

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from floodway.results import Result

__all__ = [
    "LARGER_BELOW",
    "LEGEND_KEY",
    "LEGEND_LETTERS",
    "LEGEND_ROW",
    "WIDER",
    "WIDER_BELOW",
    "WIDEST",
    "WIDTH",
    "Curve",
    "Drawing",
    "Source",
    "add_legend",
    "colour_of",
    "flow_curves",
    "legend_columns",
    "note_lines",
    "titled",
]

#: Distinguishable also with colour blindness (Okabe and Ito 2008, without yellow).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
#: Once more round the colours, and from workload to workload of many sources, another line and another mark.
LINES = ("-", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
MARKS = ("o", "s", "D", "v")
#: Letters that fit into an inch of a row of the legend, and what the sample of a line takes of them.
LEGEND_LETTERS, LEGEND_KEY = 14.3, 8
#: Letters of the note below a picture that fit into an inch.
NOTE_LETTERS = 15.5
#: Of a picture whose curves may hide one another.
WIDER_BELOW = "Earlier curves are drawn wider so that coinciding curves stay visible."
LARGER_BELOW = "Earlier curves have larger marks so that coinciding curves stay visible."
#: Inches of a row of the legend.
LEGEND_ROW = 0.19
#: Points of the last curve, what each below it has more of them at most, and the lowest at most in all.
WIDTH, WIDER, WIDEST = 1.3, 0.7, 2.4
#: The same of marks.
MARK_SIZE, LARGER, LARGEST = 3.5, 1.6, 5.5


@dataclass(frozen=True, kw_only=True)
class Source:
    """Results of one scenario, one a seed, under the label that pictures show, and their folders if known."""

    label: str
    results: tuple[Result, ...]
    folders: tuple[Path, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A picture and what it shows as a table, whose column names carry the units.

    Attributes
    ----------
    figure
        The picture.
    data
        What it shows.
    note
        What explains widths, bars and marks; it stands below the picture, and captions have it as well.
    """

    figure: Figure
    data: pl.DataFrame
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Measured flows that make one curve.

    Attributes
    ----------
    source
        Label of the results.
    workload
        Name of the workload; none where all of them are together.
    flows
        `size_bytes`, `fct_us`, `slowdown`, `finished` of all seeds, which `seed` numbers; never empty.
    label
        What the legend says.
    colour, line, mark, mark_size
        How it looks; marks are open, so that those that lie on one another can all be seen.
    """

    source: str
    workload: str | None
    flows: pl.DataFrame
    label: str
    colour: str
    line: Any
    mark: str
    mark_size: float

    @property
    def seeds(self) -> int:
        """Of how many runs its flows are."""
        return int(self.flows["seed"].n_unique())

    @property
    def marks(self) -> dict[str, Any]:
        """How its points look."""
        return {"marker": self.mark, "markersize": self.mark_size, "markerfacecolor": "white"}

    @property
    def finished(self) -> int:
        """How many of its flows finished."""
        return int(self.flows["finished"].sum())


def colour_of(number: int) -> str:
    """Return the colour of the n-th source, from 0."""
    return COLOURS[number % len(COLOURS)]


def flow_curves(sources: Sequence[Source], *, workloads: Sequence[str] | None = ()) -> tuple[Curve, ...]:
    """Choose the flows of each curve: one for each source and workload that has measured flows.

    Parameters
    ----------
    sources
        The results.
    workloads
        Names of workloads, all if empty; none to take all workloads of a source together.

    Raises
    ------
    PlotError
        If no results have such a workload, or there is no measured flow.
    """
    flows = [_measured(source) for source in sources]
    names = _workloads(sources, flows, workloads) if workloads is not None else [None]
    chosen = [
        (n, w, own)
        for n, frame in enumerate(flows)
        for w, name in enumerate(names)
        if len(own := frame if name is None else frame.filter(pl.col("workload") == name))
    ]
    if not chosen:
        raise PlotError("there is no measured flow to show")
    return tuple(
        _curve(
            (n, w),
            own,
            sources=sources,
            names=names,
            mark_size=_mark_size(len(chosen) - 1 - place, len(chosen)),
        )
        for place, (n, w, own) in enumerate(chosen)
    )


def add_legend(
    figure: Figure, labels: Sequence[str], *, handles: Sequence[Artist] | None = None, note: str = ""
) -> None:
    """Put legend and note below the axes, in as many columns as fit; the figure grows by their rows.

    Parameters
    ----------
    figure
        Whose.
    labels
        What it names.
    handles
        What of the figure each label names; by default everything that has one.
    note
        What stands above the names.
    """
    scale = current().scale
    width, height = figure.get_size_inches()
    columns = legend_columns(labels, wide=width / scale)
    lines = note_lines(note, wide=width / scale)
    rows = -(-len(labels) // columns) - 1 + len(lines)
    if not labels and not lines:
        return
    figure.set_size_inches(width, height + LEGEND_ROW * scale * rows)
    look: dict[str, Any] = {"loc": "outside lower center", "ncols": columns, "fontsize": "small"}
    if lines:
        # What explains without names needs no frame.
        look |= {"frameon": bool(labels)}
        look |= {"title": "\n".join(lines), "title_fontsize": "x-small"}
    if handles is None and labels:
        figure.legend(**look)
    else:
        figure.legend(list(handles or ()), list(labels), **look)


def legend_columns(labels: Sequence[str], *, wide: float) -> int:
    """Return in how many columns a legend stands below axes of a layout that is so wide."""
    longest = max(map(len, labels), default=0)
    return max(1, min(4, int(LEGEND_LETTERS * wide) // (longest + LEGEND_KEY)))


def note_lines(note: str, *, wide: float) -> list[str]:
    """Return the lines of a note below axes of a layout that is so wide; none where none is wanted."""
    return wrap(note, int(NOTE_LETTERS * wide)) if current().note else []


def titled(what: str, sources: Sequence[Source]) -> str:
    """Name what a picture shows, and of which result where there is one only."""
    return what if len(sources) > 1 else f"{shown(sources[0].label)}\n{what}"


def _measured(source: Source) -> pl.DataFrame:
    columns = ("flow_id", "size_bytes", "fct_us", "slowdown", "finished")
    return pl.concat(
        result.flows.filter(pl.col("measured")).select(
            pl.col("workload").cast(pl.String), *columns, seed=pl.lit(number)
        )
        for number, result in enumerate(source.results)
    )


def _workloads(
    sources: Sequence[Source], flows: Sequence[pl.DataFrame], given: Sequence[str]
) -> list[str | None]:
    """Choose workloads, in the order of the scenarios."""
    listed = [own.name for source in sources for own in source.results[0].outcome.workloads]
    present = [name for frame in flows for name in frame["workload"].unique(maintain_order=True)]
    known = [name for name in dict.fromkeys([*listed, *present]) if name in set(present)]
    for name in given:
        if name not in known:
            text, near = not_a_choice(name, noun="a workload of these results", allowed=known)
            raise PlotError(text, key="workload", given=name, allowed=tuple(known), nearest=near)
    return [name for name in known if not given or name in given]


def _curve(
    place: tuple[int, int],
    flows: pl.DataFrame,
    *,
    sources: Sequence[Source],
    names: Sequence[str | None],
    mark_size: float,
) -> Curve:
    n, w = place
    source, workload = sources[n].label, names[w]
    # Colours tell sources apart; of a single one, its workloads.
    major, minor, of = (n, w, len(names)) if len(sources) > 1 else (w, 0, 1)
    turn = major // len(COLOURS) * of + minor
    several = workload is not None and len(names) > 1
    label = source if not several else str(workload) if len(sources) == 1 else f"{source}, {workload}"
    return Curve(
        source=source,
        workload=workload,
        flows=flows,
        label=shown(label),
        colour=colour_of(major),
        line=LINES[turn % len(LINES)],
        mark=MARKS[turn % len(MARKS)],
        mark_size=mark_size,
    )


def _mark_size(below: int, curves: int) -> float:
    """Draw larger marks on what lies below, so that curves that are the same can all be seen."""
    return MARK_SIZE + below * min(LARGER, LARGEST / max(curves - 1, 1))
