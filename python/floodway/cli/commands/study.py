"""Definition of `floodway study`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from floodway.cli import options
from floodway.cli.commands.study_request import with_study_request
from floodway.cli.option_groups import GroupedCommand
from floodway.common.loading import loading

if TYPE_CHECKING:
    from floodway.cli.study import Request

__all__ = ["command"]


@click.command(cls=GroupedCommand)
@click.argument(
    "studies",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="STUDY",
    help="The study's TOML file, or several.",
)
@options.python
@with_study_request(out="out/study/STUDY")
def command(*, studies: tuple[Path, ...], python: tuple[Path, ...], request: Request) -> int:  # noqa: ARG001 (the callback of `--python` has run its files)
    """Run a study: variants, axes and seeds, compared with published numbers.

    If it is interrupted, the same command continues: completed runs are not run again.

    \b
    Examples:
      floodway study studies/example.toml
      floodway study studies/example.toml --quick
      floodway study studies/example.toml --status
      floodway study studies/example.toml --seeds 1,2,7 --out out/seven
      floodway study studies/example.toml --shard 0/4
      floodway study studies/example.toml --slurm
      floodway study studies/example.toml --format pdf,svg --width 3.4 --font-size 8 --title ''

    \b
    Exit codes:
      0    done
      1    a run failed; the report and the results of the other runs are written. Or results could not be
           written; completed runs are kept
      2    bad usage, study or scenario, or with --report missing runs; nothing has run
      130  interrupted by Ctrl-C; completed runs are kept
      143  interrupted by SIGTERM; as 130
    """
    with loading():
        from floodway.cli import study as studying
    return studying.study(studies, request)
