"""What perftest would have reported of closed loops of messages, by its own definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import TypeAlias

    from floodway.results.result import RunInfo

    Times: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float64]]

__all__ = ["perftest"]

BANDWIDTH = {
    "workload": pl.String,
    "from": pl.String,
    "to": pl.String,
    "bytes": pl.UInt64,
    "iterations": pl.UInt64,
    "bw_peak_gbps": pl.Float64,
    "bw_average_gbps": pl.Float64,
    "msg_rate_mpps": pl.Float64,
}
LATENCY = {
    "workload": pl.String,
    "from": pl.String,
    "to": pl.String,
    "bytes": pl.UInt64,
    "iterations": pl.UInt64,
    "t_min_us": pl.Float64,
    "t_max_us": pl.Float64,
    "t_typical_us": pl.Float64,
    "t_avg_us": pl.Float64,
    "t_stdev_us": pl.Float64,
    "p99_us": pl.Float64,
    "p999_us": pl.Float64,
}
#: perftest leaves out the longest times between posts, so many of them; `t_max` is the shortest of these.
TAIL = 2


def perftest(flows: pl.DataFrame, run: RunInfo) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Report on workloads that are closed loops, in perftest's columns: bandwidth and latency.

    A message is posted at its start, and complete at its sender's finish; where nothing is acknowledged, at
    its arrival. Messages that are not complete do not count.

    Parameters
    ----------
    flows
        One row a message, as a run keeps them.
    run
        What is known about the run; it names the pairs of client and server.

    Returns
    -------
    tuple of pl.DataFrame
        Of `write-bw`, a row for each pair of client (`from`) and server (`to`), all its queue pairs together:
        `bytes` of a message, `iterations` complete; `bw_peak_gbps`, the payload of the best run of
        consecutive messages, from the post of its first to the completion of its last, over that time;
        `bw_average_gbps` and `msg_rate_mpps`, payload and messages (in millions) from the first post to the
        last completion. If both sides send, rates are sums over both, iterations those of the client.

        Of `write-lat`, likewise, halves of the times from one post of the client to the next, without the two
        longest: the shortest, the median, the mean, the standard deviation and two percentiles. `t_max_us` is
        the shorter of the two that are left out.
    """
    bandwidth, latency = [], []
    for name, test in _tests(run).items():
        messages = flows.filter(pl.col("workload").cast(pl.String) == name)
        for client, server in test["pairs"]:
            who = {"workload": name, "from": client, "to": server}
            there = _between(messages, client, server)
            if test["test"] == "write-bw":
                back = _between(messages, server, client) if test["bidirectional"] else there.clear()
                bandwidth += [who | row for row in _bandwidth(there, back)]
            else:
                latency += [who | row for row in _latency(there)]
    return pl.DataFrame(bandwidth, schema=BANDWIDTH), pl.DataFrame(latency, schema=LATENCY)


def _tests(run: RunInfo) -> Mapping[str, Any]:
    """By workload, in the order of the scenario: what it measures, between whom."""
    tests = cast("Mapping[str, Any]", run.scenario.get("perftest", {}))
    written = [workload["name"] for workload in run.scenario["scenario"]["workload"]] if tests else []
    return {name: tests[name] for name in written if name in tests}


def _between(messages: pl.DataFrame, source: str, destination: str) -> pl.DataFrame:
    """Messages of this direction that are complete, with their times."""
    ends = (pl.col("source").cast(pl.String) == source) & (
        pl.col("destination").cast(pl.String) == destination
    )
    completed = pl.coalesce("finish_sender_us", "finish_receiver_us").alias("completed_us")
    return messages.filter(ends & pl.col("finished")).select("size_bytes", "start_us", completed)


def _times(messages: pl.DataFrame, column: str) -> Times:
    return np.sort(messages[column].to_numpy().astype(np.float64))


def _bandwidth(there: pl.DataFrame, back: pl.DataFrame) -> Iterable[dict[str, float | int]]:
    if there.is_empty():
        return
    ways = [way for way in (there, back) if not way.is_empty()]
    size = int(there["size_bytes"][0])
    posted = [_times(way, "start_us") for way in ways]
    completed = [_times(way, "completed_us") for way in ways]
    rates = [len(p) / float(c[-1] - p[0]) for p, c in zip(posted, completed, strict=True)]
    peaks = [1 / _shortest(p, c) for p, c in zip(posted, completed, strict=True)]
    gbps = size * 8 / 1000
    yield {
        "bytes": size,
        "iterations": len(there),
        "bw_peak_gbps": sum(peaks) * gbps,
        "bw_average_gbps": sum(rates) * gbps,
        "msg_rate_mpps": sum(rates),
    }


def _shortest(posted: Times, completed: Times) -> float:
    """Return the least time a message over all runs of consecutive messages, in microseconds.

    It is the least of (completed[j] - posted[i]) / (j - i + 1) over all i <= j. From a time that some run
    has, each step goes on to that of the run that beats it by most, until none does: so the result is exact,
    after few steps of one pass each.

    Examples
    --------
    >>> _shortest(np.array([0.0, 1.0, 2.0]), np.array([4.0, 5.0, 5.0]))
    1.6666666666666667
    """
    n = np.arange(len(posted))
    least = float(completed[-1] - posted[0]) / len(posted)
    while True:
        # The latest start, less what the messages before it would take, so far.
        begun = posted - least * n
        best = np.maximum.accumulate(begun)
        beaten = completed - least * (n + 1) - best
        j = int(np.argmin(beaten))
        i = int(np.argmax(begun[: j + 1]))
        found = float(completed[j] - posted[i]) / (j - i + 1)
        if found >= least:
            return least
        least = found


def _latency(pings: pl.DataFrame) -> Iterable[dict[str, float | int]]:
    between = np.sort(np.diff(_times(pings, "start_us"))) / 2
    count = len(between) - TAIL
    if count < 1:
        return
    kept = between[:count]
    yield {
        "bytes": int(pings["size_bytes"][0]),
        "iterations": len(pings),
        "t_min_us": float(kept[0]),
        "t_max_us": float(between[count]),
        "t_typical_us": float(np.median(kept)),
        "t_avg_us": float(kept.mean()),
        "t_stdev_us": float(kept.std()),
        # perftest's own places, which may be that of the shorter time left out.
        "p99_us": float(between[int(np.ceil(count * 0.99))]),
        "p999_us": float(between[int(np.ceil(count * 0.999))]),
    }
