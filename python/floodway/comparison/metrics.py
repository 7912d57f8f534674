"""The numbers that variants are compared by, each taken from the summary of a run."""

from __future__ import annotations

import re
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from statistics import fmean
from typing import TYPE_CHECKING

from floodway.common.documents.model import fields_of
from floodway.comparison.shown_link import link_of, paused_us
from floodway.results.interval import difference_half_width
from floodway.results.lossless import OF_HARMFUL_FLOWS, brief
from floodway.results.percentiles import is_few
from floodway.results.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from floodway.comparison.shown_link import ShownLink
    from floodway.results import LinkSummary, Outcome, Result, Summary, WorkloadSummary

__all__ = ["Cell", "Metric", "Row", "row_of", "rows", "verdict"]

NOT_REACHED = "not reached"
#: Reason of the control messages that a port's meter drops by design.
METERED = "metered"
#: Maximum number of workloads with rows of their own.
MOST_WORKLOADS = 4
#: Maximum number of collectives, by operation and size, with rows.
MOST_COLLECTIVES = 8


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One number of one variant over its seeds.

    Attributes
    ----------
    values
        One per seed; None if there is no number, as for a percentile at an unfinished flow.
    finished_only
        Whether unfinished flows of any seed are missing from it.
    change
        Difference of its mean to that of the first variant: in percent, or in points if the number is a
        share; None for the first variant, if the first mean is 0, and if the number is equal by definition.
    reach
        Half of the width of the difference's 95 % confidence interval, in the unit of the change; None for
        fewer than three seeds.
    few
        Number of flows of a percentile that hardly any flow lies beyond, the smallest of the seeds, or None.
    apart
        Whether the seeds decide that it differs from the first variant's: the interval is without zero. With
        one or two seeds, which have no interval: it differs in the same direction in all, or if the variants
        have different seeds, the two spreads do not overlap.
    """

    values: tuple[float | None, ...]
    finished_only: bool = False
    few: int | None = None
    change: float | None = None
    reach: float | None = None
    apart: bool = False

    @property
    def mean(self) -> float | None:
        """Mean over the seeds; None if one has no value."""
        present = self.present_values
        return sum(present) / len(present) if present and len(present) == len(self.values) else None

    @property
    def least(self) -> float | None:
        """The smallest value; None if no seed has one."""
        return min(self.present_values, default=None)

    @property
    def most(self) -> float | None:
        """The largest value; None if no seed has one."""
        return max(self.present_values, default=None)

    @property
    def present_values(self) -> tuple[float, ...]:
        """Values of the seeds that have one."""
        return tuple(value for value in self.values if value is not None)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One number of all variants.

    Attributes
    ----------
    key
        Key in `compare.json`, whose suffix is the unit.
    label
        Label in tables, with the unit.
    digits
        Number of decimals.
    missing
        Text for a missing value.
    change_unit
        Unit of changes, `percent` or `points`.
    cells
        Cells, one per variant.
    job
        Collective or iteration whose time it is; empty for other numbers.
    """

    key: str
    label: str
    digits: int
    missing: str
    change_unit: str
    cells: tuple[Cell, ...]
    job: str = ""


@dataclass(frozen=True)
class Metric:
    """A number by which variants are compared: its source and its format."""

    key: str
    label: str
    of_summary: Callable[[Summary], float | None] = lambda _: None
    _: KW_ONLY
    digits: int = 1
    missing: str = "-"
    change_unit: str = "percent"
    finished_only: Callable[[Summary], bool] = lambda _: False
    always: bool = True
    thousandths: int | None = None
    #: Number of flows of a percentile.
    flows: Callable[[Result], int] = lambda result: result.summary().total.measured
    #: Collective or iteration whose time it is; empty for other numbers.
    job: str = ""
    #: Whether a run's number would be equal in all other variants; then no change is shown.
    says_nothing: Callable[[Summary], bool] = lambda _: False
    #: Reads the number from the result, if its summary does not have it.
    of_result: Callable[[Result], float | None] | None = None


