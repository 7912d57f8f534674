"""A validation on the terminal: a line for each configuration, and one for each number where it fails."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from floodway.cli.show_document import table_of
from floodway.cli.terminal import Terminal
from floodway_lab.validation.formatting import allowed, difference, headline, number, ours, shown_rows
from floodway_lab.validation.overview import COLUMNS as OVERVIEW
from floodway_lab.validation.overview import overview_row, summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from floodway_lab.validation import CaseResult, Validation

__all__ = ["show"]

#: Width of tables when the output is not a terminal.
WIDTH = 140
#: From this many columns on, names of cases are in one line.
WIDTH_OF_NAMES = 100
COLUMNS = ("configuration", "what", "reference", "ours (of seeds)", "difference", "allowed", "verdict")
TEXT_COLUMNS = ("case/configuration", "configuration", "what", "allowed", "verdict")
#: Number of unmatched flows that are named.
MOST_NAMED = 5


def show(validation: Validation, stream: TextIO, *, verbose: bool) -> None:
    """Print a line for each configuration, what is left out, and how many configurations pass.

    Parameters
    ----------
    validation
        What was found.
    stream
        Where to.
    verbose
        Whether to show every number of every configuration, not only of those that fail.
    """
    console = Terminal(stream)
    if not console.is_terminal:
        console.width = WIDTH
    overview = _overview(validation.cases)
    # Names of cases are long, and headings can be folded.
    overview.columns[0].no_wrap = console.width >= WIDTH_OF_NAMES
    console.print(overview)
    for result in validation.cases:
        if result.not_run:
            console.print(f"{result.case.label}: not run: {result.not_run}", soft_wrap=True)
    long = [result for result in validation.cases if result.rows and (verbose or result.verdict == "fail")]
    for name, cases in groupby(long, key=lambda result: result.case.name):
        own = list(cases)
        console.print()
        console.print(_table(name, own, verbose=verbose))
        for line in _notes(own):
            console.print(line, soft_wrap=True)
    console.print()
    counts = ", ".join(f"{count} {verdict}" for verdict, count in validation.counts.items())
    console.print(f"{len(validation.cases)} configurations: {counts}; {summary(validation.cases)}")


def _overview(cases: Sequence[CaseResult]) -> Table:
    table = table_of("", OVERVIEW, text_columns=TEXT_COLUMNS)
    for result in cases:
        *cells, verdict = overview_row(result)
        failed = verdict == "fail"
        table.add_row(*cells, "FAIL" if failed else verdict, style="red" if failed else None)
    return table


def _table(name: str, cases: Sequence[CaseResult], *, verbose: bool) -> Table:
    """Show every number, or those which fail."""
    table = table_of(name, COLUMNS, text_columns=TEXT_COLUMNS)
    for result in cases:
        for row in shown_rows(result):
            if not verbose and row.verdict != "fail":
                continue
            cells = (number(row.reference, row.unit), ours(row), difference(row), allowed(row.limit))
            mark = "FAIL" if row.verdict == "fail" else row.verdict
            table.add_row(result.case.tag, row.label, *cells, mark, style="red" if mark == "FAIL" else None)
        table.add_section()
    return table


def _notes(cases: Sequence[CaseResult]) -> Iterator[str]:
    for result in cases:
        wall = sum(result.wall_s) / len(result.wall_s)
        yield f"{headline(result)}; {wall:.2f} s a run: {result.verdict}"
        if result.first is not None:
            yield f"  first difference {result.first}"
        for line in result.unmatched(MOST_NAMED):
            yield f"  {line}"
        few = [row.label for row in result.rows if row.limit is None and row.note]
        if few:
            yield f"  {len(few)} more numbers of few flows, frames or samples are in validate.json"
