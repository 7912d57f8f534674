"""Documents as HTML: a self-contained page, and a fragment for notebooks."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING

from floodway.common.documents.model import cell_of
from floodway.common.pages import environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from jinja2 import Environment

    from floodway.common.documents.model import Cell, Document, Picture

__all__ = ["PAGE_WIDTH_IN", "body", "page"]

#: Inches of the layout of a page's pictures: their letters can be read on a telephone, too.
PAGE_WIDTH_IN = 5.0


def page(
    document: Document, pictures: Sequence[Picture], *, links: Mapping[str, str] | None = None, foot: str = ""
) -> str:
    """Return a page.

    Parameters
    ----------
    document
        What it shows.
    pictures
        Which it has inside; the first one is the one that shows the answer.
    links
        Files beside the page, by what they are called.
    foot
        A line at its end.
    """
    return _rendered("page.html.jinja", document, pictures, links=links or {}, foot=foot)


def body(document: Document) -> str:
    """Return a document as a fragment for notebooks: the page without pictures and style."""
    return _rendered("body.html.jinja", document, (), links={}, foot="")


def _rendered(
    template: str, document: Document, pictures: Sequence[Picture], *, links: Mapping[str, str], foot: str
) -> str:
    return (
        _environment()
        .get_template(template)
        .render(
            document=document,
            pictures=[(picture, b64encode(picture.png).decode()) for picture in pictures],
            links=links,
            foot=foot,
        )
    )


def _environment() -> Environment:
    templates = environment("floodway.common.documents")
    templates.globals |= {"cell_of": cell_of, "mark": _mark}
    return templates


def _mark(cell: Cell) -> str:
    """Return what marks the tone of a cell for those who see no colours."""
    return {"good": "✓ ", "bad": "✗ "}.get(cell.tone, "")
