"""Slowdown against flow size: median and 99th percentile over buckets of equal numbers of flows.

Unfinished flows rank above every finished one: a percentile that falls among them is not reached, and its
line has a gap there.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import polars as pl

from floodway.common.errors import PlotError
from floodway.plot.axes import axes_of, panels_of, plain_style, scale_axes
from floodway.plot.curves import WIDER_BELOW, WIDTH, Drawing, add_legend, flow_curves, titled
from floodway.results.percentiles import of_flows
from floodway.results.summary import SizeBucket, slowdown_by_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from floodway.plot.curves import Curve, Source

__all__ = ["slowdown"]

#: So many curves have their median and their 99th percentile in one panel.
TOGETHER = 3
#: Points of the last curve's marks, and by how much others are larger for each point of a wider line: marks
#: that lie on one another can all be seen then.
MARK, WIDER_MARK = 3.0, 1.8
#: The percentiles, and the line of each.
LINES = {"p50": "-", "p99": "--"}


def slowdown(sources: Sequence[Source], *, workloads: Sequence[str] | None = ()) -> Drawing:
    """Draw slowdown against flow size, two lines for each source and workload.

    Where these are many, the medians have a panel of their own.

    Parameters
    ----------
    sources
        The results; the flows of all seeds of a source are taken together.
    workloads
        As in `flow_curves`.

    Returns
    -------
    Drawing
        Its table has `result`, `workload`, `from_bytes`, `to_bytes`, `flows`, `p50` and `p99`, which are
        empty where they are not reached.

    Raises
    ------
    PlotError
        If no percentile is reached, or there is no such workload.
    """
    curves = flow_curves(sources, workloads=workloads)
    buckets = [slowdown_by_size(curve.flows) for curve in curves]
    if not any(bucket.p50 is not None for own in buckets for bucket in own):
        raise PlotError(
            "no flow size has half of its measured flows finished, so there is no slowdown to show"
        )
    labels = [_label(curve, own) for curve, own in zip(curves, buckets, strict=True)]
    with plain_style():
        figure, panels = _panels(sources, many=len(curves) > TOGETHER)
        for curve, own, label in zip(curves, buckets, labels, strict=True):
            for axes, (name, line) in zip(panels, LINES.items(), strict=True):
                _draw(axes, curve, [(bucket.to_bytes, getattr(bucket, name)) for bucket in own], line)
            # The median's line, which every curve has, stands in the legend.
            panels[0].lines[-1 if panels[0] is not panels[1] else -2].set_label(label)
        for axes in dict.fromkeys(panels):
            scale_axes(axes, "xy")
        note = _note(curves, buckets)
        add_legend(figure, labels, note=note)
    return Drawing(figure=figure, data=pl.concat(map(_table, curves, buckets)), note=note)


def _note(curves: Sequence[Curve], buckets: Sequence[Sequence[SizeBucket]]) -> str:
    """Say of how few flows each p99 is, and what widths mean."""
    flows = [bucket.flows for own in buckets for bucket in own]
    lines = [of_flows(min(flows), max(flows), thousandths=990, each="each point")]
    return " ".join([*filter(None, lines), *([WIDER_BELOW] if len(curves) > 1 else [])])


def _panels(sources: Sequence[Source], *, many: bool) -> tuple[Figure, list[Axes]]:
    """Return the axes of the median and of the 99th percentile, which may be the same."""
    what = "Slowdown against flow size"
    if not many:
        title = titled(f"{what}: p50 full, p99 dashed", sources)
        figure, axes = axes_of("flow size in bytes", "slowdown", title=title)
        return figure, [axes, axes]
    figure, panels = panels_of("flow size in bytes", "slowdown", title=titled(what, sources), panels=2)
    figure.set_figheight(1.5 * figure.get_figheight())
    for axes, name in zip(panels, LINES, strict=True):
        axes.set_title(name, loc="left", fontsize="small")
    return figure, panels


def _draw(axes: Axes, curve: Curve, points: Sequence[tuple[int, float | None]], line: str) -> None:
    axes.plot(
        [size for size, _ in points],
        [float("nan") if value is None else value for _, value in points],
        color=curve.colour,
        linestyle=line,
        marker=curve.mark,
        markersize=MARK + WIDER_MARK * (curve.width - WIDTH),
        linewidth=curve.width,
    )


def _label(curve: Curve, buckets: Sequence[SizeBucket]) -> str:
    missing = sum(bucket.p99 is None for bucket in buckets)
    return f"{curve.label} (p99 of {missing} of {len(buckets)} sizes not reached)" if missing else curve.label


def _table(curve: Curve, buckets: Sequence[SizeBucket]) -> pl.DataFrame:
    frame = pl.DataFrame(
        [asdict(bucket) for bucket in buckets], schema_overrides={"p50": pl.Float64, "p99": pl.Float64}
    )
    names = {"result": pl.lit(curve.source), "workload": pl.lit(curve.workload or "all")}
    return frame.select(
        **names, from_bytes="from_bytes", to_bytes="to_bytes", flows="flows", p50="p50", p99="p99"
    )
