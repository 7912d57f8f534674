"""Python builders from the grammar: a frozen dataclass for each table, an alias for each choice."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from floodway.scenarios.builder import attribute
from floodway.scenarios.grammar import Grammar, Schema, is_table, options, reference, tagged

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["builders", "scenario_keys"]

WIDTH = 100
QUANTITIES = {"Size", "Time", "Rate", "Length"}
HEAD = '''\
"""Scenarios from objects: a builder for each table that a scenario may have. Written by `make generate`.

Quantities are text with a unit, as in scenarios: `"10us"`, `"400G"`, `"288KB"`, `"80km"`.

Examples
--------
>>> from floodway import Scenario
>>> from floodway.builders import Burst, Defaults, Dumbbell, Pfc, Workload
>>> scenario = Scenario(
...     topology=Dumbbell(left=2, right=1, rate="100G", delay="1us"),
...     defaults=Defaults(flow_control=Pfc(xoff="320KB")),
...     workload=[Workload(name="incast", burst=Burst(from_="h*", to="h3", size="1MB"))],
... )
>>> scenario.replace(seed=7).seed
7
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, Never, TypeAlias

from floodway.scenarios.builder import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
'''
KEYS_HEAD = '''\
"""The keys of a scenario's top level as typed arguments. Written by `make generate`.

The builders are named for type checkers alone: a scenario that comes from a file needs none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
'''


def builders(grammar: Grammar) -> str:
    """Return the source of `floodway.builders`, not yet formatted."""
    definitions = grammar.definitions
    classes = {name: schema for name, schema in definitions.items() if is_table(schema)}
    aliases = {name: schema for name, schema in definitions.items() if not is_table(schema)}
    scalars = dict(_scalars(definitions))
    parts = [HEAD, f"__all__ = {sorted([*classes, *aliases, *scalars])!r}"]
    parts += [_class(grammar, name, schema) for name, schema in classes.items()]
    parts += [_scalar_class(grammar, name, *form) for name, form in scalars.items()]
    parts += [_alias(grammar, name, schema) for name, schema in _in_order(aliases)]
    return "\n\n\n".join(parts) + "\n"


def scenario_keys(grammar: Grammar) -> str:
    """Return the source of `scenario_keys`, not yet formatted, which also drops unused imports."""
    names = sorted([*grammar.definitions, *dict(_scalars(grammar.definitions))])
    imported = f"    from floodway.builders import {', '.join(names)}"
    return "\n\n\n".join([f"{KEYS_HEAD}\n{imported}", '__all__ = ["Keys"]', _keys(grammar)]) + "\n"


def _class(grammar: Grammar, name: str, schema: Schema) -> str:
    tag = grammar.tags.get(name)
    head = f"@dataclass(frozen=True, kw_only=True)\nclass {name}(Table):"
    body = [_docstring(schema["description"], _attributes(schema))]
    if tag is not None:
        body.append(f"_tag: ClassVar[str | None] = {tag!r}")
    required, optional = _split(schema)
    body += [f"{attribute(key)}: {_type(grammar, form)}" for key, form in required.items()]
    body += [f"{attribute(key)}: {_type(grammar, form)} | None = None" for key, form in optional.items()]
    return head + "\n" + textwrap.indent("\n".join(body), "    ")


def _scalar_class(grammar: Grammar, name: str, tag: str, form: Schema) -> str:
    """Return the class of a choice whose tag has a value that is no table."""
    value = form["properties"][tag]
    about = form.get("description", f"The choice `{tag}`.")
    body = [
        _docstring(about, [(attribute(tag), "Its value.")]),
        f"_tag: ClassVar[str | None] = {tag!r}",
        "_scalar: ClassVar[bool] = True",
        f"{attribute(tag)}: {_type(grammar, value)}",
    ]
    head = f"@dataclass(frozen=True, kw_only=True)\nclass {name}(Table):"
    return head + "\n" + textwrap.indent("\n".join(body), "    ")


def _scalars(definitions: Mapping[str, Schema]) -> Iterable[tuple[str, tuple[str, Schema]]]:
    for name, schema in definitions.items():
        for form in [*schema.get("oneOf", []), *schema.get("anyOf", [])]:
            tag = tagged(form)
            if tag is not None:
                target = reference(form["properties"][tag])
                if target is None or not is_table(definitions[target]):
                    yield _scalar_name(name, tag), (tag, form)


def _scalar_name(definition: str, tag: str) -> str:
    return definition + "".join(word.capitalize() for word in tag.split("-"))


def _alias(grammar: Grammar, name: str, schema: Schema) -> str:
    about = schema.get("description") or ("A quantity as text." if name in QUANTITIES else "")
    if name in QUANTITIES:
        about = f"A quantity with a unit, such as `{schema['examples'][0]!r}`."
    words = [f"{option.value!r}: {option.text}" for option in options(schema) if option.text]
    comment = _comment(about) + "".join("\n" + _comment(f"- {word}", hanging=True) for word in words)
    target = "str" if name in QUANTITIES else _type(grammar, schema, definition=name, quoted=True)
    return f"{comment}\n{name}: TypeAlias = {target}".lstrip("\n")


def _keys(grammar: Grammar) -> str:
    """Return the base of `Scenario`: its keys as typed arguments."""
    schema = dict(grammar.document)
    required, optional = _split(schema)
    arguments = [f"{attribute(key)}: {_type(grammar, form)}" for key, form in required.items()]
    optionals = [f"{attribute(key)}: {_type(grammar, form)} | None = None" for key, form in optional.items()]
    changes = [
        f"{attribute(key)}: {_type(grammar, form)} | None = None"
        for key, form in schema["properties"].items()
    ]
    parameters = _sections("Parameters", _attributes(schema))
    replaced = _sections(
        "Parameters",
        [
            *_attributes(schema),
            ("sets", "Key paths with values, set after the keys, as by `--set` of the command line."),
        ],
    )
    return f'''\
class Keys:
    """The keys of a scenario's top level as arguments; `floodway.Scenario` is the class to use.

