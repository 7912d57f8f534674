"""The command `floodway why`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.cli.exits import DONE
from floodway.cli.show_document import print_answer
from floodway.cli.watch import Watch
from floodway.cli.watched_path import watched_path
from floodway.cli.why_path import cause_rows, us_text
from floodway.cli.why_path import document as document_of_path
from floodway.common.documents import Document, Section, Table, share_text, time_text
from floodway.common.documents.model import MOST_ROWS, fields_of
from floodway.common.errors import InputError, UnknownNameError
from floodway.results import read
from floodway.results.folders import run_folder
from floodway.simulation.why import Why, chosen, is_rank, scenario_of, take_apart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from floodway.results import Outcome, Result
    from floodway.simulation.why import Part

__all__ = ["Request", "skips_of", "why"]

#: Columns of the table of all parts; the first three are text.
PART_COLUMNS = ("cause", "where", "began at", "us", "% of the FCT")


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of `floodway why`."""

    folder: Path
    flow: str
    quiet: bool
    json: bool
    full: bool


def why(request: Request) -> int:
    """Repeat the run, print the breakdown or the critical path, and return the exit code."""
    result = read(run_folder(request.folder))
    if (skips := skips_of(result, request.flow)) is not None:
        document = skips
    elif _is_flow(result, request.flow):
        # An unknown name is an error before the run.
        flow = chosen(result.flows, request.flow)
        scenario = scenario_of(result)
        with Watch(scenario, quiet=request.quiet) as watch:
            breakdown = take_apart(result, flow, scenario=scenario, on_progress=watch.update)
        document = _document(breakdown, [*_beside(request, result, breakdown)])
    else:
        document = document_of_path(watched_path(result, request.flow, quiet=request.quiet))
    print_answer(document, json_=request.json, quiet=False, full=request.full)
    return DONE


def _beside(request: Request, result: Result, breakdown: Why) -> Iterator[str]:
    """Yield facts beside the causes: the ideal time, the feedback, and flows that never finished."""
    alone = (
        f"alone it would take {time_text(breakdown.ideal_fct_ps / 1e6)}: slowdown {breakdown.slowdown:,.2f}"
    )
    yield f"{alone}; {_feedback_text(result, breakdown.flow_id)}"
    if request.flow == "worst":
        measured = result.flows.filter("measured")
        cut = len(measured) - measured["finished"].sum()
        if cut:
            yield f"{cut:,} of {len(measured):,} measured flows never finished, and rank above it"


def _is_flow(result: Result, name: str) -> bool:
    """Return whether a name is of a flow, not of a collective, which only runs with jobs have."""
    if result.operations is None or name in result.flows["flow_id"].cast(pl.String):
        return True
    return is_rank(name) or name.count(":") > 1


def _feedback_text(result: Result, flow: str) -> str:
    """Return the counts of congestion feedback and losses of a flow's sender, as text."""
    row = result.flows.filter(result.flows["flow_id"].cast(pl.String) == flow).row(0, named=True)
    counts = [
        (row["cnps"], "CNPs"),
        (row["timeouts"], "timeouts"),
        (row["retransmitted_bytes"], "bytes retransmitted"),
    ]
    parts = [f"{count:,} {label}" for count, label in counts if count]
    return ", ".join(parts) or "no CNP, no timeout, nothing retransmitted"


def _document(breakdown: Why, beside: Sequence[str]) -> Document:
    """Return the document: a sentence, a row for each cause, and all parts, unrounded."""
    rows = [_row(cause, parts, breakdown) for cause, parts in breakdown.by_cause().items()]
    rows.sort(key=lambda row: -row[0])
    shown = rows[: MOST_ROWS - 1] if len(rows) > MOST_ROWS else rows
    parts = Table(
        columns=PART_COLUMNS,
        rows=(
            *cause_rows(breakdown.by_cause(), breakdown.parts, breakdown.fct_ps),
            ("completion time", "", "", us_text(breakdown.fct_ps), "100.0"),
        ),
        words=frozenset(PART_COLUMNS[:3]),
    )
    return Document(
        title=f"{breakdown.flow_id}, started at {breakdown.start_us:,.3f} us",
        answer=breakdown.sentence(),
        more=tuple(beside),
        table=Table(
            columns=("cause", "time", "share", "most of it at", "most began at"),
            rows=tuple(cells for _, cells in shown),
            words=frozenset(("most of it at", "most began at")),
        ),
        sections=(Section(title="All parts", tables=(parts,)),),
        data=_data(breakdown),
    )


def _row(cause: str, parts: Sequence[Part], breakdown: Why) -> tuple[int, tuple[str, ...]]:
    """Return the time of a cause in picoseconds, and its row."""
    whole = sum(part.time_ps for part in parts)
    port, origin = (_largest(parts, field, breakdown) for field in ("port", "origin"))
    share = share_text(whole / max(breakdown.fct_ps, 1))
    return whole, (cause, time_text(whole / 1e6), share, port, origin)


def _largest(parts: Sequence[Part], field: str, breakdown: Why) -> str:
    """Return the port, or the origin of pauses, with most of a cause's time; empty if it has none."""
    sums: dict[str, int] = {}
    for part in parts:
        name = getattr(part, field)
        if name is not None:
            sums[name] = sums.get(name, 0) + part.time_ps
    return breakdown.short(max(sums, key=sums.__getitem__)) if sums else ""


