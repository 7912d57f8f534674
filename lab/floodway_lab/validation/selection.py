"""The selection of cases and rows by patterns of labels."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Protocol, TypeVar

from floodway.common.names import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from floodway.common.errors import ValidationError

__all__ = ["selected"]


class _Labelled(Protocol):
    @property
    def label(self) -> str: ...


T = TypeVar("T", bound=_Labelled)


def selected(
    items: Sequence[T],
    only: Sequence[str],
    *,
    unmatched: Callable[[str, Sequence[str], str | None], ValidationError],
) -> list[T]:
    """Return the items that patterns select, in their order; all without patterns.

    Parameters
    ----------
    items
        The items to select from.
    only
        Patterns of labels, in which `*` and `?` are wildcards.
    unmatched
        Function that makes the error of a pattern without a match, from the pattern, all labels, and the
        nearest label.

    Raises
    ------
    ValidationError
        If a pattern selects nothing.
    """
    labels = [item.label for item in items]
    for pattern in only:
        if not any(fnmatchcase(label, pattern) for label in labels):
            raise unmatched(pattern, labels, nearest(pattern, labels))
    return [item for item in items if not only or any(fnmatchcase(item.label, pattern) for pattern in only)]
