"""A validation of jobs as a table: a row for each set, for terminals and pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.markdown import plain, table
from floodway_lab.validation.page import write_block

if TYPE_CHECKING:
    from pathlib import Path

    from floodway_lab.validation.jobs.rows import Row
    from floodway_lab.validation.jobs.validation import JobsValidation, Set

__all__ = ["BLOCK", "COLUMNS", "cells_of_set", "failure", "summary", "write_report"]

#: The name of the block of a page.
BLOCK = "jobs"
COLUMNS = ("set", "rows", "met", "not met", "not to be met", "greatest difference", "allowed there")
NO_VALUE = "-"


def cells_of_set(job_set: Set) -> tuple[str, ...]:
    """Return the cells of `COLUMNS`; differences of our time are in parts of the reference's."""
    greatest = job_set.greatest
    return (
        job_set.name,
        f"{len(job_set.rows):,}",
        f"{len(job_set.judged) - len(job_set.failed):,}",
        f"{len(job_set.failed):,}",
        f"{sum(job_set.reasons.values()):,}",
        NO_VALUE if greatest is None else f"{greatest.difference:+.2%}",
        NO_VALUE if greatest is None else f"{greatest.allowed:+.2%}",
    )


def failure(row: Row) -> str:
    """Return the text of a row: its name, our time and the allowed times."""
    if row.expected is None or row.ours_ns is None:
        return row.label
    bounds = f"{row.expected.least_ns:,.0f} to {row.expected.most_ns:,.0f} ns"
    return (
        f"{row.label}: {row.ours_ns:,.0f} ns, allowed {bounds} (reference {row.expected.reference_ns:,.0f})"
    )


def summary(validation: JobsValidation) -> str:
    """Return the number of rows that are met, as text."""
    judged = sum(len(job_set.judged) for job_set in validation.sets)
    met = judged - len(validation.failed)
    return f"{met:,} of {judged:,} rows that a packet simulator can meet are met; runs: {validation.runs:,}"


def write_report(validation: JobsValidation, page: Path) -> None:
    """Write the table, and the reasons why rows cannot be met, into a page.

    Raises
    ------
    OutputError
        If the page cannot be read or written, or has no marks.
    """
    sets = table(COLUMNS, map(cells_of_set, validation.sets))
    failed = [f"- not met: {plain(failure(row))}" for row in validation.failed]
    reasons = [
        (job_set.name, reason, f"{count:,}")
        for job_set in validation.sets
        for reason, count in job_set.reasons.items()
    ]
    parts = [sets, f"{summary(validation)}.", "\n".join(failed)]
    parts.append(table(("set", "not to be met", "rows"), reasons) if reasons else "")
    write_block(page, BLOCK, "\n\n".join(part for part in parts if part))
