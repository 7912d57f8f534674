"""Runs of a plan: the worst case of a size, its losses, and the smallest size and headroom without loss.

Several run at once, a thread each. Ctrl-C ends them all, and those that ended are kept.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import polars as pl

from floodway.common.errors import OutOfMemoryError, OutputError, RunError
from floodway.planning.flow_controls import flow_control
from floodway.planning.link import (
    PREAMBLE_AND_GAP,
    SHORT_PS,
    Buffers,
    Course,
    link_scenario,
    stop_ps,
    worst_payloads,
)
from floodway.planning.question import HEADERS, SMALLEST, Question
from floodway.results.store import Reservation
from floodway.scenarios.keys import key_of
from floodway.scenarios.scenario import Scenario
from floodway.simulation.analysis import Result, read
from floodway.simulation.driver import Future, in_threads
from floodway.simulation.run import run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from floodway._floodway import Progress

__all__ = ["Busy", "Runs", "Simulate", "Trial", "at_once", "busy_trial", "carried_trial", "flap_trial"]
__all__ += ["least_headroom", "trial"]

PS_PER_S = 1_000_000_000_000
MARGIN_PS = 100_000_000
#: Of a round trip, where bytes are counted in buckets.
BUCKETS = 50
#: Whole cycles of pauses over which throughput is counted, and those before them; where there are no pauses,
#: twice as many round trips.
CYCLES, SETTLING = 6, 3
#: The result of a part.
Found = TypeVar("Found")


#: Runs a scenario, given as TOML, to its end, and returns what came out.
Simulate: TypeAlias = "Callable[[str], Result]"


class Runs:
    """A folder of finished runs, each under its key as those of a study are.

    Attributes
    ----------
    folder
        The folder; made with the first run in it.
    error
        Why a run could not be written, the first time; its result is used all the same.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.error: OutputError | None = None

    def result(self, scenario: Scenario) -> Result | None:
        """Return what an earlier run of a scenario left; none where it is not there or not whole."""
        key = key_of(scenario, self.folder)
        try:
            return read(self.folder / key, key=key)
        except OutputError:
            return None

    def keep(self, scenario: Scenario, result: Result) -> None:
        """Write a finished run."""
        key = key_of(scenario, self.folder)
        try:
            with Reservation(self.folder / key, force=True) as place:
                place.publish(result, key=key)
        except OutputError as error:
            self.error = self.error or error


def simulated(text: str, *, stop: threading.Event | None = None, runs: Runs | None = None) -> Result:
    """Run a scenario to its end.

    Parameters
    ----------
    text
        The scenario, as TOML.
    stop
        Ends the run when it is set.
    runs
        Has finished runs, and gets this one.

    Raises
    ------
    RunError
        If the run needs more memory than there is.
    KeyboardInterrupt
        If the run was stopped before its end: what it has by then shows nothing.
    """

    def look(progress: Progress) -> None:
        if stop is not None and stop.is_set():
            progress.stop()

    _unless(stop)
    scenario = Scenario.from_toml(text, name="plan")
    if runs is not None and (before := runs.result(scenario)) is not None:
        return before
    try:
        result = run(scenario, on_progress=look)
    except OutOfMemoryError as error:
        needed = str(error).removeprefix("plan: ").partition(";")[0]
        large = f"plan: the hardest runs are too large for this machine: {needed}"
        hint = "formulas alone need none of it (--no-simulate, in Python simulate=False)"
        raise RunError(f"{large}; {hint}") from None
    if result.outcome.stopped == "interrupted":
        raise KeyboardInterrupt
    if runs is not None:
        runs.keep(scenario, result)
    return result


