"""The numbers that studies compare, each taken from the tables of one run.

A percentile is the value of rank floor(q n) of the sorted values, in which unfinished flows rank last. A
mean over finished flows says how many did not finish.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl

from floodway import _floodway
from floodway.results.goodput import goodput_until_done_gbps
from floodway.results.hpcc import Standalone
from floodway.results.iterations import iterations_of
from floodway.results.metrics import direction_settings, rates_gbps
from floodway.results.quantities import quantity_gbps
from floodway.results.summary import last_finish_us, percentile
from floodway.scenarios.scenario import Scenario
from floodway.study.metrics.buckets import (
    allowed,
    fairness,
    first_in_state,
    flow_throughput,
    link_buckets,
    longest_queue,
    mean_wait,
    time_in_state,
)
from floodway.study.metrics.selection import chosen_flows, chosen_link, chosen_ports, of_sizes, of_workloads

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from floodway.results import Result
    from floodway.study.metrics.selection import Options

    Compute = Callable[[Result, Options], "Value"]

__all__ = ["COMPUTED", "KINDS", "Kind", "Value"]

_THOUSANDTHS = {"p50": 500, "p95": 950, "p99": 990, "p999": 999}
_STATISTICS = ("mean", *_THOUSANDTHS)


@dataclass(frozen=True, kw_only=True)
class Value:
    """A number of one run.

    Attributes
    ----------
    value
        The number; None where there is no number, such as a percentile at an unfinished flow.
    unfinished
        Flows that did not finish among those that it is of; of a job, ranks that did not.
    flows
        Of a percentile of flows: how many it is of.
    """

    value: float | None
    unfinished: int = 0
    flows: int | None = None


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A number that every run has; all but how it is computed is in the grammar of studies.

    Attributes
    ----------
    label
        What pictures call it.
    unit
        Its unit; empty for a plain number.
    options
        Names of the options that it takes.
    due
        Names of the options without which it means nothing.
    best
        Whether the lowest or the highest is best.
    compute
        The function that computes it from a run's tables.
    thousandths
        Of a percentile of flows: which one, times 10.
    """

    label: str
    unit: str
    options: tuple[str, ...]
    due: tuple[str, ...]
    best: str
    compute: Callable[[Result, Options], Value]
    thousandths: int | None = None


def _statistic(result: Result, options: Options, *, column: str, statistic: str) -> Value:
    flows = chosen_flows(result, options)
    values = np.sort(flows[column].drop_nulls().to_numpy())
    unfinished = len(flows) - len(values)
    if statistic == "mean":
        return Value(value=float(values.mean()) if len(values) else None, unfinished=unfinished)
    number = percentile(values, count=len(flows), thousandths=_THOUSANDTHS[statistic])
    # A percentile below the unfinished ones is what it would be had they finished.
    return Value(value=number, unfinished=unfinished if number is None else 0, flows=len(flows))


def _normalised(result: Result, options: Options) -> Value:
    """Return the mean of completion times by the last ACK over those that the HPCC simulator computes."""
    flows = chosen_flows(result, options)
    done = flows.filter(pl.col("finish_sender_us").is_not_null())
    if done.is_empty():
        return Value(value=None, unfinished=len(flows))
    ends = done.select(pl.col("source", "destination").cast(pl.String), "size_bytes")
    scenario = Scenario.from_dict(result.run.scenario["scenario"])
    standalone = Standalone(scenario, ends["source"], ends["destination"])
    alone_ns = np.array([standalone.ns(*row) for row in ends.iter_rows()])
    took_us = (done["finish_sender_us"] - done["start_us"]).to_numpy()
    mean = float((took_us * 1000 / np.maximum(alone_ns, 1)).mean())
    return Value(value=mean, unfinished=len(flows) - len(done))


def _total(result: Result, options: Options, *, column: str) -> Value:
    flows = chosen_flows(result, options)
    return Value(value=None if flows.is_empty() else float(flows[column].sum()))


