"""The summary of a run: the few numbers that people compare.

Only measured flows count: those that started inside the measuring window. A flow that did not
finish ranks above every finished one, so that leaving it out never makes a scheme look better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import polars as pl

from floodway.results.goodput import goodput_gbps
from floodway.results.links import LinkSummary, link_summaries
from floodway.results.outcome import CnpTotals, Outcome, WorkloadTotals

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from floodway.results.iterations import IterationSummary
    from floodway.results.result import AskedLoad, RunInfo

__all__ = ["CollectiveSummary", "EndlessSummary", "FctSummary", "FeedbackSummary", "OrderSummary"]
__all__ += ["PortSummary", "SizeBucket", "Summary", "WorkloadSummary", "last_finish_us", "percentile"]
__all__ += ["size_buckets", "slowdown_by_size", "summarise"]

_OfPort = TypeVar("_OfPort", "PortSummary", "FeedbackSummary")

#: Buckets of flow size, of equal numbers of flows.
BUCKETS = 20
#: Fewer flows than this make no bucket of their own.
LEAST_IN_BUCKET = 5
#: Most ports that are named where only the highest are of interest.
NAMED_PORTS = 8


@dataclass(frozen=True, kw_only=True)
class FctSummary:
    """Flow completion times of measured flows, in microseconds.

    Attributes
    ----------
    mean_us
        Over the finished ones; none where no flow finished.
    mean_of_finished_only
        Whether some are missing from that mean.
    p50_us, p99_us, p999_us
        The value of rank floor(q n); none where an unfinished flow has that rank: not reached.
    """

    mean_us: float | None
    mean_of_finished_only: bool
    p50_us: float | None
    p99_us: float | None
    p999_us: float | None


@dataclass(frozen=True, kw_only=True)
class SizeBucket:
    """Slowdown of the measured flows of one range of sizes.

    Attributes
    ----------
    from_bytes, to_bytes
        The smallest and the largest size, both included.
    flows
        Number of flows.
    p50, p99
        Percentiles of slowdown; None where the rank falls among unfinished flows.
    """

    from_bytes: int
    to_bytes: int
    flows: int
    p50: float | None
    p99: float | None


@dataclass(frozen=True, kw_only=True)
class WorkloadSummary:
    """One workload, or all of them together.

    Attributes
    ----------
    name
        Its name.
    flows, finished
        Flows that started, and of these the finished ones.
    measured, measured_finished
        The same of flows that started inside the measuring window.
    unfinished_bytes
        Payload of measured flows that did not finish.
    offered_gbps
        Payload of started flows over the span in which they started, in Gbit/s; none without a span.
    asked_load, load
        The load that the scenario asks for and the one that came out, as shares of the capacity that it
        names; none where it states no load.
    last_finish_us
        When the last byte of the last measured flow arrived; none where one is unfinished, or none is there.
    goodput_gbps
        Payload of measured flows that arrived while they start, as `goodput.goodput_gbps` has it, in Gbit/s;
        None where there is none.
    fct
        Flow completion times.
    slowdown_p50, slowdown_p99
        Slowdown over all sizes, ranked as completion times are; none where not reached.
    slowdown
        Slowdown by size, small flows first.
    """

    name: str
    flows: int
    finished: int
    measured: int
    measured_finished: int
    unfinished_bytes: int
    offered_gbps: float | None
    asked_load: float | None
    load: float | None
    last_finish_us: float | None
    goodput_gbps: float | None
    fct: FctSummary
    slowdown_p50: float | None
    slowdown_p99: float | None
    slowdown: tuple[SizeBucket, ...]


@dataclass(frozen=True, kw_only=True)
class EndlessSummary:
    """Flows of a workload that never end: payload that arrived over the time from their start on, in Gbit/s.

    Attributes
    ----------
    workload
        Its name.
    flows
        How many there are.
    goodput_gbps
        Of all of them together.
    lowest_gbps, highest_gbps
        Of a single one.
    """

    workload: str
    flows: int
    goodput_gbps: float
    lowest_gbps: float
    highest_gbps: float


@dataclass(frozen=True, kw_only=True)
class FeedbackSummary:
    """Feedback from congestion points of a port and class.

    Attributes
    ----------
    node, link, class_
        The port, and the class.
    cnps
        CNPs that its congestion points sent to senders.
    cns
        CNs that its congestion points sent to upstream switches.
    ecn_marks, ue_marks
        Packets that the port marked CE and UE.
    """

    node: str
    link: str
    class_: int
    cnps: int
    cns: int
    ecn_marks: int
    ue_marks: int


@dataclass(frozen=True, kw_only=True)
class PortSummary:
    """Buffer use and pauses of a port and class.

    Attributes
    ----------
    node, link, class_
        The port, and the class.
    peak_bytes, headroom_peak_bytes
        The most bytes that its ingress held, and that it held in headroom.
    paused_us
        Time in which its egress was paused, in microseconds.
    pfc_rx, pfc_tx
        Frames of flow control that it received and sent.
    """

    node: str
    link: str
    class_: int
    peak_bytes: int
    headroom_peak_bytes: int
    paused_us: float
    pfc_rx: int
    pfc_tx: int


@dataclass(frozen=True, kw_only=True)
class OrderSummary:
    """Order of arrival of data packets.

    Attributes
    ----------
    packets
        Data packets that arrived.
    out_of_order
        Packets of these that arrived after one that was sent later.
    """

    packets: int
    out_of_order: int


@dataclass(frozen=True, kw_only=True)
class CollectiveSummary:
    """Collectives of one workload, operation and size: the mean of their times, and the bus bandwidth by it.

    Attributes
    ----------
    workload, name
        The workload, and operation and size.
    ranks, count
        Ranks of a group, and how many collectives were complete.
    mean_us, most_us
        Mean and longest time from the first rank's start to the last one's end, in microseconds.
    algbw_gbps, busbw_gbps
        Algorithm and bus bandwidth as nccl-tests define them, in Gbit/s.
    """

    workload: str
    name: str
    ranks: int
    count: int
    mean_us: float
    most_us: float
    algbw_gbps: float
    busbw_gbps: float


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The summary of a run.

    Attributes
    ----------
    total
        All workloads together.
    workloads
        Each by itself, in the scenario's order.
    endless
        Goodput of flows that never end, by workload; empty where there are none.
    links
        Throughput of what was watched.
    peak_buffers
        The ports whose buffers were fullest.
    most_paused
        The ports that were paused longest.
    paused_us
        Time paused, summed over ports and classes.
    pfc_frames
        Pause frames received, resumes among them.
    cut_packets
        Packets that lost their payload at full queues, whose headers went on (trimming).
    cut_bytes
        Bytes that they lost.
    retransmitted_bytes
        Payload that was sent again, of the flows that have rows.
    cnps
        CNPs by who made them.
    cns_made
        CNs that congestion points of ports sent to neighbours.
    most_feedback
        The ports with most feedback: those that made most CNPs, then most CNs, then those that marked most.
    order
        Data packets of all flows, and how many of them arrived out of order.
    outcome
        Verdicts and totals.
    collectives
        Collectives of jobs, by workload, operation and size.
    iterations
        Iterations of jobs that compute.
    """

    total: WorkloadSummary
    workloads: tuple[WorkloadSummary, ...]
    endless: tuple[EndlessSummary, ...]
    links: tuple[LinkSummary, ...]
    peak_buffers: tuple[PortSummary, ...]
    most_paused: tuple[PortSummary, ...]
    paused_us: float
    pfc_frames: int
    cut_packets: int
    cut_bytes: int
    retransmitted_bytes: int
    cnps: CnpTotals
    cns_made: int
    most_feedback: tuple[FeedbackSummary, ...]
    order: OrderSummary
    outcome: Outcome
    collectives: tuple[CollectiveSummary, ...] = ()
    iterations: tuple[IterationSummary, ...] = ()

    def iterations_of(self, workload: str) -> tuple[IterationSummary, ...]:
        """Return the iterations of one job.

        Parameters
        ----------
        workload
            Name of the job's workload.

        Returns
        -------
        tuple of IterationSummary
            Its iterations in order of their numbers; empty for a job without computation.
        """
        return tuple(iteration for iteration in self.iterations if iteration.workload == workload)


