"""`floodway validate` of a folder of reference times of jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.cli.output import DONE, FAILED, INTERRUPTED, echo
from floodway.common.documents import Document, Section, Table
from floodway_lab.cli.conducted import conducted, print_validation, refuse
from floodway_lab.validation.jobs import JobsValidation, document, validate_jobs
from floodway_lab.validation.jobs.report import BLOCK, COLUMNS, cells_of_set, failure, summary, write_report
from floodway_lab.validation.page import page_text

if TYPE_CHECKING:
    from pathlib import Path

    from floodway_lab.cli.validate import Request

__all__ = ["run"]


def run(request: Request) -> int:
    """Run the rows, compare, print; returns the exit code."""
    refuse(request, (("--plot", request.plot), ("--other-build", request.other_build)), "times of jobs")
    if request.report is not None:
        # An error before the first run if it cannot be written.
        page_text(request.report, BLOCK)
    validation = conducted(request, validate_jobs)
    if validation is None:
        return INTERRUPTED
    if request.report is not None:
        write_report(validation, request.report)
    written = () if request.report is None else (request.report,)
    print_validation(request, _answer(request.folder, validation), written)
    for row in validation.failed:
        echo(f"error: {failure(row)}", err=True)
    if not any(job_set.judged for job_set in validation.sets):
        echo("warning: no row can be met, so nothing was compared", err=True)
    return FAILED if validation.failed else DONE


def _answer(folder: Path, validation: JobsValidation) -> Document:
    """Return how many rows are met, a row for each set, and behind them every row."""
    sets = validation.sets
    return Document(
        title=f"{folder}: held against times of other simulators",
        answer=summary(validation),
        tone="bad" if validation.failed else "good",
        table=Table(columns=COLUMNS, rows=tuple(map(cells_of_set, sets))),
        sections=(
            Section(
                title="Not to be met",
                lines=tuple(
                    f"{job_set.name}, {count:,} rows: {reason}"
                    for job_set in sets
                    for reason, count in job_set.reasons.items()
                ),
            ),
            *(
                Section(
                    title=job_set.name,
                    lines=tuple(
                        f"{'met' if row.met else 'NOT MET'}: {failure(row)}" for row in job_set.judged
                    ),
                )
                for job_set in sets
            ),
        ),
        data=document(validation),
    )
