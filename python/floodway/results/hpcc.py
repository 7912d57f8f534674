"""Results in the formats of the HPCC simulator: `fct.txt`, `pfc.txt`, `qlen.txt`.

Fields are separated by one blank, there is no header, times are whole nanoseconds on the simulator's clock:
the scenario's `origin` is added. A node's number is that in its name where the topology came from a file of
that simulator, else its place among the hosts and then the switches; `nodes.txt` has a line `number name
kind` for each. Where the scenario has the profile of ConWeave's simulator, `fct.txt` has numbers of nodes in
the place of addresses, as that simulator writes them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from floodway.common.errors import OutputError, unwritable
from floodway.results.files import EXPORTED, new_folder
from floodway.results.quantities import counted, quantity_us
from floodway.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.results.result import Result

__all__ = ["HpccExport", "Standalone", "export", "needed_sets", "write"]

#: Headers that the standalone time counts with each packet, independent of the run's headers.
HEADERS = 48
#: Between two blocks of `qlen.txt`, in nanoseconds.
BLOCK_NS = 100_000_000
#: The profile of the simulator that writes nodes by their numbers.
BY_NUMBER = "conweave-ns3"
#: Width of a bin of `qlen.txt`.
BIN = 1000


@dataclass(frozen=True, kw_only=True)
class HpccExport:
    """What an export wrote.

    Attributes
    ----------
    files
        Names of the files.
    notes
        What they lack, a line each; empty where they lack nothing.
    """

    files: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Node:
    """A node as the formats name it."""

    number: int
    is_switch: bool

    def called(self, *, by_number: bool) -> str:
        """Return its number, or its address: 11.x.y.1, where x and y are the high and the low byte of it."""
        if by_number:
            return str(self.number)
        return f"{0x0B000001 + (self.number // 256 << 16) + (self.number % 256 << 8):08x}"


def needed_sets(scenario: Scenario) -> list[tuple[str, str]]:
    """Return the settings of a scenario with which its run records all that an export writes."""
    records = scenario.to_dict().get("records", {})
    sets = [("records.pauses", "true")]
    if isinstance(records, dict) and "queue-histogram" not in records:
        sets.append(("records.queue-histogram", "{}"))
    return sets


def export(
    result: Result, folder: str | os.PathLike[str], *, scenario: Scenario | None, force: bool
) -> HpccExport:
    """Write the files into a folder, as `Result.export_hpcc` says."""
    path, shown = Path(folder), os.fspath(folder)
    source = scenario if scenario is not None else Scenario.from_dict(result.run.scenario["scenario"])
    try:
        with new_folder(path):
            existing = [name for name in EXPORTED if (path / name).exists()]
            if existing and not force:
                raise OutputError(shown, f"holds {', '.join(existing)} already; force=True replaces them")
            return write(result, path, scenario=source)
    except OSError as error:
        raise unwritable(shown, error) from error


def write(result: Result, folder: Path, *, scenario: Scenario) -> HpccExport:
    """Write the files into a folder that is there.

    Raises
    ------
    OSError
        If one cannot be written.
    """
    nodes, origin = _nodes(scenario), _origin_ns(result.run.scenario)
    fct, unacknowledged = _fct(result.flows, nodes, scenario, origin)
    texts = {"fct.txt": fct, "nodes.txt": _map(nodes)}
    notes = []
    if unacknowledged:
        flows = f"{counted(unacknowledged, 'flow')} that arrived"
        notes.append(f"fct.txt lacks {flows} but had no last ACK when the run ended")
    if result.pauses is None:
        notes.append("pfc.txt is not written: the run did not record pauses (records.pauses = true)")
    else:
        texts["pfc.txt"] = _pfc(result.pauses, nodes, origin)
    if beyond := result.outcome.pauses_beyond:
        notes.append(f"pfc.txt lacks the last {beyond} pauses and resumes, for which the log had no room")
    samples = result.run.verdicts.get("queue_samples")
    if result.queue_histogram is None or samples is None:
        notes.append("qlen.txt is not written: the run did not record queues (records.queue-histogram)")
    elif BIN % samples["bin_bytes"]:
        unequal = f"its bins of {BIN} B are not a multiple of the run's of {samples['bin_bytes']} B"
        notes.append(f"qlen.txt is not written: {unequal}")
    else:
        texts["qlen.txt"] = _qlen(result.queue_histogram, samples["from_us"], nodes, origin)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return HpccExport(files=tuple(name for name in EXPORTED if name in texts), notes=tuple(notes))


def _nodes(scenario: Scenario) -> dict[str, _Node]:
    """Return the nodes by name, in the order of their numbers."""
    names = scenario.native.nodes
    topology = scenario.to_dict()["topology"]
    if isinstance(topology, dict) and "hpcc" in topology:
        numbered = [(int(name[1:]), name, is_switch) for name, is_switch in names]
    else:
        hosts_first = sorted(names, key=lambda node: node[1])
        numbered = [(number, *node) for number, node in enumerate(hosts_first)]
    return {name: _Node(number=number, is_switch=is_switch) for number, name, is_switch in sorted(numbered)}


def _map(nodes: Mapping[str, _Node]) -> str:
    kinds = ("host", "switch")
    return _lines(f"{node.number} {name} {kinds[node.is_switch]}" for name, node in nodes.items())


def _origin_ns(run: Mapping[str, Any]) -> int:
    """Return what time zero of a scenario is on the simulator's clock."""
    origin = run.get("origin") or run["scenario"].get("origin") or "0ns"
    return round(quantity_us(origin.replace(" ", "")) * 1000)


