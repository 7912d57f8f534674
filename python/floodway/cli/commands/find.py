"""Definitions of `floodway list`, `explain` and `schema`: arguments, options and help."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from floodway.cli import options
from floodway.cli.options import explained_names
from floodway.common.loading import loading

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["explain", "list_", "schema"]


@click.command()
@click.argument(
    "kind",
    type=click.Choice(
        ["mechanisms", "topologies", "workloads", "models", "chips", "papers", "scenarios", "studies"]
    ),
    metavar="WHAT",
    help="What to list.",
)
@options.path(
    "folder",
    "[FOLDER]",
    "Folder of the scenarios or studies, by default scenarios/ or studies/.",
    required=False,
)
@options.python
@options.json
def list_(*, kind: str, folder: Path | None, json: bool) -> int:
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


@click.command()
@click.argument(
    "name",
    metavar="NAME",
    help="A mechanism, topology, workload, distribution, model, chip, paper or term; SLOT.NAME if "
    "two share a name.",
    shell_complete=explained_names,
)
@options.python
@options.json
def explain(*, name: str, json: bool) -> int:
    """Describe a mechanism, topology or workload: parameters, units, defaults, sources, sizing, differences.

    \b
    Examples:
      floodway explain bifrost
      floodway explain notification.dcqcn
      floodway explain fat-tree
      floodway explain poisson
      floodway explain TH4
      floodway explain paper.swing
    """
    with loading():
        from floodway.cli import find as finding
    return finding.explain(name, json_=json)


@click.command()
@click.argument("kind", type=click.Choice(["scenario", "study"]), default="scenario")
def schema(kind: str) -> int:
    """Print the grammar of scenarios or of studies as JSON Schema, for editors and other programs.

    \b
    Examples:
      floodway schema > scenario.schema.json
      floodway schema study > study.schema.json
    """
    with loading():
        from floodway.cli import find as finding
    return finding.schema(kind)
