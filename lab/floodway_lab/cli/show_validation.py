"""A validation as a document: a row for each configuration, and behind them every number."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from floodway.common.documents import Cell, Document, Section, Table
from floodway.results.quantities import counted
from floodway_lab.validation import document
from floodway_lab.validation.formatting import allowed, difference, headline, number, ours, shown_rows
from floodway_lab.validation.overview import COLUMNS as OVERVIEW
from floodway_lab.validation.overview import overview_row, summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from floodway_lab.validation import CaseResult, Validation

__all__ = ["answer", "verdict_cell"]

COLUMNS = ("configuration", "what", "reference", "ours (of seeds)", "difference", "allowed", "verdict")
TEXT_COLUMNS = frozenset(("what", "allowed", "verdict"))
#: Columns of the overview in the table of the answer.
BRIEF = tuple(map(OVERVIEW.index, ("case/configuration", "flows", "largest difference", "verdict")))
#: Number of unmatched flows that are named, and of first differences that are in the answer.
MOST_NAMED, MOST_FIRST = 5, 3


def answer(folder: Path, validation: Validation) -> Document:
    """Return how many configurations pass, those that fail first, and behind them every number."""
    cases = validation.cases
    counts = ", ".join(f"{count} {verdict}" for verdict, count in validation.counts.items())
    rows = [_overview(result) for result in sorted(cases, key=lambda result: result.verdict != "fail")]
    brief = tuple(tuple(row[column] for column in BRIEF) for row in rows)
    first = [f"{result.case.label}: first difference {result.first}" for result in cases if result.first]
    numbers = (
        Section(title=name, lines=tuple(_notes(results)), tables=(_numbers(results),))
        for name, results in (
            (name, list(group)) for name, group in groupby(cases, key=lambda result: result.case.name)
        )
    )
    return Document(
        title=f"{folder}: held against the results of the HPCC simulator",
        answer=f"{counted(len(cases), 'configuration')}: {counts}; {summary(cases)}",
        tone="bad" if validation.verdict == "fail" else "good",
        more=tuple(first[:MOST_FIRST]),
        table=Table(
            columns=tuple(OVERVIEW[column] for column in BRIEF), rows=brief, words=TEXT_COLUMNS
        ).shortened("more configurations"),
        warnings=tuple(
            f"{result.case.label}: not run: {result.not_run}" for result in cases if result.not_run
        ),
        sections=(
            Section(
                title="All configurations",
                tables=(Table(columns=OVERVIEW, rows=tuple(rows), words=TEXT_COLUMNS),),
            ),
            *numbers,
        ),
        data=document(validation),
    )


def verdict_cell(text: str) -> Cell:
    """Return a verdict as a cell of a table."""
    return Cell(text=text, tone="bad" if text == "fail" else "good" if text.startswith("pass") else "")


def _overview(result: CaseResult) -> tuple[Cell | str, ...]:
    *cells, verdict = overview_row(result)
    return *cells, verdict_cell(verdict)


def _numbers(cases: Sequence[CaseResult]) -> Table:
    """Return every number of a case's configurations."""
    rows = (
        (
            result.case.tag,
            row.label,
            *(number(row.reference, row.unit), ours(row), difference(row), allowed(row.limit)),
            verdict_cell(row.verdict),
        )
        for result in cases
        for row in shown_rows(result)
    )
    return Table(columns=COLUMNS, rows=tuple(rows), words=TEXT_COLUMNS)


def _notes(cases: Sequence[CaseResult]) -> Iterator[str]:
    for result in cases:
        if not result.rows:
            continue
        wall = sum(result.wall_s) / len(result.wall_s)
        yield f"{headline(result)}; {wall:.2f} s a run: {result.verdict}"
        if result.first is not None:
            yield f"  first difference {result.first}"
        for line in result.unmatched(MOST_NAMED):
            yield f"  {line}"
        few = [row.label for row in result.rows if row.limit is None and row.note]
        if few:
            yield f"  {len(few)} more numbers of few flows, frames or samples are in validate.json"
