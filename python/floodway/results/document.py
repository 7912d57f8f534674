"""The document of a run: how long its flows or jobs took, followed by all tables."""

from __future__ import annotations

from dataclasses import asdict
from itertools import chain
from typing import TYPE_CHECKING, Any

from floodway.common.documents import Document, Section, Table, reading, share_text, time_text
from floodway.common.documents.model import MOST_ROWS
from floodway.results.answer import answer
from floodway.results.lossless import OF_HARMFUL_FLOWS, sentence
from floodway.results.parts import KEYS
from floodway.results.percentiles import FEW_FLOWS_NOTE, MARK, is_few
from floodway.results.quantities import bytes_text, counted
from floodway.results.simulated import Realised, facts, realised

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from floodway.results import CnpTotals, Outcome, Result, Summary, WorkloadSummary
    from floodway.results.iterations import IterationSummary
    from floodway.results.outcome import Deadlock
    from floodway.results.result import Timings

__all__ = ["document"]

#: Number of switches that are named.
NAMED_SWITCHES = 5
#: Iterations of jobs that are listed.
NAMED_ITERATIONS = 8
#: Watched links that are listed.
MOST_LINKS = 24
#: Blocked ports that are listed.
NAMED_BLOCKED = 3
NOT_REACHED = "not reached"
#: perftest's headings of bandwidth, and the format of the lines below them.
BANDWIDTH = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
BANDWIDTH_FORM = " {:<7}    {:<10}     {:<7.2f}            {:<7.2f}              {:<7.6f}"
#: perftest's headings of latency, and the format of the lines below them.
LATENCY = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]"
    "   99% percentile[usec]   99.9% percentile[usec]"
)
LATENCY_FORM = (
    " {:<7} {:<10}     {:<7.2f}        {:<7.2f}      {:<7.2f}          {:<7.2f}        {:<7.2f}"
    "         {:<7.2f}                {:<7.2f}"
)
#: Columns that hold words.
TEXT_COLUMNS = ("workload", "link", "port")


def document(result: Result, out: Path | str | None = None, *, full: bool = True) -> Document:
    """Return the document: a sentence, a row for each workload or collective, and all tables.

    Parameters
    ----------
    result
        The run.
    out
        Folder of its results, for JSON; none of a result in memory.
    full
        Whether with the sections behind the answer, which a terminal shows with `--full` alone.
    """
    summary = result.summary()
    outcome = result.outcome
    bad = bool(outcome.deadlocks or outcome.broken or outcome.lossless.loss or outcome.lossless.failed)
    return Document(
        title=_headline(result),
        answer=answer(summary),
        tone="bad" if bad else "",
        more=tuple(_more(summary)),
        table=_shown(summary),
        warnings=tuple(_warnings(outcome)),
        sections=tuple(_sections(result, summary)) if full else (),
        data=_data(result, out),
    )


def _more(summary: Summary) -> Iterator[str]:
    """Yield sentences that qualify the answer: losses, deadlocks, progress of jobs."""
    outcome = summary.outcome
    for deadlock in outcome.deadlocks:
        yield _deadlock(deadlock)
    if outcome.broken:
        yield _invariants(outcome)
    yield f"lossless: {_lossless(outcome)}"
    if outcome.drops:
        yield _drops(outcome)
    yield from _repairs(summary)
    yield from _capture(outcome)
    yield from _jobs(outcome)


def _warnings(outcome: Outcome) -> Iterator[str]:
    for workload in outcome.workloads:
        if workload.never_started:
            waited = "the flows that they wait for did not complete in time"
            yield f"{workload.never_started:,} flows of {workload.name} never started: {waited}"
    for job in outcome.jobs:
        yield from (f"{job.workload}, {waits} is not complete" for waits in job.waiting)
    yield from _blocked(outcome)


