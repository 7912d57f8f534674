"""A plan: studies with the runs that they need, which of them are done, and how long the others will take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from floodway.study.running.runs import Run, runs_of
from floodway.study.running.storage import Runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from floodway.simulation.shards import Shard
    from floodway.study.format.model import Study


__all__ = ["Plan", "State", "expected", "expected_minutes", "plan_of", "states_of"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The runs of some studies.

    Attributes
    ----------
    studies
        Each with its runs.
    quick
        Whether in their quick version.
    """

    studies: tuple[tuple[Study, tuple[Run, ...]], ...]
    quick: bool

    @property
    def runs(self) -> tuple[Run, ...]:
        """Every run once: what two studies share is run once."""
        return tuple({run.key: run for _, runs in self.studies for run in runs}.values())

    def shard(self, shard: Shard) -> Plan:
        """Return the part of the plan that a shard runs.

        Parameters
        ----------
        shard
            One of the processes that divide the runs.

        Returns
        -------
        Plan
            The studies with the runs of the shard; all shards together run each run once.
        """
        keys = {run.key for run in shard.of(self.runs)}
        studies = ((study, tuple(run for run in runs if run.key in keys)) for study, runs in self.studies)
        return Plan(studies=tuple((study, runs) for study, runs in studies if runs), quick=self.quick)


def plan_of(
    studies: Sequence[Study], *, quick: bool = False, seeds: int | tuple[int, ...] | None = None
) -> Plan:
    """Read and build every scenario of some studies.

    Parameters
    ----------
    studies
        The studies, as `load_study` returns them.
    quick
        Whether to plan the quick versions.
    seeds
        A number of seeds, or a list of them, in place of those of the studies.

    Returns
    -------
    Plan
        The runs of each study, each with the hash of everything that decides its results.

    Raises
    ------
    ScenarioError
        If a scenario cannot be simulated; it has the faults of all of them.
    StudyError
        If a study has no runs.
    """
    return Plan(
        studies=tuple((study, runs_of(study, quick=quick, seeds=seeds)) for study in studies), quick=quick
    )


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
