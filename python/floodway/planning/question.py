"""What is asked of the planner: one kind of long link, its traffic, and the buffer at its end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from floodway.errors import PlanError
from floodway.planning.asics import asic as chip
from floodway.planning.formulas import QUANTA, reaction_quanta
from floodway.planning.units import PS_PER_METRE, metres_of, rate_of, size_of, span_of

__all__ = ["MIXES", "Question"]

#: Ethernet, IPv4, UDP, BTH, ICRC and FCS of a RoCEv2 packet, and the RETH of a message's first one.
HEADERS, RETH = 62, 16
#: Bytes of the smallest frame.
SMALLEST = 64
#: A mix of frame sizes by name: their bytes, one after the other; none for whatever sizes.
MIXES: dict[str, tuple[int, ...]] = {"any": (), "small": (64,), "dnx": (64, 1082)}
LARGEST_PAYLOAD = 15_000
MOST_OF_A_SIZE = 1000
CELLS = range(1, 4097)
PORTS = range(1, 513)
CLASSES = range(1, 8)


@dataclass(frozen=True, kw_only=True)
class Question:
    """One kind of link and what ends at its ports.

    Attributes
    ----------
    rate_bps
        Rate of the link, bit/s.
    delay_ps
        One-way delay, ps.
    length_m
        Length of the fibre, m.
    mtu_bytes
        Payload of the largest packet on the link, in either direction.
    links, classes
        How many such links end at the switch, and how many lossless classes each has.
    buffer_bytes
        Memory for all of them; none where it is not known.
    cell_bytes
        The cell of that memory; 1 where it counts bytes.
    mix_bytes
        Sizes of the frames of data, over and over in this order; any sizes, if there are none.
    react_ps
        From a pause's arrival to its start, ps; none for what IEEE 802.3 allows at the link's rate.
    asic
        The chip whose values were taken; empty for none.
    flap_ps
        For how long the link may be down while the far end takes nothing, which must be survived; none if
        that need not be.
    """

    rate_bps: int
    delay_ps: int
    length_m: int
    mtu_bytes: int = 4096
    links: int = 1
    classes: int = 1
    buffer_bytes: int | None = None
    cell_bytes: int = 1
    mix_bytes: tuple[int, ...] = ()
    react_ps: int | None = None
    asic: str = ""
    flap_ps: int | None = None

    @classmethod
    def of(  # noqa: PLR0913 (one argument an option)
        cls,
        *,
        rate: str,
        length: str,
        buffer: str | None = None,
        links: int = 1,
        classes: int = 1,
        mtu: str = "4096B",
        mix: str = "any",
        cell: str | None = None,
        asic: str | None = None,
        react: str = "ieee-802.3",
        latency: str = "0us",
        survive: str | None = None,
    ) -> Self:
        """Return the question that these texts ask, with units as scenarios write them.

        Raises
        ------
        PlanError
            If one is not what it should be; the error names it.
        UnknownNameError
            If no chip has that name.
        """
        given = (rate, length, buffer, mtu, mix, cell, asic, react, latency, survive)
        names = ("rate", "length", "buffer", "mtu", "mix", "cell", "asic", "react", "latency", "survive")
        for key, value in zip(names, given, strict=True):
            if value is not None and not isinstance(value, str):
                raise _no(key, value, "a text with a unit" if key != "asic" else "the name of a chip")
        for key, number in (("links", links), ("classes", classes)):
            if type(number) is not int:
                raise _no(key, number, "a whole number")
        named = chip(asic) if asic else None
        cell_bytes = size_of(cell, "cell") if cell else named.cell_bytes if named else 1
        memory = named.buffer_bytes if named else None
        metres = metres_of(length, "length")
        found = cls(
            rate_bps=rate_of(rate, "rate"),
            delay_ps=metres * PS_PER_METRE + span_of(latency, "latency"),
            length_m=metres,
            mtu_bytes=size_of(mtu, "mtu"),
            links=links,
            classes=classes,
            buffer_bytes=size_of(buffer, "buffer") if buffer else memory,
            cell_bytes=cell_bytes,
            mix_bytes=_mix(mix),
            react_ps=None if react == "ieee-802.3" else span_of(react, "react"),
            asic=named.name if named else "",
            flap_ps=None if survive is None else _flap(survive),
        )
        found.check()
        return found

    def check(self) -> None:
        """See to it that it can be answered.

        Raises
        ------
        PlanError
            If a number is out of its range.
        """
        for key, value, allowed in (
            ("links", self.links, PORTS),
            ("classes", self.classes, CLASSES),
            ("cell", self.cell_bytes, CELLS),
            ("mtu", self.mtu_bytes, range(1, LARGEST_PAYLOAD + 1)),
        ):
            if value not in allowed:
                text = f"{key}: {value} is not from {allowed.start} to {allowed.stop - 1}"
                raise PlanError(text, key=key, given=str(value))
        for frame in self.mix_bytes:
            if not SMALLEST <= frame <= self.largest_frame:
                text = f"mix: {frame} B is not a frame of {SMALLEST} to {self.largest_frame} B"
                raise PlanError(text, key="mix", given=str(frame))
        if self.buffer_bytes == 0:
            raise PlanError("buffer: 0B holds no packet", key="buffer", given="0B")
        if self.react_ps is None and self.rate_bps not in {gbps * 1_000_000_000 for gbps in QUANTA}:
            known = ", ".join(f"{gbps}G" for gbps in QUANTA)
            text = f'react: IEEE 802.3 has no time for this rate, but for {known}: give one like "1us"'
            raise PlanError(text, key="react")

    @property
    def largest_frame(self) -> int:
        """The largest frame on the link as buffers hold it, in bytes."""
        return max(SMALLEST, self.mtu_bytes + HEADERS + RETH)

    @property
    def reaction_ps(self) -> int:
        """From a pause's arrival to its start, in ps."""
        if self.react_ps is not None:
            return self.react_ps
        return reaction_quanta(self.rate_bps) * 512 * 1_000_000_000_000 // self.rate_bps

    @property
    def round_trip_bytes(self) -> int:
        """What the link carries in a round trip, in bytes: 2 D C."""
        return -(-2 * self.delay_ps * self.rate_bps // (8 * 1_000_000_000_000))

    @property
    def share_bytes(self) -> int | None:
        """The part of the buffer that one class of one link has."""
        return None if self.buffer_bytes is None else self.buffer_bytes // (self.links * self.classes)

    def at(self, metres: int) -> Question:
        """Return the same of a link of another length; what is not fibre keeps its delay."""
        latency = self.delay_ps - self.length_m * PS_PER_METRE
        return replace(self, length_m=metres, delay_ps=metres * PS_PER_METRE + latency)


def _no(key: str, value: object, what: str) -> PlanError:
    return PlanError(f"{key}: {value!r} is not {what}", key=key, given=str(value))


def _flap(text: str) -> int:
    """Read what must be survived, as "flap=500us"."""
    kind, _, value = text.partition("=")
    if kind != "flap" or not value:
        message = f'survive: {text!r} is not a fault that is sized for; write it like "flap=500us"'
        raise PlanError(message, key="survive", given=text)
    span = span_of(value, "survive")
    if span == 0:
        raise PlanError(f"survive: {text!r}: a flap takes time", key="survive", given=text)
    return span


def _mix(text: str) -> tuple[int, ...]:
    """Read a mix: a name, or sizes of frames with how many of each, as "64B:3,1082B"."""
    if text in MIXES:
        return MIXES[text]
    sizes: list[int] = []
    for part in text.split(","):
        size, _, count = part.partition(":")
        if count and not (count.isdecimal() and 0 < int(count) <= MOST_OF_A_SIZE):
            raise PlanError(
                f"mix: {count!r} is not a count of frames, 1 to {MOST_OF_A_SIZE}", key="mix", given=text
            )
        if not size[:1].isdecimal():
            message = f'mix: {text!r} is neither {", ".join(MIXES)} nor frames like "64B:3,1082B"'
            raise PlanError(message, key="mix", given=text)
        sizes += [size_of(size, "mix")] * int(count or 1)
    return tuple(sizes)
