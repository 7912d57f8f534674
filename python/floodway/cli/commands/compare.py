"""Definition of `floodway compare`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path

import click

from floodway.cli import options
from floodway.cli.option_groups import GroupedCommand
from floodway.common.limits import MOST_THREADS
from floodway.common.loading import loading

__all__ = ["command"]


@click.command(cls=GroupedCommand)
@click.argument(
    "scenarios",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="SCENARIO",
    help="The scenario's TOML file, or several to compare with one another.",
)
@options.python
@click.option(
    "--vary",
    multiple=True,
    metavar="KEY.PATH=A,B[,...]",
    help="A variant for each of these values; if repeated, for every combination.",
)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="NAME='KEY.PATH=VALUE, ...'",
    help="A variant that sets several keys at once, by its name; NAME= is the scenario as it is. "
    "Repeat it for each variant; with --vary, each is combined with every value.",
)
@click.option(
    "--seeds",
    default=1,
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of seeds of each variant: the scenario's and those after it.",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of parallel runs.",
    show_default="one per core",
)
@click.option(
    "--threads",
    default=1,
    type=click.IntRange(min=1, max=MOST_THREADS),
    metavar="N",
    help="Number of threads of each run, instead of the scenario's; results do not depend on it.",
)
@options.sets
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the results.",
    show_default="out/compare/SCENARIO",
)
@options.shard_text
@options.force
@options.quiet
@options.json
@options.full
@options.strict
@options.force_threads
@options.force_memory
@click.option(
    "--report",
    is_flag=True,
    help="Also write a page that shows the runs over time, report.html: the first seed of the first "
    "four variants. Turns on series and pauses of all ports, and their states.",
)
@click.option(
    "--no-pictures", is_flag=True, help="Draw no pictures; the page has the numbers and the findings alone."
)
def command(  # noqa: PLR0913 (one argument an option)
    *,
    scenarios: tuple[Path, ...],
    python: tuple[Path, ...],  # noqa: ARG001 (its callback has run them)
    vary: tuple[str, ...],
    variants: tuple[str, ...],
    seeds: int,
    jobs: int | None,
    threads: int,
    sets: tuple[str, ...],
    out: Path | None,
    shard: str | None,
    force: bool,
    quiet: bool,
    json: bool,
    full: bool,
    strict: bool,
    force_threads: bool,
    force_memory: bool,
    report: bool,
    no_pictures: bool,
) -> int:
    """Simulate variants of a scenario and report the differences.

    If it is interrupted, the same command continues: completed runs are not run again.

    \b
    Examples:
      floodway compare scenarios/demo.toml --vary long-haul.flow-control=pfc,bifrost
      floodway compare scenarios/demo.toml --vary long-haul.buffer.static.size=42MB,82MB --seeds 3
      floodway compare scenarios/demo.toml --vary 'defaults.flow-control.pfc.xoff={ alpha = 0.25 },1MB'
      floodway compare scenarios/incast.toml scenarios/demo.toml --out out/both
      floodway compare scenarios/incast.toml --variant base= --variant 'big=mtu=4096B,seed=2'
      floodway compare scenarios/demo.toml --vary seed=1,2,3,4 --shard 0/2 --out out/seeds

    \b
    Exit codes:
      0    done
      1    a run failed: an invariant was violated, a deadlock stopped it, packets of a lossless class were
           lost with --strict, or the results could not be written to their folder
      2    bad usage or scenario; nothing has run
      130  interrupted by Ctrl-C; completed runs are written
      143  interrupted by SIGTERM; as 130
    """
    with loading():
        from floodway.cli import compare as comparing
        from floodway.cli.inputs import shard_of
    return comparing.compare(
        comparing.Request(
            scenarios=scenarios,
            vary=list(vary),
            variants=list(variants),
            seeds=seeds,
            jobs=jobs,
            threads=threads,
            sets=list(sets),
            out=out,
            shard=shard_of(shard),
            force=force,
            quiet=quiet,
            json=json,
            full=full,
            strict=strict,
            force_threads=force_threads,
            force_memory=force_memory,
            report=report,
            pictures=not no_pictures,
        )
    )
