"""The command `floodway run`."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import floodway
from floodway import _floodway
from floodway.cli.exits import DONE, FAILED, INTERRUPTED
from floodway.cli.inputs import captured_links, parsed, plan_warnings, threads_asked
from floodway.cli.interrupts import Interrupts
from floodway.cli.output import echo
from floodway.cli.watch import Watch
from floodway.common.errors import OutOfMemoryError, OutputError, RanksError, ScenarioError, unwritable
from floodway.results import Reservation
from floodway.results.files import REPORT_FILE, replace_file
from floodway.results.quantities import counted
from floodway.results.store import rescued
from floodway.simulation.ranks import AnotherRankError, agreed, processes, require_alike
from floodway.simulation.run import run_part, with_report_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from floodway._floodway import Plan, Ranks
    from floodway.results import Lossless, Outcome, Result
    from floodway.simulation.critical_path import CriticalPath

    Exporting = Callable[[Result, Path], Iterable[str]]

__all__ = ["Request", "failures", "run"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of `floodway run`."""

    scenario: Path
    sets: Sequence[str]
    seed: int | None
    out: Path | None
    force: bool
    quiet: bool
    json: bool
    strict: bool
    on_deadlock: Literal["stop", "continue"] | None
    export: Literal["hpcc", "perfetto"] | None = None
    report: bool = False
    pcap: Sequence[str] = ()
    threads: int | None = None
    force_threads: bool = False
    force_memory: bool = False
    full: bool = False


def run(request: Request) -> int:
    """Simulate a scenario, write and print its results, and return the exit code."""
    try:
        if processes() > 1:
            return _run_in_ranks(request)
        return _run(request)
    except KeyboardInterrupt as interrupt:
        # Ctrl-C before the run, or in a user's code that does not return, which the text names. During the
        # run itself, Ctrl-C ends it without an exception; after it, Ctrl-C is noted.
        location = f" {interrupt}" if str(interrupt) else ""
        echo(f"interrupted{location}; nothing was written", err=True)
        return INTERRUPTED


def _run_in_ranks(request: Request) -> int:
    """Run the scenario in one of several processes, of which the first prints and writes.

    An error before the run occurs in all of them, and one prints it. A later error ends all processes.
    """
    ranks = _floodway.Ranks()
    try:
        scenario = agreed(ranks, partial(_scenario, request))
        agreed(ranks, partial(require_alike, ranks, scenario))
        code = _run_part(request, scenario, ranks)
    except (AnotherRankError, OutOfMemoryError, RanksError, ScenarioError, OutputError) as error:
        ranks.finish()
        if isinstance(error, AnotherRankError):
            # The other process prints the error: if this one failed, mpirun might end that one before.
            return DONE
        raise
    except BaseException as error:
        reason = "interrupted" if isinstance(error, KeyboardInterrupt) else f"{error}"
        echo(f"error: rank {ranks.rank}: {reason or type(error).__name__}", err=True)
        sys.stderr.flush()
        ranks.abort(FAILED)
        raise
    ranks.finish()
    return code


def _run_part(request: Request, scenario: floodway.Scenario, ranks: Ranks) -> int:
    """Simulate a part of the network; the first process writes and prints the records of all."""
    interrupts = Interrupts()
    part = partial(_simulated, request, scenario, interrupts, ranks=ranks)
    if ranks.rank > 0:
        agreed(ranks, lambda: None)
        part()
        return DONE
    out = request.out or Path("out") / scenario.name
    with contextlib.ExitStack() as stack:
        reservation = agreed(ranks, lambda: stack.enter_context(Reservation(out, force=request.force)))
        _warn(request, scenario)
        with Watch(scenario, quiet=request.quiet) as watch:
            result = part(watch=watch)
        return _finish(request, scenario, cast("Result", result), (reservation, out), interrupts)


def _simulated(
    request: Request,
    scenario: floodway.Scenario,
    interrupts: Interrupts,
    *,
    ranks: Ranks | None = None,
    watch: Watch | None = None,
) -> Result | None:
    return run_part(
        scenario,
        threads=request.threads,
        force_threads=request.force_threads,
        force_memory=request.force_memory,
        ranks=ranks,
        on_plan=None if request.quiet or watch is None else partial(_print_plan, request, scenario),
        on_progress=None if watch is None else watch.update,
        on_interrupt=interrupts.note,
    )


