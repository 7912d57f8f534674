"""Definition of `floodway validate`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path

import click

from floodway.cli import options
from floodway.common.loading import loading

__all__ = ["command"]


@click.command(cls=options.GroupedCommand)
@click.argument(
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A case of the HPCC simulator, or a folder of cases: config_TAG.txt with the files that it "
    "names, and that simulator's results: fct_TAG.txt, pfc_TAG.txt, qlen_TAG.txt. Or a folder of "
    "times of jobs: astra-times.tsv, chakra-dags-times.tsv, goal-compare.tsv.",
)
@click.option(
    "--seeds",
    default=5,
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of runs of a case that has bounds, if it depends on random draws or ties.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of parallel runs.",
    show_default="one per core",
)
@click.option(
    "--quick",
    is_flag=True,
    help="Leave out cases of more than 1 GB of payload; run cases that depend only on ties once.",
)
@click.option(
    "--other-build",
    is_flag=True,
    help="The reference is of another build or fork of that simulator, whose ties, draws and paths "
    "may differ: results are compared within bounds. Otherwise they must be equal, unless a hash "
    "chooses paths that are not listed and fewer than 200 flows end before the first difference.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="CASE/TAG",
    help="Only this configuration, or of jobs this row, as --full prints its name; "
    "* and ? are wildcards; may be repeated.",
)
@click.option(
    "--out",
    default=Path("out", "validate"),
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the runs and their numbers.",
)
@click.option("--plot", is_flag=True, help="Draw slowdown, completion times and queues, ours and theirs.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write tables and pictures into a Markdown page, between its begin and end comments.",
)
@options.full
@options.force
@options.quiet
@options.json
def command(  # noqa: PLR0913 (one argument an option)
    *,
    folder: Path,
    seeds: int,
    jobs: int | None,
    quick: bool,
    other_build: bool,
    only: tuple[str, ...],
    out: Path,
    plot: bool,
    report: Path | None,
    full: bool,
    force: bool,
    quiet: bool,
    json: bool,
) -> int:
    """Compare runs with those of the HPCC simulator, or times of jobs with those of other simulators.

    \b
    Examples:
      floodway validate DIR
      floodway validate DIR --only "c7*" --plot --out out/c7
      floodway validate DIR --quick --json | jq .counts
      floodway validate DIR --only 'c1*/dcqcn' --other-build --seeds 10 --force

    \b
    Exit codes:
      0    each configuration equals the reference to the nanosecond, or, where equality is not required,
           all its numbers are within their bounds; configurations that cannot be run are listed. Of jobs,
           each row that a packet simulator can meet is met
      1    a configuration differs, and its first difference is shown; a row is not met; or a run failed
      2    bad usage, or a file is missing or malformed; nothing has run
      130  interrupted by Ctrl-C; completed runs are kept
      143  interrupted by SIGTERM; as 130
    """
    with loading():
        from floodway_lab.cli import validate as validating
    return validating.run(
        validating.Request(
            folder=folder,
            seeds=seeds,
            jobs=jobs,
            quick=quick,
            other_build=other_build,
            only=list(only),
            out=out,
            plot=plot,
            report=report,
            force=force,
            full=full,
            quiet=quiet,
            json=json,
        )
    )
