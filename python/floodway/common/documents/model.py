"""The parts of a document, in the order in which every renderer shows them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "MOST_ROWS",
    "TABLE_FILES",
    "Cell",
    "Document",
    "Picture",
    "Section",
    "Table",
    "Tone",
    "as_json",
    "cell_of",
    "fields_of",
]

#: Whether a number or an answer is what its reader wants: a page has a tick and a colour for it.
Tone = Literal["", "good", "bad"]
#: Most rows of the table below an answer; more are in a section.
MOST_ROWS = 8
#: Files of that table beside a page.
TABLE_FILES = ("table.md", "table.tex")


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture: its file's name, what it shows, and its bytes."""

    file: str
    caption: str
    png: bytes


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text
        What it says, with its unit.
    detail
        What is behind it in smaller letters, such as a difference.
    tone
        Whether that is what a reader wants.
    marks
        Numbers of the document's warnings that concern it, from 1 on.
    """

    text: str
    detail: str = ""
    tone: Tone = ""
    marks: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table.

    Attributes
    ----------
    columns
        Their heads.
    rows
        As many cells each; the first one names the row.
    title
        What it is about; empty where the section says it.
    words
        Heads of the columns that hold words, beside the first; the others hold numbers.
    notes
        Lines that explain it, below it.
    """

    columns: tuple[Cell | str, ...]
    rows: tuple[tuple[Cell | str, ...], ...]
    title: str = ""
    words: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    def is_words(self, column: int) -> bool:
        """Whether a column holds words."""
        return column == 0 or cell_of(self.columns[column]).text in self.words

    def shortened(self, more: str, where: str = "--full") -> Table:
        """Return its first rows as the table of an answer; `more` names the others, `where` has them."""
        left = len(self.rows) - MOST_ROWS
        notes = (*self.notes, f"{left:,} {more}: {where}") if left > 0 else self.notes
        return replace(self, rows=self.rows[:MOST_ROWS], notes=notes)


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part behind the answer: folded on a page, and on the terminal with `--full` alone.

    Attributes
    ----------
    title
        Its heading.
    lines
        Sentences.
    tables
        Behind them.
    verbatim
        Lines whose columns are apart by blanks, as another program prints them.
    """

    title: str
    lines: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    verbatim: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it has nothing to show."""
        return not (self.lines or self.verbatim or any(table.rows for table in self.tables))


@dataclass(frozen=True, kw_only=True)
class Document:
    """The answer of a command.

    Attributes
    ----------
    title
        What was asked.
    answer
        The answer in one sentence.
    tone
        Whether it is what was hoped for.
    more
        Further sentences of the answer.
    table
        The numbers that show it, at most `MOST_ROWS` rows; None without numbers.
    simulated
        What was simulated, a line for each part.
    warnings
        What a reader must know; a cell's `marks` number them.
    sections
        All else.
    data
        All numbers and texts, for programs.
    """

    title: str
    answer: str
    tone: Tone = ""
    more: tuple[str, ...] = ()
    table: Table | None = None
    simulated: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)


def as_json(document: Document) -> dict[str, Any]:
    """Return a document for programs: the answer, and all numbers."""
    return {"answer": document.answer, **document.data}


def cell_of(cell: Cell | str) -> Cell:
    """Return a text as a cell, and a cell as it is."""
    return cell if isinstance(cell, Cell) else Cell(text=cell)


def fields_of(value: object, *names: str) -> dict[str, Any]:
    """Return attributes of an object by their names, for the data of a document."""
    return {name: getattr(value, name) for name in names}
