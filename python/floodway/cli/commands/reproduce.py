"""Definition of `floodway reproduce`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floodway.cli.commands.study_request import study_request
from floodway.cli.completions import papers as paper_names
from floodway.cli.options import (
    AlsoFormats,
    Cluster,
    FontSize,
    Jobs,
    Json,
    Log,
    NoNote,
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
    papers: Annotated[
        list[str],
        typer.Argument(
            metavar="PAPER [FIGURE]...",
            help="A paper and the figures to reproduce (by default all), then further papers.",
            show_default=False,
            autocompletion=paper_names,
        ),
    ],
    *,
    quick: Quick = False,
    seeds: Seeds = None,
    jobs: Jobs = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of runs and report.", show_default="out/reproduce/PAPER"),
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
    """Reproduce the figures of papers and compare them with the published numbers.

    The papers' studies are in studies/; `floodway list studies` shows them.

    \b
    Examples:
      floodway reproduce swing bifrost --quick
      floodway reproduce swing 13a 14
      floodway reproduce bifrost --status

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
    return studying.reproduce(
        papers,
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
