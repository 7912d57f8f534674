"""Selections of flows, ports and links."""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from floodway.common.errors import PlotError
from floodway.common.names import nearest
from floodway.results.metrics import chosen_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from floodway.results import Result

__all__ = [
    "Options",
    "chosen_flows",
    "chosen_link",
    "chosen_ports",
    "matches",
    "of_ports",
    "of_sizes",
    "of_workloads",
]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a metric, which select flows, ports and times.

    Attributes
    ----------
    workload, path_class, source, destination
        Flows of these workloads, path classes (`intra`, `inter`), sources and destinations; all where empty.
    smallest_bytes, largest_bytes
        Flows of these sizes, both included.
    link
        A direction of a link (`x1>x2`) or a pattern of one; the longest watched link where empty.
    ports
        `all`, `hosts`, `switches`, or patterns of ports: `node`, `link`, or `node link`.
    from_us, to_us
        The window of time; to the end of the run where there is none.
    bucket_us
        Width of the buckets; those of the series where there is none.
    column
        Of perftest's report.
    state
        Name of a state of a port's queue.
    operation
        Collectives of these operations, such as `all-reduce`; all where empty.
    """

    workload: tuple[str, ...] = ()
    path_class: str = ""
    source: tuple[str, ...] = ()
    destination: tuple[str, ...] = ()
    smallest_bytes: int | None = None
    largest_bytes: int | None = None
    link: str = ""
    ports: tuple[str, ...] = ("all",)
    from_us: float = 0.0
    to_us: float | None = None
    bucket_us: float | None = None
    column: str = ""
    state: str = ""
    operation: tuple[str, ...] = ()


def chosen_flows(result: Result, options: Options) -> pl.DataFrame:
    """Return the measured flows that the options select."""
    flows = result.flows.filter(pl.col("measured"))
    flows = of_sizes(of_workloads(flows, options), options, "size_bytes")
    if options.path_class:
        flows = flows.filter(pl.col("path_class").cast(pl.String) == f"{options.path_class}-dc")
    for column, patterns in (("source", options.source), ("destination", options.destination)):
        if patterns:
            names = flows[column].cast(pl.String)
            selected_names = [name for name in names.unique().to_list() if matches(name, patterns)]
            flows = flows.filter(names.is_in(selected_names))
    return flows


def of_workloads(rows: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Return the rows of the chosen workloads."""
    if not options.workload:
        return rows
    return rows.filter(pl.col("workload").cast(pl.String).is_in(list(options.workload)))


def of_sizes(rows: pl.DataFrame, options: Options, column: str) -> pl.DataFrame:
    """Return the rows with the chosen sizes in a column."""
    if options.smallest_bytes is not None:
        rows = rows.filter(pl.col(column) >= options.smallest_bytes)
    return rows if options.largest_bytes is None else rows.filter(pl.col(column) <= options.largest_bytes)


def chosen_link(result: Result, options: Options) -> str:
    """Return the watched object that the options select.

    Raises
    ------
    PlotError
        If the run watched none, or none of this name.
    """
    if options.link:
        return chosen_objects([options.link], [result.series])[0]
    links = result.summary().links
    if not links:
        return chosen_objects(["a watched link"], [result.series])[0]
    return max(links, key=lambda link: (link.delay_us or 0.0, link.mean_gbps)).object


def chosen_ports(result: Result, options: Options) -> pl.DataFrame:
    """Return the counters of the ports that the options select."""
    counters = result.counters
    if options.ports == ("all",):
        return counters
    rows = counters.with_columns(pl.col("node", "link").cast(pl.String))
    if options.ports in (("hosts",), ("switches",)):
        switches = {device.node for device in result.outcome.switches}
        is_switch = rows["node"].is_in(list(switches))
        return rows.filter(is_switch if options.ports == ("switches",) else ~is_switch)
    pairs = rows.select("node", "link").unique(maintain_order=True).rows()
    selected_pairs = [
        (node, link)
        for node, link in pairs
        if any(matches(name, options.ports) for name in (node, link, f"{node} {link}"))
    ]
    chosen = pl.DataFrame(selected_pairs, schema={"node": pl.String, "link": pl.String}, orient="row")
    return rows.join(chosen, on=["node", "link"], how="semi", maintain_order="left")


def of_ports(result: Result, options: Options, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the selected ports in a table with `node` and `link` as plain text.

    Raises
    ------
    PlotError
        If patterns name no port at all.
    """
    if options.ports == ("all",):
        return rows
    ports = chosen_ports(result, options).select(pl.col("node", "link").cast(pl.String)).unique()
    if ports.is_empty() and options.ports not in (("hosts",), ("switches",)):
        raise _no_port(result, options.ports)
    return rows.join(ports, on=["node", "link"], how="semi", maintain_order="left")


def _no_port(result: Result, patterns: Sequence[str]) -> PlotError:
    """Say that patterns name no port, with the name that is nearest to the first of them."""
    ports = result.counters.select(pl.col("node", "link").cast(pl.String)).unique(maintain_order=True)
    port_names = [f"{node} {link}" for node, link in ports.iter_rows()]
    names = dict.fromkeys((*port_names, *ports["node"], *ports["link"]))
    near = nearest(patterns[0], names)
    hint = f"; did you mean {near!r}?" if near else ""
    given_text = ", ".join(map(repr, patterns))
    allowed = "all, hosts, switches, a node, a link, or `node link`"
    text = f"ports: {given_text} matches no port; allowed: {allowed}{hint}"
    return PlotError(text, key="ports", given=given_text, allowed=tuple(names), nearest=near)


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether patterns name a name: `*` and `?` are wildcards, `h1..h16` is a range.

    Examples
    --------
    >>> [name for name in ("h1", "h9", "h17", "x1") if matches(name, ["h1..h16", "x*"])]
    ['h1', 'h9', 'x1']
    """
    return any(
        _in_range(name, pattern)
        if ".." in pattern
        else fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))
        for pattern in patterns
    )


def _in_range(name: str, pattern: str) -> bool:
    ends: Sequence[re.Match[str] | None] = [_numbered(end) for end in pattern.split("..", 1)]
    match = _numbered(name)
    if match is None or any(end is None or end[1] != match[1] for end in ends):
        return False
    first, last = (int(end[2]) for end in ends if end is not None)
    return first <= int(match[2]) <= last


def _numbered(name: str) -> re.Match[str] | None:
    return re.fullmatch(r"(.*?)([0-9]+)", name)
