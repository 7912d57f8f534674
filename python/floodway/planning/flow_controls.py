"""Buffer sizes and thresholds of each flow control at the end of a long link, by formula.

PFC's numbers follow from what may arrive after a pause was decided; those of the other flow controls are what
the engine asks for where it sizes such a port. All are bytes of a buffer for one lossless class of one link.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from floodway import _floodway
from floodway.common.errors import PlanError, ScenarioError, by_name
from floodway.planning.headroom import largest_held, occupied, pfc_headroom
from floodway.planning.link import PREAMBLE_AND_GAP, Buffers, Course, link_scenario, stop_ps, until_obeyed
from floodway.planning.question import SMALLEST, Question
from floodway.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping


__all__ = ["FLOW_CONTROLS", "HALF_RATE", "NINE_TENTHS_RATE", "FlowControl", "Thresholds", "flow_control"]

PS_PER_S = 1_000_000_000_000
#: Shares of the link's rate at which its far end drains, for which the link's throughput is given.
HALF_RATE, NINE_TENTHS_RATE = 0.5, 0.9
#: One-way delay of the cable between a relay and its switch, ps (SWING, section 6.1).
CABLE_PS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """What is configured for a size, in bytes; none for what the flow control does not have.

    Attributes
    ----------
    size
        Of the buffer.
    xoff, xon
        What the class holds when it pauses its upstream, and when it resumes it.
    headroom
        Room above that for what still arrives.
    level
        Bifrost's H: the target of bytes held and in flight.
    control
        The flow control with these, as TOML.
    """

    size: int
    control: str
    xoff: int | None = None
    xon: int | None = None
    headroom: int | None = None
    level: int | None = None


class FlowControl(Protocol):
    """A flow control for the planner."""

    #: Its name in commands and tables, and in words.
    name: str
    label: str
    #: Place of its buffer: ``switch`` or ``relay``.
    place: str = "switch"
    #: Notes on the assumptions of its numbers.
    notes: tuple[str, ...] = ()

    def no_loss(self, question: Question) -> int:
        """Return the bytes that it needs to lose nothing.

        Raises
        ------
        PlanError
            If it is not made for such a link; the error says why.
        """

    def busy(self, question: Question) -> int:
        """Return the bytes that it needs to lose nothing and to keep the link busy.

        Raises
        ------
        PlanError
            As `no_loss`.
        """

    def in_switch(self, question: Question, size: int) -> int:
        """Return the bytes of the switch's memory that a size takes: all of it, if not in a relay."""
        del question
        return size

    def restart(self, question: Question) -> int:
        """Return what may arrive beyond the size when the link comes up while the far end takes nothing.

        Flow control begins anew then: the near end sends until it is paused again.
        """

    def thresholds(self, question: Question, size: int) -> Thresholds:
        """Return what is configured for a size of at least `no_loss`."""

    def carried(self, question: Question, size: int, drain: float) -> float:
        """Return the share of its rate that the link carries if its far end drains that share, by formula."""


class _Pfc(FlowControl):
    """PFC, whose pauses last until a resume or expire."""

    def __init__(self, name: str, label: str, pause: str) -> None:
        self.name, self.label, self._pause = name, label, pause

    def no_loss(self, question: Question) -> int:
        return self._beside(question) + 3 * largest_held(question)

    def busy(self, question: Question) -> int:
        return self._beside(question) + self._busy_xoff(question)

    def restart(self, question: Question) -> int:
        return pfc_headroom(question)

    def thresholds(self, question: Question, size: int) -> Thresholds:
        """All of the size beside headroom is XOFF, but no more than keeps the link busy."""
        xoff = size - self._beside(question)
        offset = self._offset(question)
        headroom = pfc_headroom(question)
        sizes = {"xoff": xoff, "resume-offset": offset, "headroom": headroom}
        settings = (*(f'{key} = "{value}B"' for key, value in sizes.items()), f'pause = "{self._pause}"')
        control = f"{{ pfc = {{ {', '.join((*settings, *until_obeyed(question)))} }} }}"
        return Thresholds(size=size, control=control, xoff=xoff, xon=xoff - offset, headroom=headroom)

    def carried(self, question: Question, size: int, drain: float) -> float:
        xoff = max(0, size - self._beside(question))
        arriving = occupied(question, question.round_trip_bytes)
        return _floodway.pfc_utilisation(drain, xoff_bytes=xoff, round_trip_bytes=arriving)

    @staticmethod
    def _beside(question: Question) -> int:
        """Headroom, and by how much the packet that crosses XOFF may exceed it."""
        return pfc_headroom(question) + largest_held(question) - 1

    @staticmethod
    def _offset(question: Question) -> int:
        """Return two frames: with less, a pause could wait behind others, which headroom does not count."""
        return 2 * largest_held(question)

    def _busy_xoff(self, question: Question) -> int:
        """XON outlasts a round trip with a full frame ahead of the resume; XOFF is the offset above it."""
        ahead = question.largest_frame + SMALLEST + 2 * PREAMBLE_AND_GAP
        xon = occupied(question, question.round_trip_bytes + ahead)
        return xon + self._offset(question)


