"""SONiC's YANG models, and CONFIG_DB as instances of them.

A table of CONFIG_DB is a container of that name in the container of a module. Its rows are a list, whose keys
are the parts of the row's key between bars. A row whose fields are not leaves but a map (`DSCP_TO_TC_MAP`,
`CABLE_LENGTH`) has a list within, whose key is the field's name and whose other leaf is its value. All that
is read from the models; nothing here names a table.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from yangson import DataModel  # type: ignore[import-untyped]
from yangson.enumerations import ContentType, ValidationScope  # type: ignore[import-untyped]
from yangson.exceptions import YangsonException  # type: ignore[import-untyped]
from yangson.schemanode import ContainerNode, LeafNode, ListNode, TerminalNode  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterator

Tables = dict[str, dict[str, dict[str, str]]]

#: What is raised of what a model refuses.
Invalid = YangsonException
#: Modules that SONiC makes from templates, and those of the IETF that models import.
OWN = Path(__file__).parent / "yang"
#: Modules of the tables that are written; those that they import come with them.
MODULES = (
    "sonic-port",
    "sonic-cable-length",
    "sonic-buffer-pool",
    "sonic-buffer-profile",
    "sonic-buffer-pg",
    "sonic-port-qos-map",
    "sonic-wred-profile",
    "sonic-queue",
    "sonic-pfcwd",
)


def published() -> Path:
    """Return the folder of the published models; a test is skipped where there is none."""
    reference = os.environ.get("FLOODWAY_REFERENCE")
    if not reference:
        pytest.skip("FLOODWAY_REFERENCE is not set: it names the folder with SONiC's YANG models")
    return Path(reference) / "reference" / "sonic" / "yang"


@cache
def model() -> DataModel:
    """Return the models of the tables that are written."""
    folders = (OWN, published())
    texts: dict[str, str] = {}
    left = list(MODULES)
    while left:
        name = left.pop()
        if name in texts:
            continue
        file = next(folder / f"{name}.yang" for folder in folders if (folder / f"{name}.yang").is_file())
        texts[name] = file.read_text(encoding="utf-8")
        left += re.findall(r"^\s*import\s+([\w-]+)", texts[name], re.MULTILINE)
    library = {
        "ietf-yang-library:modules-state": {
            "module-set-id": "sonic",
            "module": [_module(name, text) for name, text in texts.items()],
        }
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            # The same in XPath for a leaf; yangson knows only the second.
            plain = text.replace("[text()=", "[.=")
            (Path(folder) / f"{name}.yang").write_text(plain, encoding="utf-8")
        return DataModel(json.dumps(library), (folder,))


def _module(name: str, text: str) -> dict[str, str]:
    space = re.search(r"namespace\s+\"([^\"]+)\"", text)
    assert space is not None
    return {
        "name": name,
        "revision": max(re.findall(r"^\s*revision\s+\"?(\d{4}-\d\d-\d\d)", text, re.MULTILINE)),
        "namespace": space[1],
        "conformance-type": "implement",
    }


def instance(tables: Tables) -> dict[str, Any]:
    """Return tables of CONFIG_DB as JSON of their models (RFC 7951)."""
    found: dict[str, Any] = {}
    for table, rows in tables.items():
        module, container = _container(table)
        found.setdefault(f"{module}:{module}", {})[table] = _rows(container, rows)
    return found


def validate(tables: Tables) -> None:
    """Hold tables against their models: types, ranges, references, `must` and `when`."""
    root = model().from_raw(instance(tables))
    root.validate(ValidationScope.all, ContentType.config)


def has(table: str) -> bool:
    """Whether a table is of these models."""
    return any(name == table for name, _, _ in _tables())


def _tables() -> Iterator[tuple[str, str, ContainerNode]]:
    """Return name, module and container of every table."""
    for top in model().schema.children:
        for child in getattr(top, "children", ()):
            if isinstance(child, ContainerNode):
                yield child.name, top.name, child


def _container(table: str) -> tuple[str, ContainerNode]:
    for name, module, container in _tables():
        if name == table:
            return module, container
    raise AssertionError(f"no model has the table {table}")


def _rows(container: ContainerNode, rows: dict[str, dict[str, str]]) -> dict[str, Any]:
    lists = [child for child in container.children if isinstance(child, ListNode)]
    found: dict[str, list[Any]] = {}
    for key, fields in rows.items():
        parts = key.split("|")
        entry = next(each for each in lists if len(each.keys) == len(parts))
        leaves = dict(zip((name for name, _ in entry.keys), parts, strict=True))
        inner = next((child for child in entry.children if isinstance(child, ListNode)), None)
        row = {name: _raw(entry, name, value) for name, value in leaves.items()}
        if inner is None:
            row |= {name: _raw(entry, name, value) for name, value in fields.items()}
        else:
            row[inner.name] = [_pair(inner, name, value) for name, value in fields.items()]
        found.setdefault(entry.name, []).append(row)
    return found


def _pair(inner: ListNode, name: str, value: str) -> dict[str, Any]:
    (key,) = (each for each, _ in inner.keys)
    (other,) = (each.name for each in inner.children if each.name != key and isinstance(each, LeafNode))
    return {key: _raw(inner, key, name), other: _raw(inner, other, value)}


def _raw(entry: ListNode, name: str, text: str) -> Any:  # noqa: ANN401 (any JSON value)
    """Return a text of CONFIG_DB as JSON of its leaf: a number, a boolean, or a text."""
    leaf = next((child for child in entry.children if child.name == name), None)
    assert isinstance(leaf, TerminalNode), f"{entry.name} has no leaf {name}"
    value = leaf.type.parse_value(text)
    return leaf.type.to_raw(value)
