"""Keys of tables with their types and defaults, from the grammar."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from floodway.cli.catalog.model import Parameter, TableOf
from floodway.scenarios.grammar import Grammar, is_table, options, reference, tagged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["parameters_of", "table_of"]

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
