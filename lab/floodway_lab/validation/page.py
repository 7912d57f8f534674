"""Blocks of pages of the documentation that validations write, each between two comments."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from floodway.common.errors import OutputError, unwritable
from floodway.results.files import new_folder, replace_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["marks", "page_text", "write_block"]


def marks(name: str) -> tuple[str, str]:
    """Return the comments before and after a block."""
    return f"<!-- begin: {name} -->", f"<!-- end: {name} -->"


def page_text(page: Path, name: str) -> str:
    """Return the text of a page, or a heading and the marks if it does not exist.

    Raises
    ------
    OutputError
        If it is not in Markdown, not readable, or without the marks.
    """
    shown, (begin, end) = os.fspath(page), marks(name)
    if page.suffix != ".md":
        raise OutputError(shown, "is not a page: its name does not end with .md")
    try:
        text = page.read_text(encoding="utf-8") if page.exists() else f"# Validation\n\n{begin}\n{end}\n"
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(shown, f"cannot be read: {error}") from error
    if begin not in text or end not in text[text.index(begin) :]:
        raise OutputError(shown, f"has no lines {begin} and {end} between which to write")
    return text


def write_block(page: Path, name: str, block: str) -> None:
    """Write a block into a page, between its marks.

    Raises
    ------
    OutputError
        If the page cannot be read or written, or has no marks.
    """
    before, (begin, end) = page_text(page, name), marks(name)
    marked = re.compile(re.escape(begin) + ".*?" + re.escape(end), flags=re.DOTALL)
    text = marked.sub(lambda _: f"{begin}\n{block}\n{end}", before, count=1)
    try:
        with new_folder(page.parent):
            replace_file(page, text.encode())
    except OSError as error:
        raise unwritable(page, error) from error
