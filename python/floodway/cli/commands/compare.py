"""Definition of `floodway compare`: arguments, options and help."""

from __future__ import annotations

from typing import Any

import click

from floodway.cli import options
from floodway.common.limits import MOST_THREADS
from floodway.common.loading import loading

__all__ = ["command"]


@click.command(cls=options.GroupedCommand)
@options.paths("scenarios", "SCENARIO", "The scenario's TOML file, or several to compare with one another.")
@options.python
@options.value(
    "--vary",
    "KEY.PATH=A,B[,...]",
    "A variant for each of these values; if repeated, for every combination.",
    multiple=True,
)
@options.value(
    "--variant",
    "NAME='KEY.PATH=VALUE, ...'",
    "A variant that sets several keys at once, by its name; NAME= is the scenario as it is. "
    "Repeat it for each variant; with --vary, each is combined with every value.",
    name="variants",
    multiple=True,
)
@options.value(
    "--seeds",
    "N",
    "Number of seeds of each variant: the scenario's and those after it.",
    default=1,
    type=click.IntRange(min=1),
)
@options.jobs
@options.value(
    "--threads",
    "N",
    "Number of threads of each run, instead of the scenario's; results do not depend on it.",
    default=1,
    type=click.IntRange(min=1, max=MOST_THREADS),
)
@options.sets
@options.out("DIR", "Folder of the results.", "out/compare/SCENARIO")
@options.shard
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
    "--no-pictures",
    "pictures",
    flag_value=False,
    default=True,
    help="Draw no pictures; the page has the numbers and the findings alone.",
)
def command(**values: Any) -> int:
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
    return comparing.compare(comparing.Request(**values))
