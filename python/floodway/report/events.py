"""Pauses, states and marks of ports over time, as a page has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from floodway.plot.region import BY_SEVERITY, QUIET
from floodway.report.columns import packed
from floodway.results.causes import pause_causes
from floodway.results.feedback import signal_rows, state_spans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.report.timeline import Frames
    from floodway.results import Result
    from floodway.results.grid import Grid

__all__ = ["MOST_PAUSES", "marks_document", "pauses_document", "states_document"]

#: So many pauses are in a page; the longest where there are more.
MOST_PAUSES = 40_000


def pauses_document(
    result: Result, grid: Grid, frames: Frames, ports: Sequence[str]
) -> dict[str, Any] | None:
    """Write pauses with their causes: those of a port that are less than a frame apart, as one.

    Returns
    -------
    dict or None
        Columns, one entry a pause, sorted by begin: `port`, `from` (ns since the begin before), `to` (ns
        since its own begin), `count` (pauses that it is made of), `paused` (ns in which the port was paused,
        where that is not the same), `cause` (a port, from 1 on; 0: no cause); `recorded` and `left_out`,
        numbers of pauses. None where the run did not record pauses.
    """
    if result.pauses is None:
        return None
    number = {port: index for index, port in enumerate(ports)}
    spans = pause_causes(result, grid).sort("object", "from_us")
    edges = frames.edges_us
    frame_us = float(edges[1] - edges[0]) if frames.count else 0.0
    # From one bucket of a microsecond to the next, pauses are distinguished.
    near = frame_us if grid.width_us > 1 or frames.buckets > 1 else 0.0
    apart = (pl.col("from_us") - pl.col("to_us").shift(1).over("object") > near).fill_null(value=True)
    new = apart | (pl.col("cause").ne_missing(pl.col("cause").shift(1).over("object")))
    joined = (
        spans.with_columns(group=new.cum_sum().over("object"))
        .group_by("object", "group", maintain_order=True)
        .agg(
            pl.col("from_us").min(),
            pl.col("to_us").max(),
            pl.col("cause").first(),
            count=pl.len(),
            paused=(pl.col("to_us") - pl.col("from_us")).sum(),
        )
    )
    kept = joined.sort("paused", descending=True, maintain_order=True).head(MOST_PAUSES)
    kept = kept.sort("from_us", "object")
    begins, ends = (_ns(kept[name]) for name in ("from_us", "to_us"))
    paused = np.where(kept["count"].to_numpy() > 1, _ns(kept["paused"]), 0)
    causes = [0 if cause is None else number[cause] + 1 for cause in kept["cause"]]
    return {
        "port": packed([number[name] for name in kept["object"]], "u16" if len(ports) < 1 << 16 else "u32"),
        "from": packed(np.diff(begins, prepend=0), "u32"),
        "to": packed(ends - begins, "u32"),
        "count": packed(kept["count"].to_numpy(), "u32"),
        "paused": packed(paused, "u32"),
        "cause": packed(causes, "u16" if len(ports) < (1 << 16) - 1 else "u32"),
        "recorded": len(spans),
        "left_out": int(joined["count"].sum()) - int(kept["count"].sum()),
        "near_us": near,
    }


def states_document(result: Result, frames: Frames, ports: Sequence[str]) -> dict[str, Any] | None:
    """Write the states of ports in each frame, the gravest of it; None where there are none."""
    if result.signals is None:
        return None
    spans = state_spans(result)
    found = set(spans["state"].drop_nulls().unique().to_list())
    others = sorted(found.difference(BY_SEVERITY, QUIET))
    names = [name for name in (*QUIET, *reversed((*BY_SEVERITY, *others))) if name in found]
    if not set(names).difference(QUIET):
        return None
    rank = {name: 0 if name in QUIET else index for index, name in enumerate(names, start=1)}
    states = np.zeros((len(ports), frames.count), dtype=np.uint8)
    number = {port: index for index, port in enumerate(ports)}
    first = frames.frame_of(spans["from_us"].to_numpy())
    last = frames.frame_of(np.nextafter(spans["to_us"].to_numpy(), 0))
    for name, state, begin, end in zip(spans["object"], spans["state"], first, last, strict=True):
        own = states[number[name], begin : end + 1]
        np.maximum(own, rank[state], out=own)
    return {"names": ["", *names], "states": packed(states, "u8")}


def marks_document(result: Result, frames: Frames, ports: Sequence[str]) -> dict[str, Any] | None:
    """Count marks and CNPs of each port and frame, only where there are any; None if none were recorded."""
    if result.signals is None:
        return None
    number = {port: index for index, port in enumerate(ports)}
    rows = signal_rows(result).filter(pl.col("event").is_in(["mark-ce", "mark-ue", "cnp"]))
    times = frames.frame_of(rows["time_ns"].to_numpy() / 1000)
    own = rows.with_columns(frame=pl.Series(times), cnp=pl.col("event") == "cnp")
    counts = own.group_by("object", "frame", "cnp").agg(count=pl.len()).sort("object", "frame", "cnp")
    return {
        "port": packed([number[name] for name in counts["object"]], "u32"),
        "frame": packed(counts["frame"].to_numpy(), "u16"),
        "cnp": packed(counts["cnp"].to_numpy(), "u8"),
        "count": packed(counts["count"].to_numpy(), "u32"),
    }


def _ns(times_us: pl.Series) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Round times to nanoseconds, down."""
    return np.rint(times_us.to_numpy() * 1e6).astype(np.int64) // 1000
