"""The command `floodway lint`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.cli.bar import counting
from floodway.cli.exits import DONE, FAILED
from floodway.cli.output import echo, errors
from floodway.cli.show_document import print_answer
from floodway.cli.show_lint import document
from floodway.planning.runs import Runs
from floodway.planning.sonic import lint
from floodway.planning.sonic.least_headroom import least_headroom

if TYPE_CHECKING:
    from pathlib import Path

    from floodway.planning.sonic import Lint

__all__ = ["Request", "run"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """The arguments of `floodway lint`."""

    file: Path
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


def run(request: Request) -> int:
    """Check a file, print the findings, and return the exit code."""
    runs = Runs(request.out) if request.simulate else None
    try:
        findings = _check(request, runs)
    except KeyboardInterrupt:
        if runs is not None:
            message = f"what was simulated is kept in {request.out}/: the same call goes on there"
            echo(f"interrupted; {message}", err=True)
        raise
    print_answer(document(findings), json_=request.json, quiet=request.quiet, full=request.full)
    if runs is not None and runs.error is not None:
        errors(str(runs.error))
        return FAILED
    if runs is not None and not (request.json or request.quiet):
        echo(f"what was simulated: {request.out}/")
    warned = findings.warned or findings.warnings or findings.not_judged
    fails = not findings.holds or (request.strict and warned)
    return FAILED if fails else DONE


def _check(request: Request, runs: Runs | None) -> Lint:
    visible = runs is not None and not request.quiet
    with counting("hardest runs", "rates and lengths", visible=visible) as done:
        return lint(
            request.file,
            mtu=request.mtu,
            mix=request.mix,
            cell=request.cell,
            asic=request.asic,
            latency=request.latency,
            least=None if runs is None else least_headroom,
            jobs=request.jobs,
            done=done,
            runs=runs,
        )