def _count(result: Result, options: Options, *, unfinished: bool) -> Value:
    flows = chosen_flows(result, options)
    # No flow is of this selection: then none of it is unfinished either.
    if unfinished and flows.is_empty():
        return Value(value=None)
    return Value(value=float((~flows["finished"]).sum() if unfinished else len(flows)))


def _retransmission_us(result: Result, options: Options) -> Value:
    """Return the time that retransmitted bytes take at their senders' NICs, summed over flows."""
    flows = chosen_flows(result, options).filter(pl.col("retransmitted_bytes") > 0)
    rates = _nic_gbps(result)
    sent = flows.group_by(pl.col("source").cast(pl.String), maintain_order=True).agg(
        pl.col("retransmitted_bytes").sum()
    )
    return Value(value=sum(size * 8e-3 / rates[source] for source, size in sent.iter_rows()))


def _out_of_order(result: Result, options: Options) -> Value:
    """Return the share of the data packets that arrived after one that was sent later."""
    flows = chosen_flows(result, options)
    packets = int(flows["packets"].sum())
    return Value(value=float(flows["out_of_order_packets"].sum()) * 100 / packets if packets else None)


def _nic_gbps(result: Result) -> Mapping[str, float]:
    """Return the rate of the link that each node sends on; of several, the fastest."""
    rates: dict[str, float] = {}
    for name, settings in direction_settings(result.run.scenario).items():
        node = name.rpartition(" ")[2].partition(">")[0]
        rates[node] = max(rates.get(node, 0.0), quantity_gbps(settings["rate"]))
    return rates


def _last_finish(result: Result, options: Options) -> Value:
    flows = chosen_flows(result, options)
    last_us = last_finish_us(flows)
    return Value(
        value=None if last_us is None else last_us / 1000,
        unfinished=flows["finish_receiver_us"].null_count(),
    )


def _link(result: Result, options: Options, *, number: str) -> Value:
    buckets = link_buckets(result, options)
    if not len(buckets.gbps) or (options.from_us or 0.0) >= result.outcome.simulated_us:
        return Value(value=None)
    gbps, weights = buckets.gbps, buckets.span_us
    mean = float(np.average(gbps, weights=weights))
    idle = gbps == 0
    numbers = {
        "mean": mean,
        "stdev": float(np.sqrt(np.average((gbps - mean) ** 2, weights=weights))),
        "peak": float(gbps.max()),
        "idle": float(weights[idle].sum() / weights.sum() * 100),
        "idle-buckets": float(idle.sum()),
        "lowest": float(gbps.min()),
    }
    if number == "utilisation":
        name = chosen_link(result, options)
        return Value(value=mean * 100 / rates_gbps(result.run.scenario, [name])[name])
    return Value(value=numbers[number])


def _ports(
    result: Result, options: Options, *, columns: tuple[str, ...], statistic: str, unit: float
) -> Value:
    ports = chosen_ports(result, options)
    if ports.is_empty():
        return Value(value=None)
    totals = ports.select(pl.sum_horizontal(*columns).alias("value"))["value"]
    return Value(value=(float(totals.sum()) if statistic == "sum" else _float(totals.max())) / unit)


def _drops(result: Result, options: Options) -> Value:
    columns = tuple(name for name in result.counters.columns if name.startswith("drops_"))
    return _ports(result, options, columns=columns, statistic="sum", unit=1.0)


def _latency(result: Result, options: Options, *, statistic: str) -> Value:
    """Return a statistic of the packets' delay, of the buckets' upper ends."""
    delays = result.latency.filter(pl.col("component").cast(pl.String) == "total")
    delays = of_workloads(delays, options).sort("bucket_high_ns")
    packets, highest = delays["packets"].to_numpy(), delays["bucket_high_ns"].to_numpy()
    if not len(packets):
        return Value(value=None)
    if statistic == "mean":
        middle = (delays["bucket_low_ns"].to_numpy() + highest) / 2
        return Value(value=float(np.average(middle, weights=packets)) / 1000)
    rank = _THOUSANDTHS[statistic] * int(packets.sum()) // 1000
    place = int(np.searchsorted(np.cumsum(packets), rank, side="right"))
    return Value(value=float(highest[place]) / 1000)


