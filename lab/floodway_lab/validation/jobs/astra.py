"""Times of ASTRA-sim's analytical backends: collectives, and traces of several nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway_lab.validation.jobs.networks import most_ns, star, trace, wires
from floodway_lab.validation.jobs.rows import Cells, Expected, Job, Row, cells_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["COLLECTIVES_FILE", "TRACES_FILE", "collectives", "traces"]

COLLECTIVES_FILE, TRACES_FILE = "astra-times.tsv", "chakra-dags-times.tsv"
COLLECTIVES, TRACES = "ASTRA-sim, collectives", "ASTRA-sim, traces of several nodes"
COLUMNS = ("set", "backend", "collective", "ranks", "comm_size_bytes", "network", "system", "max_ns")
TRACE_COLUMNS = ("backend", "trace", "ranks", "network", "rank", "finish_ns")
#: 50 "GB/s" of ASTRA-sim, which are of 2^30 bytes, in bytes a nanosecond.
RATE = 50 * 2**30 / 1e9
#: Systems whose rows may be met, and their algorithms.
ALGORITHMS = {"ring-plain": "ring", "hd-plain": "halving-doubling", "direct-plain": "direct"}
#: Kinds of networks.
NETWORKS = ("FullyConnected", "Ring", "Switch")


def collectives(folder: Path) -> Iterator[Row]:
    """Return the rows of collectives.

    Raises
    ------
    ValidationError
        If the table is malformed, or a trace that it names is missing.
    """
    for cells in cells_of(folder / COLLECTIVES_FILE, COLUMNS):
        names = ("set", "backend", "collective", "ranks", "network", "system")
        label = " ".join(cells[name] for name in names)
        reason = _reason(cells)
        expected = None if reason else _expected(cells, folder)
        yield Row(set=COLLECTIVES, label=label, expected=expected, reason=reason)


def _reason(cells: Cells) -> str:
    """Return the reason why a packet simulator cannot meet a row; empty if it can."""
    if cells["set"] != "plain":
        return "delays and splits of ASTRA-sim's own examples"
    algorithm, kind = ALGORITHMS.get(cells["system"]), cells["network"].split("_")[0]
    if algorithm is None:
        is_tree = cells["system"].startswith("dbt")
        return "trees without pipelining" if is_tree else "collectives cut into several ones"
    if kind != "Switch":
        return ""
    if cells["backend"] == "Aware":
        return "" if algorithm == "direct" else "whole messages stored and forwarded by a switch"
    return "messages at once through one NIC at no cost" if algorithm == "direct" else ""


def _steps(collective: str, algorithm: str, ranks: int) -> int:
    """Return the number of messages that follow one another."""
    if algorithm == "direct":
        return 2 if collective == "all_reduce" else 1
    if collective == "all_to_all":
        return ranks * (ranks - 1) // 2
    one_way = ranks - 1 if algorithm == "ring" else ranks.bit_length() - 1
    return one_way * (2 if collective == "all_reduce" else 1)


def _expected(cells: Cells, folder: Path) -> Expected:
    ranks, algorithm = cells.number("ranks"), ALGORITHMS[cells["system"]]
    network, hops = _network(cells, ranks)
    files = folder / f"astra/workload/{cells['collective']}-{ranks}-{cells['comm_size_bytes']}"
    count = _steps(cells["collective"], algorithm, ranks)
    workload = trace("chakra", _trace_folder(files, cells), algorithm=algorithm)
    finish: float = cells.number("max_ns")
    if algorithm == "direct" and hops > 1:
        # Its switch stores and forwards whole messages, of which the others of a phase hide all but one.
        parts = 1 if cells["collective"] == "all_gather" else ranks
        finish -= count * cells.number("comm_size_bytes") / parts / RATE
        count *= ranks - 1
    return _within(Job(network=network, workload=workload), finish, count=count, hops=hops)


def _within(job: Job, finish_ns: float, *, count: int, hops: int, rank: int | None = None) -> Expected:
    # Its endpoint delay is 1 ns at the start and before each message; times are whole nanoseconds.
    lower = finish_ns - 1 - 2 * count
    upper = most_ns(finish_ns, messages=count, hops=hops, rate=RATE)
    return Expected(job=job, rank=rank, reference_ns=finish_ns, least_ns=lower, most_ns=upper)


def traces(folder: Path) -> Iterator[Row]:
    """Return the rows of traces of several nodes.

    Raises
    ------
    ValidationError
        As `collectives` does.
    """
    for cells in cells_of(folder / TRACES_FILE, TRACE_COLUMNS):
        label = f"{cells['backend']} {cells['trace']} rank {cells['rank']}"
        if cells["backend"] != "Aware":
            reason = "messages of one rank at no cost to each other"
            yield Row(set=TRACES, label=label, reason=reason)
            continue
        ranks = cells.number("ranks")
        network, hops = _network(cells, ranks)
        files = _trace_folder(folder / f"chakra-dags/{cells['trace']}", cells)
        job = Job(network=network, workload=trace("chakra", files, algorithm="ring"))
        # No trace has more than two collectives, or three messages over as many ranks, one after another.
        finish, rank = cells.number("finish_ns"), cells.number("rank")
        expected = _within(job, finish, count=4 * ranks, hops=hops, rank=rank)
        yield Row(set=TRACES, label=label, expected=expected)


def _network(cells: Cells, ranks: int) -> tuple[str, int]:
    """Return the network of a row, and its hops."""
    kind, _, latency = cells["network"].split("_") if cells["network"].count("_") == 2 else ("", "", "")  # noqa: PLR2004
    if kind not in NETWORKS:
        form = f"KIND_RANKS_LATENCY, where KIND is one of {', '.join(NETWORKS)}"
        message = f"{cells.place}: network is {cells['network']!r}: expected {form}"
        raise ValidationError(message, place=cells.place, key="network", given=cells["network"])
    # A wire takes a picosecond at least.
    delay = "1ps" if latency == "0ns" else latency
    rate = f"{round(RATE * 8e9)}bps"
    if kind == "Switch":
        return star(ranks, rate=rate, delay=delay), 2
    everyone = [(a, b) for a in range(ranks) for b in range(a + 1, ranks)]
    ring = [(a, (a + 1) % ranks) for a in range(ranks)]
    return wires(everyone if kind == "FullyConnected" else ring, ranks, rate=rate, delay=delay), 1


def _trace_folder(files: Path, cells: Cells) -> Path:
    if not files.is_dir():
        message = f"{cells.place}: the folder of its trace is missing: {files}"
        raise ValidationError(message, place=cells.place, given=str(files))
    return files
