"""Documents: what a command answers, in one form that the terminal, pages and JSON show.

A command makes a `Document`. `cli/show_document.py` prints it, `page` and `body` make HTML of it, `as_json`
makes what `--json` prints, and `table_files` makes files of its table.
"""

from floodway.documents.html import PAGE_WIDTH_IN, body, page
from floodway.documents.model import Cell, Document, Picture, Section, Table, Tone, as_json
from floodway.documents.readable import reading, share_text, size_text, time_text
from floodway.documents.table_files import table_files

__all__ = [
    "PAGE_WIDTH_IN",
    "Cell",
    "Document",
    "Picture",
    "Section",
    "Table",
    "Tone",
    "as_json",
    "body",
    "page",
    "reading",
    "share_text",
    "size_text",
    "table_files",
    "time_text",
]
