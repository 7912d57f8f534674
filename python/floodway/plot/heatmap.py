"""The heatmap of watched objects against time, with a metric as the colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib as mpl
import polars as pl
from matplotlib.colors import Normalize

from floodway.common.errors import PlotError
from floodway.plot.axes import SIZE, figure_for, plain_style, shown
from floodway.plot.curves import Drawing, titled
from floodway.plot.series import series_table
from floodway.plot.style import current, heading
from floodway.plot.units import time_unit, value_unit
from floodway.results.metrics import chosen_objects, in_time, metric_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

    from floodway.plot.curves import Source
    from floodway.results.metrics import Metric

__all__ = ["heatmap"]

#: Number of columns, each a part of the run.
POINTS = 200
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


def heatmap(
    sources: Sequence[Source],
    *,
    objects: Sequence[str] = (),
    metric: str = "utilisation",
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
    first = [source.results[0] for source in sources]
    tables = [result.series for result in first]
    if not any(map(len, tables)):
        raise PlotError("nothing was watched, so there is nothing to show in time")
    chosen = metric_of(metric, tables)
    names = chosen_objects(objects, tables)
    frames = [in_time(result, chosen, objects=names, points=POINTS) for result in first]
    if not any(frame["value"].count() for frame in frames):
        raise PlotError(f"no object that is shown has a {chosen.label}", key="metric", given=metric)
    rows = _rows(names, frames, chosen)
    cut = "" if len(rows) == len(names) else f", the {len(rows)} largest of {len(names)} objects"
    with plain_style():
        figure = _draw(sources, rows, frames, chosen, titled(chosen.label.capitalize() + cut, sources))
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


def _draw(
    sources: Sequence[Source],
    rows: Sequence[str],
    frames: Sequence[pl.DataFrame],
    metric: Metric,
    title: str,
) -> Figure:
    (per_time, time), (per_value, unit) = time_unit(frames), value_unit(metric.column, frames)
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
    ends = [float((frame["time_us"] + frame["span_us"]).max() or 0.0) for frame in frames]  # type: ignore[arg-type]
    panels[-1].set_xlim(0, max(ends) / per_time)
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
