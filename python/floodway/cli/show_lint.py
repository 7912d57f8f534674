"""What was found in a switch configuration, on the terminal: counts, rows worst first, what was not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from floodway.cli.show_document import table_of
from floodway.cli.terminal import Terminal
from floodway.planning.answer import distance
from floodway.planning.units import number_text
from floodway.results.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from floodway.planning.sonic import Judged, Lint
    from floodway.planning.sonic.row import Row

__all__ = ["show"]

#: Width of tables when the output is not a terminal.
WIDTH = 170
#: So many rows are printed if not all are asked for.
MOST_ROWS = 20
#: Columns that hold words.
WORDS = ("row", "port", "DSCP", "formula", "verdict", "in the hardest run", "level")


def show(found: Lint, stream: TextIO, *, every: bool) -> None:
    """Print what was found.

    Parameters
    ----------
    found
        The rows with their verdicts.
    stream
        Where it goes.
    every
        Whether all rows are printed; else the worst.
    """
    console = Terminal(stream)
    if not console.is_terminal:
        console.width = WIDTH
    console.print(_headline(found), soft_wrap=True)
    alike = _alike(found.rows)
    shown = alike if every else alike[:MOST_ROWS]
    if shown:
        console.print(_counts(found))
        console.print(_rows(shown, tried=any(each.least is not None for each in found.rows)))
    if len(shown) < len(alike):
        console.print(f"{len(alike) - len(shown)} more: --all prints them, --json has all", soft_wrap=True)
    console.print(f"verdict: {found.text}", soft_wrap=True)
    for line in found.warnings:
        console.print(f"warning: {line}", soft_wrap=True)
    for line in found.notes:
        console.print(f"note: {line}", soft_wrap=True)


def _headline(found: Lint) -> str:
    assumed = found.assumed
    sizes = ",".join(f"{size}B" for size in assumed.mix_bytes) or "any size"
    cells = f"cells of {assumed.cell_bytes} bytes" if assumed.cell_bytes > 1 else "memory that counts bytes"
    chip = f" ({assumed.asic})" if assumed.asic else ""
    beside = (
        f"{number_text(assumed.latency_ps / 1000)} ns beside the cable"
        if assumed.latency_ps is not None
        else "nothing beside the cable (--latency: gearboxes, retimers, MACsec)"
    )
    rows = counted(len(found.rows), "row")
    return (
        f"{found.file}, {found.form}: {rows}; held against frames of {sizes} up to {_largest(found)} bytes,"
        f" and {cells}{chip}, with the reaction and the interface's delay that IEEE 802.3 allows, and"
        f" {beside}"
    )


def _largest(found: Lint) -> str:
    """Return the largest frame; of ports that differ the least and the most."""
    sizes = sorted({each.assumed.largest_frame for each in found.rows} or {found.assumed.largest_frame})
    return " or ".join(f"{size:,}" for size in dict.fromkeys((sizes[0], sizes[-1])))


def _counts(found: Lint) -> object:
    table = table_of("", ("level", "rows"), text_columns=WORDS)
    for level, count in found.counts.items():
        table.add_row(level.label.replace("-", " "), f"{count:,}")
    return table


def _rows(alike: Sequence[Sequence[Judged]], *, tried: bool) -> object:
    columns = ["row", "port", "xoff", "propagation", "physics", "formula", "verdict"]
    with_dscp = any(own[0].row.dscps for own in alike)
    if with_dscp:
        columns.insert(2, "DSCP")
    if tried:
        columns.insert(-1, "in the hardest run")
    table = table_of("Headroom of a lossless class, worst first, in bytes", columns, text_columns=WORDS)
    for own in alike:
        table.add_row(*_cells(own, tried=tried, with_dscp=with_dscp))
    return table


def _cells(alike: Sequence[Judged], *, tried: bool, with_dscp: bool) -> Iterator[str]:
    first = alike[0]
    row, bound = first.row, first.bounds
    has_xoff = not row.unknown
    more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
    yield f"{_where(row)}{more}"
    yield f"{_rate(row.rate_bps)} {distance(row.length_m)}" if row.has_link else "-"
    if with_dscp:
        yield _ranges(row.dscps)
    yield f"{row.xoff:,}" if has_xoff else "-"
    yield "-" if bound is None else f"{bound.propagation:,}"
    yield "-" if bound is None else f"{bound.asked:,}"
    fit = first.fit
    yield "-" if fit is None else fit.text
    if tried:
        yield first.tried or "-"
    yield first.text


def _where(row: Row) -> str:
    """Return where a row is in its file: a key, a line, or the line with its platform."""
    _, key, name = row.place.rpartition(": ")
    if key:
        listed = ",".join(str(each) for each in row.classes)
        return name if _names(name, row.classes) else f"{name} ({listed})"
    line = f"line {row.place.rpartition(':')[2]}"
    return f"{row.group.rpartition('/')[2]}, {line}" if row.group else line


def _names(key: str, classes: Sequence[int]) -> bool:
    """Whether a row's key names these classes already."""
    first, _, last = key.rpartition("|")[2].partition("-")
    return first.isdigit() and tuple(range(int(first), int(last or first) + 1)) == tuple(classes)


def _ranges(numbers: Sequence[int]) -> str:
    """Write numbers with neighbours as a range."""
    parts: list[list[int]] = []
    for each in numbers:
        if parts and each == parts[-1][-1] + 1:
            parts[-1].append(each)
        else:
            parts.append([each])
    return ",".join(f"{own[0]}-{own[-1]}" if len(own) > 1 else f"{own[0]}" for own in parts) or "-"


def _rate(rate_bps: int) -> str:
    return f"{rate_bps / 1e9:g}G"


def _alike(rows: Sequence[Judged]) -> list[list[Judged]]:
    """Put rows of the same numbers together, in the order of the first of them."""
    found: dict[tuple[object, ...], list[Judged]] = {}
    for each in rows:
        row = each.row
        key = (row.rate_bps, row.length_m, row.dscps, row.xoff, row.unknown, each.text, each.fit)
        found.setdefault(key, []).append(each)
    return list(found.values())