def failures(outcome: Outcome, *, strict: bool) -> list[str]:
    """Yield the reasons why a run failed; `strict` adds losses of lossless classes."""
    waiting = (
        f"{job.ranks - job.finished:,} of {job.ranks:,} ranks of {job.workload} did not complete "
        f"within {outcome.simulated_us:,.0f} us"
        for job in outcome.jobs
        if job.finished < job.ranks and outcome.stopped == "limit"
    )
    return [*outcome.faults, *waiting, *(_losses(outcome.lossless) if strict else ())]


def _losses(lossless: Lossless) -> Iterator[str]:
    loss, failed = lossless.loss, lossless.failed
    if loss is not None:
        lost = f"{counted(loss.bytes, 'byte')} ({counted(loss.packets, 'packet')})"
        yield f"lossless classes lost {lost} by buffer overflow"
    if failed is not None:
        lost = f"{counted(failed.bytes, 'byte')} ({counted(failed.packets, 'packet')})"
        yield f"lossless classes lost {lost} by failures"


def _run(request: Request) -> int:
    scenario = _scenario(request)
    out, interrupts = request.out or Path("out") / scenario.name, Interrupts()
    with Reservation(out, force=request.force) as reservation:
        _warn(request, scenario)
        with Watch(scenario, quiet=request.quiet) as watch:
            result = _simulated(request, scenario, interrupts, watch=watch)
        return _finish(request, scenario, cast("Result", result), (reservation, out), interrupts)


def _warn(request: Request, scenario: floodway.Scenario) -> None:
    for warning in () if request.quiet else scenario.warnings:
        echo(f"warning: {warning}", err=True)


def _finish(
    request: Request,
    scenario: floodway.Scenario,
    result: Result,
    place: tuple[Reservation, Path],
    interrupts: Interrupts,
) -> int:
    """Write and print the result of a run, and return the exit code.

    A signal ends the making of the page, and printing; nothing else here takes long.
    """
    reservation, out = place
    published = _publish(reservation, result, out, exported=_exporting(request, scenario))
    folder, lacking = published.folder, None
    has_page = request.report and result.outcome.stopped != "interrupted"
    if has_page and not interrupts.noted:
        try:
            interrupts.completes(partial(_write_page, request, scenario, result, folder))
        except OutputError as error:
            lacking = error
    for note in published.notes:
        echo(f"warning: {note}", err=True)
    interrupts.completes(partial(_print, request, result, folder))
    code = _verdict(request, result.outcome)
    if lacking is not None:
        echo(f"error: {lacking}; the results are in {folder}/", err=True)
        code = code or FAILED
    if published.error is not None:
        echo(f"error: {published.error}", err=True)
        echo(f"error: the results are in {folder}/ instead; move them when there is room", err=True)
        code = code or FAILED
    if interrupts.noted and result.outcome.stopped != "interrupted":
        without = f", without {REPORT_FILE}" if has_page and not (folder / REPORT_FILE).exists() else ""
        echo(f"interrupted; the results are in {folder}/{without}", err=True)
        return INTERRUPTED
    return code


def _write_page(request: Request, scenario: floodway.Scenario, result: Result, folder: Path) -> None:
    """Write the page of a run into its folder; it repeats the run for the causes of some flows."""
    from floodway.cli.watched_path import watched_path  # noqa: PLC0415 (few runs have one)
    from floodway.simulation.report import report  # noqa: PLC0415
    from floodway.simulation.why import Why, take_each_apart  # noqa: PLC0415

    def why(run_result: Result, flows: Sequence[str]) -> Sequence[Why]:
        with Watch(scenario, quiet=request.quiet) as watch:
            return take_each_apart(run_result, flows, scenario=scenario, on_progress=watch.update)

    def path(run_result: Result, name: str) -> CriticalPath:
        return watched_path(run_result, name, quiet=request.quiet, scenario=scenario)

    text = report({folder.name: result}, folders={folder.name: folder}, why=why, path=path)
    try:
        replace_file(folder / REPORT_FILE, text.encode())
    except OSError as error:
        raise unwritable(folder / REPORT_FILE, error) from error


