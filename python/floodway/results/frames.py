"""Columns as the run hands them over, made into polars frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from floodway._floodway import Column, Table

__all__ = ["flows_frame", "frame", "optional_frame"]

#: The code of a text that is not there.
NONE = 0xFFFF_FFFF
#: What numpy calls the values of each kind of column; codes, for text.
DTYPES: dict[str, type[np.generic[Any]]] = {
    "u64": np.uint64,
    "f64": np.float64,
    "bool": np.uint8,
    "text": np.uint32,
}


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
    values = np.frombuffer(memoryview(column), dtype=DTYPES[column.kind]) if len(column) else _empty(column)
    match column.kind:
        case "u64":
            return pl.Series(column.name, values)
        case "f64":
            return pl.Series(column.name, values).fill_nan(None)
        case "bool":
            return pl.Series(column.name, values).cast(pl.Boolean)
        case "text":
            words = column.dictionary
            meaning = pl.Series(column.name, words, dtype=pl.Enum(words))
            codes = pl.Series(values)
            return meaning.gather(codes.set(codes == NONE, None))


def _empty(column: Column) -> np.ndarray[tuple[int], np.dtype[Any]]:
    # numpy refuses an empty buffer.
    return np.empty(0, dtype=DTYPES[column.kind])