def rows(results: Sequence[Sequence[Result]], link: ShownLink | None, *, paired: bool) -> tuple[Row, ...]:
    """Compute every row whose number exists in some variant.

    Parameters
    ----------
    results
        Results of each variant, one per seed; empty for an interrupted variant.
    link
        Link whose numbers are compared, from `shown_link`.
    paired
        Whether all variants have the same seeds, and so the same traffic.
    """
    # The times of jobs come first.
    metrics = (
        *_iteration_metrics(results),
        *_collective_metrics(results),
        *_METRICS,
        *_workload_metrics(results),
        *(_link_metrics(link) if link else ()),
        *_TOTALS,
    )
    candidates = ((metric, row_of(metric, results, paired=paired)) for metric in metrics)
    return tuple(row for metric, row in candidates if _exists(row, always=metric.always))


def verdict(results: Sequence[Result]) -> str:
    """Return the verdict on a variant, with the numbers of seeds if they differ."""
    kinds: dict[tuple[str, ...], list[Outcome]] = {}
    for outcome in (result.outcome for result in results):
        lossless = outcome.lossless
        verdict_key = (lossless.verdict, str(lossless.failed is not None), str(_lossy_drops(outcome) > 0))
        kinds.setdefault((*verdict_key, *_ends(outcome)), []).append(outcome)
    texts = [
        (
            ", ".join([brief([outcome.lossless for outcome in outcomes]), *_lossy(outcomes), *ends]),
            len(outcomes),
        )
        for (_, _, _, *ends), outcomes in kinds.items()
    ]
    if len(texts) < 2:  # noqa: PLR2004 (they agree)
        return texts[0][0] if texts else "-"
    return "; ".join(f"{text} ({count} of {len(results)} seeds)" for text, count in texts)


