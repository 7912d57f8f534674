"""Reader of CONFIG_DB JSON: the lossless classes of ports, and the faults on their packets' path.

A priority group (`BUFFER_PG`) names a profile (`BUFFER_PROFILE`), whose pool (`BUFFER_POOL`) may have a
shared headroom pool. The port's speed is in `PORT`, its cable's length in `CABLE_LENGTH`. A profile is
lossless if it has `xoff`, or if the switch computes its headroom. `PORT_QOS_MAP` says for which priorities a
port sends pauses, and which maps lead packets to a group and a queue.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any

from floodway.common.errors import PlanError
from floodway.common.names import nearest
from floodway.planning.asics import asics, chip_of
from floodway.planning.sonic.classes import Config, Group, groups_of, rows_of
from floodway.planning.sonic.config_checks import disagreements, over_subscribed
from floodway.planning.sonic.json_tables import Table, tables_of
from floodway.planning.sonic.maps import COLOURS, MAPS, check_maps
from floodway.planning.sonic.pools import COMPUTED
from floodway.planning.sonic.row import Row, Sheet, fault
from floodway.results.quantities import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


__all__ = ["NEEDED", "READ", "read_config_db"]

#: Tables without which it is not known whether a class is lossless.
NEEDED = (
    "BUFFER_PG",
    "BUFFER_POOL",
    "BUFFER_PROFILE",
    "BUFFER_QUEUE",
    "CABLE_LENGTH",
    "DSCP_TO_TC_MAP",
    "PFC_WD",
    "PORT",
    "PORT_QOS_MAP",
    "QUEUE",
    "TC_TO_PRIORITY_GROUP_MAP",
    "TC_TO_QUEUE_MAP",
)
#: Tables that are read, or checked as far as lossless classes depend on them.
READ = (
    *NEEDED,
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER",
    "DEVICE_METADATA",
    "DOT1P_TO_TC_MAP",
    "LOSSLESS_TRAFFIC_PATTERN",
    "MAP_PFC_PRIORITY_TO_QUEUE",
    "PFC_PRIORITY_TO_PRIORITY_GROUP_MAP",
    "WRED_PROFILE",
)
#: Tables that are not read, though packets of lossless classes may be lost or change their class by them.
DECIDE = (
    "BUFFER_PORT_EGRESS_PROFILE_LIST",
    "BUFFER_PORT_INGRESS_PROFILE_LIST",
    "MPLS_TC_TO_TC_MAP",
    "POLICER",
    "PORT_STORM_CONTROL",
    "SWITCH_TRIMMING",
    "TC_TO_DSCP_MAP",
    "TUNNEL",
)
#: Least similarity of a table's name and a mistyped one, and similar names that are no mistakes.
ALIKE, NO_SLIPS = 0.85, (*READ, *DECIDE, "DSCP_TO_FC_MAP")
OF_COLOUR = ("min_threshold", "max_threshold", "drop_probability")
#: Fields whose value is the name of a row of another table.
REFERENCES = {"profile": "BUFFER_PROFILE", "pool": "BUFFER_POOL", "wred_profile": "WRED_PROFILE", **MAPS}
#: Sizes of a profile, in bytes.
SIZES = ("size", "xoff", "xon", "xon_offset")
#: Fields that are read, and others of SONiC's that are as alike to them as slips are.
FIELDS = {
    "BUFFER_PG": ("profile",),
    "BUFFER_POOL": ("size", "type", "xoff"),
    "BUFFER_PROFILE": ("dynamic_th", "headroom_type", "pool", "static_th", *SIZES),
    "BUFFER_QUEUE": ("profile",),
    "DEFAULT_LOSSLESS_BUFFER_PARAMETER": ("default_dynamic_th", "over_subscribe_ratio"),
    "LOSSLESS_TRAFFIC_PATTERN": ("mtu", "small_packet_percentage"),
    "PFC_WD": ("POLL_INTERVAL", "action", "detection_time", "restoration_time"),
    "PORT": ("lanes", "mtu", "speed"),
    "PORT_QOS_MAP": (*MAPS, "pfc_enable", "pfcwd_sw_enable"),
    "QUEUE": ("wred_profile",),
    "WRED_PROFILE": (
        "ecn",
        *(f"wred_{colour}_enable" for colour in COLOURS),
        *(f"{colour}_{suffix}" for colour in COLOURS for suffix in OF_COLOUR),
    ),
}
OTHER_FIELDS = ("dscp_to_fc_map", "exp_to_fc_map", "tc_to_dot1p_map", "tc_to_dscp_map")
MOST_NAMED = 3


def read_config_db(content: Any, file: str, asic: str = "") -> Sheet:  # noqa: ANN401 (any JSON value)
    """Read the content of a CONFIG_DB.

    Parameters
    ----------
    content
        Its JSON.
    file
        Its name.
    asic
        The switch's chip; by default the one that its `hwsku` tells.

    Raises
    ------
    PlanError
        If it is no CONFIG_DB, a table's name is a slip, a reference is written as old versions of SONiC did
        or refers to nothing, or a value is not what it should be; the error names table, key and field.
    """
    tables = _tables(content, file)
    _fields(tables, file)
    _references(tables, file)
    check_maps(tables, file)
    hwsku = str(tables.get("DEVICE_METADATA", {}).get("localhost", {}).get("hwsku", ""))
    file_chip = chip_of(hwsku)
    config = Config.from_tables(tables, asic or file_chip, file)
    groups = list(groups_of(tables, file))
    rows, notes = rows_of(config, groups)
    return Sheet(
        file=file,
        form="CONFIG_DB",
        rows=rows,
        notes=(*_unread(tables), *_of_chip(hwsku, file_chip, asic), *notes, *_left_out(config, groups, rows)),
        warnings=(*_twice(groups), *disagreements(tables, rows, file)),
        conditions=("not all classes pause at once",) if any(over_subscribed(rows)) else (),
        pattern=config.computing.pattern,
        not_judged=tuple(_not_judged(config, rows)),
        asic=file_chip,
    )


def _tables(content: object, file: str) -> dict[str, Table]:
    tables = tables_of(content, file)
    for name, table in tables.items():
        near = _slip(name)
        if near is not None:
            text = f"{file}: {name}: no table of SONiC; did you mean {near!r}?"
            raise PlanError(text, place=file, key=name, given=name, allowed=READ, nearest=near)
        wrong = [key for key, fields in table.items() if not isinstance(fields, dict)]
        if name in READ and wrong:
            raise fault(file, f"{name}|{wrong[0]}", "it has no fields; each row is an object")
    if not any(name in READ for name in tables):
        text = f"{file}: it has none of the tables that are judged: {', '.join(READ)}"
        raise PlanError(text, place=file, allowed=READ)
    return tables


def _slip(name: str) -> str | None:
    """Return the table that a name is a slip of."""
    if name in NO_SLIPS:
        return None
    matches = difflib.get_close_matches(name.upper(), READ, n=1, cutoff=ALIKE)
    return matches[0] if matches else None


def _fields(tables: Mapping[str, Table], file: str) -> None:
    """Refuse fields whose name is a slip, of which readers would take no notice."""
    for name, field_names in FIELDS.items():
        for key, fields in tables.get(name, {}).items():
            for field in fields:
                if field in field_names or field in OTHER_FIELDS:
                    continue
                near = difflib.get_close_matches(field, field_names, n=1, cutoff=ALIKE)
                if near:
                    place = f"{file}: {name}|{key}"
                    text = f"{place}: {field}: no field of SONiC; did you mean {near[0]!r}?"
                    raise PlanError(text, place=place, key=field, given=field, nearest=near[0])


def _references(tables: Mapping[str, Table], file: str) -> None:
    """Refuse references as old versions of SONiC wrote them, and those to nothing."""
    for name in READ:
        for key, fields in tables.get(name, {}).items():
            for field, value in fields.items():
                place = f"{file}: {name}|{key}"
                if isinstance(value, str) and re.fullmatch(r"\[[^\]|]+\|[^\]]*\]", value.strip()):
                    plain = value.strip()[1:-1].partition("|")[2]
                    text = f'{value!r} is how old versions of SONiC refer; write "{plain}"'
                    error = f"{place}: {field}: {text}"
                    raise PlanError(error, place=place, key=field, given=value, nearest=plain)
                _refers(tables, place, field, value)


def _refers(tables: Mapping[str, Table], place: str, field: str, value: object) -> None:
    target = REFERENCES.get(field)
    if target is None:
        return
    if not isinstance(value, str):
        raise fault(place, field, f"{value!r} is not a text, which names a row of {target}", given=str(value))
    # A file may hold a part of the configuration; what it has of a table must be enough for it.
    if target not in tables or value == COMPUTED or value in tables[target]:
        return
    near = nearest(str(value), tables[target])
    hint = f"; did you mean {near!r}?" if near else ""
    text = f"{place}: {field}: {target} has no {str(value)!r}{hint}"
    raise PlanError(text, place=place, key=field, given=str(value), nearest=near)


def _twice(groups: Sequence[Group]) -> Iterator[str]:
    """Name priority groups that an earlier row has, too, of which a switch uses one."""
    first: dict[tuple[str, int], str] = {}
    for group in groups:
        for number in group.groups:
            before = first.setdefault((group.port, number), group.place)
            if before != group.place:
                text = f"priority group {number} of {group.port} is in {before}, too: remove one of them"
                yield f"{group.place}: {text}"


def _unread(tables: Mapping[str, Table]) -> Iterator[str]:
    unread = [name for name in tables if name not in READ]
    if unread:
        yield f"tables that are not read: {', '.join(unread)}"


def _of_chip(hwsku: str, file_chip: str, asic: str) -> Iterator[str]:
    """Say which chip the file tells, and whether another one is asked."""
    if not hwsku:
        return
    if not file_chip:
        if not asic:
            yield f"the chip of hwsku {hwsku} is not known: --asic or --cell says how large its cells are"
        return
    label = asics()[file_chip].label
    if asic and asic != file_chip:
        yield f"hwsku {hwsku} has a {label}; judged as {asic}, as asked"
    elif not asic:
        yield f"the chip is that of hwsku {hwsku}: {label}"


def _left_out(config: Config, groups: Sequence[Group], rows: Sequence[Row]) -> Iterator[str]:
    computed = sum(row.is_computed and not row.unknown for row in rows)
    if computed:
        rows_text = counted(computed, "row")
        yield f"the headroom of {rows_text} is computed as the switch does it: {config.computing.text}"
    profiles = config.tables.get("BUFFER_PROFILE", {})
    lossless = [name for name, fields in profiles.items() if "xoff" in fields]
    if not lossless and not any(row.is_computed for row in rows):
        source = "SONiC makes lossless profiles from pg_profile_lookup.ini when it starts"
        yield f"no BUFFER_PROFILE has xoff: {source}; judge that file"
    used = {group.name for group in groups}
    unused = [name for name in lossless if name not in used]
    if unused:
        more = f" and {len(unused) - MOST_NAMED} more" if len(unused) > MOST_NAMED else ""
        yield f"lossless profiles that no port uses, not judged: {', '.join(unused[:MOST_NAMED])}{more}"


def _not_judged(config: Config, rows: Sequence[Row]) -> Iterator[str]:
    """Name what decides whether the rows' classes are lossless, and could not be read."""
    tables = config.tables
    ports = {row.group for row in rows}
    absent = {name for name in NEEDED if name not in tables}
    absent |= {name for port in ports for name in config.absent_maps(port)}
    if any("wred_profile" in fields for fields in tables.get("QUEUE", {}).values()):
        absent |= {"WRED_PROFILE"} - set(tables)
    if any(row.is_computed for row in rows):
        absent |= {"DEFAULT_LOSSLESS_BUFFER_PARAMETER"} - set(tables)
    yield from (f"{name} (not in the file)" for name in sorted(absent))
    yield from (f"{name} (not read)" for name in DECIDE if name in tables)
    pools = {pool for row in rows for pool in config.pools_of(row)}
    yield from (f"the size of BUFFER_POOL|{name} (not in the file)" for name in sorted(pools))
