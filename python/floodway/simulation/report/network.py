"""The network as a page draws it: nodes by site, tier and pod, links, and the ports at their ends.

All of it follows from what a run's folder has: which nodes there are, the links between them, and their rates
and delays. A long link joins sites; a tier is the distance to the nearest host; a pod is a part of a site
that stays connected without the switches above it.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from floodway.results.causes import delays_us, ends_of
from floodway.results.feedback import port_names
from floodway.results.metrics import natural, rates_gbps

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from floodway.results import Result

__all__ = ["Network", "network_of"]

#: A link is long from this delay on (a kilometre of fibre), if it is that many times the shortest delay.
LONG_US, TIMES_SHORTEST = 5.0, 4.0
#: Switches of this tier and above join pods.
ABOVE_PODS = 3
#: The largest share of a site's nodes that a pod can have; larger ones are divided at the tier below.
MOST_OF_SITE = 0.5


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node: its kind (`host`, `switch`, `relay`), site, tier, and its pod, -1 for none."""

    name: str
    kind: str
    site: int
    tier: int
    pod: int


@dataclass(frozen=True, kw_only=True)
class Link:
    """A link between two nodes, by their numbers; its delay, and whether it is long."""

    name: str
    ends: tuple[int, int]
    delay_us: float
    is_long: bool


@dataclass(frozen=True, kw_only=True)
class Network:
    """The nodes, links and ports of a run.

    Attributes
    ----------
    ports
        Names, `link: from>to`, sorted by link; two for each link.
    port_nodes, port_links
        Numbers of each port's node and link.
    rates_gbps
        Rate of each port, in Gbit/s; 0 where the scenario's record has none.
    """

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    ports: tuple[str, ...]
    port_nodes: tuple[int, ...]
    port_links: tuple[int, ...]
    rates_gbps: tuple[float, ...]


class _Graph:
    """Neighbours of nodes, without some links."""

    def __init__(self, nodes: Iterable[str], links: Iterable[tuple[str, str]]) -> None:
        self.beside: dict[str, list[str]] = {node: [] for node in nodes}
        for one, other in links:
            self.beside[one].append(other)
            self.beside[other].append(one)

    def distances(self, starts: Iterable[str]) -> dict[str, int]:
        """Return the number of links from the nearest start to each node that can be reached."""
        links = dict.fromkeys(starts, 0)
        waiting = deque(links)
        while waiting:
            node = waiting.popleft()
            for other in self.beside[node]:
                if other not in links:
                    links[other] = links[node] + 1
                    waiting.append(other)
        return links

    def parts(self, nodes: Sequence[str]) -> list[list[str]]:
        """Divide nodes into those that are joined by links among them."""
        left, parts = dict.fromkeys(nodes), []
        while left:
            start = next(iter(left))
            del left[start]
            part, waiting = [start], deque([start])
            while waiting:
                for other in self.beside[waiting.popleft()]:
                    if other in left:
                        del left[other]
                        part.append(other)
                        waiting.append(other)
            parts.append(sorted(part, key=natural))
        return parts


def network_of(result: Result) -> Network:
    """Find the nodes, links and ports of a run."""
    port_table = port_names(result)
    ports = sorted(port_table["object"].to_list(), key=natural)
    names = sorted({ends_of(port)[1] for port in ports}, key=natural)
    delays = dict(zip(ports, delays_us(result, ports), strict=True))
    by_link: dict[str, str] = {}
    for port in ports:
        by_link.setdefault(ends_of(port)[0], port)
    shortest = min(delays.values(), default=0.0)
    ends = {link: ends_of(port)[1:] for link, port in by_link.items()}
    long = {link for link, port in by_link.items() if delays[port] >= max(LONG_US, TIMES_SHORTEST * shortest)}
    kinds = _kinds(result, names, ends)
    graph = _Graph(names, [pair for link, pair in ends.items() if link not in long])
    sites = graph.parts(names)
    nodes = _nodes(sites, kinds, graph)
    number = {node.name: index for index, node in enumerate(nodes)}
    links = []
    for link, (one, other) in ends.items():
        delay, pair = delays[by_link[link]], (number[one], number[other])
        links.append(Link(name=link, ends=pair, delay_us=delay, is_long=link in long))
    link_number = {link.name: index for index, link in enumerate(links)}
    rates = rates_gbps(result.run.scenario, ports)
    return Network(
        nodes=tuple(nodes),
        links=tuple(links),
        ports=tuple(ports),
        port_nodes=tuple(number[ends_of(port)[1]] for port in ports),
        port_links=tuple(link_number[ends_of(port)[0]] for port in ports),
        rates_gbps=tuple(rates.get(port, 0.0) for port in ports),
    )


def _kinds(result: Result, names: Sequence[str], ends: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Tell hosts, switches and relays: a relay is no switch, joins two links, and no flow ends there."""
    switches = {device.node for device in result.outcome.switches}
    flows = result.flows
    hosts = {str(name) for column in ("source", "destination") for name in flows[column].unique()}
    degree = Counter(chain.from_iterable(ends.values()))

    def kind(name: str) -> str:
        if name in switches:
            return "switch"
        return "relay" if name not in hosts and degree[name] == 2 else "host"  # noqa: PLR2004 (two links)

    return {name: kind(name) for name in names}


def _nodes(sites: Sequence[Sequence[str]], kinds: Mapping[str, str], graph: _Graph) -> list[Node]:
    nodes: list[Node] = []
    pods = 0
    for site, members in enumerate(sites):
        hosts = [name for name in members if kinds[name] == "host"]
        # A site without hosts has switches alone.
        nearest = graph.distances(hosts or members[:1])
        tiers = nearest if hosts else {name: tier + 1 for name, tier in nearest.items()}
        own_pods = _pods(members, tiers, graph)
        of_pod = {name: pods + index for index, pod in enumerate(own_pods) for name in pod}
        pods += len(own_pods)
        for name in members:
            tier, pod = tiers.get(name, 0), of_pod.get(name, -1)
            nodes.append(Node(name=name, kind=kinds[name], site=site, tier=tier, pod=pod))
    return nodes


def _pods(site: Sequence[str], tiers: Mapping[str, int], graph: _Graph) -> list[list[str]]:
    """Find the pods of a site: its connected parts without the switches that join all of it."""
    highest = max(tiers.values(), default=0)
    for above in range(min(ABOVE_PODS, highest), 1, -1):
        below = [name for name in site if tiers.get(name, 0) < above]
        pods = [pod for pod in graph.parts(below) if len(pod) > 1]
        if pods and max(map(len, pods)) <= MOST_OF_SITE * len(site):
            return pods
    return []
