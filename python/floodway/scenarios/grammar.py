"""The grammar of scenarios as the simulator gives it: named definitions and the forms of their keys."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from floodway import _floodway

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Grammar", "Option", "is_table", "options", "reference", "tagged"]

#: A schema: an object of JSON Schema.
Schema = dict[str, Any]
PREFIX = "#/$defs/"


@dataclass(frozen=True, kw_only=True)
class Option:
    """A value that a key may have, with what it means."""

    value: str
    text: str


@dataclass(frozen=True)
class Grammar:
    """The JSON Schema of scenarios, or of studies."""

    document: Mapping[str, Any]

    @classmethod
    def current(cls) -> Grammar:
        """Return the grammar of scenarios of this simulator."""
        return cls(json.loads(_floodway.schema_json()))

    @property
    def definitions(self) -> Mapping[str, Schema]:
        """Named definitions, to which other definitions refer."""
        definitions: Mapping[str, Schema] = self.document["$defs"]
        return definitions

    @cached_property
    def tags(self) -> Mapping[str, str]:
        """Tags of the definitions that are chosen by a tag, by name."""
        tags: dict[str, str] = {}
        for schema in _within(self.document):
            tag = tagged(schema)
            if tag is None:
                continue
            name = reference(schema["properties"][tag])
            if name is None or not is_table(self.definitions[name]):
                continue
            if tags.setdefault(name, tag) != tag:
                raise ValueError(f"{name} is chosen as {tags[name]!r} and as {tag!r}")
        return tags


def _within(schema: object) -> Iterator[Schema]:
    if isinstance(schema, dict):
        yield schema
        for value in schema.values():
            yield from _within(value)
    elif isinstance(schema, list):
        for item in schema:
            yield from _within(item)


def reference(schema: Schema) -> str | None:
    """Return the definition that a schema refers to."""
    target = schema.get("$ref")
    return target.removeprefix(PREFIX) if isinstance(target, str) else None


def tagged(schema: Schema) -> str | None:
    """Return the tag of one form of a choice, `{ tag = … }`."""
    properties = schema.get("properties", {})
    if len(properties) == 1 and schema.get("required") == list(properties) and "title" not in schema:
        (tag,) = properties
        # A table with one key shows what the key is; the form of a choice does not.
        return None if "description" in properties[tag] else str(tag)
    return None


def is_table(schema: Schema) -> bool:
    """Whether a schema is a table of known keys, rather than a choice, a text or a number."""
    return schema.get("type") == "object" and "patternProperties" not in schema


def options(schema: Schema) -> tuple[Option, ...]:
    """Return the values of a definition that is a list of values; empty for others."""
    forms = schema.get("oneOf", [schema] if "enum" in schema or "const" in schema else [])
    choices = []
    for form in forms:
        values = [form["const"]] if "const" in form else form.get("enum", [])
        if not values:
            return ()
        # A description of several values is that of their definition.
        text = form.get("description", "") if len(values) == 1 else ""
        choices += [Option(value=str(value), text=text) for value in values]
    return tuple(choices)
