"""The runs of a study: every variant at every place with every seed, each with its key.

A key is a hash of what decides a result: the whole scenario as it was resolved, the bytes of every file that
it reads, the seed, and the engine. What a file is called, and which line said something, decides nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floodway import _floodway
from floodway.errors import ScenarioError, StudyError
from floodway.scenarios import LARGEST_SEED, Scenario, load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from floodway.errors import Fault
    from floodway.study.model import Base, Place, Sets, Study, Variant

__all__ = ["Recipe", "Run", "engine", "key_of", "runs_of", "selected"]

#: Changes when what is stored of a run does.
FORMAT = 2
#: What a scenario is called decides nothing.
CALLED = ("name", "file", "description")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a scenario is read again, in another process too.

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
        """Read it.

        Raises
        ------
        ScenarioError
            If it cannot be simulated.
        """
        if self.file is not None:
            return load(self.file, sets=self.sets)
        with contextlib.chdir(self.folder):
            return Scenario.from_dict(json.loads(self.keys), name=self.name).replace(sets=self.sets)

    @property
    def reads_from(self) -> Path:
        """The folder in which relative paths begin."""
        return Path(self.folder) if self.file is None else Path(self.file).parent


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a study.

    Attributes
    ----------
    variant, place, seed
        What it is of.
    key
        The hash that it is stored under.
    recipe, scenario
        What is simulated.
    """

    variant: str
    place: Place
    seed: int
    key: str
    recipe: Recipe
    scenario: Scenario

    @property
    def label(self) -> str:
        """What messages call it."""
        return ", ".join(
            [self.variant, *(f"{axis}={point}" for axis, point in self.place), f"seed {self.seed}"]
        )


def selected(study: Study, *, quick: bool) -> tuple[tuple[Variant, Place], ...]:
    """Return the variants of a study at the places where they are run; in its quick form, fewer."""
    few = set(study.quick.variants) if quick and study.quick.variants else None
    variants = [variant for variant in study.variants if few is None or variant.name in few]
    points = [
        [(axis.name, point) for point in axis.names if not quick or point in axis.quick]
        for axis in study.axes
    ]
    return tuple(
        (variant, place)
        for variant in variants
        for place in itertools.product(*points)
        if variant.runs_at(place)
    )


def runs_of(study: Study, *, quick: bool, seeds: int | tuple[int, ...] | None = None) -> tuple[Run, ...]:
    """Read and build every scenario of a study, and return its runs in order.

    Parameters
    ----------
    study
        What to run.
    quick
        Whether in its quick form.
    seeds
        Instead of the study's: a number of them, or a list.

    Raises
    ------
    ScenarioError
        If a scenario cannot be simulated; it has the faults of all of them.
    StudyError
        If there are no runs, or seeds beyond the largest.
    """
    own = study.quick.seeds if quick and study.quick.seeds is not None else study.seeds
    wanted = own if seeds is None else seeds
    runs: list[Run] = []
    faults: dict[str, tuple[list[str], Fault]] = {}
    for variant, place in selected(study, quick=quick):
        recipe = _recipe(study, variant, place, quick=quick)
        try:
            scenario = recipe.scenario()
            with contextlib.chdir(recipe.folder or "."):
                _floodway.check(scenario.native)
        except ScenarioError as error:
            for fault in error.faults:
                faults.setdefault(fault.text, ([], fault))[0].append(_called(variant, place))
            continue
        runs += _with_seeds(study, variant, place, recipe, scenario, wanted)
    if faults:
        raise ScenarioError(tuple(_named(study, called, fault) for called, fault in faults.values()))
    if not runs:
        raise StudyError(
            f"{study.file}: has no runs: every variant is left out everywhere", place=str(study.file)
        )
    return tuple(runs)


def key_of(scenario: Scenario, folder: Path) -> str:
    """Return the key under which a run of a scenario is stored.

    Parameters
    ----------
    scenario
        With its seed.
    folder
        Where relative paths begin.
    """
    resolved = _without_places(scenario.resolved())
    said = resolved["scenario"]
    parts = {
        "format": FORMAT,
        "engine": engine(),
        "seed": scenario.seed,
        "files": dict(_files(said, folder)),
        **{key: value for key, value in resolved.items() if key not in CALLED},
        "scenario": {key: value for key, value in said.items() if key not in CALLED},
    }
    text = json.dumps(parts, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def engine() -> str:
    """Return what tells engines apart: the package's version, and a hash of the native half as built."""
    # An environment without the file, such as a frozen one, has its version alone.
    with contextlib.suppress(OSError, TypeError):
        return f"{_floodway.__version__}+{_digest(Path(_floodway.__file__))[:16]}"
    return _floodway.__version__


def _recipe(study: Study, variant: Variant, place: Place, *, quick: bool) -> Recipe:
    sets = (*study.sets, *variant.sets)
    for name, point in place:
        sets += study.axis(name).point(point).sets
    if quick:
        sets += study.quick.sets
    base: Base = variant.base
    return Recipe(
        file=None if base.file is None else os.path.relpath(base.file),
        folder=os.fspath(study.file.parent.resolve()) if base.file is None else "",
        keys=json.dumps(base.keys) if base.keys is not None else "",
        name=study.name,
        sets=sets,
    )


def _with_seeds(  # noqa: PLR0913, PLR0917 (the parts of a run)
    study: Study,
    variant: Variant,
    place: Place,
    recipe: Recipe,
    scenario: Scenario,
    wanted: int | tuple[int, ...],
) -> Iterator[Run]:
    seeds: Sequence[int] = range(scenario.seed, scenario.seed + wanted) if isinstance(wanted, int) else wanted
    seeds = seeds[: variant.seeds]
    if max(seeds) > LARGEST_SEED:
        raise StudyError(f"{study.file}: seeds: {max(seeds)} is above {LARGEST_SEED}", place=str(study.file))
    for seed in seeds:
        seeded = scenario.with_seed(seed)
        key = key_of(seeded, recipe.reads_from)
        yield Run(variant=variant.name, place=place, seed=seed, key=key, recipe=recipe, scenario=seeded)


def _called(variant: Variant, place: Place) -> str:
    return ", ".join([variant.name, *(f"{axis}={point}" for axis, point in place)])


def _named(study: Study, called: Sequence[str], fault: Fault) -> Fault:
    """Name the study and the runs that have a fault: the first few of them."""
    most = 3
    more = f" and {len(called) - most} more" if len(called) > most else ""
    text = f"{study.file}: {'; '.join(called[:most])}{more}: {fault.text}"
    return type(fault)(**{**fault.__dict__, "text": text})


def _without_places(value: Any) -> Any:  # noqa: ANN401 (any JSON value)
    """Leave out which file and line said something."""
    if isinstance(value, dict):
        return {
            key: _without_places(inner)
            for key, inner in value.items()
            if not (key == "origin" and "key" in value and "value" in value)
        }
    return [_without_places(inner) for inner in value] if isinstance(value, list) else value


def _files(value: Any, folder: Path) -> Iterator[tuple[str, str]]:  # noqa: ANN401 (any JSON value)
    """Find every text of a scenario that is a file's path, and hash the file.

    Whatever key names a file, now or later, is found so; a word that happens to be a file's name is hashed in
    vain.
    """
    inner: Iterable[Any] = (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    )
    for each in inner:
        yield from _files(each, folder)
    if isinstance(value, str) and value:
        path = folder / re.sub(r"\$\{([^}]*)\}", lambda found: os.environ.get(found[1], ""), value)
        with contextlib.suppress(OSError, ValueError):
            if path.is_file():
                yield value, _digest(path)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
