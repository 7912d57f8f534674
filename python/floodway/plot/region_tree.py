"""The tree of a congestion region: its root ports, and the distance of the other ports upstream of them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from floodway.results.feedback import port_names, signal_rows
from floodway.results.metrics import natural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.results import Result

__all__ = ["Links", "Position", "Stay", "positions_of"]


@dataclass(frozen=True, kw_only=True)
class Stay:
    """A port's stay in the region.

    Attributes
    ----------
    joined_us
        Time at which it first joined.
    inside_us, root_us
        Duration of its stay, and of its states as a root.
    """

    joined_us: float
    inside_us: float
    root_us: float

    @property
    def is_root(self) -> bool:
        """Whether it was a root for most of its stay: a port that is notified later is a root until then."""
        return self.root_us > self.inside_us / 2


@dataclass(frozen=True, kw_only=True)
class Position:
    """Position of a port in the region: its tree, from 0, and hops upstream of that tree's root."""

    port: str
    tree: int
    hops: int


@dataclass(frozen=True, kw_only=True)
class _Link:
    """A link of a port, beyond relays: sender, receiver, the link of arrival and the last node before it."""

    node: str
    link: str
    to: str
    arrives: str
    by: str


class Links:
    """Receivers of ports, from the links in the counters, and nodes that congestion points have notified.

    A relay is a node of two links where no flow ends and no queue has a state. Packets that arrive by one
    link leave by the other, so a relay does not count as a hop.
    """

    def __init__(self, results: Sequence[Result]) -> None:
        names = pl.concat([port_names(result) for result in results]).unique(maintain_order=True)
        ends = {
            (node, link): (name, name.removeprefix(f"{link}: {node}>"))
            for node, link, name in names.iter_rows()
        }
        links: dict[str, list[str]] = {}
        for node, link in ends:
            links.setdefault(node, []).append(link)
        end_nodes = set().union(*map(_end_nodes, results))
        relays = {
            node: node_links
            for node, node_links in links.items()
            if len(node_links) == 2 and node not in end_nodes  # noqa: PLR2004 (two ends)
        }
        self._links = {name: _beyond(node, link, ends, relays) for (node, link), (name, _) in ends.items()}
        self._into: dict[str, list[str]] = {}
        for name, link in self._links.items():
            self._into.setdefault(link.to, []).append(name)
        self._notified = set().union(*map(_notified, results))

    def upstream(self, port: str) -> Iterator[str]:
        """Yield the ports upstream of a port: those that it has notified.

        If no congestion point notifies neighbours, these are the ports that send to its node, except the
        one at the other end of its link.
        """
        port_link = self._links[port]
        for name in self._into.get(port_link.node, ()):
            link = self._links[name]
            if link.arrives != port_link.link and (not self._notified or (port, link.by) in self._notified):
                yield name


def positions_of(stays: Mapping[str, Stay], links: Links) -> list[Position]:
    """Return the ports of a region in order: each root, followed by the ports that are nearest to it.

    Roots are in the order in which they joined the region; the ports of one by their hops upstream of it,
    over ports of the region only; those of as many hops in the order in which they joined. A root upstream of
    another one is among its ports. Where nothing of the region leads to a root, the port farthest downstream
    takes its place.
    """
    positions: dict[str, Position] = {}
    rest = sorted(stays, key=lambda port: (stays[port].joined_us, natural(port)))
    trees = 0
    while rest:
        heads = _heads([port for port in rest if stays[port].is_root] or rest, set(rest), links)
        positions |= _reached(heads, trees, set(rest), links)
        trees += len(heads)
        rest = [port for port in rest if port not in positions]
    order = {port: n for n, port in enumerate(sorted(stays, key=natural))}

    def rank(position: Position) -> tuple[int, int, float, int]:
        return position.tree, position.hops, stays[position.port].joined_us, order[position.port]

    return sorted(positions.values(), key=rank)


def _heads(choice: Sequence[str], members: set[str], links: Links) -> list[str]:
    """Return the ports that are upstream of no other choice; of a ring, the first port."""
    above: set[str] = set()
    for head in choice:
        waiting = [] if head in above else [head]
        while waiting:
            new = (members & set(links.upstream(waiting.pop()))) - above - {head}
            above |= new
            waiting += new
    return [port for port in choice if port not in above]


def _reached(heads: Sequence[str], trees: int, members: set[str], links: Links) -> dict[str, Position]:
    """Return the positions upstream of all heads; a port belongs to the nearest head."""
    positions = {port: Position(port=port, tree=trees + n, hops=0) for n, port in enumerate(heads)}
    waiting = deque(positions.values())
    while waiting:
        position = waiting.popleft()
        for port in links.upstream(position.port):
            if port in members and port not in positions:
                positions[port] = Position(port=port, tree=position.tree, hops=position.hops + 1)
                waiting.append(positions[port])
    return positions


def _end_nodes(result: Result) -> set[str]:
    """Return the nodes that are not relays: flows end there, or queues have states."""
    ends = [name for name in ("source", "destination") if name in result.flows.columns]
    hosts = [result.flows[name].cast(pl.String) for name in ends]
    states = [] if result.signals is None else [result.signals["node"].cast(pl.String)]
    return {str(node) for column in (*hosts, *states) for node in column.unique()}


def _notified(result: Result) -> set[tuple[str, str]]:
    """Return pairs of a port and the upstream node that it has notified."""
    if result.signals is None or "neighbour" not in result.signals.columns:
        return set()
    notices = signal_rows(result).filter(pl.col("event") == "cn")
    return set(notices.select("object", pl.col("neighbour").cast(pl.String)).unique().iter_rows())


def _beyond(
    node: str, link: str, ends: Mapping[tuple[str, str], tuple[str, str]], relays: Mapping[str, Sequence[str]]
) -> _Link:
    """Follow a port's link to the first node that is not a relay."""
    to, arrives = ends[node, link][1], link
    # A ring of relays leads nowhere else.
    passed, by = {node}, node
    while to in relays and to not in passed:
        passed.add(to)
        arrives = next((other for other in relays[to] if other != arrives), arrives)
        by, to = to, ends[to, arrives][1]
    return _Link(node=node, link=link, to=to, arrives=arrives, by=by)
