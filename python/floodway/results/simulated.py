"""The simulated network in a few lines: topology, rates, load, thresholds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from floodway.common.documents import four_digits
from floodway.results.quantities import bytes_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from floodway.results.result import Result, RunInfo

__all__ = ["Fact", "Realised", "common_facts", "facts", "realised", "seeds_text"]

#: Longer texts of a scenario are cut.
LONGEST = 160
#: Most kinds of ports, links or objects that are named.
MOST_NAMED = 4


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A fact about what was simulated: its name, and a line for each of its parts."""

    name: str
    lines: tuple[str, ...]


def facts(result: Result) -> tuple[Fact, ...]:
    """Return the facts that the scenario decides; results of older versions have fewer.

    `realised` has its outcome, such as the number of flows.
    """
    run = result.run
    scenario = run.scenario.get("scenario", {})
    sections: tuple[tuple[str, Iterable[str]], ...] = (
        ("topology", _topology(scenario)),
        ("nodes", _nodes(run.built)),
        ("links", _links(run.built)),
        ("base round trip", _paths(run.built)),
        ("traffic", _traffic(run)),
        ("flow control", _flow_control(run.built)),
        ("buffers", _buffers(run.built)),
        ("congestion points", _congestion_points(run.built)),
        ("rate control", _of_workloads(run.scenario, _transport)),
        ("packets", _packets(run.scenario)),
    )
    all_facts = (Fact(name=name, lines=tuple(lines)) for name, lines in sections)
    return tuple(fact for fact in all_facts if fact.lines)


@dataclass(frozen=True, kw_only=True)
class Realised:
    """The outcome of a scenario in one run: its seed, simulated time, measured flows and their sizes."""

    seed: int
    simulated_ms: float
    flows: int
    smallest_bytes: int | None
    median_bytes: int | None
    largest_bytes: int | None

    @classmethod
    def from_result(cls, result: Result) -> Realised:
        """Return the outcome of a result."""
        sizes = result.flows.filter("measured")["size_bytes"]
        return cls(
            seed=result.run.seed,
            simulated_ms=result.outcome.simulated_us / 1000,
            flows=len(sizes),
            smallest_bytes=_int(sizes.min()),
            median_bytes=_int(sizes.median()),
            largest_bytes=_int(sizes.max()),
        )


def realised(runs: Sequence[Realised]) -> tuple[Fact, ...]:
    """Return the outcome of some runs: measured flows and their sizes, seeds, simulated time."""
    per_run = " a run" if len(runs) > 1 else ""
    flows = f"{_range([run.flows for run in runs], '{:,}'.format)} measured{per_run}"
    smallest = [run.smallest_bytes for run in runs if run.smallest_bytes is not None]
    largest = [run.largest_bytes for run in runs if run.largest_bytes is not None]
    medians = sorted({bytes_text(run.median_bytes) for run in runs if run.median_bytes is not None})
    if smallest and largest:
        flows += f", of {bytes_text(min(smallest))} to {bytes_text(max(largest))}"
        flows += f", median {medians[0]}" if len(medians) == 1 else ""
    spans = _range([run.simulated_ms for run in runs], "{:,.2f}".format)
    return (
        Fact(name="flows", lines=(flows,)),
        Fact(name="seeds", lines=(seeds_text([run.seed for run in runs]),)),
        Fact(name="simulated time", lines=(f"{spans} ms{per_run}",)),
    )


def common_facts(
    labels: Sequence[str], groups: Sequence[Sequence[Fact]]
) -> Iterator[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]]:
    """Merge the facts of several variants: each by name, with the variants that it holds for.

    Yields
    ------
    tuple of str and tuple
        The name of a fact; its lines, once with an empty label where all variants have the same, else
        once for each set of variants that has the same.
    """
    names = dict.fromkeys(fact.name for group in groups for fact in group)
    for name in names:
        by_lines: dict[tuple[str, ...], list[str]] = {}
        for label, group in zip(labels, groups, strict=True):
            lines = next((fact.lines for fact in group if fact.name == name), ("-",))
            by_lines.setdefault(lines, []).append(label)
        alone = len(by_lines) == 1
        yield name, tuple(("" if alone else ", ".join(holders), lines) for lines, holders in by_lines.items())


def _topology(scenario: Mapping[str, Any]) -> Iterator[str]:
    for name, parameters in scenario.get("topology", {}).items():
        yield f"{name}: {_value_text(parameters)}" if parameters else str(name)


def _nodes(built: Mapping[str, Any]) -> Iterator[str]:
    nodes = []
    for node in built.get("nodes", ()):
        ending = "s" if node["kind"] == "host" and node["count"] > 1 else ""
        nodes.append(f"{node['count']:,} {node['kind']}{ending}")
    if nodes:
        yield ", ".join(nodes)


def _links(built: Mapping[str, Any]) -> Iterator[str]:
    """Tell how many links of each rate and delay there are, and of which kinds."""
    for (rate, delay), links in _grouped(built.get("links", ()), "rate_gbps", "delay_us"):
        count = sum(link["count"] for link in links)
        yield f"{count:,} of {rate:g} Gbit/s and {delay:g} us ({_kinds(links)})"


def _paths(built: Mapping[str, Any]) -> Iterator[str]:
    for path in built.get("paths", ()):
        span = _range([path["base_rtt_us_min"], path["base_rtt_us_max"]], four_digits)
        links = _range([path["hops_min"], path["hops_max"]], str)
        yield f"{path['kind']}: {span} us over {links} link{'' if links == '1' else 's'}"