def _perftest(result: Result, options: Options, *, latency: bool) -> Value:
    report = of_workloads(result.perftest()[int(latency)], options)
    column = options.column or ("t_avg_us" if latency else "bw_average_gbps")
    if report.is_empty() or column not in report.columns:
        return Value(value=None)
    values = report[column]
    return Value(value=_float(values.mean() if latency else values.sum()))


def _lossless_utilisation(result: Result, options: Options) -> Value:
    """Return a link's utilisation, 0 where a lossless class has dropped: SWING's figures count it so."""
    if result.outcome.lossless.verdict == "violated":
        return Value(value=0.0)
    return _link(result, options, number="utilisation")


def _float(value: object) -> float:
    return float(value)  # type: ignore[arg-type]


def _of_job(compute: Callable[[Result, Options], float | None]) -> Compute:
    def value_of(result: Result, options: Options) -> Value:
        return Value(value=compute(result, options), unfinished=_unfinished_ranks(result, options))

    return value_of


def _numbered(compute: Callable[[Result, Options], float | None]) -> Compute:
    """Make a number a value."""
    return lambda result, options: Value(value=compute(result, options))


def _sum(*columns: str) -> Compute:
    return partial(_ports, columns=columns, statistic="sum", unit=1.0)


#: Columns of collectives that are numbers of them.
NUMBERS = ("time_us", "lag_us", "algbw_gbps", "busbw_gbps")


def _collective_us(result: Result, options: Options, *, longest: bool) -> float | None:
    """Return the mean or longest time of collectives, from first start to last end of a rank."""
    times = _collectives(result, options)["time_us"]
    return cast("float | None", times.max() if longest else times.mean())


def _bandwidth_gbps(result: Result, options: Options, *, column: str) -> float | None:
    """Return the bandwidth of collectives, weighted by their times: of equal ones that by the mean time."""
    collectives = _collectives(result, options)
    if collectives.is_empty():
        return None
    return float(np.average(collectives[column].to_numpy(), weights=collectives["time_us"].to_numpy()))


def _straggler_us(result: Result, options: Options) -> float | None:
    """Return how long after the median rank a collective's last rank is done, the mean over collectives."""
    return cast("float | None", _collectives(result, options)["lag_us"].mean())


def _iteration_us(result: Result, options: Options) -> float | None:
    """Return the mean time of jobs' iterations, from their first rank's start to their last one's end."""
    ranks = _iterations(result, options)
    if ranks is None:
        return None
    span_us = pl.col("end_us").max() - pl.col("start_us").min()
    spans = ranks.group_by("workload", "iteration", maintain_order=True).agg(time_us=span_us)
    return cast("float | None", spans["time_us"].mean())


def _exposed_us(result: Result, options: Options) -> float | None:
    """Return the time in which a rank communicates and does not compute, mean over iterations and ranks."""
    ranks = _iterations(result, options)
    return None if ranks is None else cast("float | None", ranks["exposed_us"].mean())


def _unfinished_ranks(result: Result, options: Options) -> int:
    """Return how many ranks of the jobs did not complete their programs."""
    workloads = options.workload
    return sum(
        job.ranks - job.finished for job in result.outcome.jobs if not workloads or job.workload in workloads
    )


def _collectives(result: Result, options: Options) -> pl.DataFrame:
    """Return the complete collectives that the options select."""
    if result.collectives is None:
        return pl.DataFrame(schema=dict.fromkeys(NUMBERS, pl.Float64))
    collectives = of_workloads(result.collectives, options).filter(pl.col("time_us").is_not_null())
    if options.operation:
        collectives = collectives.filter(pl.col("kind").cast(pl.String).is_in(list(options.operation)))
    return of_sizes(collectives, options, "bytes")


