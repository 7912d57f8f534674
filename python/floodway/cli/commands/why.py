"""Definition of `floodway why`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path

import click

from floodway.cli import options
from floodway.common.loading import loading

__all__ = ["command"]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), metavar="RUN", help="Folder that `run` wrote.")
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
def command(  # noqa: PLR0913 (one argument an option)
    *,
    folder: Path,
    flow: str,
    python: tuple[Path, ...],  # noqa: ARG001 (its callback has run them)
    quiet: bool,
    json: bool,
    full: bool,
) -> int:
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
    return asking.why(asking.Request(folder=folder, flow=flow, quiet=quiet, json=json, full=full))