def _data(breakdown: Why) -> dict[str, Any]:
    """Return the breakdown for JSON, without what the results already contain of the flow."""
    return {
        **fields_of(breakdown, "flow_id", "start_us", "fct_us", "fct_ps"),
        "ideal_fct_us": breakdown.ideal_fct_ps / 1e6,
        "slowdown": breakdown.slowdown,
        "sentence": breakdown.sentence(),
        "parts": [{**asdict(part), "share": part.time_ps / breakdown.fct_ps} for part in breakdown.parts],
    }


#: Suffix of a job's name.
SKIPS_SUFFIX = ":skips"
SKIP_COLUMNS = ("skipped", "repeat", "their time (us)")
COLUMNS = ("parts", "that differ", "the first", "its field", "before", "now")


def skips_of(result: Result, name: str) -> Document | None:
    """Return what was skipped of a job, or what prevented it; None for a name without `:skips`.

    Raises
    ------
    UnknownNameError
        If the run has no such job.
    InputError
        If the run has no record of it: its job has one iteration, the run skipped iterations of other jobs
        alone, or it was run with `--no-skip`.
    """
    job, suffix, rest = name.rpartition(SKIPS_SUFFIX)
    if not suffix or rest:
        return None
    outcome = result.outcome
    jobs = [row.workload for row in outcome.jobs]
    if job not in jobs:
        jobs_text = f"the run has {', '.join(jobs)}" if jobs else "the run has none"
        raise UnknownNameError(f"{job!r} is no job: {jobs_text}", key="name", given=name)
    document = _document_of_skips(outcome, job)
    not_skipped = outcome.not_skipped
    is_of_job = outcome.skips_of(job) or (not_skipped is not None and not_skipped.workload == job)
    # The operations of a large job are many, so they are read only where the record is of another job.
    if document is None or (not is_of_job and _is_single(result, job)):
        raise InputError(_without_record(result, job), key="name", given=name)
    return document


def _is_single(result: Result, job: str) -> bool:
    """Whether a job has one iteration, and no micro-batches that could repeat one another."""
    totals = next(row for row in result.outcome.jobs if row.workload == job)
    if totals.iterations:
        return totals.iterations == 1 and not totals.micro_batches
    # Results of earlier versions: operations of one iteration are all that there is of it.
    operations = result.operations
    return operations is not None and set(operations.filter(pl.col("workload") == job)["iteration"]) == {0}


def _without_record(result: Result, job: str) -> str:
    """Say why the run has no record of what it skipped of a job."""
    if result.run.scenario.get("scenario", {}).get("engine", {}).get("skip") is False:
        return "skips were switched off (engine.skip = false, or --no-skip): all was simulated"
    if _is_single(result, job):
        return f"the run has one iteration of {job}, of which nothing could repeat"
    others = dict.fromkeys(row.workload for row in result.outcome.skipped)
    skipped = "; ".join(filter(None, map(result.outcome.skip_sentence, others)))
    if skipped:
        reason = "a run has a reason only where it skipped none of any job"
        return f"nothing of {job} was skipped; {skipped}; {reason}"
    return f"the run has no record of what it skipped of {job}"


def _document_of_skips(outcome: Outcome, job: str) -> Document | None:
    skips, not_skipped = outcome.skips_of(job), outcome.not_skipped
    title = f"{job}, what repeats"
    sentence = outcome.skip_sentence(job)
    if sentence is not None:
        data = {
            "iterations": sum(skipped.iterations for skipped in skips),
            "of": skips[0].of,
            "micro_batches": sum(skipped.micro_batches for skipped in skips),
            "time_us": sum(skipped.time_ps for skipped in skips) / 1e6,
        }
        parts = tuple((f"{part.count:,}", part.recurring, f"{part.time_ps / 1e6:,.1f}") for part in skips)
        table = (
            Table(columns=SKIP_COLUMNS, rows=parts, words=frozenset({"repeat"})) if len(parts) > 1 else None
        )
        return Document(title=title, answer=sentence, table=table, data=data)
    if not_skipped is None:
        return None
    # The state that recurs is that of the whole network, so the reason holds for all jobs.
    is_named = not_skipped.workload == job
    rows = tuple(
        (row.parts, f"{row.differing:,} of {row.of:,}", row.first, row.field, row.before, row.now)
        for row in not_skipped.differences
    )
    times = "once" if not_skipped.looks == 1 else f"{not_skipped.looks:,} times"
    looked = f"the state of the network was written down {times}"
    notes = ("before and now: the last two comparisons; times count from them",) if rows else ()
    return Document(
        title=title,
        answer=not_skipped.sentence if is_named else f"nothing of {job} was skipped; {not_skipped.sentence}",
        more=(looked,),
        table=Table(columns=COLUMNS, rows=rows, words=frozenset(COLUMNS[2:]), notes=notes),
        data={
            "iterations": 0,
            **({"of": not_skipped.of} if is_named else {"job": not_skipped.workload}),
            "looks": not_skipped.looks,
            "why": not_skipped.why,
            "differences": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
        },
    )
