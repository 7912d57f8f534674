"""Worst-case scenarios for the buffer at the end of a long link.

```
a1 ===== the planned link =====> s ---> b1      b1 stops: nothing leaves s
   <---- pauses, and full frames - s <--- c1    a full frame is ahead of the pause
```

`a1` sends at the link's rate when `b1` stops. Just before `s` decides to pause, it has begun a full frame to
`a1`, so that the pause waits; and `a1` takes as long to obey it as its MAC may. Several links are stopped at
one instant. The delay of `s`'s own interface, too, is simulated as time until `a1` obeys.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from floodway.common.errors import PlanError
from floodway.planning.question import HEADERS, SMALLEST, Question

if TYPE_CHECKING:
    from collections.abc import Iterator


__all__ = ["CLASS_NUMBERS", "PREAMBLE_AND_GAP", "SHORT_PS", "Buffers", "Course", "link_scenario", "stop_ps"]
__all__ += ["until_obeyed"]

#: Tag of the planned links.
PLANNED = "planned"
#: The data classes, in the order in which they are used.
CLASS_NUMBERS = (3, 4, 2, 1, 5, 0, 7)
#: One-way delay of the links inside the site, ps.
SHORT_PS = 1_000_000
PREAMBLE_AND_GAP = 20
#: The longest time that a scenario may have, ps (`crates/scenario/src/grammar/bounds.rs`).
LONGEST_PS = 100_000 * 1_000_000_000_000


@dataclass(frozen=True, kw_only=True)
class Buffers:
    """Settings of flow control and buffer at the end of the planned links.

    Attributes
    ----------
    control
        The flow control and its parameters, as TOML.
    size
        Bytes of the buffer that each class of each link has for itself; none for what its formula asks.
    shared
        The switch's shared buffer instead, as TOML; none for buffers of their own.
    headroom_pool
        The headroom that its ports share, in bytes.
    """

    control: str
    size: int | None = None
    shared: str | None = None
    headroom_pool: int = 0


@dataclass(frozen=True, kw_only=True)
class Course:
    """The course of a run: the times of its events.

    Attributes
    ----------
    end_ps
        When the run ends.
    resume_ps
        When data leave the switch again; none for never.
    ahead_ps
        When a full frame of the other direction starts at its host; none for no such frame.
    always_ahead
        Whether the other direction is full of such frames all the time.
    drain
        Share of the link's rate at which data leave the switch.
    bucket_ps
        Width of the buckets in which the bytes that leave are counted; 0 to count none.
    down_ps
        From when to when the links are down; none for never.
    """

    end_ps: int
    resume_ps: int | None = None
    ahead_ps: int | None = None
    always_ahead: bool = False
    drain: float = 1.0
    bucket_ps: int = 0
    down_ps: tuple[int, int] | None = None


def stop_ps(question: Question) -> int:
    """Return when nothing leaves the far end any more: the link has been full for a round trip."""
    return 4 * question.delay_ps + 20_000_000


def worst_payloads(question: Question) -> tuple[int, ...]:
    """Return the payloads of the data: those of the mix, or of the frame that fills cells worst."""
    if question.mix_bytes:
        return tuple(max(1, frame - HEADERS) for frame in question.mix_bytes)
    cell, largest = question.cell_bytes, question.largest_frame
    if cell <= 1:
        return (question.mtu_bytes,)
    first, last = -(-SMALLEST // cell), (largest - 1) // cell
    sizes = {SMALLEST, first * cell + 1, last * cell + 1, largest - 16}
    allowed = [size for size in sizes if SMALLEST <= size <= HEADERS + question.mtu_bytes]
    worst = max(allowed, key=lambda size: -(-size // cell) * cell / (size + PREAMBLE_AND_GAP))
    return (max(1, worst - HEADERS),)


def link_scenario(question: Question, buffers: Buffers, course: Course) -> str:
    """Return the scenario as TOML.

    Parameters
    ----------
    question
        The links; all of them and all their classes are in it.
    buffers
        What is set at their end.
    course
        What happens.

    Raises
    ------
    PlanError
        If the run would take more simulated time than a scenario may have.
    """
    _check_length(question, course)
    records = "records.pauses = true"
    if course.bucket_ps:
        records += f'\nrecords.shares = {{ links = "s-b1", bucket = "{course.bucket_ps}ps" }}'
    tables = [
        f'mtu = "{question.mtu_bytes}B"\nlimit = "{course.end_ps}ps"\nstop = "limit"\n{records}',
        _topology(question, course.drain),
        *_settings(question, buffers, course),
        *_workloads(question, course),
    ]
    return "\n\n".join(tables) + "\n"


def until_obeyed(question: Question) -> tuple[str, str]:
    """Return PFC's keys of the delays at both ends, as TOML; floodway's ports have none by themselves."""
    return (f'react = "{question.reaction_ps}ps"', f'interface-delay = "{question.interface_delay_ps}ps"')


def _check_length(question: Question, course: Course) -> None:
    """Refuse a course that is too long; the error names what takes most of its time."""
    stops_for_ever = course.resume_ps is None and course.drain >= 1
    longest = 2 * course.end_ps if stops_for_ever else course.end_ps
    if longest <= LONGEST_PS:
        return
    first, last = course.down_ps or (0, 0)
    # No course has more one-way delays than a hundred.
    if 2 * (last - first) > course.end_ps:
        key, blamed = "survive", "this flap lasts too long"
    elif 200 * question.delay_ps > course.end_ps:
        key, blamed = "latency", "this latency is too large"
    else:
        key, blamed = "rate", f"{question.rate_bps:,}bps is too low"
    taken, most = (-(-ps // 1_000_000_000_000) for ps in (longest, LONGEST_PS))
    text = f"{key}: {blamed}: its runs would have times of {taken:,} s, and the maximum is {most:,} s"
    hint = "formulas alone need none (--no-simulate, in Python simulate=False)"
    raise PlanError(f"{text}; {hint}", key=key)


def _settings(question: Question, buffers: Buffers, course: Course) -> Iterator[str]:
    yield (
        '[defaults]\nrate-control = "line-rate"\nreliability = "none"\n'
        f'cell = "{question.cell_bytes}B"\n'
        f'flow-control.pfc = {{ xoff = "1MB", {", ".join(until_obeyed(question))} }}'
    )
    buffer = ""
    if buffers.shared is None:
        size = "auto" if buffers.size is None else f"{buffers.size}B"
        buffer = f'\nbuffer.static = {{ size = "{size}" }}'
    else:
        yield f'[[override]]\nname = "memory"\nswitches = "s"\nbuffer.shared = {buffers.shared}'
        yield '[[override]]\nname = "cables"\nlinks = ["s-b*", "c*-s"]\nbuffer.static = { size = "auto" }'
    yield (
        f'[[override]]\nname = "{PLANNED}"\nlinks = {{ tag = "{PLANNED}" }}\n'
        f"flow-control = {buffers.control}{buffer}{_down(course)}"
    )
    if course.drain < 1:
        return
    to = 2 * course.end_ps if course.resume_ps is None else course.resume_ps
    stops = ", ".join(
        f'{{ class = {number}, from = "{stop_ps(question)}ps", to = "{to}ps" }}'
        for number in CLASS_NUMBERS[: question.classes]
    )
    yield f'[[override]]\nname = "stopped"\nhosts = "b*"\nfaults.pause = [{stops}]'


def _down(course: Course) -> str:
    if course.down_ps is None:
        return ""
    first, last = course.down_ps
    return f'\nfaults.down = {{ from = "{first}ps", to = "{last}ps" }}'


def _workloads(question: Question, course: Course) -> Iterator[str]:
    hosts = range(1, question.links + 1)
    for number in CLASS_NUMBERS[: question.classes]:
        # Queue pairs send in turns, in the order in which they begin: one for each frame of the mix.
        alike = ((payload, len(list(group))) for payload, group in groupby(worst_payloads(question)))
        for order, (payload, count) in enumerate(alike, start=1):
            pairs = [f'{{ from = "a{i}", to = "b{i}", size = "unbounded" }}' for i in hosts]
            flows = ", ".join(pairs * count)
            name = f"data-{number}-{order}"
            yield f'[[workload]]\nname = "{name}"\nflows = [{flows}]'
            yield _override(name, f'class = {number}\npayload = "{payload}B"')
    if course.always_ahead or course.ahead_ps is not None:
        start, size = (0, "unbounded") if course.always_ahead else (course.ahead_ps, f"{question.mtu_bytes}B")
        flows = ", ".join(
            f'{{ from = "c{i}", to = "a{i}", size = "{size}", start = "{start}ps" }}' for i in hosts
        )
        yield f'[[workload]]\nname = "ahead"\nflows = [{flows}]'
        yield _override("ahead", f"class = {CLASS_NUMBERS[0]}")


def _topology(question: Question, drain: float) -> str:
    hosts = range(1, question.links + 1)
    rate = round(question.rate_bps * drain)
    slower = f', rate = "{rate}bps"' if drain < 1 else ""
    links = [
        f'{{ between = ["a{i}", "s"], delay = "{question.delay_ps}ps", tags = ["{PLANNED}"] }}' for i in hosts
    ]
    links += [f'{{ between = ["s", "b{i}"]{slower} }}' for i in hosts]
    links += [f'{{ between = ["c{i}", "s"] }}' for i in hosts]
    listed, count = ",\n  ".join(links), question.links
    return (
        f'[topology.explicit]\nhosts = ["a1..a{count}", "b1..b{count}", "c1..c{count}"]\nswitches = ["s"]\n'
        f'rate = "{question.rate_bps}bps"\ndelay = "{SHORT_PS}ps"\nlinks = [\n  {listed},\n]'
    )


def _override(workload: str, settings: str) -> str:
    return f'[[override]]\nname = "{workload}"\nflows = {{ workload = "{workload}" }}\n{settings}'
