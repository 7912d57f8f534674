"""Markdown that floodway writes: text of users stays text, whatever it holds.

Readers of Markdown differ in what they take for a tag, a link or a formula. So each character that means
something to one of them is written as an escape that all of them know: a reference to the character, or a
backslash before the punctuation that has had one from the beginning.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Markdown", "numbered", "plain", "table"]

#: Punctuation with a meaning anywhere in a line; an underscore between letters has none.
_ANYWHERE = re.compile(r"[\\`*\[\]{}|<>&$~]|(?<![^\W_])_|_(?![^\W_])")
#: Of these, what every reader of Markdown takes from a backslash; of the others it gets the number.
_BACKSLASHED = frozenset("\\`*_[]{}|")
#: The sign that makes a line a heading, an item of a list, a rule or a definition, behind its digits.
_AT_START = re.compile(r"(\d+(?=[.)](?:\s|$))|(?=[#=!]|[-+:](?:[-\s]|$)))(.)")
#: Addresses of the web and of persons, of which readers make links without a sign of Markdown.
_ADDRESS = re.compile(r":(?=//)|(?<=www)\.|@", re.IGNORECASE)


class Markdown(str):
    """Text that is Markdown of floodway's own, which `table` takes as it is."""

    __slots__ = ()


def plain(text: str) -> str:
    r"""Return a user's text in one line of Markdown that shows it as it is.

    Examples
    --------
    >>> plain("a <b>bold</b> [link](javascript:x)")
    'a &lt;b&gt;bold&lt;/b&gt; \\[link\\](javascript:x)'
    >>> plain("# 3 * 4, fb_hadoop"), plain("2. at http://x"), plain("-1.5 of 2.5")
    ('\\# 3 \\* 4, fb_hadoop', '2\\. at http&#58;//x', '-1.5 of 2.5')
    """
    inline = _inline(text)
    start = _AT_START.match(inline)
    return inline if start is None else f"{start[1]}{_at_start(start[2])}{inline[start.end() :]}"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[str] = ()) -> str:
    """Return a table; a cell that is not `Markdown` is a text as `plain` writes it.

    Parameters
    ----------
    columns
        The heads.
    rows
        As many cells each.
    numbers
        Columns that are aligned to the right.
    """
    right = set(numbers)
    sides = [Markdown("---:" if column in right else "---") for column in columns]
    return "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in (columns, sides, *rows))


def _cell(text: str) -> str:
    if not isinstance(text, Markdown):
        return _inline(text)
    # A bar ends a cell, also within code.
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def _inline(text: str) -> str:
    """Return a text that begins no line."""
    return _ADDRESS.sub(numbered, _ANYWHERE.sub(_escaped, " ".join(text.split())))


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    return f"\\{char}" if char in _BACKSLASHED else html.escape(char) if char in "<>&" else numbered(match)


def numbered(match: re.Match[str]) -> str:
    """Return the reference to a character."""
    return "&lt;" if match[0] == "<" else f"&#{ord(match[0])};"


def _at_start(char: str) -> str:
    return f"&#{ord(char)};" if char in "=:" else f"\\{char}"
