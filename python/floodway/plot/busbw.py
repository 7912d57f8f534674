"""Bus bandwidth of collectives against their size."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway.common.errors import PlotError
from floodway.plot.axes import axes_of, plain_style, shown, size_text
from floodway.plot.curves import Drawing, Source, colour_of, titled
from floodway.results.collectives import bandwidths

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from floodway.results.nccl_tests import Measured

__all__ = ["busbw"]

TITLE = "Bus bandwidth of collectives"
#: Ratio of the largest to the smallest bandwidth above which their axis is logarithmic.
FAR_APART = 20
#: Minimum distance of two labelled sizes, as a share of the axis.
SIZES_APART = 0.1
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")


def busbw(
    sources: Sequence[Source],
    *,
    measured: Sequence[Measured] = (),
    workloads: Sequence[str] = (),
    title: str | None = None,
) -> Drawing:
    """Draw the bus bandwidth of collectives against their size, by the mean time of each size.

    Parameters
    ----------
    sources
        Results; of several seeds all collectives count.
    measured
        Tables of nccl-tests to draw beside them, with broken lines.
    workloads
        Names of the jobs to show. Default: all.
    title
        Title. Default: one that names the bus bandwidth of collectives.

    Returns
    -------
    Drawing
        Picture, with a table of `result` and the columns of `floodway.results.collectives.bandwidths`.

    Raises
    ------
    PlotError
        If no collective was complete.

    Examples
    --------
    >>> import floodway
    >>> from floodway.builders import Collective, SingleSwitch, Workload
    >>> from floodway.plot import Source, busbw
    >>> collective = Collective(op="all-reduce", size=["64KB", "256KB"])
    >>> scenario = floodway.Scenario(
    ...     topology=SingleSwitch(hosts=4, rate="100G", delay="1us"),
    ...     workload=[Workload(name="job", collective=collective)],
    ... )
    >>> drawing = busbw([Source(label="switch", results=(floodway.run(scenario),))])
    >>> drawing.data["bytes"].to_list()
    [64000, 256000]
    """
    tables = [_bandwidths_of(source, workloads) for source in sources]
    tables += [log.data.select(pl.lit(log.label).alias("result"), pl.all()) for log in measured]
    data = pl.concat(tables, how="vertical_relaxed") if tables else pl.DataFrame()
    if data.is_empty():
        raise PlotError("no collective was complete", key="workload" if workloads else None)
    were_measured = {log.label for log in measured}
    with plain_style():
        heading = title or (titled(TITLE, sources) if sources else TITLE)
        figure, axes = axes_of("size of a collective", "bus bandwidth in Gbit/s", title=heading)
        per_byte = (partial(np.multiply, 1 / 8), partial(np.multiply, 8))
        axes.secondary_yaxis("right", functions=per_byte).set_ylabel("in GB/s, as nccl-tests")
        lines = data.group_by("result", "workload", "kind", maintain_order=True)
        several = data.filter(~pl.col("result").is_in(were_measured))["workload"].n_unique() > 1
        for number, ((result, workload, kind), line) in enumerate(lines):
            is_measured = result in were_measured
            parts = [str(result)] * (len(tables) > 1) + [str(workload)] * (several and not is_measured)
            parts += ["measured" if is_measured else str(kind)]
            by_size = line.sort("bytes")
            axes.plot(
                by_size["bytes"].to_numpy(),
                by_size["busbw_gbps"].to_numpy(),
                color=colour_of(number),
                linestyle="--" if is_measured else "-",
                marker=MARKS[number % len(MARKS)],
                label=shown(", ".join(parts)),
            )
        rates = data["busbw_gbps"].filter(data["busbw_gbps"] > 0)
        if len(rates) > 1 and rates.max() / rates.min() > FAR_APART:  # type: ignore[operator]
            # Collectives within nodes are that much faster than those between them.
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        _name_sizes(axes, data["bytes"].unique().sort())
        axes.legend(fontsize="small")
    return Drawing(figure=figure, data=data)


def _bandwidths_of(source: Source, workloads: Sequence[str]) -> pl.DataFrame:
    """Return the bandwidths of one source's collectives, of these jobs."""
    frames = [result.collectives for result in source.results if result.collectives is not None]
    collectives = [frame.with_columns(pl.col("workload", "kind", "name").cast(pl.String)) for frame in frames]
    if not collectives:
        raise PlotError(f"{source.label} has no collective")
    chosen = pl.concat(collectives)
    jobs = chosen["workload"].unique().sort().to_list()
    for workload in workloads:
        if workload not in jobs:
            message = f"no job with a complete collective is named {workload!r}; jobs: {', '.join(jobs)}"
            raise PlotError(message if jobs else "no collective was complete", key="workload")
    if workloads:
        chosen = chosen.filter(pl.col("workload").is_in(list(workloads)))
    return bandwidths(chosen).select(pl.lit(source.label).alias("result"), pl.all())


def _name_sizes(axes: Axes, sizes: Iterable[int]) -> None:
    """Label the axis of sizes, each with its unit, as far as there is room."""
    # A logarithmic axis has no 0.
    marks = [max(size, 1) for size in sizes]
    apart = SIZES_APART * math.log(marks[-1] / marks[0])
    labelled = marks[:1]
    for mark in marks[1:]:
        if math.log(mark / labelled[-1]) >= apart:
            labelled.append(mark)
    if len(marks) > 1:
        axes.set_xscale("log")
    axes.set_xticks(labelled, [size_text(mark) for mark in labelled])
    axes.set_xticks([], minor=True)
