"""Numbers of ports and links in time: throughput, queues, states, shares of flows, senders' allowances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from floodway import _floodway
from floodway.common.errors import PlotError
from floodway.results.feedback import allowed_spans, port_names, share_rows, state_spans
from floodway.study.metrics.selection import chosen_link, matches, of_ports

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.results import Result
    from floodway.study.metrics.selection import Options


__all__ = [
    "Buckets",
    "allowed",
    "fairness",
    "first_in_state",
    "flow_throughput",
    "link_buckets",
    "longest_queue",
    "mean_wait",
    "queue_buckets",
    "time_in_state",
]

Numbers = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass(frozen=True, kw_only=True)
class Buckets:
    """Throughput of a link in time.

    Attributes
    ----------
    begin_us, span_us
        Begin and width of each bucket.
    gbps
        What it carried, on the wire.
    """

    begin_us: Numbers
    span_us: Numbers
    gbps: Numbers


def link_buckets(result: Result, options: Options) -> Buckets:
    """Compute what a link carried inside the window.

    A series has buckets of its own, which are as wide as `records.buckets` and the run's length make them.
    Bytes are spread evenly over theirs; so narrower ones than these show nothing more.
    """
    name = chosen_link(result, options)
    series = result.series.filter(
        (pl.col("object").cast(pl.String) == name) & (pl.col("metric").cast(pl.String) == "tx_bytes")
    ).sort("time_us")
    begins = series["time_us"].to_numpy().astype(np.float64)
    ends = begins + series["bucket_us"].to_numpy()
    if not len(begins):
        return Buckets(begin_us=begins, span_us=begins, gbps=begins)
    edges = _edges(options, begins, ends)
    if edges[-1] <= edges[0]:
        return Buckets(begin_us=edges[:0], span_us=edges[:0], gbps=edges[:0])
    # Bytes until each instant, which are bytes in each bucket when they are subtracted.
    instants = np.concatenate([begins[:1], ends])
    until = np.concatenate([[0.0], np.cumsum(series["value"].to_numpy().astype(np.float64))])
    sent = np.diff(np.interp(edges, instants, until))
    spans = np.diff(edges)
    return Buckets(begin_us=edges[:-1], span_us=spans, gbps=sent * 8e-3 / spans)


def queue_buckets(result: Result, options: Options) -> pl.DataFrame:
    """Return the longest queue of a link's port in each bucket of its series that begins inside the window.

    Returns
    -------
    polars.DataFrame
        Columns `time_us`, `span_us` and `queue_mb`, in order of time.
    """
    name = chosen_link(result, options)
    longest = pl.col("metric").cast(pl.String) == "queue_max_bytes"
    begin = pl.col("time_us").cast(pl.Float64)
    last = float("inf") if options.to_us is None else options.to_us
    return (
        result.series.filter((pl.col("object").cast(pl.String) == name) & longest)
        .select(
            begin,
            span_us=pl.col("bucket_us").cast(pl.Float64),
            queue_mb=pl.col("value").cast(pl.Float64) / 1e6,
        )
        .filter(begin.is_between(options.from_us, last, closed="left"))
        .sort("time_us")
    )


def _edges(options: Options, begins: Numbers, ends: Numbers) -> Numbers:
    """Return where buckets begin and the last one ends; a window beyond the run holds nothing there."""
    first, last = options.from_us, options.to_us if options.to_us is not None else float(ends[-1])
    if options.bucket_us is None:
        inner = np.unique(np.concatenate([begins, ends]))
        inner = inner[(inner > first) & (inner < last)]
        return np.concatenate([[first], inner, [last]])
    count = max(1, int(np.ceil((last - first) / options.bucket_us - 1e-9)))
    whole = [first + options.bucket_us * n for n in range(count)]
    return np.array([*whole, min(first + options.bucket_us * count, last)], dtype=np.float64)


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


def allowed(result: Result, options: Options, *, statistic: str) -> float | None:
    """Return what senders allowed inside the window: the least of any flow, or the mean over flows and time.

    Parameters
    ----------
    result, options
        The run; `workload` and the window.
    statistic
        `min` or `mean`.

    Returns
    -------
    float or None
        In Gbit/s; none where no flow was open inside the window.

    Raises
    ------
    PlotError
        If the run did not keep the allowances of these workloads' flows.
    """
    every = allowed_spans(result, workloads=options.workload)
    if every.is_empty() and options.workload:
        names = ", ".join(options.workload)
        raise PlotError(f"the run recorded no allowance of {names}; records.allowances names workloads")
    spans = _inside(every, options)
    if spans.is_empty():
        return None
    rate, span = pl.col("allowed_gbps"), pl.col("span_us")
    aggregate = rate.min() if statistic == "min" else (rate * span).sum() / span.sum()
    return float(spans.select(aggregate).item())


def time_in_state(result: Result, options: Options) -> float:
    """Return how long queues of ports were in a state inside the window, summed over them, in microseconds.

    Raises
    ------
    PlotError
        If the run did not keep signals, patterns name no port, or queues have no such state.
    """
    return float(_in_state(result, options)["span_us"].sum())


def first_in_state(result: Result, options: Options) -> float | None:
    """Return when a queue of the ports was first in a state inside the window, in microseconds.

    Returns
    -------
    float or None
        None where none was.

    Raises
    ------
    PlotError
        As of `time_in_state`.
    """
    first = _in_state(result, options)["from_us"].min()
    return None if first is None else max(float(first), options.from_us)  # type: ignore[arg-type]


def _in_state(result: Result, options: Options) -> pl.DataFrame:
    """Return the spans for which queues of ports were in a state inside the window."""
    every = state_spans(result)
    _refuse_unknown(options.state, every["state"].unique(maintain_order=True).to_list())
    return _inside(of_ports(result, options, every.filter(pl.col("state") == options.state)), options)


def longest_queue(result: Result, options: Options) -> float | None:
    """Return the longest queue of a link's port, or of watched ports, in KB.

    It is the most of all buckets of the series that begin inside the window.

    Returns
    -------
    float or None
        None where no watched port is chosen, or no bucket begins inside the window.

    Raises
    ------
    PlotError
        If the link is not watched.
    """
    if options.link:
        longest = queue_buckets(result, options)["queue_mb"].max()
        return None if longest is None else float(longest) * 1000  # type: ignore[arg-type]
    rows = _watched(result, options).filter(pl.col("metric").cast(pl.String) == "queue_max_bytes")
    value = rows["value"].max()
    return None if value is None else float(value) / 1000  # type: ignore[arg-type]


def mean_wait(result: Result, options: Options) -> float | None:
    """Return how long a byte waits at the port of a link, or at watched ports, in microseconds on average.

    By Little's law it is the mean of the egress queue over the throughput: the queue summed over time,
    divided by the bytes sent, both of the buckets of the series that begin inside the window, and of several
    ports both summed over them.

    Returns
    -------
    float or None
        None where no watched port is chosen, or the ports sent nothing inside the window.

    Raises
    ------
    PlotError
        If the link is not watched.
    """
    series = _watched(result, options)
    metric, amount = pl.col("metric").cast(pl.String), pl.col("value").cast(pl.Float64)
    sent = series.select(amount.filter(metric == "tx_bytes").sum()).item()
    waited = series.select((amount * pl.col("bucket_us")).filter(metric == "queue_mean_bytes").sum()).item()
    return float(waited / sent) if sent else None


def _watched(result: Result, options: Options) -> pl.DataFrame:
    """Return the series of a link's port, or of watched ports, of buckets that begin inside the window."""
    last = float("inf") if options.to_us is None else options.to_us
    inside = pl.col("time_us").is_between(options.from_us, last, closed="left")
    series = result.series.filter(inside).with_columns(pl.col("object").cast(pl.String))
    if options.link:
        return series.filter(pl.col("object") == chosen_link(result, options))
    return of_ports(result, options, series.join(port_names(result), on="object", how="inner"))


def _refuse_unknown(state: str, recorded: Sequence[str]) -> None:
    """Refuse a state that no queue was in and no congestion point gives."""
    states = list(
        dict.fromkeys((*recorded, *(name for _, names in _floodway.queue_states() for name in names)))
    )
    if state not in states:
        raise PlotError.of_choice(state, noun="a state of queues", allowed=states, key="state")


def _inside(spans: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Cut spans to the window; `span_us` is what is left of each."""
    begin = pl.max_horizontal("from_us", pl.lit(options.from_us))
    end = pl.col("to_us") if options.to_us is None else pl.min_horizontal("to_us", pl.lit(options.to_us))
    return spans.with_columns(span_us=end - begin).filter(pl.col("span_us") > 0)
