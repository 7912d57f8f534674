"""The timeline of jobs: operations of each rank over time, with panels for each result (a Gantt chart).

Of many ranks a few have rows, and a panel has the shares of all by activity.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from floodway.common.errors import PlotError
from floodway.plot.axes import limits_of, plain_style, shown, stacked, time_unit
from floodway.plot.curves import Drawing, Source, add_legend, colour_of
from floodway.plot.style import current
from floodway.results.iterations import covered_until
from floodway.results.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from floodway.results import Result
    from floodway.simulation.critical_path import CriticalPath

    Times = np.ndarray[tuple[int], np.dtype[np.float64]]

__all__ = ["timeline"]

#: Heights in inches: of a panel at least, of each rank in it, of a panel at most, and around all panels.
LEAST_HEIGHT, RANK_HEIGHT, MOST_HEIGHT, AROUND = 1.6, 0.12, 6.0, 1.1
#: Share of a rank's row that a bar fills; receives are narrow, because other operations run at the same time.
HIGH, NARROW = 0.84, 0.25
#: Maximum number of ranks with a row each; of more, a few represent all.
MOST_RANK_ROWS = 64
#: Heights of such a row, and of the panels of shares and of the critical path, in inches.
ROW, SHARE, PATH = 0.22, 1.4, 1.9
#: Position of messages in a row: begin and end.
MESSAGES = (0.12, 0.30)
#: Maximum number of messages that are drawn; more would be a solid line.
MOST_MESSAGES = 20_000
#: Colours of messages, of operations without a message, and of the critical path.
MESSAGE_SHADES, OTHER_COLOUR, PATH_COLOUR = ("#3b2a6e", "#a79bd6"), "#d9d9d9", "#c00000"
#: Kind of operations that are narrow.
WAITS = "recv"
#: Kinds of operations in the order of their colours.
KINDS = ("compute", "send", "recv", "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast")
#: Note below the picture, and additions for receives and for chosen ranks.
NOTE = "Dark and light of a colour in turn: an operation of this kind, and the next one of its rank."
NARROW_NOTE = "Narrow bars: a receive was posted and waited."
#: Maximum number of steps of a path that are drawn as points.
MOST_MARKED = 300
#: Minimum share of a path for a phase whose name is in the picture.
NAMED_PHASE = 0.08
#: Maximum number of letters of a job's name, and minimum distance of two names as a share of a panel.
LONGEST_JOB, NAMES_APART = 24, 0.07
ALL_NOTE = (
    "Above: of all ranks, how many compute, and of the others how many send a message over the network, or "
    "are in an operation without one (within their node, or waiting)."
)
COLUMNS = ("workload", "rank", "node", "iteration", "name", "kind", "bytes", "start_us", "end_us")
#: Activities of a rank; at each instant the first of these that applies.
SHARES = ("computing", "message", "other")
#: Number of intervals of the window.
PIECES = 240
#: Number of ranks that represent all ranks.
MOST_RANKS = 12


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """The data that is drawn of a result: operations, messages, and the critical path, if any."""

    source: Source
    operations: pl.DataFrame
    messages: pl.DataFrame
    path: CriticalPath | None
    #: Ranks that represent all; empty if each rank has a row.
    chosen: tuple[tuple[str, int], ...]
    #: Number of ranks.
    ranks: int
    shares: pl.DataFrame | None

    def heights(self) -> list[float]:
        """Return the height of each panel, in inches."""
        if not self.chosen:
            return [min(max(LEAST_HEIGHT, RANK_HEIGHT * self.ranks), MOST_HEIGHT)]
        return [SHARE, max(LEAST_HEIGHT, ROW * len(self.chosen)), *([PATH] if self.path else [])]

    def rows(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the operations and messages of the ranks that have rows."""
        if not self.chosen:
            return self.operations, self.messages
        chosen = pl.DataFrame(self.chosen, schema={"workload": pl.String, "rank": pl.UInt64}, orient="row")
        keep = {"on": ["workload", "rank"], "how": "semi"}
        return self.operations.join(chosen, **keep), self.messages.join(chosen, **keep)  # type: ignore[arg-type]


