"""Ranks of jobs in time: what each rank did when, a panel for each result (a Gantt chart)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from floodway.errors import PlotError
from floodway.plot.axes import plain_style, shown, stacked
from floodway.plot.curves import Drawing, add_legend, colour_of
from floodway.plot.look import current
from floodway.plot.units import time_unit
from floodway.plot.window import limits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from floodway.plot.curves import Source
    from floodway.results import Result

__all__ = ["timeline"]

#: Inches of a panel, and of each rank in it, up to the most.
LEAST, EACH, MOST, AROUND = 1.6, 0.12, 6.0, 1.1
#: Share of a rank's row that a bar fills; receives are narrow, since they wait beside other operations.
HIGH, NARROW = 0.84, 0.25
#: So many rows have gaps between them.
FEW = 64
#: Operations that are narrow.
WAITS = "recv"
#: Kinds of operations in the order of their colours.
KINDS = ("compute", "send", "recv", "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast")
#: What stands below the picture, and what is added where receives are shown.
NOTE = "Dark and light of a colour in turn: an operation of this kind, and the next one of its rank."
NARROW_NOTE = "Narrow bars: a receive was posted and waited."
#: Letters of a job's name, and the least share of a panel between two names.
LONGEST_JOB, NAMES_APART = 24, 0.07
COLUMNS = ("workload", "rank", "node", "iteration", "name", "kind", "bytes", "start_us", "end_us")


def timeline(
    sources: Sequence[Source],
    *,
    workloads: Sequence[str] = (),
    window: tuple[float | None, float | None] = (None, None),
    title: str | None = None,
) -> Drawing:
    """Draw what the ranks of jobs did in time, a bar for each operation from its start to its end.

    Parameters
    ----------
    sources
        The results; of several seeds the first is shown.
    workloads
        Names of the jobs to show. Default: all.
    window
        From when to when, in microseconds. Default: the whole run.
    title
        What stands above. Default: that these are operations of ranks.

    Returns
    -------
    Drawing
        Its table has `result`, `seed`, and the columns of `operations` that are shown.

    Raises
    ------
    PlotError
        If there was no job, or none of that name.
    """
    results = [source.results[0] for source in sources]
    limits = limits_of(results, window)
    frames = [_rows(result, workloads, limits) for result in results]
    kinds = sorted({kind for frame in frames for kind in frame["kind"].unique()})
    # A kind has the same colour in every picture, whatever else is in it.
    order = [*KINDS, *(kind for kind in kinds if kind not in KINDS)]
    colours = {kind: colour_of(order.index(kind)) for kind in kinds}
    per_time, unit = time_unit([pl.DataFrame({"time_us": [limits[0]], "span_us": [limits[1] - limits[0]]})])
    note = f"{NOTE} {NARROW_NOTE}" if WAITS in kinds else NOTE
    with plain_style():
        most = max((frame.select("workload", "rank").n_unique() for frame in frames), default=1)
        panel = min(max(LEAST, EACH * most), MOST)
        heading = title or "Operations of ranks"
        high = (panel * len(frames) + AROUND) * current().scale
        figure, panels = stacked(heading, high, len(frames))
        for axes, source, frame in zip(panels, sources, frames, strict=True):
            _panel(axes, frame, colours, per_time)
            axes.set_title(shown(source.label), loc="left", fontsize="small")
            axes.set_xlim(limits[0] / per_time, limits[1] / per_time)
        panels[-1].set_xlabel(f"time in {unit}")
        keys = [Patch(color=colour) for colour in colours.values()]
        add_legend(figure, list(colours), handles=keys, note=note)
    data = [
        frame.select(pl.lit(source.label).alias("result"), pl.lit(result.run.seed).alias("seed"), *COLUMNS)
        for source, result, frame in zip(sources, results, frames, strict=True)
    ]
    return Drawing(figure=figure, data=pl.concat(data), note=note)


def _rows(result: Result, workloads: Sequence[str], limits: tuple[float, float]) -> pl.DataFrame:
    """Return the operations that reach into the window."""
    if result.operations is None:
        raise PlotError(f"{result.run.name} has no job: no workload is a collective or a trace")
    names = {"workload": pl.String, "node": pl.String, "name": pl.String, "kind": pl.String}
    rows = result.operations.with_columns(pl.col(name).cast(form) for name, form in names.items())
    known = rows["workload"].unique().sort().to_list()
    for workload in workloads:
        if workload not in known:
            raise PlotError(f"no job is named {workload!r}; jobs: {', '.join(known)}", key="workload")
    if workloads:
        rows = rows.filter(pl.col("workload").is_in(list(workloads)))
    inside = rows.filter(pl.col("end_us") >= limits[0], pl.col("start_us") <= limits[1])
    if inside.is_empty():
        raise PlotError("no operation of a job was complete in this time", key="from")
    return inside.sort("workload", "rank", "start_us")


def _panel(axes: Axes, frame: pl.DataFrame, colours: dict[str, str], per_time: float) -> None:
    """Draw the bars of a result, the ranks of the first job at the top."""
    ranks = frame.select("workload", "rank").unique(maintain_order=True).with_row_index("row")
    placed = frame.join(ranks, on=["workload", "rank"], how="left", maintain_order="left")
    for kind, colour in colours.items():
        bars = placed.filter(pl.col("kind") == kind)
        if bars.is_empty():
            continue
        # Gaps between many rows would be stripes.
        half = (NARROW if kind == WAITS else HIGH if len(ranks) <= FEW else 1.0) / 2
        begin, end = bars["start_us"].to_numpy() / per_time, bars["end_us"].to_numpy() / per_time
        row = bars["row"].to_numpy().astype(float)
        corners = np.stack(
            [
                np.stack([begin, row - half], axis=-1), np.stack([end, row - half], axis=-1),
                np.stack([end, row + half], axis=-1), np.stack([begin, row + half], axis=-1),
            ],
            axis=1,
        )  # fmt: skip
        # Operations of a kind that follow each other have two shades in turn.
        lighter = to_hex((0.45 + 0.55 * np.array(to_rgb(colour))).tolist())
        turns = bars.select(pl.int_range(pl.len()).over("row") % 2).to_series().to_numpy()
        shades = [lighter if turn else colour for turn in turns]
        axes.add_collection(PolyCollection(list(corners), facecolors=shades, linewidths=0))
    axes.set_ylim(len(ranks) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    _name_rows(axes, ranks)


def _name_rows(axes: Axes, ranks: pl.DataFrame) -> None:
    """Write the numbers of ranks in their job, and names of jobs."""
    numbers = ranks["rank"].to_list()
    jobs = ranks.group_by("workload", maintain_order=True).agg(pl.col("row").min(), pl.len().alias("ranks"))
    first, second, *_ = MaxNLocator(8, integer=True).tick_values(0, len(numbers))
    step = max(1, round(second - first))
    # The numbers of each job begin at its first rank, unless those of many jobs would lie on one another.
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
    named: dict[float, str] = {}
    for workload, row, count in jobs.iter_rows():
        if row:
            axes.axhline(row - 0.5, color="black", linewidth=0.6)
        middle = row + (count - 1) / 2
        # Names of jobs with few ranks beside many others would lie on one another.
        if not named or middle - max(named) >= NAMES_APART * len(numbers):
            named[middle] = shown(workload, longest=LONGEST_JOB)
    names = axes.secondary_yaxis("right")
    names.set_yticks(list(named), list(named.values()), fontsize="small")
