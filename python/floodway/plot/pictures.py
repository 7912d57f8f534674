"""Flow completion times, slowdown against size, throughput of the watched links in time.

Only measured flows are shown. Unfinished ones count as later than every finished one: the curve of
completion times then ends below one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway.plot.axes import axes_of, plain_ticks, png_of
from floodway.results.rates import link_rates

if TYPE_CHECKING:
    import os

    from matplotlib.figure import Figure

    from floodway.results import Result

__all__ = ["fct_cdf", "link_throughput", "save_all", "slowdown"]

#: More curves than this are hard to tell apart.
MOST_LINKS = 4
#: Of a curve in time.
POINTS = 250


def save_all(result: Result, folder: str | os.PathLike[str]) -> list[Path]:
    """Draw every picture of a result into a folder, and return the files.

    A picture whose result has nothing to show in it, such as one without watched links, is left out.
    """
    pictures = {"fct.png": fct_cdf, "slowdown.png": slowdown, "throughput.png": link_throughput}
    drawn = []
    for name, draw in pictures.items():
        figure = draw(result)
        if figure is not None:
            file = Path(folder) / name
            file.write_bytes(png_of(figure))
            drawn.append(file)
    return drawn


def fct_cdf(result: Result) -> Figure | None:
    """Draw the share of measured flows that completed within a time, a curve a workload."""
    measured = result.flows.filter(pl.col("measured"))
    if not measured["finished"].any():
        return None
    figure, axes = axes_of("flow completion time in us", "share of measured flows", title=result.run.name)
    for (workload,), flows in measured.group_by("workload", maintain_order=True):
        times = np.sort(flows["fct_us"].drop_nulls().to_numpy())
        share = np.arange(1, len(times) + 1) / len(flows)
        axes.step(times, share, where="post", label=f"{workload} ({len(times):,} of {len(flows):,} finished)")
    axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.legend(loc="lower right")
    return figure


def slowdown(result: Result) -> Figure | None:
    """Draw median and 99th percentile of slowdown against flow size, over buckets of as many flows."""
    buckets = [bucket for bucket in result.summary().total.slowdown if bucket.p50 is not None]
    if not buckets:
        return None
    figure, axes = axes_of("flow size in bytes", "slowdown", title=result.run.name)
    for label in ("p50", "p99"):
        reached = [bucket for bucket in buckets if getattr(bucket, label) is not None]
        values = [getattr(bucket, label) for bucket in reached]
        axes.plot([bucket.to_bytes for bucket in reached], values, marker="o", markersize=3, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    plain_ticks(axes)
    axes.legend()
    return figure


def link_throughput(result: Result) -> Figure | None:
    """Draw what the busiest of the watched links carried in time, in Gbit/s on the wire."""
    busiest = sorted(result.summary().links, key=lambda link: -link.mean_gbps)[:MOST_LINKS]
    if not busiest:
        return None
    rates = link_rates(result.series, points=POINTS)
    figure, axes = axes_of("time in ms", "Gbit/s", title=result.run.name)
    for link in busiest:
        curve = rates.filter(pl.col("object") == link.object)
        axes.plot(curve["time_us"] / 1000, curve["gbps"], linewidth=0.9, label=link.object)
    axes.set_ylim(bottom=0)
    figure.legend(loc="outside lower center", ncols=MOST_LINKS, fontsize="x-small")
    return figure
