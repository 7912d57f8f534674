"""PFC beside its own buffer: in a shared one, with ECN marks and timers, and for the usual mixes of frames.

Of a shared buffer headroom is set aside for all ports, and the rest is shared by a dynamic threshold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from floodway.planning.asics import asic, exponents, pipeline_reserve
from floodway.planning.flow_controls import Thresholds, flow_control
from floodway.planning.headroom import largest_held, pfc_headroom
from floodway.planning.link import Buffers, until_obeyed
from floodway.planning.question import MIXES, Question

if TYPE_CHECKING:
    from collections.abc import Iterator


__all__ = ["Advice", "OfMix", "Pool", "advice", "by_mix", "pool"]

PS_PER_S = 1_000_000_000_000
#: Marking thresholds of HPCC's evaluation (its `run.py`) at 25G: they grow with the rate.
KMIN, KMAX, PMAX, MARKED_RATE = 100_000, 400_000, 0.2, 25_000_000_000
#: The longest time that one pause frame gives, in bit times (IEEE 802.1Qbb).
LONGEST_PAUSE_BITS = 65_535 * 512
#: Usual values of SONiC's PFC watchdog, ms, and what it allows.
DETECTION_MS, RESTORATION_MS = 200, 400
DETECTION_ALLOWED = range(100, 5001)
#: The watchdog waits for so many times the longest pause of a far end that works.
PATIENCE = 10
#: The traffic that each named mix assumes.
MEANINGS = {
    "any": "whatever is sent: the frames that fill cells worst, one after another",
    "small": "64 B only: acknowledgements, or messages of a few bytes",
    "dnx": "as many of 64 B as of 1,082 B: what makers of deep-buffered switches assume",
}


@dataclass(frozen=True, kw_only=True)
class Pool:
    """A shared buffer, in bytes.

    Attributes
    ----------
    total
        The memory.
    headroom_each
        Of each class of each link: beside a pool the packet that causes the pause is in headroom, too.
    headroom_pool
        For all of them.
    reserve_each
        What each class of each link reserves beside it: what the pipeline of NVIDIA's chips holds.
    oversubscribed
        By how much their sum exceeds it; 1 if all can pause at once.
    shared
        What is left for the classes to share: 0 or less if there is nothing.
    exponent
        SONiC's `dynamic_th`; none if nothing is left.
    is_largest
        Whether no alpha of the chip keeps the link of a class that is alone busy, and it has the largest.
    xoff_alone, xoff_all
        The threshold of a class that is alone, and if all are congested.
    """

    total: int
    headroom_each: int
    headroom_pool: int
    oversubscribed: float
    shared: int
    reserve_each: int = 0
    exponent: int | None = None
    is_largest: bool = False
    xoff_alone: int = 0
    xoff_all: int = 0

    @property
    def alpha(self) -> float | None:
        """The share of the pool's free bytes that is a class's threshold."""
        return None if self.exponent is None else 2.0**self.exponent

    def buffers(self, question: Question, pause: str = "on-off") -> Buffers:
        """Return what a scenario sets for it."""
        control = (
            f'{{ pfc = {{ xoff = {{ alpha = {self.alpha} }}, headroom = "{self.headroom_each}B", '
            f'pause = "{pause}", {", ".join(until_obeyed(question))} }} }}'
        )
        reserve = f'reserve = "{self.reserve_each}B", ' if self.reserve_each else ""
        shared = f'{{ pool = "{self.shared}B", {reserve}headroom-pool = "{self.headroom_pool}B" }}'
        return Buffers(control=control, shared=shared, headroom_pool=self.headroom_pool)


def pool(question: Question, *, oversubscribed: float = 1.0) -> Pool | None:
    """Return how PFC shares the question's buffer; none if no buffer is known.

    alpha is the least power of two that lets a class which is alone keep its link busy, and the largest that
    the chip has if none does.
    """
    memory = question.buffer_bytes
    if memory is None:
        return None
    class_headroom = pfc_headroom(question) + largest_held(question)
    count = question.links * question.classes
    headroom = count * class_headroom
    if oversubscribed != 1.0:
        headroom = int(-(-headroom // oversubscribed))
    # How many SerDes a port has is not known. The reserve of eight is twice that of four.
    reserve = pipeline_reserve(asic(question.asic)) if question.asic else 0
    sharing = Pool(
        total=memory,
        headroom_each=class_headroom,
        headroom_pool=headroom,
        oversubscribed=oversubscribed,
        shared=memory - headroom - count * reserve,
        reserve_each=reserve,
    )
    if sharing.shared <= 0:
        return sharing
    busy = flow_control("pfc")
    xoff = busy.thresholds(question, busy.busy(question)).xoff or 0

    def threshold(exponent: int, congested: int) -> int:
        alpha = 2.0**exponent
        return int(sharing.shared * alpha / (1 + congested * alpha))

    candidates = exponents(question.asic)
    fitting = (candidate for candidate in candidates if threshold(candidate, 1) >= xoff)
    exponent = next(fitting, candidates[-1])
    return replace(
        sharing,
        exponent=exponent,
        is_largest=threshold(exponent, 1) < xoff,
        xoff_alone=threshold(exponent, 1),
        xoff_all=threshold(exponent, count),
    )


@dataclass(frozen=True, kw_only=True)
class Advice:
    """Settings beside the buffer.

    Attributes
    ----------
    ecn_kmin, ecn_kmax, ecn_pmax
        Marking thresholds in bytes, and the share marked at the upper one.
    pauses_from
        The size at which PFC pauses; none without PFC.
    watchdog_detection_ms, watchdog_restoration_ms
        Of the PFC watchdog.
    longest_wait_ps
        How long a far end that drains again, at the link's rate, keeps its upstream paused at most: all that
        it holds, and the delay of the resume.
    irn_rto_low_ps, irn_rto_high_ps
        Timeouts of IRN on a path with this link: a round trip, and one with the planned buffer full.
    longest_pause_ps
        What one pause frame gives.
    pauses_in_flight
        How many such pauses follow one another in a one-way delay: with less than one, a pause ends before
        the next decision can arrive.
    """

    ecn_kmin: int
    ecn_kmax: int
    ecn_pmax: float
    pauses_from: int | None
    watchdog_detection_ms: int
    watchdog_restoration_ms: int
    longest_wait_ps: int
    irn_rto_low_ps: int
    irn_rto_high_ps: int
    longest_pause_ps: int
    pauses_in_flight: float


def advice(question: Question, thresholds: Thresholds, held: int = 0) -> Advice:
    """Return the settings that go with the thresholds of PFC.

    A class may hold more than its own buffer where it is alone in a shared one: `held`, in bytes.

    Sources: marks as HPCC's evaluation has them; timeouts as IRN's section 4.1 and SWING's section 2.1
    derive them; the watchdog's usual values in SONiC, raised where a pause may last long.
    """
    rate = question.rate_bps
    frame = (question.largest_frame + 20) * 8 * PS_PER_S // rate
    round_trip = 2 * question.delay_ps + 2 * frame
    full = max(thresholds.size, held) * 8 * PS_PER_S // rate
    wait = full + question.delay_ps
    needed = -(-PATIENCE * wait // 1_000_000_000)
    detection = min(max(DETECTION_MS, needed), DETECTION_ALLOWED.stop - 1)
    pause = LONGEST_PAUSE_BITS * PS_PER_S // rate
    return Advice(
        ecn_kmin=KMIN * rate // MARKED_RATE,
        ecn_kmax=KMAX * rate // MARKED_RATE,
        ecn_pmax=PMAX,
        pauses_from=thresholds.xoff,
        watchdog_detection_ms=detection,
        watchdog_restoration_ms=max(RESTORATION_MS, 2 * detection),
        longest_wait_ps=wait,
        irn_rto_low_ps=round_trip,
        irn_rto_high_ps=round_trip + full,
        longest_pause_ps=pause,
        pauses_in_flight=question.delay_ps / pause,
    )


@dataclass(frozen=True, kw_only=True)
class OfMix:
    """PFC's buffer for a mix of frame sizes, in bytes of all links and classes.

    Attributes
    ----------
    mix
        What `--mix` takes.
    meaning
        What it assumes of the traffic.
    is_asked
        Whether it is the mix of the question.
    no_loss, busy
        What is needed to lose nothing, and to keep the links busy as well.
    fits, keeps_busy
        Whether the given memory suffices for either; none where no memory is given.
    """

    mix: str
    meaning: str
    is_asked: bool
    no_loss: int
    busy: int
    fits: bool | None = None
    keeps_busy: bool | None = None

    @property
    def verdict(self) -> str:
        """What the given memory is enough for, in words."""
        if self.fits is None:
            return "-"
        return "enough" if self.keeps_busy else "may idle" if self.fits else "not enough"


def by_mix(question: Question) -> tuple[OfMix, ...]:
    """Return PFC's buffer for the named mixes, for full frames, and for the question's own mix.

    It is empty where memory counts bytes, since the mix changes nothing there.
    """
    if question.cell_bytes == 1:
        return ()
    return tuple(_of_mix(question, *mix) for mix in _mixes(question))


def _mixes(question: Question) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield mixes as `--mix` takes them, what they mean, and their frames."""
    full = question.largest_frame
    mixes = {name: (MEANINGS[name], sizes) for name, sizes in MIXES.items()}
    mixes[f"{full}B"] = (f"{full:,} B only: large messages one way, in a class of their own", (full,))
    if question.mix_bytes not in (sizes for _, sizes in mixes.values()):
        yield "as asked", "the frames of --mix", question.mix_bytes
    for name, (meaning, sizes) in mixes.items():
        if all(size <= full for size in sizes):
            yield name, meaning, sizes


def _of_mix(question: Question, mix: str, meaning: str, sizes: tuple[int, ...]) -> OfMix:
    pfc, with_mix = flow_control("pfc"), replace(question, mix_bytes=sizes)
    count, memory = question.links * question.classes, question.buffer_bytes
    restart = 0 if question.flap_ps is None else pfc.restart(with_mix)
    no_loss, busy = (count * (size + restart) for size in (pfc.no_loss(with_mix), pfc.busy(with_mix)))
    return OfMix(
        mix=mix,
        meaning=meaning,
        is_asked=sizes == question.mix_bytes,
        no_loss=no_loss,
        busy=busy,
        fits=None if memory is None else no_loss <= memory,
        keeps_busy=None if memory is None else busy <= memory,
    )
