"""The model of an entry of the catalog."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from floodway.scenarios.grammar import Option

__all__ = ["Entry", "Kind", "Parameter", "Section", "TableOf"]

Kind = Literal["mechanism", "topology", "preset", "workload", "sizes", "term", "model", "chip", "paper"]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A key of a table.

    Attributes
    ----------
    key
        As scenarios spell it.
    form
        What it may be: `size`, `time`, `"a" | "b"`, `list of …`.
    default
        As scenarios would write it, or in words; none where it must be given or the text says it.
    text
        What it means.
    source
        Where its default comes from.
    required
        Must it be given?
    options
        The words that it may have, with what they mean.
    """

    key: str
    form: str
    default: str | None
    text: str
    source: str | None
    required: bool
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TableOf:
    """Keys of a table that a parameter may be.

    Attributes
    ----------
    name
        Name of the table among the grammar's definitions.
    text
        What it is.
    parameters
        Its keys.
    """

    name: str
    text: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a description: its title and its text in Markdown."""

    title: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Something that a scenario, a job or a command can name.

    Attributes
    ----------
    kind
        What sort of thing it is.
    name
        As scenarios spell it.
    slot
        The key under which a scenario names it.
    summary
        What it is, in a sentence or two.
    sections
        What it does, why, sizing, known differences, references.
    parameters
        Its keys.
    tables
        Tables that its keys may be.
    size
        Of a published network: its hosts, switches and rates; else empty.
    source
        Of a published network or model: who published it; else empty.
    has_parts
        Can a part of the network be taken?
    other_names
        Further names under which it is found.
    """

    kind: Kind
    name: str
    slot: str
    summary: str
    sections: tuple[Section, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    tables: tuple[TableOf, ...] = ()
    size: str = ""
    source: str = ""
    has_parts: bool = False
    other_names: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        """The first sentence of the summary, without the references in it."""
        sentence, _, _ = self.summary.partition(". ")
        return re.sub(r" \([^()]*\d{4}[^()]*\)", "", sentence).rstrip(".:") + "."

    @property
    def full_name(self) -> str:
        """The slot and the name, which no other has."""
        return f"{self.slot}.{self.name}"
