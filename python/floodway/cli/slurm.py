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

#: As many tasks as Slurm allows unless it is configured otherwise: its MaxArraySize is 1,001.
MOST_TASKS = 1000
#: What a task of the array is to take, where it is known how long the runs take: starting one costs seconds.
MINUTES_A_TASK = 60
#: Runs of a task where nobody knows.
RUNS_A_TASK = 16
#: This shard, as Slurm tells each task.
SHARD = '"$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT"'


def slurm_script(plans: Sequence[tuple[Plan, Path]], *, jobs: int) -> str:
    """Return the script of an array that runs what is missing of some plans, each in its folder.

    Parameters
    ----------
    plans
        What is run, and where.
    jobs
        Runs at a time in each task, one a core.
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
    """Return how many runs are missing, and the minutes that they take; none where that is not known."""
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
    """Return the words of this call without those that the script has itself."""
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
