"""The model of an entry of the catalog, and the keys of its tables, from the grammar."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from floodway.scenarios.grammar import Grammar, is_table, options, reference, tagged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from floodway.scenarios.grammar import Option

__all__ = ["Entry", "Kind", "Parameter", "Section", "TableOf", "parameters_of", "sections_of", "table_of"]

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


#: Forms of quantities, by their definitions in the grammar.
QUANTITIES = {"Size": "size", "Time": "time", "Rate": "rate", "Length": "length"}
#: Forms of other values, by their types in the grammar.
TYPE_NAMES = {"object": "table", "integer": "whole number", "boolean": "true or false", "string": "text"}


def table_of(grammar: Grammar, name: str) -> TableOf:
    """Return a definition as a table of keys."""
    schema = grammar.definitions[name]
    return TableOf(name=name, text=schema.get("description", ""), parameters=_parameters(grammar, schema))


def parameters_of(grammar: Grammar, name: str) -> dict[str, Any]:
    """Return the parameters of a table and the tables that they may be."""
    schema = grammar.definitions[name]
    inner: list[str] = []
    _collect(grammar, schema, inner)
    tables = tuple(table_of(grammar, table) for table in inner if table != name)
    return {"parameters": _parameters(grammar, schema), "tables": tables}


def _collect(grammar: Grammar, schema: Mapping[str, Any], tables: list[str]) -> None:
    """Collect the tables that values of a table's keys may be, without those with pages of their own."""
    for form in schema.get("properties", {}).values():
        for name in _tables_in(grammar, form):
            if name not in tables and name not in grammar.tags:
                tables.append(name)
                _collect(grammar, grammar.definitions[name], tables)


def _tables_in(grammar: Grammar, form: Mapping[str, Any]) -> Iterator[str]:
    name = reference(dict(form))
    if name is not None:
        if is_table(grammar.definitions[name]):
            yield name
        elif name != "Selector":
            yield from _tables_in(grammar, grammar.definitions[name])
    for part in (*form.get("anyOf", ()), *form.get("oneOf", ())):
        yield from _tables_in(grammar, part)
    if "items" in form:
        yield from _tables_in(grammar, form["items"])


def _parameters(grammar: Grammar, schema: Mapping[str, Any]) -> tuple[Parameter, ...]:
    needed = schema.get("required", ())
    properties = schema.get("properties", {})
    return tuple(_parameter(grammar, key, form, required=key in needed) for key, form in properties.items())


def _parameter(grammar: Grammar, key: str, form: Mapping[str, Any], *, required: bool) -> Parameter:
    text = " ".join(str(form.get("description", "")).split())
    text, source = _cut(text, "Source: ")
    text, spoken = _cut(text.replace(" No default.", ""), "Default: ")
    written = None if "default" not in form else _literal(form["default"])
    default = spoken.rstrip(".") if spoken else (f"`{written}`" if written is not None else None)
    target = reference(dict(form))
    choices = options(dict(grammar.definitions[target])) if target else ()
    return Parameter(
        key=key,
        form=_form(grammar, form),
        default=default,
        text=text,
        source=source.rstrip(".") if source else None,
        required=required,
        options=tuple(option for option in choices if option.text),
    )


def _cut(text: str, mark: str) -> tuple[str, str | None]:
    """Split off the sentence that begins with a mark, up to the next mark or the end."""
    before, mark_found, after = text.partition(mark)
    return (before.strip(), after.strip()) if mark_found else (text, None)


def _literal(value: object) -> str:
    """Return a value as TOML has it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(_literal(item) for item in value)}]"
        case dict():
            keys = ", ".join(f"{key} = {_literal(item)}" for key, item in value.items())
            return f"{{ {keys} }}" if keys else "{}"
        case _:
            return str(value)


def _form(grammar: Grammar, form: Mapping[str, Any]) -> str:
    """Return the form of a key's value, in words."""
    name, choices = reference(dict(form)), options(dict(form))
    if name is not None:
        return _defined_form(grammar, name)
    if choices:
        return " or ".join(f'"{option.value}"' for option in choices)
    parts = [*form.get("anyOf", ()), *form.get("oneOf", ())]
    if parts:
        return " or ".join(dict.fromkeys(_form(grammar, part) for part in parts))
    if "properties" in form:
        tag = tagged(dict(form))
        return f"`{tag}` = …" if tag else f"{{ {', '.join(form['properties'])} }}"
    if form.get("type") == "array":
        return f"list of {_form(grammar, form.get('items', {}))}"
    return TYPE_NAMES.get(form.get("type", ""), str(form.get("type", "value")))


def _defined_form(grammar: Grammar, name: str) -> str:
    schema = grammar.definitions[name]
    if name in QUANTITIES:
        return QUANTITIES[name]
    if name == "Selector":
        return "selector"
    if is_table(schema):
        keys = ", ".join(schema.get("properties", {}))
        return f"{{ {keys} }}" if keys else "{}"
    return _form(grammar, schema)
