"""The lossless classes of a CONFIG_DB's ports as rows: their headroom, and faults that cause loss.

Headroom may be computed by the switch itself, by SONiC's dynamic buffer model with NVIDIA's plug-in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

from floodway.common.errors import PlanError
from floodway.planning.asics import Asic, asics
from floodway.planning.formulas import nvidia_profile
from floodway.planning.sonic.config_checks import watchdog
from floodway.planning.sonic.maps import ALL_PORTS, Port, Queues, port_of, queues_of
from floodway.planning.sonic.pools import (
    COMPUTED,
    DEFAULT_MTU,
    Link,
    Pool,
    Profile,
    has_link,
    impossible,
    link_of,
    named_for,
    pool_of,
    profile_of,
    unusual,
)
from floodway.planning.sonic.row import MEGA, Row, TrafficPattern, fault, number_of, number_within

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.planning.sonic.json_tables import Table

__all__ = ["Config", "Group", "groups_of", "rows_of"]

#: The pool of classes whose headroom is computed: `buffermgrdyn` knows no other name.
POOL = "ingress_lossless_pool"
#: SerDes of a port that names none, with which a class reserves half of what it does with eight.
FEW_LANES = 4
#: `sonic-lossless-traffic-pattern`: bytes, and percent.
MTUS, PERCENT = range(1, 9217), range(101)


@dataclass(frozen=True, kw_only=True)
class Config:
    """A CONFIG_DB with the tables from which rows are built.

    Attributes
    ----------
    tables, file
        Its tables, and its name.
    computing
        What headroom is computed from, where profiles have none.
    queues
        Its queues at egress.
    ports
        Rows of `PORT_QOS_MAP` by port; none where the file does not have the table.
    """

    tables: Mapping[str, Table]
    file: str
    computing: Computing
    queues: Queues
    ports: Mapping[str, Port] | None

    @classmethod
    def from_tables(cls, tables: Mapping[str, Table], asic: str, file: str) -> Self:
        """Build the configuration for a chip, whose name may be empty.

        Raises
        ------
        PlanError
            If a value is not what it should be.
        """
        names = [name for name in tables.get("PORT_QOS_MAP", {}) if name != ALL_PORTS]
        return cls(
            tables=tables,
            file=file,
            computing=computing_of(tables, asic, file),
            queues=queues_of(tables, file, asic),
            ports={name: port_of(tables, name, file) for name in names} if "PORT_QOS_MAP" in tables else None,
        )

    def profile(self, name: str) -> Profile | None:
        """Return a profile; none for `NULL` and for one that the file does not have."""
        is_listed = name != COMPUTED and name in self.tables.get("BUFFER_PROFILE", {})
        return profile_of(self.tables, name, self.file) if is_listed else None

    def port(self, name: str) -> Port | None:
        """Return a port's row of `PORT_QOS_MAP`; none where the file does not have the table."""
        if self.ports is None:
            return None
        return self.ports.get(name) or port_of(self.tables, name, self.file)

    def absent_maps(self, port: str) -> set[str]:
        """Return the tables of maps that a port names and the file does not have."""
        qos = self.port(port)
        return set() if qos is None else qos.unknown()

    def pools_of(self, row: Row) -> Iterator[str]:
        """Name pools that a row's classes are in and whose size the file does not say."""
        qos = self.port(row.group)
        queues = {queue for number in row.classes for queue in qos.way(number).queues} if qos else set()
        for queue in sorted(queues):
            for profile in self.queues.profiles(row.group, queue):
                if profile is not None and profile.pool is not None and profile.pool.size is None:
                    yield profile.pool_name
        if row.is_computed and self.computing.pool is not None and self.computing.pool.size is None:
            yield self.computing.pool.name


@dataclass(frozen=True, kw_only=True)
class Group:
    """A port of a row of `BUFFER_PG`: place, port, priority groups, name of the profile."""

    place: str
    port: str
    groups: tuple[int, ...]
    name: str


