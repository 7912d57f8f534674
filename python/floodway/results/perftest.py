"""Reports of closed loops of messages in perftest's columns, by its definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

    from floodway.results.result import RunInfo

__all__ = ["perftest"]

PAIR = {
    "workload": pl.String,
    "from": pl.String,
    "to": pl.String,
    "bytes": pl.UInt64,
    "iterations": pl.UInt64,
}
BANDWIDTH = PAIR | dict.fromkeys(("bw_peak_gbps", "bw_average_gbps", "msg_rate_mpps"), pl.Float64)
LATENCY = PAIR | dict.fromkeys(
    ("t_min_us", "t_max_us", "t_typical_us", "t_avg_us", "t_stdev_us", "p99_us", "p999_us"), pl.Float64
)


def perftest(flows: pl.DataFrame, run: RunInfo) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Report on workloads that are closed loops, in perftest's columns: bandwidth and latency.

    A message is posted at its start, and complete at its sender's finish; where nothing is acknowledged, at
    its arrival. A read is posted when its request starts, and complete when its response has arrived.
    Messages that are not complete do not count.

    Parameters
    ----------
    flows
        One row a message, as a run keeps them.
    run
        What is known about the run; it names the pairs of client and server.

    Returns
    -------
    tuple of pl.DataFrame
        Of `write-bw` and `read-bw`, a row for each pair of client (`from`) and server (`to`), all its queue
        pairs together:
        `bytes` of a message, `iterations` complete; `bw_peak_gbps`, the payload of the best run of
        consecutive messages, from the post of its first to the completion of its last, over that time;
        `bw_average_gbps` and `msg_rate_mpps`, payload and messages (in millions) from the first post to the
        last completion. If both sides send, rates are sums over both, iterations those of the client.

        Of `write-lat`, likewise, halves of the times from one post of the client to the next, without the two
        longest: the shortest, the median, the mean, the standard deviation and two percentiles. `t_max_us` is
        the shorter of the two that are left out.
    """
    bandwidth: list[dict[str, object]] = []
    latency: list[dict[str, object]] = []
    for name, test in _tests(run).items():
        # With numpy, which most runs do not need.
        from floodway.results.messages import bandwidth_of, latency_of  # noqa: PLC0415

        messages = flows.filter(pl.col("workload").cast(pl.String) == name)
        for client, server in test["pairs"]:
            who = {"workload": name, "from": client, "to": server}
            forward = _between(messages, client, server)
            if test["test"] == "write-bw":
                reverse = _between(messages, server, client) if test["bidirectional"] else forward.clear()
                bandwidth += [who | row for row in bandwidth_of(forward, reverse)]
            elif test["test"] == "read-bw":
                reads = _reads(forward, _between(messages, server, client))
                bandwidth += [who | row for row in bandwidth_of(reads, reads.clear())]
            else:
                latency += [who | row for row in latency_of(forward)]
    return pl.DataFrame(bandwidth, schema=BANDWIDTH), pl.DataFrame(latency, schema=LATENCY)


def _tests(run: RunInfo) -> Mapping[str, Any]:
    """By workload, in the order of the scenario: what it measures, and between which hosts."""
    tests = cast("Mapping[str, Any]", run.scenario.get("perftest", {}))
    written = [workload["name"] for workload in run.scenario["scenario"]["workload"]] if tests else []
    return {name: tests[name] for name in written if name in tests}


def _between(messages: pl.DataFrame, source: str, destination: str) -> pl.DataFrame:
    """Messages of this direction that are complete, with their times."""
    ends = (pl.col("source").cast(pl.String) == source) & (
        pl.col("destination").cast(pl.String) == destination
    )
    completed = pl.coalesce("finish_sender_us", "finish_receiver_us").alias("completed_us")
    return messages.filter(ends & pl.col("finished")).select(
        "size_bytes", "start_us", completed, "finish_receiver_us"
    )


def _reads(requests: pl.DataFrame, responses: pl.DataFrame) -> pl.DataFrame:
    """Return complete reads: posted with their requests, complete when responses have arrived."""
    done = responses.sort("finish_receiver_us")
    return done.select(
        "size_bytes",
        requests["start_us"].sort().head(len(done)),
        pl.col("finish_receiver_us").alias("completed_us"),
    )
