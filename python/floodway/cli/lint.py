"""The command `floodway lint`: the verdict on a switch configuration, and rows, worst first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.cli.bar import counting
from floodway.cli.output import DONE, FAILED, echo, errors
from floodway.cli.show_document import print_answer
from floodway.common.documents import Cell, Document, Section, Table
from floodway.planning.answer import distance
from floodway.planning.sonic import lint
from floodway.planning.trials import Runs, least_headroom
from floodway.planning.units import number_text
from floodway.results.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from floodway.planning.sonic import Judged, Lint
    from floodway.planning.sonic.row import Row

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
    print_answer(_document(findings), json_=request.json, quiet=request.quiet, full=request.full)
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


#: Columns that hold words.
TEXT_COLUMNS = frozenset(("port", "DSCP", "formula", "verdict", "in the hardest run", "level"))


def _document(findings: Lint) -> Document:
    """Return the document: the verdict, the worst rows, and all rows with their reasons."""
    alike = _alike(findings.rows)
    counts = ", ".join(
        f"{level.label.replace('-', ' ')} {count:,}" for level, count in findings.counts.items()
    )
    worst = next((rows[0] for rows in alike if not rows[0].verdict.level.holds), None)
    more = [f"rows by level, worst first: {counts}"] if counts else []
    more += [f"the worst, {_where(worst.row)}: {worst.text}"] if worst is not None else []
    return Document(
        title=f"{findings.file}, {findings.form}: {counted(len(findings.rows), 'row')}",
        answer=findings.text,
        tone="good" if findings.holds else "bad",
        more=tuple(more),
        table=_worst(alike).shortened("more kinds of rows") if alike else None,
        simulated=(_assumptions(findings), *findings.notes),
        warnings=findings.warnings,
        sections=(Section(title="All rows", tables=(_rows(alike),) if alike else ()),),
        data=findings.to_dict(),
    )


def _assumptions(findings: Lint) -> str:
    assumed = findings.assumed
    sizes = ",".join(f"{size}B" for size in assumed.mix_bytes) or "any size"
    cells = f"cells of {assumed.cell_bytes} bytes" if assumed.cell_bytes > 1 else "memory that counts bytes"
    chip = f" ({assumed.asic})" if assumed.asic else ""
    beside = (
        f"{number_text(assumed.latency_ps / 1000)} ns beside the cable"
        if assumed.latency_ps is not None
        else "nothing beside the cable (--latency: gearboxes, retimers, MACsec)"
    )
    return (
        f"held against frames of {sizes} up to {_largest(findings)} bytes,"
        f" and {cells}{chip}, with the reaction and the interface's delay that IEEE 802.3 allows, and"
        f" {beside}"
    )


def _largest(findings: Lint) -> str:
    """Return the largest frame in bytes; if ports differ, the smallest and the largest value."""
    sizes = sorted(
        {judged.assumed.largest_frame for judged in findings.rows} or {findings.assumed.largest_frame}
    )
    return " or ".join(f"{size:,}" for size in dict.fromkeys((sizes[0], sizes[-1])))


def _worst(alike: Sequence[Sequence[Judged]]) -> Table:
    """Return a row for each group of equal rows: its headroom, the physical minimum, and its level."""
    tried = _is_tried(alike)
    columns = ["row", "port", "xoff", "physics", "level", *(["in the hardest run"] if tried else [])]
    rows = []
    for group in alike:
        first = group[0]
        level = first.verdict.level
        rows.append(
            (
                *_place(group),
                *_bytes(first)[::2],
                Cell(text=level.label.replace("-", " "), tone="good" if level.holds else "bad"),
                *((first.tried or "-",) if tried else ()),
            )
        )
    return Table(title="Headroom in bytes", columns=tuple(columns), rows=tuple(rows), words=TEXT_COLUMNS)


def _rows(alike: Sequence[Sequence[Judged]]) -> Table:
    columns = ["row", "port", "xoff", "propagation", "physics", "formula", "verdict"]
    with_dscp = any(group[0].row.dscps for group in alike)
    if with_dscp:
        columns.insert(2, "DSCP")
    tried = _is_tried(alike)
    if tried:
        columns.insert(-1, "in the hardest run")
    return Table(
        title="Headroom of a lossless class, worst first, in bytes",
        columns=tuple(columns),
        rows=tuple(tuple(_cells(group, tried=tried, with_dscp=with_dscp)) for group in alike),
        words=TEXT_COLUMNS,
    )


def _is_tried(alike: Sequence[Sequence[Judged]]) -> bool:
    return any(judged.least is not None for group in alike for judged in group)


def _cells(alike: Sequence[Judged], *, tried: bool, with_dscp: bool) -> Iterator[str]:
    first = alike[0]
    yield from _place(alike)
    if with_dscp:
        yield _ranges(first.row.dscps)
    yield from _bytes(first)
    fit = first.fit
    yield "-" if fit is None else fit.text
    if tried:
        yield first.tried or "-"
    yield first.text


def _place(alike: Sequence[Judged]) -> tuple[str, str]:
    """Return the location of rows with equal numbers, and their link."""
    row = alike[0].row
    more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
    return (
        f"{_where(row)}{more}",
        f"{row.rate_bps / 1e9:g}G {distance(row.length_m)}" if row.has_link else "-",
    )


def _bytes(judged: Judged) -> tuple[str, str, str]:
    """Return the headroom, and the minimum by propagation alone and by all physical delays."""
    bound = judged.bounds
    needs = ("-", "-") if bound is None else (f"{bound.propagation:,}", f"{bound.asked:,}")
    return "-" if judged.row.unknown else f"{judged.row.xoff:,}", *needs


def _where(row: Row) -> str:
    """Return the location of a row in its file: a key, a line, or a line with its platform."""
    _, key, name = row.place.rpartition(": ")
    if key:
        listed = ",".join(str(number) for number in row.classes)
        return name if _names(name, row.classes) else f"{name} ({listed})"
    line = f"line {row.place.rpartition(':')[2]}"
    return f"{row.group.rpartition('/')[2]}, {line}" if row.group else line


def _names(key: str, classes: Sequence[int]) -> bool:
    """Return whether a row's key contains these classes."""
    first, _, last = key.rpartition("|")[2].partition("-")
    return first.isdigit() and tuple(range(int(first), int(last or first) + 1)) == tuple(classes)


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers as text, consecutive ones as a range."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(f"{span[0]}-{span[-1]}" if len(span) > 1 else f"{span[0]}" for span in parts) or "-"


def _alike(rows: Sequence[Judged]) -> list[list[Judged]]:
    """Group rows with equal numbers, in the order of their first rows."""
    groups: dict[tuple[object, ...], list[Judged]] = {}
    for judged in rows:
        row = judged.row
        key = (row.rate_bps, row.length_m, row.dscps, row.xoff, row.unknown, judged.text, judged.fit)
        groups.setdefault(key, []).append(judged)
    return list(groups.values())
