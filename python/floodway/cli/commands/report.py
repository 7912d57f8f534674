"""Definition of `floodway report`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path

import click

from floodway.cli import options
from floodway.cli.option_groups import GroupedCommand
from floodway.common.loading import loading

__all__ = ["command"]


@click.command(cls=GroupedCommand)
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="RUN",
    help="Folder that `run` or `compare` wrote, or several; four runs at most.",
)
@options.python
@click.option(
    "--flow",
    "flows",
    multiple=True,
    metavar="NAME",
    help="Show the causes of this flow's completion time: a flow_id, a percentile such as p99, or "
    "worst; 'none' for no flow. May be repeated; the run is repeated once for all of them.",
    show_default="p99, and the slowest flow of each workload",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The page.",
    show_default="report.html in RUN, or in out/report",
)
@click.option("--title", help="Title of the page.", show_default="the scenarios' names")
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--quiet", is_flag=True, help="No progress.")
def command(  # noqa: PLR0913 (one argument an option)
    *,
    folders: tuple[Path, ...],
    python: tuple[Path, ...],  # noqa: ARG001 (its callback has run them)
    flows: tuple[str, ...],
    out: Path | None,
    title: str | None,
    force: bool,
    quiet: bool,
) -> int:
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
    flow_names = None if flows is None else [flow for flow in flows if flow != "none"]
    return reporting.report(
        reporting.Request(folders=folders, flows=flow_names, out=out, title=title, force=force, quiet=quiet)
    )
