"""Pictures of a metric of watched objects over time: panels of curves, and a heatmap.

Curves with pauses would hide one another, so each has its own panel; all panels have the same ranges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import polars as pl
from matplotlib.colors import Colormap, Normalize

from floodway.common.errors import PlotError
from floodway.plot.axes import (
    SIZE,
    figure_for,
    grid_of,
    plain_style,
    scale_axes,
    shown,
    time_unit,
    value_unit,
)
from floodway.plot.curves import Drawing, Source, colour_of, titled
from floodway.plot.style import current, heading
from floodway.results.metrics import Metric, chosen_objects, in_time, metric_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from floodway.results import Result


__all__ = ["heatmap", "series"]

#: Number of parts of the run in a curve.
POINTS = 250
#: Number of objects that are shown by default: of one source, and of each of several.
OF_ONE, OF_EACH = 4, 2
#: Maximum numbers of panels, and of panels side by side: more are hard to read.
MOST_PANELS, MOST_COLUMNS = 32, 4
#: Number of columns, each a part of the run.
HEATMAP_POINTS = 200
#: Maximum number of rows, those with the largest values: more cannot be distinguished.
MOST_ROWS = 64
#: Height of a row, and of the rest of each panel and of the figure, in inches.
ROW, PANEL, AROUND = 0.19, 0.35, 1.2
#: Width of the colour bar, in inches.
BAR = 0.15
#: An object that reaches this share of the largest value counts as reached by congestion.
REACHED = 0.1
#: Colours from light to dark, whose order remains in grey or with colour blindness.
COLOURS = "magma_r"


def series(
    sources: Sequence[Source],
    *,
    objects: Sequence[str] = (),
    metric: str = "throughput",
    title: str | None = None,
) -> Drawing:
    """Draw a metric of watched objects over time.

    Parameters
    ----------
    sources
        Results; of several seeds the first is shown.
    objects
        Patterns of names, as in `chosen_objects`. Default: the busiest links that all sources watch, four
        of one source, two of each of several.
    metric
        Name of a metric, as in `metric_of`.
    title
        Title. Default: the name of the metric.

    Returns
    -------
    Drawing
        Picture, with a table of `result`, `seed`, `object`, `time_us`, `span_us`, and the metric with its
        unit.

    Raises
    ------
    PlotError
        If nothing was watched, or there is no such metric or object, or there are too many.

    Examples
    --------
    >>> import floodway
    >>> from floodway.builders import Burst, RecordKeys, SingleSwitch, Workload
    >>> from floodway.plot import Source, series
    >>> scenario = floodway.Scenario(
    ...     topology=SingleSwitch(hosts=3, rate="100G", delay="1us"),
    ...     workload=[Workload(name="pair", burst=Burst(from_=["h1", "h2"], to="h3", size="100KB"))],
    ...     records=RecordKeys(watch=["*h3*"]),
    ... )
    >>> drawing = series([Source(label="pair", results=(floodway.run(scenario),))], metric="queue")
    >>> drawing.data.columns
    ['result', 'seed', 'object', 'time_us', 'span_us', 'queue_mean_bytes']
    """
    first, tables = _watched(sources)
    chosen = metric_of(metric, tables)
    names = chosen_objects(objects, tables) if objects else _busiest(sources)
    _refuse_many(names, len(sources))
    frames = [in_time(result, chosen, objects=names, points=POINTS) for result in first]
    if not any(map(len, frames)):
        raise PlotError(f"no object that is shown has a {chosen.label}", key="metric", given=metric)
    with plain_style():
        heading = shown(title) if title else titled(chosen.label.capitalize(), sources)
        figure = _draw(sources, names, frames, chosen, heading)
    return Drawing(figure=figure, data=series_table(sources, frames, chosen))


def _watched(sources: Sequence[Source]) -> tuple[list[Result], list[pl.DataFrame]]:
    """Return the first result of each source, and their tables of series, of which one has rows at least."""
    first = [source.results[0] for source in sources]
    tables = [result.series for result in first]
    if not any(map(len, tables)):
        raise PlotError("nothing was watched, so there is nothing to show in time")
    return first, tables


def series_table(sources: Sequence[Source], frames: Sequence[pl.DataFrame], metric: Metric) -> pl.DataFrame:
    """Return one table of the values of all sources."""
    return pl.concat(
        frame.select(*source.names, "object", "time_us", "span_us", pl.col("value").alias(metric.column))
        for source, frame in zip(sources, frames, strict=True)
    )


def _draw(
    sources: Sequence[Source],
    names: Sequence[str],
    frames: Sequence[pl.DataFrame],
    metric: Metric,
    title: str,
) -> Figure:
    (per_time, time), (per_value, unit) = time_unit(_end_us(frames)), value_unit(metric.column, frames)
    upright = len(names) >= len(sources)
    rows, columns = sorted((len(names), len(sources)), reverse=True)
    figure, grid = grid_of(f"time in {time}", unit, title=title, rows=rows, columns=columns)
    for s, (source, frame) in enumerate(zip(sources, frames, strict=True)):
        for o, name in enumerate(names):
            axes = grid[o][s] if upright else grid[s][o]
            colour = colour_of(s if len(sources) > 1 else o)
            parts = [source.label] * (len(sources) > 1) + [name] * (len(names) > 1 or len(sources) == 1)
            axes.set_title(shown(", ".join(parts)), loc="left", fontsize="small", color=colour)
            of_object = frame.filter(pl.col("object") == name)
            _step(axes, of_object, (per_time, per_value), colour)
    # The panels share their range, which is set after all curves are drawn.
    log = scale_axes(grid[0][0], ())
    if "y" not in log:
        grid[0][0].set_ylim(bottom=0)
    if "x" not in log:
        grid[0][0].set_xlim(left=0)
    return figure


def _step(axes: Axes, parts: pl.DataFrame, per: tuple[float, float], colour: str) -> None:
    """Draw each value over its whole part of time."""
    if not len(parts):
        axes.text(0.5, 0.5, "not watched", transform=axes.transAxes, ha="center", va="center", color="0.5")
        return
    ends = [*parts["time_us"], parts["time_us"][-1] + parts["span_us"][-1]]
    values = parts["value"].fill_null(float("nan")).to_list()
    edges = [end / per[0] for end in ends]
    heights = [value / per[1] for value in (*values, values[-1])]
    axes.step(edges, heights, where="post", linewidth=0.9, color=colour)


def _end_us(frames: Sequence[pl.DataFrame]) -> float:
    ends = (float((frame["time_us"] + frame["span_us"]).max() or 0.0) for frame in frames)  # type: ignore[arg-type]
    return max(ends, default=0.0)


def _busiest(sources: Sequence[Source]) -> list[str]:
    """Return the links with the most throughput, of those that all sources watch."""
    carried = [
        {link.object: link.mean_gbps for link in source.results[0].summary().links} for source in sources
    ]
    common = [name for name in carried[0] if all(name in links for links in carried)]
    if not common:
        text = "no link is watched in all results; choose objects of each with --object"
        raise PlotError(text, key="object")
    common.sort(key=lambda name: -sum(links[name] for links in carried))
    return common[: OF_ONE if len(sources) == 1 else OF_EACH]


def _refuse_many(names: Sequence[str], sources: int) -> None:
    if len(names) * sources > MOST_PANELS or min(len(names), sources) > MOST_COLUMNS:
        of_results = f" of {sources} results" if sources > 1 else ""
        many = f"{len(names)} objects{of_results} are too many panels for a picture"
        raise PlotError(f"{many}; choose fewer, or a heatmap", key="object")


def heatmap(
    sources: Sequence[Source], *, objects: Sequence[str] = (), metric: str = "utilisation"
) -> Drawing:
    """Draw watched objects against time, a panel for each source, with a metric as the colour.

    Queues and pauses spread from port to port: rows of these are in the order in which the objects of the
    first source reached a tenth of the largest value, and those that never did come last. Rows of
    throughput and utilisation are in the order of the names.

    Parameters
    ----------
    sources
        Results; of several seeds the first is shown.
    objects
        Patterns of names, as in `chosen_objects`. Default: all watched objects.
    metric
        Name of a metric, as in `metric_of`.

    Returns
    -------
    Drawing
        Picture, with a table as that of `series`, of all chosen objects.

    Raises
    ------
    PlotError
        If nothing was watched, or there is no such metric or object.
    """
    first, tables = _watched(sources)
    chosen = metric_of(metric, tables)
    names = chosen_objects(objects, tables)
    frames = [in_time(result, chosen, objects=names, points=HEATMAP_POINTS) for result in first]
    if not any(frame["value"].count() for frame in frames):
        raise PlotError(f"no object that is shown has a {chosen.label}", key="metric", given=metric)
    rows = _rows(names, frames, chosen)
    cut = "" if len(rows) == len(names) else f", the {len(rows)} largest of {len(names)} objects"
    with plain_style():
        figure = _draw_heatmap(
            sources, rows, frames, chosen, titled(chosen.label.capitalize() + cut, sources)
        )
    return Drawing(figure=figure, data=series_table(sources, frames, chosen))


def _rows(names: Sequence[str], frames: Sequence[pl.DataFrame], metric: Metric) -> list[str]:
    """Return the objects that are shown, from the top down."""
    peaks = dict(pl.concat(frames).group_by("object").agg(pl.col("value").max()).iter_rows())
    largest = sorted(names, key=lambda name: -(peaks.get(name) or 0.0))[:MOST_ROWS]
    rows = [name for name in names if name in set(largest)]
    if metric.kind in ("rate", "used", "sum"):
        return rows
    threshold = REACHED * max((value or 0.0 for value in peaks.values()), default=0.0)
    reached = frames[0].filter(pl.col("value") >= threshold, pl.col("value") > 0)
    onset = dict(reached.group_by("object").agg(pl.col("time_us").min()).iter_rows())
    return sorted(rows, key=lambda name: onset.get(name, float("inf")))


def _draw_heatmap(
    sources: Sequence[Source], rows: Sequence[str], frames: Sequence[pl.DataFrame], metric: Metric, title: str
) -> Figure:
    (per_time, time), (per_value, unit) = time_unit(_end_us(frames)), value_unit(metric.column, frames)
    largest = max(float(frame["value"].max() or 0.0) for frame in frames) / per_value  # type: ignore[arg-type]
    norm = Normalize(0, 100.0 if metric.kind == "used" else largest or 1.0)
    high = AROUND + len(sources) * (PANEL + ROW * max(len(rows), 3))
    figure = figure_for(current().wide(SIZE[0] + 1), high)
    panels = figure.subplots(len(sources), 1, sharex=True, squeeze=False)[:, 0]
    colours = mpl.colormaps[COLOURS]
    for axes, source, frame in zip(panels, sources, frames, strict=True):
        _panel(axes, frame, rows, (per_time, per_value), (norm, colours))
        if len(sources) > 1:
            axes.set_title(shown(source.label), loc="left", fontsize="small")
    panels[-1].set_xlabel(f"time in {time}")
    panels[-1].set_xlim(0, _end_us(frames) / per_time)
    figure.suptitle(heading(title, usual=SIZE[0] + 1))
    bar = figure.colorbar(
        mpl.cm.ScalarMappable(norm, colours),
        ax=list(panels),
        pad=0.02,
        fraction=0.05,
        aspect=high / BAR,
        extend="max" if metric.kind == "used" else "neither",
        extendfrac=BAR / high,
    )
    bar.set_label(f"{metric.label} in {unit}" if unit else metric.label)
    return figure


def _panel(
    axes: Axes,
    frame: pl.DataFrame,
    rows: Sequence[str],
    per: tuple[float, float],
    look: tuple[Normalize, Colormap],
) -> None:
    """Draw a row per object, with its own parts of time; unknown values are grey."""
    axes.set_facecolor("0.85")
    for place, name in enumerate(rows):
        cells = frame.filter(pl.col("object") == name)
        if not len(cells):
            continue
        ends = [end / per[0] for end in (*cells["time_us"], cells["time_us"][-1] + cells["span_us"][-1])]
        values = cells["value"].fill_null(float("nan")).to_numpy() / per[1]
        axes.pcolormesh(
            ends, [place - 0.5, place + 0.5], values[None, :], norm=look[0], cmap=look[1], rasterized=True
        )
    axes.set_yticks(range(len(rows)), [shown(name) for name in rows], fontsize="x-small")
    axes.set_ylim(len(rows) - 0.5, -0.5)
