"""Numbers of all runs of studies, read once each, their table, and the outcome of studies that were run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from floodway.common.documents import Table, four_digits
from floodway.common.errors import PlotError, StudyError
from floodway.common.laboratory import REPORTS, laboratory
from floodway.results.interval import LEAST_SEEDS, half_width
from floodway.results.percentiles import MARK, few_noted, is_few, name_of
from floodway.study.format.model import KINDS_OF_NUMBERS
from floodway.study.format.read import metric_of, ready_metric
from floodway.study.metrics.kinds import Value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from floodway.common.documents import Document
    from floodway.plot import Format
    from floodway.results import Result
    from floodway.study.format.model import Coordinates, Metric, Study
    from floodway.study.running.runs import Plan, Run
    from floodway.study.running.storage import Runs

__all__ = [
    "Cell",
    "Conducted",
    "Numbers",
    "Part",
    "Reports",
    "RunFacts",
    "evaluated",
    "metrics_of",
    "numbers_table",
    "reports",
]

#: The metrics of a study that defines none.
USUAL = ("flows", "unfinished", "fct-mean", "fct-p99", "slowdown-p99", "goodput", "last-finish", "drops")
#: Drops that no flow control and no buffer could have avoided, and credits, which are no data.
NO_LOSS = ("link_error", "link_down", "no_route", "metered")


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """Facts about a run that verdicts need besides its numbers.

    Attributes
    ----------
    digest
        Of all its tables.
    lost
        Packets that it dropped, but for those that failures of links destroyed.
    deadlocked
        Whether it ran into a deadlock.
    """

    digest: str
    lost: int = 0
    deadlocked: bool = False

    @classmethod
    def from_result(cls, result: Result, digest: str) -> RunFacts:
        """Return the facts of a result."""
        outcome = result.outcome
        lost = sum(packets for reason, packets in outcome.drops if reason not in NO_LOSS)
        return cls(digest=digest, lost=lost, deadlocked=bool(outcome.deadlocks))


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A metric of a variant at some coordinates, over its seeds.

    Attributes
    ----------
    values
        By seed.
    missing
        Seeds whose runs are not there.
    facts
        Of the runs that are there.
    failures
        Why runs failed that are not there.
    """

    values: Mapping[int, Value]
    missing: tuple[int, ...] = ()
    facts: tuple[RunFacts, ...] = ()
    failures: tuple[str, ...] = ()

    @property
    def known(self) -> tuple[float, ...]:
        """The values of the runs that have one."""
        return tuple(value.value for value in self.values.values() if value.value is not None)

    @property
    def mean(self) -> float | None:
        """Mean over the seeds; none if any of those that were run has no value."""
        numbers = self.known
        return sum(numbers) / len(numbers) if numbers and len(numbers) == len(self.values) else None

    @property
    def reach(self) -> float | None:
        """Half the width of the 95 % confidence interval of the mean; None for too few seeds."""
        return half_width(self.known) if self.mean is not None else None

    def few(self, thousandths: int | None) -> tuple[int, int, int] | None:
        """Return a percentile, times 10, with the least and the most flows that it is of; none of others."""
        flows = [value.flows for value in self.values.values() if value.flows is not None]
        return None if thousandths is None or not flows else (thousandths, min(flows), max(flows))

    @property
    def unfinished(self) -> int:
        """Flows that did not finish among those that it is of, over all seeds."""
        return sum(value.unfinished for value in self.values.values())


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """Metrics by variant, coordinates and seed.

    Attributes
    ----------
    runs
        Every run of the study.
    done
        Keys of those whose results are there.
    values
        By metric, and then by key of a run. What has no value here is missing.
    metrics
        What was computed: what claims and pictures need first.
    facts, failures
        By key of a run: what a verdict needs besides, and why it failed, a violated invariant for example.
    """

    runs: tuple[Run, ...]
    done: frozenset[str]
    values: Mapping[str, Mapping[str, Value]]
    metrics: tuple[Metric, ...] = ()
    facts: Mapping[str, RunFacts] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)

    def cell(self, metric: Metric, variant: str, at: Coordinates) -> Cell:
        """Return a metric of a variant at some coordinates; empty for runs that are not of the study."""
        runs = [run for run in self.runs if run.variant == variant and run.at == at]
        values = self.values[metric.name]
        return Cell(
            values={run.seed: values[run.key] for run in runs if run.key in values},
            missing=tuple(run.seed for run in runs if run.key not in values),
            facts=tuple(self.facts[run.key] for run in runs if run.key in self.facts),
            failures=tuple(self.failures[run.key] for run in runs if run.key in self.failures),
        )