def _lossy(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Return the drops outside of lossless classes, as text."""
    low, high = (most(map(_lossy_drops, outcomes)) for most in (min, max))
    if high:
        packets = "" if low == high else f"{low:,} to "
        yield f"{packets}{counted(high, 'packet')} dropped where no flow control is lossless"


def _lossy_drops(outcome: Outcome) -> int:
    """Count the dropped packets that the verdict does not cover: those of classes that may lose packets."""
    lossless = outcome.lossless
    if lossless.verdict == "not-asked" or lossless.loss is not None:
        return 0
    meant = (METERED, *OF_HARMFUL_FLOWS)
    dropped = sum(packets for reason, packets in outcome.drops if reason not in meant)
    return dropped - (lossless.failed.packets if lossless.failed is not None else 0)


def _ends(outcome: Outcome) -> Iterator[str]:
    ends = {"limit": "ended at the limit", "deadlock": "ended by a deadlock"}
    if outcome.stopped in ends:
        yield ends[outcome.stopped]
    if outcome.deadlocks and outcome.stopped != "deadlock":
        yield "deadlock"
    if outcome.blocked:
        yield "ports blocked needlessly at the end"
    for name, _ in outcome.broken:
        yield f"invariant {name} broken"


def row_of(metric: Metric, results: Sequence[Sequence[Result]], *, paired: bool) -> Row:
    """Compute a row for the results of `rows`."""
    read = metric.of_result or (lambda result: metric.of_summary(result.summary()))

    def cell_of(of_variant: Sequence[Result]) -> Cell:
        summaries = [result.summary() for result in of_variant]
        return Cell(
            values=tuple(map(read, of_variant)),
            finished_only=any(map(metric.finished_only, summaries)),
            few=_few(metric, of_variant),
        )

    cells = [cell_of(of_variant) for of_variant in results]
    silent = [all(metric.says_nothing(result.summary()) for result in of_variant) for of_variant in results]
    others = (
        cell if silent[0] and silent[number] else _against(cells[0], cell, metric.change_unit, paired=paired)
        for number, cell in enumerate(cells)
        if number
    )
    same = fields_of(metric, "key", "label", "digits", "missing", "change_unit", "job")
    return Row(**same, cells=(cells[0], *others))


def _few(metric: Metric, results: Sequence[Result]) -> int | None:
    """Return the number of flows of a percentile if they are few, else None."""
    fewest = min(map(metric.flows, results), default=0)
    thousandths = metric.thousandths
    return fewest if thousandths is not None and is_few(fewest, thousandths=thousandths) else None


def _against(first: Cell, cell: Cell, unit: str, *, paired: bool) -> Cell:
    """Add the difference to the first variant."""
    a, b = first.mean, cell.mean
    if a is None or b is None:
        return cell
    change = b - a if unit == "points" else (b / a - 1) * 100 if a else None
    reach = difference_half_width(cell.present_values, first.present_values, paired=paired)
    decided = (
        _split(first.present_values, cell.present_values, paired=paired)
        if reach is None
        else abs(b - a) > reach
    )
    if reach is not None and unit == "percent":
        reach = reach / abs(a) * 100 if a else None
    return replace(cell, change=change, reach=reach, apart=decided)


def _split(first: Sequence[float], other: Sequence[float], *, paired: bool) -> bool:
    if paired:
        pairs = list(zip(first, other, strict=True))
        return all(a < b for a, b in pairs) or all(a > b for a, b in pairs)
    return min(first) > max(other) or max(first) < min(other)


def _exists(row: Row, *, always: bool) -> bool:
    values = [value for cell in row.cells for value in cell.present_values]
    return bool(values) and (always or any(values))


def _percent(share: float | None) -> float | None:
    return None if share is None else share * 100


def _per(size: int | None, unit: float) -> float | None:
    return None if size is None else size / unit


_METRICS = (
    Metric("flows_finished", "measured flows finished", lambda run: run.total.measured_finished, digits=0),
    Metric(
        "flows_unfinished",
        "measured flows unfinished",
        lambda run: run.total.measured - run.total.measured_finished,
        digits=0,
    ),
    Metric(
        "fct_mean_us",
        "completion time, mean, us",
        lambda run: run.total.fct.mean_us,
        finished_only=lambda run: run.total.fct.mean_of_finished_only,
    ),
    *(
        Metric(f"fct_{name}_us", f"completion time, {label}, us", read, missing=NOT_REACHED, thousandths=rank)
        for name, label, rank, read in (
            ("p50", "p50", 500, lambda run: run.total.fct.p50_us),
            ("p99", "p99", 990, lambda run: run.total.fct.p99_us),
            ("p999", "p99.9", 999, lambda run: run.total.fct.p999_us),
        )
    ),
    *(
        Metric(f"slowdown_{name}", f"slowdown, {name}", read, digits=2, missing=NOT_REACHED, thousandths=rank)
        for name, rank, read in (
            ("p50", 500, lambda run: run.total.slowdown_p50),
            ("p99", 990, lambda run: run.total.slowdown_p99),
        )
    ),
    Metric(
        "last_finish_us",
        "last measured flow finished, us",
        lambda run: run.total.last_finish_us,
        missing=NOT_REACHED,
    ),
    Metric(
        "goodput_gbps",
        "goodput while measured flows start, Gbit/s",
        lambda run: run.total.goodput_gbps,
        digits=2,
        # All flows have finished: variants differ in completion times only.
        says_nothing=lambda run: run.total.measured == run.total.measured_finished,
    ),
)
_TOTALS = (
    Metric(
        "endless_goodput_gbps",
        "goodput of flows that never end, Gbit/s",
        lambda run: sum(workload.goodput_gbps for workload in run.endless) if run.endless else None,
    ),
    Metric("paused_us", "time paused, all ports and classes, us", lambda run: run.paused_us, always=False),
    Metric("pfc_frames", "pause frames received", lambda run: run.pfc_frames, digits=0, always=False),
    Metric("cnps_made", "CNPs made", lambda run: run.cnps.total, digits=0, always=False),
    Metric(
        "dropped_packets",
        "packets dropped",
        lambda run: sum(packets for reason, packets in run.outcome.drops if reason != METERED),
        digits=0,
    ),
    Metric(
        "cut_packets", "packets cut to their headers", lambda run: run.cut_packets, digits=0, always=False
    ),
    Metric(
        "retransmitted_megabytes",
        "payload sent again, MB",
        lambda run: run.retransmitted_bytes / 1e6,
        always=False,
    ),
    Metric(
        "metered_messages",
        "credits and other messages dropped by meters",
        lambda run: dict(run.outcome.drops).get(METERED, 0),
        digits=0,
        always=False,
    ),
)


def _summaries(results: Sequence[Sequence[Result]]) -> list[Summary]:
    return [result.summary() for of_variant in results for result in of_variant]


def _collective_metrics(results: Sequence[Sequence[Result]]) -> Iterator[Metric]:
    """Compare collectives of each workload, operation and size, the last if many.

    Variants may have different ones, and where a run ended early some were not complete.
    """
    every = list(
        dict.fromkeys((row.workload, row.name) for run in _summaries(results) for row in run.collectives)
    )
    several = len({workload for workload, _ in every}) > 1

    def value_of(summary: Summary, key: tuple[str, str], field: str) -> float | None:
        collective = {(row.workload, row.name): row for row in summary.collectives}.get(key)
        return None if collective is None else float(getattr(collective, field))

    for key in every[-MOST_COLLECTIVES:]:
        workload, name = key
        label = f"{workload}: {name}" if several else name
        word = re.sub(r"\W+", "_", f"{workload}_{name}")
        time, bandwidth = (partial(value_of, key=key, field=field) for field in ("mean_us", "busbw_gbps"))
        yield Metric(f"{word}_mean_us", f"{label}: time, mean, us", time, job=label)
        yield Metric(f"{word}_busbw_gbps", f"{label}: bus bandwidth, Gbit/s", bandwidth)


def _iteration_metrics(results: Sequence[Sequence[Result]]) -> Iterator[Metric]:
    """Compare the mean time of an iteration of each job, and its exposed communication."""
    runs = _summaries(results)
    every = list(dict.fromkeys(row.workload for run in runs for row in run.iterations))

    def value_of(summary: Summary, name: str, field: str) -> float | None:
        values = [getattr(row, field) for row in summary.iterations_of(name)]
        return fmean(values) if values else None

    for name in every[:MOST_WORKLOADS]:
        label = f"{name}: " if len(every) > 1 else ""
        parts = {row.part for run in runs for row in run.iterations_of(name)}
        # Times of different parts of an iteration are not compared.
        alike = len(parts) == 1
        part = next(iter(parts)) if alike else "different parts"
        whole = f"{label}iteration{f', {part}' if part else ''}"
        for field, title, job in (
            ("time_us", f"{whole}: time", whole if alike else ""),
            ("exposed_us", f"{label}exposed communication", ""),
        ):
            key = re.sub(r"\W+", "_", f"{name}_iteration_{field}")
            yield Metric(key, f"{title}, mean, us", partial(value_of, name=name, field=field), job=job)


def _workload_metrics(results: Sequence[Sequence[Result]]) -> Iterator[Metric]:
    """Compare completion times of each workload, where all runs have the same few."""
    by_run = [tuple(workload.name for workload in _measured(run)) for run in _summaries(results)]
    if len(set(by_run)) != 1 or not 1 < len(by_run[0]) <= MOST_WORKLOADS:
        return
    for at, name in enumerate(by_run[0]):
        yield from _metrics_of_workload(name, at)


def _measured(summary: Summary) -> list[WorkloadSummary]:
    return [workload for workload in summary.workloads if workload.measured]


def _metrics_of_workload(name: str, at: int) -> Iterator[Metric]:
    yield Metric(
        f"workload_{name}_fct_mean_us",
        f"{name}: completion time, mean, us",
        lambda run: _measured(run)[at].fct.mean_us,
        finished_only=lambda run: _measured(run)[at].fct.mean_of_finished_only,
    )
    yield Metric(
        f"workload_{name}_fct_p99_us",
        f"{name}: completion time, p99, us",
        lambda run: _measured(run)[at].fct.p99_us,
        missing=NOT_REACHED,
        thousandths=990,
        flows=lambda result: _measured(result.summary())[at].measured,
    )


def _link_metrics(link: ShownLink) -> Iterator[Metric]:
    def value_of(read: Callable[[LinkSummary], float | None]) -> Callable[[Summary], float | None]:
        return lambda summary: read(link_row) if (link_row := link_of(summary, link)) else None

    name = link.name
    yield Metric(
        "link_loaded_gbps",
        f"{name}: throughput while loaded, Gbit/s",
        value_of(lambda row: row.loaded_gbps),
    )
    yield Metric(
        "link_loaded_idle_percent",
        f"{name}: idle while loaded, %",
        value_of(lambda row: _percent(row.loaded_idle_share)),
        change_unit="points",
    )
    yield Metric(
        "link_loaded_paused_percent",
        f"{name}: paused while loaded, %",
        value_of(lambda row: _percent(row.loaded_paused_share)),
        change_unit="points",
        always=False,
    )
    yield Metric(
        "link_paused_us", f"{name}: time paused, us", of_result=partial(paused_us, link=link), always=False
    )
    yield Metric(
        "link_queue_peak_kilobytes",
        f"{name}: longest queue before it, KB",
        value_of(lambda row: _per(row.queue_peak_bytes, 1e3)),
    )
    yield Metric(
        "link_receiver_peak_megabytes",
        f"{name}: peak buffer at its receiver, MB",
        value_of(lambda row: _per(row.receiver_peak_bytes, 1e6)),
        digits=2,
    )
