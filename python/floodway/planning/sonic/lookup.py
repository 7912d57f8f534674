"""Reader of `pg_profile_lookup.ini`, and of tables of its rows for several platforms.

The file is read as SONiC's buffer manager reads it: `#` begins a comment, columns are separated by blanks and
known by their order, and `xon_offset` may be left out. A table has a line of names and tabs between columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.errors import PlanError
from floodway.common.names import nearest
from floodway.planning.sonic.row import (
    MEGA,
    Row,
    Sheet,
    fault,
    length_of,
    number_of,
    number_within,
    size_of_field,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_lookup", "read_table"]

#: Columns of `pg_profile_lookup.ini`; the last may be left out.
COLUMNS = ("speed", "cable", "size", "xon", "xoff", "threshold", "xon_offset")
WRITTEN = f"{' '.join(COLUMNS[:-1])} [{COLUMNS[-1]}]"
#: Those of a table, which may have others, too; the speed is in Mb/s in both.
TABLE_COLUMNS = ("speed_mbps", "cable", "size", "xon", "xoff")
OPTIONAL = ("platform", "threshold", "xon_offset")
#: Speeds of ports (`sonic-port`: `speed` is 1 to 1,600,000 Mb/s).
SPEEDS = range(1, 1_600_001)


def read_lookup(text: str, file: str) -> Sheet:
    """Read a `pg_profile_lookup.ini`.

    Raises
    ------
    PlanError
        If there is no row, or a line has too few or too many columns, or something else than numbers; the
        error names it.
    """
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.partition("#")[0].split()
        if not fields:
            continue
        place = f"{file}:{number}"
        if not len(COLUMNS) - 1 <= len(fields) <= len(COLUMNS):
            raise _wrong_count(place, len(fields))
        rows.append(_row(dict(zip(COLUMNS, fields, strict=False)), place, "speed"))
    _check(rows, file)
    return Sheet(file=file, form="pg_profile_lookup.ini", rows=tuple(rows))


def read_table(text: str, file: str) -> Sheet:
    """Read a table: a line of names, then lines of fields, with tabs between.

    Raises
    ------
    PlanError
        If there is no row, a column is missing, a line has another number of fields, or something else than
        numbers.
    """
    head, *lines = text.splitlines()
    names = head.split("\t")
    lacking = next((column for column in TABLE_COLUMNS if column not in names), None)
    if lacking is not None:
        near = nearest(lacking, names)
        hint = f"; did you mean it by {near!r}?" if near else ""
        reason = f"the column is missing; needed are {', '.join(TABLE_COLUMNS)}{hint}"
        raise PlanError(f"{file}:1: {lacking}: {reason}", place=f"{file}:1", key=lacking, nearest=near)
    rows = []
    for number, line in enumerate(lines, start=2):
        if not line.strip():
            continue
        fields, place = line.split("\t"), f"{file}:{number}"
        if len(fields) != len(names):
            text = f"{place}: {len(fields)} fields; the first line names {len(names)} columns"
            raise PlanError(text, place=place, given=str(len(fields)))
        rows.append(_row(dict(zip(names, fields, strict=True)), place, "speed_mbps"))
    _check(rows, file)
    unread = [name for name in names if name not in (*TABLE_COLUMNS, *OPTIONAL)]
    notes = (f"columns that are not read: {', '.join(unread)}",) if unread else ()
    return Sheet(file=file, form="table", rows=tuple(rows), notes=notes)


def _row(fields: Mapping[str, str], place: str, speed: str) -> Row:
    mbps = number_within(fields[speed], place, speed, SPEEDS, "a speed of a port in Mb/s,")
    threshold, offset = (fields.get(key, "").strip() for key in ("threshold", "xon_offset"))
    return Row(
        place=place,
        group=fields.get("platform", "").strip(),
        rate_bps=mbps * MEGA,
        length_m=length_of(fields["cable"], place, "cable"),
        size=size_of_field(fields["size"], place, "size"),
        xon=size_of_field(fields["xon"], place, "xon"),
        xoff=size_of_field(fields["xoff"], place, "xoff"),
        threshold=number_of(threshold, place, "threshold") if threshold else None,
        xon_offset=size_of_field(offset, place, "xon_offset") if offset else None,
    )


def _wrong_count(place: str, count: int) -> PlanError:
    few = count < len(COLUMNS)
    key = COLUMNS[count] if few else None
    wrong = f"{key}: the column is missing" if few else f"{count} columns"
    text = f"{place}: {wrong}; SONiC reads {WRITTEN}" + (f", and this line has {count}" if few else "")
    return PlanError(text, place=place, key=key, given=str(count))


def _check(rows: list[Row], file: str) -> None:
    """Refuse a file without rows, and a second row for a speed and length, of which only one can be used."""
    if not rows:
        raise PlanError(f"{file}: there is no row to judge; SONiC reads {WRITTEN}", place=file)
    first: dict[tuple[str, int, int], str] = {}
    for row in rows:
        key = (row.group, row.rate_bps, row.length_m)
        if key in first:
            reason = f"{row.rate_bps // MEGA} Mb/s over {row.length_m}m is in {first[key]} already"
            raise fault(row.place, "cable", reason, given=f"{row.length_m}m")
        first[key] = row.place
