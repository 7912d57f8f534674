"""What folders hold: results of runs, and variants of comparisons with all their seeds."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.errors import OutputError
from floodway.names import nearest
from floodway.plot.curves import Source
from floodway.results.store import RUN_FILE, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway.results import Result

__all__ = ["folder_labels", "sources_of"]

#: What tells the folder of a comparison from any other.
COMPARISON_FILE = "compare.json"


def sources_of(folders: Sequence[str | os.PathLike[str]]) -> tuple[Source, ...]:
    """Read folders that `run` or `compare` wrote.

    Parameters
    ----------
    folders
        A run becomes a source that is called after its folder; a comparison, one for each variant, which
        has the folder before its label where several folders are given.

    Raises
    ------
    OutputError
        If one does not exist, or holds no results.
    """
    labels = folder_labels(folders)
    read_so_far: dict[str, list[Result]] = {}
    for folder, label in zip(folders, labels, strict=True):
        for variant, result in _results(Path(folder)):
            named = label if variant is None else variant if len(folders) == 1 else f"{label}: {variant}"
            read_so_far.setdefault(named, []).append(result)
    return tuple(Source(label=label, results=tuple(own)) for label, own in read_so_far.items())


def folder_labels(folders: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Call folders by their names, with the folders around them where names are the same.

    Raises
    ------
    OutputError
        If a folder is given twice.

    Examples
    --------
    >>> folder_labels(["out/a/pfc", "out/b/pfc"])
    ['a/pfc', 'b/pfc']
    """
    whole = [Path(folder).resolve() for folder in folders]
    twice = next((place for place, count in Counter(whole).items() if count > 1), None)
    if twice is not None:
        raise OutputError(str(twice), "is given twice")
    depth = 1
    while len({parts[-depth:] for parts in (path.parts for path in whole)}) < len(whole):
        depth += 1
    return ["/".join(path.parts[-depth:]) for path in whole]


def _results(folder: Path) -> Iterator[tuple[str | None, Result]]:
    """Read a run, or the runs of a comparison with the labels of their variants."""
    _refuse(folder)
    if not (folder / COMPARISON_FILE).is_file():
        yield None, read(folder)
        return
    for variant, name in _runs(folder):
        yield variant, read(folder / name)


def _runs(folder: Path) -> list[tuple[str, str]]:
    try:
        document = json.loads((folder / COMPARISON_FILE).read_text(encoding="utf-8"))
        runs = [(str(run["variant"]), str(run["folder"])) for run in document["runs"]]
    except OSError as error:
        raise OutputError(os.fspath(folder), f"cannot be read: {error.strerror or error}") from error
    except (KeyError, TypeError, ValueError) as error:
        reason = f"its {COMPARISON_FILE} is not one that this version can read"
        raise OutputError(os.fspath(folder), reason) from error
    if not runs:
        raise OutputError(os.fspath(folder), "is a comparison of which no run has ended")
    return runs


def _refuse(folder: Path) -> None:
    """Say what a folder lacks to hold results."""
    shown = os.fspath(folder)
    if not folder.exists():
        near = nearest(folder.name, _siblings(folder))
        hint = f"; did you mean {folder.parent / near}?" if near else ""
        raise OutputError(shown, f"no such folder{hint}")
    if not folder.is_dir():
        raise OutputError(shown, "is not a folder; give the folder that `floodway run` wrote")
    if any((folder / name).is_file() for name in (RUN_FILE, COMPARISON_FILE)):
        return
    lacks = f"holds no results: it has neither {RUN_FILE} (of a run) nor {COMPARISON_FILE} (of a comparison)"
    inside = sorted(entry.name for entry in folder.iterdir() if (entry / RUN_FILE).is_file())
    raise OutputError(shown, f"{lacks}; folders inside that do: {', '.join(inside)}" if inside else lacks)


def _siblings(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.resolve().parent.iterdir() if entry.is_dir()]
    except OSError:
        return []
