"""Numbers of all runs of a study, read once each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.errors import PlotError, StudyError
from floodway.study.model import KINDS_OF_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from floodway.results import Result
    from floodway.study.metrics import Value
    from floodway.study.model import Metric, Place, Study
    from floodway.study.runs import Run
    from floodway.study.storage import Runs

__all__ = ["Cell", "Numbers", "evaluated"]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A metric of a variant at a place, over its seeds.

    Attributes
    ----------
    values
        By seed.
    missing
        Seeds whose runs are not there.
    """

    values: Mapping[int, Value]
    missing: tuple[int, ...] = ()

    @property
    def known(self) -> tuple[float, ...]:
        """The values that are there."""
        return tuple(value.value for value in self.values.values() if value.value is not None)

    @property
    def whole(self) -> bool:
        """Whether every seed has been run and has a value."""
        return bool(self.values) and not self.missing and len(self.known) == len(self.values)

    @property
    def mean(self) -> float | None:
        """Mean over the seeds; none if any of those that were run has no value."""
        known = self.known
        return sum(known) / len(known) if known and len(known) == len(self.values) else None

    @property
    def unfinished(self) -> int:
        """Flows that did not finish among those that it is of, over all seeds."""
        return sum(value.unfinished for value in self.values.values())


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Metrics by variant, place and seed.

    Attributes
    ----------
    runs
        Every run of the study.
    done
        Keys of those whose results are there.
    values
        By metric, and then by key of a run.
    """

    runs: tuple[Run, ...]
    done: frozenset[str]
    values: Mapping[str, Mapping[str, Value]]

    def cell(self, metric: Metric, variant: str, place: Place) -> Cell:
        """Return a metric of a variant at a place; of runs that are not of the study, nothing."""
        own = [run for run in self.runs if run.variant == variant and run.place == place]
        values = self.values[metric.name]
        return Cell(
            values={run.seed: values[run.key] for run in own if run.key in self.done},
            missing=tuple(run.seed for run in own if run.key not in self.done),
        )

    def at(self, variant: str, place: Place) -> tuple[Run, ...]:
        """Return the runs of a variant at a place whose results are there, one a seed."""
        return tuple(
            run for run in self.runs if run.variant == variant and run.place == place and run.key in self.done
        )


def evaluated(study: Study, runs: Sequence[Run], store: Runs, *, done: Iterable[str]) -> Numbers:
    """Compute every metric that the study's claims and pictures need, of every run that is there.

    Raises
    ------
    StudyError
        If a metric cannot be computed, since a run did not watch its link.
    """
    metrics = _needed(study)
    there = frozenset(done)
    values: dict[str, dict[str, Value]] = {metric.name: {} for metric in metrics}
    labels = {run.key: run.label for run in runs if run.key in there}
    for key, label in labels.items():
        result = store.result(key)
        for metric in metrics:
            values[metric.name][key] = _value(study, metric, result, label)
    return Numbers(runs=tuple(runs), done=there, values=values)


def _needed(study: Study) -> list[Metric]:
    of_claims = [claim.metric for claim in study.claims]
    of_plots = [metric for plot in study.plots if plot.kind in KINDS_OF_NUMBERS for metric in plot.metrics]
    return list({metric.name: metric for metric in (*of_claims, *of_plots)}.values())


def _value(study: Study, metric: Metric, result: Result, label: str) -> Value:
    try:
        return metric.kind.of(result, metric.options)
    except PlotError as error:
        text = f"{study.file}: metric.{metric.name}: {label}: {error}"
        raise StudyError(text, place=str(study.file), key=f"metric.{metric.name}") from error
