"""Definition of `floodway list`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from floodway.cli import options
from floodway.common.loading import loading

__all__ = ["command"]


@click.command()
@click.argument(
    "kind",
    type=click.Choice(
        ["mechanisms", "topologies", "workloads", "models", "chips", "papers", "scenarios", "studies"]
    ),
    metavar="WHAT",
    help="What to list.",
)
@click.argument(
    "folder",
    required=False,
    type=click.Path(path_type=Path),
    metavar="[FOLDER]",
    help="Folder of the scenarios or studies, by default scenarios/ or studies/.",
)
@options.python
@options.json
def command(
    *,
    kind: Literal[
        "mechanisms", "topologies", "workloads", "models", "chips", "papers", "scenarios", "studies"
    ],
    folder: Path | None,
    python: tuple[Path, ...],  # noqa: ARG001 (its callback has run them)
    json: bool,
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
    if folder is not None and kind not in {"scenarios", "studies"}:
        raise click.BadParameter(
            f"a folder is for scenarios and studies, not for {kind}", param_hint="FOLDER"
        )
    with loading():
        from floodway.cli import find as finding
    return finding.list_(kind, folder=folder, json_=json)
