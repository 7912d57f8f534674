"""Definition of `floodway run`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from floodway.cli.options import (
    Force,
    ForceMemory,
    ForceThreads,
    Json,
    Python,
    Quiet,
    ScenarioFile,
    Sets,
    Strict,
)
from floodway.limits import LARGEST_SEED, MOST_THREADS
from floodway.loading import loading

__all__ = ["command"]


def command(  # noqa: PLR0913 (one argument an option)
    scenario: ScenarioFile,
    *,
    python: Python = None,  # noqa: ARG001 (its callback has run them)
    sets: Sets = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=LARGEST_SEED,
            metavar="N",
            help="Seed of all random streams, instead of the scenario's.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the results.", show_default="out/SCENARIO")
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    json: Json = False,
    strict: Strict = False,
    on_deadlock: Annotated[
        Literal["stop", "continue"] | None,
        typer.Option(help="Action when a deadlock is found, instead of the scenario's.", show_default=False),
    ] = None,
    export: Annotated[
        Literal["hpcc", "perfetto"] | None,
        typer.Option(
            help="Also write the results for other programs: hpcc, in that simulator's formats (fct.txt, "
            "pfc.txt, qlen.txt); perfetto, as a trace (trace.perfetto-trace). Turns on the records needed.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        bool,
        typer.Option(
            "--report",
            help="Also write a page that shows the run over time, report.html. Turns on series and pauses of "
            "all ports, and their states.",
            show_default=False,
        ),
    ] = False,
    pcap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="link=NAME[,NAME...]",
            help="Capture the packets of these links in capture.pcapng: names, with * and ?, or tag=NAME; "
            "may be repeated.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_THREADS,
            metavar="N",
            help="Number of threads; results do not depend on it.",
            show_default="one per core where useful",
        ),
    ] = None,
    force_threads: ForceThreads = False,
    force_memory: ForceMemory = False,
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
            sets=sets or [],
            seed=seed,
            out=out,
            force=force,
            quiet=quiet,
            json=json,
            strict=strict,
            on_deadlock=on_deadlock,
            export=export,
            report=report,
            pcap=pcap or [],
            threads=threads,
            force_threads=force_threads,
            force_memory=force_memory,
        )
    )
