"""`floodway verify`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from floodway.cli.exits import DONE, FAILED
from floodway.cli.terminal import tell
from floodway.errors import OutputError
from floodway.results.verification import verified_all

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from floodway.results.verification import Verified

__all__ = ["verify"]


def verify(folders: Sequence[Path], *, quiet: bool, json_: bool) -> int:
    """Compare results with their digests, print a line a run; returns the exit code."""
    found = [each for folder in folders for each in _of(folder)]
    if json_:
        tell(json.dumps([_document(each) for each in found], indent=2, ensure_ascii=False))
    for each in found:
        if each.faults:
            for fault in each.faults:
                tell(f"error: {each.folder}: {fault}", err=True)
        elif not each.has_digests:
            reason = "cannot be verified: an earlier version wrote it, without digests"
            tell(f"error: {each.folder}: {reason}", err=True)
        elif not (quiet or json_):
            tell(f"{each.folder}: as it was written: {each.files} files, {each.bytes:,} bytes")
    return DONE if all(each.has_digests and not each.faults for each in found) else FAILED


def _of(folder: Path) -> list[Verified]:
    found = list(verified_all(folder))
    if not found:
        raise OutputError(str(folder), "holds no run that has ended")
    return found


def _document(found: Verified) -> dict[str, Any]:
    return {
        "folder": str(found.folder),
        "as_written": found.has_digests and not found.faults,
        "has_digests": found.has_digests,
        "faults": list(found.faults),
        "files": found.files,
        "bytes": found.bytes,
    }
