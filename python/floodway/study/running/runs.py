"""The runs of studies, each with its key; which of them are done, and how long the others will take."""

from __future__ import annotations

import itertools
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from floodway import _floodway
from floodway.common.errors import ScenarioError, StudyError
from floodway.common.limits import LARGEST_SEED
from floodway.scenarios.keys import key_of, written_key_of
from floodway.scenarios.scenario import inline, load
from floodway.study.running.storage import Runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.common.errors import Fault
    from floodway.scenarios.scenario import Extent, Scenario
    from floodway.simulation.shards import Shard
    from floodway.study.format.model import Coordinates, Sets, Study, Variant

__all__ = [
    "Plan",
    "Recipe",
    "Run",
    "State",
    "expected",
    "expected_minutes",
    "plan_of",
    "runs_of",
    "selected",
    "states_of",
]


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """The instructions to read a scenario again, in another process as well.

    Attributes
    ----------
    file
        The scenario's file; none where the study holds its keys.
    folder
        Where relative paths of an inline scenario begin.
    keys
        The keys of an inline scenario, as JSON.
    name
        What messages call an inline one.
    sets
        Key paths with their values.
    """

    file: str | None
    folder: str
    keys: str
    name: str
    sets: Sets

    def scenario(self) -> Scenario:
        """Read the scenario.

        Raises
        ------
        ScenarioError
            If it cannot be simulated.
        """
        if self.file is not None:
            return load(self.file, sets=self.sets)
        return inline(self.name, self.keys, folder=self.folder, sets=self.sets)

    @property
    def reads_from(self) -> Path:
        """The folder in which relative paths begin."""
        return Path(self.folder) if self.file is None else Path(self.file).parent


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a study.

    Attributes
    ----------
    variant, at, seed
        What it is of.
    key
        The hash that it is stored under.
    written
        The hash of its scenario as written, without seed and engine.
    recipe
        What is simulated. The scenario itself is not kept: that of a large network takes megabytes.
    warnings
        Settings of it that are allowed but rarely intended.
    extent
        How far it goes.
    """

    variant: str
    at: Coordinates
    seed: int
    key: str
    written: str
    recipe: Recipe
    warnings: tuple[str, ...]
    extent: Extent

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"{_called(self.variant, self.at)}, seed {self.seed}"


def selected(study: Study, *, quick: bool) -> tuple[tuple[Variant, Coordinates], ...]:
    """Return the variants of a study at the places where they are run; in its quick version, fewer."""
    few = set(study.quick.variants) if quick and study.quick.variants else None
    variants = [variant for variant in study.variants if few is None or variant.name in few]
    points = [
        [(axis.name, point) for point in axis.names if not quick or point in axis.quick]
        for axis in study.axes
    ]
    return tuple(
        (variant, at) for variant in variants for at in itertools.product(*points) if variant.runs_at(at)
    )


def runs_of(study: Study, *, quick: bool, seeds: int | tuple[int, ...] | None = None) -> tuple[Run, ...]:
    """Read and build every scenario of a study, and return its runs in order.

    Parameters
    ----------
    study
        What to run.
    quick
        Whether in its quick version.
    seeds
        Instead of the study's: a number of them, or a list.

    Raises
    ------
    ScenarioError
        If a scenario cannot be simulated; it has the faults of all of them.
    StudyError
        If there are no runs, or seeds beyond the largest.
    """
    default_seeds = study.quick.seeds if quick and study.quick.seeds is not None else study.seeds
    runs: list[Run] = []
    faults: dict[str, tuple[list[str], Fault]] = {}
    for variant, at in selected(study, quick=quick):
        recipe = _recipe(study, variant, at, quick=quick)
        try:
            scenario = recipe.scenario()
            _floodway.check(scenario.native)
        except ScenarioError as error:
            for fault in error.faults:
                faults.setdefault(fault.text, ([], fault))[0].append(_called(variant.name, at))
            continue
        chosen = _chosen_seeds(
            study, variant, at, seeds=default_seeds if seeds is None else seeds, first=scenario.seed
        )
        runs += _with_seeds(variant.name, at, recipe, scenario, chosen)
    if faults:
        raise ScenarioError(tuple(_fault_of_runs(study, called, fault) for called, fault in faults.values()))
    if not runs:
        raise StudyError(
            f"{study.file}: has no runs: every variant is left out at every point", place=str(study.file)
        )
    return tuple(runs)


def _recipe(study: Study, variant: Variant, at: Coordinates, *, quick: bool) -> Recipe:
    sets = (*study.sets, *variant.sets)
    for name, point in at:
        sets += study.axis(name).point(point).sets
    if quick:
        sets += study.quick.sets
    base = variant.base
    return Recipe(
        file=None if base.file is None else os.path.relpath(base.file),
        folder=os.fspath(study.file.parent.resolve()) if base.file is None else "",
        keys=json.dumps(base.keys) if base.keys is not None else "",
        name=study.name,
        sets=sets,
    )


def _chosen_seeds(
    study: Study, variant: Variant, at: Coordinates, *, seeds: int | tuple[int, ...], first: int
) -> Sequence[int]:
    """Return the seeds of a variant at some coordinates: a number of them begins with the scenario's."""
    chosen: Sequence[int] = range(first, first + seeds) if isinstance(seeds, int) else seeds
    limits = [variant.seeds, *(study.axis(name).point(point).seeds for name, point in at)]
    chosen = chosen[: min((limit for limit in limits if limit is not None), default=None)]
    if max(chosen) > LARGEST_SEED:
        raise StudyError(f"{study.file}: seeds: {max(chosen)} is above {LARGEST_SEED}", place=str(study.file))
    return chosen


def _with_seeds(
    variant: str, at: Coordinates, recipe: Recipe, scenario: Scenario, seeds: Sequence[int]
) -> Iterator[Run]:
    warnings, extent = scenario.warnings, scenario.extent
    written = written_key_of(scenario, recipe.reads_from)
    for seed in seeds:
        key = key_of(scenario.with_seed(seed), recipe.reads_from)
        yield Run(
            variant=variant,
            at=at,
            seed=seed,
            key=key,
            written=written,
            recipe=recipe,
            warnings=warnings,
            extent=extent,
        )


def _called(variant: str, at: Coordinates) -> str:
    return ", ".join([variant, *(f"{axis}={point}" for axis, point in at)])


def _fault_of_runs(study: Study, called: Sequence[str], fault: Fault) -> Fault:
    """Name the study and the runs that have a fault: the first few of them."""
    most = 3
    more = f" and {len(called) - most} more" if len(called) > most else ""
    text = f"{study.file}: {'; '.join(called[:most])}{more}: {fault.text}"
    return replace(fault, text=text)


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
    return {
        run.key: "done" if runs.has(run.key) else "to do" if runs.failure(run.key) is None else "failed"
        for run in plan.runs
    }


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
