"""A comparison on the terminal: a table with one column per variant, and the findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from floodway.cli.show import WIDTH, table_of
from floodway.cli.terminal import Terminal
from floodway.comparison.formatting import CellText, cell_text, notes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from floodway.comparison import Comparison

__all__ = ["show"]

#: Columns that the name of a number takes, and the least that a variant takes.
NAME_WIDTH, VARIANT_WIDTH = 42, 26


def show(comparison: Comparison, stream: TextIO) -> None:
    """Print the numbers, their notes, the findings, and what `check` warns of."""
    console = Terminal(stream)
    if not console.is_terminal:
        console.width = max(WIDTH, NAME_WIDTH + VARIANT_WIDTH * len(comparison.labels))
    at_once = max(1, (console.width - NAME_WIDTH) // VARIANT_WIDTH)
    for begin in range(0, len(comparison.labels), at_once):
        numbers = range(begin, min(begin + at_once, len(comparison.labels)))
        console.print(_table(comparison, numbers))
    for note in notes(comparison):
        console.print(note, soft_wrap=True)
    console.print()
    for finding in comparison.findings:
        console.print(finding, soft_wrap=True)
    for warning in comparison.warnings:
        console.print(f"warning: {warning.whole}", soft_wrap=True)


def _table(comparison: Comparison, numbers: Sequence[int]) -> Table:
    title = f"{comparison.name}: differences are to {comparison.labels[0]}"
    table = table_of(title, ("number", *(comparison.labels[n] for n in numbers)), text_columns=("number",))
    for row in comparison.rows:
        table.add_row(row.label, *(_cell(cell_text(row, row.cells[n])) for n in numbers))
    table.add_row("verdict", *(comparison.verdicts[n] for n in numbers))
    return table


def _cell(cell: CellText) -> str:
    value = f"{cell.value} ({cell.change})" if cell.change else cell.value
    return f"{value}\n{cell.spread}" if cell.spread else value
