"""The question to the planner: one kind of long link, its traffic, and the buffer at its end."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from floodway import _floodway
from floodway.common.errors import PlanError
from floodway.common.names import not_a_choice
from floodway.planning.asics import asic as chip
from floodway.planning.formulas import QUANTA, reaction_quanta
from floodway.planning.units import PS_PER_METRE, metres_of, rate_of, size_of, span_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FLOW_CONTROLS", "MIXES", "Question", "check_flow_controls", "check_oversubscribed"]

#: Ethernet, IPv4, UDP, BTH, ICRC and FCS of a RoCEv2 packet, and the RETH of a message's first one.
HEADERS, RETH = 62, 16
#: For what IEEE 802.3 allows at the link's rate.
IEEE = "ieee-802.3"
#: Bytes of the smallest frame.
SMALLEST = 64
#: A mix of frame sizes by name: their bytes, one after the other; none for whatever sizes.
MIXES: dict[str, tuple[int, ...]] = {"any": (), "small": (64,), "dnx": (64, 1082)}
#: The flow controls that are planned, by name.
FLOW_CONTROLS = ("pfc", "pfc-timer", "bifrost", "swing", "cbfc")
LARGEST_PAYLOAD = 15_000
#: Frames of a size one after another, and how often the size changes in a mix.
MOST_OF_A_SIZE, MOST_SIZES = 1000, 16
CELLS = range(1, 8193)
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
    interface_ps
        Delay of the port's own interface, of pauses out and of data in, ps; none for the most that an
        interface may take at the link's rate.
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
    interface_ps: int | None = None
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
        interface_delay: str = "ieee-802.3",
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
        texts = {"rate": rate, "length": length, "buffer": buffer, "mtu": mtu, "mix": mix, "cell": cell}
        texts |= {"asic": asic, "react": react, "interface-delay": interface_delay}
        texts |= {"latency": latency, "survive": survive}
        for key, value in texts.items():
            if value is not None and not isinstance(value, str):
                raise _no(key, value, "a text with a unit" if key != "asic" else "the name of a chip")
        for key, number in (("links", links), ("classes", classes)):
            if type(number) is not int:
                raise _no(key, number, "a whole number")
        chosen = chip(asic) if asic else None
        cell_bytes = size_of(cell, "cell") if cell else chosen.cell_bytes if chosen else 1
        memory = chosen.buffer_bytes if chosen else None
        metres = metres_of(length, "length")
        question = cls(
            rate_bps=rate_of(rate, "rate"),
            delay_ps=metres * PS_PER_METRE + span_of(latency, "latency"),
            length_m=metres,
            mtu_bytes=size_of(mtu, "mtu"),
            links=links,
            classes=classes,
            buffer_bytes=size_of(buffer, "buffer") if buffer else memory,
            cell_bytes=cell_bytes,
            mix_bytes=_mix(mix),
            react_ps=None if react == IEEE else span_of(react, "react"),
            interface_ps=None if interface_delay == IEEE else span_of(interface_delay, "interface-delay"),
            asic=chosen.name if chosen else "",
            flap_ps=None if survive is None else _flap(survive),
        )
        question.check()
        return question

    def check(self) -> None:
        """Check that it can be answered.

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
        for key, duration in (("react", self.react_ps), ("interface-delay", self.interface_ps)):
            if duration is None and self.rate_bps not in {gbps * 1_000_000_000 for gbps in QUANTA}:
                rates = ", ".join(f"{gbps}G" for gbps in QUANTA)
                text = f'{key}: IEEE 802.3 has no time for this rate, but for {rates}: give one like "1us"'
                raise PlanError(text, key=key)

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
    def interface_delay_ps(self) -> int:
        """Delay of the port's own interface, of pauses out and of data in, in ps."""
        if self.interface_ps is not None:
            return self.interface_ps
        return (_floodway.interface_bits(self.rate_bps) or 0) * 1_000_000_000_000 // self.rate_bps

    @property
    def obeyed_after_ps(self) -> int:
        """From the decision to pause until it is obeyed, beside the link's delay, in ps."""
        return self.reaction_ps + self.interface_delay_ps

    @property
    def fibre_ps(self) -> int:
        """The part of the one-way delay that is fibre, in ps; the rest is latency beside it."""
        return min(self.delay_ps, self.length_m * PS_PER_METRE)

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


def check_flow_controls(names: Iterable[str]) -> None:
    """Refuse names of flow controls that are not planned.

    Raises
    ------
    PlanError
        If a name is not a flow control; the error has the nearest name.
    """
    for name in names:
        if name not in FLOW_CONTROLS:
            message, near = not_a_choice(name, noun="a flow control that is planned", allowed=FLOW_CONTROLS)
            raise PlanError(f"flow-control: {message}", key="flow-control", given=name, nearest=near)


def check_oversubscribed(ratio: float) -> None:
    """Refuse a ratio of headroom to its pool that is not a finite number of at least 1.

    Raises
    ------
    PlanError
        If the ratio is not a finite number of at least 1.
    """
    if type(ratio) not in (int, float) or not 1.0 <= ratio <= sys.float_info.max:
        text = f"oversubscribe: {ratio!r} is not a number of at least 1, and finite"
        raise PlanError(text, key="oversubscribe", given=str(ratio))


def _no(key: str, value: object, kind: str) -> PlanError:
    return PlanError(f"{key}: {value!r} is not {kind}", key=key, given=str(value))


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
    parts = text.split(",")
    if len(parts) > MOST_SIZES:
        message = f"mix: {len(parts)} sizes one after another are more than {MOST_SIZES}"
        raise PlanError(message, key="mix", given=text)
    for part in parts:
        size, _, count = part.partition(":")
        message = ""
        if count and not (count.isdecimal() and 0 < int(count) <= MOST_OF_A_SIZE):
            message = f"mix: {count!r} is not a count of frames, 1 to {MOST_OF_A_SIZE}"
        elif not size[:1].isdecimal():
            message = f'mix: {text!r} is neither {", ".join(MIXES)} nor frames like "64B:3,1082B"'
        if message:
            raise PlanError(message, key="mix", given=text)
        sizes += [size_of(size, "mix")] * int(count or 1)
    return tuple(sizes)
