"""`floodway validate` of a folder of reference times of jobs."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from floodway.cli.exits import DONE, FAILED, INTERRUPTED
from floodway.cli.output import echo
from floodway.cli.show_document import table_of
from floodway.cli.terminal import Terminal
from floodway_lab.cli.conducted import conducted, print_json, refuse
from floodway_lab.cli.show_validation import WIDTH
from floodway_lab.validation.jobs import JobsValidation, document, validate_jobs
from floodway_lab.validation.jobs.report import BLOCK, COLUMNS, cells_of_set, failure, summary, write_report
from floodway_lab.validation.page import page_text

if TYPE_CHECKING:
    from floodway_lab.cli.validate import Request

__all__ = ["run"]

TEXT_COLUMNS = ("set", "not to be met")


def run(request: Request) -> int:
    """Run the rows, compare, print; returns the exit code."""
    refuse(request, (("--plot", request.plot), ("--other-build", request.other_build)), "times of jobs")
    if request.report is not None:
        # An error before the first run if it cannot be written.
        page_text(request.report, BLOCK)
    validation = conducted(request, validate_jobs)
    if validation is None:
        return INTERRUPTED
    _print(request, validation)
    for row in validation.failed:
        echo(f"error: {failure(row)}", err=True)
    if not any(each.judged for each in validation.sets):
        echo("warning: no row can be met, so nothing was compared", err=True)
    return FAILED if validation.failed else DONE


def _print(request: Request, validation: JobsValidation) -> None:
    if request.report is not None:
        write_report(validation, request.report)
    if request.json:
        print_json(request, document(validation))
    elif not request.quiet:
        _show(validation, sys.stdout, verbose=request.verbose)
        echo(f"numbers: {request.out}/")
        if request.report is not None:
            echo(str(request.report))


def _show(validation: JobsValidation, stream: TextIO, *, verbose: bool) -> None:
    console = Terminal(stream)
    if not console.is_terminal:
        console.width = WIDTH
    table = table_of("", COLUMNS, text_columns=TEXT_COLUMNS)
    for each in validation.sets:
        table.add_row(*cells_of_set(each), style="red" if each.failed else None)
    console.print(table)
    for each in validation.sets:
        for reason, count in each.reasons.items():
            console.print(f"{each.name}: {count:,} rows not to be met: {reason}", soft_wrap=True)
        for row in each.judged if verbose else ():
            console.print(f"  {'met' if row.met else 'NOT MET'}: {failure(row)}", soft_wrap=True)
    console.print()
    console.print(summary(validation), soft_wrap=True)
