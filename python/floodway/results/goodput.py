"""Goodput of flows: payload over the time in which flows start, or until the last one is done."""

from __future__ import annotations

import polars as pl

__all__ = ["goodput_gbps", "goodput_until_done_gbps"]


def goodput_gbps(flows: pl.DataFrame, *, end_us: float) -> float | None:
    """Return payload that arrived while flows start: from the first start to the last one, in Gbit/s.

    What comes later is left out: a single flow of heavy-tailed sizes may take longer than all others
    together, and says nothing of the rate at which the network carries what is offered. The payload of a flow
    counts evenly over its time, or until the end of the run where it is unfinished. Flows that all start at
    one instant have no such time, and count as in `goodput_until_done_gbps`.

    Parameters
    ----------
    flows
        With `start_us`, `finish_receiver_us` and `delivered_bytes`.
    end_us
        When the run ended.

    Returns
    -------
    float or None
        None where no flow started.

    Examples
    --------
    >>> two = {"start_us": [0.0, 100.0], "finish_receiver_us": [200.0, 101.0], "delivered_bytes": [2000, 5]}
    >>> goodput_gbps(pl.DataFrame(two), end_us=500.0)
    0.08
    """
    begun = flows.filter(pl.col("start_us") < end_us)
    if begun.is_empty() or begun["start_us"].n_unique() == 1:
        return goodput_until_done_gbps(flows, end_us=end_us)
    first, last = _float(begun["start_us"].min()), _float(begun["start_us"].max())
    time = pl.col("finish_receiver_us").fill_null(end_us) - pl.col("start_us")
    share = ((last - pl.col("start_us")) / time).clip(0, 1)
    arrived = begun.select((pl.col("delivered_bytes") * share).sum()).item()
    return float(arrived) * 8e-3 / (last - first)


def goodput_until_done_gbps(flows: pl.DataFrame, *, end_us: float) -> float | None:
    """Return payload that arrived, over the time from the first start to the last arrival, in Gbit/s.

    Where a flow is unfinished, to the end of the run; none where no flow started. Parameters as above.
    """
    begun = flows.filter(pl.col("start_us") < end_us)
    if begun.is_empty():
        return None
    ends = begun["finish_receiver_us"]
    last = end_us if ends.null_count() else _float(ends.max())
    span = last - _float(begun["start_us"].min())
    return float(begun["delivered_bytes"].sum()) * 8e-3 / span if span > 0 else None


def _float(value: object) -> float:
    return float(value)  # type: ignore[arg-type]
