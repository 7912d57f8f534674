"""Definition of `floodway study`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path

import click

from floodway.cli import options
from floodway.cli.commands.study_request import study_request
from floodway.cli.pictures import picture_options
from floodway.loading import loading

__all__ = ["command"]


@click.command()
@click.argument(
    "studies",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="STUDY",
    help="The study's TOML file, or several.",
)
@options.python
@options.quick
@options.seeds
@options.jobs
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of runs and report.",
    show_default="out/study/STUDY",
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
    studies: tuple[Path, ...],
    python: tuple[Path, ...],  # noqa: ARG001 (its callback has run them)
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
            full=full,
            pictures=picture_options(form, width, font_size, log, title, note=not no_note),
        ),
    )
