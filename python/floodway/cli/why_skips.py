"""The document of `floodway why RUN JOB:skips`: which iterations of a job were simulated, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
        If the run has no record of it: its job has one iteration, or it was run with `--no-skip`.
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
    if document is None:
        message = (
            f"the run does not say what it skipped of {job}: it has one iteration, another job has more, "
            "or skips were switched off"
        )
        raise InputError(message, key="name", given=name)
    return document


def _document(outcome: Outcome, job: str) -> Document | None:
    skips, not_skipped = outcome.skips_of(job), outcome.not_skipped
    title = f"{job}, iterations that repeat"
    sentence = outcome.skip_sentence(job)
    if sentence is not None:
        data = {
            "iterations": sum(skipped.iterations for skipped in skips),
            "of": skips[0].of,
            "time_us": sum(skipped.time_ps for skipped in skips) / 1e6,
        }
        parts = tuple(
            (f"{part.iterations:,}", part.recurring, f"{part.time_ps / 1e6:,.1f}") for part in skips
        )
        table = (
            Table(columns=SKIP_COLUMNS, rows=parts, words=frozenset({"repeat"})) if len(parts) > 1 else None
        )
        return Document(title=title, answer=sentence, table=table, data=data)
    if not_skipped is None or not_skipped.workload != job:
        return None
    rows = tuple(
        (row.parts, f"{row.differing:,} of {row.of:,}", row.first, row.field, row.before, row.now)
        for row in not_skipped.differences
    )
    looked = f"the state of the network was compared {not_skipped.looks:,} times with earlier ones"
    notes = ("before and now: the last two comparisons; times count from them",) if rows else ()
    return Document(
        title=title,
        answer=not_skipped.sentence,
        more=(looked,),
        table=Table(columns=COLUMNS, rows=rows, words=frozenset(COLUMNS[2:]), notes=notes),
        data={
            "iterations": 0,
            "of": not_skipped.of,
            "looks": not_skipped.looks,
            "why": not_skipped.why,
            "differences": [dict(zip(COLUMNS, row, strict=True)) for row in rows],
        },
    )
