"""Reader of CONFIG_DB JSON: what the lossless priority groups of ports have.

A priority group (`BUFFER_PG`) names a profile (`BUFFER_PROFILE`), whose pool (`BUFFER_POOL`) may have a
shared headroom pool. The port's speed is in `PORT`, its cable's length in `CABLE_LENGTH`. A profile is
lossless if it has `xoff`.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floodway.errors import PlanError
from floodway.names import nearest
from floodway.planning.asics import EXPONENTS
from floodway.planning.sonic.config_checks import disagreements
from floodway.planning.sonic.fields import fault, length_of, number_of, size_of_field
from floodway.planning.sonic.lookup import SPEEDS
from floodway.planning.sonic.row import MEGA, Row, Sheet, TrafficPattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

__all__ = ["READ", "read_config_db"]

#: Tables that are read, or checked as far as the numbers of a lossless class depend on them.
READ = (
    "BUFFER_PG",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "CABLE_LENGTH",
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "LOSSLESS_TRAFFIC_PATTERN",
    "PFC_WD",
    "PORT",
    "PORT_QOS_MAP",
    "QUEUE",
    "WRED_PROFILE",
)
#: So alike are a table and a slip of its name; tables of SONiC are less alike.
ALIKE = 0.85
#: What a profile's name says of speed (Mb/s) and length where SONiC made it.
MADE_NAME = re.compile(r"pg_lossless_(\d+)_(\d+)m_profile")
#: The profile of a class whose numbers the switch computes.
COMPUTED = "NULL"
#: Fields whose value is the name of a row of another table.
REFERENCES = {
    "profile": "BUFFER_PROFILE",
    "pool": "BUFFER_POOL",
    "wred_profile": "WRED_PROFILE",
    "dscp_to_tc_map": "DSCP_TO_TC_MAP",
    "tc_to_queue_map": "TC_TO_QUEUE_MAP",
    "tc_to_pg_map": "TC_TO_PRIORITY_GROUP_MAP",
    "pfc_to_queue_map": "MAP_PFC_PRIORITY_TO_QUEUE",
}
MOST_NAMED = 3

Table = dict[str, dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class _Profile:
    """A lossless profile."""

    name: str
    size: int
    xon: int
    xoff: int
    threshold: int | None
    xon_offset: int | None
    headroom_pool: int | None


def read_config_db(content: Any, file: str) -> Sheet:  # noqa: ANN401 (any JSON value)
    """Read the content of a CONFIG_DB.

    Raises
    ------
    PlanError
        If it is no CONFIG_DB, a table's name is a slip, a reference is written as old versions of SONiC did
        or refers to nothing, or a value is not what it should be; the error names table, key and field.
    """
    tables = _tables(content, file)
    _references(tables, file)
    profiles = _lossless(tables, file)
    rows, notes = [], list(_unread(tables))
    used, computed = set(), 0
    first: dict[tuple[str, int], str] = {}
    for place, ports, classes, name in _groups(tables, file):
        notes += _twice(first, place, ports, classes)
        if name == COMPUTED:
            computed += len(ports)
        if name not in profiles:
            continue
        used.add(name)
        for port in ports:
            row = _row(tables, profiles[name], port, classes, place)
            if row is None:
                notes.append(f"{place}: the cable of {port} has 0m, without lossless classes: not judged")
            else:
                rows.append(row)
    notes += disagreements(tables, rows, file)
    notes += _left_out(tables, computed, [name for name in profiles if name not in used])
    return Sheet(
        file=file, form="CONFIG_DB", rows=tuple(rows), notes=tuple(notes), pattern=_pattern(tables, file)
    )


def _tables(content: object, file: str) -> dict[str, Table]:
    if not isinstance(content, dict) or not all(isinstance(table, dict) for table in content.values()):
        raise PlanError(f"{file}: not a CONFIG_DB: it is an object of tables, each an object", place=file)
    for name, table in content.items():
        near = _slip(name)
        if near is not None:
            text = f"{file}: {name}: no table of SONiC; did you mean {near!r}?"
            raise PlanError(text, place=file, key=name, given=name, allowed=READ, nearest=near)
        wrong = [key for key, fields in table.items() if not isinstance(fields, dict)]
        if name in READ and wrong:
            raise fault(file, f"{name}|{wrong[0]}", "it has no fields; each row is an object")
    if not any(name in READ for name in content):
        text = f"{file}: it has none of the tables that are judged: {', '.join(READ)}"
        raise PlanError(text, place=file, allowed=READ)
    return content


def _slip(name: str) -> str | None:
    """Return the table that a name is a slip of."""
    if name in READ:
        return None
    found = difflib.get_close_matches(name.upper(), READ, n=1, cutoff=ALIKE)
    return found[0] if found else None


def _references(tables: Mapping[str, Table], file: str) -> None:
    """Refuse references as old versions of SONiC wrote them, and those to nothing."""
    for name in READ:
        for key, fields in tables.get(name, {}).items():
            for field, value in fields.items():
                place = f"{file}: {name}|{key}"
                if isinstance(value, str) and re.fullmatch(r"\[[^\]|]+\|[^\]]*\]", value.strip()):
                    plain = value.strip()[1:-1].partition("|")[2]
                    text = f'{value!r} is how old versions of SONiC refer; write "{plain}"'
                    raise PlanError(
                        f"{place}: {field}: {text}", place=place, key=field, given=value, nearest=plain
                    )
                _refers(tables, place, field, value)


def _refers(tables: Mapping[str, Table], place: str, field: str, value: object) -> None:
    target = REFERENCES.get(field)
    # A file may hold a part of the configuration; what it has of a table must be enough for it.
    if target is None or target not in tables or value == COMPUTED or value in tables[target]:
        return
    near = nearest(str(value), tables[target])
    hint = f"; did you mean {near!r}?" if near else ""
    text = f"{place}: {field}: {target} has no {str(value)!r}{hint}"
    raise PlanError(text, place=place, key=field, given=str(value), nearest=near)


def _lossless(tables: Mapping[str, Table], file: str) -> dict[str, _Profile]:
    found = {}
    for name, fields in tables.get("BUFFER_PROFILE", {}).items():
        if "xoff" not in fields:
            continue
        place = f"{file}: BUFFER_PROFILE|{name}"
        for needed in ("size", "pool"):
            if needed not in fields:
                raise fault(place, needed, "the field is missing")
        threshold = "dynamic_th" if "dynamic_th" in fields else "static_th"
        given = fields.get("dynamic_th")
        if given is not None and number_of(given, place, "dynamic_th") not in EXPONENTS:
            what = f"{given!r} is not from {EXPONENTS.start} to {EXPONENTS.stop - 1}"
            raise fault(place, "dynamic_th", what, given=str(given))
        found[name] = _Profile(
            name=name,
            size=size_of_field(fields["size"], place, "size"),
            xon=size_of_field(fields.get("xon", "0"), place, "xon"),
            xoff=size_of_field(fields["xoff"], place, "xoff"),
            threshold=number_of(fields[threshold], place, threshold) if threshold in fields else None,
            xon_offset=(
                size_of_field(fields["xon_offset"], place, "xon_offset") if "xon_offset" in fields else None
            ),
            headroom_pool=_headroom_pool(tables, file, str(fields["pool"])),
        )
    return found


def _headroom_pool(tables: Mapping[str, Table], file: str, pool: str) -> int | None:
    fields = tables.get("BUFFER_POOL", {}).get(pool)
    if fields is None:
        return None
    return size_of_field(fields.get("xoff", "0"), f"{file}: BUFFER_POOL|{pool}", "xoff")


def _groups(
    tables: Mapping[str, Table], file: str
) -> Iterator[tuple[str, tuple[str, ...], tuple[int, ...], str]]:
    """Return place, ports, priority groups and profile of each row of `BUFFER_PG`."""
    for key, fields in tables.get("BUFFER_PG", {}).items():
        place = f"{file}: BUFFER_PG|{key}"
        ports, bar, groups = key.rpartition("|")
        numbers = re.fullmatch(r"([0-7])(?:-([0-7]))?", groups)
        if not bar or not ports or numbers is None:
            raise fault(place, "key", "write PORT|3 or PORT|3-4, with priority groups 0 to 7", given=key)
        first, last = int(numbers[1]), int(numbers[2] or numbers[1])
        if last < first:
            raise fault(place, "key", f"{groups!r} ends before it begins", given=groups)
        # Without a profile the switch computes the numbers, too.
        name = str(fields.get("profile", COMPUTED))
        yield place, tuple(ports.split(",")), tuple(range(first, last + 1)), name


def _twice(
    first: dict[tuple[str, int], str], place: str, ports: Sequence[str], classes: Sequence[int]
) -> Iterator[str]:
    """Name priority groups that an earlier row has, too, of which a switch uses one; keeps the first rows."""
    for port in ports:
        for group in classes:
            before = first.setdefault((port, group), place)
            if before != place:
                yield f"{place}: priority group {group} of {port} is in {before}, too: remove one of them"


def _row(
    tables: Mapping[str, Table], profile: _Profile, port: str, classes: tuple[int, ...], place: str
) -> Row | None:
    """Return a port's row; none if its cable has no length, which switches off lossless classes."""
    made = MADE_NAME.fullmatch(profile.name)
    mbps = _speed(tables, port, made, place)
    metres = _metres(tables, port, made, place)
    if metres == 0:
        return None
    remark = ""
    if made is not None and (int(made[1]), int(made[2])) != (mbps, metres):
        remark = f"the profile is named for {made[1]} Mb/s and {made[2]}m, the port has {mbps} and {metres}m"
    return Row(
        place=place,
        group=port,
        rate_bps=mbps * MEGA,
        length_m=metres,
        size=profile.size,
        xon=profile.xon,
        xoff=profile.xoff,
        threshold=profile.threshold,
        xon_offset=profile.xon_offset,
        classes=classes,
        headroom_pool=profile.headroom_pool,
        remark=remark,
    )


