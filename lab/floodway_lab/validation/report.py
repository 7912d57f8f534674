"""A validation as a block of a page of the documentation, with its pictures beside the page."""

from __future__ import annotations

import os
from itertools import groupby
from typing import TYPE_CHECKING

from floodway.common.markdown import plain, table
from floodway_lab.markdown import target
from floodway_lab.validation.formatting import KINDS, allowed, difference, headline, number, ours, shown_rows
from floodway_lab.validation.overview import COLUMNS, overview_row
from floodway_lab.validation.page import marks, page_text, write_block
from floodway_lab.validation.rules import FEW_FLOWS, FEW_FRAMES, FEW_SAMPLES, RULES, SHOWN_FLOWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from floodway.plot import Format
    from floodway_lab.validation.case_results import CaseResult
    from floodway_lab.validation.rules import Rules
    from floodway_lab.validation.validation import Validation

__all__ = ["BEGIN", "BLOCK", "END", "block", "draw_into", "write_report"]

#: The name of the block.
BLOCK = "validation"
BEGIN, END = marks(BLOCK)
#: Number of unmatched flows that are named.
MOST_NAMED = 5


def write_report(validation: Validation, page: Path) -> list[Path]:
    """Write the block into a page, which is made if it does not exist, and the pictures beside it.

    Parameters
    ----------
    validation
        The validation.
    page
        A Markdown file; text outside the block's marks is kept. Pictures go into a folder with its name
        without the ending.

    Returns
    -------
    list of Path
        The files that were written, the page first.

    Raises
    ------
    OutputError
        If a file cannot be read or written, or the page has no marks.
    """
    page_text(page, BLOCK)
    folder = page.with_suffix("")
    drawn = draw_into(validation.cases, folder, with_data=False, few=False)
    shown = {file.stem: file.relative_to(page.parent).as_posix() for file in drawn}
    write_block(page, BLOCK, block(validation, shown))
    return [page, *drawn]


def block(validation: Validation, pictures: dict[str, str]) -> str:
    """Return the tables in Markdown: an overview, what is not equal in full, the bounds.

    Parameters
    ----------
    validation
        The validation.
    pictures
        Paths of pictures as the page sees them, by `CASE-PICTURE`.
    """
    cases = validation.cases
    counts = ", ".join(f"{count} {verdict}" for verdict, count in validation.counts.items())
    equal = sum(result.equal for result in cases)
    parts = [_overview(cases), f"{counts}; {equal} equal to the nanosecond."]
    parts += [
        f"**{plain(result.case.label)} has not run**: {plain(_reason(result))}"
        for result in cases
        if result.not_run
    ]
    for name, results in _by_case(cases):
        parts += _case(name, results, pictures)
    return "\n\n".join([*parts, "### Bounds", _bounds()])


def draw_into(
    cases: Sequence[CaseResult],
    folder: Path,
    *,
    form: Format = "png",
    with_data: bool = True,
    few: bool = True,
) -> list[Path]:
    """Draw the pictures of every case into a folder, each as `CASE-PICTURE`, and return the files.

    Parameters
    ----------
    cases
        Results of any number of folders.
    folder
        The folder to write, which is made if it does not exist; existing pictures are replaced.
    form
        The pictures' format.
    with_data
        Whether to write the data of each picture beside it as CSV.
    few
        Whether to draw the flows of cases with fewer flows than a percentile needs.

    Raises
    ------
    OutputError
        If a file cannot be written.
    """
    # Drawing is loaded where it is needed: it takes as long as all the rest.
    from floodway.plot import save  # noqa: PLC0415
    from floodway_lab.validation.pictures import pictures  # noqa: PLC0415

    written = []
    for name, results in _by_case(cases):
        for picture, drawing in pictures(results):
            if not few and picture != "queues" and _largest(results) < FEW_FLOWS:
                continue
            file = folder / f"{name}-{picture}.{form}"
            files = [file, file.with_suffix(".csv")] if with_data else [file]
            save(drawing, files, force=True)
            written += files
    return written