def timeline(
    sources: Sequence[Source],
    *,
    workloads: Sequence[str] = (),
    window: tuple[float | None, float | None] = (None, None),
    title: str | None = None,
    paths: Sequence[CriticalPath] = (),
) -> Drawing:
    """Draw the operations of jobs' ranks over time, a bar for each operation from its start to its end.

    The messages of a rank over the network are lines in its row. Of more than 64 ranks a dozen have rows: the
    first, the last, those that others waited for, and some between; a panel above has the shares of all ranks
    by activity.

    Parameters
    ----------
    sources
        Results; of several seeds the first is shown.
    workloads
        Names of the jobs to show. Default: all.
    window
        Begin and end of the shown time, in microseconds; None for the run's. Default: the whole run, or the
        time of the paths.
    title
        Title. Default: one that names operations of ranks.
    paths
        Critical path of a collective or an iteration, one for each result, drawn with its phases.

    Returns
    -------
    Drawing
        Picture, with a table of `result`, `seed`, and the shown columns of `operations`. It also has a row
        for each message and each step of a path, and rows with a `share` of ranks.

    Raises
    ------
    PlotError
        If there was no job, or no job of that name, or not as many paths as results.
    """
    if paths and len(paths) != len(sources):
        counts = f"{counted(len(paths), 'path')} for {counted(len(sources), 'result')}"
        raise PlotError(f"{counts}: give one for each", key="path")
    if paths and window == (None, None):
        window = min(path.target.start_us for path in paths), max(path.target.end_us for path in paths)
    limits = limits_of([source.results[0] for source in sources], window)
    views = [
        _shown(source, workloads, limits, paths[at] if paths else None) for at, source in enumerate(sources)
    ]
    kinds = sorted({kind for view in views for kind in view.rows()[0]["kind"].unique()})
    # A kind has the same colour in every picture, whatever else is in it.
    order = [*KINDS, *(kind for kind in kinds if kind not in KINDS)]
    colours = {kind: colour_of(order.index(kind)) for kind in kinds}
    per_time, unit = time_unit(limits[1])
    many = any(view.chosen for view in views)
    note = " ".join([NOTE, *([NARROW_NOTE] if WAITS in kinds else []), *([ALL_NOTE] if many else [])])
    with plain_style():
        heights = [height for view in views for height in view.heights()]
        high = (sum(heights) + AROUND) * current().scale
        figure, panels = stacked(title or "Operations of ranks", high, len(heights), ratios=heights)
        rest = iter(panels)
        for view in views:
            _draw(view, rest, colours, per_time)
        panels[-1].set_xlim(limits[0] / per_time, limits[1] / per_time)
        panels[-1].set_xlabel(f"time in {unit}")
        keys = dict(_keys(views, colours))
        add_legend(figure, list(keys), handles=list(keys.values()), note=note)
    data = [_table(view) for view in views]
    return Drawing(figure=figure, data=pl.concat(data, how="diagonal"), note=note)


def _shown(
    source: Source, workloads: Sequence[str], limits: tuple[float, float], path: CriticalPath | None
) -> _Shown:
    result = source.results[0]
    operations = _rows(result, workloads, limits)
    messages = messages_of(result, operations, limits)
    ranks = operations.select("workload", "rank").n_unique()
    many = ranks > MOST_RANK_ROWS
    return _Shown(
        source=source,
        operations=operations,
        messages=messages,
        path=path,
        chosen=tuple(chosen_ranks(operations, path)) if many else (),
        ranks=ranks,
        shares=shares_of(operations, messages, limits) if many else None,
    )