def summarise(  # noqa: PLR0913, PLR0917 (the tables of a run)
    flows: pl.DataFrame,
    series: pl.DataFrame,
    counters: pl.DataFrame,
    outcome: Outcome,
    run: RunInfo,
    collectives: pl.DataFrame | None = None,
    operations: pl.DataFrame | None = None,
) -> Summary:
    """Compute the summary of a run from its tables and verdicts, and from what is known about it."""
    feedback, end = _feedback(counters), outcome.simulated_us
    return Summary(
        total=_workload("all", flows, outcome.workloads, run.loads, end),
        workloads=tuple(
            _workload(totals.name, flows.filter(pl.col("workload") == totals.name), (totals,), run.loads, end)
            for totals in outcome.workloads
        ),
        endless=_endless(flows, outcome.simulated_us),
        links=link_summaries(series, counters, run.scenario),
        peak_buffers=_ports(counters, by="peak_bytes"),
        most_paused=_ports(counters, by="paused_us"),
        paused_us=float(counters["paused_us"].sum()),
        pfc_frames=int(counters["pfc_rx"].sum()),
        cut_packets=_total(counters, "trims"),
        cut_bytes=_total(counters, "trimmed_bytes"),
        retransmitted_bytes=_total(flows, "retransmitted_bytes"),
        cnps=outcome.cnps or CnpTotals(congestion_points=sum(port.cnps for port in feedback)),
        cns_made=sum(port.cns for port in feedback),
        most_feedback=feedback[:NAMED_PORTS],
        order=_order(flows),
        outcome=outcome,
        collectives=() if collectives is None else tuple(_collectives(collectives)),
        iterations=() if operations is None else tuple(_iterations(operations, run)),
    )


