"""Folders with results: of a run, or of a comparison and its runs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from floodway.common.errors import OutputError
from floodway.common.files import read_json
from floodway.common.names import nearest
from floodway.results.digests import RUN_FILE

__all__ = ["COMPARISON_FILE", "STUDY_FILE", "refuse_collections", "refuse_others", "run_folder", "runs_of"]

#: The file that identifies the folder of a comparison.
COMPARISON_FILE = "compare.json"
#: The file that identifies the folder of a study.
STUDY_FILE = "study.json"
#: Runs of a study that an error names.
MOST_NAMED = 2


def run_folder(folder: str | os.PathLike[str]) -> Path:
    """Return the folder of one run.

    Raises
    ------
    OutputError
        If it is a comparison, whose runs are named, or something else.
    """
    path = Path(folder)
    refuse_others(path)
    if (path / RUN_FILE).is_file():
        return path
    raise _is_comparison(path)


def refuse_collections(path: Path) -> None:
    """Name the runs of a folder that holds those of a comparison or of a study, instead of a run.

    Raises
    ------
    OutputError
        If it holds such runs, or there is no such folder.
    """
    if (path / COMPARISON_FILE).is_file():
        raise _is_comparison(path)
    if (path / STUDY_FILE).is_file():
        runs = sorted(file.parent for file in path.glob(f"runs/*/{RUN_FILE}"))
        names = ", ".join(map(str, runs[:MOST_NAMED])) + (", ..." if len(runs) > MOST_NAMED else "")
        raise OutputError(os.fspath(path), f"is a study: name one of its runs: {names or 'none has ended'}")
    if not path.exists():
        refuse_others(path)


def _is_comparison(path: Path) -> OutputError:
    inside = ", ".join(str(path / run.folder) for run in runs_of(path))
    return OutputError(os.fspath(path), f"is a comparison: name one of its runs: {inside}")


@dataclass(frozen=True, kw_only=True)
class ListedRun:
    """A run of a comparison, as that lists it.

    Attributes
    ----------
    variant
        The label of its variant.
    folder
        Its folder inside that of the comparison.
    key
        The hash of what decides its result; none in comparisons of earlier versions.
    """

    variant: str
    folder: str
    key: str | None


def runs_of(folder: Path) -> list[ListedRun]:
    """Return the runs of a comparison that have ended.

    Raises
    ------
    OutputError
        If it cannot be read, or no run has ended.
    """
    try:
        document = read_json(folder / COMPARISON_FILE)
        runs = [
            ListedRun(variant=str(run["variant"]), folder=str(run["folder"]), key=run.get("key"))
            for run in document["runs"]
        ]
    except OSError as error:
        raise OutputError(os.fspath(folder), f"cannot be read: {error.strerror or error}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = f"its {COMPARISON_FILE} is not one that this version can read"
        raise OutputError(os.fspath(folder), reason) from error
    if not runs:
        raise OutputError(os.fspath(folder), "is a comparison of which no run has ended")
    return runs


def refuse_others(folder: Path) -> None:
    """Say what a folder lacks to hold results.

    Raises
    ------
    OutputError
        If it holds neither a run nor a comparison.
    """
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
