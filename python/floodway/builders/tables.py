"""Lists of flows from data frames."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import polars as pl

from floodway.builders import ListedFlow
from floodway.common.errors import TableError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["flows"]


@dataclass(frozen=True, kw_only=True)
class _Column:
    """A column of a list: the key that it becomes, and the unit of bare numbers; none for plain values."""

    key: str
    unit: str | None = None
    whole: bool = False
    many: bool = False


#: The columns of a list of flows, as in a file.
_COLUMNS = {
    "source": _Column(key="from"),
    "destination": _Column(key="to"),
    "size_bytes": _Column(key="size", unit="B"),
    "start_us": _Column(key="start", unit="us"),
    "start_ns": _Column(key="start", unit="ns"),
    "class": _Column(key="class", whole=True),
    "source_port": _Column(key="source-port", whole=True),
    "destination_port": _Column(key="destination-port", whole=True),
    "path": _Column(key="path"),
    "ack_path": _Column(key="ack-path"),
    "id": _Column(key="id"),
    "after": _Column(key="after", many=True),
    "wait_us": _Column(key="wait", unit="us"),
}
#: Keys that every flow needs, with the columns that give them.
_NEEDED = {
    "from": ("source",),
    "to": ("destination",),
    "size": ("size_bytes",),
    "start": ("start_us", "start_ns"),
}
#: The limit of numbers: larger ones exceed every clock and buffer.
_LARGEST = Decimal(2**64)
#: The smallest part of a unit: a byte, a picosecond.
_SMALLEST = {"B": Decimal(1), "us": Decimal("1e-6"), "ns": Decimal("1e-3")}


def flows(frame: pl.DataFrame | pl.LazyFrame) -> list[ListedFlow]:
    """Return the rows of a frame as the flows of a workload.

    Parameters
    ----------
    frame
        A frame of polars, or of pandas where that is installed. Columns as in a file: `source`,
        `destination`, `size_bytes`, `start_us` or `start_ns`, and optionally `class`, `source_port`,
        `destination_port`, `path`, `ack_path`, `id`, `after` (ids apart by blanks), `wait_us`. Sizes and
        times are numbers in the unit of the column's name, or texts with a unit; the size `"unbounded"`
        makes a flow endless. Times are rounded to picoseconds.

    Returns
    -------
    list of ListedFlow
        The builder of an element of `workload.flows` for each row.

    Raises
    ------
    TableError
        If a column is unknown or missing, or a value is invalid; `key` names the column, `place` the row,
        counted from 0.

    Examples
    --------
    >>> import polars as pl
    >>> row = {"source": "h1", "destination": "h2", "size_bytes": 1000, "start_us": 1.5}
    >>> (flow,) = flows(pl.DataFrame(row))
    >>> flow.to_dict()
    {'from': 'h1', 'to': 'h2', 'size': '1000B', 'start': '1.5us'}
    """
    table = _polars(frame)
    _refuse_columns(table.columns)
    return [
        ListedFlow.from_dict(_flow(number, row)) for number, row in enumerate(table.iter_rows(named=True))
    ]


def _polars(frame: object) -> pl.DataFrame:
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if isinstance(frame, pl.DataFrame):
        return frame
    if type(frame).__module__.partition(".")[0] == "pandas":
        try:
            return pl.DataFrame(pl.from_pandas(frame))
        except (ImportError, TypeError) as error:
            raise TableError(f"the frame of pandas cannot be read: {error}") from error
    type_name = type(frame).__name__
    raise TableError(f"a {type_name} is not a frame of polars or pandas", given=type_name)


def _refuse_columns(columns: Sequence[str]) -> None:
    allowed = tuple(_COLUMNS)
    for name in columns:
        if name not in _COLUMNS:
            raise TableError.of_choice(name, noun="a column of a list of flows", allowed=allowed, key=name)
    for key, names in _NEEDED.items():
        matches = [name for name in names if name in columns]
        if not matches:
            message = f"no column has the {key!r} of the flows; it is {' or '.join(map(repr, names))}"
            raise TableError(message, key=names[0], allowed=names)
        if len(matches) > 1:
            message = (
                f"the columns {' and '.join(map(repr, matches))} have the same meaning; keep one of them"
            )
            raise TableError(message, key=matches[1], given=matches[1])


def _flow(number: int, row: dict[str, object]) -> dict[str, object]:
    """Return a flow with its keys in the order of the grammar, whatever the order of the columns."""
    values = {
        column.key: _value(name, column, row[name], number)
        for name, column in _COLUMNS.items()
        if name in row
    }
    return {key: value for key, value in values.items() if value is not None}


def _value(name: str, column: _Column, cell: object, row: int) -> object:
    if cell is None or cell == "":
        if column.key in _NEEDED:
            raise _unfit(name, row, cell, "it is empty")
        return None
    if column.unit is not None:
        return cell if isinstance(cell, str) else _quantity(name, column.unit, cell, row)
    if column.whole:
        return _whole(name, cell, row)
    if not isinstance(cell, str):
        raise _unfit(name, row, cell, "it is not text")
    return cell.split() if column.many else cell


def _quantity(name: str, unit: str, cell: object, row: int) -> str:
    """Write a number with its unit, in whole bytes or picoseconds."""
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal) or not math.isfinite(cell):
        raise _unfit(name, row, cell, "it is not a number")
    if cell < 0:
        raise _unfit(name, row, cell, "it is negative")
    exact = Decimal(str(cell))
    if unit == "B" and exact != exact.to_integral_value():
        raise _unfit(name, row, cell, "it is not a whole number of bytes")
    if exact >= _LARGEST:
        raise _unfit(name, row, cell, "it is too large")
    rounded = exact.quantize(_SMALLEST[unit])
    text = f"{rounded:f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text}{unit}"


def _whole(name: str, cell: object, row: int) -> int:
    if isinstance(cell, bool) or not isinstance(cell, int | float) or cell != cell // 1 or cell < 0:
        raise _unfit(name, row, cell, "it is not a whole number")
    return int(cell)


def _unfit(name: str, row: int, cell: object, why: str) -> TableError:
    row_name = f"row {row}"
    return TableError(
        f"{row_name}, column {name!r}: {cell!r}: {why}", place=row_name, key=name, given=repr(cell)
    )