def groups_of(tables: Mapping[str, Table], file: str) -> Iterator[Group]:
    """Return each port of each row of `BUFFER_PG`.

    Raises
    ------
    PlanError
        If a key is not a port with a priority group or several.
    """
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
        for port in ports.split(","):
            yield Group(place=place, port=port, groups=tuple(range(first, last + 1)), name=name)


def rows_of(config: Config, groups: Sequence[Group]) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """Return the lossless classes of all ports, and notes on those that are not judged.

    Classes of a port that are alike are in one row. Priorities that a port pauses without a lossless group
    have rows of their own.

    Raises
    ------
    PlanError
        If a value is not what it should be.
    """
    rows: list[Row] = []
    notes: list[str] = []
    lossy = _lossy(config, groups)
    for group in groups:
        outcome = _row(config, group)
        if isinstance(outcome, str):
            notes.append(outcome)
        elif outcome is not None:
            rows += _by_fault(config, *outcome, lossy)
    lossless: dict[str, set[int]] = {}
    for row in rows:
        lossless.setdefault(row.group, set()).update(row.classes)
    rows += _without_group(config, lossless)
    return tuple(rows), tuple(notes)


def _lossy(config: Config, groups: Sequence[Group]) -> dict[tuple[str, int], Group]:
    """Return priority groups that a row gives a profile without headroom."""
    lossy: dict[tuple[str, int], Group] = {}
    for group in groups:
        profile = config.profile(group.name)
        if profile is not None and profile.xoff is None and not profile.is_computed:
            lossy |= {(group.port, number): group for number in group.groups}
    return lossy


def _row(config: Config, group: Group) -> tuple[Row, Profile | None] | str | None:
    """Return a group's row and profile, a note where it is not judged, or none where it is not lossless."""
    profile = config.profile(group.name)
    is_computed = group.name == COMPUTED or (profile is not None and profile.is_computed)
    if not is_computed and (profile is None or profile.xoff is None):
        return None
    bare = Row(place=group.place, group=group.port, classes=group.groups, is_computed=is_computed)
    why = config.computing.why_not() if is_computed else ""
    if is_computed and not why and not has_link(config.tables, group.port):
        why = "the switch computes its headroom, and the port's speed and length are not in the file"
    if why:
        return replace(bare, unknown=why), profile
    link = link_of(config.tables, group.port, named_for(group.name), group.place)
    if link.metres == 0:
        return f"{group.place}: the cable of {group.port} has 0m, without lossless classes: not judged"
    row = replace(bare, rate_bps=link.mbps * MEGA, length_m=link.metres, frame_bytes=link.frame_bytes)
    if is_computed:
        try:
            profile = config.computing.profile(link, profile)
        except PlanError as error:
            return replace(row, unknown=f"the switch computes its headroom: {error}"), profile
    # A group of a profile that the file does not have has been left out.
    return None if profile is None else (_with_numbers(row, profile, link, config.computing), profile)


def _with_numbers(row: Row, profile: Profile, link: Link, computing: Computing) -> Row:
    nominal, remark = named_for(profile.name), ""
    if nominal is not None and nominal != (link.mbps, link.metres):
        nominal_text = f"the profile is named for {nominal[0]} Mb/s and {nominal[1]}m"
        remark = f"{nominal_text}, the port has {link.mbps} and {link.metres}m"
    shared = None if profile.pool is None else profile.pool.xoff
    if profile.is_computed and computing.is_shared:
        # By a ratio: the switch computes the pool of headroom as well.
        shared = shared or None
    return replace(
        row,
        size=profile.size,
        xon=profile.xon,
        xoff=profile.xoff or 0,
        threshold=profile.threshold,
        xon_offset=profile.xon_offset,
        headroom_pool=shared,
        pool=profile.pool_name,
        remark=remark,
    )


def _by_fault(
    config: Config, row: Row, profile: Profile | None, lossy: Mapping[tuple[str, int], Group]
) -> Iterator[Row]:
    """Yield a row for each class; neighbouring classes with the same faults and warnings share one."""
    judged = [_judged(config, row, profile, number, lossy.get((row.group, number))) for number in row.classes]
    for _, alike in groupby(judged, key=lambda class_row: (class_row.faults, class_row.warnings)):
        rows = list(alike)
        yield replace(
            rows[0],
            classes=tuple(number for class_row in rows for number in class_row.classes),
            dscps=tuple(sorted({dscp for class_row in rows for dscp in class_row.dscps})),
        )


