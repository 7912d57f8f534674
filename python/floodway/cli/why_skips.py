"""The document of `floodway why RUN JOB:skips`: which iterations of a job were simulated, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from floodway.common.documents import Document, Table
from floodway.common.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from floodway.results import Outcome, Result

__all__ = ["skips_of"]

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
    document = _document(outcome, job)
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


def _document(outcome: Outcome, job: str) -> Document | None:
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
