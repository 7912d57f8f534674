"""Pictures of a validation, three per case with a panel for each configuration.

Flows of all seeds together make our distribution of slowdown and queues; single flows are those of the
first seed.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from floodway.common.errors import PlotError
from floodway.plot.axes import grid_of, plain_style, shown
from floodway.plot.curves import Drawing, colour_of
from floodway_lab.validation.flows import matched
from floodway_lab.validation.queues import busiest, samples_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from floodway_lab.validation.case_results import CaseResult

__all__ = ["CAPTIONS", "pictures"]

#: Captions of the pictures, by name.
CAPTIONS = {
    "slowdown": "Cumulative share of flows by slowdown",
    "fct": "Completion time of each flow, the reference's across and ours (first seed) upward",
    "queues": "Cumulative share of each port's samples with a queue, by queue length",
}
REFERENCE, OURS = "HPCC simulator", "floodway"
#: Styles of the reference's curve and of ours, which is drawn on top of it.
LOOKS: dict[str, dict[str, Any]] = {
    REFERENCE: {"linewidth": 3.0, "alpha": 0.45},
    OURS: {"linewidth": 1.1, "alpha": 1.0},
}
#: Panels side by side.
COLUMNS = 3
#: The most points of a curve, evenly spread.
MOST_POINTS = 2000

Numbers = np.ndarray[tuple[int], np.dtype[np.float64]]


def pictures(cases: Sequence[CaseResult]) -> Iterator[tuple[str, Drawing]]:
    """Draw the pictures of one case, each with its name.

    Parameters
    ----------
    cases
        The configurations of one folder; those that have not run are left out.
    """
    run = [result for result in cases if result.sides]
    for name, draw in {"slowdown": _slowdown, "fct": _fct, "queues": _queues}.items():
        with contextlib.suppress(PlotError):
            yield name, draw(run)


def _slowdown(cases: Sequence[CaseResult]) -> Drawing:
    def panel(axes: Axes, result: CaseResult) -> pl.DataFrame:
        expected = _slowdowns(result.reference.side.flows)
        ours = _slowdowns(pl.concat(side.flows for side in result.sides))
        axes.set_xscale("log")
        drawn = [
            _curve(axes, REFERENCE, _distribution(expected), colour_of(0)),
            _curve(axes, OURS, _distribution(ours), colour_of(1)),
        ]
        return pl.concat(drawn).rename({"value": "slowdown"})

    return _drawing(cases, "slowdown", "share of flows", panel)


def _fct(cases: Sequence[CaseResult]) -> Drawing:
    def panel(axes: Axes, result: CaseResult) -> pl.DataFrame:
        both = matched(result.reference.side.flows, result.sides[0].flows).both
        times = both.select(reference_us=pl.col("fct_ns") / 1000, floodway_us=pl.col("own_fct_ns") / 1000)
        if times.is_empty():
            return times
        across, up = (times[name].to_numpy() for name in times.columns)
        ends = [min(across.min(), up.min()), max(across.max(), up.max())]
        axes.plot(ends, ends, color="0.5", linewidth=0.8)
        axes.scatter(across, up, s=6, alpha=0.5, linewidths=0, color=colour_of(1))
        axes.set(xscale="log", yscale="log")
        return times

    return _drawing(cases, f"µs in the {REFERENCE}", f"µs in {OURS}", panel, legend=False)


def _queues(cases: Sequence[CaseResult]) -> Drawing:
    monitored = [
        result
        for result in cases
        if result.reference.side.queues is not None and any(side.queues is not None for side in result.sides)
    ]

    def panel(axes: Axes, result: CaseResult) -> pl.DataFrame:
        expected = result.reference.side.queues
        assert expected is not None  # noqa: S101 (chosen above)
        ours = pl.concat(side.queues for side in result.sides if side.queues is not None)
        axes.set_xscale("log")
        drawn = [
            _curve(
                axes, label, _cumulated(samples_of(frame, port)), colour_of(n), suffix=f", {port}"
            ).with_columns(port=pl.lit(str(port)))
            for n, port in enumerate(busiest(expected))
            for label, frame in ((REFERENCE, expected), (OURS, ours))
        ]
        return pl.concat(drawn).rename({"value": "queue_kb"}) if drawn else pl.DataFrame()

    return _drawing(monitored, "queue in KB", "share of samples", panel)


def _drawing(
    cases: Sequence[CaseResult],
    across: str,
    up: str,
    panel: Callable[[Axes, CaseResult], pl.DataFrame],
    *,
    legend: bool = True,
) -> Drawing:
    """Draw a panel for each configuration."""
    if not cases:
        raise PlotError("no case has run, so there is nothing to show")
    columns = min(COLUMNS, len(cases))
    rows = -(-len(cases) // columns)
    tables = []
    with plain_style():
        figure, grid = grid_of("", up, title=shown(cases[0].case.name), rows=rows, columns=columns)
        places = [axes for row in grid for axes in row]
        for axes, result in zip(places, cases, strict=False):
            table = panel(axes, result)
            if not table.is_empty():
                tables.append(table.select(pl.lit(result.case.tag).alias("tag"), pl.all()))
            axes.set_title(shown(result.case.tag), fontsize="medium")
        for axes in places[len(cases) :]:
            axes.set_axis_off()
        # The legend stands where a label of the whole figure would.
        for axes in places[max(0, len(cases) - columns) : len(cases)]:
            axes.set_xlabel(across)
            axes.tick_params(labelbottom=True)
        if legend:
            _legend(figure, places)
    if not tables:
        raise PlotError("there is nothing to show on both sides")
    return Drawing(figure=figure, data=pl.concat(tables))


def _curve(
    axes: Axes, side: str, points: tuple[Numbers, Numbers], colour: str, *, suffix: str = ""
) -> pl.DataFrame:
    """Draw a distribution as steps, and return what is drawn."""
    values, shares = points
    axes.step(values, shares, where="post", label=f"{side}{suffix}", color=colour, **LOOKS[side])
    axes.set_ylim(0, 1.01)
    return pl.DataFrame({"side": [side] * len(values), "value": values, "share": shares})


def _slowdowns(flows: pl.DataFrame) -> Numbers:
    values: Numbers = (flows["fct_ns"] / flows["standalone_ns"].clip(lower_bound=1)).to_numpy()
    return values


def _distribution(values: Numbers) -> tuple[Numbers, Numbers]:
    ranked = np.sort(values)
    ranks = np.unique(np.linspace(0, len(ranked) - 1, min(len(ranked), MOST_POINTS)).astype(np.int64))
    return ranked[ranks], (ranks + 1) / max(len(ranked), 1)


def _cumulated(samples: pl.DataFrame) -> tuple[Numbers, Numbers]:
    """Begin at a share of 0, so that a queue of one length is a line, too."""
    upto = np.cumsum(samples["samples"].to_numpy()).astype(np.float64)
    kb = samples["kb"].to_numpy().astype(np.float64)
    if not len(kb):
        return kb, upto
    return np.concatenate([kb[:1], kb]), np.concatenate([[0.0], upto / upto[-1]])


def _legend(figure: Figure, places: Sequence[Axes]) -> None:
    """Name each curve once: panels share their looks."""
    handles: dict[str, Artist] = {}
    for axes in places:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    columns = min(4, len(handles))
    figure.legend(
        list(handles.values()), list(handles), loc="outside lower center", ncols=columns, fontsize="small"
    )