def evaluated(  # noqa: PLR0913 (what is known of the runs)
    study: Study,
    runs: Sequence[Run],
    store: Runs,
    *,
    done: Iterable[str],
    failures: Mapping[str, str],
    on_message: Callable[[str], None],
    on_result: Callable[[str, Result], object] | None = None,
) -> Numbers:
    """Compute every metric that the study names, or else the usual ones, of every run that is there.

    `on_message` is called for a metric that nothing needs and that cannot be computed: it has no value.
    `on_result` is called for each run with its key and its results, which may be large, and are read once.

    Raises
    ------
    StudyError
        If a metric that claims or pictures need cannot be computed, since a run did not watch its link.
    """
    needed = _needed(study)
    metrics = metrics_of(study)
    available = frozenset(done) & {run.key for run in runs}
    values: dict[str, dict[str, Value]] = {metric.name: {} for metric in metrics}
    facts: dict[str, RunFacts] = {}
    labels = {run.key: run.label for run in runs if run.key in available}
    for key, label in labels.items():
        result = store.result(key)
        facts[key] = RunFacts.from_result(result, store.digest(key))
        if on_result is not None:
            on_result(key, result)
        for metric in metrics:
            try:
                values[metric.name][key] = _value(study, metric, result, label)
            except StudyError as error:
                if metric in needed:
                    raise
                on_message(f"no value: {error}")
                values[metric.name][key] = Value(value=None)
    return Numbers(
        metrics=metrics, runs=tuple(runs), done=available, values=values, facts=facts, failures=failures
    )


def metrics_of(study: Study) -> tuple[Metric, ...]:
    """Return the metrics of a study's table: those that it needs, then the others that it defines."""
    by_name = {metric.name: metric for metric in (*_needed(study), *study.metrics.values())}
    return tuple(by_name.values()) or tuple(ready_metric(name) for name in USUAL)


def _needed(study: Study) -> list[Metric]:
    of_claims = [claim["metric"] for claim in study.claims]
    of_plots = [name for plot in study.plots if plot["kind"] in KINDS_OF_NUMBERS for name in plot["metrics"]]
    return [metric_of(study, name) for name in dict.fromkeys((*of_claims, *of_plots))]


def _value(study: Study, metric: Metric, result: Result, label: str) -> Value:
    try:
        return metric.kind.compute(result, metric.options)
    except PlotError as error:
        text = f"{study.file}: metric.{metric.name}: {label}: {error}"
        raise StudyError(text, place=str(study.file), key=f"metric.{metric.name}") from error


def numbers_table(part: Part, metrics: Sequence[Metric]) -> Table:
    """Return a row for each variant and point: means over the seeds, with their confidence intervals."""
    study, numbers = part.study, part.numbers
    places = list(dict.fromkeys((run.variant, run.at) for run in numbers.runs))
    axes = [axis for axis in study.axes if len(axis.points) > 1]
    words = ("variant", *(axis.label for axis in axes))
    cells = {
        (variant, at): [(metric, numbers.cell(metric, variant, at)) for metric in metrics]
        for variant, at in places
    }
    rows = tuple(
        (
            study.variant(variant).label,
            *(dict(at)[axis.name] for axis in axes),
            *(_written(metric, cell) for metric, cell in pairs),
        )
        for (variant, at), pairs in cells.items()
    )
    flat = [pair for pairs in cells.values() for pair in pairs]
    return Table(
        columns=(*words, *(metric.title for metric in metrics)),
        rows=rows,
        words=frozenset(words),
        notes=tuple(_notes(flat)),
    )


