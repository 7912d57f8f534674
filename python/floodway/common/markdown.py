"""Markdown that floodway writes: text of users stays text, whatever it holds.

Readers of Markdown differ in what they take for a tag, a link or a formula. So each character that means
something to one of them is written as an escape that all of them know: a reference to the character, or a
backslash before the punctuation that has had one from the beginning.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from markdown_it.token import Token

__all__ = ["Markdown", "code", "formatted", "plain", "table", "target"]

#: Punctuation with a meaning anywhere in a line; an underscore between letters has none.
_ANYWHERE = re.compile(r"[\\`*\[\]{}|<>&$~]|(?<![^\W_])_|_(?![^\W_])")
#: Of these, what every reader of Markdown takes from a backslash; of the others it gets the number.
_BACKSLASHED = frozenset("\\`*_[]{}|")
#: The sign that makes a line a heading, an item of a list, a rule or a definition, behind its digits.
_AT_START = re.compile(r"(\d+(?=[.)](?:\s|$))|(?=[#=!]|[-+:](?:[-\s]|$)))(.)")
#: Addresses of the web and of persons, of which readers make links without a sign of Markdown.
_ADDRESS = re.compile(r":(?=//)|(?<=www)\.|@", re.IGNORECASE)
#: In text that is Markdown: what begins a tag or a comment, a destination of a link, or an address.
_OF_LINKS = re.compile(r"<(?=[A-Za-z/!?])|(?<=\])[(:]|(?<=\{):|:(?=//)|(?<=www)\.", re.IGNORECASE)
#: Code in which these mean nothing: within a line between single backticks, or a block that is closed.
_CODE = re.compile(r"(?<![`\\])`[^`\n]+`(?!`)|^(`{3,}|~{3,})[^`\n]*\n(?:.*\n)*?\1[ ]*$", re.MULTILINE)


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


def code(text: str) -> str:
    """Return a text as code within a line, whatever backticks it holds.

    Examples
    --------
    >>> code("a `b`"), code("x")
    ('`` a `b` ``', '`x`')
    """
    line = " ".join(text.split()) or " "
    longest = max(map(len, re.findall("`+", line)), default=0)
    marks = "`" * (longest + 1)
    return f"{marks} {line} {marks}" if longest else f"{marks}{line}{marks}"


def formatted(text: str) -> str:
    r"""Return a user's Markdown in which HTML tags, links and pictures stay plain text.

    What it leaves open, such as a block of code, ends with it.

    Examples
    --------
    >>> formatted("*So* <b>not</b> [this](x)")
    '*So* &lt;b>not&lt;/b> [this]&#40;x)'
    >>> formatted("```\nopen")
    '```\nopen\n```'
    >>> formatted("`<b>` is not <b>")
    '`<b>` is not &lt;b>'
    """
    inert = _inert_but_code(text.strip())
    if any(token.type.startswith("html") or token.tag in {"a", "img"} for token in _tokens(inert)):
        # A reader does not take for code what looks like it here.
        inert = _OF_LINKS.sub(_numbered, text.strip())
    open_block = _blocks(inert)[-1]
    if open_block.type == "fence":
        return f"{inert}\n{open_block.markup}"
    return inert


def _inert_but_code(text: str) -> str:
    """Escape what begins a tag or a link, but in code, which shows escapes as they are."""
    parts, last = [], 0
    for match in _CODE.finditer(text):
        parts += [_OF_LINKS.sub(_numbered, text[last : match.start()]), match[0]]
        last = match.end()
    return "".join((*parts, _OF_LINKS.sub(_numbered, text[last:])))


def _tokens(text: str) -> Iterator[Token]:
    for block in _blocks(text):
        yield block
        yield from block.children or ()


def _blocks(text: str) -> list[Token]:
    from markdown_it import MarkdownIt  # noqa: PLC0415 (of Markdown of users alone)

    return MarkdownIt("commonmark").parse(f"{text}\n\nend")


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


def target(path: str) -> str:
    """Return a path as the destination of a link.

    >>> target("a b(1).png")
    'a%20b%281%29.png'
    """
    return quote(path)


def _cell(text: str) -> str:
    if not isinstance(text, Markdown):
        return _inline(text)
    # A bar ends a cell, also within code.
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def _inline(text: str) -> str:
    """Return a text that begins no line."""
    return _ADDRESS.sub(_numbered, _ANYWHERE.sub(_escaped, " ".join(text.split())))


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    return f"\\{char}" if char in _BACKSLASHED else html.escape(char) if char in "<>&" else _numbered(match)


def _numbered(match: re.Match[str]) -> str:
    return "&lt;" if match[0] == "<" else f"&#{ord(match[0])};"


def _at_start(char: str) -> str:
    return f"&#{ord(char)};" if char in "=:" else f"\\{char}"
