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
from floodway.cli.inputs import captured_links, parsed, plan_warnings, threads_asked
from floodway.cli.interrupts import Interrupts
from floodway.cli.output import DONE, FAILED, INTERRUPTED, echo, errors, warnings
from floodway.cli.watch import Watch
from floodway.common.errors import OutOfMemoryError, OutputError, RanksError, ScenarioError, output_errors
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
    full: bool
    strict: bool
    on_deadlock: Literal["stop", "continue"] | None
    export: Literal["hpcc", "perfetto"] | None
    report: bool
    pcap: Sequence[str]
    threads: int | None
    force_threads: bool
    force_memory: bool
    no_skip: bool


def run(request: Request) -> int:
    """Simulate a scenario, write and print its results, and return the exit code."""
    try:
        if processes() > 1:
            return _run_in_ranks(request)
        return _run(request, _scenario(request))
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
        code = _run(request, scenario, ranks)
    except (AnotherRankError, OutOfMemoryError, RanksError, ScenarioError, OutputError) as error:
        ranks.finish()
        if isinstance(error, AnotherRankError):
            # The other process prints the error: if this one failed, mpirun might end that one before.
            return DONE
        raise
    except BaseException as error:
        reason = "interrupted" if isinstance(error, KeyboardInterrupt) else f"{error}"
        errors(f"rank {ranks.rank}: {reason or type(error).__name__}")
        sys.stderr.flush()
        ranks.abort(FAILED)
        raise
    ranks.finish()
    return code


def _run(request: Request, scenario: floodway.Scenario, ranks: Ranks | None = None) -> int:
    """Simulate a scenario, or a part of its network, of which the first process writes and prints all."""
    interrupts = Interrupts()
    simulate = partial(
        run_part,
        scenario,
        threads=request.threads,
        force_threads=request.force_threads,
        force_memory=request.force_memory,
        ranks=ranks,
        on_interrupt=interrupts.note,
    )
    if ranks is not None and ranks.rank > 0:
        agreed(ranks, lambda: None)
        simulate()
        return DONE
    out = request.out or Path("out") / scenario.name
    with contextlib.ExitStack() as stack:
        reserve = partial(_reserved, stack, out, force=request.force)
        reservation = reserve() if ranks is None else agreed(ranks, reserve)
        warnings(() if request.quiet else scenario.warnings)
        on_plan = None if request.quiet else partial(_print_plan, request, scenario)
        with Watch(scenario, quiet=request.quiet) as watch:
            result = simulate(on_plan=on_plan, on_progress=watch.update)
        return _finish(request, scenario, cast("Result", result), (reservation, out), interrupts)


def _reserved(stack: contextlib.ExitStack, out: Path, *, force: bool) -> Reservation:
    return stack.enter_context(Reservation(out, force=force))


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
    for loss, cause in ((lossless.loss, "buffer overflow"), (lossless.failed, "failures")):
        if loss is not None:
            lost = f"{counted(loss.bytes, 'byte')} ({counted(loss.packets, 'packet')})"
            yield f"lossless classes lost {lost} by {cause}"


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
    folder, notes, elsewhere = _publish(reservation, result, out, exported=_exporting(request, scenario))
    lacking = None
    has_page = request.report and result.outcome.stopped != "interrupted"
    if has_page and not interrupts.noted:
        try:
            interrupts.completes(partial(_write_page, request, scenario, result, folder))
        except OutputError as error:
            lacking = error
    warnings(notes)
    interrupts.completes(partial(_print, request, result, folder))
    code = _verdict(request, result.outcome)
    if lacking is not None:
        errors(f"{lacking}; the results are in {folder}/")
    if elsewhere is not None:
        errors(str(elsewhere), f"the results are in {folder}/ instead; move them when there is room")
    if lacking is not None or elsewhere is not None:
        code = code or FAILED
    if interrupts.noted and result.outcome.stopped != "interrupted":
        without = f", without {REPORT_FILE}" if has_page and not (folder / REPORT_FILE).exists() else ""
        echo(f"interrupted; the results are in {folder}/{without}", err=True)
        return INTERRUPTED
    return code


def _write_page(request: Request, scenario: floodway.Scenario, result: Result, folder: Path) -> None:
    """Write the page of a run into its folder; it repeats the run for the causes of some flows."""
    from floodway.cli.watched_path import watched_path, watched_why  # noqa: PLC0415 (few runs have one)
    from floodway.simulation.report import report  # noqa: PLC0415

    why = partial(watched_why, quiet=request.quiet, scenario=scenario)
    path = partial(watched_path, quiet=request.quiet, scenario=scenario)
    text = report({folder.name: result}, folders={folder.name: folder}, why=why, path=path)
    with output_errors(folder / REPORT_FILE):
        replace_file(folder / REPORT_FILE, text.encode())


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
    warnings(plan_warnings(plan, requested=requested, force_memory=request.force_memory))


def _publish(
    reservation: Reservation, result: Result, out: Path, *, exported: Exporting | None
) -> tuple[Path, tuple[str, ...], OutputError | None]:
    """Write a result to its folder, or to another one if that fails, with the requested export.

    Returns
    -------
    tuple
        The folder, warnings about tables and the export, and why it is not the requested folder, if so.
    """
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
        return folder, (*_full_tables(result.outcome), *notes), error
    return out, (*_full_tables(result.outcome), *notes), None


def _full_tables(outcome: Outcome) -> Iterator[str]:
    """Yield a warning for each full table."""
    full = (
        ("pauses", "pauses and resumes"),
        ("signals", "marks, CNPs and changes of state"),
        ("allowances", "changes"),
        ("shares", "shares of flows"),
        ("operations", "operations"),
    )
    for table, rows in full:
        if beyond := getattr(outcome, f"{table}_beyond"):
            yield f"the table of {table} is full: {beyond} more {rows} have no row"


def _scenario(request: Request) -> floodway.Scenario:
    sets = [*request.sets]
    if request.no_skip:
        sets.append("engine.skip=false")
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
    errors(*faults)
    if outcome.stopped == "interrupted":
        at = f"{outcome.simulated_us:,.1f} us of simulated time"
        echo(f"interrupted at {at}; what was complete by then is written", err=True)
        return INTERRUPTED
    return FAILED if faults else DONE
