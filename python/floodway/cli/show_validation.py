"""A validation on the terminal: a line for each configuration, and one for each number where it fails."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from floodway.cli.show import table_of
from floodway.cli.terminal import Terminal
from floodway.validation.formatting import allowed, difference, headline, number, ours, shown_rows
from floodway.validation.overview import COLUMNS as OVERVIEW
from floodway.validation.overview import overview_row, summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from floodway.validation import Judged, Validation

__all__ = ["show"]

#: Columns where nobody looks on; a terminal's own width else.
WIDTH = 140
#: From so many columns on, names of cases stand in one line.
WIDTH_OF_NAMES = 100
COLUMNS = ("configuration", "what", "reference", "ours (of seeds)", "difference", "allowed", "verdict")
WORDS = ("case/configuration", "configuration", "what", "allowed", "verdict")
#: So many flows that one side lacks are named.
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
    for judged in validation.cases:
        if judged.not_run:
            console.print(f"{judged.case.label}: not run: {judged.not_run}", soft_wrap=True)
    long = [judged for judged in validation.cases if judged.rows and (verbose or judged.verdict == "fail")]
    for name, cases in groupby(long, key=lambda judged: judged.case.name):
        own = list(cases)
        console.print()
        console.print(_table(name, own, verbose=verbose))
        for line in _notes(own):
            console.print(line, soft_wrap=True)
    console.print()
    counts = ", ".join(f"{count} {verdict}" for verdict, count in validation.counts.items())
    console.print(f"{len(validation.cases)} configurations: {counts}; {summary(validation.cases)}")


def _overview(cases: Sequence[Judged]) -> Table:
    table = table_of("", OVERVIEW, words=WORDS)
    for judged in cases:
        *cells, verdict = overview_row(judged)
        failed = verdict == "fail"
        table.add_row(*cells, "FAIL" if failed else verdict, style="red" if failed else None)
    return table


def _table(name: str, cases: Sequence[Judged], *, verbose: bool) -> Table:
    """Show every number, or those which fail."""
    table = table_of(name, COLUMNS, words=WORDS)
    for judged in cases:
        for row in shown_rows(judged):
            if not verbose and row.verdict != "fail":
                continue
            cells = (number(row.reference, row.unit), ours(row), difference(row), allowed(row.limit))
            mark = "FAIL" if row.verdict == "fail" else row.verdict
            table.add_row(judged.case.tag, row.label, *cells, mark, style="red" if mark == "FAIL" else None)
        table.add_section()
    return table


def _notes(cases: Sequence[Judged]) -> Iterator[str]:
    for judged in cases:
        wall = sum(judged.wall_s) / len(judged.wall_s)
        yield f"{headline(judged)}; {wall:.2f} s a run: {judged.verdict}"
        if judged.first is not None:
            yield f"  first difference {judged.first}"
        for line in judged.unmatched(MOST_NAMED):
            yield f"  {line}"
        few = [row.label for row in judged.rows if row.limit is None and row.note]
        if few:
            yield f"  {len(few)} more numbers of few flows, frames or samples are in validate.json"