def _shown(summary: Summary) -> Table:
    """Return the table below the answer: iterations or collectives of jobs, else a row for each workload."""
    if summary.iterations:
        return Table(
            columns=("iteration", "of", "time", "computing", "exposed", "idle", "last rank"),
            rows=tuple(
                (
                    str(row.iteration),
                    row.workload,
                    time_text(row.time_us),
                    *(share_text(part / row.time_us if row.time_us else 0.0) for part in _parts(row)),
                    str(row.straggler),
                )
                for row in summary.iterations
            ),
            words=frozenset({"of"}),
        ).shortened("more iterations")
    if summary.collectives:
        return Table(
            columns=("collective", "workload", "ranks", "count", "time", "bus bandwidth"),
            rows=tuple(
                (
                    row.name,
                    row.workload,
                    f"{row.ranks:,}",
                    f"{row.count:,}",
                    time_text(row.mean_us),
                    f"{row.busbw_gbps / 8:,.3g} GB/s",
                )
                for row in sorted(summary.collectives, key=lambda row: -row.mean_us)
            ),
            words=frozenset({"workload"}),
        ).shortened("shorter collectives")
    return _of_flows(summary)


def _of_flows(summary: Summary) -> Table:
    """Return a row for each workload, or if no flow is measured, for flows without end."""
    if summary.endless and not summary.total.measured:
        return _endless(summary)
    rows = _rows(summary)
    shown = rows[-MOST_ROWS:]
    marked = any(is_few(row.measured, thousandths=990) for row in shown)
    cells = [
        (row.name, f"{row.measured:,}", f"{row.measured - row.measured_finished:,}", *_times(row))
        for row in shown
    ]
    return Table(
        columns=("workload", "measured", "not done", "mean", "p99", "slowdown p99", "goodput"),
        rows=tuple(cells),
        notes=((FEW_FLOWS_NOTE,) if marked else ()) + (_finished_only(rows)),
    )


def _finished_only(rows: Sequence[WorkloadSummary]) -> tuple[str, ...]:
    if not any(row.fct.mean_of_finished_only for row in rows):
        return ()
    return ("* of the finished flows only; unfinished ones rank above every finished one",)


def _times(row: WorkloadSummary) -> Iterator[str]:
    """Yield the mean, the 99th percentiles and the goodput, with their units."""
    few = _mark(row.measured, 1.0, 990)
    missing = NOT_REACHED if row.measured else "-"
    mean = row.fct.mean_us
    yield "-" if mean is None else time_text(mean) + " *" * row.fct.mean_of_finished_only
    yield missing if row.fct.p99_us is None else time_text(row.fct.p99_us) + few
    yield missing if row.slowdown_p99 is None else f"{row.slowdown_p99:.3g}{few}"
    yield "-" if row.goodput_gbps is None else reading("_gbps", row.goodput_gbps)


def _sections(result: Result, summary: Summary) -> Iterator[Section]:
    # The tables of jobs come first: flows of jobs are only their messages.
    tables = [_iterations(summary), _exposed(summary), _bandwidths(summary), _traffic(summary), _fct(summary)]
    tables += [_slowdown(workload) for workload in _several(summary) or (summary.total,)]
    tables += [_endless(summary), _links(summary), _buffers(summary), _paused(summary), _feedback(summary)]
    yield Section(title="All numbers", tables=tuple(table for table in tables if table.rows))
    yield Section(title="Verdicts", lines=tuple(_verdicts(summary)))
    yield Section(title="As perftest reports", verbatim=tuple(_perftest(result)))
    rows = [
        (fact.name, "; ".join(fact.lines))
        for fact in (*facts(result), *realised([Realised.from_result(result)]))
    ]
    table = Table(columns=("", "what"), rows=tuple(rows), words=frozenset({"what"}))
    yield Section(title="What was simulated", tables=(table,))


class _Rows:
    """The rows of a table while they are added."""

    def __init__(self, title: str, columns: Iterable[str], *, words: Sequence[str] = TEXT_COLUMNS) -> None:
        self.notes: list[str] = []
        self._title, self._columns, self._words = title, tuple(columns), frozenset(words)
        self._rows: list[tuple[str, ...]] = []

    def add_row(self, *cells: str) -> None:
        self._rows.append(cells)

    def build(self) -> Table:
        return Table(
            title=self._title,
            columns=self._columns,
            rows=tuple(self._rows),
            words=self._words,
            notes=tuple(self.notes),
        )


