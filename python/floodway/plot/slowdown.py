"""Slowdown against flow size: median and 99th percentile over buckets of as many flows.

Unfinished flows rank above every finished one: a percentile that falls among them is not reached, and its
line has a gap there.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import polars as pl

from floodway.errors import PlotError
from floodway.plot.axes import axes_of, plain_style, plain_ticks
from floodway.plot.curves import Drawing, add_legend, flow_curves
from floodway.results.summary import SizeBucket, size_buckets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from floodway.plot.curves import Curve, Source

__all__ = ["slowdown"]


def slowdown(
    sources: Sequence[Source], *, workloads: Sequence[str] | None = (), title: str = "Slowdown"
) -> Drawing:
    """Draw slowdown against flow size, two lines for each source and workload.

    Parameters
    ----------
    sources
        The results; the flows of all seeds of a source are taken together.
    workloads
        As in `flow_curves`.
    title
        What stands above, before the legend of the lines.

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
    buckets = [size_buckets(curve.flows) for curve in curves]
    if not any(bucket.p50 is not None for own in buckets for bucket in own):
        raise PlotError("of no size has half of the measured flows finished, so there is no slowdown to show")
    with plain_style():
        figure, axes = axes_of(
            "flow size in bytes", "slowdown", title=f"{title} against flow size: p50 full, p99 dashed"
        )
        labels = [_label(curve, own) for curve, own in zip(curves, buckets, strict=True)]
        for curve, own, label in zip(curves, buckets, labels, strict=True):
            _draw(axes, curve, own, label)
        axes.set_xscale("log")
        axes.set_yscale("log")
        plain_ticks(axes)
        add_legend(figure, labels)
    return Drawing(figure=figure, data=pl.concat(map(_table, curves, buckets)))


def _draw(axes: Axes, curve: Curve, buckets: Sequence[SizeBucket], label: str) -> None:
    sizes = [bucket.to_bytes for bucket in buckets]
    for name, line in (("p50", "-"), ("p99", "--")):
        values = [getattr(bucket, name) for bucket in buckets]
        axes.plot(
            sizes,
            [float("nan") if value is None else value for value in values],
            color=curve.colour,
            linestyle=line,
            marker=curve.mark,
            markersize=3,
            linewidth=min(curve.width, 2.0),
            label=label if name == "p50" else None,
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
