"""Sources, drawings and curves: results under a label, each with the same colour in every picture."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.common.errors import OutputError, PlotError
from floodway.plot.axes import PANEL_WIDTH, SIZE, figure_for, shown
from floodway.plot.style import current, heading, panel_width
from floodway.results.folders import COMPARISON_FILE, refuse_others, runs_of
from floodway.results.store import read

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from floodway.results import Result

__all__ = ["LARGER_BELOW", "LEGEND_KEY", "LEGEND_LETTERS", "LEGEND_ROW", "WIDER", "WIDER_BELOW", "WIDEST"]
__all__ += ["WIDTH", "Curve", "Drawing", "Source", "add_legend", "colour_of", "flow_curves", "folder_labels"]
__all__ += ["note_lines", "panels_in_inches", "sources_of", "titled"]

#: Colours that are distinguishable with colour blindness, too (Okabe and Ito 2008, without yellow).
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
#: Lines and marks: the next ones are used when colours repeat, and for each workload of several sources.
LINES = ("-", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
MARKS = ("o", "s", "D", "v")
#: Letters per inch of a row of the legend, and the width of a line's sample in letters.
LEGEND_LETTERS, LEGEND_KEY = 14.3, 8
#: Letters per inch of the note below a picture.
NOTE_LETTERS = 15.5
#: Note below a picture whose curves may hide one another.
WIDER_BELOW = "Earlier curves are drawn wider so that coinciding curves stay visible."
LARGER_BELOW = "Earlier curves have larger marks so that coinciding curves stay visible."
#: Heights of a line of the title and of the time axis of panels at positions in inches.
TITLE_LINE, TIME_AXIS = 0.24, 0.5
#: Height of a row of the legend, in inches.
LEGEND_ROW = 0.19
#: Width of the top curve in points, and what curves below are wider at most: each than the next, and in all.
WIDTH, WIDER, WIDEST = 1.3, 0.7, 2.4
#: Size of the marks of the top curve in points, and the additions below it, as for widths.
MARK_SIZE, LARGER, LARGEST = 3.5, 1.6, 5.5


@dataclass(frozen=True, kw_only=True)
class Source:
    """Results of one scenario, which pictures show as one curve or panel.

    Attributes
    ----------
    label
        Label in pictures.
    results
        Results of the scenario, one per seed.
    folders
        Folders of the results; empty if they are not known.
    """

    label: str
    results: tuple[Result, ...]
    folders: tuple[Path, ...] = ()

    @property
    def names(self) -> tuple[pl.Expr, pl.Expr]:
        """Columns of tables that name the source: `result` and `seed`, that of its first result."""
        seed = pl.lit(self.results[0].run.seed, dtype=pl.UInt64)
        return pl.lit(self.label).alias("result"), seed.alias("seed")


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A picture and its data as a table, whose column names have the units as suffixes.

    Attributes
    ----------
    figure
        Figure of matplotlib.
    data
        Data that the picture shows.
    note
        Explanation of widths, bars and marks, below the picture and in captions.
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
        Name of the workload; None for all workloads together.
    flows
        `size_bytes`, `fct_us`, `slowdown`, `finished` of all seeds, which `seed` numbers; never empty.
    label
        Label in the legend.
    colour, line, mark, mark_size
        Style of the curve; marks are open, so that marks below others are visible.
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
        """Number of runs that the flows are from."""
        return int(self.flows["seed"].n_unique())

    @property
    def marks(self) -> dict[str, Any]:
        """Style of the points, as arguments of matplotlib."""
        return {"marker": self.mark, "markersize": self.mark_size, "markerfacecolor": "white"}

    @property
    def finished(self) -> int:
        """Number of flows that finished."""
        return int(self.flows["finished"].sum())


def colour_of(number: int) -> str:
    """Return the colour of the n-th source, from 0."""
    return COLOURS[number % len(COLOURS)]


def flow_curves(sources: Sequence[Source], *, workloads: Sequence[str] | None = ()) -> tuple[Curve, ...]:
    """Return a curve for each source and workload with measured flows.

    Parameters
    ----------
    sources
        Results.
    workloads
        Names of workloads, empty for all; None for one curve of all workloads together.

    Raises
    ------
    PlotError
        If no results have such a workload, or there is no measured flow.
    """
    flows = [_measured(source) for source in sources]
    names = _workloads(sources, flows, workloads) if workloads is not None else [None]
    chosen = [
        (n, w, chosen_flows)
        for n, frame in enumerate(flows)
        for w, name in enumerate(names)
        if len(chosen_flows := frame if name is None else frame.filter(pl.col("workload") == name))
    ]
    if not chosen:
        raise PlotError("there is no measured flow to show")
    # Marks of curves below others are larger, so that equal curves are all visible.
    larger = min(LARGER, LARGEST / max(len(chosen) - 1, 1))
    sizes = [MARK_SIZE + below * larger for below in reversed(range(len(chosen)))]
    return tuple(
        _curve((n, w), chosen_flows, sources=sources, names=names, mark_size=size)
        for (n, w, chosen_flows), size in zip(chosen, sizes, strict=True)
    )


def add_legend(
    figure: Figure, labels: Sequence[str], *, handles: Sequence[Artist] | None = None, note: str = ""
) -> None:
    """Add legend and note below the axes, in as many columns as fit; the figure grows by their rows.

    Parameters
    ----------
    figure
        Figure of the legend.
    labels
        Labels in the legend.
    handles
        Artist of each label. Default: all artists with labels.
    note
        Text above the labels.
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
        # A note without labels needs no frame.
        look |= {"frameon": bool(labels)}
        look |= {"title": "\n".join(lines), "title_fontsize": "x-small"}
    if handles is None and labels:
        figure.legend(**look)
    else:
        figure.legend(list(handles or ()), list(labels), **look)


