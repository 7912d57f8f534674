"""Names as they may be shown, and mistyped ones with the nearest that are allowed."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["nearest", "not_a_choice", "printable"]

#: Control characters but line breaks and tabs, marks of direction, what has no width, halves of characters.
HIDING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def nearest(name: str, choices: Iterable[str]) -> str | None:
    """Return the known name that is nearest to a wrong one; none where none is near.

    Examples
    --------
    >>> nearest("qeue", ["queue", "paused"])
    'queue'
    """
    by_folded = {choice.casefold(): choice for choice in choices}
    matches = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[matches[0]] if matches else None


def not_a_choice(name: str, *, noun: str, allowed: Iterable[str]) -> tuple[str, str | None]:
    """Return a message that a name is not allowed, and the nearest allowed name.

    Examples
    --------
    >>> not_a_choice("qeue", noun="a metric", allowed=["queue", "paused"])
    ("'qeue' is not a metric; allowed: queue, paused; did you mean 'queue'?", 'queue')
    """
    names = tuple(allowed)
    near = nearest(name, names)
    hint = f"; did you mean {near!r}?" if near else ""
    return f"{name!r} is not {noun}; allowed: {', '.join(names) or 'none'}{hint}", near


def printable(text: str) -> str:
    r"""Escape characters that break a line or control a terminal, as JSON does: so JSON does not change.

    Examples
    --------
    >>> printable("a\x1b]0;b\x07")
    'a\\u001b]0;b\\u0007'
    """
    return HIDING.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
