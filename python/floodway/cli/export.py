"""The commands of `floodway export`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from floodway import _floodway
from floodway.cli.exits import DONE
from floodway.cli.inputs import parsed
from floodway.cli.new_file import new_file
from floodway.cli.output import echo, warnings
from floodway.results import perfetto, read
from floodway.results.folders import run_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["export_goal", "export_perfetto"]


def export_goal(
    path: Path, *, sets: Sequence[str], workload: str | None, out: Path | None, force: bool
) -> int:
    """Write a job of a scenario as GOAL, and return the exit code."""
    scenario = parsed(path, sets=sets)
    if out is None:
        notes = _floodway.export_goal(scenario.native, sys.stdout.write, workload=workload)
    else:
        with new_file(out, force=force) as file:
            notes = _floodway.export_goal(scenario.native, file.write, workload=workload)
    warnings(notes)
    return DONE


def export_perfetto(folder: Path, *, out: Path | None, force: bool) -> int:
    """Write the trace of a run, and return the exit code."""
    result = read(run_folder(folder))
    file = out if out is not None else folder / perfetto.FILE
    with new_file(file, force=force, mode="wb") as opened:
        opened.write(perfetto.trace(result))
    warnings(perfetto.notes(result))
    echo(str(file))
    return DONE
