"""Pictures of flows: the share that completed within a time, and slowdown against flow size.

Unfinished flows rank above all finished ones: a percentile among them is not reached, and its line has a gap
there. A curve of completion times with unfinished flows ends below one, and its label has their number.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway.common.documents import size_text
from floodway.common.errors import PlotError
from floodway.plot.axes import axes_of, panels_of, plain_style, plain_ticks, scale_axes
from floodway.plot.curves import LARGER_BELOW, WIDTH, Curve, Drawing, Source, add_legend, flow_curves, titled
from floodway.results.interval import LEAST_SEEDS, half_width, interval_note
from floodway.results.percentiles import of_flows
from floodway.results.summary import SizeBucket, percentile, slowdown_by_size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D


__all__ = ["FLOWS", "TIME", "fct", "slowdown"]

#: Maximum number of curves whose median and 99th percentile share a panel.
MOST_CURVES_IN_PANEL = 3
#: Line styles of the percentiles.
LINES = {"p50": "-", "p99": "--"}
#: Labels of the axes.
TIME, FLOWS = "flow completion time in µs", "share of measured flows"
#: Numbers of evenly spread points of a curve, and of further points at its end.
MOST_POINTS, MOST_OF_TAIL = 3000, 1000
#: Number of marks on a curve.
MARKED = 8


@dataclass(frozen=True, kw_only=True)
class _Point(SizeBucket):
    """The slowdown of the flows in one range of sizes, and the half-widths of its intervals."""

    p50_reach: float | None = None
    p99_reach: float | None = None


def slowdown(sources: Sequence[Source], *, workloads: Sequence[str] | None = ()) -> Drawing:
    """Draw slowdown against flow size, two lines for each source and workload.

    If there are many, the medians have a panel of their own.

    Parameters
    ----------
    sources
        Results. For three or more seeds, points are means over the seeds, with their 95 % confidence
        intervals; for fewer, the flows of all seeds are one set.
    workloads
        Names of workloads, as in `flow_curves`.

    Returns
    -------
    Drawing
        Picture, with a table of `result`, `workload`, `from_bytes`, `to_bytes`, `flows`, `p50` and `p99`,
        which are empty if they are not reached, and the half-widths of the intervals, `p50_reach` and
        `p99_reach`, which are empty for fewer than three seeds.

    Raises
    ------
    PlotError
        If no percentile is reached, or there is no such workload.
    """
    curves = flow_curves(sources, workloads=workloads)
    buckets = [_points(curve) for curve in curves]
    if not any(bucket.p50 is not None for points in buckets for bucket in points):
        text = "no flow size has half of its measured flows finished, so there is no slowdown to show"
        raise PlotError(text)
    labels = [_label(curve, points) for curve, points in zip(curves, buckets, strict=True)]
    with plain_style():
        figure, panels = _panels(sources, many=len(curves) > MOST_CURVES_IN_PANEL)
        for curve, points, label in zip(curves, buckets, labels, strict=True):
            for axes, (name, line) in zip(panels, LINES.items(), strict=True):
                drawn = _draw(axes, curve, points, name, line)
                # The legend has the line of the median, which every curve has.
                if name == "p50":
                    drawn.set_label(label)
        for axes in dict.fromkeys(panels):
            if "x" in scale_axes(axes, "xy"):
                plain_ticks(axes.xaxis, write=size_text)
        note = _note(curves, buckets)
        add_legend(figure, labels, note=note)
    return Drawing(figure=figure, data=pl.concat(map(_table, curves, buckets)), note=note)


def _note(curves: Sequence[Curve], buckets: Sequence[Sequence[_Point]]) -> str:
    """Return a note on the number of flows of each p99, on intervals, and on sizes of marks."""
    flows = [bucket.flows for points in buckets for bucket in points]
    lines = [of_flows(min(flows), max(flows), thousandths=990, unit="each point")]
    seeds = [curve.seeds for curve in curves]
    bars = interval_note(min(seeds), max(seeds)) if max(seeds) > 1 else ""
    return " ".join([*filter(None, [*lines, bars]), *([LARGER_BELOW] if len(curves) > 1 else [])])


def _panels(sources: Sequence[Source], *, many: bool) -> tuple[Figure, list[Axes]]:
    """Return a figure with the axes of the median and of the 99th percentile, which may be the same."""
    subject = "Slowdown against flow size"
    if not many:
        title = titled(f"{subject}: p50 full, p99 dashed", sources)
        figure, axes = axes_of("flow size in bytes", "slowdown", title=title)
        return figure, [axes, axes]
    figure, panels = panels_of("flow size in bytes", "slowdown", title=titled(subject, sources), panels=2)
    figure.set_figheight(1.5 * figure.get_figheight())
    for axes, name in zip(panels, LINES, strict=True):
        axes.set_title(name, loc="left", fontsize="small")
    return figure, panels


def _points(curve: Curve) -> list[_Point]:
    """Return the points of a curve: for three or more seeds, the means of the seeds' percentiles."""
    buckets = slowdown_by_size(curve.flows)
    if curve.seeds < LEAST_SEEDS:
        return [_Point(**asdict(bucket)) for bucket in buckets]
    ordered = curve.flows.sort("size_bytes", "flow_id", "seed")
    points, begin = [], 0
    for bucket in buckets:
        by_seed = ordered[begin : begin + bucket.flows].partition_by("seed")
        begin += bucket.flows
        p50, p99 = ([_percentile(flows, thousandths) for flows in by_seed] for thousandths in (500, 990))
        means = {"p50": _mean(p50), "p99": _mean(p99)}
        reaches = {"p50_reach": _reach(p50), "p99_reach": _reach(p99)}
        points.append(_Point(**{**asdict(bucket), **means, **reaches}))
    return points