def _iterations(result: Result, options: Options) -> pl.DataFrame | None:
    """Return the ranks' iterations that the options select; no rows where the run had no job."""
    return None if result.operations is None else iterations_of(of_workloads(result.operations, options))


#: The function of each kind, by the names that studies use.
COMPUTED: Mapping[str, Compute] = {
    **{
        f"{name}-{statistic}": partial(_statistic, column=column, statistic=statistic)
        for statistic in _STATISTICS
        for name, column in (("fct", "fct_us"), ("slowdown", "slowdown"))
    },
    "normalised-fct-mean": _normalised,
    "flows": partial(_count, unfinished=False),
    "unfinished": partial(_count, unfinished=True),
    "last-finish": _last_finish,
    "goodput": _numbered(
        lambda result, options: goodput_until_done_gbps(
            chosen_flows(result, options), end_us=result.outcome.simulated_us
        )
    ),
    "retransmitted": partial(_total, column="retransmitted_bytes"),
    "retransmission-time": _retransmission_us,
    "out-of-order": _out_of_order,
    "timeouts": partial(_total, column="timeouts"),
    **{f"latency-{statistic}": partial(_latency, statistic=statistic) for statistic in _STATISTICS},
    "collective-mean": _of_job(partial(_collective_us, longest=False)),
    "collective-max": _of_job(partial(_collective_us, longest=True)),
    "algbw": _of_job(partial(_bandwidth_gbps, column="algbw_gbps")),
    "busbw": _of_job(partial(_bandwidth_gbps, column="busbw_gbps")),
    "straggler": _of_job(_straggler_us),
    "iteration-mean": _of_job(_iteration_us),
    "exposed-mean": _of_job(_exposed_us),
    "throughput": partial(_link, number="mean"),
    "utilisation": partial(_link, number="utilisation"),
    "lossless-utilisation": _lossless_utilisation,
    "peak-throughput": partial(_link, number="peak"),
    "lowest-throughput": partial(_link, number="lowest"),
    "throughput-stdev": partial(_link, number="stdev"),
    "idle": partial(_link, number="idle"),
    "idle-buckets": partial(_link, number="idle-buckets"),
    "paused-time": _sum("paused_us"),
    "pfc-frames": _sum("pfc_rx"),
    "peak-buffer": partial(_ports, columns=("peak_bytes",), statistic="max", unit=1e6),
    "max-queue": _numbered(longest_queue),
    "mean-wait": _numbered(mean_wait),
    "ecn-marks": _sum("ecn_marks"),
    "ue-marks": _sum("ue_marks"),
    "cnps-made": _sum("cnps", "receiver_cnps", "cnp_flags"),
    "cns-made": _sum("cns"),
    "flow-moves": _sum("moves"),
    "time-in-state": _numbered(time_in_state),
    "first-in-state": _numbered(first_in_state),
    "flow-throughput": _numbered(partial(flow_throughput, lowest=False)),
    "lowest-flow-throughput": _numbered(partial(flow_throughput, lowest=True)),
    "fairness": _numbered(fairness),
    "allowed-min": _numbered(partial(allowed, statistic="min")),
    "allowed-mean": _numbered(partial(allowed, statistic="mean")),
    "drops": _drops,
    "lossless": _numbered(lambda result, _: float(result.outcome.lossless.verdict != "violated")),
    "perftest-bandwidth": partial(_perftest, latency=False),
    "perftest-latency": partial(_perftest, latency=True),
}


def _kinds() -> dict[str, Kind]:
    """Return all kinds in the order of the grammar, which has a number for each and no others."""
    kinds = {}
    for table in json.loads(_floodway.study_catalog_json())["metrics"]:
        name = table.pop("name")
        statistic = name.removeprefix("fct-").removeprefix("slowdown-")
        kinds[name] = Kind(
            **{**table, "options": tuple(table["options"]), "due": tuple(table["due"])},
            compute=COMPUTED[name],
            thousandths=_THOUSANDTHS.get(statistic),
        )
    return kinds


#: All of them, by the names that studies use.
KINDS: Mapping[str, Kind] = _kinds()
