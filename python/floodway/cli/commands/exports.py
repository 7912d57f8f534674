"""Definitions of the commands of `floodway export`: arguments, options and help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from floodway.cli import options
from floodway.common.loading import loading

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["goal", "perfetto"]


@click.command()
@options.scenario_file
@options.sets
@options.value("--workload", "NAME", "The job, where there are several.")
@options.out("FILE", "File of the schedule.", "stdout")
@options.force_file
def goal(*, scenario: Path, **values: Any) -> int:
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
    return exporting.export_goal(scenario, **values)


@click.command()
@options.path("folder", "RUN", "Folder that `run` wrote.")
@options.out("FILE", "File of the trace.", "RUN/trace.perfetto-trace")
@options.force_file
def perfetto(*, folder: Path, out: Path | None, force: bool) -> int:
    """Write a run as a trace that Perfetto (ui.perfetto.dev) shows.

    The tracks are ports (longest queue, pauses, states), flows by source, and collectives. Arrows lead to a
    pause from its cause. Warnings say what the run did not record; `floodway run --export perfetto` records
    all of it.

    \b
    Examples:
      floodway run scenarios/incast.toml --export perfetto
      floodway export perfetto out/incast --out incast.perfetto-trace

    \b
    Exit codes:
      0    done; the file's name is on stdout
      2    bad usage, no results, or the file is there already; nothing is written
    """
    with loading():
        from floodway.cli import export as exporting
    return exporting.export_perfetto(folder, out=out, force=force)
