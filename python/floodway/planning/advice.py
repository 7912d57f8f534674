"""Settings beside the buffer of a lossless link: ECN marks, timers, and the duration of one pause."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from floodway.planning.flow_controls import Thresholds
    from floodway.planning.question import Question

__all__ = ["Advice", "advice"]

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
    kmax = KMAX * rate // MARKED_RATE
    pause = LONGEST_PAUSE_BITS * PS_PER_S // rate
    return Advice(
        ecn_kmin=KMIN * rate // MARKED_RATE,
        ecn_kmax=kmax,
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
