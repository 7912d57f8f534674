"""Cases, counts and pairs of the benchmarks, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "Case",
    "Count",
    "Measured",
    "Pair",
    "Paired",
    "Peer",
    "Run",
    "Scaling",
    "Skipped",
    "Usage",
]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A scenario of the set.

    Parameters
    ----------
    name
        Its name in results.
    what
        Its purpose, in a few words.
    scenario
        Its file; variables of the environment are written `${NAME}`.
    """

    name: str
    what: str
    scenario: str


@dataclass(frozen=True, kw_only=True)
class Count:
    """Two runs of a scenario whose difference in instructions is counted.

    Parameters
    ----------
    name
        Its name in results.
    what
        Its purpose, in a few words.
    scenario
        Its file.
    short, long
        Settings of each of the two runs, `path=value`.
    """

    name: str
    what: str
    scenario: str
    short: tuple[str, ...]
    long: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """Networks of growing size with the same load for each host.

    Parameters
    ----------
    scenario
        A permutation on a fat tree.
    ports
        Ports of a switch of each network, k.
    payload
        Bytes of payload of a packet.
    most_hosts_simulated
        The most hosts of a network whose cache misses are counted by simulation.
    """

    scenario: str
    ports: tuple[int, ...]
    payload: int
    most_hosts_simulated: int


@dataclass(frozen=True)
class Skipped:
    """A case, count or pair that was not measured, with the reason.

    Parameters
    ----------
    name
        The name of the case, count or pair.
    reason
        The reason, in a sentence.
    """

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Runs of a case on a number of threads.

    Parameters
    ----------
    case
        Its name.
    threads
        Threads that each run used.
    runs
        The document that each run printed.
    """

    case: str
    threads: int
    runs: tuple[dict[str, Any], ...]

    def median(self, key: str) -> float:
        """Return the median over the runs of a number that each printed."""
        return float(median(run[key] for run in self.runs))

    @property
    def rate(self) -> float:
        """Packet-hops per second of wall time, the median."""
        return float(median(run["packet_hops"] / run["wall_s"] for run in self.runs))

    @property
    def events(self) -> float:
        """Events per packet-hop, all causes together."""
        return float(sum(self.runs[0]["events_per_packet_hop"].values()))


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run of floodway that is paired with one of another simulator.

    Parameters
    ----------
    name
        The simulated functions of its hosts and switches, in a few words.
    scenario
        Its file; variables of the environment are written `${NAME}`.
    sets
        Its settings, `path=value`.
    """

    name: str
    scenario: str
    sets: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Pair:
    """The same work for floodway and for another simulator.

    Parameters
    ----------
    name
        Its name in results.
    what
        The work, in a few words.
    peer
        The other simulator: `htsim` or `hpcc-ns3`.
    theirs
        The simulated functions of the other simulator's hosts and switches, in a few words.
    ours
        Runs of floodway, the one that is nearest to theirs first.
    reference
        The file of completion times that theirs has to reach; `None` where it has to reach floodway's.
    """

    name: str
    what: str
    peer: str
    theirs: str
    ours: tuple[Run, ...]
    reference: str | None = None


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A build of another simulator.

    Parameters
    ----------
    name
        `htsim` or `hpcc-ns3`.
    folder
        The folder of the builds.
    program
        Its binary.
    command
        The command that starts it: a template with `{program}`, `{folder}` and `{arguments}`.
    version, commit, flags
        Its version, its commit, and the flags of the compiler.
    """

    name: str
    folder: Path
    program: Path
    command: str
    version: str
    commit: str
    flags: str


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Resource usage of a whole process.

    Parameters
    ----------
    cpu_s
        Seconds of CPU, in user mode and in the kernel.
    wall_s
        Seconds from its start to its end.
    peak_memory_bytes
        Its peak resident memory.
    """

    cpu_s: float
    wall_s: float
    peak_memory_bytes: int


@dataclass(frozen=True, kw_only=True)
class Paired:
    """Runs of a pair, by turns.

    Parameters
    ----------
    pair
        The pair.
    run
        The run of floodway.
    peer
        The build of the other simulator.
    work
        The work that both did, in a sentence, as far as it can be known.
    theirs, ours
        Resource usage of each run, one of each a turn.
    """

    pair: Pair
    run: Run
    peer: Peer
    work: str
    theirs: tuple[Usage, ...]
    ours: tuple[Usage, ...]

    @property
    def ratios(self) -> list[float]:
        """CPU seconds of theirs over those of ours, turn by turn."""
        return [theirs.cpu_s / ours.cpu_s for theirs, ours in zip(self.theirs, self.ours, strict=True)]
