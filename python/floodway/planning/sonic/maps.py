"""The path of a lossless class through a port: DSCP, traffic class, priority group, queue, PFC priority.

A packet's DSCP gives its traffic class (`DSCP_TO_TC_MAP`), the class its priority group at ingress
(`TC_TO_PRIORITY_GROUP_MAP`) and its queue at egress (`TC_TO_QUEUE_MAP`). A group pauses the PFC priority of
`PFC_PRIORITY_TO_PRIORITY_GROUP_MAP`, and a pause that comes in stops the queue of
`MAP_PFC_PRIORITY_TO_QUEUE`; without these two maps it is the one of the same number. A port without one of
the first three leads no class anywhere: SAI's default is no map (`saiport.h`). `PORT_QOS_MAP` says which
maps a port has, and for which priorities it sends pauses.

At egress a queue's own profile may drop packets of a lossless class, and thresholds say when they are marked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floodway.planning.asics import counts_headroom
from floodway.planning.sonic.pools import COMPUTED, Pool, Profile, impossible, profile_of, unusual
from floodway.planning.sonic.row import fault, number_within, size_of_field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from floodway.planning.sonic.json_tables import Table

__all__ = ["ALL_PORTS", "COLOURS", "MAPS", "RESERVED_DSCPS", "Port", "Queues", "check_maps", "port_of"]
__all__ += ["queues_of"]

#: Tables of maps by the field of `PORT_QOS_MAP` that names one of their rows.
MAPS = {
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "dot1p_to_tc_map": "DOT1P_TO_TC_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "pfc_to_pg_map": "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
}
#: Row of `PORT_QOS_MAP` for the whole switch, which has the map from DSCP of ports without their own.
ALL_PORTS = "global"
PRIORITIES = re.compile(r"([0-7](\s*,\s*[0-7])*)?")
DSCPS, EIGHT, QUEUES = range(64), range(8), range(10)
#: Noun and range of the numbers of each map: of its keys, and of its values.
NUMBERS = {
    "DSCP_TO_TC_MAP": (("DSCP", DSCPS), ("traffic class", EIGHT)),
    "DOT1P_TO_TC_MAP": (("priority of VLAN tags", EIGHT), ("traffic class", EIGHT)),
    "TC_TO_PRIORITY_GROUP_MAP": (("traffic class", EIGHT), ("priority group", EIGHT)),
    "TC_TO_QUEUE_MAP": (("traffic class", EIGHT), ("queue", QUEUES)),
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP": (("PFC priority", EIGHT), ("priority group", EIGHT)),
    "MAP_PFC_PRIORITY_TO_QUEUE": (("PFC priority", EIGHT), ("queue", QUEUES)),
}
#: DSCPs whose packets are not RDMA's data in any network, and whose they are.
RESERVED_DSCPS = {0: "all traffic that is not marked", 48: "CNPs and routing protocols"}
COLOURS = ("green", "yellow", "red")
#: A queue or several in a row.
RANGE = re.compile(r"([0-9]{1,2})(?:-([0-9]{1,2}))?")

Findings = tuple[list[str], list[str]]
Rows = tuple["Mapping[str, Any]", ...]


@dataclass(frozen=True, kw_only=True)
class Map:
    """A map of a port.

    Attributes
    ----------
    name
        ``TABLE|ROW``; empty where the port has none.
    values
        The target of each number; None where the file does not have the map's table.
    """

    name: str = ""
    values: Mapping[int, int] | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether the port has one that the file does not have."""
        return bool(self.name) and self.values is None

    def sources(self, target: int) -> tuple[int, ...]:
        """Return the numbers that the map leads to a number."""
        return tuple(sorted(key for key, value in (self.values or {}).items() if value == target))


