"""The settings of a switch's configuration: ports, headroom, thresholds, marks, the watchdog.

Every value is held against the YANG model of its table (sonic-yang-models of sonic-buildimage at 086b03bd70)
before anything is written. A check names the model and its leaf.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.common.errors import PlanError
from floodway.common.names import not_a_choice
from floodway.planning.sonic.config_checks import DETECTION_MS, RESTORATION_MS
from floodway.planning.sonic.lookup import SPEEDS
from floodway.planning.sonic.row import LARGEST, LONGEST_M, MEGA

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CNP_CLASS", "CNP_DSCP", "Configuration", "LosslessPort"]

#: `sonic-pfcwd`: `action`.
ACTIONS = ("drop", "forward", "alert")
#: `sonic-buffer-profile`: `dynamic_th`.
EXPONENTS = range(-8, 8)
#: `sonic-buffer-pg`: `pg_num`; `sonic-port-qos-map`: `pfc_enable`.
CLASSES = range(8)
#: `sonic-wred-profile`: `green_drop_probability`.
PERCENT = range(101)
#: `sonic-dscp-tc-map`: `dscp`. That of CNPs, and their class, as SONiC's own maps and
#: captures have them.
DSCPS, CNP_DSCP, CNP_CLASS = range(64), 48, 6
#: `sonic-port`: `name` and `lanes`, characters.
NAME_LENGTH = range(1, 129)


@dataclass(frozen=True, kw_only=True)
class LosslessPort:
    """A port with lossless classes. Sizes are bytes of one class.

    Attributes
    ----------
    name
        As SONiC names it, such as ``Ethernet0``.
    rate_bps, length_m
        Its rate in bit/s, and the length of its cable in metres.
    size
        Reserved for the class: with a shared headroom pool without headroom.
    xon, xon_offset
        The class resumes when it holds no more than `xon`, or so much less than its limit. Without an
        `xon_offset` none is written: NVIDIA's published rows have none.
    xoff
        Headroom.
    dynamic_th
        The class may have 2^dynamic_th times what is free of the pool.
    port_lanes
        The numbers of its SerDes, as SONiC lists them: ``1,2,3,4``. With them the port is written, too;
        without, it must be in the configuration that this one is merged with.
    """

    name: str
    rate_bps: int
    length_m: int
    size: int
    xon: int
    xoff: int
    dynamic_th: int
    xon_offset: int | None = None
    port_lanes: str = ""

    @property
    def mbps(self) -> int:
        """Its rate as SONiC writes it, Mb/s."""
        return self.rate_bps // MEGA

    @property
    def profile(self) -> str:
        """The name of its profile, as SONiC makes it."""
        return f"pg_lossless_{self.mbps}_{self.length_m}m_profile"


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """The settings of a switch by a plan.

    Attributes
    ----------
    ports
        Those with lossless classes.
    classes
        Their lossless classes: priorities, which are traffic class, queue and priority group as well.
    pool_bytes
        The shared buffer, without the headroom pool.
    headroom_pool_bytes
        Headroom that ports share; 0 where each has its own.
    size_has_headroom
        Whether the pool's `size` counts the headroom pool, too, as SAI defines it (saibufferpool.h since
        2019); NVIDIA's plug-in counts it beside the size.
    mark_from_bytes, mark_to_bytes, mark_percent
        Marks begin at the first queue length and reach `mark_percent` at the second.
    dscps
        DSCPs of lossless classes, as pairs of class and DSCP; a class that has none has its class selector.
    detection_ms, restoration_ms, action
        Of the PFC watchdog; `action` is ``drop``, ``forward`` or ``alert``.
    """

    ports: tuple[LosslessPort, ...]
    classes: tuple[int, ...]
    pool_bytes: int
    mark_from_bytes: int
    mark_to_bytes: int
    mark_percent: int
    dscps: tuple[tuple[int, int], ...] = ()
    headroom_pool_bytes: int = 0
    size_has_headroom: bool = False
    detection_ms: int = 200
    restoration_ms: int = 400
    action: str = "drop"

    def check(self) -> None:
        """Check that a switch accepts it.

        Raises
        ------
        PlanError
            If a value is out of the range of its model, or two ports contradict each other.
        """
        if not self.ports:
            raise PlanError("ports: no port is given", key="ports")
        for port in self.ports:
            _port(port)
        _named_once([port.name for port in self.ports])
        _one_profile_each(self.ports)
        _classes(self.classes)
        _dscps(self)
        for key, value, allowed, leaf in self._numbers():
            _within(key, value, allowed, leaf)
        if self.mark_to_bytes < self.mark_from_bytes:
            below = f"{self.mark_to_bytes} is below mark_from_bytes, {self.mark_from_bytes}"
            text = f"mark_to_bytes: {below} (sonic-wred-profile: green_max_threshold)"
            raise PlanError(text, key="mark_to_bytes", given=str(self.mark_to_bytes))
        # sonic-pfcwd: action.
        if self.action not in ACTIONS:
            message, near = not_a_choice(self.action, noun="an action of sonic-pfcwd", allowed=ACTIONS)
            raise PlanError(f"action: {message}", key="action", given=self.action, nearest=near)

    def dscps_of(self, number: int) -> tuple[int, ...]:
        """Return the DSCPs of a class.

        Parameters
        ----------
        number
            The class, 0 to 7.

        Returns
        -------
        tuple of int
            Its DSCPs; by default its class selector (RFC 2474), 8 times its number.
        """
        return tuple(dscp for class_number, dscp in self.dscps if class_number == number) or (8 * number,)

    def _numbers(self) -> Iterator[tuple[str, int, range, str]]:
        """Return name, value, range, and model with leaf."""
        sizes = range(LARGEST + 1)
        yield "pool_bytes", self.pool_bytes, sizes, "sonic-buffer-pool: size"
        yield "headroom_pool_bytes", self.headroom_pool_bytes, sizes, "sonic-buffer-pool: xoff"
        yield "mark_from_bytes", self.mark_from_bytes, sizes, "sonic-wred-profile: green_min_threshold"
        yield "mark_to_bytes", self.mark_to_bytes, sizes, "sonic-wred-profile: green_max_threshold"
        yield "mark_percent", self.mark_percent, PERCENT, "sonic-wred-profile: green_drop_probability"
        yield "detection_ms", self.detection_ms, DETECTION_MS, "sonic-pfcwd: detection_time"
        yield "restoration_ms", self.restoration_ms, RESTORATION_MS, "sonic-pfcwd: restoration_time"


def _port(port: LosslessPort) -> None:
    name = port.name
    # sonic-port: name. The bars and commas of keys of BUFFER_PG cannot be in it.
    if len(name) not in NAME_LENGTH or any(character in name for character in "|, \t\n"):
        text = f"name: {name!r} is not the name of a port, such as Ethernet0 (sonic-port: name)"
        raise PlanError(text, key="name", given=name)
    if port.port_lanes and len(port.port_lanes) not in NAME_LENGTH:
        text = f"{name}: port_lanes: longer than {NAME_LENGTH.stop - 1} characters (sonic-port)"
        raise PlanError(text, place=name, key="port_lanes", given=port.port_lanes)
    if port.rate_bps % MEGA or port.mbps not in SPEEDS:
        allowed = f"a whole number of Mb/s from 1 to {SPEEDS.stop - 1} (sonic-port: speed)"
        text = f"{name}: rate_bps: {port.rate_bps} is not {allowed}"
        raise PlanError(text, place=name, key="rate_bps", given=str(port.rate_bps))
    lengths = range(1, LONGEST_M + 1)
    _within("length_m", port.length_m, lengths, "sonic-cable-length: length", place=name)
    for key in ("size", "xon", "xoff", "xon_offset"):
        value = getattr(port, key)
        if value is not None:
            _within(key, value, range(LARGEST + 1), f"sonic-buffer-profile: {key}", place=name)
    _within("dynamic_th", port.dynamic_th, EXPONENTS, "sonic-buffer-profile: dynamic_th", place=name)


def _named_once(names: list[str]) -> None:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise PlanError(f"ports: {twice} is given twice", key="ports", given=twice)


def _one_profile_each(ports: tuple[LosslessPort, ...]) -> None:
    """Refuse ports of one speed and length with other numbers: SONiC has one profile for all of them."""
    first: dict[str, LosslessPort] = {}
    for port in ports:
        other = first.setdefault(port.profile, port)
        for key in ("size", "xon", "xoff", "xon_offset", "dynamic_th"):
            mine, theirs = getattr(port, key), getattr(other, key)
            if mine != theirs:
                differ = f"{mine}, but {other.name} of the same speed and length has {theirs}"
                text = f"{port.name}: {key}: {differ}; SONiC has one profile for both, {port.profile}"
                raise PlanError(text, place=port.name, key=key, given=str(mine))


def _classes(classes: tuple[int, ...]) -> None:
    # sonic-port-qos-map: pfc_enable; sonic-buffer-pg: pg_num.
    text = ""
    if not classes or len(set(classes)) != len(classes) or not set(classes) <= set(CLASSES):
        text = f"{classes} are not priorities from 0 to 7, each once (sonic-port-qos-map: pfc_enable)"
    elif len(classes) == len(CLASSES):
        text = "all eight are lossless; one must be left for other traffic"
    if text:
        raise PlanError(f"classes: {text}", key="classes", given=str(classes))


def _dscps(configuration: Configuration) -> None:
    owners: dict[int, int] = {CNP_DSCP: CNP_CLASS}
    for number, dscp in configuration.dscps:
        if number not in configuration.classes:
            lossless = ", ".join(str(class_number) for class_number in sorted(configuration.classes))
            text = f"dscp: class {number} is not lossless here; lossless: {lossless}"
            raise PlanError(text, key="dscp", given=f"{number}={dscp}")
        _within("dscp", dscp, DSCPS, "sonic-dscp-tc-map: dscp")
    for number in configuration.classes:
        for dscp in configuration.dscps_of(number):
            owner = owners.setdefault(dscp, number)
            if owner != number:
                whose = "of CNPs" if dscp == CNP_DSCP else f"of class {owner}"
                text = f"dscp: {dscp} of class {number} is that {whose}; give another like {number}=26"
                raise PlanError(text, key="dscp", given=f"{number}={dscp}")


def _within(key: str, value: int, allowed: range, leaf: str, *, place: str | None = None) -> None:
    if value not in allowed:
        at = f"{place}: " if place else ""
        text = f"{at}{key}: {value} is not from {allowed.start} to {allowed.stop - 1} ({leaf})"
        raise PlanError(text, place=place, key=key, given=str(value))
