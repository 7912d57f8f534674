"""Columns of a run as polars frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from floodway._floodway import Column, Table

__all__ = ["flows_frame", "frame", "optional_frame"]

#: The code of a text that is not there.
NONE = 0xFFFF_FFFF


def frame(table: Table) -> pl.DataFrame:
    """Make a frame of a table: NaN becomes null, codes become an Enum over their dictionary."""
    return pl.DataFrame([_series(column) for column in table.columns])


def optional_frame(table: Table | None) -> pl.DataFrame | None:
    """Make a frame of a table that is there where the scenario asks for it."""
    return None if table is None else frame(table)


def flows_frame(table: Table) -> pl.DataFrame:
    """Make the frame of flows, whose ids are `workload:source:number`.

    The parts of the id are the ones that do not depend on other workloads, so that a flow keeps its
    id when traffic is added beside it.
    """
    flows = frame(table)
    flow_id = pl.format("{}:{}:{}", "workload", "source", "number").alias("flow_id")
    return flows.select(flow_id, pl.exclude("number"))


def _series(column: Column) -> pl.Series:
    """Return a column's values where the native module holds them, or texts for its codes.

    A table of series has millions of rows, so that nothing is copied without need.
    """
    values = pl.Series(column).alias(column.name)
    if column.kind == "bool":
        return values.cast(pl.Boolean)
    if column.kind == "f64":
        return values.fill_nan(None) if values.is_nan().any() else values
    if column.kind != "text":
        return values
    names = column.dictionary
    meaning = pl.Series(column.name, names, dtype=pl.Enum(names))
    return meaning.gather(values.set(values == NONE, None) if values.max() == NONE else values)
