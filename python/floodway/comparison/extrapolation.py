"""Whole iterations, extrapolated from runs of some of their layers and micro-batches."""

from __future__ import annotations

import json
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from floodway.results.parts import KEYS, part_in_words, parts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.results import Result

__all__ = ["Extrapolated", "Line", "Simulated", "extrapolated"]

#: Numbers of layers or micro-batches from which the error of a line is known.
LEAST_FOR_ERROR = 3


@dataclass(frozen=True, kw_only=True)
class Simulated:
    """Runs of a part of an iteration.

    Attributes
    ----------
    variant
        Variant of the runs.
    layers, micro_batches
        Number of simulated layers and micro-batches; 0 for all.
    time_us
        Mean time of an iteration, in microseconds.
    """

    variant: str
    layers: int
    micro_batches: int
    time_us: float


@dataclass(frozen=True, kw_only=True)
class Line:
    """The line through the last two of several times of iterations, with its error.

    Attributes
    ----------
    unit
        Unit of the numbers, `layers` or `micro_batches`.
    points
        Numbers in rising order, each with the time of such an iteration in microseconds.
    whole
        Number in a whole iteration.
    errors
        Error of each time in microseconds: 0 for that of a run, None if it is not known.
    """

    unit: str
    points: tuple[tuple[int, float], ...]
    whole: int
    errors: tuple[float | None, ...]

    @property
    def step_us(self) -> float:
        """Time that a layer or micro-batch adds by the last two points, in microseconds."""
        return _slope(*self.points[-2:])

    @property
    def time_us(self) -> float:
        """Time of a whole iteration, in microseconds."""
        number, time_us = self.points[-1]
        return time_us + self.step_us * (self.whole - number)

    @property
    def error_us(self) -> float | None:
        """Error of the time if the step changes as much again as between the points; None with two points."""
        last = self.errors[-2:]
        if len(self.points) < LEAST_FOR_ERROR or None in last:
            return None
        (first, _), (second, _) = self.points[-2:]
        beyond = self.whole - second
        before, after = (error or 0.0 for error in last)
        of_points = after + (before + after) * beyond / (second - first)
        return abs(self.step_us - _slope(*self.points[-3:-1])) * beyond + of_points

    def numbers(self) -> str:
        """Return the numbers of the points in words."""
        *first, last = (f"{number:,}" for number, _ in self.points)
        return f"{', '.join(first)} and {last} {_plural(self.unit)}"


@dataclass(frozen=True, kw_only=True)
class Extrapolated:
    """The time of an iteration that was not simulated.

    Attributes
    ----------
    workload
        The job.
    line
        Line that ends in the whole iteration: over the unit that runs vary, or over micro-batches if they
        vary both.
    simulated
        The runs.
    by_layers
        If runs vary both units: a line over layers for each number of micro-batches, whose end is a point of
        `line`.
    part
        Part of the iteration that is not extrapolated, in words; may be empty.
    """

    workload: str
    line: Line
    simulated: tuple[Simulated, ...]
    by_layers: tuple[Line, ...] = ()
    part: str = ""

    @property
    def variants(self) -> tuple[str, ...]:
        """Variants with the simulated parts."""
        return tuple(run.variant for run in self.simulated)

    @property
    def wholes(self) -> dict[str, int]:
        """Numbers of layers and micro-batches of the whole iteration, if extrapolated."""
        return {line.unit: line.whole for line in (*self.by_layers[:1], self.line)}

    @property
    def time_us(self) -> float:
        """Time of the whole iteration, in microseconds."""
        return self.line.time_us

    @property
    def error_us(self) -> float | None:
        """Error of the time, as for `Line`, in microseconds; None if it is not known."""
        return self.line.error_us

    def sentence(self) -> str:
        """Return a sentence with the time and its error, and that it was not simulated."""
        whole = " and ".join(f"{count:,} {_plural(unit)}" for unit, count in self.wholes.items())
        part = f", of {self.part}," if self.part else ""
        text = (
            f"extrapolated, not simulated: an iteration of {self.workload} with all {whole}{part} takes "
            f"{self.time_us:,.1f} us"
        )
        points = self.line.numbers()
        if self.by_layers:
            layers = " and of ".join(dict.fromkeys(line.numbers() for line in self.by_layers))
            points = f"{layers} for each of {points}"
        line = "lines" if self.by_layers else "a line"
        if self.error_us is None:
            more = " and of ".join(_plural(unit) for unit in self.wholes)
            return (
                f"{text}, by {line} through those of {points}; its error is not known, a third number of "
                f"{more} gives it"
            )
        steps = " and ".join(_SINGULAR[unit] for unit in self.wholes)
        share = self.error_us * 100 / self.time_us
        step = f"{self.line.step_us:,.1f} us a {_SINGULAR[self.line.unit]}"
        error = f"give or take {self.error_us:,.1f} ({share:.2f} %)"
        return (
            f"{text}, by {line} through the last two of those of {points}, {step}; {error} if the time "
            f"that a {steps} adds changes as much again, which is an estimate"
        )