def _total(table: pl.DataFrame, column: str) -> int:
    """Return the sum of a column; 0 where the run had no such."""
    return int(table[column].sum()) if column in table.columns else 0


def _collectives(collectives: pl.DataFrame) -> Iterator[CollectiveSummary]:
    from floodway.results.collectives import bandwidths  # noqa: PLC0415 (where there are jobs)

    for row in bandwidths(collectives).iter_rows(named=True):
        yield CollectiveSummary(**{field.name: row[field.name] for field in fields(CollectiveSummary)})


def _iterations(operations: pl.DataFrame, run: RunInfo) -> Iterator[IterationSummary]:
    from floodway.results.iterations import iteration_summaries  # noqa: PLC0415 (where there are jobs)
    from floodway.results.parts import some_parts  # noqa: PLC0415 (as above)

    parts = some_parts(run.scenario.get("scenario", {}))
    for row in iteration_summaries(operations):
        part = parts.get(row.workload, {})
        yield replace(row, layers=part.get("layers"), micro_batches=part.get("micro_batches"))


def percentile(
    finished: np.ndarray[tuple[int], np.dtype[np.float64]] | pl.Series, *, count: int, thousandths: int
) -> float | None:
    """Return the value of rank floor(q n), without interpolation, where unfinished ones rank last.

    Parameters
    ----------
    finished
        Values of the finished ones, in rising order.
    count
        How many there are with the unfinished ones.
    thousandths
        q, times 1000.

    Returns
    -------
    float or None
        None where the rank falls among the unfinished, or where there is none at all.

    Examples
    --------
    >>> percentile(pl.Series([1.0, 2.0, 4.0]), count=4, thousandths=500)
    4.0
    >>> percentile(pl.Series([1.0, 2.0, 4.0]), count=4, thousandths=990) is None
    True
    """
    rank = thousandths * count // 1000
    return float(finished[rank]) if rank < len(finished) else None


def last_finish_us(flows: pl.DataFrame) -> float | None:
    """Return when the last byte of the last flow arrived; none where one is unfinished, or none is there."""
    ends = flows["finish_receiver_us"]
    return None if flows.is_empty() or ends.null_count() else _float(ends.max())


def _float(value: object) -> float:
    return float(value)  # type: ignore[arg-type]


def slowdown_by_size(flows: pl.DataFrame) -> tuple[SizeBucket, ...]:
    """Return slowdown by size, in no more buckets than there are different sizes."""
    return size_buckets(flows, most=min(BUCKETS, flows["size_bytes"].n_unique()))


