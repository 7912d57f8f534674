"""Definition of `floodway run`: arguments, options and help."""

from __future__ import annotations

from typing import Any

import click

from floodway.cli import options
from floodway.common.limits import LARGEST_SEED, MOST_THREADS
from floodway.common.loading import loading

__all__ = ["command"]


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
def command(**values: Any) -> int:
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
