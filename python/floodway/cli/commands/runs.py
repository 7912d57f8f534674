"""Definitions of `floodway run`, `check` and `compare`: arguments, options and help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from floodway.cli import options
from floodway.cli.output import DONE, echo, warnings
from floodway.common.limits import LARGEST_SEED, MOST_THREADS
from floodway.common.loading import loading

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check", "compare", "run"]


@click.command(cls=options.GroupedCommand)
@options.scenario_file
@options.python
@options.sets
@options.value(
    "--seed",
    "N",
    "Seed of all random streams, instead of the scenario's.",
    type=click.IntRange(min=0, max=LARGEST_SEED),
)
@options.out("DIR", "Folder of the results.", "out/SCENARIO")
@options.force
@options.quiet
@options.json
@options.full
@options.strict
@click.option(
    "--on-deadlock",
    type=click.Choice(["stop", "continue"]),
    help="Action when a deadlock is found, instead of the scenario's.",
)
@click.option(
    "--export",
    type=click.Choice(["hpcc", "perfetto"]),
    help="Also write the results for other programs: hpcc, in that simulator's formats (fct.txt, "
    "pfc.txt, qlen.txt); perfetto, as a trace (trace.perfetto-trace). Turns on the records needed.",
)
@click.option(
    "--report",
    is_flag=True,
    help="Also write a page that shows the run over time, report.html. Turns on series and pauses of "
    "all ports, and their states.",
)
@options.value(
    "--pcap",
    "link=NAME[,NAME...]",
    "Capture the packets of these links in capture.pcapng: names, with * and ?, or tag=NAME; "
    "may be repeated.",
    multiple=True,
)
@options.value(
    "--threads",
    "N",
    "Number of threads; results do not depend on it.",
    "one per core where useful",
    type=click.IntRange(min=1, max=MOST_THREADS),
)
@options.force_threads
@options.force_memory
@click.option(
    "--no-skip",
    is_flag=True,
    help="Simulate iterations of jobs that repeat earlier ones, too; results are the same.",
)
def run(**values: Any) -> int:
    """Simulate a scenario, write its results and print a summary.

    \b
    Examples:
      floodway run scenarios/demo.toml
      floodway run scenarios/demo.toml --seed 7 --out out/demo-7
      floodway run scenarios/demo.toml --set long-haul.flow-control.pfc.xoff=5MB --strict
      floodway run scenarios/demo.toml --json --force | jq .summary.total.fct
      floodway run scenarios/demo.toml --export hpcc
      floodway run scenarios/incast.toml --export perfetto
      floodway run scenarios/incast.toml --report
      floodway run scenarios/incast.toml --pcap 'link=h1-*'

    \b
    Exit codes:
      0    done
      1    the run failed: an invariant was violated, a deadlock stopped it, the memory was too small, packets
           of a lossless class were lost with --strict, or the results could not be written to their folder
      2    bad usage or scenario
      130  interrupted by Ctrl-C; the results up to then are written
      143  interrupted by SIGTERM; as 130
    """
    with loading():
        from floodway.cli import run as running
    return running.run(running.Request(**values))


@click.command()
@options.scenario_file
@options.python
@options.sets
@click.option(
    "--resolved", is_flag=True, help="Show the final settings of every object, and the line that set each."
)
@options.json
def check(*, scenario: Path, sets: tuple[str, ...], resolved: bool, json: bool) -> int:
    """Build a scenario without running it, and print the network and its thresholds.

    \b
    Examples:
      floodway check scenarios/demo.toml
      floodway check scenarios/demo.toml --resolved
      floodway check scenarios/demo.toml --set mtu=4096B --json
    """
    with loading():
        from floodway import _floodway
        from floodway.cli.inputs import parsed
    built = parsed(scenario, sets=sets)
    report = _floodway.check(built.native, resolved=resolved)
    echo(report.json if json else report.text.rstrip("\n"))
    too_large = _floodway.Plan(built.native).too_large
    if too_large:
        warnings([f"a run would be refused: {too_large}"])
    return DONE


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
def compare(**values: Any) -> int:
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
