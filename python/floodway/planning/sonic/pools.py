"""Ports, cables, buffer pools and profiles of a CONFIG_DB, and contradictions between their numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

from floodway.common.errors import PlanError
from floodway.common.names import nearest
from floodway.planning.asics import EXPONENTS, counts_headroom, exponents
from floodway.planning.sonic.lookup import SPEEDS
from floodway.planning.sonic.row import fault, length_of, number_of, number_within, size_of_field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from floodway.planning.sonic.json_tables import Table

__all__ = ["AROUND_MTU", "COMPUTED", "DEFAULT_MTU", "Link", "Pool", "Profile", "has_link", "impossible"]
__all__ += ["lengths_of", "link_of", "named_for", "pool_of", "profile_of", "speed_of", "unusual"]

#: The profile of a class whose numbers the switch computes.
COMPUTED = "NULL"
#: Names of profiles that SONiC generated: speed in Mb/s, and length in metres.
MADE_NAME = re.compile(r"pg_lossless_(\d+)_(\d+)m_profile")
#: Bytes of the largest frame beside `mtu`: Ethernet, a VLAN tag, FCS (`setPortMtu` of swss, `portsorch.cpp`).
AROUND_MTU = 22
#: `sonic-port`: what `mtu` may be, and the value of a port that has none (`portmgr`).
MTUS, DEFAULT_MTU = range(68, 9217), 9100


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A row of `BUFFER_POOL`, in bytes.

    Attributes
    ----------
    name
        Its key.
    kind
        ``ingress``, ``egress`` or ``both``; empty where the file does not say.
    size
        Its memory; none where the switch computes it.
    xoff
        Headroom that ports share; 0 for none.
    """

    name: str
    kind: str
    size: int | None
    xoff: int

    def held(self, *, counts_headroom: bool) -> int | None:
        """Return the most that it and its headroom hold; none where the switch computes its size."""
        if self.size is None or counts_headroom:
            return self.size
        return self.size + self.xoff


@dataclass(frozen=True, kw_only=True)
class Profile:
    """A row of `BUFFER_PROFILE`, in bytes.

    Attributes
    ----------
    name
        Its key.
    size
        Reserved.
    xon, xoff, xon_offset
        Thresholds; `xoff` is the headroom, none for a profile that has none of its own.
    exponent, static
        The limit of what it has of its pool: `dynamic_th`, or `static_th` in bytes; none where missing.
    pool_name
        Its pool.
    pool
        The pool's row; none where the file has no pools.
    is_computed
        Whether the switch computes its headroom (`headroom_type`).
    """

    name: str
    size: int
    xon: int
    xoff: int | None
    xon_offset: int | None
    exponent: int | None
    static: int | None
    pool_name: str
    pool: Pool | None
    is_computed: bool

    @property
    def threshold(self) -> int | None:
        """The profile's limit of its share: the exponent, or bytes."""
        return self.static if self.exponent is None else self.exponent

    @property
    def alone(self) -> int | None:
        """Bytes of its pool that it may have when nothing else has any; none where that is not known."""
        if self.static is not None and self.exponent is None:
            return self.static
        size = None if self.pool is None else self.pool.size
        return None if size is None or self.exponent is None else alone(size, self.exponent)

    @property
    def most(self) -> int | None:
        """Bytes that it may have at most, with its reserve; none where that is not known."""
        limit, size = self.alone, None if self.pool is None else self.pool.size
        if limit is None:
            return None
        # A static limit may be larger than its pool.
        return (limit if size is None else min(limit, size)) + self.size


def alone(size: int, exponent: int) -> int:
    """Return the most of a pool that one class alone occupies: alpha / (1 + alpha), alpha = 2^exponent."""
    alpha = Fraction(2) ** exponent
    return floor(alpha / (1 + alpha) * size)


def pool_of(tables: Mapping[str, Table], name: str, file: str) -> Pool | None:
    """Return a pool; none where the file has no row for it.

    Raises
    ------
    PlanError
        If a field is not a number.
    """
    fields = tables.get("BUFFER_POOL", {}).get(name)
    if fields is None:
        return None
    place = f"{file}: BUFFER_POOL|{name}"
    return Pool(
        name=name,
        kind=str(fields.get("type", "")),
        size=_bytes(fields, place, "size"),
        xoff=_bytes(fields, place, "xoff") or 0,
    )


