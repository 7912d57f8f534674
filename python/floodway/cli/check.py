"""The command `floodway check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway import _floodway
from floodway.cli.exits import DONE
from floodway.cli.inputs import parsed
from floodway.cli.output import echo

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["check"]


def check(path: Path, *, sets: Sequence[str], resolved: bool, json: bool) -> int:
    """Print the network of a scenario, and return the exit code."""
    scenario = parsed(path, sets=sets)
    report = _floodway.check(scenario.native, resolved=resolved)
    echo(report.json if json else report.text.rstrip("\n"))
    too_large = _floodway.Plan(scenario.native).too_large
    if too_large:
        echo(f"warning: a run would be refused: {too_large}", err=True)
    return DONE
