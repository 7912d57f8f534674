"""Scenarios that are as hard as can be for the buffer at the end of a long link.

```
a1 ===== the planned link =====> s ---> b1      b1 stops: nothing leaves s
   <---- pauses, and full frames - s <--- c1    a full frame is ahead of the pause
```

`a1` sends at the link's rate when `b1` stops. Just before `s` decides to pause, it has begun a full frame to
`a1`, so that the pause waits; and `a1` takes as long to obey it as its MAC may. Several links are stopped at
one instant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.planning.question import HEADERS, SMALLEST

if TYPE_CHECKING:
    from floodway.planning.question import Question

__all__ = ["PLANNED", "Sizes", "link_scenario", "stop_ps", "worst_payloads"]

#: Tag of the planned links.
PLANNED = "planned"
#: The data classes, in the order in which they are used.
CLASS_NUMBERS = (3, 4, 2, 1, 5, 0, 7)
#: One-way delay of the links inside the site, ps.
SHORT_PS = 1_000_000
PREAMBLE_AND_GAP = 20


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """What is set at the end of a planned link, in bytes.

    Attributes
    ----------
    control
        The flow control and its parameters, as TOML.
    buffer
        Of one class of one link; none for what its formula asks.
    """

    control: str
    buffer: int | None = None


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


def link_scenario(
    question: Question, sizes: Sizes, *, ahead_ps: int | None = None, always_ahead: bool = False, end_ps: int
) -> str:
    """Return the scenario as TOML.

    Parameters
    ----------
    question
        The link.
    sizes
        What is set at its end.
    ahead_ps
        When the full frame of the other direction starts at its host; none for no such frame.
    always_ahead
        Whether the other direction is full of such frames all the time.
    end_ps
        When the run ends.
    """
    classes = CLASS_NUMBERS[: question.classes]
    react = "ieee-802.3" if question.react_ps is None else f"{question.react_ps}ps"
    buffer = "auto" if sizes.buffer is None else f"{sizes.buffer}B"
    stop = ", ".join(
        f'{{ class = {number}, from = "{stop_ps(question)}ps", to = "{2 * end_ps}ps" }}' for number in classes
    )
    tables = [
        f'mtu = "{question.mtu_bytes}B"\nlimit = "{end_ps}ps"\nstop = "limit"\nrecords.pauses = true',
        _topology(question),
        f"""[defaults]
rate-control = "line-rate"
reliability = "none"
cell = "{question.cell_bytes}B"
flow-control.pfc = {{ xoff = "1MB", react = "{react}" }}""",
        f"""[[override]]
name = "{PLANNED}"
links = {{ tag = "{PLANNED}" }}
flow-control = {sizes.control}
buffer.static = {{ size = "{buffer}" }}""",
        f"""[[override]]
name = "stopped"
hosts = "b*"
faults.pause = [{stop}]""",
    ]
    hosts = _to(question.links)
    for number in classes:
        for order, payload in enumerate(worst_payloads(question), start=1):
            flows = ", ".join(f'{{ from = "a{i}", to = "b{i}", size = "unbounded" }}' for i in hosts)
            name = f"data-{number}-{order}"
            tables.append(f'[[workload]]\nname = "{name}"\nflows = [{flows}]')
            tables.append(_override(name, f'class = {number}\npayload = "{payload}B"'))
    if always_ahead or ahead_ps is not None:
        start, size = (0, "unbounded") if always_ahead else (ahead_ps, f"{question.mtu_bytes}B")
        flows = ", ".join(
            f'{{ from = "c{i}", to = "a{i}", size = "{size}", start = "{start}ps" }}' for i in hosts
        )
        tables.append(f'[[workload]]\nname = "ahead"\nflows = [{flows}]')
        tables.append(_override("ahead", f"class = {classes[0]}"))
    return "\n\n".join(tables) + "\n"


def _topology(question: Question) -> str:
    count = question.links
    links = [
        f'{{ between = ["a{i}", "s"], delay = "{question.delay_ps}ps", tags = ["{PLANNED}"] }}'
        for i in _to(count)
    ]
    links += [f'{{ between = ["s", "b{i}"] }}' for i in _to(count)]
    links += [f'{{ between = ["c{i}", "s"] }}' for i in _to(count)]
    listed = ",\n  ".join(links)
    return f"""[topology.explicit]
hosts = ["a1..a{count}", "b1..b{count}", "c1..c{count}"]
switches = ["s"]
rate = "{question.rate_bps}bps"
delay = "{SHORT_PS}ps"
links = [
  {listed},
]"""


def _to(count: int) -> range:
    return range(1, count + 1)


def _override(workload: str, settings: str) -> str:
    return f'[[override]]\nname = "{workload}"\nflows = {{ workload = "{workload}" }}\n{settings}'