@dataclass(frozen=True, kw_only=True)
class Class:
    """The path of the packets of a priority group through a port, with its faults.

    Attributes
    ----------
    faults
        Why the group is not lossless.
    warnings
        Warnings with which nothing is lost.
    queues
        The queues in which its traffic classes leave, as far as the maps are known.
    dscps
        The DSCP of its packets, as far as the map is known.
    """

    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    queues: tuple[int, ...] = ()
    dscps: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port's row of `PORT_QOS_MAP` with its maps.

    Attributes
    ----------
    paused
        Priorities for which it sends pauses (`pfc_enable`), in words as well.
    watched
        Priorities that the watchdog watches (`pfcwd_sw_enable`); none where the field is missing.
    maps
        By their field of `PORT_QOS_MAP`.
    """

    paused: frozenset[int]
    paused_text: str
    watched: frozenset[int] | None
    maps: Mapping[str, Map]

    def group_of(self, priority: int) -> int | None:
        """Return the priority group that pauses a priority; none where no map in the file leads to one."""
        return self._led("pfc_to_pg_map", priority)

    def paused_by(self, group: int) -> tuple[int, ...]:
        """Return the priorities that a group pauses; all paused ones where the map is not in the file."""
        unknown = self.maps["pfc_to_pg_map"].is_unknown
        return tuple(
            sorted(priority for priority in self.paused if unknown or self.group_of(priority) == group)
        )

    def unknown(self) -> set[str]:
        """Return the tables of maps that the port names and the file does not have."""
        return {MAPS[field] for field, mapping in self.maps.items() if mapping.is_unknown}

    def way(self, group: int) -> Class:
        """Follow the packets of a priority group with a lossless profile."""
        priorities = self.paused_by(group)
        faults = [] if priorities else [self._not_paused(group)]
        to_group, to_queue = self.maps["tc_to_pg_map"], self.maps["tc_to_queue_map"]
        if not to_group.name:
            faults.append("the port has no tc_to_pg_map, which leads traffic classes to priority groups")
        if not to_queue.name:
            faults.append("the port has no tc_to_queue_map: all traffic classes are in one queue")
        if to_group.values is None:
            return Class(faults=tuple(faults))
        classes = to_group.sources(group)
        if not classes:
            faults.append(f"no traffic class is in priority group {group} ({to_group.name})")
            return Class(faults=tuple(faults))
        problems, dscps, used = self._entered(classes)
        faults += problems
        faults += self._not_stopped(used, priorities) if priorities else ()
        queues = tuple(
            sorted({queue for queue in map((to_queue.values or {}).get, used) if queue is not None})
        )
        warnings = (*self._beside(classes, priorities), *_of_others(dscps))
        return Class(faults=tuple(faults), warnings=warnings, queues=queues, dscps=dscps)

    def _led(self, field: str, number: int) -> int | None:
        """Return the number that a map leads a number to; the same one where the port has no map."""
        mapping = self.maps[field]
        if mapping.is_unknown:
            return None
        return number if mapping.values is None else mapping.values.get(number)

    def _not_paused(self, group: int) -> str:
        to_group = self.maps["pfc_to_pg_map"]
        via = f", and {to_group.name} leads none of them to group {group}" if to_group.name else ""
        return f"no pause is sent for priority {group}: pfc_enable is {self.paused_text!r}{via}"

    def _entered(self, classes: tuple[int, ...]) -> tuple[list[str], tuple[int, ...], tuple[int, ...]]:
        """Return what is wrong, the DSCP that lead to traffic classes, and the classes that have packets."""
        by_dscp, by_tag = self.maps["dscp_to_tc_map"], self.maps["dot1p_to_tc_map"]
        if not by_dscp.name and not by_tag.name:
            return ["the port has no dscp_to_tc_map: all packets are in one traffic class"], (), classes
        if by_dscp.is_unknown or by_tag.is_unknown:
            return [], (), classes
        used = tuple(number for number in classes if by_dscp.sources(number) or by_tag.sources(number))
        if not used:
            names = " or ".join(mapping.name for mapping in (by_dscp, by_tag) if mapping.name)
            listed = ", ".join(str(number) for number in classes)
            source = "DSCP" if by_dscp.name else "priority of VLAN tags"
            return [f"no {source} is in traffic class {listed} ({names})"], (), classes
        dscps = tuple(sorted(dscp for number in used for dscp in by_dscp.sources(number)))
        return [], dscps, used

    def _not_stopped(self, classes: tuple[int, ...], priorities: tuple[int, ...]) -> list[str]:
        """Name traffic classes whose queue is not stopped by a pause of the priority that they pause."""
        queues = self.maps["tc_to_queue_map"].values
        stopped = {self._led("pfc_to_queue_map", priority) for priority in priorities}
        if queues is None or self.maps["pfc_to_queue_map"].is_unknown:
            return []
        problems = []
        listed = ", ".join(str(priority) for priority in priorities)
        for number in classes:
            queue = queues.get(number)
            if queue is None:
                problems.append(f"traffic class {number} has no queue ({self.maps['tc_to_queue_map'].name})")
            elif queue not in stopped:
                stops = f"a pause for priority {listed} does not stop"
                problems.append(f"traffic class {number} leaves by queue {queue}, which {stops}")
        return problems

    def _beside(self, classes: tuple[int, ...], priorities: tuple[int, ...]) -> tuple[str, ...]:
        """Name traffic classes that a pause stops as well, though their own group is another."""
        queues, groups = self.maps["tc_to_queue_map"].values, self.maps["tc_to_pg_map"].values or {}
        if queues is None or self.maps["pfc_to_queue_map"].is_unknown:
            return ()
        stopped = {self._led("pfc_to_queue_map", priority) for priority in priorities}
        stopped |= {queues.get(number) for number in classes}
        sharing = [one for one, queue in sorted(queues.items()) if queue in stopped and one not in classes]
        return tuple(
            f"traffic class {number} of priority group {groups.get(number, 0)} shares queue {queues[number]}"
            " and stops with it"
            for number in sharing
        )


def port_of(tables: Mapping[str, Table], port: str, file: str) -> Port:
    """Return a port's row of `PORT_QOS_MAP`; one without a row pauses nothing.

    Raises
    ------
    PlanError
        If a priority or a number of a map is invalid.
    """
    rows = tables.get("PORT_QOS_MAP", {})
    fields = dict(rows.get(port, {}))
    if port in rows and "dscp_to_tc_map" not in fields and "dot1p_to_tc_map" not in fields:
        fields |= {key: value for key, value in rows.get(ALL_PORTS, {}).items() if key == "dscp_to_tc_map"}
    place = f"{file}: PORT_QOS_MAP|{port}"
    text = str(fields.get("pfc_enable", ""))
    watched = fields.get("pfcwd_sw_enable")
    return Port(
        paused=_priorities(text, place, "pfc_enable"),
        paused_text=text,
        watched=None if watched is None else _priorities(str(watched), place, "pfcwd_sw_enable"),
        maps={field: _map(tables, fields, field, file) for field in MAPS},
    )


def check_maps(tables: Mapping[str, Table], file: str) -> None:
    """Refuse numbers that no map has, in maps that no port names as well.

    Raises
    ------
    PlanError
        If a key or a value is out of its range.
    """
    for table in NUMBERS:
        for name in tables.get(table, {}):
            _values(tables, table, name, file)


def _of_others(dscps: tuple[int, ...]) -> Iterator[str]:
    """Yield warnings of DSCPs that lead to the class and belong to other traffic."""
    for dscp in dscps:
        if dscp in RESERVED_DSCPS:
            yield f"DSCP {dscp} leads to the class, which is that of {RESERVED_DSCPS[dscp]} (DSCP_TO_TC_MAP)"


def _priorities(text: str, place: str, key: str) -> frozenset[int]:
    plain = text.strip()
    if PRIORITIES.fullmatch(plain) is None:
        raise fault(place, key, f'{text!r} is not a list of priorities like "3,4", 0 to 7', given=text)
    return frozenset(int(digit) for digit in plain.split(",") if digit.strip())


def _map(tables: Mapping[str, Table], fields: Mapping[str, Any], field: str, file: str) -> Map:
    table, name = MAPS[field], fields.get(field)
    if not name:
        return Map()
    if table not in tables:
        return Map(name=f"{table}|{name}")
    return Map(name=f"{table}|{name}", values=_values(tables, table, str(name), file))


def _values(tables: Mapping[str, Table], table: str, name: str, file: str) -> dict[int, int]:
    place = f"{file}: {table}|{name}"
    led, to = ((numbers, f"a {label},") for label, numbers in NUMBERS[table])
    return {
        number_within(key, place, str(key), *led): number_within(value, place, str(key), *to)
        for key, value in tables[table].get(name, {}).items()
    }


@dataclass(frozen=True, kw_only=True)
class Queues:
    """Rows of `BUFFER_QUEUE` and `QUEUE` by port and queue.

    Attributes
    ----------
    buffers, marks
        The fields of each of their rows; none where the file does not have the table.
    tables, file
        All tables, and the file's name.
    asic
        The switch's chip; empty where it is not known.
    """

    buffers: Mapping[tuple[str, int], Rows] | None
    marks: Mapping[tuple[str, int], Rows] | None
    tables: Mapping[str, Table]
    file: str
    asic: str = ""

    def judge(self, port: str, queue: int, profile: Profile | None) -> Findings:
        """Return faults and warnings of a queue whose packets are in a lossless class of a profile."""
        ingress = None if profile is None else profile.pool
        faults = list(dict.fromkeys(self._dropped(port, queue, ingress)))
        egress_profiles = [egress for egress in self.profiles(port, queue) if egress is not None]
        warnings = list(
            dict.fromkeys(text for egress in egress_profiles for text in unusual(egress, self.asic))
        )
        fields = {
            key: value for row in (self.marks or {}).get((port, queue), ()) for key, value in row.items()
        }
        name = str(fields.get("wred_profile", ""))
        wred = self.tables.get("WRED_PROFILE", {}).get(name)
        if wred is not None:
            marking_faults, marking_warnings = self._marked(wred, f"WRED_PROFILE|{name}", queue)
            faults += marking_faults
            warnings += marking_warnings
            if profile is not None:
                warnings += self._too_late(wred, f"WRED_PROFILE|{name}", queue, profile)
        return faults, warnings

    def profiles(self, port: str, queue: int) -> list[Profile | None]:
        """Return the profile that each row has for a queue; none where the file does not have it."""
        rows = (self.buffers or {}).get((port, queue), ())
        names = [str(fields.get("profile", COMPUTED)) for fields in rows]
        profiles = self.tables.get("BUFFER_PROFILE", {})
        return [profile_of(self.tables, name, self.file) if name in profiles else None for name in names]

    def _dropped(self, port: str, queue: int, ingress: Pool | None) -> Iterator[str]:
        """Say why a queue drops packets that ingress has admitted, by the worst of its rows."""
        if self.buffers is None:
            return
        if (port, queue) not in self.buffers:
            yield f"queue {queue} has no profile at egress (BUFFER_QUEUE)"
            return
        for profile in self.profiles(port, queue):
            if profile is not None:
                yield from self._full(profile, queue, ingress)
            elif "BUFFER_PROFILE" in self.tables:
                yield f"queue {queue} has no profile at egress (BUFFER_QUEUE: profile is NULL)"

    def _full(self, profile: Profile, queue: int, ingress: Pool | None) -> Iterator[str]:
        pool = profile.pool
        if pool is not None and pool.kind == "ingress":
            yield f"queue {queue} has profile {profile.name} of {pool.name}, which is a pool of ingress"
            return
        reasons = list(impossible(profile, self.asic, whose=f"queue {queue}'s"))
        yield from reasons or _too_small(profile, queue, ingress, counts_headroom=counts_headroom(self.asic))

    def _marked(self, wred: Mapping[str, Any], name: str, queue: int) -> Findings:
        """Return colours that are dropped instead of marked: green is that of packets without a policer."""
        faults: list[str] = []
        warnings: list[str] = []
        for colour in COLOURS:
            if not _is_on(wred, colour) or _is_marked(wred, colour):
                continue
            ecn = wred.get("ecn", "ecn_none")
            text = f"{name} drops {colour} packets of queue {queue} instead of marking them: ecn is {ecn}"
            (faults if colour == "green" else warnings).append(text)
        return faults, warnings

    def _too_late(self, wred: Mapping[str, Any], name: str, queue: int, profile: Profile) -> Iterator[str]:
        """Say that pauses come before marks, with which senders do not slow down before they are stopped."""
        first = "green_min_threshold"
        if not (_is_on(wred, "green") and _is_marked(wred, "green") and first in wred):
            return
        begins, alone = size_of_field(wred[first], f"{self.file}: {name}", first), profile.alone
        if alone is None or begins <= alone + profile.size:
            return
        size = None if profile.pool is None else profile.pool.size
        never = size is not None and begins >= size + (profile.pool.xoff if profile.pool else 0)
        text = f"marks of queue {queue} begin at {begins:,} bytes ({name}), "
        if never:
            text += f"more than the pool of {size:,} bytes can hold, so that they never come: "
        yield text + f"PFC comes first, and pauses a port that is alone at {alone:,} bytes of the pool"


def queues_of(tables: Mapping[str, Table], file: str, asic: str = "") -> Queues:
    """Return the queues of all ports of a switch with a chip, whose name may be empty.

    Raises
    ------
    PlanError
        If a key is not a port with a queue or several.
    """
    buffers, marks = (_rows(tables, table, file) for table in ("BUFFER_QUEUE", "QUEUE"))
    return Queues(buffers=buffers, marks=marks, tables=tables, file=file, asic=asic)


def _rows(tables: Mapping[str, Table], table: str, file: str) -> dict[tuple[str, int], Rows] | None:
    if table not in tables:
        return None
    by_queue: dict[tuple[str, int], Rows] = {}
    for key, fields in tables[table].items():
        rest, bar, queues = key.rpartition("|")
        numbers = RANGE.fullmatch(queues)
        if not bar or numbers is None:
            raise fault(f"{file}: {table}|{key}", "key", "write PORT|3 or PORT|3-4", given=key)
        # In a chassis the host and the chip are before the port.
        for port in rest.rpartition("|")[2].split(","):
            for queue in range(int(numbers[1]), int(numbers[2] or numbers[1]) + 1):
                by_queue[port, queue] = (*by_queue.get((port, queue), ()), fields)
    return by_queue


def _too_small(profile: Profile, queue: int, ingress: Pool | None, *, counts_headroom: bool) -> Iterator[str]:
    """Say that a queue is full before its ingress pool and the headroom are, so that no pause protects it."""
    pool, limit = profile.pool, profile.most
    size = None if pool is None else pool.size
    if profile.exponent is not None and pool is not None and size is None:
        # The switch gives pools without a size the same.
        if ingress is not None and ingress.size is None:
            share = f"{profile.name} gives it a share of {profile.pool_name}, which is as large"
            yield f"queue {queue} drops before its ingress pool is full: {share}"
        return
    needed = None if ingress is None else ingress.held(counts_headroom=counts_headroom)
    if limit is None or needed is None or ingress is None or limit >= needed:
        return
    beside = "" if counts_headroom or not ingress.xoff else " and its headroom"
    drops = f"queue {queue} drops from {limit:,} bytes on ({profile.name} of {profile.pool_name})"
    yield f"{drops}, and {needed:,} may come in ({ingress.name}{beside})"


def _is_on(wred: Mapping[str, Any], colour: str) -> bool:
    return str(wred.get(f"wred_{colour}_enable", "false")).lower() == "true"


def _is_marked(wred: Mapping[str, Any], colour: str) -> bool:
    marked = str(wred.get("ecn", "ecn_none")).split("_")
    return "all" in marked or colour in marked
