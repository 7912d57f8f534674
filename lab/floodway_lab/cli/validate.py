"""`floodway validate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.cli.output import DONE, FAILED, INTERRUPTED, echo
from floodway_lab.cli import validate_jobs, validate_uet
from floodway_lab.cli.conducted import conducted, print_validation
from floodway_lab.cli.show_validation import answer
from floodway_lab.validation import validate
from floodway_lab.validation.jobs import is_of_jobs
from floodway_lab.validation.page import page_text
from floodway_lab.validation.report import BLOCK, draw_into, write_report
from floodway_lab.validation.uet import is_of_uet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from floodway_lab.validation import Validation

__all__ = ["Request", "run"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of a call."""

    folder: Path
    seeds: int
    jobs: int | None
    quick: bool
    other_build: bool
    only: Sequence[str]
    out: Path
    plot: bool
    report: Path | None
    force: bool
    full: bool
    quiet: bool
    json: bool


def run(request: Request) -> int:
    """Run the cases, compare, print, draw; returns the exit code."""
    if is_of_jobs(request.folder):
        return validate_jobs.run(request)
    if is_of_uet(request.folder):
        return validate_uet.run(request)
    if request.report is not None:
        # An error before the first run if it cannot be written.
        page_text(request.report, BLOCK)
    validation = conducted(
        request,
        validate,
        unfinished=f"interrupted; completed runs are kept in {request.out}/",
        seeds=request.seeds,
        quick=request.quick,
        other_build=request.other_build,
    )
    if validation is None:
        return INTERRUPTED
    drawn = draw_into(validation.cases, request.out) if request.plot else []
    if request.report is not None:
        drawn += write_report(validation, request.report)
    print_validation(request, answer(request.folder, validation), drawn)
    return _verdict(validation)


def _verdict(validation: Validation) -> int:
    """Print failures on stderr, and return the exit code."""
    for failure in validation.failures:
        echo(f"error: {failure}", err=True)
    for result in validation.cases:
        if result.verdict == "fail":
            failed = [row.label for row in result.rows if row.verdict == "fail"]
            echo(f"error: {result.case.label}: {'; '.join(failed)}", err=True)
    if any(result.verdict == "fail" and result.kind == "equal" for result in validation.cases):
        echo("note: --other-build holds a reference of another build of that simulator to bounds", err=True)
    if validation.cases and all(result.not_run for result in validation.cases):
        echo("warning: no case has run, so nothing was compared", err=True)
    return FAILED if validation.verdict == "fail" else DONE
