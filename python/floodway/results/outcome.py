"""Verdicts and totals of a run, as the simulator states them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from floodway.results.lossless import Lossless

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["Blocked", "Captured", "CnpTotals", "Deadlock", "Difference", "JobTotals", "NotSkipped"]
__all__ += ["Outcome", "Skipped", "SwitchPeak", "WorkloadTotals"]

Stopped = Literal["finished", "limit", "deadlock", "interrupted"]

#: As many of the iterations that recur are named in a sentence.
NAMED_SKIPS = 3


@dataclass(frozen=True, kw_only=True)
class Deadlock:
    """A cycle of paused queues: each of `ports` waits for the next, since `time_us`.

    Attributes
    ----------
    time_us
        When the last pause of the cycle began, from which on none of its ports could send, in microseconds.
        The cycle is found one to two milliseconds later.
    ports
        Egress ports in order, as "node (link)".
    """

    time_us: float
    ports: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Blocked:
    """A class of a port that flow control still blocked without need when the run ended.

    It had something to send, the link's other end held nothing of it, and it had been blocked for longer than
    a millisecond and a round trip of the link.

    Attributes
    ----------
    port
        The egress port, as "node (link)".
    class_
        The class.
    flow_control
        The flow control of the link's other end.
    blocked_us
        How long it had been blocked, in microseconds.
    """

    port: str
    class_: int
    flow_control: str
    blocked_us: float


@dataclass(frozen=True, kw_only=True)
class CnpTotals:
    """CNPs by who made them, whether they arrived or not.

    Attributes
    ----------
    congestion_points
        Frames that congestion points of ports made.
    receivers
        Frames that receivers made.
    flags
        Flags that receivers set in ACKs and NAKs instead of frames (`cnp = "ack-flag"`).
    """

    congestion_points: int = 0
    receivers: int = 0
    flags: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.congestion_points + self.receivers + self.flags


@dataclass(frozen=True, kw_only=True)
class Captured:
    """The contents of a capture.

    Attributes
    ----------
    packets
        Frames that are in it.
    missed
        Frames that it had no room for.
    """

    packets: int
    missed: int


@dataclass(frozen=True, kw_only=True)
class SwitchPeak:
    """The most that a switch's buffer held.

    Attributes
    ----------
    node
        Name of the switch.
    peak_bytes
        Bytes of all ports and classes together.
    """

    node: str
    peak_bytes: int


@dataclass(frozen=True, kw_only=True)
class WorkloadTotals:
    """Offered and delivered totals of a workload.

    Attributes
    ----------
    name
        Its name.
    flows, finished
        Flows that started, and of these the finished ones.
    measured, measured_finished
        The same of flows that started inside the measuring window.
    offered_bytes, delivered_bytes
        Payload of started flows, and what of it arrived.
    span_us
        Span over which flows started, in microseconds.
    never_started
        Flows that still waited for others when the run ended; they have no row.
    """

    name: str
    flows: int
    finished: int
    measured: int
    measured_finished: int
    offered_bytes: int
    delivered_bytes: int
    span_us: float
    never_started: int = 0


@dataclass(frozen=True, kw_only=True)
class JobTotals:
    """The progress of a job.

    Attributes
    ----------
    workload
        Its name.
    ranks, finished
        Its ranks, and those that completed their program.
    iterations, micro_batches
        Its iterations, and the micro-batches in the steady part of an iteration's schedule, also those that
        were skipped; 0 in results of versions that did not write them.
    scale_up_messages, scale_up_bytes
        Messages within scale-up domains, which are no packets and no flows, and their payload.
    waiting
        Of ranks that did not finish: some operations that had started and were not complete, in words.
    """

    workload: str
    ranks: int
    finished: int
    scale_up_messages: int
    scale_up_bytes: int
    waiting: tuple[str, ...]
    iterations: int = 0
    micro_batches: int = 0


@dataclass(frozen=True, kw_only=True)
class LinkRetry:
    """Totals of link retry over all links: replays, acknowledgements, frames discarded or given up.

    Attributes
    ----------
    replays, replay_bytes
        Frames that were sent again, and their bytes on the wire.
    acks, nacks
        Control ordered sets that acknowledge, and that ask for frames again.
    discarded
        Frames that arrived and were not accepted: damaged, behind a damaged one, or accepted before.
    given_up
        Frames that were flushed from a replay buffer, and are lost.
    """

    replays: int
    replay_bytes: int
    acks: int
    nacks: int
    discarded: int
    given_up: int


@dataclass(frozen=True, kw_only=True)
class Skipped:
    """Iterations or micro-batches of a job that were not simulated, since they repeat earlier ones.

    Attributes
    ----------
    workload
        The job's name.
    iteration, period
        The first of the iterations that recur, from 0, and how many those are; of micro-batches the iteration
        in which they are, and how many of them recur.
    iterations, of
        Iterations that were not simulated, of all of the job.
    time_ps
        The simulated time that was skipped with them, in picoseconds: the same time for all jobs of which
        iterations were skipped at once.
    micro_batch
        The first of the micro-batches that recur, of those in the steady part of the schedule, from 1; None
        of iterations.
    micro_batches, of_micro_batches
        Micro-batches that were not simulated, of those in the steady part of an iteration's schedule.
    """

    workload: str
    iteration: int
    period: int
    iterations: int
    of: int
    time_ps: int
    micro_batch: int | None = None
    micro_batches: int = 0
    of_micro_batches: int = 0

    @property
    def recurring(self) -> str:
        """What they repeat: `iteration 3`, `iterations 3 to 4`, `micro-batches 7 to 8 of iteration 0`."""
        if self.micro_batch is not None:
            return f"{_listed('micro-batch', self.micro_batch, self.period)} of iteration {self.iteration}"
        return _listed("iteration", self.iteration, self.period)

    @property
    def count(self) -> int:
        """Iterations or micro-batches that were not simulated."""
        return self.iterations + self.micro_batches


def _listed(unit: str, first: int, count: int) -> str:
    return f"{unit}{'' if count == 1 else 's'} {_numbers(first, count)}"


def _numbers(first: int, count: int) -> str:
    return f"{first}" if count == 1 else f"{first} to {first + count - 1}"


def _count(skips: Sequence[Skipped]) -> int:
    return sum(skipped.count for skipped in skips)


def _repeat(skips: Sequence[Skipped]) -> str:
    return "repeats" if _count(skips) == 1 else "repeat"


def _repeated(skips: Sequence[Skipped]) -> str:
    """Name what is repeated, the first of many."""
    recurring = [skipped.recurring for skipped in skips]
    if len(recurring) > NAMED_SKIPS:
        recurring = [*recurring[: NAMED_SKIPS - 1], f"others in {len(recurring) - NAMED_SKIPS + 1} places"]
    return " and ".join(recurring)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Parts of one kind of the state of a network that differed between two looks at it.

    Attributes
    ----------
    parts
        The kind: ports, queue pairs, ranks.
    of, differing
        All parts of the kind, and those that differed.
    first, field
        The first part that differed, and the first of its fields that did.
    before, now
        What that field held at the look before the last, and at the last; times count from the look.
    """

    parts: str
    of: int
    differing: int
    first: str
    field: str
    before: str
    now: str


