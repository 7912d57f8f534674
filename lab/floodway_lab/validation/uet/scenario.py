"""Our run of a case: its network and options as a scenario."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway.common.files import read_text
from floodway.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from floodway_lab.validation.uet.cases import Connection, UetCase

__all__ = ["Network", "network_of", "scenario_of", "text_of"]

#: Bytes of a full packet, of its payload, and of all other packets.
MTU, PAYLOAD, HEADER = 4150, 4086, 64
#: Entropy of each balancing, as scenarios spell it.
ENTROPIES = {
    "oblivious": "oblivious",
    "bitmap": "bitmap",
    "reps": "reps",
    "reps_legacy": "reps-legacy",
    "mixed": "mixed",
}
#: Ends of an output queue: a switch by its kind and number, or a host.
END = re.compile(r"(LS|US|CS|DST)_?(\d+)(?:\(\d+\))?")


@dataclass(frozen=True, kw_only=True)
class Network:
    """The network of a case.

    Attributes
    ----------
    ports
        Number of ports of a switch, from which the fat tree is built.
    tiers
        Number of tiers of switches.
    delays_ps
        Delays of links, in picoseconds: at hosts, between the first two tiers, between the upper two.
    rate_gbps
        Rate of each link, in Gbit/s.
    """

    ports: int
    tiers: int
    delays_ps: tuple[int, int, int]
    rate_gbps: int

    @property
    def links(self) -> int:
        """Number of links of the longest path."""
        return 2 * self.tiers

    @property
    def rtt_ps(self) -> int:
        """The longest round trip, in picoseconds: a full packet there, and one of 64 bytes back."""
        delay = 2 * sum(self.delays_ps[: self.tiers])
        return 2 * delay + self.links * 8 * (MTU + HEADER) * 1000 // self.rate_gbps

    @property
    def product(self) -> int:
        """Bandwidth-delay product in whole packets."""
        return -(-(self.rtt_ps * self.rate_gbps // 8000) // MTU)


def network_of(case: UetCase) -> Network:
    """Derive the network of a case.

    Raises
    ------
    ValidationError
        If the network cannot be built.
    """
    options = case.options
    tiers, hop = options.tiers, options.hop_us * 1_000_000
    delays = (hop, hop, hop)
    rate = options.rate_gbps
    if options.topology is not None:
        tiers, delays, rate = _topology(case)
    ports = 2
    while (ports**3 // 4 if tiers == 3 else ports**2 // 2) < case.hosts:  # noqa: PLR2004
        ports += 2
    return Network(ports=ports, tiers=tiers, delays_ps=delays, rate_gbps=rate)


def _topology(case: UetCase) -> tuple[int, tuple[int, int, int], int]:
    """Read tiers, delays and rate of a topology file."""
    file = case.folder / str(case.options.topology)
    try:
        text = read_text(file)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        shown = os.fspath(file)
        raise ValidationError(f"{shown}: cannot be read: {error}", place=shown) from error
    tiers, tier, rate = 3, 0, case.options.rate_gbps
    delays = [0, 0, 0]
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if len(words) < 2:  # noqa: PLR2004
            continue
        if not words[1].isdecimal():
            place = f"{file}:{number}"
            message = f"{place}: expected a whole number behind {words[0]}"
            raise ValidationError(message, place=place, given=words[1])
        key, value = words[0].lower(), int(words[1])
        if key == "tiers":
            tiers = value
        elif key == "tier":
            tier = min(value, 2)
        elif key == "downlink_latency_ns":
            delays[tier] = value * 1000
        elif key == "downlink_speed_gbps":
            rate = value
    return tiers, (delays[0], delays[1], delays[2]), rate


def scenario_of(case: UetCase) -> Scenario:
    """Return the scenario of a case.

    Raises
    ------
    ValidationError
        If its paths are not those of its network, or it has an option that is not supported.
    ScenarioError
        If the scenario cannot be simulated.
    """
    return Scenario.from_toml(text_of(case))


def text_of(case: UetCase) -> str:
    """Return the scenario of a case in TOML.

    Raises
    ------
    ValidationError
        As `scenario_of`.
    """
    network, options = network_of(case), case.options
    packets = options.queue or network.product * (1 if options.trims else 5)
    low, high = options.ecn or (-(-network.product // 5), -(-4 * network.product // 5))
    victim = "arriving" if options.arriving else "either"
    single, sleek = options.paths == 1, json.dumps(options.sleek)
    entropy = "fixed" if single else ENTROPIES.get(options.balancing)
    if entropy is None:
        algorithm, allowed = options.balancing, tuple(ENTROPIES)
        message = f"{case.label}: -load_balancing_algo is {algorithm!r}; allowed: {', '.join(allowed)}"
        raise ValidationError(message, place=case.label, key="-load_balancing_algo", allowed=allowed)
    stack = [*(["nscc"] if options.sender else []), *(["rccc"] if options.receiver else [])]
    lowers = json.dumps(options.cuts_lower_base_rtt)
    layers = {
        "nscc": f'{{ nscc = {{ form = "htsim", cut-lowers-base-rtt = {lowers} }} }}',
        "rccc": '{ rccc = { form = "htsim" } }',
    }
    control = ", ".join(layers[layer] for layer in stack)
    flows = ",\n".join(_flow(case, network, place) for place in range(len(case.connections)))
    return f"""
