"""Definitions of `floodway why`, `verify` and `report`: arguments, options and help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from floodway.cli import options
from floodway.common.loading import loading

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["report", "verify", "why"]


@click.command()
@options.path("folder", "RUN", "Folder that `run` wrote.")
@click.argument(
    "flow",
    required=False,
    default="p99",
    metavar="[NAME]",
    help="A flow_id; or the measured flow with the slowdown of a percentile, such as p99; or worst. "
    "In a run with jobs also a collective, WORKLOAD:NUMBER, or WORKLOAD for the longest of it; or "
    "WORKLOAD:iteration-NUMBER; or WORKLOAD:skips, for what was not simulated again, or why all was.",
)
@options.python
@click.option("--quiet", is_flag=True, help="No progress.")
@options.json
@options.full
def why(**values: Any) -> int:
    """Break down the completion time of a flow by cause and port, or find a collective's critical path.

    The scenario is run again with the same seed until the flow is complete. The parts add up to the
    completion time exactly. For a collective or an iteration it is run twice, and the steps of its critical
    path, rank by rank, add up to the time from the first rank's start to the last one's end.

    \b
    Examples:
      floodway why out/demo
      floodway why out/incast worst
      floodway why out/incast victim:h2:0 --json
      floodway why out/two-sites/pfc gradients:0
      floodway why out/repeats nccl:skips

    \b
    Exit codes:
      0    done
      1    the repeated run differs from the results
      2    bad usage, no such folder, flow or collective, or one that was not complete
      130  interrupted by Ctrl-C
      143  interrupted by SIGTERM
    """
    with loading():
        from floodway.cli import why as asking
    return asking.why(asking.Request(**values))


@click.command()
@options.paths("folders", "DIR", "Folder that `run`, `compare`, `study` or `reproduce` wrote, or several.")
@click.option("--quiet", is_flag=True, help="Print only errors.")
@options.full
@options.json
def verify(*, folders: tuple[Path, ...], quiet: bool, full: bool, json: bool) -> int:
    """Check that the results of runs have not changed.

    Every byte of every file of a run is checked against the digests in run.json, which has a digest of
    itself, without its timings. `plot` and `why` check the files that they read. Numbers, pictures and pages
    of a comparison or a study have no digests; the answer names them.

    \b
    Examples:
      floodway verify out/demo
      floodway verify out/compare/demo --json

    \b
    Exit codes:
      0    no run has changed
      1    a file is missing or has changed, or results of an earlier version have no digests
      2    bad usage, or no such folder
    """
    with loading():
        from floodway.cli import verify as verifying
    return verifying.verify(folders, quiet=quiet, json_=json, full=full)


@click.command(cls=options.GroupedCommand)
@options.paths("folders", "RUN", "Folder that `run` or `compare` wrote, or several; four runs at most.")
@options.python
@options.value(
    "--flow",
    "NAME",
    "Show the causes of this flow's completion time: a flow_id, a percentile such as p99, or "
    "worst; 'none' for no flow. May be repeated; the run is repeated once for all of them.",
    "p99, and the slowest flow of each workload",
    name="flows",
    multiple=True,
)
@options.out("FILE", "The page.", "report.html in RUN, or in out/report")
@click.option("--title", help="Title of the page.", show_default="the scenarios' names")
@options.force_file
@click.option("--quiet", is_flag=True, help="No progress.")
def report(**values: Any) -> int:
    """Write a page that shows runs as they happened, in one file that opens anywhere.

    The page has the network over time with a slider, its ports, flows, and causes of completion times. Two or
    more runs are side by side. It shows what the runs recorded: `floodway run --report` records the load,
    queues, pauses and states of all ports.

    \b
    Examples:
      floodway run scenarios/incast.toml --report
      floodway report out/incast --flow victim:h2:0 --force
      floodway report out/demo/pfc out/demo/bifrost --out pfc-bifrost.html

    \b
    Exit codes:
      0    done; the file's name is on stdout
      1    a repeated run differs from the results
      2    bad usage, no results, or the file is there already; nothing is written
      130  interrupted by Ctrl-C
    """
    with loading():
        from floodway.cli import report as reporting
    return reporting.report(reporting.Request(**values))
