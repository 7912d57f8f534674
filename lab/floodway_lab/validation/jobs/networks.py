"""Networks in which packets only add headers, and the bounds of a time that was computed without packets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from floodway.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["HEADER", "PAYLOAD", "most_ns", "scenario_of", "star", "trace", "wires"]

#: Headers of `wire = "hpcc-ns3"`, which are the smallest, and payload of a packet, in bytes.
HEADER, PAYLOAD = 48, 4000


def star(hosts: int, *, rate: str, delay: str) -> str:
    """Return a network of hosts with a wire each to one switch."""
    return f'topology.single-switch = {{ hosts = {hosts}, rate = "{rate}", delay = "{delay}" }}'


def wires(pairs: Sequence[tuple[int, int]], hosts: int, *, rate: str, delay: str) -> str:
    """Return a network of hosts with a wire between each of these pairs."""
    between = ", ".join(f'{{ between = ["h{a}", "h{b}"] }}' for a, b in pairs)
    return (
        f'[topology.explicit]\nhosts = ["h0..h{hosts - 1}"]\nrate = "{rate}"\ndelay = "{delay}"\n'
        f"links = [{between}]"
    )


def trace(form: str, files: Path, *, algorithm: str = "") -> str:
    """Return the key of a workload that is a trace."""
    chosen = f', algorithm = "{algorithm}"' if algorithm else ""
    return f'trace = {{ format = "{form}", files = {json.dumps(str(files))}{chosen} }}'


def scenario_of(network: str, workload: str, *, reliability: str = "none") -> Scenario:
    """Return a job in a network without acknowledgements, windows or pauses."""
    defaults = f'reliability = "{reliability}"\nflow-control = "lossy"\nbuffer.static = {{ size = "100MB" }}'
    text = f'mtu = "{PAYLOAD}B"\nwire = "hpcc-ns3"\n{network}\n[defaults]\n{defaults}\n'
    return Scenario.from_toml(text + f'[[workload]]\nname = "job"\n{workload}\n')


def most_ns(reference_ns: float, *, messages: int, hops: int, rate: float) -> float:
    """Return the upper bound, with packets, of a time that was computed without packets.

    All bytes carry headers, and each message on the critical path has one more packet to store and forward at
    each switch, whose header, like that of its last packet, need not be in proportion.

    Parameters
    ----------
    reference_ns
        The time without packets.
    messages
        The most messages of the critical path.
    hops
        Wires between two ranks.
    rate
        Rate of each wire, in bytes a nanosecond.
    """
    packet = (PAYLOAD + HEADER) / rate
    extra = messages * ((hops - 1) * packet + HEADER / rate + 2)
    return reference_ns * (1 + HEADER / PAYLOAD) + extra
