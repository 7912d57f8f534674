"""Files in the formats of the HPCC simulator, its own and ours alike: flows, PFC frames, queues.

The flows' file comes in two forms, with addresses in hexadecimal or, in the simulator's successor ConWeave,
with numbers of nodes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import polars as pl

from floodway.common.errors import ValidationError
from floodway.common.files import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

__all__ = ["FLOWS", "PAUSES", "QUEUES", "fields_of", "read_flows", "read_pauses", "read_queues"]

#: Columns of a flows' file: node numbers, ports, payload, absolute start, and durations.
FLOWS = (
    "source",
    "destination",
    "source_port",
    "destination_port",
    "size_bytes",
    "start_ns",
    "fct_ns",
    "standalone_ns",
)
#: Columns of a file of PFC frames, each as received: ports count from 1; 1 is a switch, 1 is a pause.
PAUSES = ("time_ns", "node", "is_switch", "port", "is_pause")
#: Columns of a histogram of queues: how many samples found this many whole kilobytes queued.
QUEUES = ("switch", "port", "kb", "samples")
#: The simulator's addresses: 11.0.0.1 and up, 256 to a node.
ADDRESS = "0b"
ADDRESS_DIGITS = 8
#: The largest number that a simulator writes.
LARGEST = 2**63 - 1


def read_flows(file: Path) -> pl.DataFrame:
    """Read completion times, a row a flow that finished.

    Parameters
    ----------
    file
        Lines of `sip dip sport dport size start fct standalone`.

    Returns
    -------
    polars.DataFrame
        The columns of `FLOWS`.

    Raises
    ------
    ValidationError
        If the file cannot be read, or a line is malformed.
    """
    rows = [_row(file, line, fields, FLOWS, first=_node) for line, fields in fields_of(file)]
    for (line, _), row in zip(fields_of(file), rows, strict=True):
        if row[FLOWS.index("fct_ns")] == 0:
            raise _fault(file, line, "0 ns", "a completion time of at least 1 ns")
    return _frame(FLOWS, rows)


def read_pauses(file: Path) -> pl.DataFrame:
    """Read PFC frames, a row a frame in the order of their times; an empty file is one without frames.

    Returns
    -------
    polars.DataFrame
        The columns of `PAUSES`.

    Raises
    ------
    ValidationError
        As `read_flows`, of lines of `time node type port pause`.
    """
    rows = []
    for line, fields in fields_of(file):
        row = _row(file, line, fields, PAUSES)
        for column in (PAUSES.index("is_switch"), PAUSES.index("is_pause")):
            if row[column] not in (0, 1):
                raise _fault(file, line, f"{fields[column]!r}", f"0 or 1 as {PAUSES[column]}")
        rows.append(row)
    return _frame(PAUSES, rows).sort("time_ns", maintain_order=True)


def read_queues(file: Path) -> pl.DataFrame:
    """Read a histogram of queues: the last block of the simulator's own form, or a table of one switch.

    The simulator's form has a line `time: T` and then for each port `switch port n0 n1 ...`, samples by
    kilobytes from 0 on; later blocks include the counts of earlier ones. The table has lines of
    `port,kb,samples` and comments with `#`. Samples of less than a kilobyte are left out, as in such tables:
    their number only shows how long the monitor ran.

    Returns
    -------
    polars.DataFrame
        The columns of `QUEUES`; `switch` is null in the table's form.

    Raises
    ------
    ValidationError
        As `read_flows`.
    """
    lines = [(line, fields) for line, fields in fields_of(file) if not fields[0].startswith("#")]
    is_own_form = any(fields[0] == "time:" for _, fields in lines)
    rows = (
        _own_queues(file, lines)
        if is_own_form
        else [_table_queue(file, line, fields) for line, fields in lines]
    )
    return _frame(QUEUES, [row for row in rows if row[2] and row[3]])


def fields_of(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield each line that is not empty, as its number and its words.

    Raises
    ------
    ValidationError
        If the file cannot be read, or is not text.
    """
    try:
        text = read_text(file)
    except OSError as error:
        shown = os.fspath(file)
        raise ValidationError(f"{shown}: cannot be read: {error.strerror or error}", place=shown) from error
    except UnicodeDecodeError as error:
        raise ValidationError(f"{file}: is not text in UTF-8", place=os.fspath(file)) from error
    for number, line in enumerate(text.split("\n"), start=1):
        fields = line.split()
        if fields:
            yield number, fields


def _own_queues(file: Path, lines: Sequence[tuple[int, list[str]]]) -> list[tuple[int | None, ...]]:
    """Read the last block, which includes the counts of all before it."""
    begin = max(number for number, (_, fields) in enumerate(lines) if fields[0] == "time:")
    rows: list[tuple[int | None, ...]] = []
    for line, fields in lines[begin + 1 :]:
        if len(fields) < 2:  # noqa: PLR2004 (switch and port)
            raise _fault(file, line, " ".join(fields), "switch, port and samples")
        switch, port, *counts = [_number(file, line, field) for field in fields]
        rows += [(switch, port, kb, samples) for kb, samples in enumerate(counts)]
    return rows


def _table_queue(file: Path, line: int, fields: Sequence[str]) -> tuple[int | None, ...]:
    cells = [cell.strip() for cell in " ".join(fields).split(",")]
    return (None, *_row(file, line, cells, QUEUES[1:]))


def _row(
    file: Path,
    line: int,
    fields: Sequence[str],
    columns: Sequence[str],
    *,
    first: Callable[[Path, int, str], int] | None = None,
) -> tuple[int, ...]:
    """Read a line of numbers; `first` reads the first two of them."""
    if len(fields) != len(columns):
        count = f"{len(fields)}"
        raise _fault(file, line, count, f"{len(columns)} columns ({' '.join(columns)})")
    readers = [first or _number] * 2 + [_number] * (len(columns) - 2)
    return tuple(read(file, line, field) for read, field in zip(readers, fields, strict=True))


def _node(file: Path, line: int, field: str) -> int:
    """Read a node's number, or the address that identifies it."""
    if len(field) != ADDRESS_DIGITS or not field.startswith(ADDRESS):
        return _number(file, line, field)
    try:
        return (int(field, 16) >> 8) & 0xFFFF
    except ValueError:
        raise _fault(file, line, repr(field), "an address of eight hexadecimal digits") from None


def _number(file: Path, line: int, field: str) -> int:
    if not (field.isascii() and field.isdigit()) or int(field) > LARGEST:
        raise _fault(file, line, repr(field), "a whole number")
    return int(field)


def _fault(file: Path, line: int, text: str, expected: str) -> ValidationError:
    at = f"{file}:{line}"
    return ValidationError(f"{at}: expected {expected}, got {text}", place=at, given=text)


def _frame(columns: Sequence[str], rows: Sequence[tuple[int | None, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.Int64), orient="row")
