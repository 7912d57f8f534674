"""Definition of `floodway import goal`: arguments, options and help."""

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
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The schedule, as text.",
            show_default=False,
        ),
    ],
    *,
    topology: Topology = None,
    rate: Rate = "400G",
    delay: Delay = "1us",
    trace: TraceKeys = None,
    out: OutFile = None,
    force: ForceFile = False,
) -> int:
    """Make a scenario that runs a GOAL schedule of LogGOPSim or ATLAHS.

    Without --topology the network is a switch with a host for each rank. Warnings say what is not used.

    \b
    Examples:
      floodway import goal scenarios/jobs/pipeline.goal --out pipeline.toml

    \b
    Exit codes:
      0    done
      2    bad usage, or a file with an error; nothing is written
    """
    return imported(
        "goal",
        [file],
        topology=topology,
        rate=rate,
        delay=delay,
        trace=trace,
        out=out,
        force=force,
    )