def size_buckets(flows: pl.DataFrame, *, most: int = BUCKETS) -> tuple[SizeBucket, ...]:
    """Slowdown by size: the flows in order of size, cut into buckets of equal numbers of flows.

    Parameters
    ----------
    flows
        Measured flows, with `size_bytes`, `slowdown` (null for unfinished ones) and `flow_id`.
    most
        Number of buckets.

    Returns
    -------
    tuple of SizeBucket
        Twenty, or `most`; fewer where these would have less than five flows.
    """
    ordered = flows.sort("size_bytes", "flow_id")
    rows = len(ordered)
    buckets = min(most, max(1, rows // LEAST_IN_BUCKET)) if rows else 0
    edges = [rows * bucket // buckets for bucket in range(buckets + 1)] if buckets else []
    return tuple(_bucket(ordered[low:high]) for low, high in pairwise(edges))


def _bucket(flows: pl.DataFrame) -> SizeBucket:
    slowdown = _sorted(flows["slowdown"])
    return SizeBucket(
        from_bytes=int(flows["size_bytes"][0]),
        to_bytes=int(flows["size_bytes"][-1]),
        flows=len(flows),
        p50=percentile(slowdown, count=len(flows), thousandths=500),
        p99=percentile(slowdown, count=len(flows), thousandths=990),
    )


def _endless(flows: pl.DataFrame, end_us: float) -> tuple[EndlessSummary, ...]:
    # The size of such a flow is what was delivered; any other is finished by then.
    never_end = flows.filter(~pl.col("finished"), pl.col("size_bytes") == pl.col("delivered_bytes"))
    rates = never_end.filter(pl.col("start_us") < end_us).select(
        "workload", gbps=pl.col("delivered_bytes") * 8e-3 / (end_us - pl.col("start_us"))
    )
    gbps = pl.col("gbps")
    rows = rates.group_by("workload", maintain_order=True).agg(
        pl.len(), gbps.sum().alias("sum"), gbps.min().alias("least"), gbps.max().alias("most")
    )
    return tuple(
        EndlessSummary(
            workload=name, flows=count, goodput_gbps=total, lowest_gbps=lowest, highest_gbps=highest
        )
        for name, count, total, lowest, highest in rows.iter_rows()
    )


def _workload(
    name: str,
    flows: pl.DataFrame,
    totals: tuple[WorkloadTotals, ...],
    loads: tuple[AskedLoad, ...],
    end_us: float,
) -> WorkloadSummary:
    measured = flows.filter(pl.col("measured"))
    unfinished = measured.filter(~pl.col("finished"))
    slowdown = _sorted(measured["slowdown"])
    rates = [t.offered_bytes * 8e-3 / t.span_us for t in totals if t.span_us > 0]
    # Shares of different capacities have no sum.
    asked_loads = [load for load in loads if len(totals) == 1 and load.workload == totals[0].name]
    asked_load = asked_loads[0] if len(asked_loads) == 1 else None
    return WorkloadSummary(
        name=name,
        flows=sum(t.flows for t in totals),
        finished=sum(t.finished for t in totals),
        measured=sum(t.measured for t in totals),
        measured_finished=sum(t.measured_finished for t in totals),
        unfinished_bytes=int(unfinished["size_bytes"].sum()),
        offered_gbps=sum(rates) if rates else None,
        asked_load=asked_load.load if asked_load else None,
        load=asked_load.load * rates[0] / asked_load.gbps if asked_load and rates else None,
        last_finish_us=last_finish_us(measured),
        goodput_gbps=goodput_gbps(measured, end_us=end_us),
        fct=_fct(measured),
        slowdown_p50=percentile(slowdown, count=len(measured), thousandths=500),
        slowdown_p99=percentile(slowdown, count=len(measured), thousandths=990),
        slowdown=slowdown_by_size(measured),
    )


def _fct(measured: pl.DataFrame) -> FctSummary:
    finished = _sorted(measured["fct_us"])
    rows = len(measured)
    return FctSummary(
        # Rounded once: so it depends neither on the order nor on the library.
        mean_us=math.fsum(finished.to_list()) / len(finished) if len(finished) else None,
        mean_of_finished_only=len(finished) < rows,
        p50_us=percentile(finished, count=rows, thousandths=500),
        p99_us=percentile(finished, count=rows, thousandths=990),
        p999_us=percentile(finished, count=rows, thousandths=999),
    )


def _sorted(values: pl.Series) -> pl.Series:
    return values.drop_nulls().sort()


def _order(flows: pl.DataFrame) -> OrderSummary:
    """Count packets; results of older versions know of none."""
    return OrderSummary(packets=_total(flows, "packets"), out_of_order=_total(flows, "out_of_order_packets"))


def _feedback(counters: pl.DataFrame) -> tuple[FeedbackSummary, ...]:
    """Name the ports with feedback; results of older versions lack some columns."""
    by = ("cnps", "cns", "ue_marks", "ecn_marks")
    unknown = [name for name in by if name not in counters.columns]
    complete = counters.with_columns(pl.lit(0).alias(name) for name in unknown)
    rows = complete.filter(pl.any_horizontal(pl.col(by) > 0))
    return _of_ports(FeedbackSummary, rows.sort(by, descending=True, maintain_order=True))


def _ports(counters: pl.DataFrame, *, by: str) -> tuple[PortSummary, ...]:
    """Name the ports that are highest in `by`, leaving out those where it is zero."""
    rows = counters.filter(pl.col(by) > 0).sort(by, descending=True, maintain_order=True)
    return _of_ports(PortSummary, rows.head(NAMED_PORTS))


def _of_ports(kind: type[_OfPort], rows: pl.DataFrame) -> tuple[_OfPort, ...]:
    """Return an object for each row, with the columns that it names."""
    columns = {field.name: field.name.rstrip("_") for field in fields(kind)}
    plain = rows.select(**columns)
    return tuple(kind(**row) for row in plain.iter_rows(named=True))
