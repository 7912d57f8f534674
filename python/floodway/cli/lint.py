"""`floodway lint`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.cli.bar import bar
from floodway.cli.exits import DONE, FAILED
from floodway.cli.output import echo
from floodway.cli.show_document import print_answer
from floodway.cli.show_lint import document
from floodway.planning.runs import Runs
from floodway.planning.sonic import lint
from floodway.planning.sonic.least import least_headroom

if TYPE_CHECKING:
    from pathlib import Path

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
    runs = Runs(wanted.out) if wanted.simulate else None
    try:
        found = _judged(file, wanted, runs)
    except KeyboardInterrupt:
        if runs is not None:
            text = f"interrupted; what was simulated is kept in {wanted.out}/: the same call goes on there"
            echo(text, err=True)
        raise
    print_answer(document(found), json_=wanted.json, quiet=wanted.quiet, full=wanted.full)
    if runs is not None and runs.error is not None:
        echo(f"error: {runs.error}", err=True)
        return FAILED
    if runs is not None and not (wanted.json or wanted.quiet):
        echo(f"what was simulated: {wanted.out}/")
    fails = not found.holds or (wanted.strict and (found.warned or found.warnings or found.not_judged))
    return FAILED if fails else DONE


def _judged(file: Path, wanted: Wanted, runs: Runs | None) -> Lint:
    with bar() as display:
        task = display.add_task(
            "hardest runs", total=None, state="", visible=runs is not None and not wanted.quiet
        )

        def done(count: int, of: int) -> None:
            display.update(task, completed=count, total=of, state=f"{count} of {of} rates and lengths")

        return lint(
            file,
            mtu=wanted.mtu,
            mix=wanted.mix,
            cell=wanted.cell,
            asic=wanted.asic,
            latency=wanted.latency,
            least=None if runs is None else least_headroom,
            jobs=wanted.jobs,
            done=done,
            runs=runs,
        )
