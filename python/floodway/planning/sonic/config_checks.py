"""What parts of a CONFIG_DB must agree on: classes that pause, thresholds of marks, times of the watchdog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floodway.planning.sonic.fields import fault, number_of, size_of_field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.planning.sonic.row import Row

__all__ = ["DETECTION_MS", "RESTORATION_MS", "disagreements"]

#: `sonic-pfcwd`: `detection_time` and `restoration_time`, ms.
DETECTION_MS, RESTORATION_MS = range(100, 5001), range(100, 60_001)
COLOURS = ("green", "yellow", "red")
PERCENT = range(101)


def disagreements(
    tables: Mapping[str, Mapping[str, Mapping[str, Any]]], rows: Sequence[Row], file: str
) -> Iterator[str]:
    """Return what does not agree, though each value is one.

    Raises
    ------
    PlanError
        If a number is none.
    """
    yield from _over_subscribed(rows)
    yield from _not_paused(tables.get("PORT_QOS_MAP", {}), rows)
    for name, fields in tables.get("WRED_PROFILE", {}).items():
        yield from _marks(fields, f"{file}: WRED_PROFILE|{name}")
    for port, fields in tables.get("PFC_WD", {}).items():
        yield from _watchdog(fields, f"{file}: PFC_WD|{port}")


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


def _not_paused(maps: Mapping[str, Mapping[str, Any]], rows: Sequence[Row]) -> Iterator[str]:
    """Name lossless classes for which no pause is sent: their headroom is of no use."""
    for row in rows:
        enabled = maps.get(row.group, {}).get("pfc_enable")
        if enabled is None:
            continue
        paused = {each.strip() for each in str(enabled).split(",")}
        idle = [str(each) for each in row.classes if str(each) not in paused]
        if idle:
            yield (
                f"{row.place}: has headroom, but pfc_enable of {row.group} is {str(enabled)!r}: no pause is"
                f" sent for {', '.join(idle)}"
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


def _watchdog(fields: Mapping[str, Any], place: str) -> Iterator[str]:
    for key, allowed in (("detection_time", DETECTION_MS), ("restoration_time", RESTORATION_MS)):
        if key in fields:
            value = number_of(fields[key], place, key)
            if value not in allowed:
                yield f"{place}: {key} {value} is not from {allowed.start} to {allowed.stop - 1} ms"
