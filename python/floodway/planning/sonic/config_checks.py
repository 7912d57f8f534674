"""What parts of a CONFIG_DB must agree on: classes that pause, thresholds of marks, times of the watchdog."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from floodway.planning.sonic.fields import number_of, size_of_field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.planning.sonic.row import Row

__all__ = ["DETECTION_MS", "RESTORATION_MS", "disagreements"]

#: `sonic-pfcwd`: `detection_time` and `restoration_time`, ms.
DETECTION_MS, RESTORATION_MS = range(100, 5001), range(100, 60_001)
COLOURS = ("green", "yellow", "red")


def disagreements(
    tables: Mapping[str, Mapping[str, Mapping[str, Any]]], rows: Sequence[Row], file: str
) -> Iterator[str]:
    """Return what does not agree, though each value is one.

    Raises
    ------
    PlanError
        If a number is none.
    """
    yield from _not_paused(tables.get("PORT_QOS_MAP", {}), rows)
    for name, fields in tables.get("WRED_PROFILE", {}).items():
        yield from _marks(fields, f"{file}: WRED_PROFILE|{name}")
    for port, fields in tables.get("PFC_WD", {}).items():
        yield from _watchdog(fields, f"{file}: PFC_WD|{port}")


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
