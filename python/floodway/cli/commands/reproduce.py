"""Definition of `floodway reproduce`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path

import click

from floodway.cli import options
from floodway.cli.commands.study_request import study_request
from floodway.cli.completions import papers as paper_names
from floodway.cli.pictures import picture_options
from floodway.loading import loading

__all__ = ["command"]


@click.command()
@click.argument(
    "papers",
    nargs=-1,
    required=True,
    metavar="PAPER [FIGURE]...",
    help="A paper and the figures to reproduce (by default all), then further papers.",
    shell_complete=paper_names,
)
@options.quick
@options.seeds
@options.jobs
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of runs and report.",
    show_default="out/reproduce/PAPER",
)
@options.cluster
@options.shard_text
@options.report
@options.slurm
@options.status
@options.also_formats
@options.width
@options.font_size
@options.log
@options.title
@options.no_note
@options.run_again
@options.quiet
@options.json
@options.full
def command(  # noqa: PLR0913 (one argument an option)
    *,
    papers: tuple[str, ...],
    quick: bool,
    seeds: str | None,
    jobs: int | None,
    out: Path | None,
    cluster: str | None,
    shard: str | None,
    report: bool,
    slurm: bool,
    status: bool,
    form: str | None,
    width: float | None,
    font_size: float | None,
    log: str | None,
    title: str | None,
    no_note: bool,
    force: bool,
    quiet: bool,
    json: bool,
    full: bool,
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
            full=full,
            pictures=picture_options(form, width, font_size, log, title, note=not no_note),
        ),
    )