def _fct(flows: pl.DataFrame, nodes: Mapping[str, _Node], scenario: Scenario, origin: int) -> tuple[str, int]:
    """Return the lines of finished flows in order of their completion, and how many more only arrived."""
    arrived = flows.filter("finished")
    done = arrived.filter(pl.col("finish_sender_us").is_not_null()).with_columns(
        start=_ps("start_us"), finish=_ps("finish_sender_us")
    )
    ends, times = pl.col("source", "destination").cast(pl.String), pl.col("start", "finish") // 1000
    ports = ("source_port", "destination_port")
    rows = done.sort("finish", maintain_order=True).select(ends, *ports, "size_bytes", times)
    standalone = Standalone(scenario, rows["source"], rows["destination"])
    by_number = scenario.to_dict().get("profile") == BY_NUMBER
    called = {name: node.called(by_number=by_number) for name, node in nodes.items()}
    lines = (
        f"{called[source]} {called[destination]} {sport} {dport} {size} {origin + start}"
        f" {finish - start} {standalone.ns(source, destination, size)}"
        for source, destination, sport, dport, size, start, finish in rows.iter_rows()
    )
    return _lines(lines), len(arrived) - len(done)


def _ps(column: str) -> pl.Expr:
    """Return microseconds as the whole picoseconds that they are."""
    return (pl.col(column) * 1e6).round().cast(pl.Int64)


class Standalone:
    """Completion times of flows alone in the network, as the HPCC simulator computes them.

    Parameters
    ----------
    scenario
        The scenario of the flows.
    sources, destinations
        Names of the hosts at the flows' ends.
    """

    def __init__(self, scenario: Scenario, sources: pl.Series, destinations: pl.Series) -> None:
        pairs = sorted(set(zip(sources, destinations, strict=True)))
        self._facts = dict(zip(pairs, scenario.native.pair_times(pairs), strict=True))
        self._mtu = scenario.native.mtu_bytes

    def ns(self, source: str, destination: str, size: int) -> int:
        """Return the time in nanoseconds; 0 where no path exists with all links up."""
        facts = self._facts[source, destination]
        if facts is None:
            return 0
        propagation, payload, bottleneck = facts
        total = size + HEADERS * -(-size // self._mtu)
        return 2 * propagation + payload + total * 8_000_000_000 // bottleneck


def _pfc(pauses: pl.DataFrame, nodes: Mapping[str, _Node], origin: int) -> str:
    """Return the lines `time node node_type ifindex type`, in the order in which the frames arrived."""
    rows = pauses.select(
        pl.col("time_ns").floor().cast(pl.Int64) + origin,
        pl.col("node").cast(pl.String),
        pl.col("port") + 1,
        (pl.col("event") == "pause").cast(pl.Int8),
    )
    node_texts = {name: f"{node.number} {int(node.is_switch)}" for name, node in nodes.items()}
    return _lines(f"{time} {node_texts[node]} {port} {event}" for time, node, port, event in rows.iter_rows())


def _qlen(queues: pl.DataFrame, from_us: float, nodes: Mapping[str, _Node], origin: int) -> str:
    """Return a block of counts since the first instant for each multiple of 100 ms, and one for the last."""
    if queues.is_empty():
        return ""
    parts = queues.with_columns(pl.col("node").cast(pl.String)).partition_by(
        "until_us", maintain_order=False, as_dict=True
    )
    blocks = sorted((origin + round(until * 1000), part) for (until,), part in parts.items())
    counts = _empty(queues, nodes)
    text = []
    # That simulator writes a block at its first instant; at time zero every queue is empty.
    if from_us == 0 and origin % BLOCK_NS == 0 and blocks[0][0] > origin:
        text.append(_block(origin, {port: [1] for port in counts}))
    for time, part in blocks:
        for node, port, low, samples in part.select("node", "port", "bin_low_bytes", "samples").iter_rows():
            _add(counts[nodes[node].number, port + 1], low // BIN, samples)
        if time % BLOCK_NS == 0 or time == blocks[-1][0]:
            text.append(_block(time, counts))
    return "".join(text)


def _empty(queues: pl.DataFrame, nodes: Mapping[str, _Node]) -> dict[tuple[int, int], list[int]]:
    """Return no counts for each (switch, interface), in order."""
    ports = queues.select(pl.col("node").cast(pl.String), "port").unique().iter_rows()
    return {key: [] for key in sorted((nodes[node].number, port + 1) for node, port in ports)}


def _add(counts: list[int], bin_: int, samples: int) -> None:
    counts.extend([0] * (bin_ + 1 - len(counts)))
    counts[bin_] += samples


def _block(time: int, counts: Mapping[tuple[int, int], Sequence[int]]) -> str:
    ports = (f"{switch} {port} {' '.join(map(str, bins))}" for (switch, port), bins in counts.items())
    return f"time: {time}\n{_lines(ports)}"


def _lines(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
