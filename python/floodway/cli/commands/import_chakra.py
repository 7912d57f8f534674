"""Definition of `floodway import chakra`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path

import click

from floodway.cli.commands.import_options import imported, trace_options

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
def command(  # noqa: PLR0913 (one argument an option)
    *,
    files: tuple[Path, ...],
    topology: str | None,
    gpu_nodes: str | None,
    config: Path | None,
    rate: str | None,
    delay: str | None,
    trace: tuple[str, ...],
    out: Path | None,
    force: bool,
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
        gpu_nodes=gpu_nodes,
        config=config,
        rate=rate,
        delay=delay,
        trace=trace,
        out=out,
        force=force,
    )
