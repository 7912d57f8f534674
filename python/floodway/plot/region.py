"""The picture of the congestion region over time: its ports with their roles, and its spread upstream.

A congestion point whose queues have states reports them, if the run recorded them (`records.signals`): a port
is in the region while it is in another state than the quiet one. The region is a tree: root ports, and the
distance of the other ports upstream of them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from floodway.common.errors import PlotError
from floodway.plot.axes import inside, limits_of, plain_style, refuse_many, shown
from floodway.plot.curves import Drawing, Source, titled
from floodway.plot.region_panels import draw
from floodway.results.feedback import port_names, signal_rows, state_spans
from floodway.results.metrics import natural

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from floodway.results import Result

__all__ = ["BY_SEVERITY", "QUIET", "Position", "region"]

#: Maximum number of strips in a picture.
MOST_STRIPS = 40
#: States of ports in the region, the most severe first: a port of several classes has the most severe one.
BY_SEVERITY = ("root", "inner", "edge", "congestion", "congested", "isolating", "undetermined", "checking")
#: States of ports outside the region. For other congestion points it is the initial state of a queue.
QUIET = ("outside", "determined", "non-congestion", "uncongested", "lossless")
#: States of ports that are congested by their own load, without states that paused ports may have, too.
ROOTS = ("root", "congestion")
#: Columns of the table.
TABLE = {"result": pl.String, "seed": pl.UInt64, "port": pl.String, "from_us": pl.Float64}
TABLE |= {"to_us": pl.Float64, "role": pl.String, "hops": pl.Int64}
ROLES = ("port", "role", "from_us", "to_us")


class _Order(NamedTuple):
    """States of all results: those in the region, the most severe first, and the quiet ones."""

    roles: tuple[str, ...]
    quiet: tuple[str, ...]


def region(
    sources: Sequence[Source],
    *,
    class_: int | None = None,
    window: tuple[float | None, float | None] = (None, None),
    title: str | None = None,
) -> Drawing:
    """Draw a strip for each port of the congestion region over time, results side by side.

    From the top down are the roots of the region, each followed by the ports upstream of it, by hops and by
    the time at which they joined. At most 40 ports have a strip, those that were in the region longest. The
    panel below has the number of ports in each role, of all ports of the region.

    Parameters
    ----------
    sources
        Results, four at most; of several seeds the first is shown.
    class_
        Class of the queues. Default: all; a port then has the most severe state of any class.
    window
        Begin and end of the shown time, in microseconds; None for the run's. Default: the whole run.
    title
        Title. Default: one that names the congestion region over time.

    Returns
    -------
    Drawing
        Picture, with a table of `result`, `seed`, `port`, `from_us`, `to_us`, `role`, `hops` (upstream of its
        root), in the picture's order, for all ports of the region, also those without a strip.

    Raises
    ------
    PlotError
        If no signals were recorded, there is no such class, or no port was in a region.
    """
    refuse_many(sources)
    first = [source.results[0] for source in sources]
    limits = limits_of(first, window)
    every = [_states(source, name_source=len(sources) > 1) for source in sources]
    _refuse_class(class_, every)
    order = _ordered(every)
    cut = [_cut(frame, class_, limits) for frame in every]
    members = pl.concat([frame.filter(pl.col("role").is_in(order.roles)) for frame in cut])
    if members.is_empty():
        raise PlotError(_nothing(order))
    chosen = members["port"].unique().to_list()
    roles = [_gravest(frame.filter(pl.col("port").is_in(chosen)), order) for frame in cut]
    stays = _stays(roles, order)
    positions = positions_of(stays, Links(first))
    strips = _longest(positions, stays)
    with plain_style():
        heading = shown(title) if title else titled("Congestion region in time", sources)
        figure = draw(
            roles,
            strips,
            limits,
            left_out=len(positions) - len(strips),
            states=order,
            roots={position.port: _root_state(position, roles) for position in strips if not position.hops},
            title=heading,
            labels=[source.label for source in sources] if len(sources) > 1 else [],
        )
    return Drawing(figure=figure, data=_table(sources, roles, positions))


def _states(source: Source, *, name_source: bool) -> pl.DataFrame:
    """Return the states of a result's queues; the error names the record that is missing."""
    try:
        return state_spans(source.results[0])
    except PlotError as error:
        raise PlotError(f"{source.label}: {error}" if name_source else str(error)) from error


def _refuse_class(class_: int | None, every: Sequence[pl.DataFrame]) -> None:
    classes = [str(number) for number in sorted({number for frame in every for number in frame["class"]})]
    if class_ is not None and classes and str(class_) not in classes:
        noun = "a class of queues with states"
        raise PlotError.of_choice(str(class_), noun=noun, allowed=classes, key="class")