{textwrap.indent(parameters, "    ")}
    """

    def __init__(self, *, {", ".join([*arguments, *optionals])}) -> None:
        self._begin(locals())

    def replace(self, *, {", ".join(changes)}, sets: Sequence[tuple[str, str]] = ()) -> Self:
        """Return the same scenario with other values for some keys; `None` leaves a key as it is.

{textwrap.indent(replaced, "        ")}

        Returns
        -------
        Scenario
            The changed scenario.

        Raises
        ------
        ScenarioError
            If the changed scenario is invalid.
        """
        return self._replaced(locals(), sets)

    def _begin(self, arguments: Mapping[str, object]) -> None:
        raise NotImplementedError

    def _replaced(self, arguments: Mapping[str, object], sets: Sequence[tuple[str, str]]) -> Self:
        raise NotImplementedError'''


def _split(schema: Schema) -> tuple[dict[str, Schema], dict[str, Schema]]:
    """Split the keys into required and optional ones."""
    needed = schema.get("required", [])
    properties = schema.get("properties", {})
    required = {key: form for key, form in properties.items() if key in needed}
    return required, {key: form for key, form in properties.items() if key not in needed}


def _attributes(schema: Schema) -> list[tuple[str, str]]:
    required, optional = _split(schema)
    return [(attribute(key), form.get("description", "")) for key, form in {**required, **optional}.items()]


def _type(grammar: Grammar, schema: Schema, *, definition: str = "", quoted: bool = False) -> str:
    """Return a schema as a type; `definition` is its own name, for forms without one."""
    forms = _forms(grammar, schema, definition)
    # A slot for which there is no mechanism yet has no form.
    joined = " | ".join(dict.fromkeys(forms)) or "Never"
    # An alias is evaluated, and what it names may come later.
    return repr(joined) if quoted else joined


def _forms(grammar: Grammar, schema: Schema, definition: str) -> list[str]:
    name, tag, words = reference(schema), tagged(schema), options(schema)
    if name is not None:
        return [name]
    if tag is not None:
        target = reference(schema["properties"][tag])
        is_class = target is not None and is_table(grammar.definitions[target])
        return [str(target) if is_class else _scalar_name(definition, tag)]
    if words:
        return [_literal(option.value for option in words)]
    parts = [*schema.get("anyOf", []), *schema.get("oneOf", [])]
    if parts or "enum" in schema:
        return [form for part in parts for form in _forms(grammar, part, definition)]
    return [_plain(grammar, schema)]


def _plain(grammar: Grammar, schema: Schema) -> str:
    kind = schema.get("type")
    if kind == "array":
        return _array(grammar, schema)
    if kind == "object":
        (item,) = schema["patternProperties"].values()
        return f"Mapping[str, {_type(grammar, item)}]"
    return {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}[str(kind)]


def _array(grammar: Grammar, schema: Schema) -> str:
    items = schema.get("prefixItems", [])
    if not items and "minItems" in schema and schema["minItems"] == schema.get("maxItems"):
        items = [schema["items"]] * schema["minItems"]
    if items:
        return f"tuple[{', '.join(_type(grammar, item) for item in items)}]"
    return f"Sequence[{_type(grammar, schema['items'])}]"


def _literal(words: Iterable[str]) -> str:
    return f"Literal[{', '.join(repr(str(word)) for word in words)}]"


def _in_order(aliases: Mapping[str, Schema]) -> Iterable[tuple[str, Schema]]:
    return sorted(aliases.items(), key=lambda item: (item[0] not in QUANTITIES, item[0]))


def _docstring(about: str, entries: list[tuple[str, str]]) -> str:
    first, _, rest = about.partition("\n\n")
    lines = textwrap.wrap(first, WIDTH)
    text = lines[0] if len(lines) == 1 else _summary(first)
    parts = [text, rest] if rest else [text]
    if entries:
        parts.append(_sections("Attributes", entries))
    joined = "\n\n".join(parts)
    closing = "\n" if len(parts) > 1 or "\n" in joined else ""
    return f'"""{joined}{closing}"""'.replace("\\", "\\\\")


def _summary(text: str) -> str:
    """Return the first sentence on a line of its own, then the others."""
    end = text.find(". ")
    first, rest = (text, "") if end < 0 else (text[: end + 1], text[end + 2 :])
    return "\n\n".join(["\n".join(textwrap.wrap(part, WIDTH)) for part in (first, rest) if part])


def _sections(title: str, entries: list[tuple[str, str]]) -> str:
    lines = [title, "-" * len(title)]
    for name, text in entries:
        lines.append(name)
        for paragraph in text.split("\n\n"):
            lines += textwrap.wrap(paragraph, WIDTH - 8, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def _comment(text: str, *, hanging: bool = False) -> str:
    if not text:
        return ""
    return "\n".join(
        textwrap.wrap(text, WIDTH, initial_indent="#: ", subsequent_indent="#:   " if hanging else "#: ")
    )
