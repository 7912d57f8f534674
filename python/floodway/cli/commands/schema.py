"""Definition of `floodway schema`: arguments, options and help."""

from __future__ import annotations

import click

from floodway.loading import loading

__all__ = ["command"]


@click.command()
def command() -> int:
    """Print the grammar of scenarios as JSON Schema, for editors and other programs.

    \b
    Example:
      floodway schema > scenario.schema.json
    """
    with loading():
        from floodway.cli import find as finding
    return finding.schema()
