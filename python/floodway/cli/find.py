"""`floodway list`, `floodway explain` and `floodway schema`."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

from rich.table import Table

from floodway import _floodway
from floodway.cli.catalog import chips, entries, find, left_out, page_of, paper_entries, ready_scenarios
from floodway.cli.output import echo
from floodway.cli.terminal import Terminal
from floodway.common.ready import shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from floodway.cli.catalog import Entry

__all__ = ["KINDS", "explain", "list_", "schema"]

#: What can be listed, and the kinds of entries in it.
KINDS = {
    "mechanisms": ("mechanism",),
    "topologies": ("topology", "preset"),
    "workloads": ("workload", "sizes"),
    "models": ("model",),
}
#: What can be listed beside them.
OTHERS: dict[str, Callable[[], tuple[Entry, ...]]] = {
    "chips": chips,
    "papers": paper_entries,
}


def list_(what: str, *, folder: Path | None, json_: bool) -> int:
    """Print what there is of one sort; returns the exit code."""
    if what == "scenarios":
        return _list_scenarios(folder, json_=json_)
    if what == "studies":
        return _list_studies(folder, json_=json_)
    found = OTHERS[what]() if what in OTHERS else [entry for entry in entries() if entry.kind in KINDS[what]]
    if json_:
        return _print_json([_named(entry) for entry in found])
    rows: list[tuple[str, ...]] = [(entry.slot, entry.name, entry.headline) for entry in found]
    if what == "topologies":
        sizes = [(entry.size, entry.source) for entry in found]
        rows = [(*row, *size) for row, size in zip(rows, sizes, strict=True)]
    elif what == "models":
        rows = [(*row, entry.source) for row, entry in zip(rows, found, strict=True)]
    _print_rows(rows)
    if what == "topologies":
        echo(f"\nleft out: {'; '.join(f'{name} ({why})' for name, why in left_out())}")
    # A paper may have the name of the mechanism that it is about.
    name = "paper.NAME" if what == "papers" else "NAME"
    echo(f"\nfloodway explain {name} shows the details.")
    return 0


def explain(name: str, *, json_: bool) -> int:
    """Print what is known about a name; returns the exit code."""
    found = find(name)
    if json_:
        return _print_json([dataclasses.asdict(entry) for entry in found])
    console = Terminal()
    if not console.is_terminal:
        echo("\n".join(page_of(entry) for entry in found).rstrip())
        return 0
    # Takes as long to import as all the rest.
    from rich.markdown import Markdown  # noqa: PLC0415

    for entry in found:
        console.print(Markdown(page_of(entry)))
    return 0


def schema(of: str) -> int:
    """Print the grammar of a `scenario` or a `study` as JSON Schema; returns the exit code."""
    text = _floodway.study_schema_json() if of == "study" else _floodway.schema_json()
    return _print_json(json.loads(text))


def _list_scenarios(folder: Path | None, *, json_: bool) -> int:
    found = ready_scenarios(folder)
    if json_:
        return _print_json([{"file": str(of.file), "description": of.description} for of in found])
    _print_rows([(str(shown(scenario.file)), scenario.description) for scenario in found])
    return 0


def _list_studies(folder: Path | None, *, json_: bool) -> int:
    from floodway.study.format.papers import ready_studies  # noqa: PLC0415 (the other lists need none of it)

    found = ready_studies(folder)
    if json_:
        return _print_json(
            [{"file": str(file), "title": title, "shows": shows} for file, title, shows in found]
        )
    _print_rows([(str(shown(file)), title, shows) for file, title, shows in found])
    return 0


def _print_rows(rows: list[tuple[str, ...]]) -> None:
    """Print rows below one another; on a terminal long texts are broken within their column."""
    console = Terminal()
    if console.is_terminal:
        table = Table(box=None, pad_edge=False, show_header=False)
        for row in rows:
            table.add_row(*row)
        console.print(table)
        return
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        echo("  ".join(cells).rstrip())


def _named(entry: Entry) -> dict[str, object]:
    named: dict[str, object] = {
        "kind": entry.kind,
        "slot": entry.slot,
        "name": entry.name,
        "summary": entry.summary,
    }
    if entry.other_names:
        return {**named, "other_names": list(entry.other_names)}
    if entry.kind == "model":
        return {**named, "source": entry.source}
    return {**named, "size": entry.size, "source": entry.source} if entry.kind == "preset" else named


def _print_json(value: object) -> int:
    echo(json.dumps(value, indent=2, ensure_ascii=False))
    return 0