def profile_of(tables: Mapping[str, Table], name: str, file: str) -> Profile:
    """Return a profile that the file has.

    Raises
    ------
    PlanError
        If a field is missing or out of its range.
    """
    fields = tables["BUFFER_PROFILE"][name]
    place = f"{file}: BUFFER_PROFILE|{name}"
    computed = str(fields.get("headroom_type", "")) == "dynamic" and "xoff" not in fields
    for needed in ("pool",) if computed else ("size", "pool"):
        if needed not in fields:
            raise fault(place, needed, "the field is missing")
    limits = [key for key in ("dynamic_th", "static_th") if key in fields]
    if not limits and not computed:
        text = "the field is missing, and so is static_th: one of them is the limit"
        raise fault(place, "dynamic_th", text)
    if len(limits) > 1:
        text = "dynamic_th is given as well, and only one of them counts: remove one"
        raise fault(place, "static_th", text)
    return Profile(
        name=name,
        size=_bytes(fields, place, "size") or 0,
        xon=_bytes(fields, place, "xon") or 0,
        xoff=_bytes(fields, place, "xoff"),
        xon_offset=_bytes(fields, place, "xon_offset"),
        exponent=_exponent(fields, place),
        static=_bytes(fields, place, "static_th"),
        pool_name=str(fields["pool"]),
        pool=pool_of(tables, str(fields["pool"]), file),
        is_computed=computed,
    )


def _bytes(fields: Mapping[str, Any], place: str, key: str) -> int | None:
    return size_of_field(fields[key], place, key) if key in fields else None


def _exponent(fields: Mapping[str, Any], place: str) -> int | None:
    threshold = fields.get("dynamic_th")
    if threshold is None:
        return None
    exponent = number_of(threshold, place, "dynamic_th")
    if exponent not in EXPONENTS:
        text = f"{threshold!r} is not from {EXPONENTS.start} to {EXPONENTS.stop - 1}"
        raise fault(place, "dynamic_th", text, given=str(threshold))
    return exponent


def impossible(profile: Profile, asic: str, *, whose: str = "its") -> Iterator[str]:
    """Say why a class cannot have what its profile gives it.

    Parameters
    ----------
    profile
        The profile of a priority group or a queue.
    asic
        The switch's chip; empty where it is not known.
    whose
        Whose pool it is, in words.
    """
    pool = profile.pool
    if pool is None or pool.size is None:
        return
    held = pool.held(counts_headroom=counts_headroom(asic))
    if pool.size == 0:
        yield f"{whose} pool {pool.name} is empty (BUFFER_POOL: size)"
    elif counts_headroom(asic) and pool.size < pool.xoff:
        headroom = f"its own headroom of {pool.xoff:,} (BUFFER_POOL: size, xoff)"
        yield f"{whose} pool {pool.name} has {pool.size:,} bytes, less than {headroom}"
    elif held is not None and profile.size > held:
        reserves = f"{whose} profile {profile.name} reserves {profile.size:,} bytes"
        yield f"{reserves}, more than the {held:,} of {pool.name}"


def unusual(profile: Profile, asic: str) -> Iterator[str]:
    """Yield warnings of settings of a profile that a switch refuses, or that have no effect."""
    allowed = exponents(asic)
    if profile.exponent is not None and profile.exponent not in allowed:
        takes = f"from {allowed.start} to {allowed.stop - 1}, which Broadcom's chips take"
        yield f"dynamic_th {profile.exponent} of {profile.name} is not {takes}"
    pauses = profile.most
    if profile.xoff is not None and pauses is not None and profile.xon > pauses:
        most = f"the {pauses:,} bytes that a group may hold before it pauses"
        yield f"xon {profile.xon:,} of {profile.name} is more than {most}"


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
    return number_within(fields.get("mtu", DEFAULT_MTU), place, "mtu", MTUS)


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
    return number_within(fields["speed"], place, "speed", SPEEDS, "a speed in Mb/s,")


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
