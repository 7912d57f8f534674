"""Definition of `floodway list`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from floodway.cli.options import Json, Python
from floodway.loading import loading

__all__ = ["command"]


def command(
    what: Annotated[
        Literal["mechanisms", "topologies", "workloads", "models", "chips", "papers", "scenarios", "studies"],
        typer.Argument(metavar="WHAT", help="What to list.", show_default=False),
    ],
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]",
            help="Folder of the scenarios or studies, by default scenarios/ or studies/.",
            show_default=False,
        ),
    ] = None,
    *,
    python: Python = None,  # noqa: ARG001 (its callback has run them)
    json: Json = False,
) -> int:
    """List what can be named, or the scenarios or studies that are ready to run.

    \b
    Examples:
      floodway list mechanisms
      floodway list topologies --json
      floodway list chips
      floodway list scenarios
      floodway list studies
    """
    if folder is not None and what not in {"scenarios", "studies"}:
        raise typer.BadParameter(
            f"a folder is for scenarios and studies, not for {what}", param_hint="FOLDER"
        )
    with loading():
        from floodway.cli import find as finding
    return finding.list_(what, folder=folder, json_=json)
