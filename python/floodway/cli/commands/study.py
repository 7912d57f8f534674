"""Definition of `floodway study`: arguments, options and help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from floodway.cli import options
from floodway.cli.pictures import picture_options
from floodway.common.loading import loading

if TYPE_CHECKING:
    from pathlib import Path

    from floodway.cli.study import Request

__all__ = ["command", "study_options", "study_request"]


def study_options(*, out: str) -> options.Option:
    """Define the options that `study` and `reproduce` share; their values are for `study_request`.

    Parameters
    ----------
    out
        The folder of runs and report without `--out`, as help shows it.
    """
    return options.together(
        click.option("--quick", is_flag=True, help="Reduced size, as defined by [quick] of the study."),
        options.value(
            "--seeds",
            "N|A,B,...",
            "Number of seeds, or a list of seeds, instead of the study's own.",
            callback=options.read_by("seeds_of"),
        ),
        options.jobs,
        options.out("DIR", "Folder of runs and report.", out),
        options.value(
            "--cluster",
            "ADDRESS|FILE",
            "Run on workers of Dask: the address of a scheduler such as tcp://host:8786, or a YAML file of "
            "Dask's configuration with scheduler-address.",
        ),
        options.shard,
        click.option("--report", is_flag=True, help="Write the report of runs that are there; run nothing."),
        click.option(
            "--slurm",
            is_flag=True,
            help="Print the script of a Slurm job array that does this in shards; run nothing.",
        ),
        click.option(
            "--status",
            is_flag=True,
            help="Print the numbers of completed, failed and remaining runs, by study and variant; "
            "run nothing.",
        ),
        options.pictures("Also write pictures as pdf, svg or both.", "png only"),
        click.option("--force", is_flag=True, help="Run everything again."),
        options.quiet,
        options.json,
        options.full,
    )


def study_request(values: dict[str, Any]) -> Request:
    """Return the request of a command with these options."""
    with loading():
        from floodway.cli import study as studying
    return studying.Request(pictures=picture_options(values), **values)


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
