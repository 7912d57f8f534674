"""Definition of `floodway import hpcc`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path

import click

from floodway.common.loading import loading

__all__ = ["command"]


@click.command()
@click.argument(
    "config",
    type=click.Path(path_type=Path),
    metavar="CONFIG",
    help="The simulator's configuration file, which names the files of topology and flows.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File of the scenario.",
    show_default="stdout",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
def command(
    *,
    config: Path,
    out: Path | None,
    force: bool,
) -> int:
    """Convert a configuration of the HPCC simulator to a scenario.

    Differences from that simulator, and keys without effect, are printed to stderr. `run`, `check` and
    `compare` also read configurations directly.

    \b
    Examples:
      floodway import hpcc scenarios/hpcc/config.txt --out scenario.toml
      floodway run scenarios/hpcc/config.txt

    \b
    Exit codes:
      0    done
      2    bad usage, a file with an error, or a key that cannot be simulated; nothing is written
    """
    with loading():
        from floodway.cli import import_ as importing
    return importing.import_hpcc(config, out=out, force=force)
