"""A row of a switch configuration: headroom and thresholds of a lossless class of one port."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Row", "Sheet", "TrafficPattern"]

MEGA = 1_000_000


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
    rate_bps: int
    length_m: int
    size: int
    xon: int
    xoff: int
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
