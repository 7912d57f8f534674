"""The script of a Slurm job array that runs studies in shards."""

from __future__ import annotations

import math
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from floodway.study import expected_minutes, states_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.study import Plan

__all__ = ["slurm_script"]

#: Maximum number of tasks: Slurm's default of MaxArraySize is 1,001.
MOST_TASKS = 1000
#: Duration of a task, if that of runs is known: starting a task takes seconds.
MINUTES_A_TASK = 60
#: Runs of a task, if their duration is not known.
RUNS_A_TASK = 16
#: The shard of a task, by the variables that Slurm sets.
SHARD = '"$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"'


def slurm_script(plans: Sequence[tuple[Plan, Path]], *, jobs: int) -> str:
    """Return the script of a job array for the missing runs of plans.

    Parameters
    ----------
    plans
        Plans with the folders of their results.
    jobs
        Number of runs at a time in each task, one per core.
    """
    missing, minutes = _work(plans, jobs=jobs)
    if not missing:
        return "# all runs are there\n"
    tasks = missing / RUNS_A_TASK if minutes is None else minutes / MINUTES_A_TASK
    last = max(1, min(math.ceil(tasks), missing, MOST_TASKS)) - 1
    taken = "" if minutes is None else f", some {max(1, round(minutes * jobs)):,} min of one core"
    command = _command()
    return f"""\
#!/bin/sh
# {missing:,} runs are missing{taken}. Any number of tasks does: each of n has every n-th run.
#SBATCH --job-name=floodway
#SBATCH --array=0-{last}
#SBATCH --cpus-per-task={jobs}
#SBATCH --chdir={shlex.quote(os.fspath(Path.cwd()))}
# The task that ends last writes the report. After tasks that were killed, submit this again.
exec {command} --jobs {jobs} --quiet --shard {SHARD}
"""


def _work(plans: Sequence[tuple[Plan, Path]], *, jobs: int) -> tuple[int, float | None]:
    """Return the number of missing runs, and the minutes that they take; None if that is not known."""
    missing, total = 0, 0.0
    is_known = True
    for plan, out in plans:
        states = states_of(plan, out)
        missing += sum(state != "done" for state in states.values())
        minutes = expected_minutes(plan, out, states=states, jobs=jobs)
        is_known = is_known and minutes is not None
        total += minutes or 0
    return missing, total if is_known else None


def _command() -> str:
    """Return this command line without the options that the script sets."""
    program = Path(sys.argv[0])
    called = (
        [sys.executable, "-P", "-m", "floodway"]
        if program.name == "__main__.py"
        else [os.fspath(program.resolve())]
    )
    words = iter(sys.argv[1:])
    arguments = []
    for word in words:
        if word == "--jobs":
            next(words, None)
        elif word not in {"--slurm", "--quiet"} and not word.startswith("--jobs="):
            arguments.append(word)
    return shlex.join([*called, *arguments])
