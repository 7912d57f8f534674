"""Tables of CONFIG_DB from JSON: nested as SONiC writes them, or flat as a dump of the database has them."""

from __future__ import annotations

import json
import re
from typing import Any

from floodway.common.errors import PlanError

__all__ = ["Table", "read_json", "tables_of"]

Table = dict[str, dict[str, Any]]

#: Keys of what `redis-dump` and `sonic-db-dump` write for a key of the database.
DUMPED, ALSO_DUMPED = {"type", "value"}, {"ttl", "expireat"}
#: A row of APPL_DB, such as `BUFFER_PG_TABLE:Ethernet0:3-4`.
OF_APPL_DB = re.compile(r"[A-Z0-9_]+_TABLE:")
#: Field of a row that has none, as the database must have one.
EMPTY = "NULL"


class _Object(dict[str, Any]):
    """An object of JSON, with the first key that it has twice."""

    twice: str | None = None


def read_json(text: str, file: str) -> object:
    """Return the value of a JSON text.

    Raises
    ------
    PlanError
        If it is not JSON, or an object has a key twice, of which readers would silently take the last.
    """
    try:
        content = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        place = f"{file}:{error.lineno}"
        raise PlanError(f"{place}: not JSON: {error.msg}", place=place) from None
    except RecursionError:
        raise PlanError(f"{file}: not JSON: it is nested too deeply", place=file) from None
    _nothing_twice(content, file)
    return content


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    parsed = _Object(pairs)
    if len(parsed) < len(pairs):
        seen: set[str] = set()
        parsed.twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return parsed


def _nothing_twice(content: object, file: str) -> None:
    left: list[tuple[tuple[str, ...], object]] = [((), content)]
    while left:
        path, value = left.pop()
        if not isinstance(value, _Object):
            continue
        if value.twice is not None:
            where = "|".join((*path, value.twice))
            text = f"{file}: {where}: the key is in the file twice, and only one of them counts: remove one"
            raise PlanError(text, place=file, key=value.twice)
        left += [((*path, key), child) for key, child in value.items()]


def tables_of(content: object, file: str) -> dict[str, Table]:
    """Return the tables of a CONFIG_DB, whichever form it has.

    Raises
    ------
    PlanError
        If it is no CONFIG_DB, or is a dump of another database.
    """
    if not isinstance(content, dict):
        raise _no_tables(file)
    tables: dict[str, Table] = {}
    for key, value in content.items():
        if OF_APPL_DB.match(key):
            text = f"{file}: {key}: a row of APPL_DB; dump CONFIG_DB instead: sonic-db-dump -n CONFIG_DB -y"
            raise PlanError(text, place=file, key=key)
        table, bar, row = key.partition("|")
        dumped = _is_dumped(value)
        if dumped and not bar:
            # A key of the database that is no table, such as CONFIG_DB_INITIALIZED.
            continue
        content_of_key = _fields(value["value"]) if dumped else value
        if not isinstance(content_of_key, dict):
            raise _no_tables(file)
        rows = {row: content_of_key} if bar else content_of_key
        table_rows = tables.setdefault(table, {})
        again = next((name for name in rows if name in table_rows), None)
        if again is not None:
            raise PlanError(f"{file}: {table}|{again}: the row is in the file twice", place=file, key=again)
        table_rows.update(rows)
    return tables


def _no_tables(file: str) -> PlanError:
    return PlanError(f"{file}: not a CONFIG_DB: it is an object of tables, each an object", place=file)


def _is_dumped(value: object) -> bool:
    return isinstance(value, dict) and set(value) >= DUMPED and set(value) <= DUMPED | ALSO_DUMPED


def _fields(value: object) -> object:
    """Return the fields of a row: a list has a mark at its name there, a row without fields a placeholder."""
    if not isinstance(value, dict):
        return value
    return {name.removesuffix("@"): field for name, field in value.items() if name != EMPTY}
