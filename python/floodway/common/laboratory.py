"""Entry points of the package `floodway_lab`, which adds commands and reports where it is installed."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import Any

from floodway.common.errors import InputError

__all__ = ["COMMANDS", "REPORTS", "laboratory", "lacks"]

#: Groups of entry points: commands of `floodway`, and what makes the reports of studies.
COMMANDS, REPORTS = "floodway.commands", "floodway.reports"


@cache
def laboratory(group: str, name: str) -> Any:  # noqa: ANN401 (what the package has there)
    """Load an entry point of the laboratory; None where it is not installed."""
    entry_point = next(iter(entry_points(group=group, name=name)), None)
    return None if entry_point is None else entry_point.load()


def lacks(feature: str) -> InputError:
    """Return the error of a feature that needs the laboratory."""
    return InputError(
        f"{feature} needs the package floodway-lab, which is not installed: pip install ./lab in a clone of "
        "floodway",
        given=feature,
    )