@dataclass(frozen=True, kw_only=True)
class NotSkipped:
    """The reason why nothing of a job was skipped, although it has several iterations or micro-batches.

    Attributes
    ----------
    workload
        The job's name.
    of
        Its iterations.
    looks
        How often the state of the network was compared with earlier ones.
    why
        Why, in words.
    differences
        What differed between the last two looks, by kind of part.
    """

    workload: str
    of: int
    looks: int
    why: str
    differences: tuple[Difference, ...] = ()

    @property
    def sentence(self) -> str:
        """The reason why nothing was skipped, as a sentence."""
        return f"nothing of {self.workload} was skipped: {self.why}"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """Verdicts and totals of a run.

    Attributes
    ----------
    stopped
        Why it ended.
    simulated_us
        Simulated time, in microseconds.
    all_simulated_us
        Until when all parts of the network were simulated, in microseconds, where an interrupted run had
        not come equally far in all (docs/jobs.md); None otherwise.
    broken
        Invariants that do not hold, each with its first breach in words; a bug where not empty.
    lossless
        Whether lossless classes lost anything, and what that says.
    deadlocks
        Cycles of paused queues.
    blocked
        What flow control still blocked at the end without need, the longest first; none in results of
        versions that did not look.
    workloads
        What each workload offered and got.
    packet_hops
        Packets received over a link, data and replies alike.
    drops
        Packets dropped, by reason; reasons that did not occur are left out.
    switches
        How full each switch's buffer was.
    cnps
        CNPs by who made them; none in results of versions that did not count receivers'.
    pauses_beyond
        Pauses and resumes that came when the table `pauses` was full, and have no row.
    signals_beyond, allowances_beyond, shares_beyond, operations_beyond
        The same of marks, CNPs and states, of changed allowances, of flows' shares of links, and of
        operations of jobs.
    jobs
        How far each job came.
    capture
        What the capture holds, where there is one.
    link_retry
        What link retries sent again, where links have one.
    skipped
        Iterations of jobs that were not simulated, if some were not: by part of the network, in the order of
        time.
    not_skipped
        Why all of a part's jobs were, where one has several and skips are not switched off.
    """

    stopped: Stopped
    simulated_us: float
    broken: tuple[tuple[str, str], ...]
    lossless: Lossless
    deadlocks: tuple[Deadlock, ...]
    workloads: tuple[WorkloadTotals, ...]
    packet_hops: int
    drops: tuple[tuple[str, int], ...]
    switches: tuple[SwitchPeak, ...]
    blocked: tuple[Blocked, ...] = ()
    cnps: CnpTotals | None = None
    pauses_beyond: int = 0
    signals_beyond: int = 0
    allowances_beyond: int = 0
    shares_beyond: int = 0
    operations_beyond: int = 0
    jobs: tuple[JobTotals, ...] = ()
    capture: Captured | None = None
    link_retry: LinkRetry | None = None
    skipped: tuple[Skipped, ...] = ()
    not_skipped: NotSkipped | None = None
    all_simulated_us: float | None = None

    @property
    def faults(self) -> tuple[str, ...]:
        """The reasons not to use its numbers, in words: broken invariants, and a deadlock that stopped it."""
        broken = (f"invariant {name} does not hold, a bug in floodway: {why}" for name, why in self.broken)
        if self.stopped != "deadlock":
            return tuple(broken)
        since = min(deadlock.time_us for deadlock in self.deadlocks)
        return (*broken, f"a deadlock since {since:,.1f} us stopped the run at {self.simulated_us:,.1f} us")

    def skips_of(self, job: str) -> tuple[Skipped, ...]:
        """Return what was skipped of a job, in the order of time."""
        return tuple(skipped for skipped in self.skipped if skipped.workload == job)

    def skip_sentence(self, job: str) -> str | None:
        """Return a sentence on what was skipped of a job, and why; None if nothing was."""
        whole = [skipped for skipped in self.skips_of(job) if skipped.micro_batch is None]
        parts = [skipped for skipped in self.skips_of(job) if skipped.micro_batch is not None]
        texts = []
        if whole:
            repeat = f"{_repeat(whole)} {_repeated(whole)}"
            texts.append(f"{_count(whole):,} of {whole[0].of:,} iterations of {job} {repeat}")
        iterations = {part.iteration for part in parts}
        if len(iterations) == 1:
            steady = f"in the steady part of iteration {parts[0].iteration} of {job}"
            numbers = " and ".join(_numbers(part.micro_batch or 0, part.period) for part in parts)
            texts.append(
                f"{_count(parts):,} of {parts[0].of_micro_batches:,} micro-batches {steady} {_repeat(parts)}"
                f" {numbers} of them"
            )
        elif parts:
            of = f"{len(iterations)} iterations of {job}"
            texts.append(f"{_count(parts):,} micro-batches of {of} repeat others there")
        if not texts:
            return None
        were = "was" if _count((*whole, *parts)) == 1 else "were"
        return f"{', and '.join(texts)} to the picosecond, and {were} not simulated again"

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Outcome:
        """Read the simulator's JSON, whose other keys are ignored."""
        verdicts = raw["invariants"].items()
        tables = ("pauses", "signals", "allowances", "shares", "operations")
        kinds: dict[str, Callable[..., Any]]
        kinds = {"cnps": CnpTotals, "capture": Captured, "link_retry": LinkRetry, "not_skipped": _not_skipped}
        return cls(
            stopped=cast("Stopped", raw["stopped"]),
            simulated_us=raw["simulated_us"],
            all_simulated_us=raw.get("all_simulated_us"),
            broken=tuple((name, verdict["broken"]) for name, verdict in verdicts if verdict != "holds"),
            lossless=Lossless.from_json(raw["lossless"]),
            deadlocks=tuple(
                Deadlock(time_us=d["time_us"], ports=tuple(d["ports"])) for d in raw["deadlocks"]
            ),
            workloads=tuple(_totals(workload) for workload in raw["workloads"]),
            packet_hops=raw["packet_hops"],
            drops=tuple((reason, packets) for reason, packets in raw["drops"] if packets),
            switches=tuple(SwitchPeak(**device) for device in raw["devices"]),
            blocked=tuple(
                Blocked(class_=entry.pop("class"), **entry) for entry in map(dict, raw.get("blocked", ()))
            ),
            jobs=tuple(JobTotals(**{**job, "waiting": tuple(job["waiting"])}) for job in raw.get("jobs", ())),
            skipped=tuple(Skipped(**skipped) for skipped in raw.get("skipped", ())),
            **{f"{table}_beyond": raw.get(table, {}).get("beyond", 0) for table in tables},
            **{name: kind(**raw[name]) for name, kind in kinds.items() if name in raw},
        )


def _not_skipped(*, differences: Sequence[Mapping[str, Any]], **rest: Any) -> NotSkipped:  # noqa: ANN401 (JSON)
    return NotSkipped(**rest, differences=tuple(Difference(**difference) for difference in differences))


def _totals(raw: Mapping[str, Any]) -> WorkloadTotals:
    # Older runs know of no flows that wait.
    return WorkloadTotals(
        **{field: raw[field] for field in WorkloadTotals.__dataclass_fields__ if field in raw}
    )
