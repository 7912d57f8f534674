"""The commands `floodway list`, `floodway explain` and `floodway schema`."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from floodway import _floodway
from floodway.cli.catalog.entries import chips, entries, find, left_out, page_of, paper_entries
from floodway.cli.output import DONE, echo, echo_json
from floodway.cli.terminal import Terminal
from floodway.common.documents.model import fields_of
from floodway.common.errors import UnknownNameError
from floodway.common.files import parse_toml, read_text
from floodway.common.ready import root_of, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from floodway.cli.catalog.model import Entry

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


#: Further columns of these lists, by the names of attributes.
FURTHER_COLUMNS = {"topologies": ("size", "source"), "models": ("source",)}


def list_(kind: str, *, folder: Path | None, json_: bool) -> int:
    """Print a list, and return the exit code."""
    if kind == "scenarios":
        scenarios = _ready_scenarios(folder)
        ready = [{"file": str(file), "description": description} for file, description in scenarios]
        return _print_ready(ready, json_=json_)
    if kind == "studies":
        from floodway.study.format.read import ready_studies  # noqa: PLC0415 (the other lists need none of it)

        studies = ready_studies(folder)
        ready = [{"file": str(file), "title": title, "shows": shows} for file, title, shows in studies]
        return _print_ready(ready, json_=json_)
    listed = (
        OTHER_LISTS[kind]()
        if kind in OTHER_LISTS
        else [entry for entry in entries() if entry.kind in KINDS[kind]]
    )
    if json_:
        echo_json([_summary_of(entry) for entry in listed])
        return DONE
    further = FURTHER_COLUMNS.get(kind, ())
    _print_rows(
        [(entry.slot, entry.name, entry.headline, *fields_of(entry, *further).values()) for entry in listed]
    )
    if kind == "topologies":
        echo(f"\nleft out: {'; '.join(f'{name} ({why})' for name, why in left_out())}")
    # A paper may have the name of the mechanism that it is about.
    name = "paper.NAME" if kind == "papers" else "NAME"
    echo(f"\nfloodway explain {name} shows the details.")
    return DONE


def explain(name: str, *, json_: bool) -> int:
    """Print the pages of a name's entries, and return the exit code."""
    matches = find(name)
    if json_:
        echo_json([dataclasses.asdict(entry) for entry in matches])
        return DONE
    console = Terminal()
    if not console.is_terminal:
        echo("\n".join(page_of(entry) for entry in matches).rstrip())
        return DONE
    # Imported here: it takes as long to import as everything else.
    from rich.markdown import Markdown  # noqa: PLC0415

    for entry in matches:
        console.print(Markdown(page_of(entry)))
    return DONE


def schema(kind: str) -> int:
    """Print the grammar of a `scenario` or a `study` as JSON Schema, and return the exit code."""
    text = _floodway.study_schema_json() if kind == "study" else _floodway.schema_json()
    echo_json(json.loads(text))
    return DONE


def _print_ready(ready: list[dict[str, str]], *, json_: bool) -> int:
    """Print the files of scenarios or studies with their descriptions."""
    if json_:
        echo_json(ready)
    else:
        _print_rows([(str(shown(Path(entry.pop("file")))), *entry.values()) for entry in ready])
    return DONE


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


def _summary_of(entry: Entry) -> dict[str, Any]:
    summary = fields_of(entry, "kind", "slot", "name", "summary")
    if entry.other_names:
        return {**summary, "other_names": list(entry.other_names)}
    return summary | fields_of(
        entry, *{"model": ("source",), "preset": ("size", "source")}.get(entry.kind, ())
    )


def _ready_scenarios(folder: Path | None) -> tuple[tuple[Path, str], ...]:
    """Return the files of the scenarios in a folder and its subfolders, each with its description.

    The default is `scenarios/` in the working folder, or if there is none, that of the package.

    Raises
    ------
    UnknownNameError
        If there is no such folder, or no file of TOML in it.
    """
    files = sorted(root_of("scenarios", folder).rglob("*.toml"))
    if not files and folder is not None:
        message = f"{str(folder)!r} has no scenarios: no file there ends in .toml"
        raise UnknownNameError(message, given=str(folder))
    return tuple((file, _description(file)) for file in files)


def _description(file: Path) -> str:
    try:
        description = parse_toml(read_text(file)).get("description", "")
    except (OSError, ValueError) as error:
        description = f"cannot be read: {error}"
    return " ".join(str(description).split())
