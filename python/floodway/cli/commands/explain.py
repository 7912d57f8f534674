"""Definition of `floodway explain`: arguments, options and help."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from floodway.cli import options
from floodway.cli.completions import explained_names
from floodway.common.loading import loading

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


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
def command(
    *,
    name: str,
    python: tuple[Path, ...],  # noqa: ARG001 (its callback has run them)
    json: bool,
) -> int:
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