def _data(result: Result, out: Path | str | None) -> dict[str, Any]:
    """Return all numbers of a run, for JSON."""
    outcome = result.outcome
    summary = _plain(asdict(result.summary()))
    summary["outcome"] |= {"drops": dict(outcome.drops), "broken": dict(outcome.broken)}
    bandwidth, latency = result.perftest()
    reports = {"bandwidth": bandwidth.to_dicts(), "latency": latency.to_dicts()}
    return {
        "scenario": result.run.name,
        "seed": result.run.seed,
        "results": None if out is None else str(out),
        "versions": dict(result.run.versions),
        "timings": asdict(result.run.timings),
        "summary": summary,
    } | ({"perftest": reports} if any(reports.values()) else {})


def _plain(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """Remove the underscore at the end of keys that are keywords of Python."""
    if isinstance(value, dict):
        return {key.rstrip("_"): _plain(inner) for key, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _several(summary: Summary) -> tuple[WorkloadSummary, ...]:
    return summary.workloads if len(summary.workloads) > 1 else ()


def _headline(result: Result) -> str:
    run, outcome = result.run, result.outcome
    why = {
        "finished": "all measured flows finished",
        "limit": "the limit was reached",
        "deadlock": "a deadlock stopped it",
        "interrupted": "interrupted",
    }
    took = f"{run.timings.wall_s:.1f} s, {run.timings.packet_hops_per_s / 1e6:.1f} M packet-hops/s"
    took += _threads(run.timings)
    simulated = f"{outcome.simulated_us / 1000:,.2f} ms simulated in {took}"
    return f"{run.name}, seed {run.seed}: {simulated}; {why[outcome.stopped]}"


def _threads(timings: Timings) -> str:
    """Return the number of a run's threads and why there were not more; empty if one was the maximum."""
    if timings.ranks > 1:
        threads = "one thread" if timings.threads == 1 else f"{timings.threads} threads"
        return f" in {timings.ranks} processes of {threads}"
    if timings.threads > 1:
        return f" on {timings.threads} threads" + (f" ({timings.threads_why})" if timings.threads_why else "")
    return f" on one thread ({timings.threads_why})" if timings.threads_why else ""


def _traffic(summary: Summary) -> Table:
    table = _Rows("Traffic", ("workload", "flows", "finished", "unfinished bytes", "offered Gbit/s", "load"))
    for row in _rows(summary):
        table.add_row(
            row.name,
            f"{row.flows:,}",
            f"{row.finished:,}",
            f"{row.unfinished_bytes:,}",
            _number(row.offered_gbps, missing="-"),
            "-" if row.load is None else f"{row.load:.3f} of {row.asked_load}",
        )
    return table.build()


def _fct(summary: Summary) -> Table:
    columns = ("workload", "measured", "unfinished", "mean", "p50", "p99", "p99.9", "last finish", "Gbit/s")
    table = _Rows("Completion time of measured flows in us, and their goodput", columns)
    for row in _rows(summary):
        mean = _number(row.fct.mean_us, missing="-")
        table.add_row(
            row.name,
            f"{row.measured:,}",
            f"{row.measured - row.measured_finished:,}",
            f"{mean} *" if row.fct.mean_of_finished_only else mean,
            *_percentiles(row),
            _number(row.last_finish_us, missing=NOT_REACHED if row.measured else "-"),
            _number(row.goodput_gbps, missing="-", digits=2),
        )
    notes = []
    if any(row.fct.mean_of_finished_only for row in _rows(summary)):
        notes.append("* of the finished flows only; unfinished ones rank above every finished one")
    if any(is_few(row.measured, thousandths=990) for row in _rows(summary)):
        notes.append(FEW_FLOWS_NOTE)
    table.notes = notes
    return table.build()


def _percentiles(row: WorkloadSummary) -> Iterable[str]:
    """Return percentiles as text, marked if hardly any flow lies beyond them."""
    values = {500: row.fct.p50_us, 990: row.fct.p99_us, 999: row.fct.p999_us}
    for thousandths, value in values.items():
        missing = NOT_REACHED if row.measured else "-"
        yield f"{_number(value, missing=missing)}{_mark(row.measured, value, thousandths)}"


def _mark(flows: int, value: float | None, thousandths: int) -> str:
    return f" {MARK}" if value is not None and is_few(flows, thousandths=thousandths) else ""


def _rows(summary: Summary) -> tuple[WorkloadSummary, ...]:
    return (*_several(summary), summary.total)


def _slowdown(workload: WorkloadSummary) -> Table:
    table = _Rows(f"Slowdown by size, {workload.name}", ("from bytes", "to bytes", "flows", "p50", "p99"))
    for bucket in workload.slowdown:
        values = (
            _number(value, missing=NOT_REACHED, digits=2) + _mark(bucket.flows, value, thousandths)
            for value, thousandths in ((bucket.p50, 500), (bucket.p99, 990))
        )
        table.add_row(f"{bucket.from_bytes:,}", f"{bucket.to_bytes:,}", f"{bucket.flows:,}", *values)
    if any(is_few(bucket.flows, thousandths=990) for bucket in workload.slowdown):
        table.notes.append(FEW_FLOWS_NOTE)
    return table.build()


def _endless(summary: Summary) -> Table:
    columns = ("workload", "flows", "together", "lowest", "highest")
    table = _Rows("Goodput of flows that never end, from their start on, in Gbit/s", columns)
    for row in summary.endless:
        rates = (row.goodput_gbps, row.lowest_gbps, row.highest_gbps)
        table.add_row(row.workload, f"{row.flows:,}", *(f"{rate:,.2f}" for rate in rates))
    return table.build()


def _links(summary: Summary) -> Table:
    table = _Rows("Watched links: throughput in Gbit/s", ("link", "mean", "busiest 1 %"))
    shown = summary.links
    if len(shown) > MOST_LINKS:
        shown = tuple(sorted(shown, key=lambda link: (-(link.delay_us or 0.0), -link.mean_gbps))[:MOST_LINKS])
        table.notes.append(
            f"the longest and then the busiest of {len(summary.links):,}; series.parquet has all"
        )
    for link in shown:
        table.add_row(link.object, f"{link.mean_gbps:,.2f}", f"{link.peak_gbps:,.2f}")
    return table.build()


def _buffers(summary: Summary) -> Table:
    columns = ("port", "link", "class", "peak bytes", "in headroom", "pauses sent")
    table = _Rows("Fullest buffers", columns)
    for port in summary.peak_buffers:
        peaks = (f"{port.peak_bytes:,}", f"{port.headroom_peak_bytes:,}")
        table.add_row(port.node, port.link, str(port.class_), *peaks, f"{port.pfc_tx:,}")
    return table.build()


def _paused(summary: Summary) -> Table:
    table = _Rows("Longest paused", ("port", "link", "class", "paused us", "pauses received"))
    for port in summary.most_paused:
        table.add_row(port.node, port.link, str(port.class_), f"{port.paused_us:,.1f}", f"{port.pfc_rx:,}")
    table.notes.append(f"{summary.paused_us:,.1f} us over all ports, {summary.pfc_frames:,} frames received")
    return table.build()


def _feedback(summary: Summary) -> Table:
    # Few congestion points notify neighbours.
    cns = ("CNs sent",) if summary.cns_made else ()
    columns = ("port", "link", "class", "CNPs made", *cns, "CE marks", "UE marks")
    table = _Rows("Most feedback by ports", columns)
    for port in summary.most_feedback:
        numbers = (port.cnps, *((port.cns,) if cns else ()), port.ecn_marks, port.ue_marks)
        table.add_row(port.node, port.link, str(port.class_), *(f"{number:,}" for number in numbers))
    table.notes.append(f"over all ports: {summary.cnps.congestion_points:,} CNPs")
    if cns:
        table.notes[0] += f", {summary.cns_made:,} CNs"
    return table.build()


def _cnps(cnps: CnpTotals) -> str:
    """Return how many CNPs congestion points and receivers generated."""
    sources = f"{cnps.congestion_points:,} made by congestion points, {cnps.receivers:,} by receivers"
    return f"CNPs: {sources}" + (f", {cnps.flags:,} by receivers as flags of ACKs" if cnps.flags else "")


def _bandwidths(summary: Summary) -> Table:
    """Report on collectives as nccl-tests do."""
    numbers = ("ranks", "count", "time us", "longest us", "algbw GB/s", "busbw GB/s")
    text_columns = ("workload", "collective")
    table = _Rows("Collectives", (*text_columns, *numbers), words=text_columns)
    for row in summary.collectives:
        table.add_row(
            row.workload,
            row.name,
            f"{row.ranks:,}",
            f"{row.count:,}",
            f"{row.mean_us:,.1f}",
            f"{row.most_us:,.1f}",
            f"{row.algbw_gbps / 8:,.3f}",
            f"{row.busbw_gbps / 8:,.3f}",
        )
    return table.build()


def _part(counts: tuple[int, int] | None) -> str:
    return "all" if counts is None else f"{counts[0]:,} of {counts[1]:,}"


def _iterations(summary: Summary) -> Table:
    """Report on iterations: parts as shares of their time, means over the ranks."""
    parts = ("computing", "exposed", "idle")
    some = [key for key in KEYS if any(getattr(row, key) for row in summary.iterations)]
    columns = (
        "workload",
        "iteration",
        *(key.replace("_", "-") for key in some),
        "time us",
        *parts,
        "last rank",
        "after median us",
    )
    table = _Rows("Iterations", columns, words=("workload",))
    for row in summary.iterations[:NAMED_ITERATIONS]:
        shares = (part / row.time_us if row.time_us else 0.0 for part in _parts(row))
        table.add_row(
            row.workload,
            str(row.iteration),
            *(_part(getattr(row, key)) for key in some),
            f"{row.time_us:,.1f}",
            *(f"{share:z.1%}" for share in shares),
            str(row.straggler),
            f"{row.lag_us:,.1f}",
        )
    left = len(summary.iterations) - NAMED_ITERATIONS
    table.notes.append("exposed: communication without computation; idle: neither, means over the ranks")
    if some:
        table.notes.append("an iteration of some layers or micro-batches is shorter than the whole one")
    if left > 0:
        table.notes.append(f"{left:,} more in `floodway.results.iterations`")
    return table.build()


def _parts(row: IterationSummary) -> tuple[float, float, float]:
    return row.compute_us, row.exposed_us, row.idle_us


def _exposed(summary: Summary) -> Table:
    """Report on exposed communication by name, as means over the ranks and iterations of a job."""
    columns = ("workload", "communication", "us an iteration", "of the time")
    table = _Rows("Exposed communication", columns, words=columns[:2])
    jobs = {row.workload: summary.iterations_of(row.workload) for row in summary.iterations}
    for workload, iterations in jobs.items():
        total = sum(iteration.time_us for iteration in iterations)
        by_name: dict[str, float] = {}
        for communication in chain.from_iterable(iteration.exposed for iteration in iterations):
            by_name[communication.name] = by_name.get(communication.name, 0.0) + communication.mean_us
        for name, exposed_us in sorted(by_name.items(), key=lambda item: -item[1]):
            share = exposed_us / total if total else 0.0
            table.add_row(workload, name, f"{exposed_us / len(iterations):,.1f}", f"{share:.1%}")
    return table.build()


def _jobs(outcome: Outcome) -> Iterable[str]:
    """Yield the progress of jobs, and what was skipped of them."""
    for workload in dict.fromkeys(skipped.workload for skipped in outcome.skipped):
        yield outcome.skip_sentence(workload) or ""
    if outcome.not_skipped is not None:
        yield outcome.not_skipped.sentence
    for job in outcome.jobs:
        inside = f"; {job.scale_up_bytes:,} B within scale-up domains" if job.scale_up_bytes else ""
        yield f"job {job.workload}: {job.finished:,} of {job.ranks:,} ranks completed their program{inside}"


def _verdicts(summary: Summary) -> Iterable[str]:
    outcome = summary.outcome
    fullest = sorted(outcome.switches, key=lambda switch: -switch.peak_bytes)[:NAMED_SWITCHES]
    yield "fullest switches: " + (", ".join(f"{s.node} {s.peak_bytes:,} B" for s in fullest) or "none")
    if summary.cnps.total:
        yield _cnps(summary.cnps)
    yield _drops(outcome)
    yield from _repairs(summary)
    if summary.order.out_of_order:
        late, packets = summary.order.out_of_order, summary.order.packets
        yield f"out of order: {late:,} of {packets:,} data packets, {late * 100 / packets:.2f} %"
    yield f"lossless: {_lossless(outcome)}"
    yield _invariants(outcome)
    yield from _capture(outcome)
    yield from _jobs(outcome)
    yield from map(_deadlock, outcome.deadlocks)


def _capture(outcome: Outcome) -> Iterator[str]:
    if outcome.capture is not None:
        missed = f", {outcome.capture.missed:,} more not" if outcome.capture.missed else ""
        yield f"capture: {counted(outcome.capture.packets, 'packet')} kept{missed}"


def _drops(outcome: Outcome) -> str:
    return "drops: " + (", ".join(f"{reason} {packets:,}" for reason, packets in outcome.drops) or "none")


def _repairs(summary: Summary) -> Iterator[str]:
    """Yield what was lost without a drop, and what was sent again."""
    if summary.cut_packets:
        lost = bytes_text(summary.cut_bytes)
        yield f"cut to their headers: {counted(summary.cut_packets, 'packet')}, which lost {lost}"
    if summary.retransmitted_bytes:
        yield f"sent again: {bytes_text(summary.retransmitted_bytes)} of payload"


def _invariants(outcome: Outcome) -> str:
    return "invariants: " + ("; ".join(f"{name} broken: {text}" for name, text in outcome.broken) or "hold")


def _deadlock(deadlock: Deadlock) -> str:
    circle = " -> ".join((*deadlock.ports, deadlock.ports[0]))
    return f"deadlock since {deadlock.time_us:,.1f} us: {circle}"


def _blocked(outcome: Outcome) -> Iterable[str]:
    """Yield the ports that flow control blocked until the end."""
    for blocked in outcome.blocked[:NAMED_BLOCKED]:
        yield (
            f"{blocked.port}, class {blocked.class_}: flow control {blocked.flow_control!r} had blocked it "
            f"for {blocked.blocked_us:,.1f} us when the run ended, although it had packets to send and the "
            "other end held none of them"
        )
    more = len(outcome.blocked) - NAMED_BLOCKED
    if more > 0:
        yield f"{more:,} more ports and classes were blocked like that"


def _perftest(result: Result) -> Iterable[str]:
    """Report as perftest does, in its own columns."""
    forms = ((BANDWIDTH, BANDWIDTH_FORM), (LATENCY, LATENCY_FORM))
    for frame, (head, form) in zip(result.perftest(), forms, strict=True):
        for workload, client, server, *values in frame.iter_rows():
            yield ""
            yield f"{workload}: {client} to {server}"
            yield head
            yield form.format(*values)


def _lossless(outcome: Outcome) -> str:
    chosen = sum(packets for reason, packets in outcome.drops if reason in OF_HARMFUL_FLOWS)
    were = "was" if chosen == 1 else "were"
    dropped = f"; in addition, {counted(chosen, 'packet')} of congesting flows {were} dropped deliberately"
    promised = chosen and outcome.lossless.verdict != "not-asked"
    return sentence(outcome.lossless) + (dropped if promised else "")


def _number(value: float | None, *, missing: str, digits: int = 1) -> str:
    return missing if value is None else f"{value:,.{digits}f}"