class _Sized(FlowControl):
    """A flow control whose buffer the engine sizes."""

    #: Why it is for one class alone; empty if it is for several.
    why_one_class = ""

    def no_loss(self, question: Question) -> int:
        return self.busy(question)

    def busy(self, question: Question) -> int:
        if question.classes > 1 and self.why_one_class:
            raise PlanError(f"{self.label}: {self.why_one_class}", key="classes")
        return int(self._port(question)["min_buffer_bytes"])

    def restart(self, question: Question) -> int:
        """Return as much as for a link that begins: a round trip, and what comes with it."""
        return self.busy(question)

    def thresholds(self, question: Question, size: int) -> Thresholds:
        level = self._port(question, size)["level_bytes"]
        return Thresholds(size=size, control=self._control(question), level=level)

    def carried(self, question: Question, size: int, drain: float) -> float:
        del question, size
        return drain

    def _control(self, question: Question) -> str:
        del question
        return f'"{self.name}"'

    def _port(self, question: Question, size: int | None = None) -> Mapping[str, int]:
        """Return the row of the port whose buffer it is, as `floodway check` has it."""
        # The buffer does not depend on how often a size occurs.
        sizes = tuple(dict.fromkeys(question.mix_bytes))
        one = replace(question, links=1, classes=1, mix_bytes=sizes)
        buffers = Buffers(control=self._control(question), size=size)
        # The far end stops within it, however long the link is.
        text = link_scenario(one, buffers, Course(end_ps=max(PS_PER_S, stop_ps(question))))
        try:
            ports = Scenario.from_toml(text, name="plan").check()["ports"]
        except ScenarioError as error:
            raise PlanError(f"{self.label}: {_reason(error)}", key="flow-control") from None
        rows: list[Mapping[str, int]] = [
            port
            for port in ports  # type: ignore[attr-defined]
            if port["flow_control"] == self.name and str(port["kind"]).endswith("from planned")
        ]
        return rows[0]


class _Bifrost(_Sized):
    name, label = "bifrost", "Bifrost"
    why_one_class = "it grants all of the link's rate to one lossless class"
    notes = ("Bifrost grants bytes of the wire, whatever they occupy: its size is for frames of any size",)

    def _control(self, question: Question) -> str:
        # Bifrost has no delay of its own interface: it counts as the far end's.
        return f'{{ bifrost = {{ react = "{question.obeyed_after_ps}ps" }} }}'

    def thresholds(self, question: Question, size: int) -> Thresholds:
        """Its level is written out, since one by formula grows with the buffer."""
        thresholds = super().thresholds(question, size)
        control = self._control(question).replace("{ react", f'{{ level = "{thresholds.level}B", react')
        return replace(thresholds, control=control)


class _Swing(_Sized):
    name, label, place = "swing", "SWING", "relay"
    why_one_class = (
        "two classes that stop in turn can fill a relay of any size (`floodway reproduce swing classes`)"
    )
    notes = (
        "SWING's size is that of a relay at each end of the link, which counts bytes; the switch needs less",
        "SWING's relay may hold more where data go both ways (`floodway reproduce swing drift`)",
    )

    def in_switch(self, question: Question, size: int) -> int:
        """Return what PFC needs on the cable between relay and switch."""
        del size
        return flow_control("pfc").busy(replace(question, delay_ps=CABLE_PS))


class _Cbfc(_Sized):
    name, label = "cbfc", "CBFC"
    notes = (
        "CBFC loses nothing in any buffer with credit for one frame; below the busy size it sends less",
        "InfiniBand's own credits reach 128 KiB of round trip: this is credit without that limit",
    )

    def restart(self, question: Question) -> int:
        """Nothing: its sender begins without credit."""
        del question
        return 0

    def no_loss(self, question: Question) -> int:
        """Return what credit for one frame needs, as free cells count for the worst frames."""
        frame = question.largest_frame + PREAMBLE_AND_GAP
        any_size = replace(question, mix_bytes=())
        return occupied(any_size, frame) - largest_held(question)

    def carried(self, question: Question, size: int, drain: float) -> float:
        """Return the part of a round trip for which there is credit."""
        return min(drain, size / self.busy(question))


FLOW_CONTROLS: tuple[FlowControl, ...] = (
    _Pfc("pfc", "PFC, on-off", "on-off"),
    _Pfc("pfc-timer", "PFC, timer", "timer"),
    _Bifrost(),
    _Swing(),
    _Cbfc(),
)


def flow_control(name: str) -> FlowControl:
    """Return a flow control by its name; an `UnknownNameError` if there is no such one."""
    return by_name(FLOW_CONTROLS, name, noun="a flow control that is planned", key="flow-control")


def _reason(error: ScenarioError) -> str:
    """Return the reason of an error without its place, which lies in a generated scenario."""
    return str(error).splitlines()[0].rpartition("): ")[-1]