def _by_case(cases: Sequence[CaseResult]) -> Iterator[tuple[str, list[CaseResult]]]:
    for name, results in groupby(cases, key=lambda result: result.case.name):
        yield name, list(results)


def _largest(cases: Sequence[CaseResult]) -> int:
    return max(len(result.reference.side.flows) for result in cases)


def _bounds() -> str:
    head = (
        "reason for a difference",
        "flows",
        "FCT p99 of a bucket",
        "PFC frames",
        "FCT p50 of a bucket",
        "slowdown p99",
        "queue of a port",
    )
    rows = [
        (
            KINDS[kind],
            _of_flows(rules),
            _bound(rules.p99),
            _bound(rules.pauses),
            _bound(rules.p50, spread=rules.or_spread),
            _bound(rules.slowdown, spread=rules.or_spread),
            _bound(rules.queue, spread=rules.or_spread),
        )
        for kind, rules in RULES.items()
    ]
    note = (
        "Equality is required if the paths are listed or if there is only one path. If a hash chooses the "
        f"paths, equality is required if {SHOWN_FLOWS} flows had ended before the first difference: with "
        "other paths a flow would have differed earlier. The other rows apply to references of other builds "
        "(`--other-build`); the last one also applies where the paths are not known in this way. Percentiles "
        f"of a bucket have a verdict from {FEW_FLOWS} flows on, PFC frames from {FEW_FRAMES} frames of the "
        f"reference on, the queue of a port from {FEW_SAMPLES:,} samples on. *Own spread* is that over our "
        "seeds, and applies where it is wider than the bound beside it: for the median of the flows, the "
        "median over pairs of seeds; else the largest difference of two seeds."
    )
    return f"{table(head, rows)}\n\n{note}"


def _of_flows(rules: Rules) -> str:
    if rules.equal is not None:
        return "all equal"
    if rules.close is None:
        return "-" if rules.typical is None else f"median {_bound(rules.typical, spread=True)}"
    return f"{_bound(rules.close)} within 0.5 %, all within {_bound(rules.largest)}"


def _bound(value: float | None, *, spread: bool = False) -> str:
    if value is None:
        return "-"
    return f"{value * 100:g} % or own spread" if spread else f"{value * 100:g} %"


def _overview(cases: Sequence[CaseResult]) -> str:
    """Leave out how long our runs took: a page is written again without a change if nothing has changed."""

    def but_time(cells: Sequence[str]) -> list[str]:
        return [cell for column, cell in zip(COLUMNS, cells, strict=True) if column != "run"]

    return table(but_time(COLUMNS), (but_time(overview_row(result)) for result in cases))


def _reason(result: CaseResult) -> str:
    """Return the reason why a configuration has not run, without folders: pages have no local paths."""
    return result.not_run.replace(f"{result.case.config.parent}{os.sep}", "")


def _case(name: str, cases: Sequence[CaseResult], pictures: dict[str, str]) -> Iterator[str]:
    from floodway_lab.validation.pictures import CAPTIONS  # noqa: PLC0415 (as above)

    differing = [result for result in cases if result.rows and not result.equal]
    drawn = {picture: pictures.get(f"{name}-{picture}") for picture in CAPTIONS}
    if differing or any(drawn.values()):
        yield f"### {plain(name)}"
    for result in differing:
        yield f"**{plain(headline(result))}.**"
        head = ("what", "reference", "floodway", "difference", "allowed", "verdict")
        yield table(head, _rows(result))
        notes = [f"First difference, {result.first}.", *result.unmatched(MOST_NAMED)]
        yield "\n".join(f"- {plain(line)}" for line in notes)
    for picture, caption in CAPTIONS.items():
        if (path := drawn[picture]) is not None:
            yield f"![{caption}]({target(path)})\n\n*{caption}.*"


def _rows(result: CaseResult) -> Iterator[tuple[str, ...]]:
    for row in shown_rows(result):
        bound = allowed(row.limit).replace("<=", "≤").replace(">=", "≥")
        reference = number(row.reference, row.unit)
        yield row.label, reference, ours(row), difference(row), bound, row.verdict
