"""What is measured, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import Any

__all__ = ["Case", "Count", "Measured", "Peer", "Scaling", "Skipped"]


@dataclass(frozen=True, kw_only=True)
class Peer:
    """What another simulator needs for the same work.

    Parameters
    ----------
    simulator
        Its name, and what it runs.
    packet_hops_per_s
        Packets received over a link, data and ACKs, in a second of wall time; none where its time counts.
    wall_s
        Wall time of its whole run; none where its rate counts.
    aim
        How many times as fast floodway is meant to be; none where it is only compared.
    """

    simulator: str
    packet_hops_per_s: float | None = None
    wall_s: float | None = None
    aim: float | None = None


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
    peers
        Others that did the same.
    """

    name: str
    what: str
    scenario: str
    peers: tuple[Peer, ...] = ()


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
