"""Definition of `floodway run`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from floodway.cli import options
from floodway.cli.option_groups import GroupedCommand
from floodway.common.limits import LARGEST_SEED, MOST_THREADS
from floodway.common.loading import loading

__all__ = ["command"]


@click.command(cls=GroupedCommand)
@options.scenario_file
@options.python
@options.sets
@click.option(
    "--seed",
    type=click.IntRange(min=0, max=LARGEST_SEED),
    metavar="N",
    help="Seed of all random streams, instead of the scenario's.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of the results.",
    show_default="out/SCENARIO",
)
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
@click.option(
    "--pcap",
    multiple=True,
    metavar="link=NAME[,NAME...]",
    help="Capture the packets of these links in capture.pcapng: names, with * and ?, or tag=NAME; "
    "may be repeated.",
)
@click.option(
    "--threads",
    type=click.IntRange(min=1, max=MOST_THREADS),
    metavar="N",
    help="Number of threads; results do not depend on it.",
    show_default="one per core where useful",
)
@options.force_threads
@options.force_memory
@click.option(
    "--no-skip",
    is_flag=True,
    help="Simulate iterations of jobs that repeat earlier ones, too; results are the same.",
)
def command(  # noqa: PLR0913 (one argument an option)
    *,
    scenario: Path,
    python: tuple[Path, ...],  # noqa: ARG001 (its callback has run them)
    sets: tuple[str, ...],
    seed: int | None,
    out: Path | None,
    force: bool,
    quiet: bool,
    json: bool,
    full: bool,
    strict: bool,
    on_deadlock: Literal["stop", "continue"] | None,
    export: Literal["hpcc", "perfetto"] | None,
    report: bool,
    pcap: tuple[str, ...],
    threads: int | None,
    force_threads: bool,
    force_memory: bool,
    no_skip: bool,
) -> int:
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
    return running.run(
        running.Request(
            scenario=scenario,
            sets=[*sets, *(["engine.skip=false"] if no_skip else [])],
            seed=seed,
            out=out,
            force=force,
            quiet=quiet,
            json=json,
            full=full,
            strict=strict,
            on_deadlock=on_deadlock,
            export=export,
            report=report,
            pcap=list(pcap),
            threads=threads,
            force_threads=force_threads,
            force_memory=force_memory,
        )
    )
