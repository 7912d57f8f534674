"""The table of a document as files for papers and pages: LaTeX and Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from floodway.common.documents.model import TABLE_FILES, cell_of
from floodway.common.markdown import plain, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from floodway.common.documents.model import Document, Table

__all__ = ["latex", "table_files"]

_OF_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "±": r"$\pm$",
    "<": r"$<$",
    ">": r"$>$",
}


def table_files(document: Document) -> dict[str, str]:
    """Return the texts of the files, by their names; none where the document has no table."""
    contents = document.table
    if contents is None:
        return {}
    return dict(
        zip(
            TABLE_FILES,
            (_markdown(document, contents), latex(contents, comment=document.answer)),
            strict=True,
        )
    )


def _markdown(document: Document, contents: Table) -> str:
    head, *rows = _lines(contents)
    numbers = [name for at, name in enumerate(head) if not contents.is_words(at)]
    notes = "".join(f"\n\n{plain(note)}" for note in contents.notes)
    return f"{plain(document.answer)}\n\n{table(head, rows, numbers=numbers)}{notes}\n"


def latex(contents: Table, *, comment: str) -> str:
    """Return a table as a `tabular` of LaTeX, below a comment."""
    sides = "".join("l" if contents.is_words(at) else "r" for at in range(len(contents.columns)))
    head, *rows = [" & ".join(map(_escaped, line)) + r" \\" for line in _lines(contents)]
    begin = (f"% {' '.join(comment.split())}", rf"\begin{{tabular}}{{{sides}}}", r"\hline", head, r"\hline")
    return "\n".join((*begin, *rows, r"\hline", r"\end{tabular}", ""))


def _lines(contents: Table) -> Iterator[list[str]]:
    """Return the heads and the rows, each cell with its detail behind it."""
    for row in (contents.columns, *contents.rows):
        cells = map(cell_of, row)
        yield [f"{cell.text} ({cell.detail})" if cell.detail else cell.text for cell in cells]


def _escaped(text: str) -> str:
    return re.sub(r"[\\~^&%$#_{}±<>]", lambda match: _OF_LATEX[match[0]], " ".join(text.split()))
