"""Definition of `floodway export goal`: arguments, options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from floodway.cli.options import ScenarioFile, Sets
from floodway.loading import loading

__all__ = ["command"]


def command(
    scenario: ScenarioFile,
    *,
    sets: Sets = None,
    workload: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The job, where there are several.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File of the schedule.", show_default="stdout")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace an existing file.", show_default=False)
    ] = False,
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
    return exporting.export_goal(scenario, sets=sets or [], workload=workload, out=out, force=force)
