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
    from floodway.results.summary import FeedbackSummary, PortSummary

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
#: Columns that name a port and class.
PORT = ("port", "link", "class")


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
    rows: list[Sequence[object]] = []
    if summary.iterations:
        for row in summary.iterations:
            shares = map(share_text, _shares(row))
            rows.append(
                (str(row.iteration), row.workload, time_text(row.time_us), *shares, str(row.straggler))
            )
        columns = ("iteration", "of", "time", "computing", "exposed", "idle", "last rank")
        return _table("", columns, rows, words=("of",)).shortened("more iterations")
    if summary.collectives:
        for size in sorted(summary.collectives, key=lambda row: -row.mean_us):
            measured = (time_text(size.mean_us), f"{size.busbw_gbps / 8:,.3g} GB/s")
            rows.append((size.name, size.workload, size.ranks, size.count, *measured))
        head = ("collective", "workload", "ranks", "count", "time", "bus bandwidth")
        return _table("", head, rows).shortened("shorter collectives")
    return _of_flows(summary)


def _of_flows(summary: Summary) -> Table:
    """Return a row for each workload, or if no flow is measured, for flows without end."""
    if summary.endless and not summary.total.measured:
        return _endless(summary)
    rows = _rows(summary)
    shown = rows[-MOST_ROWS:]
    marked = any(is_few(row.measured, thousandths=990) for row in shown)
    columns = ("workload", "measured", "not done", "mean", "p99", "slowdown p99", "goodput")
    cells = ((row.name, row.measured, row.measured - row.measured_finished, *_times(row)) for row in shown)
    notes = ((FEW_FLOWS_NOTE,) if marked else ()) + _finished_only(rows)
    return _table("", columns, cells, notes=notes)


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
    simulated = (*facts(result), *realised([Realised.from_result(result)]))
    rows = ((fact.name, "; ".join(fact.lines)) for fact in simulated)
    yield Section(title="What was simulated", tables=(_table("", ("", "what"), rows, words=("what",)),))


def _table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    words: Iterable[str] = TEXT_COLUMNS,
    notes: Iterable[str] = (),
) -> Table:
    """Return a table, in which whole numbers have commas."""
    cells = tuple(tuple(f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row) for row in rows)
    return Table(title=title, columns=tuple(columns), rows=cells, words=frozenset(words), notes=tuple(notes))


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
    behind = ""
    if outcome.all_simulated_us is not None:
        behind = f", all parts of the network until {outcome.all_simulated_us / 1000:,.2f} ms"
    return f"{run.name}, seed {run.seed}: {simulated}; {why[outcome.stopped]}{behind}"


def _threads(timings: Timings) -> str:
    """Return the number of a run's threads and why there were not more; empty if one was the maximum."""
    if timings.ranks > 1:
        threads = "one thread" if timings.threads == 1 else f"{timings.threads} threads"
        return f" in {timings.ranks} processes of {threads}"
    if timings.threads > 1:
        return f" on {timings.threads} threads" + (f" ({timings.threads_why})" if timings.threads_why else "")
    return f" on one thread ({timings.threads_why})" if timings.threads_why else ""


def _traffic(summary: Summary) -> Table:
    columns = ("workload", "flows", "finished", "unfinished bytes", "offered Gbit/s", "load")
    rows = (
        (row.name, row.flows, row.finished, row.unfinished_bytes, _number(row.offered_gbps), _load(row))
        for row in _rows(summary)
    )
    return _table("Traffic", columns, rows)


def _load(row: WorkloadSummary) -> str:
    return "-" if row.load is None else f"{row.load:.3f} of {row.asked_load}"


def _fct(summary: Summary) -> Table:
    columns = ("workload", "measured", "unfinished", "mean", "p50", "p99", "p99.9", "last finish", "Gbit/s")
    rows = (
        (
            row.name,
            row.measured,
            row.measured - row.measured_finished,
            _number(row.fct.mean_us) + " *" * row.fct.mean_of_finished_only,
            *_percentiles(row),
            _number(row.last_finish_us, missing=NOT_REACHED if row.measured else "-"),
            _number(row.goodput_gbps, digits=2),
        )
        for row in _rows(summary)
    )
    few = any(is_few(row.measured, thousandths=990) for row in _rows(summary))
    notes = _finished_only(_rows(summary)) + ((FEW_FLOWS_NOTE,) if few else ())
    return _table("Completion time of measured flows in us, and their goodput", columns, rows, notes=notes)


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
    rows = []
    for bucket in workload.slowdown:
        values = (
            _number(value, missing=NOT_REACHED, digits=2) + _mark(bucket.flows, value, thousandths)
            for value, thousandths in ((bucket.p50, 500), (bucket.p99, 990))
        )
        rows.append((bucket.from_bytes, bucket.to_bytes, bucket.flows, *values))
    few = any(is_few(bucket.flows, thousandths=990) for bucket in workload.slowdown)
    columns = ("from bytes", "to bytes", "flows", "p50", "p99")
    notes = (FEW_FLOWS_NOTE,) if few else ()
    return _table(f"Slowdown by size, {workload.name}", columns, rows, notes=notes)


def _endless(summary: Summary) -> Table:
    columns = ("workload", "flows", "together", "lowest", "highest")
    rows = (
        (row.workload, row.flows, *_digits((row.goodput_gbps, row.lowest_gbps, row.highest_gbps), 2))
        for row in summary.endless
    )
    return _table("Goodput of flows that never end, from their start on, in Gbit/s", columns, rows)


