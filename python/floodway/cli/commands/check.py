"""Definition of `floodway check`: arguments, options and help."""

from __future__ import annotations

from typing import Annotated

import typer

from floodway.cli.options import Json, Python, ScenarioFile, Sets
from floodway.loading import loading

__all__ = ["command"]


def command(
    scenario: ScenarioFile,
    *,
    python: Python = None,  # noqa: ARG001 (its callback has run them)
    sets: Sets = None,
    resolved: Annotated[
        bool,
        typer.Option(
            "--resolved",
            help="Show the final settings of every object, and the line that set each.",
            show_default=False,
        ),
    ] = False,
    json: Json = False,
) -> int:
    """Build a scenario without running it, and print the network and its thresholds.

    \b
    Examples:
      floodway check scenarios/demo.toml
      floodway check scenarios/demo.toml --resolved
      floodway check scenarios/demo.toml --set mtu=4096B --json
    """
    with loading():
        from floodway.cli import check as checking
    return checking.check(scenario, sets=sets or [], resolved=resolved, json=json)
