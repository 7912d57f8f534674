"""Numbers of congestion feedback: allowances of senders, states and lengths of queues, and waits in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from floodway import _floodway
from floodway.common.errors import PlotError
from floodway.results.feedback import allowed_spans, port_names, state_spans
from floodway.study.metrics.buckets import queue_buckets
from floodway.study.metrics.selection import chosen_link, of_ports

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.results import Result
    from floodway.study.metrics.selection import Options

__all__ = ["allowed", "first_in_state", "longest_queue", "mean_wait", "time_in_state"]


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
