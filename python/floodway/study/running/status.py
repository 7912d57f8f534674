"""The status of a plan: which runs are done, and how long the others will take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from floodway.study.running.storage import Runs

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from floodway.study.running.plan import Plan

__all__ = ["State", "expected", "expected_minutes", "states_of"]

State = Literal["done", "failed", "to do"]
#: Cores that `minutes` of a study counts on.
STATED_CORES = 2


def states_of(plan: Plan, folder: Path) -> dict[str, State]:
    """Return the state of each run, without changing any file.

    Parameters
    ----------
    plan
        The runs.
    folder
        The folder of the studies' results.

    Returns
    -------
    dict of str to str
        ``done``, ``failed`` or ``to do``, by the run's key.
    """
    runs = Runs(folder / "runs")
    return {run.key: _state(runs, run.key) for run in plan.runs}


def expected_minutes(plan: Plan, folder: Path, *, states: Mapping[str, State], jobs: int) -> float | None:
    """Estimate how long the missing runs will take.

    The `minutes` of a study are used first, then the times of its completed runs. A run that several studies
    share counts once.

    Parameters
    ----------
    plan
        The runs.
    folder
        The folder of the studies' results.
    states
        The state of each run, as `states_of` returns them.
    jobs
        How many runs are at work at once.

    Returns
    -------
    float or None
        Minutes; None where no time is known of a study with missing runs.
    """
    runs = Runs(folder / "runs")
    total = 0.0
    counted: set[str] = set()
    for study, study_runs in plan.studies:
        walls = [runs.wall_s(run.key) for run in study_runs if states.get(run.key) == "done"]
        left = {run.key for run in study_runs if states.get(run.key) != "done"}
        missing = len(left - counted)
        counted |= left
        stated = study.quick.minutes if plan.quick and study.has_quick_form else study.minutes
        if stated is not None:
            total += stated * STATED_CORES / jobs * missing / len(study_runs)
        elif walls:
            total += sum(walls) / len(walls) * missing / 60 / jobs
        elif missing:
            return None
    return total


def expected(minutes: float | None, *, jobs: int) -> str:
    """Return an expected duration as text."""
    if minutes is None:
        return "how long that takes is not known yet"
    if minutes < 1:
        return "less than a minute"
    whole = round(minutes)
    span = f"{whole // 60} h {whole % 60} min" if whole >= 60 else f"{whole} min"  # noqa: PLR2004 (minutes of an hour)
    return f"about {span} in {jobs} process{'es' if jobs > 1 else ''}"


def _state(runs: Runs, key: str) -> State:
    if runs.has(key):
        return "done"
    return "failed" if runs.failure(key) is not None else "to do"