def legend_columns(labels: Sequence[str], *, wide: float) -> int:
    """Return the number of columns of a legend below axes, for the width of the layout in inches."""
    longest = max(map(len, labels), default=0)
    return max(1, min(4, int(LEGEND_LETTERS * wide) // (longest + LEGEND_KEY)))


def note_lines(note: str, *, wide: float) -> list[str]:
    """Return the lines of a note below axes, for the width of the layout in inches; empty without notes."""
    return wrap(note, int(NOTE_LETTERS * wide)) if current().note else []


def panels_in_inches(  # noqa: PLR0913 (what a layout consists of)
    title: str,
    rows: Sequence[tuple[float, float, float]],
    samples: Sequence[tuple[str, Artist]],
    *,
    results: int,
    left: float,
    gap: float,
    right: float,
    below_title: float,
    notes: Sequence[str] = (),
) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure with rows of panels, results side by side, and a legend below them.

    All positions are in inches: a solver of layouts would give positions whose last digits differ between
    runs. Panels of a row share their vertical range, and all panels the horizontal one.

    Parameters
    ----------
    title
        Title of the figure.
    rows
        Rows from the top down: space above the panels, their height, and space below them, in inches.
    samples
        Labels of the legend, with samples.
    results
        Number of panels side by side.
    left, gap, right
        Spaces left of the panels, between them, and right of them, in inches.
    below_title
        Space between title and panels, in inches.
    notes
        Lines below the title.
    """
    around = left + gap * (results - 1) + right
    usual = around + (SIZE[0] - 0.5 if results == 1 else PANEL_WIDTH * results)
    wide = current().wide(usual)
    panel = panel_width(wide, around=around, panels=results)
    title = heading(title, usual=usual)
    titled = 0.1 + TITLE_LINE * len(title.splitlines())
    labels = [label for label, _ in samples]
    columns = legend_columns(labels, wide=wide)
    below = TIME_AXIS + LEGEND_ROW * -(-len(samples) // columns) + 0.2
    high = titled + below_title + sum(map(sum, rows)) + below
    figure = figure_for(wide, high, layout=None)
    grid: list[list[Axes]] = []
    top = high - titled - below_title
    for before, height, after in rows:
        top -= before
        panels: list[Axes] = []
        for number in range(results):
            box = ((left + (panel + gap) * number) / wide, (top - height) / high, panel / wide, height / high)
            across = grid[0][0] if grid else panels[0] if panels else None
            panels.append(figure.add_axes(box, sharex=across, sharey=panels[0] if panels else None))
            panels[-1].tick_params(labelsize="small", labelbottom=False, labelleft=not number)
        grid.append(panels)
        top -= height + after
    figure.suptitle(title, y=1 - 0.08 / high, va="top")
    if notes:
        look: dict[str, Any] = {"fontsize": "x-small", "color": "0.35", "ha": "center", "va": "top"}
        figure.text(0.5, 1 - titled / high, "\n".join(notes), **look)
    where: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 0.02 / high)}
    figure.legend([sample for _, sample in samples], labels, ncols=columns, fontsize="small", **where)
    return figure, grid


def titled(subject: str, sources: Sequence[Source]) -> str:
    """Return a title: the subject of a picture, and the result's label if there is only one."""
    return subject if len(sources) > 1 else f"{shown(sources[0].label)}\n{subject}"


def _measured(source: Source) -> pl.DataFrame:
    columns = ("flow_id", "size_bytes", "fct_us", "slowdown", "finished")
    return pl.concat(
        result.flows.filter(pl.col("measured")).select(
            pl.col("workload").cast(pl.String), *columns, seed=pl.lit(number)
        )
        for number, result in enumerate(source.results)
    )


def _workloads(
    sources: Sequence[Source], flows: Sequence[pl.DataFrame], chosen: Sequence[str]
) -> list[str | None]:
    """Return the chosen workloads, in the order of the scenarios."""
    listed = [workload.name for source in sources for workload in source.results[0].outcome.workloads]
    present = [name for frame in flows for name in frame["workload"].unique(maintain_order=True)]
    names = [name for name in dict.fromkeys([*listed, *present]) if name in set(present)]
    for name in chosen:
        if name not in names:
            raise PlotError.of_choice(name, noun="a workload of these results", allowed=names, key="workload")
    return [name for name in names if not chosen or name in chosen]


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
    # Each source has a colour, or of a single source, each workload.
    major, minor, lines_per_colour = (n, w, len(names)) if len(sources) > 1 else (w, 0, 1)
    turn = major // len(COLOURS) * lines_per_colour + minor
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


def sources_of(folders: Sequence[str | os.PathLike[str]]) -> tuple[Source, ...]:
    """Return the sources in folders that `run` or `compare` wrote.

    Parameters
    ----------
    folders
        Paths of the folders. A run is a source with the folder's name as its label. A comparison has a
        source for each variant, with the folder's name before its label if there are several folders.

    Returns
    -------
    tuple of Source
        The sources, in the order of the folders.

    Raises
    ------
    OutputError
        If a folder does not exist, or has no results.
    """
    labels = folder_labels(folders)
    read_so_far: dict[str, list[tuple[Result, Path]]] = {}
    for folder, label in zip(folders, labels, strict=True):
        for variant, result, where in _results(Path(folder)):
            source_label = (
                label if variant is None else variant if len(folders) == 1 else f"{label}: {variant}"
            )
            read_so_far.setdefault(source_label, []).append((result, where))
    return tuple(
        Source(label=label, results=tuple(r for r, _ in runs), folders=tuple(where for _, where in runs))
        for label, runs in read_so_far.items()
    )


def folder_labels(folders: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Return labels of folders: their names, with the folders around them if names are equal.

    Parameters
    ----------
    folders
        Paths of different folders.

    Returns
    -------
    list of str
        Unique labels, in the order of the folders.

    Raises
    ------
    OutputError
        If a folder is given twice.

    Examples
    --------
    >>> folder_labels(["out/a/pfc", "out/b/pfc"])
    ['a/pfc', 'b/pfc']
    """
    whole = [Path(folder).resolve() for folder in folders]
    twice = next((place for place, count in Counter(whole).items() if count > 1), None)
    if twice is not None:
        raise OutputError(str(twice), "is given twice")
    depth = 1
    while len({parts[-depth:] for parts in (path.parts for path in whole)}) < len(whole):
        depth += 1
    return ["/".join(path.parts[-depth:]) for path in whole]


def _results(folder: Path) -> Iterator[tuple[str | None, Result, Path]]:
    """Yield a run, or the runs of a comparison with the labels of their variants, and their folders."""
    refuse_others(folder)
    if not (folder / COMPARISON_FILE).is_file():
        yield None, read(folder), folder
        return
    for run in runs_of(folder):
        yield run.variant, read(folder / run.folder, key=run.key), folder / run.folder