def _speed(tables: Mapping[str, Table], port: str, made: re.Match[str] | None, place: str) -> int:
    ports = tables.get("PORT")
    if ports is None and made is not None:
        return int(made[1])
    fields = (ports or {}).get(port)
    if fields is None or "speed" not in fields:
        raise _unknown(place, port, "speed", "PORT", ports)
    own = f"{place.partition(': ')[0]}: PORT|{port}"
    mbps = number_of(fields["speed"], own, "speed")
    if mbps not in SPEEDS:
        raise fault(own, "speed", f"{mbps} is not a speed in Mb/s, 1 to {SPEEDS.stop - 1}", given=str(mbps))
    return mbps


def _metres(tables: Mapping[str, Table], port: str, made: re.Match[str] | None, place: str) -> int:
    cables = tables.get("CABLE_LENGTH")
    if cables is None and made is not None:
        return int(made[2])
    for name, lengths in (cables or {}).items():
        if port in lengths:
            return length_of(lengths[port], f"{place.partition(': ')[0]}: CABLE_LENGTH|{name}", port)
    known = [each for lengths in (cables or {}).values() for each in lengths]
    raise _unknown(place, port, "length", "CABLE_LENGTH", known)


def _unknown(
    place: str, port: str, what: str, table: str, known: Mapping[str, object] | list[str] | None
) -> PlanError:
    near = nearest(port, known or ())
    hint = f"; did you mean {near!r}?" if near else ""
    text = f"{place}: {port}: its {what} is not known: {table} has no such port{hint}"
    return PlanError(text, place=place, key=port, given=port, nearest=near)


