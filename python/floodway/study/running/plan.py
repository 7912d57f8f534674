"""A plan: studies with the runs that they need, each scenario read and built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.study.running.runs import Run, runs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway.simulation.shards import Shard
    from floodway.study.format.model import Study

__all__ = ["Plan", "plan_of"]


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