def _exporting(request: Request, scenario: floodway.Scenario) -> Exporting | None:
    """Return a function that writes the requested export into a folder, and returns notes on it."""
    if request.export is None:
        return None
    # Imported here: few runs are exported.
    if request.export == "hpcc":
        from floodway.results import hpcc  # noqa: PLC0415

        return lambda result, folder: hpcc.write(result, folder, scenario=scenario).notes
    from floodway.results import perfetto  # noqa: PLC0415

    return perfetto.write


def _print_plan(request: Request, scenario: floodway.Scenario, plan: Plan) -> None:
    """Print before the run whether it has fewer threads than requested, or forced threads or memory."""
    requested = request.threads or threads_asked(scenario)
    for warning in plan_warnings(plan, requested=requested, force_memory=request.force_memory):
        echo(f"warning: {warning}", err=True)


@dataclass(frozen=True, kw_only=True)
class _Publication:
    """The folder of results, notes on their export, and why they are not in the requested folder, if so."""

    folder: Path
    notes: tuple[str, ...]
    error: OutputError | None = None


def _publish(
    reservation: Reservation, result: Result, out: Path, *, exported: Exporting | None
) -> _Publication:
    """Write a result to its folder, or to another one if that fails, with the requested export."""
    notes: list[str] = []

    def export(folder: Path) -> None:
        if exported is not None:
            notes[:] = exported(result, folder)

    def write(folder: Path) -> None:
        with Reservation(folder) as other:
            other.publish(result, also=export)

    try:
        reservation.publish(result, also=export)
    except OutputError as error:
        folder = rescued(write, name=out.resolve().name, error=error)
        return _Publication(folder=folder, notes=(*_full_tables(result.outcome), *notes), error=error)
    return _Publication(folder=out, notes=(*_full_tables(result.outcome), *notes))


def _full_tables(outcome: Outcome) -> Iterator[str]:
    """Yield a warning for each full table."""
    full = (
        ("pauses", outcome.pauses_beyond, "pauses and resumes"),
        ("signals", outcome.signals_beyond, "marks, CNPs and changes of state"),
        ("allowances", outcome.allowances_beyond, "changes"),
        ("shares", outcome.shares_beyond, "shares of flows"),
        ("operations", outcome.operations_beyond, "operations"),
    )
    for table, beyond, rows in full:
        if beyond:
            yield f"the table of {table} is full: {beyond} more {rows} have no row"


def _scenario(request: Request) -> floodway.Scenario:
    sets = [*request.sets]
    if request.on_deadlock is not None:
        sets.append(f"on-deadlock={request.on_deadlock}")
    if request.pcap:
        sets.append(f"records.capture.links={captured_links(request.pcap)}")
    scenario = parsed(request.scenario, sets=sets)
    if request.export == "hpcc":
        from floodway.results import hpcc  # noqa: PLC0415 (few runs are exported)

        scenario = scenario.replace(sets=hpcc.needed_sets(scenario))
    if request.export == "perfetto" or request.report:
        scenario = with_report_records(scenario)
    return scenario if request.seed is None else scenario.with_seed(request.seed)


def _print(request: Request, result: Result, out: Path) -> None:
    if request.quiet and not request.json:
        return
    # Imported here: the library of tables is not needed without output.
    from floodway.cli.show_document import print_answer  # noqa: PLC0415
    from floodway.results.document import document  # noqa: PLC0415

    shown = document(result, out, full=request.full)
    print_answer(shown, json_=request.json, quiet=request.quiet, full=request.full)
    if not request.json:
        echo(f"results: {out}/")


def _verdict(request: Request, outcome: Outcome) -> int:
    """Print to stderr why the run failed, and return the exit code."""
    faults = failures(outcome, strict=request.strict)
    for failure in faults:
        echo(f"error: {failure}", err=True)
    if outcome.stopped == "interrupted":
        at = f"{outcome.simulated_us:,.1f} us of simulated time"
        echo(f"interrupted at {at}; what was complete by then is written", err=True)
        return INTERRUPTED
    return FAILED if faults else DONE