def _traffic(run: RunInfo) -> Iterator[str]:
    """Describe each workload: its pattern with load and sizes, its duration, and its offered load."""
    built = {workload["name"]: workload for workload in run.built.get("workloads", ())}
    for workload in run.scenario.get("scenario", {}).get("workload", ()):
        name = workload.get("name", "")
        parts = ", ".join(_key(key, value) for key, value in workload.items() if key not in ("name", "tags"))
        offered = built.get(name, {}).get("offered_gbps")
        yield f"{name}: {parts}" + (f"; {four_digits(offered)} Gbit/s of payload offered" if offered else "")


def _key(key: str, value: object) -> str:
    if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        return f"{key}: {len(value):,}"
    return f"{key} {_value_text(value)}"


def _flow_control(built: Mapping[str, Any]) -> Iterator[str]:
    """Tell the thresholds of each kind of port, those with the same together."""
    keys = ("class", "flow_control", "threshold_bytes", "level_bytes", "headroom_bytes")
    for (class_, name, threshold, level, headroom), ports in _grouped(built.get("ports", ()), *keys):
        parts = [f"{name}, class {class_}"]
        parts += [f"threshold {bytes_text(threshold)}"] if threshold is not None else []
        parts += [f"level {bytes_text(level)}"] if level is not None else []
        parts += [f"headroom {bytes_text(headroom)}"] if headroom else []
        yield f"{', '.join(parts)} ({_kinds(ports)})"


def _buffers(built: Mapping[str, Any]) -> Iterator[str]:
    keys = ("class", "buffer_bytes", "output_queue_bytes", "reserve_bytes")
    for (class_, size, queue, reserve), rows in _grouped(built.get("ports", ()), *keys):
        reserve_text = f", {bytes_text(reserve)} reserved" if reserve else ""
        held = "from the shared pool" if size is None else bytes_text(size)
        held = held if queue is None else f"output queues of {bytes_text(queue)}"
        yield f"{held} a port of class {class_}{reserve_text} ({_kinds(rows)})"
    for (size,), rows in _grouped(built.get("pools", ()), "pool_bytes"):
        yield f"shared pool of {bytes_text(size)} a switch ({_kinds(rows)})"


def _congestion_points(built: Mapping[str, Any]) -> Iterator[str]:
    for (points,), ports in _grouped(built.get("egress", ()), "congestion_points"):
        yield f"{_value_text(points)} ({_kinds(ports)})"


def _of_workloads(scenario: Mapping[str, Any], describe: Callable[[Mapping[str, Any]], str]) -> Iterator[str]:
    groups = [group for group in scenario.get("resolved", ()) if group["kind"] == "workload"]
    for group in groups:
        settings = {setting["key"]: setting["value"] for setting in group["settings"]}
        objects = f" ({_some(group['objects'])})" if len(groups) > 1 else ""
        yield f"{describe(settings)}{objects}"


def _transport(settings: Mapping[str, Any]) -> str:
    parts = _value_text(settings.get("rate-control", []))
    reliability = next(iter(settings.get("reliability", {})), "")
    return f"{parts}; reliability {reliability}" if reliability else parts


def _packets(scenario: Mapping[str, Any]) -> Iterator[str]:
    if "mtu" in scenario:
        profile = f", profile {scenario['profile']}" if scenario.get("profile") else ""
        yield f"MTU {scenario['mtu']}, {scenario.get('wire', 'ethernet')}{profile}"


def _value_text(value: object) -> str:
    """Write a value of a scenario as people read it: `{ k = 4 }` as `k 4`."""
    text = _flat(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def _flat(value: object) -> str:
    match value:
        case dict():
            return ", ".join(f"{key} {_inner(child)}".strip() for key, child in value.items())
        case list() if not value:
            return "none"
        case list():
            return ", ".join(_inner(child) for child in value)
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:g}"
        case _:
            return str(value)


def _inner(value: object) -> str:
    text = _flat(value)
    several = isinstance(value, (dict, list)) and ("," in text or isinstance(value, list))
    return f"({text})" if several and not text.startswith("(") else text


def _grouped(
    rows: Iterable[Mapping[str, Any]], *keys: str
) -> Iterator[tuple[tuple[Any, ...], list[Mapping[str, Any]]]]:
    """Group rows with equal values of these keys, in the order of the first of each."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(json.dumps([row.get(key) for key in keys]), []).append(row)
    yield from ((tuple(json.loads(values)), group) for values, group in groups.items())


def _kinds(rows: Iterable[Mapping[str, Any]]) -> str:
    return _some([str(row["kind"]) for row in rows])


def _some(names: Sequence[str]) -> str:
    unlike = list(dict.fromkeys(names))
    more = f" and {len(unlike) - MOST_NAMED} more" if len(unlike) > MOST_NAMED else ""
    return ", ".join(unlike[:MOST_NAMED]) + more


def _range(values: Sequence[float], written: Callable[[float], str]) -> str:
    low, high = written(min(values)), written(max(values))
    return low if low == high else f"{low} to {high}"


def seeds_text(seeds: Iterable[int]) -> str:
    """Name seeds, those that follow one another as a range.

    Examples
    --------
    >>> seeds_text([2, 1, 3]), seeds_text([1, 7])
    ('1 to 3', '1, 7')
    """
    ordered = sorted(set(seeds))
    whole = len(ordered) > 1 and ordered[-1] - ordered[0] == len(ordered) - 1
    return f"{ordered[0]} to {ordered[-1]}" if whole else ", ".join(map(str, ordered))


def _int(value: object) -> int | None:
    return None if value is None else round(value)  # type: ignore[call-overload]
