"""Ports and cables of a CONFIG_DB: rate, length, and the largest frame."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floodway.common.errors import PlanError
from floodway.common.names import nearest
from floodway.planning.sonic.lookup import SPEEDS
from floodway.planning.sonic.row import fault, length_of, number_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from floodway.planning.sonic.json_tables import Table

__all__ = ["AROUND_MTU", "DEFAULT_MTU", "Link", "has_link", "lengths_of", "link_of", "named_for", "speed_of"]

#: Names of profiles that SONiC generated: speed in Mb/s, and length in metres.
MADE_NAME = re.compile(r"pg_lossless_(\d+)_(\d+)m_profile")
#: Bytes of the largest frame beside `mtu`: Ethernet, a VLAN tag, FCS (`setPortMtu` of swss, `portsorch.cpp`).
AROUND_MTU = 22
#: `sonic-port`: what `mtu` may be, and the value of a port that has none (`portmgr`).
MTUS, DEFAULT_MTU = range(68, 9217), 9100


@dataclass(frozen=True, kw_only=True)
class Link:
    """A port and its cable.

    Attributes
    ----------
    mbps, metres
        Speed in Mb/s and length in metres.
    mtu
        The largest packet, in bytes; none where the file has no ports.
    port_lanes
        Its SerDes, with commas between.
    """

    mbps: int
    metres: int
    mtu: int | None
    port_lanes: str

    @property
    def frame_bytes(self) -> int | None:
        """The largest frame."""
        return None if self.mtu is None else self.mtu + AROUND_MTU


def named_for(profile: str) -> tuple[int, int] | None:
    """Return speed and length for which SONiC named a profile; none for other names."""
    match = MADE_NAME.fullmatch(profile)
    return None if match is None else (int(match[1]), int(match[2]))


def has_link(tables: Mapping[str, Table], port: str) -> bool:
    """Whether the file says speed and length of a port."""
    speed = "speed" in tables.get("PORT", {}).get(port, {})
    return speed and any(port in lengths for lengths in tables.get("CABLE_LENGTH", {}).values())


def link_of(tables: Mapping[str, Table], port: str, nominal: tuple[int, int] | None, place: str) -> Link:
    """Return a port and its cable; what the file has no table of is taken from a profile's name.

    Raises
    ------
    PlanError
        If speed or length is not known, or is not a number; the error names the table.
    """
    file = place.partition(": ")[0]
    fields = tables.get("PORT", {}).get(port, {})
    return Link(
        mbps=_speed(tables, port, nominal, place),
        metres=_metres(tables, port, nominal, place),
        mtu=_mtu(fields, f"{file}: PORT|{port}") if "PORT" in tables else None,
        port_lanes=str(fields.get("lanes", "")),
    )


def lengths_of(tables: Mapping[str, Table], port: str, file: str) -> dict[str, int]:
    """Return the length of a port's cable, in metres, by the row of `CABLE_LENGTH` that has it.

    Raises
    ------
    PlanError
        If one is no length.
    """
    return {
        name: length_of(lengths[port], f"{file}: CABLE_LENGTH|{name}", port)
        for name, lengths in tables.get("CABLE_LENGTH", {}).items()
        if port in lengths
    }


def _mtu(fields: Mapping[str, Any], place: str) -> int:
    mtu = number_of(fields.get("mtu", DEFAULT_MTU), place, "mtu")
    if mtu not in MTUS:
        text = f"{mtu} is not from {MTUS.start} to {MTUS.stop - 1}"
        raise fault(place, "mtu", text, given=str(mtu))
    return mtu


def _speed(tables: Mapping[str, Table], port: str, nominal: tuple[int, int] | None, place: str) -> int:
    ports = tables.get("PORT")
    if ports is None and nominal is not None:
        return nominal[0]
    fields = (ports or {}).get(port)
    if fields is None:
        raise _unknown(place, port, "speed", "PORT", ports)
    port_place = f"{place.partition(': ')[0]}: PORT|{port}"
    if "speed" not in fields:
        raise fault(port_place, "speed", "the field is missing, and lossless classes of the port need it")
    return speed_of(fields, port_place)


def speed_of(fields: Mapping[str, Any], place: str) -> int:
    """Return the speed of a row of `PORT` in Mb/s.

    Raises
    ------
    PlanError
        If it is not a whole number, or not from 1 to 1,600,000.
    """
    mbps = number_of(fields["speed"], place, "speed")
    if mbps not in SPEEDS:
        raise fault(place, "speed", f"{mbps} is not a speed in Mb/s, 1 to {SPEEDS.stop - 1}", given=str(mbps))
    return mbps


def _metres(tables: Mapping[str, Table], port: str, nominal: tuple[int, int] | None, place: str) -> int:
    cables = tables.get("CABLE_LENGTH")
    if cables is None and nominal is not None:
        return nominal[1]
    lengths = lengths_of(tables, port, place.partition(": ")[0])
    if lengths:
        # Of rows that contradict each other the longer one is safe.
        return max(lengths.values())
    port_names = [name for row in (cables or {}).values() for name in row]
    raise _unknown(place, port, "length", "CABLE_LENGTH", port_names)


def _unknown(
    place: str, port: str, quantity: str, table: str, port_names: Mapping[str, object] | list[str] | None
) -> PlanError:
    near = nearest(port, port_names or ())
    hint = f"; did you mean {near!r}?" if near else ""
    text = f"{place}: {port}: its {quantity} is not known: {table} has no such port{hint}"
    return PlanError(text, place=place, key=port, given=port, nearest=near)
