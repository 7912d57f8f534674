"""Times of LogGOPSim and ATLAHS for GOAL schedules."""

from __future__ import annotations

import re
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway.common.files import read_text
from floodway_lab.validation.jobs.networks import most_ns, star, trace
from floodway_lab.validation.jobs.rows import Cells, Expected, Job, Row, cells_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["FILE", "schedules"]

FILE = "goal-compare.tsv"
SET = "LogGOPSim and ATLAHS, GOAL schedules"
COLUMNS = ("schedule", "L_ns", "rank", "LogGOPSim_ns", "atlahs_ns", "last_op", "compare_with")
#: The programs; the first one counts where a row has times of both.
PROGRAMS = ("atlahs", "LogGOPSim")
#: Schedules whose ranks have several NICs, where ours have one.
SEVERAL_NICS = ("two-streams",)
OPERATION = re.compile(
    r"^(?:(\w+):)?\s*(send|recv|calc)\s+(\d+)b?(?:\s+(?:to|from)\s+(-?\d+))?(?:\s+tag\s+(-?\d+))?"
)
RANKS, RANK = re.compile(r"num_ranks\s+(\d+)"), re.compile(r"^rank\s+(\d+)")
DEPENDENCY = re.compile(r"^(\w+)\s+i?requires\s+(\w+)")

#: A rank and the number of a line.
Node = tuple[int, int]


def schedules(folder: Path) -> Iterator[Row]:
    """Return the rows of schedules, each of a rank.

    The network is a star of 1 byte a nanosecond, whose two wires have the latency together.

    Raises
    ------
    ValidationError
        If the table is malformed, or a schedule that it names is missing.
    """
    texts: dict[str, str] = {}
    for cells in cells_of(folder / FILE, COLUMNS):
        label = f"{cells['schedule']} L {cells['L_ns']} ns rank {cells['rank']}"
        reason = _reason(cells)
        if reason:
            yield Row(set=SET, label=label, reason=reason)
            continue
        file = folder / f"goal/{cells['schedule']}.goal"
        if file.name not in texts:
            texts[file.name] = _text(file, cells)
        yield Row(set=SET, label=label, expected=_expected(cells, file, texts[file.name]))


def _program(cells: Cells) -> str | None:
    return next((name for name in PROGRAMS if name in cells["compare_with"]), None)


def _reason(cells: Cells) -> str:
    """Return the reason why a packet simulator cannot meet a row; empty if it can."""
    if cells["last_op"] == "send":
        return "a rank that ends with a send, whose issue is recorded"
    if cells["compare_with"] == "does-not-finish":
        return "a schedule that waits for ever, which is refused here"
    if _program(cells) is None or cells["last_op"] not in {"recv", "calc"}:
        return "times that neither program has right"
    return "several NICs of a rank" if cells["schedule"] in SEVERAL_NICS else ""


def _text(file: Path, cells: Cells) -> str:
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        message = f"{cells.place}: its schedule cannot be read: {file}: {error}"
        raise ValidationError(message, place=cells.place, given=str(file)) from error


def _expected(cells: Cells, file: Path, schedule: str) -> Expected:
    latency, ranks = cells.number("L_ns"), RANKS.search(schedule)
    network = star(
        max(int(ranks[1]) if ranks else 0, 2), rate="8G", delay=f"{latency / 2}ns" if latency else "1ps"
    )
    finish = cells.number(f"{_program(cells)}_ns")
    # The first byte takes no time there; a message that waits behind others waits behind their packets.
    count = longest_chain(schedule) + 1
    return Expected(
        job=Job(network=network, workload=trace("goal", file)),
        rank=cells.number("rank"),
        # Sends are recorded when they are issued.
        kinds=("recv", "compute"),
        reference_ns=finish,
        least_ns=finish - 1,
        most_ns=most_ns(finish, messages=count, hops=2, rate=1),
    )


def longest_chain(schedule: str) -> int:
    """Return the most messages that follow one another in a schedule."""
    before, arrives = _parsed(schedule)
    waits = {
        node: [*earlier, *([arrives[node]] if node in arrives else [])] for node, earlier in before.items()
    }
    depth: dict[Node, int] = {}
    try:
        for node in TopologicalSorter(waits).static_order():
            level = max((depth[earlier] for earlier in before[node]), default=0)
            depth[node] = max(level, depth[arrives[node]] + 1 if node in arrives else 0)
    except CycleError:
        # The reader of schedules reports it with its place.
        return 0
    return max(depth.values(), default=0)


def _parsed(schedule: str) -> tuple[dict[Node, list[Node]], dict[Node, Node]]:
    """Return the operations that each operation waits for, and the send that each receive matches.

    Malformed lines are skipped: the reader of schedules reports them.
    """
    before: dict[Node, list[Node]] = {}
    ends: dict[str, dict[tuple[int, int, str], list[Node]]] = {"send": {}, "recv": {}}
    labels: dict[str, Node] = {}
    rank = -1
    for number, line in enumerate(schedule.splitlines()):
        text = line.split("//")[0].strip()
        if begins := RANK.match(text):
            rank, labels = int(begins[1]), {}
        elif dependency := DEPENDENCY.match(text):
            if dependency[1] in labels and dependency[2] in labels:
                before[labels[dependency[1]]].append(labels[dependency[2]])
        elif operation := OPERATION.match(text):
            before[rank, number] = []
            labels.setdefault(operation[1] or "", (rank, number))
            if (kind := operation[2]) in ends and operation[4] is not None:
                peer, tag = int(operation[4]), operation[5] or "0"
                pair = (rank, peer) if kind == "send" else (peer, rank)
                ends[kind].setdefault((*pair, tag), []).append((rank, number))
    arrives: dict[Node, Node] = {}
    for key, nodes in ends["recv"].items():
        arrives |= dict(zip(nodes, ends["send"].get(key, []), strict=False))
    return before, arrives
