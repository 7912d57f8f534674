"""Variants run side by side, and their comparison."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from floodway.common.errors import ComparisonError
from floodway.common.limits import LARGEST_SEED
from floodway.comparison.extrapolation import Extrapolated, extrapolated
from floodway.comparison.findings import findings
from floodway.comparison.folder import ComparisonFolder, PlannedRun, SharedFolder
from floodway.comparison.groups import Group, groups
from floodway.comparison.metrics import Row, rows, verdict
from floodway.comparison.shown_link import ShownLink, shown_link
from floodway.comparison.variants import Variant, VariantWarning, differing, files, merged_warnings
from floodway.scenarios.keys import key_of
from floodway.scenarios.scenario import Scenario
from floodway.simulation.execution import Resources, Task, cores, run_all
from floodway.simulation.run import with_report_records

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from floodway.simulation.analysis import Result
    from floodway.simulation.shards import Shard

__all__ = ["Comparison", "compare"]

#: Maximum number of variants that a title names; more are counted.
MOST_IN_TITLE = 3


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Variants with their results.

    Attributes
    ----------
    variants
        Compared variants; differences are to the first.
    seeds
        Seeds of each variant.
    results
        Results of each variant's completed runs, one per seed.
    complete
        Whether all runs have completed. They have not after Ctrl-C, or while other processes execute some.
    left
        Number of runs left to other processes after this shard's; None without a shard.
    folder
        Folder of results, tables, pictures and the page; None if nothing was written.
    trouble
        Why `folder` is not the requested one; None if it is.
    """

    variants: tuple[Variant, ...]
    seeds: tuple[tuple[int, ...], ...]
    results: tuple[tuple[Result, ...], ...]
    complete: bool
    left: int | None = None
    folder: Path | None = None
    trouble: str | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the variants."""
        return tuple(variant.label for variant in self.variants)

    @property
    def title(self) -> str:
        """The scenario's name, and what is compared."""
        few = len(self.labels) <= MOST_IN_TITLE
        compared = " against ".join(self.labels) if few else f"{len(self.labels)} variants"
        names = tuple(variant.scenario.name for variant in self.variants)
        return compared if few and names == self.labels else f"{self.name}: {compared}"

    @property
    def name(self) -> str:
        """The scenario's name, or the scenarios' names."""
        return " and ".join(dict.fromkeys(variant.scenario.name for variant in self.variants))

    @cached_property
    def differing(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The keys that differ, each with its value in every variant."""
        return differing(self.variants)

    @cached_property
    def link(self) -> ShownLink | None:
        """The link whose throughput, queue and pauses are compared."""
        return shown_link([result for of_variant in self.results for result in of_variant])

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Every number of all variants."""
        return rows(self.results, self.link, paired=self._paired)

    @cached_property
    def extrapolated(self) -> tuple[Extrapolated, ...]:
        """Whole iterations, by variants that simulate different numbers of layers or micro-batches."""
        return extrapolated(self.labels, self.results)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Completion times by workload and class of size."""
        return groups(self.results, paired=self._paired)

    def _repr_html_(self) -> str:
        from floodway.common.documents.html import body  # noqa: PLC0415 (as above)
        from floodway.comparison.document import document  # noqa: PLC0415 (in notebooks alone)

        return body(document(self))

    @property
    def _paired(self) -> bool:
        """Whether all variants have the same seeds, and so the same traffic."""
        return self.complete and len(set(self.seeds)) == 1

    @cached_property
    def verdicts(self) -> tuple[str, ...]:
        """Verdict on each variant: losses, deadlocks, broken invariants."""
        return tuple(verdict(results) for results in self.results)

    @cached_property
    def warnings(self) -> tuple[VariantWarning, ...]:
        """Warnings of `check` about the variants, each once."""
        return merged_warnings((variant.label, variant.scenario.warnings) for variant in self.variants)

    @cached_property
    def findings(self) -> tuple[str, ...]:
        """Sentences on how each variant differs from the first."""
        return findings(self.labels, self.results, self.rows, self.groups, self.verdicts, self.link)

    @cached_property
    def table(self) -> pl.DataFrame:
        """The numbers as a frame: a row for each number and variant.

        Columns are `number`, `variant`, `mean`, `min`, `max` (over the seeds), `change` (to the first
        variant) and `change_unit` (percent or points).
        """
        cells = [
            {
                "number": row.key,
                "variant": label,
                "mean": cell.mean,
                "min": cell.least,
                "max": cell.most,
                "change": cell.change,
                "change_unit": row.change_unit,
            }
            for row in self.rows
            for label, cell in zip(self.labels, row.cells, strict=True)
        ]
        numbers = dict.fromkeys(("mean", "min", "max", "change"), pl.Float64)
        return pl.DataFrame(cells, schema_overrides=numbers)


def compare(  # noqa: PLR0913 (what a caller may choose)
    variants: Sequence[Variant | Scenario | str | os.PathLike[str]],
    *,
    seeds: int = 1,
    jobs: int | None = None,
    threads: int = 1,
    force_threads: bool = False,
    force_memory: bool = False,
    out: str | os.PathLike[str] | None = None,
    shard: Shard | None = None,
    force: bool = False,
    report: bool = False,
    pictures: bool = True,
    on_progress: Callable[[Sequence[Task]], None] | None = None,
    on_message: Callable[[str], None] | None = None,
) -> Comparison:
    """Run variants and compare their results.

    Ctrl-C stops all runs within a fraction of a second; the comparison then has the completed runs, and is
    not `complete`. A call with the same `out` continues an interrupted or killed comparison: it does not
    repeat completed runs.

    If `out` cannot be written when a run completes, as on a full disk, all results are written to a new
    folder elsewhere: `folder` is its path, and `trouble` the reason.

    Parameters
    ----------
    variants
        Variants from `vary`, or scenarios and files of scenarios; at least two.
    seeds
        Number of runs of each variant, with the scenario's seed and the following ones.
    jobs
        Number of runs at a time. Default: one per core.
    threads
        Number of threads of each run; results do not depend on it.
    force_threads
        Whether runs use these threads even if they mostly wait for one another.
    force_memory
        Whether runs start although their estimate exceeds the memory that is left. Each run is checked
        alone, although `jobs` of them run at a time.
    out
        Folder for results, tables, pictures and a page; results of a run are written when it completes.
        Default: nothing is written.
    shard
        Share of the runs that this process executes, if several processes have the same `out`. The process
        that completes the last run has all results, and writes tables, pictures and the page.
    force
        Whether an earlier comparison in `out` may be replaced.
    report
        Whether runs also record series and pauses of all ports, and `report.html` in `out` shows them over
        time, for the first seed of the first four variants.
    pictures
        Whether pictures are drawn, which takes most of the time of small runs.
    on_progress
        Function that is called about ten times a second in the calling thread, with the runs to execute.
    on_message
        Function that is called with messages, such as the number of completed runs.

    Returns
    -------
    Comparison
        The variants with the results of their runs.

    Raises
    ------
    ComparisonError
        If there are fewer than two variants, or `shard` is given without `out` or with `force`.
    ScenarioError
        If a scenario cannot be simulated; nothing has run then.
    OutputError
        If `out` is taken or cannot be written; nothing has run then, unless that changed during the runs.
    OutOfMemoryError
        If a run needs more memory than is available.
    RunError
        If a run failed.

    Examples
    --------
    >>> import floodway
    >>> from floodway.builders import Burst, SingleSwitch, Workload
    >>> scenario = floodway.Scenario(
    ...     name="small",
    ...     topology=SingleSwitch(hosts=3, rate="100G", delay="1us"),
    ...     workload=[Workload(name="pair", burst=Burst(from_=["h1", "h2"], to="h3", size="100KB"))],
    ... )
    >>> compared = floodway.compare([scenario, scenario.replace(name="large", mtu="4096B")], jobs=1)
    >>> compared.labels
    ('small', 'large')
    """
    chosen = _variants(variants)
    if report:
        chosen = tuple(replace(variant, scenario=with_report_records(variant.scenario)) for variant in chosen)
    seeds_of = tuple(_seeds(variant, seeds) for variant in chosen)
    pairs = [
        (variant, variant.scenario.with_seed(seed))
        for variant, variant_seeds in zip(chosen, seeds_of, strict=True)
        for seed in variant_seeds
    ]
    tasks = [
        Task(
            label=f"{variant.label}, seed {scenario.seed}" if seeds > 1 else variant.label, scenario=scenario
        )
        for variant, scenario in pairs
    ]
    planned = [
        PlannedRun(
            variant=variant.label,
            seed=scenario.seed,
            key=key_of(scenario, Path(variant.scenario.native.file).parent),
        )
        for variant, scenario in (() if out is None else pairs)
    ]
    if shard is not None and (out is None or force):
        raise ComparisonError(
            f"shard {shard}: shards share the folder `out`, and none replaces what another wrote there",
            place="shard",
            given=str(shard),
        )
    place = (
        ComparisonFolder(out, planned, force=force)
        if out is None or shard is None
        else SharedFolder(out, planned, shard=shard)
    )
    with place as target:
        shard_runs = target.shard_runs if isinstance(target, SharedFolder) else None
        for number, result in target.ended.items():
            tasks[number].result = result
        if target.ended and on_message is not None:
            on_message(f"{len(target.ended)} of {len(tasks)} runs are in {target.folder}/ already")
        run_all(
            tasks,
            jobs=jobs or cores(),
            resources=Resources(threads, force_threads=force_threads, force_memory=force_memory),
            only=shard_runs,
            on_progress=on_progress,
            on_result=target.publish,
        )
        left = None
        if shard_runs is not None and all(tasks[number].result for number in shard_runs):
            for number, result in target.read_ended().items():
                tasks[number].result = result
            left = sum(task.result is None for task in tasks)
        groups = [tasks[begin : begin + seeds] for begin in range(0, len(tasks), seeds)]
        comparison = Comparison(
            variants=chosen,
            seeds=seeds_of,
            results=tuple(tuple(task.result for task in group if task.result) for group in groups),
            complete=all(task.result for task in tasks),
            left=left,
            folder=target.folder,
        )
        if comparison.complete:
            target.finish(comparison, report=report, pictures=pictures)
    if target.error_elsewhere is None:
        return comparison
    return replace(comparison, folder=target.folder, trouble=str(target.error_elsewhere))


def _variants(inputs: Sequence[Variant | Scenario | str | os.PathLike[str]]) -> tuple[Variant, ...]:
    if isinstance(inputs, (str, os.PathLike, Scenario, Variant)):
        raise ComparisonError("one is given: a comparison needs at least two variants, in a list")
    others = [entry for entry in inputs if not isinstance(entry, (Variant, Scenario, str, os.PathLike))]
    if others:
        raise ComparisonError(f"a {type(others[0]).__name__} is not a variant, a scenario or a file of one")
    paths = [entry for entry in inputs if isinstance(entry, (str, os.PathLike))]
    from_files = iter(files(paths) if paths else ())
    variants = tuple(
        entry
        if isinstance(entry, Variant)
        else Variant(label=entry.name, scenario=entry)
        if isinstance(entry, Scenario)
        else next(from_files)
        for entry in inputs
    )
    if len(variants) < 2:  # noqa: PLR2004 (what a comparison is of)
        raise ComparisonError(f"{len(variants)} given: a comparison needs at least two variants")
    labels = [variant.label for variant in variants]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise ComparisonError(f"{twice}: two variants have this label", place=twice)
    return variants


def _seeds(variant: Variant, count: int) -> tuple[int, ...]:
    first = variant.scenario.seed
    if count < 1:
        raise ComparisonError(f"{count} seeds: at least one is needed", place="seeds", given=str(count))
    if first + count - 1 > LARGEST_SEED:
        message = f"{variant.label}: {count} seeds from {first} on exceed {LARGEST_SEED}"
        raise ComparisonError(message, place=variant.label, given=str(count))
    return tuple(range(first, first + count))