def _ordered(every: Sequence[pl.DataFrame]) -> _Order:
    present = {str(state) for frame in every for state in frame["state"].unique()}
    begins = {
        str(state)
        for frame in every
        for state in frame.group_by("node", "link", "class").agg(pl.col("state").first())["state"].unique()
    }
    ranked = (*BY_SEVERITY, *QUIET)
    others = sorted(present.difference(ranked, begins))
    return _Order(
        roles=tuple(state for state in (*BY_SEVERITY, *others) if state in present),
        quiet=tuple(state for state in (*QUIET, *sorted(begins.difference(ranked))) if state in present),
    )


def _cut(states: pl.DataFrame, class_: int | None, limits: tuple[float, float]) -> pl.DataFrame:
    of_class = states if class_ is None else states.filter(pl.col("class") == class_)
    plain = of_class.select("class", "from_us", "to_us", port="object", role="state")
    return inside(plain, limits).select(*ROLES, "class")


def _nothing(order: _Order) -> str:
    """Return why there is no region."""
    if order.quiet or order.roles:
        quiet = " or ".join(order.quiet)
        return f"no port left the state {quiet} in this time: there is no region to show"
    return "these congestion points have no states; rcm, casl, mercury, tcd and pacc have some"


def _gravest(spans: pl.DataFrame, order: _Order) -> pl.DataFrame:
    """Return the role of each port, the most severe of its classes."""
    ranks = {state: n for n, state in enumerate((*order.roles, *order.quiet))}
    parts = spans.partition_by("port", maintain_order=True)
    merged = [_merged(part, ranks) if part["class"].n_unique() > 1 else part.select(ROLES) for part in parts]
    return pl.concat([spans.select(ROLES).clear(), *merged])


def _merged(spans: pl.DataFrame, ranks: Mapping[str, int]) -> pl.DataFrame:
    """Merge the classes of a port: between two changes of any class, the most severe state applies."""
    begins, ends = spans["from_us"].to_numpy(), spans["to_us"].to_numpy()
    times = np.unique(np.concatenate([begins, ends]))
    gravest = np.full(len(times) - 1, len(ranks))
    for of_class in spans.partition_by("class", maintain_order=True):
        begun = of_class["from_us"].to_numpy()
        states = np.array([ranks[state] for state in of_class["role"]])
        position = np.searchsorted(begun, times[:-1], side="right") - 1
        is_recorded = (position >= 0) & (times[:-1] < of_class["to_us"].to_numpy()[position])
        gravest = np.where(is_recorded, np.minimum(gravest, states[position]), gravest)
    new = np.flatnonzero(np.diff(gravest, prepend=-1))
    names = [*ranks]
    rows = pl.DataFrame({"from_us": times[new], "to_us": np.append(times[new[1:]], times[-1])})
    return rows.with_columns(
        port=pl.lit(spans["port"][0]), role=pl.Series([names[n] for n in gravest[new]], dtype=pl.String)
    ).select(ROLES)


def _stays(roles: Sequence[pl.DataFrame], order: _Order) -> dict[str, Stay]:
    """Return the stay of each port in the region, over all results."""
    span = pl.col("to_us") - pl.col("from_us")
    summed = (
        pl.concat(roles)
        .filter(pl.col("role").is_in(order.roles))
        .group_by("port")
        .agg(
            joined_us=pl.col("from_us").min(),
            inside_us=span.sum(),
            root_us=span.filter(pl.col("role").is_in(ROOTS)).sum(),
        )
    )
    return {row.pop("port"): Stay(**row) for row in summed.iter_rows(named=True)}


def _longest(positions: Sequence[Position], stays: Mapping[str, Stay]) -> list[Position]:
    """Return the ports that have a strip, in the same order."""
    by_stay = sorted(positions, key=lambda position: -stays[position.port].inside_us)
    longest = {position.port for position in by_stay[:MOST_STRIPS]}
    return [position for position in positions if position.port in longest]


def _root_state(position: Position, roles: Sequence[pl.DataFrame]) -> str:
    """Return the state that makes a tree's first port a root; empty if it never was in one."""
    states = {state for frame in roles for state in frame.filter(pl.col("port") == position.port)["role"]}
    return next((state for state in ROOTS if state in states), "")


def _table(
    sources: Sequence[Source], roles: Sequence[pl.DataFrame], positions: Sequence[Position]
) -> pl.DataFrame:
    rows = [(position.port, position.hops, place) for place, position in enumerate(positions)]
    types = {"port": pl.String, "hops": pl.Int64, "place": pl.Int64}
    order = pl.DataFrame(rows, schema=types, orient="row")
    frames = [
        frame.join(order, on="port")
        .sort("place", "from_us")
        .select(*source.names, "port", "from_us", "to_us", "role", "hops")
        for source, frame in zip(sources, roles, strict=True)
    ]
    return pl.concat([pl.DataFrame(schema=TABLE), *frames])


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
