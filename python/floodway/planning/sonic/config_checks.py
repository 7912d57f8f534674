"""Checks across tables of a CONFIG_DB: shared headroom, thresholds of marks, the watchdog of a port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floodway.common.names import nearest
from floodway.planning.sonic.maps import ALL_PORTS, COLOURS
from floodway.planning.sonic.pools import lengths_of, speed_of
from floodway.planning.sonic.row import Row, fault, number_of, size_of_field
from floodway.planning.units import missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from floodway.planning.sonic.json_tables import Table

__all__ = ["DETECTION_MS", "RESTORATION_MS", "disagreements", "over_subscribed", "watchdog"]

#: `sonic-pfcwd`: `detection_time` and `restoration_time`, ms.
DETECTION_MS, RESTORATION_MS = range(100, 5001), range(100, 60_001)
TIMES = (("detection_time", DETECTION_MS), ("restoration_time", RESTORATION_MS))
ACTIONS = ("drop", "forward", "alert")
#: Row of `PFC_WD` for the whole switch.
GLOBAL = "GLOBAL"
#: Tables with a row for each port, and rows that are of none.
OF_PORTS, OF_NONE = ("PFC_WD", "PORT_QOS_MAP"), (GLOBAL, ALL_PORTS)
PERCENT = range(101)


def disagreements(tables: Mapping[str, Table], rows: Sequence[Row], file: str) -> Iterator[str]:
    """Yield warnings of values that are valid but contradict each other, beyond those of one class.

    Raises
    ------
    PlanError
        If a field is not a number, or the speed of a port is out of range.
    """
    for port, fields in tables.get("PORT", {}).items():
        if "speed" in fields:
            speed_of(fields, f"{file}: PORT|{port}")
    yield from over_subscribed(rows)
    judged = {row.group: None for row in rows}
    yield from _cables(tables, judged, file)
    yield from _no_ports(tables, file)
    for name, fields in tables.get("WRED_PROFILE", {}).items():
        yield from _marks(fields, f"{file}: WRED_PROFILE|{name}")
    for port, fields in tables.get("PFC_WD", {}).items():
        if port not in judged:
            yield from (f"{file}: PFC_WD|{port}: {text}" for text in _times(tables, port, fields, file))


def watchdog(
    tables: Mapping[str, Table],
    port: str,
    priorities: Sequence[int],
    watched: frozenset[int] | None,
    file: str,
) -> Iterator[str]:
    """Yield warnings about the watchdog of a port, for priorities that it pauses.

    Raises
    ------
    PlanError
        If a field is not a number.
    """
    rows = tables.get("PFC_WD")
    if rows is None or not priorities:
        return
    if port not in rows:
        yield "no watchdog: PFC_WD has no row for the port"
        return
    yield from (f"PFC_WD: {text}" for text in _times(tables, port, rows[port], file))
    if watched is None:
        yield "the watchdog watches no priority: the port has no pfcwd_sw_enable"
        return
    unseen = [str(priority) for priority in priorities if priority not in watched]
    if unseen:
        yield f"the watchdog does not watch priority {', '.join(unseen)} (pfcwd_sw_enable)"


def over_subscribed(rows: Sequence[Row]) -> Iterator[str]:
    """Compare the headroom of all classes with the pool of headroom that they share."""
    shared = {row.pool: row.headroom_pool for row in rows if row.headroom_pool}
    for pool, size in shared.items():
        # A group in two rows has one headroom.
        headrooms: dict[tuple[str, int], int] = {}
        for row in rows:
            if row.pool == pool and not row.reserves_headroom:
                for number in row.classes:
                    headrooms[row.group, number] = max(row.xoff, headrooms.get((row.group, number), 0))
        needed = sum(headrooms.values())
        if needed > size:
            less = f"xoff {size:,} is less than the {needed:,} of all lossless classes"
            yield f"BUFFER_POOL|{pool}: {less}: if all pause at once, {missing(needed - size)}"


def _cables(tables: Mapping[str, Table], ports: Iterable[str], file: str) -> Iterator[str]:
    """Name lengths of one port's cable that contradict each other."""
    for port in ports:
        lengths = lengths_of(tables, port, file)
        if len(set(lengths.values())) > 1:
            listed = ", ".join(f"{metres}m in {name}" for name, metres in lengths.items())
            yield f"CABLE_LENGTH: {port} has {listed}: judged by {max(lengths.values())}m"


def _no_ports(tables: Mapping[str, Table], file: str) -> Iterator[str]:
    """Name rows for ports that the switch does not have."""
    ports = tables.get("PORT")
    if ports is None:
        return
    for table in OF_PORTS:
        for name in tables.get(table, {}):
            if name in ports or name in OF_NONE:
                continue
            near = nearest(name, ports)
            hint = f"; did you mean {near!r}?" if near else ""
            yield f"{file}: {table}|{name}: PORT has no such port{hint}"


def _marks(fields: Mapping[str, Any], place: str) -> Iterator[str]:
    for colour in COLOURS:
        key = f"{colour}_drop_probability"
        if key in fields and number_of(fields[key], place, key) not in PERCENT:
            raise fault(place, key, f"{fields[key]!r} is not from 0 to 100", given=str(fields[key]))
        low, high = f"{colour}_min_threshold", f"{colour}_max_threshold"
        if low in fields and high in fields:
            minimum, maximum = (size_of_field(fields[key], place, key) for key in (low, high))
            if maximum < minimum:
                yield f"{place}: {high} {maximum} is below {low} {minimum}, which SONiC refuses"


def _times(tables: Mapping[str, Table], port: str, fields: Mapping[str, Any], file: str) -> Iterator[str]:
    """Yield the times of a watchdog that SONiC refuses."""
    place = f"{file}: PFC_WD|{port}"
    interval = tables["PFC_WD"].get(GLOBAL, {}).get("POLL_INTERVAL")
    poll = None if interval is None else number_of(interval, f"{file}: PFC_WD|{GLOBAL}", "POLL_INTERVAL")
    for key, allowed in TIMES:
        if key not in fields:
            continue
        value = number_of(fields[key], place, key)
        if value not in allowed:
            yield f"{key} {value} is not from {allowed.start} to {allowed.stop - 1} ms"
        elif poll is not None and value < poll:
            yield f"{key} {value} ms is shorter than POLL_INTERVAL, {poll} ms, which SONiC refuses"
    if port != GLOBAL and "detection_time" not in fields:
        yield "detection_time is missing, without which the watchdog does not start"
    action = str(fields.get("action", ACTIONS[0]))
    if action not in ACTIONS:
        yield f"action {action!r} is not one of {', '.join(ACTIONS)}, which SONiC refuses"
