"""Pictures of single runs: throughput, queues, ports, regions, shares in time; distributions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway.plot.axes import PANEL_HEIGHT, plain_style, scale_axes, shown
from floodway.plot.curves import Drawing, Source, add_legend
from floodway.plot.flows import FLOWS, TIME
from floodway.plot.ports import ports
from floodway.plot.region import region
from floodway.plot.shares import shares
from floodway.plot.style import current
from floodway.study.metrics.buckets import link_buckets, queue_buckets
from floodway.study.metrics.selection import chosen_flows
from floodway_lab.study.pictures.bars import NothingRanError
from floodway_lab.study.pictures.captions import first_of_seeds, over_seeds
from floodway_lab.study.pictures.drawing import colour_in, figure_of, line_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from floodway.results import Result
    from floodway.study.format.model import Study
    from floodway.study.numbers import Numbers
    from floodway.study.running.storage import Runs
    from floodway_lab.study.model import Plot

__all__ = ["cdf", "ports_in_time", "region_in_time", "series", "shares_in_time"]

#: The most points of a curve.
MOST_POINTS = 2000
_ACROSS = {
    "fct": TIME,
    "slowdown": "slowdown",
    "throughput": "throughput of a bucket in Gbit/s",
}
_SHARE = {"fct": FLOWS, "slowdown": FLOWS, "throughput": "share of buckets"}
_UP = {"throughput": "throughput in Gbit/s", "queue": "longest queue in MB"}

Values = np.ndarray[tuple[int], np.dtype[np.float64]]


def series(study: Study, plot: Plot, numbers: Numbers, store: Runs) -> Drawing:
    """Draw the throughput of a link, or its queue, in time: a panel for each variant, of its first seed.

    Raises
    ------
    PlotError
        If none of its runs is there, or one did not watch the link.
    """
    shown_runs = list(_results(study, plot, numbers, store))
    curves = [(variant, _in_time(plot, results[0])) for variant, results in shown_runs]
    if not curves:
        raise NothingRanError
    note = first_of_seeds([[result.run.seed for result in results] for _, results in shown_runs])
    with plain_style():
        figure, panels = figure_of(plot.title, len(curves))
        for axes, (variant, curve) in zip(panels, curves, strict=True):
            begins, spans, values = (column.to_numpy() for column in curve.get_columns())
            ends = np.append(begins, begins[-1:] + spans[-1:]) / 1000
            values = np.append(values, values[-1:])
            axes.step(ends, values, where="post", linewidth=0.9, color=colour_in(study, variant))
            axes.set_title(shown(study.variant(variant).label), fontsize="medium", loc="left")
        top = max(axes.get_ylim()[1] for axes in panels)
        for axes in panels:
            if "y" not in scale_axes(axes, plot.log):
                axes.set_ylim(0, top)
        panels[-1].set_xlabel("time in ms")
        figure.supylabel(_UP[plot.of], fontsize="medium")
        min_height = PANEL_HEIGHT * len(panels) * current().scale
        figure.set_figheight(max(figure.get_figheight() * 0.75, min_height))
        add_legend(figure, (), note=note)
    data = pl.concat(curve.select(pl.lit(variant).alias("variant"), pl.all()) for variant, curve in curves)
    return Drawing(figure=figure, data=data, note=note)


def ports_in_time(study: Study, plot: Plot, numbers: Numbers, store: Runs) -> Drawing:
    """Draw ports and senders in time, the variants side by side, of the first seed of each.

    Raises
    ------
    PlotError
        If none of its runs exists, or none recorded these ports.
    """
    sources, note = _first_seeds(study, plot, numbers, store)
    drawn = ports(sources, objects=plot.ports, flows=plot.flows, window=plot.window, title=plot.title)
    return _noted(drawn, note)


def region_in_time(study: Study, plot: Plot, numbers: Numbers, store: Runs) -> Drawing:
    """Draw the congestion region in time, the variants side by side, of the first seed of each.

    Raises
    ------
    PlotError
        If none of its runs exists, signals were not recorded, or there was no region.
    """
    sources, note = _first_seeds(study, plot, numbers, store)
    return _noted(region(sources, window=plot.window, title=plot.title), note)


def shares_in_time(study: Study, plot: Plot, numbers: Numbers, store: Runs) -> Drawing:
    """Draw the throughput of flows over a link in time: a panel for each variant, of its first seed.

    Raises
    ------
    PlotError
        If none of its runs exists, shares were not recorded, or no flow used such a link.
    """
    sources, note = _first_seeds(study, plot, numbers, store)
    drawn = shares(
        sources,
        objects=[plot.link] if plot.link else [],
        flows=plot.flows,
        window=plot.window,
        bucket_us=plot.bucket_us,
        title=plot.title,
    )
    return _noted(drawn, note)


def _noted(drawing: Drawing, note: str) -> Drawing:
    """Return a picture whose note also names its seeds."""
    return replace(drawing, note=" ".join(filter(None, (drawing.note, note))))


def _first_seeds(study: Study, plot: Plot, numbers: Numbers, store: Runs) -> tuple[list[Source], str]:
    """Return the variants of a picture that shows them side by side, with a note on their seeds.

    Raises
    ------
    NothingRanError
        If none of its runs is there.
    """
    by_variant = list(_results(study, plot, numbers, store))
    if not by_variant:
        raise NothingRanError
    sources = [
        Source(label=study.variant(variant).label, results=(results[0],)) for variant, results in by_variant
    ]
    return sources, first_of_seeds([[result.run.seed for result in results] for _, results in by_variant])


def _in_time(plot: Plot, result: Result) -> pl.DataFrame:
    """Return begin, width and value of the buckets of a picture."""
    options = plot.metrics[0].options
    if plot.of == "queue":
        return queue_buckets(result, options)
    buckets = link_buckets(result, options)
    return pl.DataFrame({"time_us": buckets.begin_us, "span_us": buckets.span_us, "gbps": buckets.gbps})


def cdf(study: Study, plot: Plot, numbers: Numbers, store: Runs) -> Drawing:
    """Draw a distribution, a curve for each variant over all its seeds; unfinished flows come last.

    Raises
    ------
    PlotError
        If none of its runs is there.
    """
    tables = []
    with plain_style():
        figure, (axes,) = figure_of(plot.title, 1)
        labels, seeds = [], []
        for variant, results in _results(study, plot, numbers, store):
            seeds.append(len(results))
            values, count = _values(plot, results)
            if not len(values):
                continue
            ranks = np.unique(np.linspace(0, len(values) - 1, min(len(values), MOST_POINTS)).astype(np.int64))
            points, shares = values[ranks], (ranks + 1) / count
            without = f" ({count - len(values):,} of {count:,} unfinished)" if count > len(values) else ""
            labels.append(shown(f"{study.variant(variant).label}{without}"))
            look = {"color": colour_in(study, variant), "linestyle": line_in(study, variant)}
            axes.step(points, shares, where="post", linewidth=1.3, label=labels[-1], **look)
            tables.append(pl.DataFrame({"variant": variant, plot.of: points, "share": shares}))
        if not tables:
            raise NothingRanError
        axes.set(xlabel=_ACROSS[plot.of], ylabel=_SHARE[plot.of])
        lowest_share = min(float(table["share"][0]) for table in tables)
        axes.set_ylim(lowest_share if "y" in scale_axes(axes, plot.log) else 0, 1.01)
        note = over_seeds(seeds)
        add_legend(figure, labels, note=note)
    return Drawing(figure=figure, data=pl.concat(tables), note=note)


def _results(study: Study, plot: Plot, numbers: Numbers, store: Runs) -> Iterator[tuple[str, list[Result]]]:
    for variant in plot.variants:
        runs = [
            run
            for run in numbers.runs
            if run.variant == variant and run.at == plot.at and run.key in numbers.done
        ]
        if runs:
            yield variant, [store.result(run.key) for run in runs]
    del study


def _values(plot: Plot, results: list[Result]) -> tuple[Values, int]:
    """Return values in rising order, and their number including unfinished flows."""
    options = plot.metrics[0].options
    if plot.of == "throughput":
        values = np.concatenate([link_buckets(result, options).gbps for result in results])
        return np.sort(values), len(values)
    column = "fct_us" if plot.of == "fct" else "slowdown"
    numbers = pl.concat(chosen_flows(result, options).select(column) for result in results)[column]
    return np.sort(numbers.drop_nulls().to_numpy()), len(numbers)
