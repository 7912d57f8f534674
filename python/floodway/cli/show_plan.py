"""A plan on the terminal: the answer, its numbers, what runs showed, formulas, and warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from floodway.cli.show import table_of
from floodway.cli.terminal import Terminal
from floodway.planning.answer import answers, asked, notes, warnings
from floodway.planning.tables import WORDS, tables

if TYPE_CHECKING:
    from floodway.planning.planner import Plan

__all__ = ["show"]

#: Width of tables when the output is not a terminal.
WIDTH = 150


def show(plan: Plan, stream: TextIO) -> None:
    """Print a plan."""
    console = Terminal(stream)
    if not console.is_terminal:
        console.width = WIDTH
    console.print(asked(plan.question), soft_wrap=True)
    console.print()
    for line in answers(plan):
        console.print(line, soft_wrap=True)
    console.print()
    for each in tables(plan):
        table = table_of(each.title, each.columns, text_columns=WORDS)
        for row in each.rows:
            table.add_row(*row)
        console.print(table)
    for line in notes(plan):
        console.print(f"note: {line}", soft_wrap=True)
    for line in warnings(plan):
        console.print(f"warning: {line}", soft_wrap=True)
