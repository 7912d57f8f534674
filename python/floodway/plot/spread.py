"""How a congestion region spreads: which ports are its roots, and how far upstream of them the others are."""

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

__all__ = ["Place", "Stay", "Ways", "places_of"]


@dataclass(frozen=True, kw_only=True)
class Stay:
    """A port's stay in the region.

    Attributes
    ----------
    joined_us
        When it first was in it.
    inside_us, root_us
        How long it was in it, and of that a root.
    """

    joined_us: float
    inside_us: float
    root_us: float

    @property
    def is_root(self) -> bool:
        """Whether it was a root for most of its stay: who will be told by others is one until it is told."""
        return self.root_us > self.inside_us / 2


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where in the region a port is: its tree, from 0, and hops upstream of that tree's root."""

    port: str
    tree: int
    hops: int


@dataclass(frozen=True, kw_only=True)
class _Way:
    """Where a port sends from and to, over which link; by which it arrives, and from whom: beyond relays."""

    node: str
    link: str
    to: str
    arrives: str
    by: str


class Ways:
    """Where ports send to, by the links in the counters, and whom congestion points have told.

    A relay is a node of two links where no flow ends and no queue has a state; what comes by one link leaves
    by the other, and that is no hop.
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
        speaking = set().union(*map(_speaking, results))
        relays = {node: own for node, own in links.items() if len(own) == 2 and node not in speaking}  # noqa: PLR2004
        self._ways = {name: _beyond(node, link, ends, relays) for (node, link), (name, _) in ends.items()}
        self._into: dict[str, list[str]] = {}
        for name, way in self._ways.items():
            self._into.setdefault(way.to, []).append(name)
        self._told = set().union(*map(_told, results))

    def upstream(self, port: str) -> Iterator[str]:
        """Name the ports upstream of a port: those that it has told.

        Where nobody tells neighbours, those that send to its node, but for the one at its link's other end.
        """
        own = self._ways[port]
        for name in self._into.get(own.node, ()):
            way = self._ways[name]
            if way.arrives != own.link and (not self._told or (port, way.by) in self._told):
                yield name


def places_of(stays: Mapping[str, Stay], ways: Ways) -> list[Place]:
    """Order the ports of a region: each root, then the ports that are nearest to it.

    Roots are in the order in which they joined the region; the ports of one by their hops upstream of it,
    over ports of the region only; those of as many hops in the order in which they joined. A root upstream of
    another one is among its ports. Where nothing of the region leads to a root, the port farthest downstream
    takes its place.
    """
    found: dict[str, Place] = {}
    rest = sorted(stays, key=lambda port: (stays[port].joined_us, natural(port)))
    trees = 0
    while rest:
        heads = _heads([port for port in rest if stays[port].is_root] or rest, set(rest), ways)
        found |= _reached(heads, trees, set(rest), ways)
        trees += len(heads)
        rest = [port for port in rest if port not in found]
    order = {port: n for n, port in enumerate(sorted(stays, key=natural))}

    def rank(place: Place) -> tuple[int, int, float, int]:
        return place.tree, place.hops, stays[place.port].joined_us, order[place.port]

    return sorted(found.values(), key=rank)


def _heads(choice: Sequence[str], members: set[str], ways: Ways) -> list[str]:
    """Return those that are upstream of none of the others; of some that are in a ring, the first."""
    above: set[str] = set()
    for head in choice:
        waiting = [] if head in above else [head]
        while waiting:
            new = (members & set(ways.upstream(waiting.pop()))) - above - {head}
            above |= new
            waiting += new
    return [port for port in choice if port not in above]


def _reached(heads: Sequence[str], trees: int, members: set[str], ways: Ways) -> dict[str, Place]:
    """Go upstream from all heads at once; a port belongs to the nearest, of equal ones to the first."""
    found = {port: Place(port=port, tree=trees + n, hops=0) for n, port in enumerate(heads)}
    waiting = deque(found.values())
    while waiting:
        here = waiting.popleft()
        for port in ways.upstream(here.port):
            if port in members and port not in found:
                found[port] = Place(port=port, tree=here.tree, hops=here.hops + 1)
                waiting.append(found[port])
    return found


def _speaking(result: Result) -> set[str]:
    """Name the nodes that are no relays: flows end there, or queues have states."""
    ends = [name for name in ("source", "destination") if name in result.flows.columns]
    hosts = [result.flows[name].cast(pl.String) for name in ends]
    states = [] if result.signals is None else [result.signals["node"].cast(pl.String)]
    return {str(node) for column in (*hosts, *states) for node in column.unique()}


def _told(result: Result) -> set[tuple[str, str]]:
    """Return who was told by which port: pairs of the port and the node upstream."""
    if result.signals is None or "neighbour" not in result.signals.columns:
        return set()
    notices = signal_rows(result).filter(pl.col("event") == "cn")
    return set(notices.select("object", pl.col("neighbour").cast(pl.String)).unique().iter_rows())


def _beyond(
    node: str, link: str, ends: Mapping[tuple[str, str], tuple[str, str]], relays: Mapping[str, Sequence[str]]
) -> _Way:
    """Follow a port's link to the first node that is no relay."""
    to, arrives = ends[node, link][1], link
    # A ring of relays leads nowhere else.
    passed, by = {node}, node
    while to in relays and to not in passed:
        passed.add(to)
        arrives = next((other for other in relays[to] if other != arrives), arrives)
        by, to = to, ends[to, arrives][1]
    return _Way(node=node, link=link, to=to, arrives=arrives, by=by)
