"""Totals of a run: packets dropped, sent by hosts and marked by switches.

The HPCC simulator writes none. Of ConWeave's, the counts of CNPs tell the marks; drops and packets sent come
from the table of a case's README.md, which has the simulator's printed totals.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from floodway.common.errors import ValidationError
from floodway_lab.validation.files import fields_of
from floodway_lab.validation.rows import limit_of, relative

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from floodway.results import Result
    from floodway.scenarios.scenario import Scenario
    from floodway_lab.validation.cases import Case
    from floodway_lab.validation.rows import Row
    from floodway_lab.validation.rules import Rules

__all__ = [
    "COUNTS_FILE",
    "Counts",
    "count_rows",
    "counts_apart",
    "counts_equal",
    "counts_of",
    "read_counts",
    "reference_counts",
    "write_counts",
]

#: The file of our totals: lines of a name and a number.
COUNTS_FILE = "counts.txt"
#: The file of a reference's totals, in a table whose first column is `config`.
README = "README.md"
#: The beginnings of the heads of the other columns.
HEADS = {"drops": "drops", "data packets sent": "packets"}
#: A line of a file of CNPs: time, node, and counts of CNPs for marks, for reordering, and for either.
CNP_COLUMNS = 5
#: The class of packets that are not data.
CONTROL = 6
#: Names of each total: in this module, in `validate.json` and in tables.
NAMES = (
    ("drops", "packets.dropped", "packets dropped"),
    ("packets", "packets.sent", "data packets sent"),
    ("marked", "packets.marked", "packets marked"),
)


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Totals of a run; `None` where unknown.

    Attributes
    ----------
    drops
        Packets that were dropped, anywhere and for any reason.
    packets
        Data packets that hosts sent, repeated ones each time.
    marked
        Data packets that carried a mark.
    """

    drops: int | None = None
    packets: int | None = None
    marked: int | None = None


def reference_counts(case: Case) -> Counts | None:
    """Read the known totals of a case; None without any.

    CNPs count all marks only if nothing was dropped: otherwise some packets are never answered.

    Raises
    ------
    ValidationError
        If a file is malformed.
    """
    noted = _noted(case.config)
    if case.cnps is not None and noted.get("drops") == 0:
        noted["marked"] = sum(_marks(case.cnps))
    return Counts(**noted) if noted else None


def counts_of(result: Result, scenario: Scenario) -> Counts:
    """Return the totals of a run of ours."""
    hosts = [name for name, is_switch in scenario.native.nodes if not is_switch]
    counters = result.counters
    data = (pl.col("class") != CONTROL) & pl.col("node").cast(pl.String).is_in(hosts)
    return Counts(
        drops=int(counters.select(pl.sum_horizontal(pl.col("^drops_.*$")).sum()).item()),
        packets=int(counters.filter(data)["tx_packets"].sum()),
        marked=int(counters["ecn_marks"].sum()),
    )


def write_counts(counts: Counts, folder: Path) -> None:
    """Write the totals beside an export.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    lines = (f"{name} {value}\n" for name, value in vars(counts).items() if value is not None)
    (folder / COUNTS_FILE).write_text("".join(lines), encoding="utf-8", newline="\n")


def read_counts(file: Path) -> Counts:
    """Read the file of `write_counts`."""
    return Counts(**{name: int(value) for _, (name, value) in fields_of(file)})


def counts_equal(reference: Counts | None, ours: Counts | None) -> bool:
    """Return whether all known totals of the reference equal ours."""
    return not any(counts_apart(reference, ours))


def counts_apart(reference: Counts | None, ours: Counts | None) -> Iterator[str]:
    """Yield the totals of the reference that differ from ours."""
    for name, _, label in NAMES:
        expected, actual = (getattr(counts or Counts(), name) for counts in (reference, ours))
        if expected is not None and expected != actual:
            ours_text = "none" if actual is None else f"{actual:,}"
            yield f"{label}: {expected:,} in the reference, {ours_text} in floodway"


def count_rows(reference: Counts, ours: Sequence[Counts], rules: Rules) -> Iterator[Row]:
    """Compare the totals; where equality is not expected they are only shown, as all else decides them."""
    limit = None if rules.equal is None else limit_of(1 - rules.equal)
    for name, key, label in NAMES:
        expected = getattr(reference, name)
        totals = [getattr(counts, name) for counts in ours]
        if expected is not None and None not in totals:
            yield relative(key, label, "count", reference=expected, ours=totals, limit=limit)


def _noted(config: Path) -> dict[str, int | None]:
    """Find the line of a configuration in the table of the README beside it."""
    readme = config.parent / README
    if not readme.is_file():
        return {}
    columns: list[str | None] = []
    for line in readme.read_text(encoding="utf-8", errors="replace").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.lstrip().startswith("|"):
            columns = []
        elif cells[0] == "config":
            columns = [_name(head) for head in cells]
        elif columns and cells[0] == config.name:
            pairs = zip(columns, cells, strict=False)
            return {name: _leading(cell) for name, cell in pairs if name is not None}
    return {}


def _name(head: str) -> str | None:
    return next((name for begin, name in HEADS.items() if head.lower().startswith(begin)), None)


def _leading(cell: str) -> int | None:
    """Return the number with which a cell begins, if it does."""
    match = re.match(r"\d[\d,]*", cell)
    return int(match[0].replace(",", "")) if match else None


def _marks(file: Path) -> Iterator[int]:
    """Yield the number of CNPs for marks, line by line."""
    for line, fields in fields_of(file):
        if len(fields) != CNP_COLUMNS or not all(field.isascii() and field.isdigit() for field in fields):
            at = f"{file}:{line}"
            text = " ".join(fields)
            expected = "time, node, and CNPs by marks, by disorder and in all"
            raise ValidationError(f"{at}: expected {expected}, got {text}", place=at, given=text)
        yield int(fields[2])
