"""Definition of `floodway study`: arguments, options and help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from floodway.cli import options
from floodway.cli.commands.study_request import study_options, study_request
from floodway.common.loading import loading

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command(cls=options.GroupedCommand)
@options.paths("studies", "STUDY", "The study's TOML file, or several.")
@options.python
@study_options(out="out/study/STUDY")
def command(*, studies: tuple[Path, ...], **values: Any) -> int:
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
    request = study_request(values)
    with loading():
        from floodway.cli import study as studying
    return studying.study(studies, request)
