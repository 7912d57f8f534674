"""Results of earlier versions, without digests: the parts that they must have to be usable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from floodway.common.errors import OutputError

if TYPE_CHECKING:
    from floodway.results.result import Result

__all__ = ["refuse_unusable"]

_NUMBER, _TEXT, _FLAG = "numbers", "text", "flags"
#: The columns that every version has written and every summary needs, each with what it holds.
_NEEDED = {
    "flows": {
        "flow_id": _TEXT,
        "workload": _TEXT,
        "size_bytes": _NUMBER,
        "delivered_bytes": _NUMBER,
        "start_us": _NUMBER,
        "fct_us": _NUMBER,
        "slowdown": _NUMBER,
        "measured": _FLAG,
        "finished": _FLAG,
    },
    "latency": {"workload": _TEXT, "component": _TEXT, "packets": _NUMBER},
    "series": {
        "object": _TEXT,
        "kind": _TEXT,
        "metric": _TEXT,
        "time_us": _NUMBER,
        "bucket_us": _NUMBER,
        "value": _NUMBER,
    },
    "counters": {
        "node": _TEXT,
        "link": _TEXT,
        "class": _NUMBER,
        "peak_bytes": _NUMBER,
        "headroom_peak_bytes": _NUMBER,
        "paused_us": _NUMBER,
        "pfc_rx": _NUMBER,
        "pfc_tx": _NUMBER,
    },
}


def refuse_unusable(result: Result, *, shown: str) -> None:
    """Check that a summary can be made of a result.

    Raises
    ------
    OutputError
        If a column is missing or holds something else.
    KeyError, TypeError, ValueError, AttributeError
        If what is known about the run lacks something, or holds something else.
    """
    for table, columns in _NEEDED.items():
        schema: pl.Schema = getattr(result, table).schema
        for name, kind in columns.items():
            if _kind(schema.get(name)) != kind:
                raise OutputError(
                    shown,
                    "holds no results that this version can read: "
                    f"{table}.parquet has no column {name} that holds {kind}",
                )
    run = result.run
    if not (isinstance(run.name, str) and isinstance(run.seed, int) and isinstance(run.scenario, dict)):
        raise TypeError("its name, seed or scenario is invalid")
    result.summary()


def _kind(dtype: pl.DataType | None) -> str | None:
    if dtype is None:
        return None
    if dtype.is_numeric():
        return _NUMBER
    return _FLAG if dtype == pl.Boolean else _TEXT if dtype in (pl.String, pl.Categorical, pl.Enum) else None
