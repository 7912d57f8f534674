"""The command `floodway compare`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

import floodway
from floodway import _floodway
from floodway.cli.inputs import pair, plan_warnings
from floodway.cli.output import DONE, FAILED, INTERRUPTED, echo, errors, warnings
from floodway.cli.run import failures
from floodway.cli.show_document import print_answer
from floodway.cli.watch import WatchAll
from floodway.common.errors import ComparisonError
from floodway.common.ready import resolved
from floodway.comparison.document import document
from floodway.comparison.folder import PAGE_FILE
from floodway.comparison.variants import files, folder_names, merged_warnings, split_values
from floodway.results.files import REPORT_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway.comparison.comparison import Comparison
    from floodway.comparison.variants import Variant
    from floodway.simulation.shards import Shard

__all__ = ["Request", "compare"]

#: Syntax of a variant of several keys.
VARIANT_FORM = "NAME='KEY.PATH=VALUE, ...'"
#: The end of the message after an interruption.
GOES_ON = ", and the same command continues from there"


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of `floodway compare`."""

    scenarios: Sequence[Path]
    vary: Sequence[str]
    variants: Sequence[str]
    seeds: int
    jobs: int | None
    threads: int
    sets: Sequence[str]
    out: Path | None
    force: bool
    quiet: bool
    json: bool
    full: bool
    strict: bool
    shard: Shard | None
    force_threads: bool
    force_memory: bool
    report: bool
    pictures: bool


def compare(request: Request) -> int:
    """Simulate the variants, write and print their comparison, and return the exit code."""
    for option, is_set in (("--force", request.force), ("--json", request.json)):
        if request.shard is not None and is_set:
            raise click.BadParameter(f"cannot go with {option}", param_hint="--shard")
    variants = _variants(request)
    names = " ".join(path.stem for path in request.scenarios)
    out = request.out or Path("out", "compare", *folder_names([names]))
    if not request.quiet:
        merged = merged_warnings((variant.label, variant.scenario.warnings) for variant in variants)
        warnings((*(warning.whole for warning in merged), *_plans(variants, request)))
    try:
        with WatchAll(quiet=request.quiet) as watch:
            comparison = floodway.compare(
                variants,
                seeds=request.seeds,
                jobs=request.jobs,
                threads=request.threads,
                force_threads=request.force_threads,
                force_memory=request.force_memory,
                out=out,
                shard=request.shard,
                force=request.force,
                report=request.report,
                pictures=request.pictures,
                on_progress=watch.update,
                on_message=None if request.quiet else partial(echo, err=True),
            )
    except KeyboardInterrupt:
        # Ctrl-C while tables and pictures are drawn; during the runs it ends them without an exception.
        echo(f"interrupted; completed runs are kept in {out}/{GOES_ON}", err=True)
        return INTERRUPTED
    if comparison.trouble is not None:
        errors(comparison.trouble, f"the results are in {comparison.folder}/ instead")
    where = comparison.folder or out
    if not comparison.complete:
        return _unfinished(request, comparison, where)
    _print(request, comparison, where)
    return _verdict(request, comparison) or (DONE if comparison.trouble is None else FAILED)


def _variants(request: Request) -> tuple[Variant, ...]:
    """Read every variant; all faults are raised before the first run."""
    sets = [pair(text) for text in request.sets]
    paths = [resolved(path) for path in request.scenarios]
    option = "--vary" if request.vary else "--variant"
    if not request.vary and not request.variants:
        if len(paths) == 1:
            raise ComparisonError(
                "one scenario and nothing that varies; add --vary KEY.PATH=A,B or a second scenario"
            )
        return files(paths, sets=sets)
    if len(paths) > 1:
        raise ComparisonError(
            f"{option} is of one scenario, and {len(paths)} are given; choose one of the two"
        )
    axis_texts = [pair(text, option="--vary", form="KEY.PATH=A,B") for text in request.vary]
    axes = [(key, _split(f"--vary {key}", values)) for key, values in axis_texts]
    settings_by_name = [_named_settings(text) for text in request.variants]
    keys = [key for key, _ in axes] + [key for _, settings in settings_by_name for key, _ in settings]
    if request.seeds > 1 and "seed" in keys:
        raise ComparisonError(f"{option} seed and --seeds both choose the seeds; use one of the two")
    return floodway.vary(paths[0], axes, named=settings_by_name, sets=sets)


def _split(place: str, values: str) -> tuple[str, ...]:
    try:
        return split_values(values)
    except ComparisonError as error:
        raise ComparisonError(f"{place}: {error}", place=place, given=values) from None


def _named_settings(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Read a variant's name and its settings."""
    name, settings = pair(text, option="--variant", form=VARIANT_FORM)
    place = f"--variant {name}"
    parts = _split(place, settings) if settings else ()
    return name, tuple(pair(part, option=place) for part in parts)


def _plans(variants: Sequence[Variant], request: Request) -> Iterator[str]:
    """Warn of variants whose runs use fewer threads than requested, or need more memory than is left."""
    for variant in variants if request.threads > 1 or request.force_memory else ():
        plan = _floodway.Plan(variant.scenario.native, threads=request.threads, force=request.force_threads)
        for warning in plan_warnings(plan, requested=request.threads, force_memory=request.force_memory):
            yield f"{variant.label}: {warning}"


def _unfinished(request: Request, comparison: Comparison, out: Path) -> int:
    """Say what is kept, or left to other processes, and return the exit code."""
    total = sum(map(len, comparison.seeds))
    if comparison.left is None:
        ended = sum(map(len, comparison.results))
        message = f"{ended} of {total} runs are kept in {out}/{GOES_ON}" if ended else "nothing was written"
        echo(f"interrupted; {message}", err=True)
        return INTERRUPTED
    missing = f"{comparison.left} of all {total} runs are missing"
    echo(f"{out}: {missing}, and the last shard compares them", err=True)
    return _verdict(request, comparison)


def _print(request: Request, comparison: Comparison, out: Path) -> None:
    answer = document(comparison)
    answer = replace(answer, data={"results": str(out), **answer.data})
    print_answer(answer, json_=request.json, quiet=request.quiet, full=request.full)
    if not (request.json or request.quiet):
        echo(f"{'page with pictures' if request.pictures else 'page'}: {out / PAGE_FILE}")
        if request.report:
            echo(f"runs over time: {out / REPORT_FILE}")


def _verdict(request: Request, comparison: Comparison) -> int:
    """Print to stderr why runs failed, and return the exit code."""
    faults = [
        f"{label}, seed {result.run.seed}: {failure}"
        for label, results in zip(comparison.labels, comparison.results, strict=True)
        for result in results
        for failure in failures(result.outcome, strict=request.strict)
    ]
    errors(*faults)
    return FAILED if faults else DONE
