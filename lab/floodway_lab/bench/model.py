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
        What results call it.
    what
        What it shows, in a few words.
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
        What results call it.
    what
        What it shows, in a few words.
    scenario
        Its file.
    short, long
        What is set in it, `path=value`, in each of the two runs.
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
        Up to so many hosts, cache misses are counted by simulation.
    """

    scenario: str
    ports: tuple[int, ...]
    payload: int
    most_hosts_simulated: int


@dataclass(frozen=True)
class Skipped:
    """What was not measured, and why.

    Parameters
    ----------
    name
        Of the case or count.
    reason
        Why.
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
        What each run printed.
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
        What it simulates on its hosts and switches, in a few words.
    scenario
        Its file; variables of the environment are written `${NAME}`.
    sets
        What is set in it, `path=value`.
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
        What results call it.
    what
        The work, in a few words.
    peer
        The other simulator: `htsim` or `hpcc-ns3`.
    theirs
        What the other simulator simulates on hosts and switches, in a few words.
    ours
        Runs of floodway, the one that is nearest to theirs first.
    reference
        The file of completion times that theirs has to reach; none where floodway's are taken.
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
        How it is called: a template with `{program}`, `{folder}` and `{arguments}`.
    version, commit, flags
        What it says of itself: a name or number, the commit, and the compiler's flags.
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
    """What a whole process used.

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
        Which of its runs of floodway.
    peer
        The build of the other simulator.
    work
        What both did, as far as it can be known.
    theirs, ours
        What each run used, one of each a turn.
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
