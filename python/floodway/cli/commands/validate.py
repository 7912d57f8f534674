"""Definition of `floodway validate`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floodway.cli.options import Force, Json, Quiet
from floodway.loading import loading

__all__ = ["command"]


def command(  # noqa: PLR0913 (one argument an option)
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="A case of the HPCC simulator, or a folder of cases: config_TAG.txt with the files that it "
            "names, and that simulator's results: fct_TAG.txt, pfc_TAG.txt, qlen_TAG.txt. Or a folder of "
            "times of jobs: astra-times.tsv, chakra-dags-times.tsv, goal-compare.tsv.",
            show_default=False,
        ),
    ],
    *,
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of runs of a case that has bounds, if it depends on random draws or ties.",
        ),
    ] = 5,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of parallel runs.", show_default="one per core"),
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Leave out cases of more than 1 GB of payload; run cases that depend only on ties once.",
            show_default=False,
        ),
    ] = False,
    other_build: Annotated[
        bool,
        typer.Option(
            "--other-build",
            help="The reference is of another build or fork of that simulator, whose ties, draws and paths "
            "may differ: results are compared within bounds. Otherwise they must be equal, unless a hash "
            "chooses paths that are not listed and fewer than 200 flows end before the first difference.",
            show_default=False,
        ),
    ] = False,
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CASE/TAG",
            help="Only this configuration, or of jobs this row, as --verbose prints its name; "
            "* and ? are wildcards; may be repeated.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the runs and their numbers.")] = Path(
        "out", "validate"
    ),
    plot: Annotated[
        bool,
        typer.Option(
            "--plot", help="Draw slowdown, completion times and queues, ours and theirs.", show_default=False
        ),
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write tables and pictures into a Markdown page, between its begin and end comments.",
            show_default=False,
        ),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            help="Print every number of every configuration, instead of one line each and the failures.",
            show_default=False,
        ),
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
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
        from floodway.cli import validate as validating
    return validating.run(
        validating.Request(
            folder=folder,
            seeds=seeds,
            jobs=jobs,
            quick=quick,
            other_build=other_build,
            only=only or [],
            out=out,
            plot=plot,
            report=report,
            force=force,
            verbose=verbose,
            quiet=quiet,
            json=json,
        )
    )
