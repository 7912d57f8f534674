"""`floodway export`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from floodway import _floodway
from floodway.cli.exits import DONE
from floodway.cli.inputs import parsed
from floodway.cli.output import echo
from floodway.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["export_goal"]


def export_goal(
    path: Path, *, sets: Sequence[str], workload: str | None, out: Path | None, force: bool
) -> int:
    """Write a job of a scenario as GOAL; returns the exit code."""
    scenario = parsed(path, sets=sets)
    if out is None:
        notes = _floodway.export_goal(scenario.native, sys.stdout.write, workload=workload)
    else:
        notes = _written(scenario.native, out, workload=workload, force=force)
    for note in notes:
        echo(f"warning: {note}", err=True)
    return DONE


def _written(scenario: _floodway.Scenario, out: Path, *, workload: str | None, force: bool) -> list[str]:
    if out.exists() and not force:
        raise OutputError(str(out), "is there already; --force replaces it")
    # Whatever goes wrong on the way leaves the file as it was.
    part = out.with_name(f".{out.name}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            notes = _floodway.export_goal(scenario, file.write, workload=workload)
        part.replace(out)
    except OSError as error:
        raise OutputError(str(out), f"cannot be written: {error.strerror}") from None
    finally:
        part.unlink(missing_ok=True)
    return notes
