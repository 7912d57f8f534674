"""Definition of `floodway schema`: arguments, options and help."""

from __future__ import annotations

import click

from floodway.common.loading import loading

__all__ = ["command"]


@click.command()
@click.argument("kind", type=click.Choice(["scenario", "study"]), default="scenario")
def command(kind: str) -> int:
    """Print the grammar of scenarios or of studies as JSON Schema, for editors and other programs.

    \b
    Examples:
      floodway schema > scenario.schema.json
      floodway schema study > study.schema.json
    """
    with loading():
        from floodway.cli import find as finding
    return finding.schema(kind)
