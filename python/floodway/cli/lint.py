"""`floodway lint`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.cli.bar import bar
from floodway.cli.exits import DONE, FAILED
from floodway.cli.output import echo
from floodway.cli.show_document import print_answer
from floodway.cli.show_lint import document
from floodway.planning.sonic import lint
from floodway.planning.sonic.least import kept, least_headroom

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from floodway.common.errors import OutputError
    from floodway.planning.sonic import Lint

__all__ = ["Wanted", "run"]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What the options ask for."""

    mtu: str | None
    mix: str
    cell: str | None
    asic: str | None
    latency: str | None
    strict: bool
    simulate: bool
    out: Path
    full: bool
    jobs: int | None
    quiet: bool
    json: bool


def run(file: Path, wanted: Wanted) -> int:
    """Judge a file, print what was found; returns the exit code."""
    lost: list[OutputError] = []
    found = _simulated(file, wanted, lost.append) if wanted.simulate else _judged(file, wanted)
    print_answer(document(found), json_=wanted.json, quiet=wanted.quiet, full=wanted.full)
    if wanted.simulate and not (lost or wanted.json or wanted.quiet):
        echo(f"what was simulated: {wanted.out}/")
    for error in lost[:1]:
        echo(f"error: {error}", err=True)
        return FAILED
    fails = not found.holds or (wanted.strict and (found.warned or found.warnings or found.not_judged))
    return FAILED if fails else DONE


def _judged(file: Path, wanted: Wanted) -> Lint:
    return lint(
        file, mtu=wanted.mtu, mix=wanted.mix, cell=wanted.cell, asic=wanted.asic, latency=wanted.latency
    )


def _simulated(file: Path, wanted: Wanted, on_error: Callable[[OutputError], None]) -> Lint:
    try:
        return _tried(file, wanted, on_error)
    except KeyboardInterrupt:
        echo(
            f"interrupted; what was simulated is kept in {wanted.out}/: the same call goes on there", err=True
        )
        raise


def _tried(file: Path, wanted: Wanted, on_error: Callable[[OutputError], None]) -> Lint:
    with bar() as display:
        task = display.add_task("hardest runs", total=None, state="", visible=not wanted.quiet)

        def done(count: int, of: int) -> None:
            display.update(task, completed=count, total=of, state=f"{count} of {of} rates and lengths")

        return lint(
            file,
            mtu=wanted.mtu,
            mix=wanted.mix,
            cell=wanted.cell,
            asic=wanted.asic,
            latency=wanted.latency,
            least=kept(wanted.out, least_headroom, on_error=on_error),
            jobs=wanted.jobs,
            done=done,
        )