#: Singular forms of the units.
_SINGULAR = {"layers": "layer", "micro_batches": "micro-batch"}


def _plural(unit: str) -> str:
    return unit.replace("_", "-")


def extrapolated(labels: Sequence[str], results: Sequence[Sequence[Result]]) -> tuple[Extrapolated, ...]:
    """Extrapolate each job of which variants simulate different parts and that are equal otherwise."""
    groups: dict[tuple[str, str], dict[tuple[int, int], Simulated]] = {}
    wholes: dict[tuple[str, str], dict[str, int]] = {}
    for label, of_variant in zip(labels, results, strict=True):
        for workload, parts in parts_of(of_variant).items():
            times = [
                iteration.time_us
                for result in of_variant
                for iteration in result.summary().iterations_of(workload)
            ]
            if times:
                layers, micro_batches = (parts.get(unit, (0, 0))[0] for unit in KEYS)
                key = (workload, _rest(of_variant[0], workload))
                run = Simulated(
                    variant=label, layers=layers, micro_batches=micro_batches, time_us=fmean(times)
                )
                groups.setdefault(key, {}).setdefault((layers, micro_batches), run)
                wholes.setdefault(key, {}).update({unit: whole for unit, (_, whole) in parts.items()})
    return tuple(
        extrapolation
        for key, runs in groups.items()
        for extrapolation in _extrapolations(key[0], list(runs.values()), wholes[key])
    )


def _rest(result: Result, workload: str) -> str:
    """Return the scenario, as text, without the keys that set the simulated part of a job."""
    scenario: Mapping[str, Any] = json.loads(json.dumps(result.run.scenario["scenario"]))
    for workload_table in scenario["workload"]:
        if workload_table.get("name") == workload:
            for key in KEYS.values():
                workload_table["training"].pop(key, None)
    # Runs of a variant differ in the seed only, and have the same job.
    return json.dumps({key: value for key, value in scenario.items() if key != "seed"}, sort_keys=True)


def _extrapolations(
    workload: str, runs: Sequence[Simulated], wholes: Mapping[str, int]
) -> Iterator[Extrapolated]:
    """Extrapolate over layers for each number of micro-batches, then over several of these."""
    if len({run.layers for run in runs}) == 1:
        yield from _alone(workload, runs, "micro_batches", wholes)
        return
    rows: dict[int, list[Simulated]] = {}
    for run in sorted(runs, key=lambda run: run.micro_batches):
        rows.setdefault(run.micro_batches, []).append(run)
    by_layers = [
        extrapolation for row in rows.values() for extrapolation in _alone(workload, row, "layers", wholes)
    ]
    some = [extrapolation for extrapolation in by_layers if extrapolation.simulated[0].micro_batches]
    if len(some) < 2:  # noqa: PLR2004 (a line has two ends)
        yield from by_layers
        return
    points = tuple(
        (extrapolation.simulated[0].micro_batches, extrapolation.time_us) for extrapolation in some
    )
    line = Line(
        unit="micro_batches",
        points=points,
        whole=wholes["micro_batches"],
        errors=tuple(extrapolation.error_us for extrapolation in some),
    )
    yield Extrapolated(
        workload=workload,
        line=line,
        simulated=tuple(run for extrapolation in some for run in extrapolation.simulated),
        by_layers=tuple(extrapolation.line for extrapolation in some),
    )


def _alone(
    workload: str, runs: Sequence[Simulated], unit: str, wholes: Mapping[str, int]
) -> Iterator[Extrapolated]:
    """Extrapolate runs that differ in the number of one unit."""
    points = sorted((getattr(run, unit), run.time_us, run) for run in runs if getattr(run, unit))
    if len(points) < 2:  # noqa: PLR2004 (as above)
        return
    line = Line(
        unit=unit,
        points=tuple((number, time_us) for number, time_us, _ in points),
        whole=wholes[unit],
        errors=(0.0,) * len(points),
    )
    (other,) = KEYS.keys() - {unit}
    simulated = getattr(runs[0], other)
    part = part_in_words({other: (simulated, wholes[other])}) if simulated else ""
    yield Extrapolated(workload=workload, line=line, simulated=tuple(run for *_, run in points), part=part)


def _slope(one: tuple[int, float], other: tuple[int, float]) -> float:
    return (other[1] - one[1]) / (other[0] - one[0])
