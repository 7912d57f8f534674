"""Definition of `floodway export goal`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path

import click

from floodway.cli import options
from floodway.common.loading import loading

__all__ = ["command"]


@click.command()
@options.scenario_file
@options.sets
@click.option("--workload", metavar="NAME", help="The job, where there are several.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File of the schedule.",
    show_default="stdout",
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
def command(
    *,
    scenario: Path,
    sets: tuple[str, ...],
    workload: str | None,
    out: Path | None,
    force: bool,
) -> int:
    """Write a job as a GOAL schedule, which LogGOPSim and ATLAHS read.

    A collective is written out as its sends and receives, step by step. Warnings say what GOAL cannot
    express of the job.

    \b
    Examples:
      floodway export goal scenarios/training-mixtral.toml --out mixtral.goal
      floodway export goal scenarios/all-reduce-two-sites.toml --set workload.gradients.collective.size=1MB

    \b
    Exit codes:
      0    done
      2    bad usage or scenario, or a job that GOAL cannot express; nothing is written
    """
    with loading():
        from floodway.cli import export as exporting
    return exporting.export_goal(scenario, sets=list(sets), workload=workload, out=out, force=force)
