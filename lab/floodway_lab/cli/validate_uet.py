"""`floodway validate` of a folder of cases of the Ultra Ethernet Consortium's simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.cli.exits import DONE, FAILED, INTERRUPTED
from floodway.cli.output import echo
from floodway_lab.cli.conducted import conducted, print_json, refuse
from floodway_lab.validation.uet import UetResult, UetValidation, document, validate_uet

if TYPE_CHECKING:
    from floodway_lab.cli.validate import Request

__all__ = ["run"]

#: Differences of a case that are printed with `--verbose`.
SHOWN = 10


def run(request: Request) -> int:
    """Run the cases, compare, print; returns the exit code."""
    options = (
        ("--plot", request.plot),
        ("--other-build", request.other_build),
        ("--report", request.report is not None),
    )
    refuse(request, options, "cases of the Ultra Ethernet Consortium's")
    validation = conducted(request, validate_uet, seeds=request.seeds)
    if validation is None:
        return INTERRUPTED
    _print(request, validation)
    for result in validation.failed:
        first = result.found[0] if result.found else result.faults[0]
        echo(f"error: {result.case.label}: {first}", err=True)
    if all(result.verdict == "not run" for result in validation.results):
        echo("warning: no case has run, so nothing was compared", err=True)
    return FAILED if validation.failed else DONE


def _print(request: Request, validation: UetValidation) -> None:
    if request.json:
        print_json(request, document(validation))
    elif not request.quiet:
        for result in validation.results:
            echo(_line(result))
            for one in result.found[:SHOWN] if request.verbose else ():
                echo(f"  {one}")
        ran = [result for result in validation.results if result.verdict != "not run"]
        equal = len(ran) - len(validation.failed)
        echo(
            f"{equal} of {len(ran)} cases equal the reference, or are within its spread; runs: {request.out}/"
        )


def _line(result: UetResult) -> str:
    flows = f"{len(result.case.connections)} flows"
    if result.verdict == "not run":
        return f"not run  {result.case.label}: {result.reason}"
    if result.verdict == "pass" and result.seeds > 1:
        return f"within   {result.case.label}: {flows}, the means of {result.seeds} runs"
    if result.verdict == "pass":
        return f"equal    {result.case.label}: {flows}"
    count = f"{len(result.found)} differences" if result.found else "; ".join(result.faults)
    return f"DIFFERS  {result.case.label}: {flows}, {count}"