def at_once(
    parts: Sequence[Callable[[Simulate], Found]],
    *,
    jobs: int,
    done: Callable[[int, int], None],
    runs: Runs | None = None,
) -> list[Found]:
    """Run all parts, up to `jobs` at once; the native module releases the interpreter's lock.

    Parameters
    ----------
    parts
        Functions that do runs, one after another, by the `simulate` that they receive.
    jobs
        How many are at work at once.
    done
        Called in the calling thread with how many parts have ended, and how many there are.
    runs
        Has finished runs, and gets those of the parts.

    Returns
    -------
    list
        The parts' results, in the order of the parts.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C, when all runs have ended.
    RunError
        If a run failed; the others are then stopped.
    """
    stop = threading.Event()
    outcomes: dict[int, Found] = {}
    errors: list[BaseException] = []
    ended = 0

    def find(place: int, part: Callable[[Simulate], Found]) -> None:
        try:
            _unless(stop)
            outcomes[place] = part(partial(simulated, stop=stop, runs=runs))
        except BaseException as error:
            # The first is what the others were stopped for.
            errors.append(error)
            stop.set()
            raise

    def end(_: int, __: Future) -> None:
        nonlocal ended
        ended += 1
        done(ended, len(parts))

    done(0, len(parts))
    calls = [partial(find, place, part) for place, part in enumerate(parts)]
    in_threads(calls, jobs=jobs, stop=stop, end=end)
    if errors:
        raise errors[0]
    # Ctrl-C may have come when the last run had just ended.
    _unless(stop)
    return [outcomes[place] for place in range(len(parts))]


