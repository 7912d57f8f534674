"""`floodway run`."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

import floodway
from floodway.cli.exits import DONE, FAILED, INTERRUPTED
from floodway.cli.inputs import captured_links, parsed
from floodway.cli.show import document, show
from floodway.cli.watch import Watch
from floodway.results import Reservation, hpcc

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway.results import Lossless, Outcome, Result

__all__ = ["Request", "failures", "run"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the command line asks for."""

    scenario: Path
    sets: Sequence[str]
    seed: int | None
    out: Path | None
    force: bool
    quiet: bool
    json: bool
    strict: bool
    on_deadlock: Literal["stop", "continue"] | None
    export: Literal["hpcc"] | None = None
    pcap: Sequence[str] = ()
    threads: int | None = None


def run(request: Request) -> int:
    """Simulate, write, print; returns the exit code."""
    try:
        return _run(request)
    except KeyboardInterrupt:
        # Before the run or after it; during it, Ctrl-C ends the run and raises nothing.
        typer.echo("interrupted; nothing was written", err=True)
        return INTERRUPTED


def failures(outcome: Outcome, *, strict: bool) -> list[str]:
    """Say what makes a run a failure; `strict` adds whatever lossless classes lost."""
    found = [
        f"invariant {name} does not hold, a bug of floodway: {breach}" for name, breach in outcome.broken
    ]
    if outcome.stopped == "deadlock":
        found.append(f"a deadlock stopped the run at {outcome.simulated_us:,.1f} us")
    return [*found, *(_losses(outcome.lossless) if strict else ())]


def _losses(lossless: Lossless) -> Iterator[str]:
    loss, failed = lossless.loss, lossless.failed
    if loss is not None:
        yield f"lossless classes lost {loss.bytes:,} bytes ({loss.packets:,} packets) for want of buffer"
    if failed is not None:
        yield f"lossless classes lost {failed.bytes:,} bytes ({failed.packets:,} packets) by failures"


def _run(request: Request) -> int:
    scenario = _scenario(request)
    out = request.out or Path("out") / scenario.name
    with Reservation(out, force=request.force) as place:
        if not request.quiet:
            for warning in scenario.warnings:
                typer.echo(f"warning: {warning}", err=True)
        with Watch(scenario, quiet=request.quiet) as watch:
            result = floodway.run(scenario, threads=request.threads, on_progress=watch.update)
        notes = _publish(place, result, scenario if request.export else None)
    for note in notes:
        typer.echo(f"warning: {note}", err=True)
    _print(request, result, out)
    return _verdict(request, result.outcome)


def _publish(place: Reservation, result: Result, exported: floodway.Scenario | None) -> list[str]:
    """Put a result in its place, with its export where one is asked for; what is worth a warning."""
    outcome = result.outcome
    full = (
        ("pauses", outcome.pauses_beyond, "pauses and resumes"),
        ("signals", outcome.signals_beyond, "marks, CNPs and changes of state"),
        ("allowances", outcome.allowances_beyond, "changes"),
        ("shares", outcome.shares_beyond, "shares of flows"),
    )
    notes = [
        f"the table of {table} is full: {beyond} more {what} have no row"
        for table, beyond, what in full
        if beyond
    ]
    if exported is None:
        place.publish(result)
    else:
        place.publish(
            result, also=lambda folder: notes.extend(hpcc.write(result, folder, scenario=exported).notes)
        )
    return notes


def _scenario(request: Request) -> floodway.Scenario:
    sets = [*request.sets]
    if request.on_deadlock is not None:
        sets.append(f"on-deadlock={request.on_deadlock}")
    if request.pcap:
        sets.append(f"records.capture.links={captured_links(request.pcap)}")
    scenario = parsed(request.scenario, sets=sets)
    if request.export is not None:
        scenario = scenario.replace(sets=hpcc.needed_sets(scenario))
    return scenario if request.seed is None else scenario.with_seed(request.seed)


def _print(request: Request, result: Result, out: Path) -> None:
    if request.json:
        typer.echo(json.dumps(document(result, out), indent=2, ensure_ascii=False))
    elif not request.quiet:
        show(result, sys.stdout)
        typer.echo(f"results: {out}/")


def _verdict(request: Request, outcome: Outcome) -> int:
    """Say on stderr what makes the run a failure, and return the exit code."""
    found = failures(outcome, strict=request.strict)
    for failure in found:
        typer.echo(f"error: {failure}", err=True)
    if outcome.stopped == "interrupted":
        at = f"{outcome.simulated_us:,.1f} us of simulated time"
        typer.echo(f"interrupted at {at}; what was complete by then is written", err=True)
        return INTERRUPTED
    return FAILED if found else DONE
