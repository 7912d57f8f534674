"""Definition of `floodway import chakra`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from floodway.cli.commands.import_options import TraceOptions, imported, trace_options

__all__ = ["command"]


@click.command()
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder with a file NAME.<rank>.et for each rank, or these files.",
)
@trace_options
def command(*, files: tuple[Path, ...], **options: Unpack[TraceOptions]) -> int:
    """Make a scenario that runs execution traces of Chakra.

    Without --topology the network is a switch with a host for each rank. Warnings say what is not used.

    \b
    Examples:
      floodway import chakra scenarios/jobs/chakra --out job.toml
      floodway import chakra scenarios/jobs/chakra --trace algorithm=halving-doubling --rate 100G

    \b
    Exit codes:
      0    done
      2    bad usage, or a file with an error; nothing is written
    """
    return imported("chakra", files, options)
