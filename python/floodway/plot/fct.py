"""The picture of flow completion times: the share of measured flows that completed within a time.

Unfinished flows count as later than all finished ones: a curve with unfinished flows ends below one, and its
label has their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway.common.errors import PlotError
from floodway.plot.axes import axes_of, plain_style, scale_axes
from floodway.plot.curves import LARGER_BELOW, WIDTH, Drawing, add_legend, flow_curves, titled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.plot.curves import Curve, Source

__all__ = ["FLOWS", "TIME", "fct"]

#: Labels of the axes.
TIME, FLOWS = "flow completion time in µs", "share of measured flows"
#: Numbers of evenly spread points of a curve, and of further points at its end.
MOST_POINTS, MOST_OF_TAIL = 3000, 1000
#: Number of marks on a curve.
MARKED = 8


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
    points = [_points(curve) for curve in curves]
    with plain_style():
        title = titled("Flow completion times", sources)
        figure, axes = axes_of(TIME, FLOWS, title=title)
        labels = [_label(curve) for curve in curves]
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
    return Drawing(figure=figure, data=pl.concat(map(_table, curves, points)), note=note)


def _points(curve: Curve) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], ...]:
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


def _label(curve: Curve) -> str:
    flows, finished = len(curve.flows), curve.finished
    return curve.label if finished == flows else f"{curve.label} ({finished:,} of {flows:,} finished)"


def _table(curve: Curve, points: tuple[np.ndarray[tuple[int], np.dtype[np.float64]], ...]) -> pl.DataFrame:
    times, share = points
    return pl.DataFrame({"fct_us": times, "share": share}).select(
        result=pl.lit(curve.source), workload=pl.lit(curve.workload or "all"), fct_us="fct_us", share="share"
    )
