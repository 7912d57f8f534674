"""The commands `floodway list`, `floodway explain` and `floodway schema`."""

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

#: Lists, with the kinds of entries in them.
KINDS = {
    "mechanisms": ("mechanism",),
    "topologies": ("topology", "preset"),
    "workloads": ("workload", "sizes"),
    "models": ("model",),
}
#: Lists of entries that scenarios do not name.
OTHER_LISTS: dict[str, Callable[[], tuple[Entry, ...]]] = {
    "chips": chips,
    "papers": paper_entries,
}


def list_(kind: str, *, folder: Path | None, json_: bool) -> int:
    """Print a list, and return the exit code."""
    if kind == "scenarios":
        return _list_scenarios(folder, json_=json_)
    if kind == "studies":
        return _list_studies(folder, json_=json_)
    listed = (
        OTHER_LISTS[kind]()
        if kind in OTHER_LISTS
        else [entry for entry in entries() if entry.kind in KINDS[kind]]
    )
    if json_:
        return _print_json([_summary_of(entry) for entry in listed])
    rows: list[tuple[str, ...]] = [(entry.slot, entry.name, entry.headline) for entry in listed]
    if kind == "topologies":
        sizes = [(entry.size, entry.source) for entry in listed]
        rows = [(*row, *size) for row, size in zip(rows, sizes, strict=True)]
    elif kind == "models":
        rows = [(*row, entry.source) for row, entry in zip(rows, listed, strict=True)]
    _print_rows(rows)
    if kind == "topologies":
        echo(f"\nleft out: {'; '.join(f'{name} ({why})' for name, why in left_out())}")
    # A paper may have the name of the mechanism that it is about.
    name = "paper.NAME" if kind == "papers" else "NAME"
    echo(f"\nfloodway explain {name} shows the details.")
    return 0


def explain(name: str, *, json_: bool) -> int:
    """Print the pages of a name's entries, and return the exit code."""
    matches = find(name)
    if json_:
        return _print_json([dataclasses.asdict(entry) for entry in matches])
    console = Terminal()
    if not console.is_terminal:
        echo("\n".join(page_of(entry) for entry in matches).rstrip())
        return 0
    # Imported here: it takes as long to import as everything else.
    from rich.markdown import Markdown  # noqa: PLC0415

    for entry in matches:
        console.print(Markdown(page_of(entry)))
    return 0


def schema(kind: str) -> int:
    """Print the grammar of a `scenario` or a `study` as JSON Schema, and return the exit code."""
    text = _floodway.study_schema_json() if kind == "study" else _floodway.schema_json()
    return _print_json(json.loads(text))


def _list_scenarios(folder: Path | None, *, json_: bool) -> int:
    scenarios = ready_scenarios(folder)
    if json_:
        return _print_json(
            [{"file": str(scenario.file), "description": scenario.description} for scenario in scenarios]
        )
    _print_rows([(str(shown(scenario.file)), scenario.description) for scenario in scenarios])
    return 0


def _list_studies(folder: Path | None, *, json_: bool) -> int:
    from floodway.study.format.papers import ready_studies  # noqa: PLC0415 (the other lists need none of it)

    studies = ready_studies(folder)
    if json_:
        return _print_json(
            [{"file": str(file), "title": title, "shows": shows} for file, title, shows in studies]
        )
    _print_rows([(str(shown(file)), title, shows) for file, title, shows in studies])
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


def _summary_of(entry: Entry) -> dict[str, object]:
    summary: dict[str, object] = {
        "kind": entry.kind,
        "slot": entry.slot,
        "name": entry.name,
        "summary": entry.summary,
    }
    if entry.other_names:
        return {**summary, "other_names": list(entry.other_names)}
    if entry.kind == "model":
        return {**summary, "source": entry.source}
    return {**summary, "size": entry.size, "source": entry.source} if entry.kind == "preset" else summary


def _print_json(value: object) -> int:
    echo(json.dumps(value, indent=2, ensure_ascii=False))
    return 0
