"""Documents: the answer of a command in one form, which the terminal, pages and JSON show.

A command makes a `Document`. `cli/show_document.py` prints it, `html.py` makes pages of it, `as_json` makes
what `--json` prints, and `table_files.py` makes files of its table.
"""

from floodway.common.documents.model import Cell, Document, Picture, Section, Table, Tone, as_json
from floodway.common.documents.readable import four_digits, reading, share_text, size_text, time_text

__all__ = [
    "Cell",
    "Document",
    "Picture",
    "Section",
    "Table",
    "Tone",
    "as_json",
    "four_digits",
    "reading",
    "share_text",
    "size_text",
    "time_text",
]
