"""Mistyped names, with the nearest allowed ones."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["nearest", "not_a_choice"]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is nearest to a wrong one; none where none is near.

    Examples
    --------
    >>> nearest("qeue", ["queue", "paused"])
    'queue'
    """
    by_folded = {each.casefold(): each for each in known}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def not_a_choice(given: str, *, what: str, allowed: Iterable[str]) -> tuple[str, str | None]:
    """Return a message that a name is not allowed, and the nearest allowed name.

    Examples
    --------
    >>> not_a_choice("qeue", what="a metric", allowed=["queue", "paused"])
    ("'qeue' is not a metric; allowed: queue, paused; did you mean 'queue'?", 'queue')
    """
    names = tuple(allowed)
    near = nearest(given, names)
    hint = f"; did you mean {near!r}?" if near else ""
    return f"{given!r} is not {what}; allowed: {', '.join(names) or 'none'}{hint}", near
