"""Numbers of a study as a table for programs: a row for each number."""

from __future__ import annotations

import contextlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    from floodway.study.format.model import Axis, Coordinates, Study
    from floodway.study.numbers import Part

__all__ = ["tidy"]

#: Columns of the tidy table beside those of axes.
COLUMNS = (
    *("study", "variant", "seed", "metric", "unit", "value", "unfinished", "flows"),
    *("run", "scenario", "digest", "lost", "deadlocked", "failure"),
)


def tidy(part: Part) -> pl.DataFrame:
    """Return a row for each variant, point of the axes, seed and metric.

    Columns are `study`, `variant`, one an axis, `seed`, `metric`, `unit`, `value` (null where there is none),
    `unfinished` (number of unfinished flows among those of the value), `flows` (number of flows of a
    percentile), and of the run its key (`run`), the hash of its scenario as written without seed and engine
    (`scenario`), the `digest` of its tables, the packets that it `lost` except by failures of links, and
    whether it ran into a deadlock (`deadlocked`). An axis whose points have numbers, but other names, has a
    second column of these, `AXIS_number`. A run that failed has one row, with the reason (`failure`) and no
    metric.
    """
    study, numbers = part.study, part.numbers
    rows: list[dict[str, Any]] = []
    for run in numbers.runs:
        place = {
            "study": study.name,
            "variant": run.variant,
            **_axis_columns(study, run.at),
            "seed": run.seed,
        }
        run_columns = {**place, "run": run.key, "scenario": run.written}
        if run.key in numbers.failures:
            rows.append({**run_columns, "failure": numbers.failures[run.key]})
            continue
        for metric in numbers.metrics:
            value = numbers.values[metric.name].get(run.key)
            if value is None:
                continue
            row = {"metric": metric.name, "unit": metric.kind.unit, **asdict(value)}
            rows.append({**run_columns, **row, **asdict(numbers.facts[run.key])})
    return pl.DataFrame(rows, schema=_schema(study))


def _schema(study: Study) -> dict[str, pl.DataType]:
    kinds: dict[str, pl.DataType] = {"study": pl.String(), "variant": pl.String()}
    for axis in study.axes:
        kinds[_column(axis)] = pl.Float64() if _is_numeric(axis) else pl.String()
        if _has_numbers(axis):
            kinds[f"{_column(axis)}_number"] = pl.Float64()
    return kinds | {
        "seed": pl.UInt64(),
        "metric": pl.String(),
        "unit": pl.String(),
        "value": pl.Float64(),
        "unfinished": pl.UInt64(),
        "flows": pl.UInt64(),
        "run": pl.String(),
        "scenario": pl.String(),
        "digest": pl.String(),
        "lost": pl.UInt64(),
        "deadlocked": pl.Boolean(),
        "failure": pl.String(),
    }


def _axis_columns(study: Study, at: Coordinates) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for axis_name, point in at:
        axis = study.axis(axis_name)
        columns[_column(axis)] = float(point) if _is_numeric(axis) else point
        if _has_numbers(axis):
            columns[f"{_column(axis)}_number"] = axis.point(point).number
    return columns


def _column(axis: Axis) -> str:
    return f"axis_{axis.name}" if axis.name in COLUMNS else axis.name


def _is_numeric(axis: Axis) -> bool:
    """Whether the names of its points are their numbers."""
    with contextlib.suppress(ValueError):
        return all(float(name) is not None for name in axis.names)
    return False


def _has_numbers(axis: Axis) -> bool:
    return not _is_numeric(axis) and all(point.number is not None for point in axis.points)
