"""`python -m floodway_lab.bench run|compare|scaling|peers|command|train`, from the root of the repository."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import polars as pl

import floodway
from floodway.cli.output import echo
from floodway.cli.show_document import show_table
from floodway.cli.terminal import Terminal
from floodway.common.documents import Table
from floodway.common.errors import FloodwayError
from floodway.plot.files import save
from floodway_lab.bench import command as calling
from floodway_lab.bench import scaling as growing
from floodway_lab.bench.history import add, entry, of_cases, read
from floodway_lab.bench.listing import Listing, chosen
from floodway_lab.bench.measure import counted, measured
from floodway_lab.bench.page import TEXT_COLUMNS, benchmarks_block, pairs_block, scaling_block, written
from floodway_lab.bench.peers import folder_of_peers, manifest
from floodway_lab.bench.program import built
from floodway_lab.bench.tables import (
    CASES,
    CHANGES,
    COUNTS,
    PAIRS,
    case_rows,
    cause_rows,
    change_row,
    count_rows,
    pair_rows,
)
from floodway_lab.bench.turns import Turns
from floodway_lab.bench.verdict import changes, last_of_kind, last_two

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["app"]

ROOT = Path.cwd()
FOLDER = ROOT / "benchmarks"
HISTORY = FOLDER / "history.json"
PAGE = ROOT / "docs" / "performance.md"
PICTURE = ROOT / "docs" / "pictures" / "scaling"
EMPTY = "the history is empty: `make bench` begins it"
#: Columns of results without a terminal.
WIDTH = 160
WORD_COLUMNS = TEXT_COLUMNS | {"unit", "verdict"}

app = click.Group(help=__doc__)

_case = click.option("--case", multiple=True, metavar="CASE", help="Only this case; may be repeated.")
_keep = click.option("--keep/--no-keep", default=True, help="Add to the history and the pages.")


def _runs(default: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return click.option(
        "--runs", type=click.IntRange(min=1), default=default, help="Runs of each case; medians count."
    )


@app.command("run")
@_case
@_runs(5)
@click.option(
    "--threads",
    type=click.IntRange(min=1),
    multiple=True,
    help="On so many threads; may be repeated. One, and all cores, if none is given.",
)
@click.option("--counts/--no-counts", default=True, help="Count instructions, with valgrind.")
@_keep
def run(*, case: tuple[str, ...], runs: int, threads: tuple[int, ...], counts: bool, keep: bool) -> None:
    """Run the set, show it, and add it to the history."""
    new = _measured(case, runs=runs, threads=threads or _one_and_all(), counts=counts)
    _show(new)
    if keep:
        add(HISTORY, new)
        if not case:
            _write_page(PAGE, "benchmarks", benchmarks_block(new, Listing(FOLDER)))


@app.command("compare")
@_case
@_runs(5)
@click.option("--now", is_flag=True, help="Measure now, against the last entry.")
@click.option("--against", metavar="REVISION", help="Against the entry of this revision.")
@click.pass_context
def compare(
    context: click.Context, *, case: tuple[str, ...], runs: int, now: bool, against: str | None
) -> None:
    """Compare the last two entries of a kind of machine, or the last with new runs; exit 1 on a loss."""
    entries = of_cases(read(HISTORY))
    earlier = [
        measurement
        for measurement in entries
        if against is None or measurement["revision"].startswith(against)
    ]
    if not earlier:
        raise FloodwayError(f"no entry of the history is of revision {against!r}" if entries else EMPTY)
    before: Mapping[str, Any]
    after: Mapping[str, Any]
    if now:
        after = _measured(case, runs=runs, threads=[1], counts=True)
        before = last_of_kind(earlier, after)
    elif against is not None:
        before, after = last_of_kind(earlier, entries[-1]), entries[-1]
    else:
        before, after = last_two(entries)
    comparison = changes(before, after)
    echo(f"{before['revision'][:12]} of {before['date']} against {after['revision'][:12]} of {after['date']}")
    _print_table("", CHANGES, map(change_row, comparison))
    worse = [change for change in comparison if change.flagged]
    for change in worse:
        echo(f"worse: {change.name}: {change.part:+.1%} {change.unit}")
    context.exit(1 if worse else 0)


@app.command("scaling")
@_runs(3)
def scaling(*, runs: int) -> None:
    """Run networks from 16 to 8,192 hosts; write the table and the picture of docs/performance.md."""
    rows = list(growing.measure(built(ROOT), Listing(FOLDER).scaling, runs=runs, on_message=_print_message))
    data = pl.DataFrame(rows)
    _print_table("Scaling", growing.HEAD, growing.rows(data))
    save(
        growing.drawing(data), [PICTURE.with_suffix(f".{form}") for form in ("svg", "png", "csv")], force=True
    )
    _write_page(PAGE, "scaling", scaling_block(data))


@app.command("peers")
@click.option("--pair", multiple=True, metavar="PAIR", help="Only this pair; may be repeated.")
@click.option("--turns", type=click.IntRange(min=1), default=3, help="Runs of theirs and of ours, by turns.")
@_keep
@click.pass_context
def peers(context: click.Context, *, pair: tuple[str, ...], turns: int, keep: bool) -> None:
    """Run other simulators and floodway on the same work by turns; exit 1 where a pair failed."""
    builds = manifest(folder_of_peers())
    pairs = chosen(Listing(FOLDER).pairs, pair)
    with tempfile.TemporaryDirectory(prefix="floodway-peers-") as folder:
        done, skipped, failed = Turns(built(ROOT), count=turns, on_message=_print_message).every(
            pairs, builds, Path(folder)
        )
    new = entry(ROOT, [], {}, [*skipped, *failed], pairs=done)
    _print_table("Pairs", PAIRS, pair_rows(new))
    for outcome, left_out in (("skipped", skipped), ("failed", failed)):
        for omission in left_out:
            echo(f"{omission.name}: {outcome}, {omission.reason}")
    if keep and done:
        add(HISTORY, new)
        if not pair:
            _write_page(PAGE, "pairs", pairs_block(new))
    context.exit(1 if failed or not done else 0)


@app.command("command")
@_runs(5)
def command(*, runs: int) -> None:
    """Time calls of the command line that simulate next to nothing."""
    _print_table(
        "The command's own time",
        calling.HEAD,
        calling.rows(calling.measure(runs=runs, on_message=_print_message)),
    )


@app.command("train")
def train() -> None:
    """Run the scenarios that `make pgo` trains the compiler with, on one thread."""
    for case in Listing(FOLDER).training:
        sets = [(path, value) for path, _, value in (line.partition("=") for line in case.sets)]
        result = floodway.run(floodway.load(case.scenario, sets=sets), threads=1)
        _print_message(f"{case.name}: {result.outcome.packet_hops:,} packet-hops")


def _one_and_all() -> list[int]:
    """One core, and all of them."""
    return sorted({1, os.cpu_count() or 1})


def _measured(names: Sequence[str], *, runs: int, threads: Sequence[int], counts: bool) -> dict[str, Any]:
    listing = Listing(FOLDER)
    cases = chosen(listing.cases, names)
    program = built(ROOT)
    results, skipped = measured(program, cases, runs=runs, threads=threads, on_message=_print_message)
    instructions: dict[str, float] = {}
    if counts:
        instructions, uncounted = counted(program, listing.counts, on_message=_print_message)
        skipped = [*skipped, *uncounted]
    return entry(ROOT, results, instructions, skipped)


def _show(new: Mapping[str, Any]) -> None:
    listing = Listing(FOLDER)
    heading, causes = cause_rows(new)
    _print_table("Runs", CASES, case_rows(new, listing))
    _print_table("By cause", heading, causes)
    _print_table("Instructions", COUNTS, count_rows(new, listing))
    for name, why in new["skipped"].items():
        echo(f"{name}: skipped, {why}")


def _print_table(title: str, heading: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(title=title, columns=tuple(heading), rows=tuple(map(tuple, rows)), words=WORD_COLUMNS)
    show_table(Terminal(width=WIDTH), table)


def _write_page(file: Path, name: str, block: str) -> None:
    page = file.read_text(encoding="utf-8")
    file.write_text(written(page, name, block), encoding="utf-8")


def _print_message(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201 (what is done, apart from what came of it)


if __name__ == "__main__":
    try:
        app()
    except FloodwayError as error:
        sys.exit(f"error: {error}")
