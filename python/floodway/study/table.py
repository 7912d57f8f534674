"""Numbers of a study as a table for people: a row for each variant and point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.documents import Table, four_digits
from floodway.results.interval import LEAST_SEEDS
from floodway.results.percentiles import MARK, few_noted, is_few, name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway.study.format.model import Metric
    from floodway.study.numbers import Cell
    from floodway.study.outcome import Part

__all__ = ["numbers_table"]


def numbers_table(part: Part, metrics: Sequence[Metric]) -> Table:
    """Return a row for each variant and point: means over the seeds, with their confidence intervals."""
    study, numbers = part.study, part.numbers
    places = list(dict.fromkeys((run.variant, run.at) for run in numbers.runs))
    axes = [axis for axis in study.axes if len(axis.points) > 1]
    words = ("variant", *(axis.label for axis in axes))
    cells = {
        (variant, at): [(metric, numbers.cell(metric, variant, at)) for metric in metrics]
        for variant, at in places
    }
    rows = tuple(
        (
            study.variant(variant).label,
            *(dict(at)[axis.name] for axis in axes),
            *(_written(metric, cell) for metric, cell in pairs),
        )
        for (variant, at), pairs in cells.items()
    )
    flat = [pair for pairs in cells.values() for pair in pairs]
    return Table(
        columns=(*words, *(metric.title for metric in metrics)),
        rows=rows,
        words=frozenset(words),
        notes=tuple(_notes(flat)),
    )


def _written(metric: Metric, cell: Cell) -> str:
    if cell.mean is None:
        missing = "not run" if cell.missing or not cell.values else "-"
        return f"not reached: {cell.unfinished:,} unfinished" if cell.unfinished else missing
    reach = "" if cell.reach is None else f" ± {_two_digits(cell.reach)}"
    star = "*" if cell.unfinished else ""
    few = cell.few(metric.kind.thousandths)
    mark = f" {MARK}{few[1]:,}" if few and is_few(few[1], thousandths=few[0]) else ""
    return f"{four_digits(cell.mean)}{reach}{star}{mark}"


def _two_digits(value: float) -> str:
    """Write two digits, or all before the point."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"  # noqa: PLR2004 (two digits)


def _notes(cells: Sequence[tuple[Metric, Cell]]) -> Iterator[str]:
    seeds = [len(cell.values) for _, cell in cells if cell.values]
    if seeds and max(seeds) >= LEAST_SEEDS:
        counted = f"{min(seeds)}" if min(seeds) == max(seeds) else f"{min(seeds)} to {max(seeds)}"
        yield f"mean ± its 95 % confidence interval, by Student's t over {counted} seeds"
    elif seeds:
        yield f"mean over {max(seeds)} seed{'s' * (max(seeds) > 1)}: too few for a confidence interval"
    if any(cell.unfinished and cell.mean is not None for _, cell in cells):
        yield "* some of the flows did not finish"
    few = {
        few_flows[0]
        for metric, cell in cells
        if (few_flows := cell.few(metric.kind.thousandths)) and is_few(few_flows[1], thousandths=few_flows[0])
    }
    if few:
        names = " and ".join(name_of(thousandths) for thousandths in sorted(few))
        yield few_noted("run", percentile=names)
