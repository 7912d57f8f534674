"""Numbers of flows' shares of a link, from the table `shares`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from floodway.common.errors import PlotError
from floodway.results.feedback import share_rows
from floodway.study.metrics.selection import matches

if TYPE_CHECKING:
    from floodway.results import Result
    from floodway.study.metrics.selection import Options

__all__ = ["fairness", "flow_throughput"]


def flow_throughput(result: Result, options: Options, *, lowest: bool) -> float | None:
    """Return what flows had of links, on the wire, in Gbit/s.

    What counts is the bytes of the buckets that begin inside the window, over its length.

    Parameters
    ----------
    result, options
        The run; `link` (a pattern of directions such as `t1>h1`), `workload` and the window.
    lowest
        Of one flow, the one that had least of those that had anything in the run; else of all together.

    Returns
    -------
    float or None
        None where the window is beyond the run, or no flow had anything.

    Raises
    ------
    PlotError
        If the run did not keep shares, or has none of such a link or workload.
    """
    window_us, per_flow = _sent(result, options)
    if per_flow is None:
        return None
    sent = per_flow.min() if lowest else per_flow.sum()
    return float(sent) * 8e-3 / window_us  # type: ignore[arg-type]


def fairness(result: Result, options: Options) -> float | None:
    """Return Jain's index over what flows had of links in a window: (sum x)² / (n · sum x²).

    It is 1 where all had the same, and 1 / n where one had all (Jain, Chiu and Hawe 1984, section 3).

    Parameters
    ----------
    result, options
        As for `flow_throughput`; the n flows are those that had anything in the run.

    Returns
    -------
    float or None
        None where the window is beyond the run, or no flow had anything in it.

    Raises
    ------
    PlotError
        As `flow_throughput`.
    """
    _, per_flow = _sent(result, options)
    if per_flow is None:
        return None
    sent = per_flow.cast(pl.Float64)
    squares = float((sent * sent).sum())
    return float(sent.sum()) ** 2 / (len(sent) * squares) if squares else None


def _sent(result: Result, options: Options) -> tuple[float, pl.Series | None]:
    """Return the window's length, and the bytes of each flow that had anything in the run."""
    rows = share_rows(result)
    if options.link:
        directions = rows["direction"].unique(maintain_order=True).to_list()
        chosen = [name for name in directions if matches(name, [options.link])]
        if not chosen:
            raise PlotError.of_choice(
                options.link, noun="a direction with shares", allowed=directions, key="link"
            )
        rows = rows.filter(pl.col("direction").is_in(chosen))
    if options.workload:
        names = [name.name for name in result.outcome.workloads]
        unknown = next((name for name in options.workload if name not in names), None)
        if unknown is not None:
            raise PlotError.of_choice(unknown, noun="a workload", allowed=names, key="workload")
        rows = rows.filter(pl.col("workload").is_in(list(options.workload)))
    end = result.outcome.simulated_us
    to = end if options.to_us is None else min(options.to_us, end)
    if to <= options.from_us or rows.is_empty():
        return 0.0, None
    inside = pl.col("time_us").is_between(options.from_us, to, closed="left")
    per_flow = rows.group_by("flow_id").agg(pl.col("tx_bytes").filter(inside).sum())["tx_bytes"]
    return to - options.from_us, per_flow
