"""Our run of a case: its network and options as a scenario."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway.scenarios.scenario import Scenario
from floodway_lab.validation.uet.network import HEADER, TWO, network_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from floodway_lab.validation.uet.cases import UetCase
    from floodway_lab.validation.uet.matrix import Connection
    from floodway_lab.validation.uet.network import Network
    from floodway_lab.validation.uet.options import Options

__all__ = ["flow_ids", "scenario_of", "text_of"]

#: Name of the workload; further ones have a number.
WORKLOAD = "flows"

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
    network, options = network_of(case.folder, case.hosts, case.options), case.options
    _check(case, network)
    mtu = options.mtu
    factor = options.queue_products or (1 if options.trims else 5)
    queue = (options.queue or network.product * factor) * mtu
    low, high = options.ecn or (-(-network.product // 5), -(-4 * network.product // 5))
    thresholds = (low * mtu, high * mtu)
    trim = json.dumps(options.trims)
    if options.trimmed != HEADER:
        trim += f', trim-size = "{options.trimmed}B"'
    victim = "arriving" if options.arriving else "either"
    entropy = "fixed" if options.paths == 1 else ENTROPIES[options.balancing]
    groups = _groups(case, network)
    # The simulator has one largest credit for all connections: that of the last one.
    last = next(group for group in groups if len(case.connections) - 1 in group.places)
    controls = [_control(options, network, group.rtt_ps, last.rtt_ps) for group in groups]
    return f"""
name = {json.dumps(case.label.replace("/", "-"))}
mtu = "{mtu - HEADER}B"
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
buffer.output-queue = {{ size = "{queue}B", trim = {trim}, victim = "{victim}" }}
congestion-point.red = {_red(*thresholds)}
rate-control = {controls[0]}
[defaults.reliability.uet]
form = "htsim"
entropy = "{entropy}"
paths = {options.paths}
ack-every = "{options.ack_every}B"
sleek = {json.dumps(options.sleek)}
{_switch_delays(network)}
{_unmarked(network) if options.receiver else ""}
{_failed(network, options.failed, queue, thresholds)}
{_controls(groups, controls)}
{_workloads(case, network, groups)}
"""


def _check(case: UetCase, network: Network) -> None:
    """Refuse what floodway does not model of a network and options together."""
    options, reason = case.options, ""
    if options.unsupported:
        reason = "; ".join(options.unsupported)
    elif network.oversubscription > 1 and not options.sender and not options.plain_credit:
        reason = "receivers of an oversubscribed network (taken: -force_disable_oversubscribed_cc)"
    elif options.sleek and not network.is_even:
        reason = "-sleek over links of several rates (taken: one rate)"
    elif options.trims and not HEADER <= options.trimmed <= options.mtu:
        reason = f"-trimsize {options.trimmed} (taken: {HEADER} to {options.mtu})"
    elif options.mtu <= HEADER:
        reason = f"-mtu {options.mtu} (taken: above {HEADER})"
    if reason:
        raise ValidationError(f"not modelled: {reason}", place=case.label)


@dataclass(frozen=True)
class _Group:
    """Flows that begin with one base round trip: the name of their workload, that round trip, and places."""

    name: str
    rtt_ps: int
    places: tuple[int, ...]


def _groups(case: UetCase, network: Network) -> list[_Group]:
    """Return the flows by the base round trip that they begin with."""
    by_rtt: dict[int, list[int]] = {}
    for place, flow in enumerate(case.connections):
        of_pair = case.options.of_pair
        rtt = network.rtt_between(flow.source, flow.destination) if of_pair else network.rtt_ps
        by_rtt.setdefault(rtt, []).append(place)
    names = (WORKLOAD if number == 0 else f"{WORKLOAD}-{number}" for number in range(len(by_rtt)))
    return [
        _Group(name, rtt, tuple(places)) for name, (rtt, places) in zip(names, by_rtt.items(), strict=True)
    ]


def flow_ids(case: UetCase) -> list[str]:
    """Return the ids of flows in results, in their order.

    Those of a workload have numbers by source, in the order of their starts.

    Raises
    ------
    ValidationError
        If the network cannot be built.
    """
    ids = [""] * len(case.connections)
    for group in _groups(case, network_of(case.folder, case.hosts, case.options)):
        count: dict[int, int] = {}
        for place in sorted(group.places, key=lambda place: case.connections[place].start_us):
            source = case.connections[place].source
            ids[place] = f"{group.name}:h{source + 1}:{count.get(source, 0)}"
            count[source] = count.get(source, 0) + 1
    return ids


def _control(options: Options, network: Network, rtt_ps: int, credit_rtt_ps: int) -> str:
    """Return the rate control of flows that begin with a base round trip.

    The simulator's longest round trip does not know of slower or faster links.
    """
    is_even = network.is_even and not options.failed
    is_explicit = options.of_pair or not is_even
    base, credit = ((f', base-rtt = "{rtt}ps"' if is_explicit else "") for rtt in (rtt_ps, credit_rtt_ps))
    keys = [f"cut-lowers-base-rtt = {json.dumps(options.cuts_lower_base_rtt)}"]
    if not is_even:
        keys.append(f'config-base-rtt = "{network.rtt_ps}ps"')
    if options.first_window is not None:
        keys.append(f'first-window = "{options.first_window * options.mtu}B"')
    if options.target_ps is not None:
        keys.append(f'target = "{options.target_ps}ps"')
    if options.gate is not None:
        keys.append(f"quick-adapt-gate = {options.gate}")
    layers = []
    if options.sender:
        layers.append(f'{{ nscc = {{ form = "htsim", {", ".join(keys)}{base} }} }}')
    if options.receiver:
        layers.append(f'{{ rccc = {{ form = "htsim"{credit} }} }}')
    return f"[{', '.join(layers)}]"


def _controls(groups: Sequence[_Group], controls: Sequence[str]) -> str:
    """Return the overrides of flows that begin with other base round trips than the first ones."""
    return "\n".join(
        f"""[[override]]