def _judged(config: Config, row: Row, profile: Profile | None, number: int, lossy: Group | None) -> Row:
    """Return one class of a row with its faults and warnings; `lossy` is a row that gives it no headroom."""
    faults = list(_of_pools(row, profile, config.queues.asic))
    warnings = [] if profile is None else list(unusual(profile, config.queues.asic))
    if lossy is not None:
        place = lossy.place.partition(": ")[2]
        faults.append(f"priority group {number} is lossy in {place} ({lossy.name})")
    port = config.port(row.group)
    dscps: tuple[int, ...] = ()
    if port is not None:
        way = port.way(number)
        dscps = way.dscps
        faults += way.faults
        warnings += way.warnings
        for queue in way.queues:
            queue_faults, queue_warnings = config.queues.judge(row.group, queue, profile)
            faults += queue_faults
            warnings += queue_warnings
        warnings += watchdog(config.tables, row.group, port.paused_by(number), port.watched, config.file)
    return replace(row, classes=(number,), dscps=dscps, faults=tuple(faults), warnings=tuple(warnings))


def _of_pools(row: Row, profile: Profile | None, asic: str) -> Iterator[str]:
    if profile is not None and profile.pool is not None and profile.pool.kind == "egress":
        yield f"its pool {profile.pool_name} is one of egress"
    if profile is not None:
        yield from impossible(profile, asic)
    if row.headroom_pool and not row.reserves_headroom and row.headroom_pool < row.xoff:
        yield f"the pool of headroom has {row.headroom_pool:,} bytes (BUFFER_POOL: xoff), less than its xoff"


def _without_group(config: Config, lossless: Mapping[str, set[int]]) -> Iterator[Row]:
    """Return rows for priorities that ports pause without a lossless priority group."""
    for name, port in (config.ports or {}).items():
        groups = {priority: port.group_of(priority) for priority in sorted(port.paused)}
        left = tuple(priority for priority, group in groups.items() if group not in lossless.get(name, set()))
        if not left or port.maps["pfc_to_pg_map"].is_unknown:
            continue
        link_known = has_link(config.tables, name)
        place = f"{config.file}: PORT_QOS_MAP|{name}"
        link = link_of(config.tables, name, None, place) if link_known else None
        listed = ", ".join(str(priority) for priority in left)
        fault_texts, unknown = _no_headroom(config, listed, others=bool(lossless))
        row = Row(place=place, group=name, classes=left, faults=fault_texts, unknown=unknown)
        if link:
            row = replace(row, rate_bps=link.mbps * MEGA, length_m=link.metres, frame_bytes=link.frame_bytes)
        yield row


def _no_headroom(config: Config, listed: str, *, others: bool) -> tuple[tuple[str, ...], str]:
    """Return the faults of priorities without a group, and why their headroom is not known."""
    sent = f"pauses are sent for priority {listed}"
    if "BUFFER_PG" not in config.tables:
        return (), f"{sent}, and BUFFER_PG is not in the file"
    if others or config.computing.is_dynamic:
        return (f"{sent} without a lossless priority group: no headroom",), "it has none"
    return (), (
        f"{sent}, and no priority group is lossless: SONiC makes them from pg_profile_lookup.ini when a port"
        " comes up; judge that file, or the running configuration"
    )


