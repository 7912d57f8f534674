"""`floodway validate` of a folder of cases of the Ultra Ethernet Consortium's simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.cli.output import DONE, FAILED, INTERRUPTED, echo
from floodway.common.documents import Cell, Document, Section, Table
from floodway_lab.cli.conducted import conducted, print_validation, refuse
from floodway_lab.cli.show_validation import verdict_cell
from floodway_lab.validation.uet import UetResult, UetValidation, document, validate_uet

if TYPE_CHECKING:
    from pathlib import Path

    from floodway_lab.cli.validate import Request

__all__ = ["run"]

#: Differences of a case that are printed with `--full`.
SHOWN = 10
TEXT_COLUMNS = frozenset(("verdict", "why"))


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
    print_validation(request, _answer(request.folder, validation))
    for result in validation.failed:
        first = result.differences[0] if result.differences else result.faults[0]
        echo(f"error: {result.case.label}: {first}", err=True)
    missing = [result for result in validation.results if result.verdict == "not run"]
    for result in missing:
        echo(f"error: {result.case.label} has not run: {result.reason}", err=True)
    return FAILED if validation.failed or missing else DONE


def _answer(folder: Path, validation: UetValidation) -> Document:
    """Return how many cases equal the reference, those that differ first, and behind them differences."""
    results = sorted(validation.results, key=lambda result: result.verdict != "fail")
    ran = [result for result in results if result.verdict != "not run"]
    equal = len(ran) - len(validation.failed)
    cases = Table(
        columns=("case", "flows", "runs", "verdict", "why"),
        rows=tuple(map(_row, results)),
        words=TEXT_COLUMNS,
    )
    return Document(
        title=f"{folder}: held against the results of the Ultra Ethernet Consortium's simulator",
        answer=f"{equal} of {len(ran)} cases equal the reference, or are within its spread.",
        tone="bad" if validation.failed else "good",
        table=cases.shortened("more cases"),
        sections=(
            Section(title="All cases", tables=(cases,)),
            *(
                Section(title=result.case.label, lines=tuple(map(str, result.differences[:SHOWN])))
                for result in results
            ),
        ),
        data=document(validation),
    )


def _row(result: UetResult) -> tuple[Cell | str, ...]:
    why = (
        f"{len(result.differences)} differences"
        if result.differences
        else "; ".join(result.faults) or result.reason
    )
    runs = "-" if result.verdict == "not run" else f"{result.seeds}"
    return result.case.label, f"{len(result.case.connections):,}", runs, verdict_cell(result.verdict), why
