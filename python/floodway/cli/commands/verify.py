"""Definition of `floodway verify`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path

import click

from floodway.cli import options
from floodway.common.loading import loading

__all__ = ["command"]


@click.command()
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder that `run`, `compare`, `study` or `reproduce` wrote, or several.",
)
@click.option("--quiet", is_flag=True, help="Print only errors.")
@options.full
@options.json
def command(
    *,
    folders: tuple[Path, ...],
    quiet: bool,
    full: bool,
    json: bool,
) -> int:
    """Check that the results of runs have not changed.

    Every byte of every file of a run is checked against the digests in run.json, which has a digest of
    itself, without its timings. `plot` and `why` check the files that they read. Numbers, pictures and pages
    of a comparison or a study have no digests; the answer names them.

    \b
    Examples:
      floodway verify out/demo
      floodway verify out/compare/demo --json

    \b
    Exit codes:
      0    no run has changed
      1    a file is missing or has changed, or results of an earlier version have no digests
      2    bad usage, or no such folder
    """
    with loading():
        from floodway.cli import verify as verifying
    return verifying.verify(folders, quiet=quiet, json_=json, full=full)
