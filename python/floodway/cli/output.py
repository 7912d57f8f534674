"""Output of the command line: every printed text passes through here, so that none controls the terminal."""

from __future__ import annotations

import re

import typer

__all__ = ["echo", "printable"]

#: Control characters but line breaks and tabs, marks of direction, what has no width, halves of characters.
HIDING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    r"""Write characters that break a line or turn a terminal round as JSON does: so JSON stays what it is.

    Examples
    --------
    >>> printable("a\x1b]0;b\x07")
    'a\\u001b]0;b\\u0007'
    """
    return HIDING.sub(_escaped, text)


def echo(text: str, *, err: bool = False) -> None:
    """Print a text to stdout or stderr.

    Parameters
    ----------
    text
        A line or several, or a JSON document.
    err
        To stderr.
    """
    typer.echo(printable(text), err=err)


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
