"""Markdown of users, code and addresses in the pages that the laboratory writes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from markdown_it import MarkdownIt

from floodway.common.markdown import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

__all__ = ["code", "formatted", "target"]

#: In text that is Markdown: what begins a tag or a comment, a destination of a link, or an address.
_OF_LINKS = re.compile(r"<(?=[A-Za-z/!?])|(?<=\])[(:]|(?<=\{):|:(?=//)|(?<=www)\.", re.IGNORECASE)
#: Code in which these mean nothing: within a line between single backticks, or a block that is closed.
_CODE = re.compile(r"(?<![`\\])`[^`\n]+`(?!`)|^(`{3,}|~{3,})[^`\n]*\n(?:.*\n)*?\1[ ]*$", re.MULTILINE)


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
        inert = _OF_LINKS.sub(numbered, text.strip())
    open_block = _blocks(inert)[-1]
    if open_block.type == "fence":
        return f"{inert}\n{open_block.markup}"
    return inert


def _inert_but_code(text: str) -> str:
    """Escape what begins a tag or a link, but in code, which shows escapes as they are."""
    parts, last = [], 0
    for match in _CODE.finditer(text):
        parts += [_OF_LINKS.sub(numbered, text[last : match.start()]), match[0]]
        last = match.end()
    return "".join((*parts, _OF_LINKS.sub(numbered, text[last:])))


def _tokens(text: str) -> Iterator[Token]:
    for block in _blocks(text):
        yield block
        yield from block.children or ()


def _blocks(text: str) -> list[Token]:
    return MarkdownIt("commonmark").parse(f"{text}\n\nend")


def target(path: str) -> str:
    """Return a path as the destination of a link.

    >>> target("a b(1).png")
    'a%20b%281%29.png'
    """
    return quote(path)