@dataclass(frozen=True, kw_only=True)
class Computing:
    """Inputs from which a switch computes headroom.

    Attributes
    ----------
    chip
        Its chip; none where it is not known.
    is_dynamic
        Whether it computes headroom (`buffer_model`), and does not look it up.
    pattern
        What it assumes of lossless traffic, if the file says so.
    is_shared
        Whether ports share headroom.
    exponent
        The `dynamic_th` of computed profiles.
    pool
        Their pool; none where the file has no such pool.
    """

    chip: Asic | None
    is_dynamic: bool
    pattern: TrafficPattern | None
    is_shared: bool
    exponent: int
    pool: Pool | None

    def why_not(self) -> str:
        """Say why the headroom cannot be computed here; empty if it can."""
        if not self.is_dynamic:
            return "the switch takes its headroom from pg_profile_lookup.ini: judge that file"
        if self.chip is None:
            return "the switch computes its headroom, and its chip is not known (--asic)"
        if not self.chip.generation:
            return f"the switch computes its headroom, and {self.chip.label}'s formula is not known"
        if self.pattern is None:
            return "the switch computes its headroom, and LOSSLESS_TRAFFIC_PATTERN is not in the file"
        return ""

    def profile(self, link: Link, configured: Profile | None) -> Profile:
        """Return the profile that a switch computes for a port, with pool and limit of a configured one.

        Raises
        ------
        PlanError
            If the plug-in has no value for the rate, or something is not known that it needs.
        """
        if self.chip is None or self.pattern is None:
            raise PlanError(self.why_not())
        computed = nvidia_profile(
            self.chip,
            rate_bps=link.mbps * MEGA,
            length_m=link.metres,
            port_mtu=link.mtu or DEFAULT_MTU,
            lossless_mtu=self.pattern.mtu,
            small_percent=self.pattern.small_percent,
            lane_count=len(link.port_lanes.split(",")) if link.port_lanes else FEW_LANES,
            shared_headroom=self.is_shared,
        )
        exponent = None if configured is None else configured.exponent
        return Profile(
            name=COMPUTED,
            size=computed.size,
            xon=computed.xon,
            xoff=computed.xoff,
            xon_offset=None,
            exponent=self.exponent if exponent is None else exponent,
            static=None,
            pool_name=POOL if configured is None else configured.pool_name,
            pool=self.pool if configured is None else configured.pool,
            is_computed=True,
        )

    @property
    def text(self) -> str:
        """The inputs of the computation, in words."""
        if self.chip is None or self.pattern is None:
            return ""
        shared = ", shared headroom" if self.is_shared else ""
        packets = f"lossless packets of {self.pattern.mtu} bytes, {self.pattern.small_percent} % small"
        return f"NVIDIA's plug-in for {self.chip.label.removeprefix('NVIDIA ')}, {packets}{shared}"


def computing_of(tables: Mapping[str, Table], chip: str, file: str) -> Computing:
    """Return the inputs from which a switch computes headroom.

    Raises
    ------
    PlanError
        If a field is not a number.
    """
    model = str(_only(tables, "DEVICE_METADATA", "localhost").get("buffer_model", ""))
    pool = pool_of(tables, POOL, file)
    name, fields = next(iter(tables.get("DEFAULT_LOSSLESS_BUFFER_PARAMETER", {}).items()), ("", {}))
    place = f"{file}: DEFAULT_LOSSLESS_BUFFER_PARAMETER|{name}"
    ratio = number_of(fields.get("over_subscribe_ratio", "0"), place, "over_subscribe_ratio")
    return Computing(
        chip=asics()[chip] if chip else None,
        is_dynamic=model == "dynamic" if model else "LOSSLESS_TRAFFIC_PATTERN" in tables,
        pattern=_pattern(tables, file),
        is_shared=ratio > 0 or (pool is not None and pool.xoff > 0),
        exponent=number_of(fields.get("default_dynamic_th", "0"), place, "default_dynamic_th"),
        pool=pool,
    )


def _only(tables: Mapping[str, Table], table: str, row: str) -> dict[str, Any]:
    return tables.get(table, {}).get(row, {})


def _pattern(tables: Mapping[str, Table], file: str) -> TrafficPattern | None:
    for name, fields in tables.get("LOSSLESS_TRAFFIC_PATTERN", {}).items():
        place = f"{file}: LOSSLESS_TRAFFIC_PATTERN|{name}"
        for needed in ("mtu", "small_packet_percentage"):
            if needed not in fields:
                raise fault(place, needed, "the field is missing")
        mtu = number_within(fields["mtu"], place, "mtu", MTUS)
        percent = number_within(fields["small_packet_percentage"], place, "small_packet_percentage", PERCENT)
        return TrafficPattern(mtu=mtu, small_percent=percent)
    return None