def _percentile(flows: pl.DataFrame, thousandths: int) -> float | None:
    return percentile(flows["slowdown"].drop_nulls().sort(), count=len(flows), thousandths=thousandths)


def _mean(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return fmean(present) if present and len(present) == len(values) else None


def _reach(values: Sequence[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return half_width(present) if len(present) == len(values) else None


def _draw(axes: Axes, curve: Curve, points: Sequence[_Point], name: str, line: str) -> Line2D:
    """Draw a percentile with its intervals, and return its line."""
    values = [getattr(point, name) for point in points]
    reaches = [getattr(point, f"{name}_reach") or 0.0 for point in points]
    # A logarithmic axis has no 0: an interval that reaches it ends just above.
    low = [min(reach, 0.99 * (value or 0.0)) for value, reach in zip(values, reaches, strict=True)]
    drawn: Line2D
    drawn, *_ = axes.errorbar(
        [point.to_bytes for point in points],
        [float("nan") if value is None else value for value in values],
        yerr=[low, reaches] if any(reaches) else None,
        color=curve.colour,
        linestyle=line,
        linewidth=WIDTH,
        elinewidth=0.8,
        capsize=2,
        **curve.marks,
    )
    return drawn


def _label(curve: Curve, buckets: Sequence[_Point]) -> str:
    missing = sum(bucket.p99 is None for bucket in buckets)
    return f"{curve.label} (p99 of {missing} of {len(buckets)} sizes not reached)" if missing else curve.label


def _table(curve: Curve, buckets: Sequence[_Point]) -> pl.DataFrame:
    frame = pl.DataFrame(
        [asdict(bucket) for bucket in buckets],
        schema_overrides=dict.fromkeys(("p50", "p99", "p50_reach", "p99_reach"), pl.Float64),
    )
    names = {"result": pl.lit(curve.source), "workload": pl.lit(curve.workload or "all")}
    columns = ("from_bytes", "to_bytes", "flows", "p50", "p99", "p50_reach", "p99_reach")
    return frame.select(**names, **{column: pl.col(column) for column in columns})


def fct(sources: Sequence[Source], *, workloads: Sequence[str] | None = ()) -> Drawing:
    """Draw the distribution of completion times, a curve for each source and workload.

    Parameters
    ----------
    sources
        Results; the flows of all seeds of a source are one distribution.
    workloads
        Names of workloads, as in `flow_curves`.

    Returns
    -------
    Drawing
        Picture, with a table of `result`, `workload`, `fct_us`, and `share` of the measured flows that
        completed within that time.

    Raises
    ------
    PlotError
        If no measured flow finished, or there is no such workload.

    Examples
    --------
    >>> import floodway
    >>> from floodway.builders import Burst, SingleSwitch, Workload
    >>> from floodway.plot import Source, fct
    >>> scenario = floodway.Scenario(
    ...     topology=SingleSwitch(hosts=3, rate="100G", delay="1us"),
    ...     workload=[Workload(name="pair", burst=Burst(from_=["h1", "h2"], to="h3", size="100KB"))],
    ... )
    >>> drawing = fct([Source(label="pair", results=(floodway.run(scenario),))])
    >>> drawing.data["share"].to_list()
    [0.0, 0.5, 1.0]
    """
    curves = flow_curves(sources, workloads=workloads)
    if not any(curve.finished for curve in curves):
        raise PlotError("no measured flow has finished, so there is no completion time to show")
    points = [_fct_points(curve) for curve in curves]
    with plain_style():
        title = titled("Flow completion times", sources)
        figure, axes = axes_of(TIME, FLOWS, title=title)
        labels = [_fct_label(curve) for curve in curves]
        for curve, (times, share), label in zip(curves, points, labels, strict=True):
            look = {"color": curve.colour, "linestyle": curve.line, "linewidth": WIDTH}
            # Curves have a few marks at different positions, to be distinguishable in print.
            every = max(1, len(times) // MARKED)
            look |= {**curve.marks, "markevery": (min(every // 2, len(times) - 1), every)}
            axes.step(times, share, where="post", label=label, **look)
            if curve.finished < len(curve.flows):
                axes.plot(times[-1:], share[-1:], marker="x", color=curve.colour)
        log = scale_axes(axes, "x")
        # A logarithmic axis has no 0: it begins at the smallest share of a curve.
        axes.set_ylim(min(share[1] for _, share in points if len(share)) if "y" in log else 0, 1.01)
        note = LARGER_BELOW if len(curves) > 1 else ""
        add_legend(figure, labels, note=note)
    return Drawing(figure=figure, data=pl.concat(map(_fct_table, curves, points)), note=note)


def _fct_points(curve: Curve) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], ...]:
    """Return times in rising order, each with the share of flows that completed until then."""
    times = np.sort(curve.flows["fct_us"].drop_nulls().to_numpy())
    ranks = _ranks(len(times))
    # The curve begins at 0.
    share = (ranks + 1) / len(curve.flows)
    return np.concatenate([times[:1], times[ranks]]), np.concatenate([np.zeros(min(1, len(times))), share])


def _ranks(count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the ranks of the flows through which a curve is drawn; all if they are few."""
    if count <= MOST_POINTS + MOST_OF_TAIL:
        return np.arange(count)
    spread = np.arange(MOST_POINTS) * (count - 1) // (MOST_POINTS - 1)
    tail = np.arange(count - MOST_OF_TAIL, count)
    return np.union1d(spread, tail)


def _fct_label(curve: Curve) -> str:
    flows, finished = len(curve.flows), curve.finished
    return curve.label if finished == flows else f"{curve.label} ({finished:,} of {flows:,} finished)"


def _fct_table(
    curve: Curve, points: tuple[np.ndarray[tuple[int], np.dtype[np.float64]], ...]
) -> pl.DataFrame:
    times, share = points
    return pl.DataFrame({"fct_us": times, "share": share}).select(
        result=pl.lit(curve.source), workload=pl.lit(curve.workload or "all"), fct_us="fct_us", share="share"
    )
