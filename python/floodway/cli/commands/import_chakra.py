"""Definition of `floodway import chakra`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floodway.cli.commands.import_options import (
    Delay,
    ForceFile,
    OutFile,
    Rate,
    Topology,
    TraceKeys,
    imported,
)

__all__ = ["command"]


def command(  # noqa: PLR0913 (one argument an option)
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER",
            help="Folder with a file NAME.<rank>.et for each rank, or these files.",
            show_default=False,
        ),
    ],
    *,
    topology: Topology = None,
    rate: Rate = None,
    delay: Delay = None,
    trace: TraceKeys = None,
    out: OutFile = None,
    force: ForceFile = False,
) -> int:
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
    return imported(
        "chakra",
        files,
        topology=topology,
        rate=rate,
        delay=delay,
        trace=trace,
        out=out,
        force=force,
    )