def _unless(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise KeyboardInterrupt


@dataclass(frozen=True, kw_only=True)
class Trial:
    """Result of the hardest run of one size, in bytes of one class of one link.

    Attributes
    ----------
    size
        Of the buffer that was tried; of a shared buffer its pool of headroom.
    peak
        The most that was held, of all links and classes; of a shared buffer the sum of what each held of
        headroom at most.
    lost_packets
        How many were dropped for want of room.
    least
        The least size that holds in this run, to the cell; none where that was not found.
    scenarios
        The scenarios by name, as TOML, so that anybody can run them again.
    """

    size: int
    peak: int
    lost_packets: int
    least: int | None = None
    scenarios: dict[str, str]

    @property
    def holds(self) -> bool:
        """Whether nothing was lost."""
        return self.lost_packets == 0

    @property
    def spare(self) -> int:
        """Bytes to spare: negative where packets were lost and none was held beyond the size."""
        return self.size - self.peak


@dataclass(frozen=True, kw_only=True)
class Busy:
    """Result of a run that measures the link's use.

    Attributes
    ----------
    idle_ps
        How long the far end idled after it drained again, ps.
    lost_packets
        How many were dropped.
    scenarios
        As in `Trial`.
    """

    idle_ps: int
    lost_packets: int
    scenarios: dict[str, str]


def trial(
    question: Question, buffers: Buffers, simulate: Simulate = simulated, *, pauses: bool, with_least: bool
) -> Trial:
    """Run the hardest case with a size, and find the smallest size without loss.

    The least is what was held: with the same thresholds a run in which nothing is dropped is the same for
    every size. That it holds, and that a cell less does not, is run, too.

    Parameters
    ----------
    question
        The links; with buffers of their own, one link with one class is the hardest for its class.
    buffers
        What is set at their end, with its size.
    simulate
        Runs a scenario, given as TOML.
    pauses
        Whether the flow control decides to pause, so that a frame just ahead of the pause is the hardest.
    with_least
        Whether to find the least size.

    Raises
    ------
    RunError
        If no pause was sent though nothing left the switch.
    """
    size = buffers.size or 0
    end = stop_ps(question) + _quiet_ps(question, buffers)
    texts: dict[str, str] = {}
    course = Course(end_ps=end, always_ahead=not pauses)
    if pauses:
        # When the pause is decided does not depend on the other direction, so one run says when to begin.
        decided = _decided_ps(question, simulate(link_scenario(question, buffers, Course(end_ps=end))))
        frame = question.largest_frame + PREAMBLE_AND_GAP
        ahead = decided - 1 - SHORT_PS - frame * 8 * PS_PER_S // question.rate_bps
        course = Course(end_ps=end, ahead_ps=ahead)

    def hardest(tried: int, name: str) -> tuple[int, int]:
        setting = buffers if buffers.shared else Buffers(control=buffers.control, size=tried)
        texts[name] = link_scenario(question, setting, course)
        return _held(simulate(texts[name]), setting)

    peak, lost = hardest(size, "planned")
    result = partial(Trial, peak=peak, lost_packets=lost, scenarios=texts)
    if buffers.shared:
        return result(size=buffers.headroom_pool)
    if not with_least or lost:
        return result(size=size)
    _, lost_at = hardest(peak, "least")
    _, lost_below = hardest(peak - question.cell_bytes, "one-cell-less")
    return result(size=size, least=peak if not lost_at and lost_below else None)


def flap_trial(
    question: Question, buffers: Buffers, simulate: Simulate = simulated, *, flap_ps: int
) -> Trial:
    """Let the link be down for a while when the far end has stopped and its buffer is full.

    The other direction is full of frames. Packets that the failed link itself loses do not count.
    """
    down = stop_ps(question) + _quiet_ps(question, buffers)
    up = down + flap_ps
    end = up + _quiet_ps(question, buffers)
    text = link_scenario(question, buffers, Course(end_ps=end, always_ahead=True, down_ps=(down, up)))
    peak, lost = _held(simulate(text), buffers)
    return Trial(size=buffers.size or 0, peak=peak, lost_packets=lost, scenarios={"flap": text})


def busy_trial(question: Question, buffers: Buffers, simulate: Simulate = simulated) -> Busy:
    """Let the far end stop until all is quiet and drain again, and count how long it idles then.

    The other direction is full of frames, so that what the far end tells the near one waits.
    """
    resume = stop_ps(question) + _quiet_ps(question, buffers)
    end = resume + 2 * question.delay_ps + _quiet_ps(question, buffers)
    bucket = max(1_000_000, 2 * question.delay_ps // BUCKETS)
    course = Course(end_ps=end, resume_ps=resume, always_ahead=True, bucket_ps=bucket)
    text = link_scenario(question, buffers, course)
    result = simulate(text)
    # The resume takes a moment to be obeyed; the bucket after it is the first whole one.
    first = (resume + 2 * SHORT_PS) // bucket + 2
    last = end // bucket - 1
    sent = _left(result, first * bucket, last * bucket)
    expected = (last - first) * bucket * question.rate_bps // (8 * PS_PER_S)
    missing = expected - sent - 2 * (question.largest_frame + PREAMBLE_AND_GAP)
    idle = max(0, missing) * 8 * PS_PER_S // question.rate_bps
    _, lost = _held(result, buffers)
    return Busy(idle_ps=idle, lost_packets=lost, scenarios={"busy": text})


def carried_trial(
    question: Question, buffers: Buffers, simulate: Simulate = simulated, *, drain: float, xoff: int | None
) -> float:
    """Return the share of its rate that the link carries if the far end drains that share, by a run.

    It is counted over whole cycles of pauses where there are such, else over round trips.

    Parameters
    ----------
    question, buffers
        The link, and what is set at its end.
    simulate
        Runs a scenario, given as TOML.
    drain
        The share at which the far end drains.
    xoff
        Where the switch pauses, in bytes; none where it does not.
    """
    # A cycle of pauses: the queue climbs to XOFF and falls from it, with a round trip each (SWING, Eq. 2, 3).
    turn = round(_fill_ps(question, xoff or 0) / min(drain, 1 - drain))
    cycle = 4 * question.delay_ps + turn + 20_000_000
    end = (CYCLES + SETTLING) * cycle
    bucket = max(1_000_000, 2 * question.delay_ps // BUCKETS)
    result = simulate(link_scenario(question, buffers, Course(end_ps=end, drain=drain, bucket_ps=bucket)))
    pauses = _pauses(result)
    first, last = SETTLING * cycle, end
    if pauses is not None:
        # The first pause after each time of no pause begins a cycle.
        starts = [at for before, at in pairwise([0, *pauses]) if at - before > question.delay_ps]
        whole = [at for at in starts if at > first]
        if len(whole) > 1:
            first, last = whole[0], whole[-1]
    sent = _left(result, first // bucket * bucket, last // bucket * bucket)
    return sent * 8 * PS_PER_S / ((last // bucket - first // bucket) * bucket * question.rate_bps)


def _quiet_ps(question: Question, buffers: Buffers) -> int:
    """Return the time after which nothing is under way any more when the far end stops or drains."""
    return 6 * question.delay_ps + _fill_ps(question, buffers.size or 0) + MARGIN_PS


def _fill_ps(question: Question, size: int) -> int:
    """Time in which a buffer fills at the link's rate, if every byte is one of the wire."""
    return size * 8 * PS_PER_S // question.rate_bps


def _decided_ps(question: Question, result: Result) -> int:
    """Return when the switch decided to pause, from the arrival of its first pause after the stop."""
    after = [at for at in _pauses(result) or () if at > stop_ps(question)]
    if not after:
        raise RunError("plan: the switch sent no pause, though nothing left it")
    frame = (SMALLEST + PREAMBLE_AND_GAP) * 8 * PS_PER_S // question.rate_bps
    return after[0] - frame - question.delay_ps


def _pauses(result: Result) -> list[int] | None:
    """Return when pauses arrived at the first link's near end, in ps."""
    pauses = result.pauses
    if pauses is None:
        return None
    rows = pauses.filter(pl.col("node").cast(pl.String) == "a1", pl.col("event").cast(pl.String) == "pause")
    return [round(float(at) * 1000) for at in rows["time_ns"]]


def _left(result: Result, from_ps: int, to_ps: int) -> int:
    """Return the bytes on the wire that left the switch for the first link's host between two times."""
    shares = result.shares
    if shares is None:
        raise RunError("plan: the run has no shares")
    time = (pl.col("time_us") * 1e6).round()
    link = pl.col("object").cast(pl.String).str.ends_with("s>b1")
    return int(shares.filter(link, time >= from_ps, time < to_ps)["tx_bytes"].sum() or 0)


def _held(result: Result, buffers: Buffers) -> tuple[int, int]:
    """Return the most that a planned port and class held, and the packets that such ports dropped.

    Where relays are planned, the port is theirs; of a shared buffer it is the headroom of all of them.
    """
    planned = result.counters.filter(pl.col("link").cast(pl.String).str.contains(r"^a\d+-s$"))
    relays = planned.filter(pl.col("node").cast(pl.String).str.starts_with("r"))
    ports = relays if relays.height else planned.filter(pl.col("node").cast(pl.String) == "s")
    lost = pl.col("drops_buffer").sum() + pl.col("drops_egress").sum()
    held = pl.col("headroom_peak_bytes").sum() if buffers.shared else pl.col("peak_bytes").max()
    return ports.select(held, lost).row(0)


def least_headroom(question: Question, simulate: Simulate = simulated) -> int:
    """Return the least headroom of a class with which nothing is lost in the hardest run.

    It is the most that the class held beyond XOFF, which is a multiple of what the frames of the mix occupy,
    so that the packet that causes the pause just fills it. Of frames of any size the run has those that fill
    cells worst, one after the other; the formula counts the largest as the last one as well, which makes it
    larger by about that frame.

    Raises
    ------
    RunError
        If the planned size lost packets, or no least size was found.
    """
    pfc = flow_control("pfc")
    held = sum(_occupied(question, payload + HEADERS) for payload in worst_payloads(question))
    size = pfc.no_loss(question)
    past = (pfc.thresholds(question, size).xoff or 0) % held
    planned = pfc.thresholds(question, size + (held - past if past else 0))
    buffers = Buffers(control=planned.control, size=planned.size)
    run = trial(question, buffers, simulate, pauses=True, with_least=True)
    if run.least is None or planned.xoff is None:
        link = f"{question.rate_bps // 1_000_000} Mb/s over {question.length_m} m"
        reason = f"{run.lost_packets} packets were lost at the planned size"
        raise RunError(f"{link}: no least headroom was found: {reason}")
    return run.least - planned.xoff


def _occupied(question: Question, frame: int) -> int:
    """Return what a frame occupies."""
    return -(-frame // question.cell_bytes) * question.cell_bytes