def _draw(view: _Shown, panels: Iterator[Axes], colours: dict[str, str], per_time: float) -> None:
    """Draw the panels of a result."""
    label = shown(view.source.label)
    if view.shares is not None:
        axes = next(panels)
        axes.set_title(f"{label}: {counted(view.ranks, 'rank')}", loc="left", fontsize="small")
        _share_panel(axes, view.shares, per_time)
        label = f"{len(view.chosen)} of them"
    axes = next(panels)
    axes.set_title(label, loc="left", fontsize="small")
    rows = _panel(axes, view, colours, per_time)
    if view.path is None:
        return
    _path_in_rows(axes, view.path, rows, per_time)
    if view.chosen:
        axes = next(panels)
        axes.set_title(f"critical path of {shown(view.path.target.name)}", loc="left", fontsize="small")
        _path_panel(axes, view.path, per_time)


def _keys(views: Sequence[_Shown], colours: dict[str, str]) -> Iterator[tuple[str, Artist]]:
    """Yield the labels of the legend, with samples."""
    yield from ((kind, Patch(color=colour)) for kind, colour in colours.items())
    if any(len(view.messages) for view in views):
        yield "message on the network", Patch(color=MESSAGE_SHADES[0])
    if any(view.chosen for view in views):
        yield "in an operation without one", Patch(color=OTHER_COLOUR)
    if any(view.path for view in views):
        yield "critical path", Line2D([], [], color=PATH_COLOUR)


def _table(view: _Shown) -> pl.DataFrame:
    """Return the table of a result: everything that the picture shows."""
    operations, messages = view.rows()
    parts = [operations.select(COLUMNS), messages.with_columns(kind=pl.lit("message"))]
    if view.path is not None:
        steps = [(step.rank, step.name, step.from_ps / 1e6, step.to_ps / 1e6) for step in view.path.steps]
        types = {"rank": pl.UInt64, "name": pl.String, "start_us": pl.Float64, "end_us": pl.Float64}
        frame = pl.DataFrame(steps, schema=types, orient="row")
        job = pl.lit(view.path.target.workload)
        parts.append(frame.with_columns(workload=job, kind=pl.lit("critical path")))
    if view.shares is not None:
        shares = view.shares.unpivot(index=["start_us", "end_us"], variable_name="name", value_name="share")
        parts.append(shares.with_columns(kind=pl.lit("share of ranks")))
    whole = pl.concat(parts, how="diagonal")
    return whole.select(*view.source.names, pl.all())


def _share_panel(axes: Axes, shares: pl.DataFrame, per_time: float) -> None:
    """Draw the shares of ranks by activity, stacked."""
    edges = np.append(shares["start_us"].to_numpy(), shares["end_us"][-1]) / per_time
    below = np.zeros(len(shares))
    colours = (colour_of(0), MESSAGE_SHADES[0], OTHER_COLOUR)
    for name, colour in zip(SHARES, colours, strict=True):
        above = below + shares[name].to_numpy() * 100
        axes.stairs(above, edges, baseline=below, fill=True, color=colour, linewidth=0)
        below = above
    axes.set_ylim(0, 100)
    axes.set_ylabel("% of ranks")


def _rows(result: Result, workloads: Sequence[str], limits: tuple[float, float]) -> pl.DataFrame:
    """Return the operations that reach into the window."""
    if result.operations is None:
        raise PlotError(f"{result.run.name} has no job: no workload is a collective or a trace")
    names = {"workload": pl.String, "node": pl.String, "name": pl.String, "kind": pl.String}
    rows = result.operations.with_columns(pl.col(name).cast(form) for name, form in names.items())
    jobs = rows["workload"].unique().sort().to_list()
    for workload in workloads:
        if workload not in jobs:
            raise PlotError(f"no job is named {workload!r}; jobs: {', '.join(jobs)}", key="workload")
    if workloads:
        rows = rows.filter(pl.col("workload").is_in(list(workloads)))
    inside = rows.filter(pl.col("end_us") >= limits[0], pl.col("start_us") <= limits[1])
    if inside.is_empty():
        raise PlotError("no operation of a job was complete in this time", key="from")
    return inside.sort("workload", "rank", "start_us")


