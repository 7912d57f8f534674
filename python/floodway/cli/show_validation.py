"""A validation on the terminal: a table for each case, a line for each number."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from rich.console import Console

from floodway.cli.show import table_of
from floodway.validation.words import allowed, difference, headline, number, ours, shown_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.table import Table

    from floodway.validation import Judged, Validation

__all__ = ["show"]

#: Columns where nobody looks on; a terminal's own width else.
WIDTH = 140
COLUMNS = ("configuration", "what", "reference", "ours (of seeds)", "difference", "allowed", "verdict")
WORDS = ("configuration", "what", "allowed", "verdict")
#: So many flows that one side lacks are named.
MOST_NAMED = 5


def show(validation: Validation, stream: TextIO) -> None:
    """Print a table for each case, what is left out, and how many configurations pass."""
    console = Console(file=stream, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = WIDTH
    for name, cases in groupby(validation.cases, key=lambda judged: judged.case.name):
        own = list(cases)
        console.print(_table(name, own))
        for line in _notes(own):
            console.print(line, soft_wrap=True)
        console.print()
    counts = ", ".join(f"{count} {verdict}" for verdict, count in validation.counts.items())
    wall = sum(sum(judged.wall_s) for judged in validation.cases)
    runs = sum(len(judged.seeds) for judged in validation.cases)
    console.print(f"{len(validation.cases)} configurations: {counts}; {runs} runs of {wall:.1f} s in all")


def _table(name: str, cases: Sequence[Judged]) -> Table:
    table = table_of(name, COLUMNS, words=WORDS)
    for judged in cases:
        if judged.not_run:
            table.add_row(judged.case.tag, "", "", "", "", "", "not run")
        for row in shown_rows(judged):
            cells = (number(row.reference, row.unit), ours(row), difference(row), allowed(row.limit))
            mark = "FAIL" if row.verdict == "fail" else row.verdict
            table.add_row(judged.case.tag, row.label, *cells, mark, style="red" if mark == "FAIL" else None)
        table.add_section()
    return table


def _notes(cases: Sequence[Judged]) -> Iterator[str]:
    for judged in cases:
        if judged.not_run:
            yield f"{judged.case.tag}: not run: {judged.not_run}"
            continue
        wall = sum(judged.wall_s) / len(judged.wall_s)
        yield f"{headline(judged)}; {wall:.2f} s a run: {judged.verdict}"
        for line in judged.unmatched(MOST_NAMED):
            yield f"  {line}"
        few = [row.label for row in judged.rows if row.limit is None and row.note]
        if few:
            yield f"  {len(few)} more numbers of few flows, frames or samples are in validate.json"
