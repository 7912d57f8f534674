"""Definition of `floodway study`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floodway.cli.commands.study_request import study_request
from floodway.cli.options import (
    AlsoFormats,
    Cluster,
    FontSize,
    Jobs,
    Json,
    Log,
    NoNote,
    Python,
    Quick,
    Quiet,
    Report,
    RunAgain,
    Seeds,
    ShardText,
    Slurm,
    Status,
    Title,
    Width,
)
from floodway.cli.pictures import picture_options
from floodway.loading import loading

__all__ = ["command"]


def command(  # noqa: PLR0913 (one argument an option)
    studies: Annotated[
        list[Path],
        typer.Argument(metavar="STUDY", help="The study's TOML file, or several.", show_default=False),
    ],
    *,
    python: Python = None,  # noqa: ARG001 (its callback has run them)
    quick: Quick = False,
    seeds: Seeds = None,
    jobs: Jobs = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of runs and report.", show_default="out/study/STUDY"),
    ] = None,
    cluster: Cluster = None,
    shard: ShardText = None,
    report: Report = False,
    slurm: Slurm = False,
    status: Status = False,
    form: AlsoFormats = None,
    width: Width = None,
    font_size: FontSize = None,
    log: Log = None,
    title: Title = None,
    no_note: NoNote = False,
    force: RunAgain = False,
    quiet: Quiet = False,
    json: Json = False,
) -> int:
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
    return studying.study(
        studies,
        study_request(
            out=out,
            jobs=jobs,
            seeds=seeds,
            quick=quick,
            cluster=cluster,
            shard=shard,
            report=report,
            slurm=slurm,
            status=status,
            force=force,
            quiet=quiet,
            json=json,
            pictures=picture_options(form, width, font_size, log, title, note=not no_note),
        ),
    )