name = "of-{group.name}"
flows = "{group.name}"
rate-control = {control}
"""
        for group, control in zip(groups[1:], controls[1:], strict=True)
    )


def _workloads(case: UetCase, network: Network, groups: Sequence[_Group]) -> str:
    texts = []
    for group in groups:
        flows = ",\n".join(_flow(case, network, place) for place in group.places)
        texts.append(f'[[workload]]\nname = "{group.name}"\nflows = [\n{flows}\n]\n')
    return "\n".join(texts)


def _red(low: int, high: int) -> str:
    return f'{{ kmin = "{low}B", kmax = "{high}B", pmax = 1.0, at = "dequeue" }}'


def _tags(network: Network) -> tuple[tuple[str, str, str], ...]:
    """Return the links of each tier: their tag, and those of the nodes below and above."""
    if network.tiers == TWO:
        return ("host-leaf", "host", "leaf"), ("leaf-spine", "leaf", "spine")
    return ("host-tor", "host", "tor"), ("tor-agg", "tor", "agg"), ("agg-core", "agg", "core")


def _shape(network: Network) -> str:
    """Return the key of the topology."""
    tiers = zip(_tags(network), network.rates_mbps, network.delays_ps, strict=True)
    hops = ", ".join(
        f'{tag} = {{ rate = "{rate}M", delay = "{delay}ps" }}' for (tag, _, _), rate, delay in tiers
    )
    if network.tiers == TWO:
        numbers = f"spines = {network.aggs}, leaves = {network.tors}, hosts = {network.hosts}"
        return f"topology.leaf-spine = {{ {numbers}, {hops} }}"
    numbers = (
        f"pods = {network.pods}, tors-per-pod = {network.tors}, aggs-per-pod = {network.aggs}, "
        f"cores-per-agg = {network.cores}, hosts-per-tor = {network.hosts}"
    )
    return f"topology.fat-tree = {{ {numbers}, {hops} }}"


def _switch_delays(network: Network) -> str:
    """Return the overrides by which links to switches have their delay, too.

    Switches have no pipeline where ties are htsim's; each packet takes as long.
    """
    overrides = []
    for tier, (tag, below, above) in enumerate(_tags(network)):
        ends = [(below, above, network.switches_ps[tier])]
        if tier > 0:
            ends.append((above, below, network.switches_ps[tier - 1]))
        overrides += [
            f"""[[override]]
name = "{first}-{second}"
links = {{ tag = "{tag}" }}
direction = "{first}>{second}"
delay = "{network.delays_ps[tier] + delay}ps"
"""
            for first, second, delay in ends
            if delay
        ]
    return "\n".join(overrides)


def _unmarked(network: Network) -> str:
    """Return the override by which ports to hosts do not mark, where receivers grant credit."""
    tag, host, switch = _tags(network)[0]
    return f"""
[[override]]
name = "to-hosts"
links = {{ tag = "{tag}" }}
direction = "{switch}>{host}"
congestion-point = []
"""


def _failed(network: Network, count: int, queue: int, thresholds: tuple[int, int]) -> str:
    """Return the overrides of links that fail to a quarter of their rate, queue and thresholds.

    They are the first from cores down to aggregation switches, one direction alone, or of two tiers all links
    of the first spines.
    """
    directions = []
    if network.tiers == TWO:
        directions = [(f"*-c{spine + 1}", "") for spine in range(min(count, network.aggs))]
    else:
        for agg in range(network.pods * network.aggs):
            for up in range(network.cores):
                if up + agg * network.aggs < count:
                    ends = (f"a{agg + 1}", f"c{agg % network.aggs * network.cores + up + 1}")
                    directions.append((f"{ends[0]}-{ends[1]}", f'direction = "{ends[1]}>{ends[0]}"'))
    low, high = (threshold // 4 for threshold in thresholds)
    return "\n".join(
        f"""[[override]]
name = "failed-{number}"
links = "{links}"
{direction}
rate = "{network.rates_mbps[-1] * 1000 // 4}K"
output-queue = "{queue // 4}B"
congestion-point.red = {_red(low, high)}
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
    """Return the name of a switch; each switch of a pod's second tier has cores of its own, in turn."""
    if network.tiers == TWO:
        return f"{'t' if kind == 'LS' else 'c'}{number + 1}"
    if kind == "CS":
        return f"c{number % network.aggs * network.cores + number // network.aggs + 1}"
    return f"{'t' if kind == 'LS' else 'a'}{number + 1}"
