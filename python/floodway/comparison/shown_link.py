"""The link whose throughput, queue and pauses are compared, chosen by what the runs recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from floodway.results import LinkSummary, Result, Summary

__all__ = ["ShownLink", "link_of", "paused_us", "shown_link"]

#: The propagation delay of a kilometre of fibre, in microseconds: a long link has at least this.
KILOMETRE_US = 5.0


@dataclass(frozen=True, kw_only=True)
class ShownLink:
    """The direction of a link whose throughput, queue and pauses are compared.

    Attributes
    ----------
    object
        Name of the direction, as `link: from>to`.
    kind
        Reason of the choice: the longest link; without a long one the port of a switch that was paused for
        the longest time, or has the longest queue; or the busiest of the watched links.
    """

    object: str
    kind: Literal["long link", "most paused link", "link with the longest queue", "busiest link"]

    @property
    def name(self) -> str:
        """Direction of the link, with the link's name if parallel links have the same direction."""
        link, _, direction = self.object.partition(": ")
        return f"{link} {direction}" if "#" in link else direction

    @property
    def title(self) -> str:
        """Kind and name of the link, as `the long link x1>x2`."""
        return f"the {self.kind} {self.name}"


def shown_link(results: Sequence[Result]) -> ShownLink | None:
    """Choose the link whose throughput, queue and pauses are compared.

    It is the longest of the long links between switches, and of equal ones the one that was loaded for the
    longest time, then the busiest. Without long links it is the link between switches that was paused for the
    longest time in all runs together, and without pauses the switch's port with the longest queue.

    Returns
    -------
    ShownLink or None
        The link; None if no link is watched in all runs, and no link between switches was paused.
    """
    by_run = [{link.object: link for link in result.summary().links} for result in results]
    common = [name for name in by_run[0] if all(name in links for links in by_run)] if by_run else []
    return (
        _long(_inner(common, results), by_run) or _most_paused(results) or _watched(common, by_run, results)
    )


def link_of(summary: Summary, link: ShownLink) -> LinkSummary | None:
    """Return the shown link of a run's summary; None if it is not there."""
    return next((link_summary for link_summary in summary.links if link_summary.object == link.object), None)


def paused_us(result: Result, link: ShownLink) -> float:
    """Return the time for which the shown link was paused, summed over classes, in microseconds."""
    name, _, direction = link.object.partition(": ")
    of_direction = (pl.col("link") == name) & (pl.col("node") == direction.partition(">")[0])
    return float(result.counters.filter(of_direction)["paused_us"].sum())


def _long(common: Sequence[str], by_run: Sequence[Mapping[str, LinkSummary]]) -> ShownLink | None:
    delays = {name: by_run[0][name].delay_us or 0.0 for name in common}
    if not common or max(delays.values()) < KILOMETRE_US:
        return None
    loaded = {name: sum(links[name].loaded_us for links in by_run) for name in common}
    best = max(common, key=lambda name: (delays[name], loaded[name], _carried(name, by_run)))
    return ShownLink(object=best, kind="long link")


def _inner(names: Sequence[str], results: Sequence[Result]) -> list[str]:
    """Return the links without those of hosts, unless there is no switch."""
    switches = set(_switches(results[0])) if results else set()
    ends = {name: set(name.partition(": ")[2].split(">")) for name in names}
    return [name for name in names if not switches or ends[name] <= switches]


def _most_paused(results: Iterable[Result]) -> ShownLink | None:
    """Return the link between switches with most time paused: a pause at a host is that of its own link."""
    paused: dict[str, float] = {}
    for result in results:
        switches = _switches(result)
        inner = result.counters.select("link", "node", "paused_us").filter(pl.col("node").is_in(switches))
        ends = inner.group_by("link", maintain_order=True).agg(pl.col("node").unique(maintain_order=True))
        peers = {link: nodes for link, nodes in ends.iter_rows() if len(nodes) == 2}  # noqa: PLR2004 (both)
        sums = inner.group_by("link", "node", maintain_order=True).agg(pl.col("paused_us").sum())
        for link, node, time in sums.filter(pl.col("paused_us") > 0).iter_rows():
            if link in peers:
                (peer,) = (other for other in peers[link] if other != node)
                name = f"{link}: {node}>{peer}"
                paused[name] = paused.get(name, 0.0) + time
    return ShownLink(object=max(paused, key=paused.__getitem__), kind="most paused link") if paused else None


def _watched(
    common: Sequence[str], by_run: Sequence[Mapping[str, LinkSummary]], results: Sequence[Result]
) -> ShownLink | None:
    """Return the watched port of a switch with the longest queue; without one, the busiest link."""
    if not common:
        return None
    switches = set(_switches(results[0]))
    ports = [name for name in common if name.partition(": ")[2].partition(">")[0] in switches]
    queues = {name: sum(links[name].queue_peak_bytes or 0 for links in by_run) for name in ports}
    if any(queues.values()):
        return ShownLink(object=max(queues, key=queues.__getitem__), kind="link with the longest queue")
    chosen = ports if switches else common
    if not chosen:
        return None
    best = max(chosen, key=lambda name: _carried(name, by_run))
    return ShownLink(object=best, kind="busiest link")


def _carried(name: str, by_run: Sequence[Mapping[str, LinkSummary]]) -> float:
    return sum(links[name].mean_gbps for links in by_run)


def _switches(result: Result) -> list[str]:
    """Return the names of a run's switches."""
    groups = result.run.scenario.get("resolved", ())
    return [name for group in groups if group["kind"] == "switch" for name in group["objects"]]
