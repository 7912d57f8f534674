"""What parts of a CONFIG_DB must agree on: shared headroom, thresholds of marks, the watchdog of a port."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floodway.planning.sonic.fields import fault, number_of, size_of_field
from floodway.planning.sonic.queues import COLOURS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.planning.sonic.json_tables import Table
    from floodway.planning.sonic.row import Row

__all__ = ["DETECTION_MS", "RESTORATION_MS", "disagreements", "watchdog"]

#: `sonic-pfcwd`: `detection_time` and `restoration_time`, ms.
DETECTION_MS, RESTORATION_MS = range(100, 5001), range(100, 60_001)
TIMES = (("detection_time", DETECTION_MS), ("restoration_time", RESTORATION_MS))
ACTIONS = ("drop", "forward", "alert")
#: Row of `PFC_WD` for the whole switch.
GLOBAL = "GLOBAL"
PERCENT = range(101)


def disagreements(tables: Mapping[str, Table], rows: Sequence[Row], file: str) -> Iterator[str]:
    """Return what does not agree, though each value is one, and is not of one class of a port.

    Raises
    ------
    PlanError
        If a number is none.
    """
    yield from _over_subscribed(rows)
    for name, fields in tables.get("WRED_PROFILE", {}).items():
        yield from _marks(fields, f"{file}: WRED_PROFILE|{name}")
    judged = {row.group for row in rows}
    for port, fields in tables.get("PFC_WD", {}).items():
        if port not in judged:
            yield from (f"{file}: PFC_WD|{port}: {told}" for told in _times(tables, port, fields, file))


def watchdog(
    tables: Mapping[str, Table],
    port: str,
    priorities: Sequence[int],
    watched: frozenset[int] | None,
    file: str,
) -> Iterator[str]:
    """Say what the watchdog of a port does not do for priorities that it pauses.

    Raises
    ------
    PlanError
        If a number is none.
    """
    rows = tables.get("PFC_WD")
    if rows is None or not priorities:
        return
    if port not in rows:
        yield "no watchdog: PFC_WD has no row for the port"
        return
    yield from (f"PFC_WD: {told}" for told in _times(tables, port, rows[port], file))
    if watched is None:
        yield "the watchdog watches no priority: the port has no pfcwd_sw_enable"
        return
    unseen = [str(each) for each in priorities if each not in watched]
    if unseen:
        yield f"the watchdog does not watch priority {', '.join(unseen)} (pfcwd_sw_enable)"


def _over_subscribed(rows: Sequence[Row]) -> Iterator[str]:
    """Compare the headroom of all classes with the pool that they share."""
    pools = {row.headroom_pool for row in rows if row.headroom_pool}
    if len(pools) != 1:
        return
    (shared,) = pools
    sharing = [row for row in rows if row.headroom_pool == shared]
    needed = sum(row.xoff * max(1, len(row.classes)) for row in sharing)
    if needed > shared:
        yield (
            f"BUFFER_POOL: xoff {shared} is less than the {needed} of all lossless classes: if all pause at"
            f" once, {needed - shared:,} bytes are missing"
        )


def _marks(fields: Mapping[str, Any], place: str) -> Iterator[str]:
    for colour in COLOURS:
        key = f"{colour}_drop_probability"
        if key in fields and number_of(fields[key], place, key) not in PERCENT:
            raise fault(place, key, f"{fields[key]!r} is not from 0 to 100", given=str(fields[key]))
        low, high = f"{colour}_min_threshold", f"{colour}_max_threshold"
        if low in fields and high in fields:
            least, most = size_of_field(fields[low], place, low), size_of_field(fields[high], place, high)
            if most < least:
                yield f"{place}: {high} {most} is below {low} {least}, which SONiC refuses"


def _times(tables: Mapping[str, Table], port: str, fields: Mapping[str, Any], file: str) -> Iterator[str]:
    """Name what SONiC refuses of a watchdog."""
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
