"""Warnings of `check`, once each, with the variants that they concern."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["VariantWarning", "merged_warnings"]

_NUMBER = re.compile(r"\d[\d.,]*")


@dataclass(frozen=True, kw_only=True)
class VariantWarning:
    """A warning, and the variants that it concerns.

    Attributes
    ----------
    text
        Text of the warning.
    labels
        Labels of the variants that have it; empty if all have it.
    more
        Number of other warnings that differ only in numbers.
    """

    text: str
    labels: tuple[str, ...]
    more: int = 0

    @property
    def whole(self) -> str:
        """The warning in one line, with its variants."""
        prefix = f"{'; '.join(self.labels)}: " if self.labels else ""
        more = f" (and {self.more:,} more like it, with other numbers)" if self.more else ""
        return f"{prefix}{self.text}{more}"


def merged_warnings(
    variants: Iterable[tuple[str, Iterable[str]]], *, by_number: bool = True
) -> tuple[VariantWarning, ...]:
    """Merge equal warnings of variants, in the order of their first occurrence.

    Parameters
    ----------
    variants
        Labels of variants with their warnings; a label may occur several times.
    by_number
        Whether warnings that differ only in numbers are separate; otherwise only the first is kept.

    Returns
    -------
    tuple of VariantWarning
        One for each different warning.

    Examples
    --------
    >>> [warning.whole for warning in merged_warnings([("pfc", ["a", "b"]), ("swing", ["b"])])]
    ['pfc: a', 'b']
    >>> sizes = [("pfc", ["1 KB short", "2 KB short"]), ("swing", [])]
    >>> [warning.whole for warning in merged_warnings(sizes, by_number=False)]
    ['pfc: 1 KB short (and 1 more like it, with other numbers)']
    """
    labels: dict[str, None] = {}
    kinds: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for label, texts in variants:
        labels[label] = None
        for text in texts:
            texts_of_kind, labels_of_kind = kinds.setdefault(
                text if by_number else _NUMBER.sub("#", text), ({}, {})
            )
            texts_of_kind[text], labels_of_kind[label] = None, None
    return tuple(
        VariantWarning(
            text=next(iter(texts_of_kind)),
            labels=() if labels_of_kind.keys() == labels.keys() else tuple(labels_of_kind),
            more=len(texts_of_kind) - 1,
        )
        for texts_of_kind, labels_of_kind in kinds.values()
    )
