"""Glossary: the terms of lossless networks as floodway uses them, each defined once."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Term", "terms"]


@dataclass(frozen=True, kw_only=True)
class Term:
    """A term with its meaning.

    Attributes
    ----------
    name
        The term as pages and messages write it.
    full
        The long form of an abbreviation; empty for other terms.
    meaning
        Its definition, in one to three sentences.
    source
        Where it is defined; empty where the field has no one source.
    also
        Other spellings under which it is looked up.
    see
        Related terms, and pages below `docs/` as `page.md`.
    """

    name: str
    meaning: str
    full: str = ""
    source: str = ""
    also: tuple[str, ...] = ()
    see: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Every spelling under which it is looked up."""
        return (self.name, *((self.full,) if self.full else ()), *self.also)

    @property
    def meaning_in_full(self) -> str:
        """Its definition, after what an abbreviation is short for."""
        return f"{self.full[0].upper()}{self.full[1:]}. {self.meaning}" if self.full else self.meaning


@cache
def terms() -> tuple[Term, ...]:
    """Return every term, in the order of the alphabet."""
    text = resources.files(__package__).joinpath("glossary.toml").read_text(encoding="utf-8")
    return tuple(_term(**entry) for entry in tomllib.loads(text)["term"])


def _term(*, also: Sequence[str] = (), see: Sequence[str] = (), **texts: str) -> Term:
    return Term(also=tuple(also), see=tuple(see), **texts)