def _written(metric: Metric, cell: Cell) -> str:
    if cell.mean is None:
        missing = "not run" if cell.missing or not cell.values else "-"
        return f"not reached: {cell.unfinished:,} unfinished" if cell.unfinished else missing
    reach = "" if cell.reach is None else f" ± {_two_digits(cell.reach)}"
    star = "*" if cell.unfinished else ""
    few = cell.few(metric.kind.thousandths)
    mark = f" {MARK}{few[1]:,}" if few and is_few(few[1], thousandths=few[0]) else ""
    return f"{four_digits(cell.mean)}{reach}{star}{mark}"


def _two_digits(value: float) -> str:
    """Write two digits, or all before the point."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"  # noqa: PLR2004 (two digits)


def _notes(cells: Sequence[tuple[Metric, Cell]]) -> Iterator[str]:
    seeds = [len(cell.values) for _, cell in cells if cell.values]
    if seeds and max(seeds) >= LEAST_SEEDS:
        counted = f"{min(seeds)}" if min(seeds) == max(seeds) else f"{min(seeds)} to {max(seeds)}"
        yield f"mean ± its 95 % confidence interval, by Student's t over {counted} seeds"
    elif seeds:
        yield f"mean over {max(seeds)} seed{'s' * (max(seeds) > 1)}: too few for a confidence interval"
    if any(cell.unfinished and cell.mean is not None for _, cell in cells):
        yield "* some of the flows did not finish"
    few = {
        few_flows[0]
        for metric, cell in cells
        if (few_flows := cell.few(metric.kind.thousandths)) and is_few(few_flows[1], thousandths=few_flows[0])
    }
    if few:
        names = " and ".join(name_of(thousandths) for thousandths in sorted(few))
        yield few_noted("run", percentile=names)


@dataclass(frozen=True, kw_only=True)
class Part:
    """A study with its numbers.

    Attributes
    ----------
    study, numbers
        The study, and the metrics of its runs.
    judged, known
        The verdicts of its claims, and further facts about its runs, by their keys: empty where no package
        that judges claims is installed.
    """

    study: Study
    numbers: Numbers
    judged: tuple[Any, ...] = ()
    known: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Conducted:
    """Studies that have been run.

    Attributes
    ----------
    plan
        The runs of the studies.
    folder
        The folder with runs, pictures and the report.
    parts
        The results of each study; empty after Ctrl-C, and where runs are missing.
    done, failures
        Keys of the completed runs; the reasons of the failed ones, by their keys.
    complete
        Whether every run that this process was to run has ended; false after Ctrl-C.
    missing
        How many runs neither are there nor have failed, where other processes have a share of them: the
        last to end writes the report.
    files
        The written files, the report first; none where runs are missing, another process writes them, or no
        package that makes reports is installed.
    """

    plan: Plan
    folder: Path
    parts: tuple[Part, ...]
    done: frozenset[str]
    failures: Mapping[str, str]
    complete: bool
    missing: int = 0
    files: tuple[Path, ...] = ()


class Reports(Protocol):
    """Verdicts and reports of studies whose runs are there."""

    def judged(self, ran: Conducted, store: Runs, *, on_message: Callable[[str], None]) -> Conducted:
        """Return the studies with the verdicts of their claims."""

    def written(
        self,
        conducted: Conducted,
        store: Runs,
        *,
        title: str,
        formats: Sequence[Format],
        on_message: Callable[[str], None],
    ) -> tuple[Path, ...]:
        """Write numbers, pictures and the report beside the runs, and return the files."""

    def claims(self, conducted: Conducted) -> Document | None:
        """Return counts of verdicts, claims that do not hold first, and all claims; None without claims."""


def reports() -> Reports | None:
    """Return what makes reports; none where it is not installed."""
    writer: Reports | None = laboratory(REPORTS, "studies")
    return writer
