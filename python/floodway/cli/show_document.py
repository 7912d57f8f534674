"""Documents on the terminal: answer, table, simulation, warnings; with `--full` all other tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from rich import box
from rich.table import Table
from rich.text import Text

from floodway.cli.output import echo_json, printable
from floodway.cli.terminal import Terminal
from floodway.common.documents.model import as_json, cell_of

if TYPE_CHECKING:
    from floodway.common.documents import Cell, Document, Section
    from floodway.common.documents import Table as DocumentTable

__all__ = ["print_answer", "show", "show_table"]

#: Width of tables when the output is not a terminal.
WIDTH = 80
#: Width of the tables of `--full`, when the output is not a terminal.
WIDTH_OF_ALL = 150
#: Styles of good and bad values.
STYLES = {"": "", "good": "green", "bad": "red"}
#: Lines of what was simulated, and warnings, that are shown without `--full`.
MOST_LINES, MOST_WARNINGS = 3, 6


def print_answer(document: Document, *, json_: bool, quiet: bool, full: bool) -> None:
    """Print a document by the options of a command: as JSON, as text, or not at all."""
    if json_:
        echo_json(as_json(document))
    elif not quiet:
        show(document, full=full)


def show(document: Document, stream: TextIO | None = None, *, full: bool = False) -> None:
    """Print a document."""
    console = Terminal(stream, width=WIDTH)
    _say(console, document.title)
    console.print()
    _say(console, document.answer)
    for line in document.more:
        _say(console, line)
    if document.table is not None:
        console.print()
        show_table(console, document.table)
    if document.simulated or document.warnings:
        console.print()
    for line in document.simulated[: None if full else MOST_LINES]:
        _say(console, line)
    _warn(console, document, most=None if full else MOST_WARNINGS)
    if not full:
        return
    if not console.is_terminal:
        console.width = WIDTH_OF_ALL
    for section in document.sections:
        if not section.is_empty:
            _section(console, section)


def _warn(console: Terminal, document: Document, *, most: int | None) -> None:
    """Print warnings, numbered if the table refers to them."""
    rows = () if document.table is None else (document.table.columns, *document.table.rows)
    marked = {number for row in rows for cell in row for number in cell_of(cell).marks}
    for number, warning in enumerate(document.warnings[:most], 1):
        _say(console, f"warning{f' [{number}]' if number in marked else ''}: {warning}")
    left = 0 if most is None else len(document.warnings) - most
    if left > 0:
        _say(console, f"{left} more warning{'s' * (left > 1)}: --full")


def show_table(console: Terminal, table: DocumentTable) -> None:
    """Print a table, if it has rows, with its notes."""
    if table.rows:
        console.print(_rich(table))
    for note in table.notes:
        _say(console, note)


def _rich(table: DocumentTable) -> Table:
    """Return a table as rich prints it."""
    shown = Table(
        title=table.title or None, title_justify="left", title_style="bold", box=box.SIMPLE, pad_edge=False
    )
    for number, head in enumerate(table.columns):
        words = table.is_words(number)
        shown.add_column(_text(cell_of(head)), justify="left" if words else "right", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(_text(cell), style=STYLES[cell.tone]) for cell in map(cell_of, row)))
    return shown


def _section(console: Terminal, section: Section) -> None:
    console.print()
    _say(console, f"{section.title}:")
    for line in section.lines:
        _say(console, line)
    for table in section.tables:
        if table.rows:
            show_table(console, table)
    for line in section.verbatim:
        console.print(line, soft_wrap=True)


def _say(console: Terminal, line: str) -> None:
    """Print a line, which is wrapped on a terminal only."""
    console.print(line, soft_wrap=not console.is_terminal)


def _text(cell: Cell) -> str:
    marks = "".join(f" [{number}]" for number in cell.marks)
    return printable(f"{cell.text}{marks} ({cell.detail})" if cell.detail else f"{cell.text}{marks}")
