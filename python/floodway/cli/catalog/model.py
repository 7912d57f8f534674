"""The model of an entry of the catalog."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from floodway.scenarios.grammar import Option

__all__ = ["Entry", "Kind", "Parameter", "Section", "TableOf", "sections_of"]

Kind = Literal["mechanism", "topology", "preset", "workload", "sizes", "term", "model", "chip", "paper"]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of a mechanism, topology or workload: a key of its table.

    Attributes
    ----------
    key
        Key in scenarios.
    form
        Form of its value: `size`, `time`, `"a" | "b"`, `list of …`.
    default
        Default as scenarios write it, or in words; None if the key is required or `text` states the default.
    text
        Meaning.
    source
        Source of the default.
    required
        Whether scenarios must set it.
    options
        Words that it allows, with their meanings.
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
    """A table that the value of a parameter may be, with its keys.

    Attributes
    ----------
    name
        Name of the table among the grammar's definitions.
    text
        Meaning.
    parameters
        Keys of the table.
    """

    name: str
    text: str
    parameters: tuple[Parameter, ...]


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a description: its title and its text in Markdown."""

    title: str
    text: str


def sections_of(texts: Mapping[str, str]) -> tuple[Section, ...]:
    """Return sections by their titles, without empty ones."""
    return tuple(Section(title=title, text=text) for title, text in texts.items() if text)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """Something that a scenario, a job or a command can name.

    Attributes
    ----------
    kind
        Kind of entry, such as `mechanism` or `topology`.
    name
        Name in scenarios.
    slot
        Key of scenarios whose value it is.
    summary
        Description in a sentence or two.
    sections
        Longer description: behaviour, reasons, sizing, known differences, references.
    parameters
        Keys of its table.
    tables
        Tables that values of these keys may be.
    size
        Hosts, switches and rates of a published network; else empty.
    source
        Publication of a network or model; else empty.
    has_parts
        Whether scenarios can use a part of the network.
    other_names
        Further names by which `find` returns it.
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
        """The slot and the name, which together are unique."""
        return f"{self.slot}.{self.name}"