def _panel(axes: Axes, view: _Shown, colours: dict[str, str], per_time: float) -> dict[tuple[str, int], int]:
    """Draw the bars of a result, the ranks of the first job at the top, and return the row of each rank."""
    frame, messages = view.rows()
    ranks = frame.select("workload", "rank").unique(maintain_order=True).with_row_index("row")
    placed = frame.join(ranks, on=["workload", "rank"], how="left", maintain_order="left")
    for kind, colour in colours.items():
        bars = placed.filter(pl.col("kind") == kind)
        if bars.is_empty():
            continue
        half = (NARROW if kind == WAITS else HIGH) / 2
        # Consecutive operations of a kind have alternating shades.
        lighter = to_hex((0.45 + 0.55 * np.array(to_rgb(colour))).tolist())
        _bars(axes, bars, (-half, half), (colour, lighter), per_time)
    if len(messages) <= MOST_MESSAGES:
        sent = messages.join(ranks, on=["workload", "rank"], how="inner", maintain_order="left")
        _bars(axes, sent, MESSAGES, MESSAGE_SHADES, per_time)
    axes.set_ylim(len(ranks) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    if view.chosen:
        _name_each(axes, ranks)
    else:
        _name_rows(axes, ranks)
    return {(job, rank): row for row, job, rank in ranks.iter_rows()}


def _bars(
    axes: Axes, spans: pl.DataFrame, at: tuple[float, float], shades: tuple[str, str], per_time: float
) -> None:
    """Draw spans as bars, in two alternating shades; `at` is the begin and end of bars within a row."""
    if spans.is_empty():
        return
    begin, end = spans["start_us"].to_numpy() / per_time, spans["end_us"].to_numpy() / per_time
    row = spans["row"].to_numpy().astype(float)
    above, below = row + at[0], row + at[1]
    corners = np.stack(
        [
            np.stack([begin, above], axis=-1), np.stack([end, above], axis=-1),
            np.stack([end, below], axis=-1), np.stack([begin, below], axis=-1),
        ],
        axis=1,
    )  # fmt: skip
    turns = spans.select(pl.int_range(pl.len()).over("row") % 2).to_series().to_numpy()
    axes.add_collection(
        PolyCollection(list(corners), facecolors=[shades[turn] for turn in turns], linewidths=0)
    )


def _path_in_rows(axes: Axes, path: CriticalPath, rows: dict[tuple[str, int], int], per_time: float) -> None:
    """Draw the steps of a path whose ranks have rows."""
    job, lines = path.target.workload, []
    for step in path.steps:
        to = rows.get((job, step.rank))
        if to is not None:
            begin = rows.get((job, step.began_at), to)
            lines.append([(step.from_ps / 1e6 / per_time, begin), (step.to_ps / 1e6 / per_time, to)])
    axes.add_collection(LineCollection(lines, colors=PATH_COLOUR, linewidths=1.4, zorder=3))


def _path_panel(axes: Axes, path: CriticalPath, per_time: float) -> None:
    """Draw a path from rank to rank, with its phases if each of them is contiguous."""
    points = [(path.steps[0].from_ps / 1e6 / per_time, path.steps[0].began_at)]
    points += [(step.to_ps / 1e6 / per_time, step.rank) for step in path.steps]
    marker = "." if len(points) <= MOST_MARKED else ""
    axes.plot(*zip(*points, strict=True), color=PATH_COLOUR, linewidth=1.2, marker=marker, markersize=2.5)
    phases = [phase for phase in path.phases if phase.stretches == 1]
    named_phases = phases if len(phases) == len(path.phases) else []
    lowest, highest = min(rank for _, rank in points), max(rank for _, rank in points)
    room = max(1, highest - lowest) / 20
    # Names of phases are above the path.
    axes.set_ylim(highest + room, lowest - (5 if named_phases else 1) * room)
    axes.set_ylabel("rank")
    axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
    for phase in named_phases:
        begin, end = phase.from_ps / 1e6 / per_time, phase.to_ps / 1e6 / per_time
        axes.axvline(end, color="black", linewidth=0.6, linestyle=":")
        if phase.time_ps >= NAMED_PHASE * path.time_ps:
            name = f"{phase.place},\n{counted(len(phase.steps), 'step')}"
            where = axes.get_xaxis_transform()
            middle = (begin + end) / 2
            axes.text(middle, 0.97, name, transform=where, ha="center", va="top", fontsize="x-small")


def _name_each(axes: Axes, ranks: pl.DataFrame) -> None:
    """Label each rank that has a row with its number, and its job if there are several."""
    several = ranks["workload"].n_unique() > 1
    names = [
        f"{shown(job, longest=LONGEST_JOB)} {rank}" if several else str(rank)
        for _, job, rank in ranks.iter_rows()
    ]
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_ylabel("rank" if several else f"rank of {shown(ranks['workload'][0], longest=LONGEST_JOB)}")


def _name_rows(axes: Axes, ranks: pl.DataFrame) -> None:
    """Label rows with the numbers of ranks in their jobs, and with names of jobs."""
    numbers = ranks["rank"].to_list()
    jobs = ranks.group_by("workload", maintain_order=True).agg(pl.col("row").min(), pl.len().alias("ranks"))
    first, second, *_ = MaxNLocator(8, integer=True).tick_values(0, len(numbers))
    step = max(1, round(second - first))
    # The labels of each job begin at its first rank, unless those of many jobs would overlap.
    ticks: list[int] = []
    for _, row, count in jobs.iter_rows():
        ends = row + count < len(numbers)
        for rank in range(0, count, step):
            leaves_room = not ends or rank == 0 or count - rank > step / 2
            if leaves_room and (not ticks or row + rank - ticks[-1] > step / 2):
                ticks.append(row + rank)
    axes.set_yticks(ticks, [str(numbers[row]) for row in ticks])
    if jobs.height == 1:
        axes.set_ylabel(f"rank of {shown(jobs['workload'][0], longest=LONGEST_JOB)}")
        return
    axes.set_ylabel("rank of each job")
    job_names: dict[float, str] = {}
    for workload, row, count in jobs.iter_rows():
        if row:
            axes.axhline(row - 0.5, color="black", linewidth=0.6)
        middle = row + (count - 1) / 2
        # Names of jobs with few ranks next to each other would overlap.
        if not job_names or middle - max(job_names) >= NAMES_APART * len(numbers):
            job_names[middle] = shown(workload, longest=LONGEST_JOB)
    names = axes.secondary_yaxis("right")
    names.set_yticks(list(job_names), list(job_names.values()), fontsize="small")


def messages_of(result: Result, operations: pl.DataFrame, limits: tuple[float, float]) -> pl.DataFrame:
    """Return the messages of jobs that were on the network inside a window.

    Parameters
    ----------
    result
        Result whose table of flows has the messages; those without a row are missing.
    operations
        Operations that are shown. They give the rank of each host: of several, the first.
    limits
        Begin and end of the window, in microseconds.

    Returns
    -------
    pl.DataFrame
        One row per message: `workload`, the `rank` that sends it, `node`, `bytes`, `start_us`, and `end_us`,
        when it has arrived.
    """
    flows = result.flows.select(
        pl.col("workload").cast(pl.String),
        pl.col("source").cast(pl.String).alias("node"),
        pl.col("size_bytes").alias("bytes"),
        pl.col("start_us"),
        # A message that has not arrived is on the network until the end.
        pl.col("finish_receiver_us").fill_null(limits[1]).alias("end_us"),
    )
    ranks = operations.group_by("workload", "node").agg(pl.col("rank").min())
    return (
        flows.filter(pl.col("end_us") >= limits[0], pl.col("start_us") <= limits[1])
        .join(ranks, on=["workload", "node"])
        .select("workload", "rank", "node", "bytes", "start_us", "end_us")
        .sort("workload", "rank", "start_us", "end_us")
    )


def shares_of(operations: pl.DataFrame, messages: pl.DataFrame, limits: tuple[float, float]) -> pl.DataFrame:
    """Return the shares of ranks by activity, in each interval of a window.

    Parameters
    ----------
    operations
        Operations of all ranks: `workload`, `rank`, `kind`, `start_us`, `end_us`.
    messages
        Messages, from `messages_of`.
    limits
        Begin and end of the window, in microseconds.

    Returns
    -------
    pl.DataFrame
        One row per interval: `start_us`, `end_us`, and the mean shares of ranks that were `computing`; of
        the others, that had a `message` on the network; and of the others, that were in an operation within
        their node or waited (`other`). A receive alone is not counted: it has not started.
    """
    edges = np.linspace(*limits, PIECES + 1)
    started = operations.filter(pl.col("kind") != "recv")
    ranks = operations.select("workload", "rank").n_unique()
    compute = started.filter(pl.col("kind") == "compute")
    sent = pl.concat([compute.select(_SPANS), messages.select(_SPANS)])
    # Each of these contains the one before it.
    covered = [_covered(frame, edges) for frame in (compute.select(_SPANS), sent, started.select(_SPANS))]
    covered[2] = np.maximum(covered[1], covered[2])
    parts = np.diff(np.stack(covered), prepend=0.0, axis=0) / max(ranks, 1)
    return pl.DataFrame(
        {"start_us": edges[:-1], "end_us": edges[1:], **dict(zip(SHARES, parts, strict=True))}
    )


_SPANS = ("workload", "rank", "start_us", "end_us")


def _covered(frame: pl.DataFrame, edges: Times) -> Times:
    """Return the mean number of ranks with a span in each interval."""
    total = np.zeros(len(edges))
    for rank_spans in frame.partition_by("workload", "rank"):
        spans = rank_spans.sort("start_us", "end_us")
        total += covered_until(spans["start_us"].to_numpy(), spans["end_us"].to_numpy())(edges)
    return np.diff(total) / np.diff(edges)


def chosen_ranks(operations: pl.DataFrame, path: CriticalPath | None) -> list[tuple[str, int]]:
    """Return ranks that represent all ranks of a result.

    These are the first and the last rank of each job; the rank at which the critical path ends, and those at
    which its phases begin and end; without a path, those at which most operations of the job were last; and
    others between them.
    """
    every = sorted(operations.select("workload", "rank").unique().iter_rows())
    jobs = [list(ranks) for _, ranks in groupby(every, key=itemgetter(0))]
    preferred = [*_slow(operations, path), *(job[0] for job in jobs), *(job[-1] for job in jobs)]
    evenly = [every[round(at * (len(every) - 1) / (MOST_RANKS - 1))] for at in range(MOST_RANKS)]
    return sorted([rank for rank in dict.fromkeys([*preferred, *evenly]) if rank in set(every)][:MOST_RANKS])


def _slow(operations: pl.DataFrame, path: CriticalPath | None) -> Sequence[tuple[str, int]]:
    """Return the ranks that others waited for."""
    if path is not None:
        ends: Iterable[int] = (
            rank for phase in path.phases for rank in (phase.steps[0].began_at, phase.steps[-1].rank)
        )
        ranks = dict.fromkeys([path.steps[-1].rank, *ends])
        return [(path.target.workload, rank) for rank in list(ranks)[: MOST_RANKS // 2]]
    together = operations.filter(pl.col("group").is_not_null())
    last = together.group_by("workload", "iteration", "group", "sequence").agg(
        pl.col("rank").sort_by("end_us", "rank").last()
    )
    often = last.group_by("workload", "rank").len()
    most = often.sort("len", "workload", "rank", descending=[True, False, False]).head(MOST_RANKS // 3)
    return list(most.select("workload", "rank").iter_rows())