def _links(summary: Summary) -> Table:
    shown, notes = summary.links, []
    if len(shown) > MOST_LINKS:
        shown = tuple(sorted(shown, key=lambda link: (-(link.delay_us or 0.0), -link.mean_gbps))[:MOST_LINKS])
        notes = [f"the longest and then the busiest of {len(summary.links):,}; series.parquet has all"]
    rows = ((link.object, f"{link.mean_gbps:,.2f}", f"{link.peak_gbps:,.2f}") for link in shown)
    columns = ("link", "mean", "busiest 1 %")
    return _table("Watched links: throughput in Gbit/s", columns, rows, notes=notes)


def _buffers(summary: Summary) -> Table:
    columns = (*PORT, "peak bytes", "in headroom", "pauses sent")
    rows = (
        (*_port(port), port.peak_bytes, port.headroom_peak_bytes, port.pfc_tx)
        for port in summary.peak_buffers
    )
    return _table("Fullest buffers", columns, rows)


def _paused(summary: Summary) -> Table:
    columns = (*PORT, "paused us", "pauses received")
    rows = ((*_port(port), f"{port.paused_us:,.1f}", port.pfc_rx) for port in summary.most_paused)
    note = f"{summary.paused_us:,.1f} us over all ports, {summary.pfc_frames:,} frames received"
    return _table("Longest paused", columns, rows, notes=(note,))


def _feedback(summary: Summary) -> Table:
    # Few congestion points notify neighbours.
    with_cns = bool(summary.cns_made)
    columns = (*PORT, "CNPs made", *(("CNs sent",) if with_cns else ()), "CE marks", "UE marks")
    rows = (
        (*_port(port), port.cnps, *((port.cns,) if with_cns else ()), port.ecn_marks, port.ue_marks)
        for port in summary.most_feedback
    )
    note = f"over all ports: {summary.cnps.congestion_points:,} CNPs"
    note += f", {summary.cns_made:,} CNs" if with_cns else ""
    return _table("Most feedback by ports", columns, rows, notes=(note,))


def _port(row: PortSummary | FeedbackSummary) -> tuple[str, str, str]:
    return row.node, row.link, str(row.class_)


def _cnps(cnps: CnpTotals) -> str:
    """Return how many CNPs congestion points and receivers generated."""
    sources = f"{cnps.congestion_points:,} made by congestion points, {cnps.receivers:,} by receivers"
    return f"CNPs: {sources}" + (f", {cnps.flags:,} by receivers as flags of ACKs" if cnps.flags else "")


def _bandwidths(summary: Summary) -> Table:
    """Report on collectives as nccl-tests do."""
    text_columns = ("workload", "collective")
    columns = (*text_columns, "ranks", "count", "time us", "longest us", "algbw GB/s", "busbw GB/s")
    rows = []
    for row in summary.collectives:
        times, rates = (row.mean_us, row.most_us), (row.algbw_gbps / 8, row.busbw_gbps / 8)
        rows.append((row.workload, row.name, row.ranks, row.count, *_digits(times, 1), *_digits(rates, 3)))
    return _table("Collectives", columns, rows, words=text_columns)


def _part(counts: tuple[int, int] | None) -> str:
    return "all" if counts is None else f"{counts[0]:,} of {counts[1]:,}"


def _iterations(summary: Summary) -> Table:
    """Report on iterations: parts as shares of their time, means over the ranks."""
    some = [key for key in KEYS if any(getattr(row, key) for row in summary.iterations)]
    columns = ("workload", "iteration", *(key.replace("_", "-") for key in some), "time us")
    columns = (*columns, "computing", "exposed", "idle", "last rank", "after median us")
    rows = []
    for row in summary.iterations[:NAMED_ITERATIONS]:
        parts = (_part(getattr(row, key)) for key in some)
        shares = (f"{share:z.1%}" for share in _shares(row))
        last = (str(row.straggler), f"{row.lag_us:,.1f}")
        rows.append((row.workload, str(row.iteration), *parts, f"{row.time_us:,.1f}", *shares, *last))
    left = len(summary.iterations) - NAMED_ITERATIONS
    notes = ["exposed: communication without computation; idle: neither, means over the ranks"]
    if some:
        notes.append("an iteration of some layers or micro-batches is shorter than the whole one")
    if left > 0:
        notes.append(f"{left:,} more in `floodway.results.iterations`")
    return _table("Iterations", columns, rows, words=("workload",), notes=notes)


def _shares(row: IterationSummary) -> tuple[float, ...]:
    """Return the shares of an iteration in which its ranks computed, only communicated, and did neither."""
    parts = (row.compute_us, row.exposed_us, row.idle_us)
    return tuple(part / row.time_us if row.time_us else 0.0 for part in parts)


def _exposed(summary: Summary) -> Table:
    """Report on exposed communication by name, as means over the ranks and iterations of a job."""
    columns = ("workload", "communication", "us an iteration", "of the time")
    rows = []
    for workload in dict.fromkeys(row.workload for row in summary.iterations):
        iterations = summary.iterations_of(workload)
        total = sum(iteration.time_us for iteration in iterations)
        by_name: dict[str, float] = {}
        for communication in chain.from_iterable(iteration.exposed for iteration in iterations):
            by_name[communication.name] = by_name.get(communication.name, 0.0) + communication.mean_us
        for name, exposed_us in sorted(by_name.items(), key=lambda item: -item[1]):
            share = exposed_us / total if total else 0.0
            rows.append((workload, name, f"{exposed_us / len(iterations):,.1f}", f"{share:.1%}"))
    return _table("Exposed communication", columns, rows, words=columns[:2])


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


def _number(value: float | None, *, missing: str = "-", digits: int = 1) -> str:
    return missing if value is None else f"{value:,.{digits}f}"


def _digits(values: Iterable[float], digits: int) -> Iterator[str]:
    return (f"{value:,.{digits}f}" for value in values)
