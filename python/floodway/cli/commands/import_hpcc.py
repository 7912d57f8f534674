"""Definition of `floodway import hpcc`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floodway.loading import loading

__all__ = ["command"]


def command(
    config: Annotated[
        Path,
        typer.Argument(
            metavar="CONFIG",
            help="The simulator's configuration, which names topology and flows.",
            show_default=False,
        ),
    ],
    *,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The scenario's file.", show_default="stdout"),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace a file that is there already.", show_default=False)
    ] = False,
) -> int:
    """Write the scenario of a configuration of the HPCC simulator.

    Differences from that simulator, and keys without effect, are printed to stderr. `run`, `check` and
    `compare` take a configuration as it is.

    \b
    Examples:
      floodway import hpcc scenarios/hpcc/config.txt --out scenario.toml
      floodway run scenarios/hpcc/config.txt

    \b
    Exit codes:
      0    done
      2    bad usage, a file with a fault, or a key that cannot be simulated; nothing is written
    """
    with loading():
        from floodway.cli import import_ as importing
    return importing.import_hpcc(config, out=out, force=force)