def _pattern(tables: Mapping[str, Table], file: str) -> TrafficPattern | None:
    for name, fields in tables.get("LOSSLESS_TRAFFIC_PATTERN", {}).items():
        place = f"{file}: LOSSLESS_TRAFFIC_PATTERN|{name}"
        for needed in ("mtu", "small_packet_percentage"):
            if needed not in fields:
                raise fault(place, needed, "the field is missing")
        return TrafficPattern(
            mtu=size_of_field(fields["mtu"], place, "mtu"),
            small_percent=number_of(fields["small_packet_percentage"], place, "small_packet_percentage"),
        )
    return None


def _unread(tables: Mapping[str, Table]) -> Iterator[str]:
    unread = [name for name in tables if name not in READ]
    if unread:
        yield f"tables that are not read: {', '.join(unread)}"


def _left_out(tables: Mapping[str, Table], computed: int, unused: list[str]) -> Iterator[str]:
    if computed:
        groups = "1 priority group has" if computed == 1 else f"{computed} priority groups have"
        yield f"{groups} no profile (NULL): the switch computes the headroom, no numbers to judge"
    elif not any("xoff" in fields for fields in tables.get("BUFFER_PROFILE", {}).values()):
        yield (
            "no BUFFER_PROFILE has xoff: SONiC makes lossless profiles from pg_profile_lookup.ini when it"
            " starts; judge that file"
        )
    if unused:
        more = f" and {len(unused) - MOST_NAMED} more" if len(unused) > MOST_NAMED else ""
        yield f"lossless profiles that no port uses, not judged: {', '.join(unused[:MOST_NAMED])}{more}"
