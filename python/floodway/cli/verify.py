"""`floodway verify`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from floodway.cli.exits import DONE, FAILED
from floodway.cli.output import echo
from floodway.common.errors import OutputError
from floodway.results.folders import STUDY_FILE
from floodway.results.quantities import counted
from floodway.results.verification import not_covered, verified_all

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from floodway.results.verification import Verified

__all__ = ["verify"]


def verify(folders: Sequence[Path], *, quiet: bool, json_: bool) -> int:
    """Compare results with their digests, print a line a run; returns the exit code."""
    by_folder = {folder: _of(folder) for folder in folders}
    found = [each for own in by_folder.values() for each in own]
    if json_:
        documents = [
            _document(each, left_out=not_covered(folder)) for folder, own in by_folder.items() for each in own
        ]
        echo(json.dumps(documents, indent=2, ensure_ascii=False))
    for folder, own in by_folder.items():
        _show(own, quiet=quiet or json_)
        left_out = not_covered(folder)
        if left_out and not (quiet or json_):
            echo(f"{folder}: not covered: {left_out}; {_again(folder)}")
    return DONE if all(each.has_digests and not each.faults for each in found) else FAILED


def _show(found: Sequence[Verified], *, quiet: bool) -> None:
    """Print a line for each run, and for each fault."""
    for each in found:
        if each.faults:
            for fault in each.faults:
                echo(f"error: {each.folder}: {fault}", err=True)
        elif not each.has_digests:
            reason = "cannot be verified: an earlier version wrote it without digests"
            echo(f"error: {each.folder}: {reason}", err=True)
        elif not quiet:
            echo(f"{each.folder}: unchanged: {counted(each.files, 'file')}, {counted(each.bytes, 'byte')}")


def _again(folder: Path) -> str:
    """Return how files without digests are made again."""
    if (folder / STUDY_FILE).is_file():
        return "the same study makes them again from the runs"
    return "the same comparison with --force makes them again, with the runs"


def _of(folder: Path) -> list[Verified]:
    found = list(verified_all(folder))
    if not found:
        raise OutputError(str(folder), "holds no run that has ended")
    return found


def _document(found: Verified, *, left_out: str) -> dict[str, Any]:
    return {
        "folder": str(found.folder),
        "as_written": found.has_digests and not found.faults,
        "has_digests": found.has_digests,
        "faults": list(found.faults),
        "files": found.files,
        "bytes": found.bytes,
        "not_covered": left_out or None,
    }
