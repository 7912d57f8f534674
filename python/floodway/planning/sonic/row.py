"""Rows of a switch configuration, and the numbers of its fields, with errors that name the place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from floodway.common.errors import PlanError

__all__ = ["LARGEST", "Row", "Sheet", "TrafficPattern", "fault", "length_of", "number_of", "number_within"]
__all__ += ["size_of_field"]

MEGA = 1_000_000
#: Numbers of bytes are ``uint64`` in the models (``sonic-buffer-profile``: ``size``, ``xon``, ``xoff``).
LARGEST = 2**64 - 1
#: Metres; more than once around the earth is a slip.
LONGEST_M = 40_000_000


@dataclass(frozen=True, kw_only=True)
class Row:
    """Headroom and thresholds of a lossless class of a port, in bytes.

    Attributes
    ----------
    place
        Where it is written: ``FILE:LINE``, or ``FILE: TABLE|KEY``.
    group
        The platform of a table of several, the port of a CONFIG_DB; empty for a file of one platform.
    rate_bps, length_m
        Rate of the port in bit/s, and length of its cable in metres.
    size
        Reserved for the class.
    xon
        It resumes its upstream when it holds no more than this.
    xoff
        Headroom: what may still arrive after it has decided to pause.
    threshold
        What the file says of the shared part: an exponent (``dynamic_th``), or bytes (``static_th``); none
        where it says nothing.
    xon_offset
        It resumes this far below its limit; none where the file says nothing.
    classes
        The priority groups that have this; empty where the file does not say which.
    headroom_pool
        Bytes of headroom that all ports share: 0 for no such pool, none where the file does not say.
    pool
        Its pool; empty where the file does not say.
    remark
        What does not agree in the file, though each part is valid; empty for nothing.
    frame_bytes
        The largest frame that the port takes; none where the file does not say.
    dscps
        The DSCP of the packets of these groups, as far as the file says.
    faults
        Why these groups are not lossless, whatever their headroom; empty for none.
    warnings
        Warnings with which nothing is lost.
    is_computed
        Whether the switch computes its headroom, so that the file does not have it.
    unknown
        Why its headroom is not known; empty where it is. `xoff` is 0 then.
    """

    place: str
    group: str
    rate_bps: int = 0
    length_m: int = 0
    size: int = 0
    xon: int = 0
    xoff: int = 0
    threshold: int | None = None
    xon_offset: int | None = None
    classes: tuple[int, ...] = ()
    headroom_pool: int | None = None
    pool: str = ""
    remark: str = ""
    frame_bytes: int | None = None
    dscps: tuple[int, ...] = ()
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    is_computed: bool = False
    unknown: str = ""

    @property
    def has_link(self) -> bool:
        """Whether the file says which port and cable it is, without which physics asks for nothing."""
        return self.rate_bps > 0

    @property
    def reserves_headroom(self) -> bool:
        """Whether the class has its headroom for itself: its reserve holds it."""
        return self.size >= self.xoff


@dataclass(frozen=True, kw_only=True)
class TrafficPattern:
    """Traffic that a switch assumes as it computes headroom: ``LOSSLESS_TRAFFIC_PATTERN``.

    Attributes
    ----------
    mtu
        The largest lossless packet, in bytes.
    small_percent
        The share of packets that are small.
    """

    mtu: int
    small_percent: int


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """The contents of a file.

    Attributes
    ----------
    file, form
        Its path, and ``pg_profile_lookup.ini``, ``table`` or ``CONFIG_DB``.
    rows
        Headroom and thresholds of lossless classes, in the file's order.
    notes
        Tables that were not read, and classes without numbers in the file.
    warnings
        Warnings of the whole file, which fail with ``--strict``.
    conditions
        Conditions under which the rows hold, in words.
    pattern
        Lossless traffic that the switch assumes, if the file says so.
    not_judged
        Tables that decide whether classes are lossless, and are not in the file or not read.
    asic
        The chip that the file tells by its `hwsku`; empty for none.
    """

    file: str
    form: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()
    pattern: TrafficPattern | None = None
    not_judged: tuple[str, ...] = ()
    asic: str = ""


def fault(place: str, key: str, text: str, *, given: str | None = None) -> PlanError:
    """Return an error about a key at a place."""
    return PlanError(f"{place}: {key}: {text}", place=place, key=key, given=given)


def number_of(value: object, place: str, key: str) -> int:
    """Return a whole number, which may be negative.

    Raises
    ------
    PlanError
        If it is not a whole number.
    """
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if re.fullmatch(r"-?[0-9]{1,20}", text) is None:
        raise fault(place, key, f"{value!r} is not a whole number", given=str(value))
    return int(text)


def number_within(value: object, place: str, key: str, allowed: range, kind: str = "from") -> int:
    """Return a whole number of a range, which errors call a `kind`.

    Raises
    ------
    PlanError
        If it is not one of the range.
    """
    number = number_of(value, place, key)
    if number not in allowed:
        text = f"{number} is not {kind} {allowed.start} to {allowed.stop - 1}"
        raise fault(place, key, text, given=str(value))
    return number


def size_of_field(value: object, place: str, key: str) -> int:
    """Return a number of bytes, at least 0.

    Raises
    ------
    PlanError
        If it is not a number of bytes.
    """
    size = number_of(value, place, key)
    if not 0 <= size <= LARGEST:
        raise fault(place, key, f"{size} is not a number of bytes, 0 to 2^64 - 1", given=str(value))
    return size


def length_of(value: object, place: str, key: str) -> int:
    """Return the length of a cable in metres; SONiC writes it as ``40m``.

    Raises
    ------
    PlanError
        If it is not a length (``sonic-cable-length``: ``length`` is digits and ``m``).
    """
    text = str(value).strip()
    if re.fullmatch(r"-\s*[0-9.]+\s*m?", text):
        raise fault(place, key, f"{value!r} is negative; a length of a cable is 0m or more", given=text)
    match = re.fullmatch(r"([0-9]{1,8})m", text)
    if match is None or int(match[1]) > LONGEST_M:
        reason = f'{value!r} is not a length; write whole metres like "40m" or "120000m", up to {LONGEST_M}m'
        raise fault(place, key, reason, given=text)
    return int(match[1])
