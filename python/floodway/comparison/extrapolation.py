"""Iterations of all layers of a model, extrapolated from runs of some of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from floodway.results.layers import layers_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from floodway.results import Result

__all__ = ["Extrapolated", "extrapolated"]

#: Numbers of layers from which the error of a line is known.
LEAST_FOR_ERROR = 3


@dataclass(frozen=True, kw_only=True)
class Extrapolated:
    """The time of an iteration that was not simulated, by a line through those of the most layers.

    Attributes
    ----------
    workload
        The job.
    variants
        The variants that the line is from, those of the fewest layers first.
    points
        Their simulated layers, and the mean time of an iteration, in microseconds.
    layers
        All layers of the model.
    """

    workload: str
    variants: tuple[str, ...]
    points: tuple[tuple[int, float], ...]
    layers: int

    @property
    def layer_us(self) -> float:
        """By what a layer lengthens an iteration, by the last two points."""
        return _slope(*self.points[-2:])

    @property
    def time_us(self) -> float:
        """The time of an iteration of all layers."""
        layers, time_us = self.points[-1]
        return time_us + self.layer_us * (self.layers - layers)

    @property
    def error_us(self) -> float | None:
        """How far it is off if a layer's time changes as much again as between the points; none with two."""
        if len(self.points) < LEAST_FOR_ERROR:
            return None
        before = _slope(*self.points[-3:-1])
        return abs(self.layer_us - before) * (self.layers - self.points[-1][0])

    def sentence(self) -> str:
        """Say what it is, that it was not simulated, and how good it is."""
        *first, last = (f"{layers:,}" for layers, _ in self.points)
        simulated = f"{', '.join(first)} and {last}"
        whole = f"an iteration of {self.workload} with all {self.layers:,} layers"
        line = (
            f"a line through those of {simulated} layers"
            if self.error_us is None
            else (
                f"a line through the last two of those of {simulated} layers, {self.layer_us:,.1f} us a layer"
            )
        )
        text = f"extrapolated, not simulated: {whole} takes {self.time_us:,.1f} us"
        if self.error_us is None:
            return f"{text}, by {line}; its error is not known, a third number of layers gives it"
        share = self.error_us * 100 / self.time_us
        error = f"give or take {self.error_us:,.1f} ({share:.2f} %) if a layer's time changes as much again"
        return f"{text}, by {line}; {error}, which is an estimate"


def _slope(one: tuple[int, float], other: tuple[int, float]) -> float:
    return (other[1] - one[1]) / (other[0] - one[0])


def extrapolated(labels: Sequence[str], results: Sequence[Sequence[Result]]) -> tuple[Extrapolated, ...]:
    """Extrapolate each job of which variants simulate different numbers of layers, all else being equal."""
    groups: dict[tuple[str, str], dict[int, tuple[str, float, int]]] = {}
    for label, of_variant in zip(labels, results, strict=True):
        for workload, (layers, whole) in layers_of(of_variant).items():
            times = [own.time_us for result in of_variant for own in result.summary().iterations_of(workload)]
            if times:
                same = groups.setdefault((workload, _rest(of_variant[0], workload)), {})
                same.setdefault(layers, (label, fmean(times), whole))
    return tuple(_of(workload, found) for (workload, _), found in groups.items() if len(found) > 1)


def _rest(result: Result, workload: str) -> str:
    """Return the scenario without the layers that a job simulates."""
    scenario: Mapping[str, Any] = json.loads(json.dumps(result.run.scenario["scenario"]))
    for own in scenario["workload"]:
        if own.get("name") == workload:
            own["training"].pop("layers")
    # The seeds are those of the variant, and the same job in all of them.
    return json.dumps({key: value for key, value in scenario.items() if key != "seed"}, sort_keys=True)


def _of(workload: str, found: Mapping[int, tuple[str, float, int]]) -> Extrapolated:
    ordered = sorted(found.items())
    return Extrapolated(
        workload=workload,
        variants=tuple(label for _, (label, _, _) in ordered),
        points=tuple((layers, time_us) for layers, (_, time_us, _) in ordered),
        layers=ordered[0][1][2],
    )