name = {json.dumps(case.label.replace("/", "-"))}
mtu = "{PAYLOAD}B"
wire = "htsim-uet"
seed = {options.seed}
limit = "{options.end_us}us"
stop = "acknowledged"
{_shape(network)}
records.allowances = true
semantics.ties = "htsim"
[defaults]
flow-control = "lossy"
pipeline = "0ns"
routing = "ecmp"
buffer.output-queue = {{ size = "{packets * MTU}B", trim = {json.dumps(options.trims)}, victim = "{victim}" }}
congestion-point.red = {{ kmin = "{low * MTU}B", kmax = "{high * MTU}B", pmax = 1.0, at = "dequeue" }}
rate-control = [{control}]
reliability.uet = {{ form = "htsim", entropy = "{entropy}", paths = {options.paths}, sleek = {sleek} }}
{_unmarked(network) if options.receiver else ""}
{_failed(network, options.failed, packets * MTU, (low * MTU, high * MTU))}
[[workload]]
name = "flows"
flows = [
{flows}
]
"""


def _shape(network: Network) -> str:
    """Return the key of the topology."""
    half = network.ports // 2
    names = ("host-tor", "tor-agg", "agg-core")
    if network.tiers == 2:  # noqa: PLR2004
        names = ("host-leaf", "leaf-spine", "")
    hops = ", ".join(
        f'{name} = {{ rate = "{network.rate_gbps}G", delay = "{delay}ps" }}'
        for name, delay in zip(names, network.delays_ps, strict=True)
        if name
    )
    if network.tiers == 2:  # noqa: PLR2004
        return (
            f"topology.leaf-spine = {{ spines = {half}, leaves = {network.ports}, hosts = {half}, {hops} }}"
        )
    return f"topology.fat-tree = {{ k = {network.ports}, {hops} }}"


def _unmarked(network: Network) -> str:
    """Return the override by which ports to hosts do not mark, where receivers grant credit."""
    tag, switch = ("host-tor", "tor") if network.tiers == 3 else ("host-leaf", "leaf")  # noqa: PLR2004
    return f"""
[[override]]
name = "to-hosts"
links = {{ tag = "{tag}" }}
direction = "{switch}>host"
congestion-point = []
"""


def _failed(network: Network, count: int, queue: int, thresholds: tuple[int, int]) -> str:
    """Return the overrides of links that fail to a quarter of their rate, queue and thresholds.

    They are the first from cores down to aggregation switches, one direction alone, or of two tiers all links
    of the first spines.
    """
    half, directions = network.ports // 2, []
    if network.tiers == 2:  # noqa: PLR2004
        directions = [(f"*-s{spine + 1}", "") for spine in range(min(count, half))]
    else:
        for number in range(count):
            aggregation, core = divmod(number, half)
            ends = (f"a{aggregation + 1}", f"c{aggregation % half * half + core + 1}")
            directions.append((f"{ends[0]}-{ends[1]}", f'direction = "{ends[1]}>{ends[0]}"'))
    low, high = (threshold // 4 for threshold in thresholds)
    return "\n".join(
        f"""[[override]]
name = "failed-{number}"
links = "{links}"
{direction}
rate = "{network.rate_gbps * 1000 // 4}M"
output-queue = "{queue // 4}B"
congestion-point.red = {{ kmin = "{low}B", kmax = "{high}B", pmax = 1.0, at = "dequeue" }}
"""
        for number, (links, direction) in enumerate(directions, start=1)
    )


def _flow(case: UetCase, network: Network, place: int) -> str:
    connection = case.connections[place]
    parts = [
        f'from = "h{connection.source + 1}", to = "h{connection.destination + 1}"',
        f'size = "{connection.size}B", start = "{connection.start_us}us"',
    ]
    ends = (connection.source, connection.destination)
    for kind, key, (first, last) in (("data", "path", ends), ("reply", "ack-path", ends[::-1])):
        queues = case.paths.get((place, kind))
        if queues:
            nodes = _nodes(case, network, queues, connection)
            parts.append(f'{key} = "{",".join((f"h{first + 1}", *nodes, f"h{last + 1}"))}"')
    return f"  {{ {', '.join(parts)} }}"


def _nodes(case: UetCase, network: Network, queues: tuple[str, ...], connection: Connection) -> list[str]:
    """Return the switches that a flow passes, by its output queues."""
    nodes = []
    for queue in queues:
        match = END.fullmatch(queue.partition("->")[0])
        if match is None or match[1] == "DST":
            flow = f"{connection.source}->{connection.destination}"
            message = f"{case.label}: paths.tsv: {queue!r} of flow {flow} is not SWITCH->NODE"
            raise ValidationError(message, place=case.label, given=queue)
        nodes.append(_switch(match[1], int(match[2]), network))
    return nodes


def _switch(kind: str, number: int, network: Network) -> str:
    """Return the name of a switch; the cores of an aggregation switch are every half of the ports apart."""
    half = network.ports // 2
    if network.tiers == 2:  # noqa: PLR2004
        return f"{'l' if kind == 'LS' else 's'}{number + 1}"
    if kind == "CS":
        return f"c{number % half * half + number // half + 1}"
    return f"{'t' if kind == 'LS' else 'a'}{number + 1}"
