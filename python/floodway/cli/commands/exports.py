"""Definitions of the commands of `floodway export`: arguments, options and help."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from floodway.cli import options
from floodway.cli.output import DONE, echo, warnings
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
def goal(
    *, scenario: Path, sets: tuple[str, ...], workload: str | None, out: Path | None, force: bool
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
        from floodway import _floodway
        from floodway.cli.inputs import new_file, parsed
    native = parsed(scenario, sets=sets).native
    if out is None:
        notes = _floodway.export_goal(native, sys.stdout.write, workload=workload)
    else:
        with new_file(out, force=force) as file:
            notes = _floodway.export_goal(native, file.write, workload=workload)
    warnings(notes)
    return DONE


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
        from floodway.cli.inputs import new_file
        from floodway.results import perfetto, read
        from floodway.results.folders import run_folder
    result = read(run_folder(folder))
    file = out if out is not None else folder / perfetto.FILE
    with new_file(file, force=force, mode="wb") as opened:
        opened.write(perfetto.trace(result))
    warnings(perfetto.notes(result))
    echo(str(file))
    return DONE
