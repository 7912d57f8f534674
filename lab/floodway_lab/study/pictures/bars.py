"""The numbers of a picture of bars or lines, with their positions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.common.errors import PlotError
from floodway.results.interval import ratio_half_width
from floodway_lab.study.facts import is_exact
from floodway_lab.study.model import claims_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway.study.format.model import Coordinates, Metric, Study
    from floodway.study.numbers import Cell, Numbers
    from floodway_lab.study.model import Plot

__all__ = ["VARIANT", "Bar", "NothingRanError", "bars_of", "frame_of"]

#: The value of `x` and `group` that stands for the variants.
VARIANT = "variant"


class NothingRanError(PlotError):
    """A picture without any run: not in the quick version, or all failed, which is reported anyway."""

    def __init__(self) -> None:
        super().__init__("none of its runs is there")


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A number in a picture, with its position and its group.

    Attributes
    ----------
    metric, at, group
        Its panel, its position across, and its group.
    mean
        Mean over the seeds; None where there is none.
    low, high
        Its smallest and its largest value.
    reach
        Half of the width of its 95 % confidence interval; `None` for too few seeds.
    seeds, exact
        Number of seeds, and whether all of them gave the same results in every table.
    unfinished
        Number of unfinished flows among those of the number.
    few
        For a percentile of flows: the percentile times 10, and the least and the most flows of a run.
    published
        The published number.
    """

    metric: str
    at: str
    group: str
    mean: float | None
    low: float | None
    high: float | None
    reach: float | None
    seeds: int
    exact: bool
    unfinished: int
    few: tuple[int, int, int] | None
    published: float | None

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The ends of its confidence interval."""
        if self.mean is None or self.reach is None:
            return None, None
        return self.mean - self.reach, self.mean + self.reach


def bars_of(study: Study, plot: Plot, numbers: Numbers) -> list[Bar]:
    """Return the numbers of a picture, metric after metric.

    Raises
    ------
    PlotError
        If none of its runs is there.
    """
    bars = [
        _bar(
            study,
            plot,
            metric,
            at,
            group,
            numbers.cell(metric, variant, coordinates),
            _base(plot, metric, numbers, coordinates),
        )
        for metric in plot.metrics
        for at, group, variant, coordinates in _cells(study, plot)
    ]
    if not any(bar.mean is not None for bar in bars):
        raise NothingRanError
    # Positions without planned runs are left out.
    planned = {(run.variant, run.at) for run in numbers.runs}
    cells = {
        (at, group)
        for at, group, variant, coordinates in _cells(study, plot)
        if (variant, coordinates) in planned
    }
    return [bar for bar in bars if (bar.at, bar.group) in cells]


def _base(plot: Plot, metric: Metric, numbers: Numbers, coordinates: Coordinates) -> Cell | None:
    return numbers.cell(metric, plot.relative_to, coordinates) if plot.relative_to else None


def _bar(  # noqa: PLR0913, PLR0917 (what stands where)
    study: Study, plot: Plot, metric: Metric, at: str, group: str, cell: Cell, base: Cell | None
) -> Bar:
    values: Sequence[float] = cell.known
    mean, reach = cell.mean, cell.reach
    if base is not None:
        below = base.mean
        mean = mean / below if mean is not None and below else None
        pairs = _pairs(cell, base)
        values = [value / other for value, other in pairs if other]
        reach = ratio_half_width(*zip(*pairs, strict=True)) if pairs else None
    return Bar(
        metric=metric.name,
        at=at,
        group=group,
        mean=mean,
        low=min(values, default=None),
        high=max(values, default=None),
        reach=reach,
        seeds=len(cell.values),
        exact=is_exact(cell) and (base is None or is_exact(base)),
        unfinished=cell.unfinished,
        few=cell.few(metric.kind.thousandths),
        published=_published(study, plot, metric, at, group),
    )


def _pairs(cell: Cell, base: Cell) -> list[tuple[float, float]]:
    """Return the numbers of both cells for the seeds that both have."""
    return [
        (value.value, other.value)
        for seed, value in cell.values.items()
        if value.value is not None
        and (other := base.values.get(seed)) is not None
        and other.value is not None
    ]


def _published(study: Study, plot: Plot, metric: Metric, at: str, group: str) -> float | None:
    """Return a published number: a mark of the picture, else the value of a claim over the same runs."""
    for mark in plot.marks:
        if mark.at == at and mark.group == group and mark.metric in ("", metric.name):
            return mark.value
    cell = next(
        (
            (variant, coordinates)
            for bar_at, bar_group, variant, coordinates in _cells(study, plot)
            if (bar_at, bar_group) == (at, group)
        ),
        None,
    )
    for claim in claims_of(study):
        same = claim.metric.name == metric.name and (claim.variant, claim.at) == cell
        if not same or claim.several or claim.less_points or claim.value is None or claim.bound != "about":
            continue
        # A number of our own is not published.
        if claim.origin == "ours":
            continue
        if claim.against == plot.relative_to and claim.against_at == claim.at:
            return 1 + claim.value / 100 if claim.relative else claim.value
    return None


def frame_of(bars: Sequence[Bar]) -> pl.DataFrame:
    """Return the numbers of a picture as a table."""
    columns: dict[str, Any] = {
        "metric": [bar.metric for bar in bars],
        "group": [bar.group for bar in bars],
        "x": [bar.at for bar in bars],
        "mean": [bar.mean for bar in bars],
        "low": [bar.low for bar in bars],
        "high": [bar.high for bar in bars],
        "ci95_low": [bar.ends[0] for bar in bars],
        "ci95_high": [bar.ends[1] for bar in bars],
        "seeds": [bar.seeds for bar in bars],
        "unfinished": [bar.unfinished for bar in bars],
        "published": [bar.published for bar in bars],
    }
    floats = ("mean", "low", "high", "ci95_low", "ci95_high", "published")
    numbers = dict.fromkeys(floats, pl.Float64)
    return pl.DataFrame(columns, schema_overrides=numbers)


def _cells(study: Study, plot: Plot) -> Iterator[tuple[str, str, str, Coordinates]]:
    """Yield the positions of a picture: position across and group, with variant and point of the runs."""
    across = _points(study, plot, plot.along)
    groups = _points(study, plot, plot.group) if plot.group else [""]
    for group in groups:
        for at in across:
            variant = at if plot.along == VARIANT else group if plot.group == VARIANT else plot.variants[0]
            values = {**dict(plot.at), plot.along: at, plot.group: group}
            coordinates = tuple((axis.name, values[axis.name]) for axis in study.axes)
            yield at, group, variant, coordinates


def _points(study: Study, plot: Plot, name: str) -> Sequence[str]:
    return plot.variants if name == VARIANT else study.axis(name).names
