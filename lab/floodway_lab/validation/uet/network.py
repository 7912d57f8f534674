"""Networks of the Ultra Ethernet Consortium's simulator: its fat trees, and topologies in files."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from floodway.common.errors import ValidationError
from floodway_lab.validation.texts import text_of

if TYPE_CHECKING:
    from pathlib import Path

    from floodway_lab.validation.uet.options import Options

__all__ = ["HEADER", "TWO", "Network", "network_of"]

#: Bytes of packets without payload.
HEADER = 64
#: Tiers of switches: top-of-rack alone with spines, or with aggregation and cores.
TWO, THREE = 2, 3
#: Keys of a topology's head, and of each tier; the sizes of queues follow from the command line.
HEAD = ("nodes", "tiers", "podsize")
OF_TIER = (
    "downlink_speed_gbps",
    "downlink_latency_ns",
    "switch_latency_ns",
    "radix_down",
    "radix_up",
    "oversubscribed",
    "bundle",
    "queue_up",
    "queue_down",
)


@dataclass(frozen=True, kw_only=True)
class Network:
    """A network.

    Attributes
    ----------
    tiers
        Number of tiers of switches.
    pods, tors, aggs, cores, hosts
        Number of pods; of switches in a pod, of the first tier and of the second; of links up of each of
        these; of hosts at each of the first.
    rates_mbps, delays_ps, switches_ps
        By tier: rate and delay of the links down, delay of switches.
    host_mbps
        Rate of hosts.
    oversubscription
        By how much the links to hosts carry more than those at the top.
    each_hop_ps
        The delay that all links have; none where the tiers' delays are given.
    mtu
        Bytes of a full packet.
    """

    tiers: int
    pods: int
    tors: int
    aggs: int
    cores: int
    hosts: int
    rates_mbps: tuple[int, ...]
    delays_ps: tuple[int, ...]
    switches_ps: tuple[int, ...]
    host_mbps: int
    oversubscription: int
    each_hop_ps: int | None
    mtu: int

    @property
    def count(self) -> int:
        """Number of hosts."""
        return self.pods * self.tors * self.hosts

    @property
    def rtt_ps(self) -> int:
        """The longest round trip, in picoseconds: a full packet there, and one without payload back."""
        return self._round_trip(self._delay(self.tiers))

    @property
    def product(self) -> int:
        """Bandwidth-delay product in whole packets."""
        # In doubles, as the simulator computes it.
        return math.ceil(self.rtt_ps / 1e12 * (self.host_mbps * 1_000_000 // 8) / self.mtu)

    @property
    def is_even(self) -> bool:
        """Whether the longest round trip is the one that the simulator computes: all links have one rate."""
        return len({self.host_mbps, *self.rates_mbps}) == 1

    def rtt_between(self, source: int, destination: int) -> int:
        """Return the base round trip that the simulator computes for two hosts, in picoseconds.

        The delays are theirs, and the time to send packets is that of the longest path.
        """
        height = self._height(source, destination)
        if self.each_hop_ps is not None and height < self.tiers:
            # The simulator counts as many switches as links on short paths.
            return self._round_trip(2 * height * (self.each_hop_ps + self.switches_ps[0]))
        return self._round_trip(self._delay(height))

    def _height(self, source: int, destination: int) -> int:
        """Return the number of tiers that a path between two hosts passes."""
        if source // self.hosts == destination // self.hosts:
            return 1
        pod = self.tors * self.hosts
        return TWO if self.tiers == TWO or source // pod == destination // pod else THREE

    def _delay(self, height: int) -> int:
        """Return the delay of links and switches of a path, one way."""
        switches = 2 * sum(self.switches_ps[: height - 1]) + self.switches_ps[height - 1]
        return 2 * sum(self.delays_ps[:height]) + switches

    def _round_trip(self, delay_ps: int) -> int:
        bits = 2 * self.tiers * 8 * (self.mtu + HEADER)
        return 2 * delay_ps + bits * 1_000_000 // self.host_mbps


def network_of(folder: Path, hosts: int, options: Options) -> Network:
    """Return the network of a command line.

    Parameters
    ----------
    folder
        Where a topology's file is.
    hosts
        Number of hosts that flows refer to.
    options
        The options.

    Raises
    ------
    ValidationError
        If the network cannot be built.
    """
    network = _default(hosts, options) if options.topology is None else _from_file(folder, options)
    if not hosts == network.count == (options.nodes or hosts):
        nodes = "" if options.nodes is None else f", -nodes {options.nodes}"
        message = f"{folder}: {hosts} hosts{nodes}, and a network of {network.count}"
        raise ValidationError(message, place=os.fspath(folder))
    return network


def _default(hosts: int, options: Options) -> Network:
    """Return the smallest fat tree of one kind of switches with so many hosts."""
    if options.tiers not in (TWO, THREE):
        message = f"-tiers is {options.tiers}; allowed: 2, 3"
        raise ValidationError(message, key="-tiers", given=str(options.tiers), allowed=("2", "3"))
    ports = 2
    while (ports**3 // 4 if options.tiers == THREE else ports**2 // 2) < hosts:
        ports += 2
    half, two = ports // 2, options.tiers == TWO
    return Network(
        tiers=options.tiers,
        pods=1 if two else ports,
        tors=ports if two else half,
        aggs=half,
        cores=0 if two else half,
        hosts=half,
        rates_mbps=(options.rate_mbps,) * options.tiers,
        delays_ps=(options.hop_ps,) * options.tiers,
        switches_ps=(options.switch_ps,) * options.tiers,
        host_mbps=options.rate_mbps,
        oversubscription=1,
        each_hop_ps=options.hop_ps,
        mtu=options.mtu,
    )


def _from_file(folder: Path, options: Options) -> Network:
    file = folder / str(options.topology)
    head, tiers = _read(file)

    def of_tier(tier: int, key: str, default: int | None = None) -> int:
        value = tiers.get(tier, {}).get(key, default)
        if value is None or (value == 0 and default is None):
            message = f"{file}: tier {tier} has no {key} above 0"
            raise ValidationError(message, place=os.fspath(file), key=key)
        return value

    count = head.get("tiers", 0)
    nodes, pod, hosts = head.get("nodes", 0), head.get("podsize", 0), of_tier(0, "radix_down")
    if count not in (TWO, THREE) or not nodes or not pod or nodes % pod or pod % hosts:
        message = f"{file}: expected 2 or 3 tiers, and nodes in whole pods of whole racks"
        raise ValidationError(message, place=os.fspath(file))
    if any(of_tier(tier, "bundle", 1) > 1 for tier in range(count)):
        raise ValidationError(
            f"{file}: bundles of links are not modelled", place=os.fspath(file), key="bundle"
        )
    rates = tuple(1000 * of_tier(tier, "downlink_speed_gbps") for tier in range(count))
    if rates[0] != options.rate_mbps:
        message = (
            f"{file}: links of {rates[0] // 1000} Gbit/s to hosts of {options.rate_mbps} Mbit/s (-linkspeed) "
            "are not modelled"
        )
        raise ValidationError(message, place=os.fspath(file), key="-linkspeed")
    pods = 1 if count == TWO else nodes // pod
    aggs = of_tier(0, "radix_up") * (nodes // pod if count == TWO else 1)
    above = range(count - 1)
    oversubscription = 1
    for tier in above:
        oversubscription *= of_tier(tier, "oversubscribed", 1)
    return Network(
        tiers=count,
        pods=pods,
        tors=nodes // hosts // pods,
        aggs=aggs,
        cores=0 if count == TWO else of_tier(1, "radix_up"),
        hosts=hosts,
        rates_mbps=rates,
        delays_ps=tuple(1000 * of_tier(tier, "downlink_latency_ns") for tier in range(count)),
        switches_ps=tuple(1000 * of_tier(tier, "switch_latency_ns", 0) for tier in range(count)),
        host_mbps=options.rate_mbps,
        oversubscription=oversubscription,
        each_hop_ps=None,
        mtu=options.mtu,
    )


def _read(file: Path) -> tuple[dict[str, int], dict[int, dict[str, int]]]:
    """Read the keys of a topology's head, and those of each tier."""
    text = text_of(file)
    head: dict[str, int] = {}
    tiers: dict[int, dict[str, int]] = {}
    values = head
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        place, key = f"{file}:{number}", words[0].lower()
        if len(words) == 1 or not words[1].isdecimal():
            value = words[1] if len(words) > 1 else None
            message = f"{place}: expected a whole number behind {words[0]}"
            raise ValidationError(message, place=place, given=value)
        if key == "tier":
            values = tiers.setdefault(int(words[1]), {})
            continue
        allowed = HEAD if values is head else OF_TIER
        if key not in allowed:
            message = f"{place}: {words[0]} is not a key of topologies; allowed: {', '.join(allowed)}"
            raise ValidationError(message, place=place, given=words[0], allowed=allowed)
        values[key] = int(words[1])
    return head, tiers
