"""Scenarios from objects: a builder for each table that a scenario may have. Written by `make generate`.

Quantities are text with a unit, as in scenarios: `"10us"`, `"400G"`, `"288KB"`, `"80km"`.

Examples
--------
>>> from floodway import Scenario
>>> from floodway.builders import Burst, Defaults, Dumbbell, Pfc, Workload
>>> scenario = Scenario(
...     topology=Dumbbell(left=2, right=1, rate="100G", delay="1us"),
...     defaults=Defaults(flow_control=Pfc(xoff="320KB")),
...     workload=[Workload(name="incast", burst=Burst(from_="h*", to="h3", size="1MB"))],
... )
>>> scenario.replace(seed=7).seed
7
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from floodway.scenarios.builder import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


__all__ = [
    "Accounting",
    "AcksKey",
    "Action",
    "AlgorithmName",
    "AllToAll",
    "AllowanceKeys",
    "BaseRttKey",
    "Bfc",
    "Bifrost",
    "BufferParams",
    "Burst",
    "ByTag",
    "ByWorkload",
    "CaptureKeys",
    "Casl",
    "Cbfc",
    "Chain",
    "Class",
    "Cnp",
    "Collective",
    "CongestionPointParams",
    "CongestionPointParamsList",
    "CrossNic",
    "Crossing",
    "Dci",
    "Dcqcn",
    "DcqcnMeans",
    "DcqcnNp",
    "DcqcnPreset",
    "DcqcnTimers",
    "DcqcnUe",
    "DcqcnWindow",
    "Dctcp",
    "Defaults",
    "DeficitRoundRobin",
    "Distance",
    "DistanceList",
    "DoubleOrAuto",
    "DrawsKey",
    "DscpByClass",
    "Dumbbell",
    "Ecmp",
    "EngineKeys",
    "ErrorRate",
    "ErrorRates",
    "Explicit",
    "Expresspass",
    "ExpresspassCp",
    "ExpresspassNp",
    "FMode",
    "FabricKind",
    "FabricKindPreset",
    "Failover",
    "FatTree",
    "Faults",
    "FixedSize",
    "FlowControl",
    "FlowControlParams",
    "FlowList",
    "FlowSize",
    "Format",
    "GoBackN",
    "GoBackNDuplicates",
    "GoBackNRestart",
    "GpuNodes",
    "Gradients",
    "Grouping",
    "Groups",
    "Hash",
    "HashSeeds",
    "Headroom",
    "HeadroomByDelays",
    "HistogramKeys",
    "Hop",
    "Hosts",
    "HotHosts",
    "HotSpot",
    "Hpcc",
    "HpccPreset",
    "HpccTopology",
    "Incast",
    "InterfaceDelay",
    "Ioq",
    "Irn",
    "IrnForm",
    "IrnPreset",
    "IrnWindow",
    "IrnWindowOfPath",
    "LeafSpine",
    "Length",
    "LengthOrBlank",
    "LineRate",
    "LinkControlKey",
    "LinkRetryParams",
    "ListFormat",
    "Listed",
    "ListedFlow",
    "ListedLink",
    "ListedLong",
    "Llr",
    "LongLink",
    "LongLinks",
    "LongLived",
    "LongTable",
    "Lossy",
    "MarkAt",
    "MeasureWindow",
    "Mercury",
    "MercuryDetection",
    "MercuryFlows",
    "MercuryWindow",
    "MicroBursts",
    "Mode",
    "ModelKeys",
    "ModelName",
    "ModelTable",
    "MultiDc",
    "NicOrRate",
    "Nics",
    "NoLinkRetry",
    "NoNotification",
    "NoReliability",
    "NotificationParams",
    "Nscc",
    "NsccAverage",
    "OnDeadlock",
    "OutputQueue",
    "Override",
    "Oversubscription",
    "Pacc",
    "PacingKey",
    "PartKeys",
    "Pause",
    "PauseList",
    "PauseMode",
    "Perftest",
    "Period",
    "PeriodList",
    "Permutation",
    "Pfc",
    "Placement",
    "Poisson",
    "PowerTcp",
    "PowerTcpForm",
    "PresetKeys",
    "PresetName",
    "Profile",
    "ProxyCnp",
    "Purpose",
    "Qp",
    "Quanta",
    "RailOptimised",
    "Rate",
    "RateOrBlank",
    "RateTimersKey",
    "Rccc",
    "Rcm",
    "RcmCuts",
    "RcmMarks",
    "React",
    "ReactionParams",
    "ReactionParamsList",
    "RecordKeys",
    "Red",
    "RedPreset",
    "ReleaseKey",
    "ReliabilityParams",
    "Renewal",
    "RepacingKey",
    "RoundRobin",
    "RoundingKey",
    "RoutingParams",
    "Sar",
    "ScaleUpKeys",
    "ScaleUpOrNone",
    "SchedulerParams",
    "Selector",
    "SemanticsKeys",
    "SendCompletes",
    "ShareKeys",
    "SharedBuffer",
    "SingleSwitch",
    "SiteKeys",
    "Sites",
    "Size",
    "SizeList",
    "SizeOfPath",
    "SizeOrAuto",
    "Sizes",
    "SizesFile",
    "Sizing",
    "Spacing",
    "Spray",
    "StartsKey",
    "StaticBuffer",
    "StaticWindow",
    "Stop",
    "Strict",
    "StringList",
    "Swift",
    "Swing",
    "SwingForm",
    "Switchover",
    "SwitchoverList",
    "TaggedNode",
    "Tcd",
    "TcdNp",
    "Test",
    "ThemisPnp",
    "ThemisTrp",
    "ThemisTrpBy",
    "TiesKey",
    "Time",
    "TimeOfPath",
    "TimeOrAuto",
    "TimeOrBlank",
    "Timely",
    "TimelyPreset",
    "Timeout",
    "TimeoutOfPath",
    "Topology",
    "TopologyPreset",
    "Trace",
    "TraceFormat",
    "Training",
    "Trigger",
    "TrimVictim",
    "TurnsKey",
    "TwoDc",
    "Uet",
    "UetEntropy",
    "UetForm",
    "Visit",
    "Watchdog",
    "Weights",
    "WindowKey",
    "Workload",
    "Xoff",
    "XoffParts",
]


@dataclass(frozen=True, kw_only=True)
class SemanticsKeys(Table):
    """Semantics in which other simulators differ.

    Attributes
    ----------
    release
        Time at which a packet's bytes leave the ingress account. Default: `end`.
    ties
        Order of events at one instant. Default: `hashed`.
    starts
        Place of flow starts among the events of their instant, where ties are in scheduling
        order. Default: `first`.
    rounding
        Rounding of serialisation times. Default: `picosecond`.
    hash_seeds
        Seeds of the hashes `swing-ns3` and `hpcc-ns3`, one for each switch. Default: `none`.
    visit
        Order in which routing visits neighbours; it determines the order of equal-cost ports.
        Default: `listed`.
    repacing
        Effect of a new rate on the packet that waits for its pacing time. Default: `moved`.
    rate_timers
        Effect of a rate control's timers on a NIC, besides a new rate. Default: `look`.
    acks
        Queue of replies (ACK, NAK). Default: `control`.
    link_control
        Queue of link control frames (PAUSE, credits). Default: `first`.
    turns
        Order of turns among the queue pairs of a NIC. Default: `ring`.
    window
        Condition on which a window lets a packet be sent. Default: `whole`.
    base_rtt
        Components of a base round-trip time. Default: `exact`.
    pacing
        Whether packets are paced at the rate. Default: `on`.
    draws
        Random stream of congestion points. Default: `per-node`.
    """

    release: ReleaseKey | None = None
    ties: TiesKey | None = None
    starts: StartsKey | None = None
    rounding: RoundingKey | None = None
    hash_seeds: HashSeeds | None = None
    visit: Visit | None = None
    repacing: RepacingKey | None = None
    rate_timers: RateTimersKey | None = None
    acks: AcksKey | None = None
    link_control: LinkControlKey | None = None
    turns: TurnsKey | None = None
    window: WindowKey | None = None
    base_rtt: BaseRttKey | None = None
    pacing: PacingKey | None = None
    draws: DrawsKey | None = None


@dataclass(frozen=True, kw_only=True)
class Explicit(Table):
    """Parameters of a network whose nodes and links are listed.

    Attributes
    ----------
    hosts
        Hosts: names, ranges of names, or `{ name, tags }`. Default: none.
    switches
        Switches: names, ranges of names, or `{ name, tags }`. Default: none.
    rate
        Rate of links that have none of their own. No default.
    delay
        Delay of links that have none of their own. Not together with `length`.
    length
        Length of links that have none of their own, at 5 us/km. Not together with `delay`.
    links
        Links. The ports of a node have the order of its links. Default: none.
    """

    _tag: ClassVar[str | None] = "explicit"
    hosts: Sequence[Listed] | None = None
    switches: Sequence[Listed] | None = None
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    links: Sequence[ListedLink] | None = None


@dataclass(frozen=True, kw_only=True)
class TaggedNode(Table):
    """A node with tags.

    Attributes
    ----------
    name
        Its name, or a range of names. No default.
    tags
        Its tags, beside `host` or `switch`. Default: none.
    """

    name: str
    tags: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True)
class ListedLink(Table):
    """A link, or several equal ones.

    Attributes
    ----------
    between
        The nodes at its ends; a range of names means each of its nodes. No default.
    name
        Its name. Default: after its ends.
    tags
        Its tags. Default: none.
    rate
        Its rate. Default: that of all links.
    delay
        Its delay. Not together with `length`. Default: that of all links.
    length
        Its length, at 5 us/km. Not together with `delay`. Default: that of all links.
    count
        Number of parallel links, at least 1. Default: 1.
    """

    between: tuple[str, str]
    name: str | None = None
    tags: Sequence[str] | None = None
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    count: int | None = None


@dataclass(frozen=True, kw_only=True)
class SingleSwitch(Table):
    """Parameters of a single switch.

    Attributes
    ----------
    hosts
        Number of hosts, at least 1. No default.
    rate
        Rate of each link. No default.
    delay
        Delay of each link. Not together with `length`; one of the two must be given.
    length
        Length of each link, at 5 us/km. Not together with `delay`; one of the two must be
        given.
    links_per_host
        Number of parallel links between each host and the switch, at least 1. Default: 1.
    """

    _tag: ClassVar[str | None] = "single-switch"
    hosts: int
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    links_per_host: int | None = None


@dataclass(frozen=True, kw_only=True)
class Chain(Table):
    """Parameters of a chain.

    Attributes
    ----------
    switches
        Number of switches, at least 1. No default.
    hosts
        Hosts at each switch: a number, or a list with one for each. Default: 1.
    rate
        Rate of links that have none of their own. No default.
    delay
        Delay of links that have none of their own. Not together with `length`.
    length
        Length of links that have none of their own, at 5 us/km. Not together with `delay`.
    host
        Links between hosts and switches. Default: rate and delay of the topology.
    trunk
        Links between switches. Default: rate and delay of the topology.
    """

    _tag: ClassVar[str | None] = "chain"
    switches: int
    hosts: Hosts | None = None
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    host: Hop | None = None
    trunk: Hop | None = None


@dataclass(frozen=True, kw_only=True)
class Hop(Table):
    """Rate and delay of links; missing values are taken from the level above.

    Attributes
    ----------
    rate
        Line rate. Default: that of the level above.
    delay
        Propagation delay. Not together with `length`. Default: that of the level above.
    length
        Length of fibre, at 5 us/km. Not together with `delay`. Default: that of the level
        above.
    """

    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None


@dataclass(frozen=True, kw_only=True)
class Dumbbell(Table):
    """Parameters of a dumbbell.

    Attributes
    ----------
    left
        Hosts at s1, at least 1. No default.
    right
        Hosts at s2, at least 1. No default.
    rate
        Rate of links that have none of their own. No default.
    delay
        Delay of links that have none of their own. Not together with `length`.
    length
        Length of links that have none of their own, at 5 us/km. Not together with `delay`.
    bottleneck
        The link between the switches. Default: rate and delay of the topology.
    """

    _tag: ClassVar[str | None] = "dumbbell"
    left: int
    right: int
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    bottleneck: Hop | None = None


@dataclass(frozen=True, kw_only=True)
class LeafSpine(Table):
    """Parameters of a leaf-spine.

    Attributes
    ----------
    spines
        Number of spines, at least 1. No default.
    leaves
        Number of leaves, at least 1. No default.
    hosts
        Number of hosts linked to each leaf, at least 1. No default.
    rate
        Rate of links whose tier has none of its own. No default.
    delay
        Delay of links whose tier has none of its own. Not together with `length`.
    length
        Length of links whose tier has none of its own, at 5 us/km. Not together with `delay`.
    host_leaf
        Links between hosts and leaves. Default: rate and delay of the topology.
    leaf_spine
        Links between leaves and spines. Default: rate and delay of the topology.
    parallel
        Number of parallel links between each leaf and each spine, at least 1. Default: 1.
    homes
        Number of leaves to which each host is linked: that many consecutive leaves share their
        hosts. It must divide `leaves`. Default: 1.
    """

    _tag: ClassVar[str | None] = "leaf-spine"
    spines: int
    leaves: int
    hosts: int
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    host_leaf: Hop | None = None
    leaf_spine: Hop | None = None
    parallel: int | None = None
    homes: int | None = None


@dataclass(frozen=True, kw_only=True)
class FatTree(Table):
    """Parameters of a fat tree.

    Attributes
    ----------
    k
        Ports of a switch, even, from 2 to 256; the numbers below follow from it where they are
        not given. Default: none, and then `pods`, `tors-per-pod`, `aggs-per-pod`, `cores-per-
        agg` and `hosts-per-tor` must be given.
    pods
        Number of pods, at least 1. Default: k.
    tors_per_pod
        Number of `ToR` of each pod, at least 1. Default: k/2.
    aggs_per_pod
        Number of aggregation switches of each pod, at least 1. Default: k/2.
    cores_per_agg
        Number of cores above each aggregation switch, at least 1; the total number of cores is
        `aggs-per-pod` times this. Default: k/2.
    hosts_per_tor
        Number of hosts linked to each `ToR`, at least 1. Default: k/2.
    homes
        Number of `ToR` of its pod to which each host is linked: that many consecutive `ToR`
        share their hosts. It must divide `tors-per-pod`. Default: 1.
    rate
        Rate of links whose tier has none of its own. No default.
    delay
        Delay of links whose tier has none of its own. Not together with `length`.
    length
        Length of links whose tier has none of its own, at 5 us/km. Not together with `delay`.
    host_tor
        Links between hosts and `ToR`. Default: rate and delay of the topology.
    tor_agg
        Links between `ToR` and aggregation switches. Default: rate and delay of the topology.
    agg_core
        Links between aggregation switches and cores. Default: rate and delay of the topology.
    parallel_tor_agg
        Number of parallel links between each `ToR` and each aggregation switch of its pod, at
        least 1. Default: 1.
    parallel_agg_core
        Number of parallel links between each aggregation switch and each of its cores, at least
        1. Default: 1.
    """

    _tag: ClassVar[str | None] = "fat-tree"
    k: int | None = None
    pods: int | None = None
    tors_per_pod: int | None = None
    aggs_per_pod: int | None = None
    cores_per_agg: int | None = None
    hosts_per_tor: int | None = None
    homes: int | None = None
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    host_tor: Hop | None = None
    tor_agg: Hop | None = None
    agg_core: Hop | None = None
    parallel_tor_agg: int | None = None
    parallel_agg_core: int | None = None


@dataclass(frozen=True, kw_only=True)
class RailOptimised(Table):
    """Parameters of a rail-optimised network.

    Attributes
    ----------
    nodes
        Number of nodes of a segment, at least 1. No default.
    spines
        Number of spines of a pod, in each plane, at least 1: there must be a path between any
        two hosts. No default.
    gpus_per_node
        GPUs of a node, each with its NIC, at least 1. Default: 8.
    rails
        Number of rail switches of a segment, in each plane; it must divide `gpus-per-node`.
        Default: `gpus-per-node`.
    planes
        Number of planes, at least 1: each GPU has a link in each. Default: 1.
    segments
        Number of segments of a pod, at least 1. Default: 1.
    pods
        Number of pods, at least 1. Default: 1.
    cores
        Number of cores that join the pods, each linked to each spine; at least 1 with several
        pods. Default: 0.
    rate
        Rate of links whose tier has none of its own. No default.
    delay
        Delay of links whose tier has none of its own. Not together with `length`.
    length
        Length of links whose tier has none of its own, at 5 us/km. Not together with `delay`.
    gpu_rail
        Links between GPUs and rail switches. Default: rate and delay of the topology.
    rail_spine
        Links between rail switches and spines. Default: rate and delay of the topology.
    spine_core
        Links between spines and cores. Default: rate and delay of the topology.
    parallel
        Number of parallel links between each rail switch and each spine, at least 1. Default:
        1.
    oversubscription
        Oversubscription of the upper tiers, which sets the rates of their links. Default: none;
        these have the rates that are given.
    """

    _tag: ClassVar[str | None] = "rail-optimised"
    nodes: int
    spines: int
    gpus_per_node: int | None = None
    rails: int | None = None
    planes: int | None = None
    segments: int | None = None
    pods: int | None = None
    cores: int | None = None
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    gpu_rail: Hop | None = None
    rail_spine: Hop | None = None
    spine_core: Hop | None = None
    parallel: int | None = None
    oversubscription: Oversubscription | None = None


@dataclass(frozen=True, kw_only=True)
class Oversubscription(Table):
    """Rate of a switch's links downward over that of its links upward, by tier: 2 leaves each host half of
    its rate when all send upward, and below 1 there is more above than below.

    Rates are rounded to 1 Mbit/s.

    Attributes
    ----------
    rail_switch
        Of rail switches, above 0. Not together with `rail-spine.rate`. Default: by the rates of
        the links.
    spine
        Of spines, above 0. Not together with `spine-core.rate`. Default: by the rates of the
        links.
    """

    rail_switch: float | None = None
    spine: float | None = None


@dataclass(frozen=True, kw_only=True)
class TwoDc(Table):
    """Parameters of two datacenters.

    Attributes
    ----------
    long_link
        Links between the DCI switches, tagged `long-haul` and `long-a-b`.
    fabric
        The fabric of both datacenters. No default, unless both have their own.
    fabric_a
        The fabric of A. Default: `fabric`.
    fabric_b
        The fabric of B. Default: `fabric`.
    rate
        Rate of links inside datacenters that have none of their own. No default.
    delay
        Delay of links inside datacenters that have none of their own. Not together with
        `length`.
    length
        Length of links inside datacenters that have none of their own, at 5 us/km. Not together
        with `delay`.
    core_dci
        Links between the gateways of a fabric (the cores of a fat tree) and the DCI switch.
        Default: rate and delay of links inside datacenters.
    """

    _tag: ClassVar[str | None] = "two-dc"
    long_link: LongLink
    fabric: FabricKind | None = None
    fabric_a: FabricKind | None = None
    fabric_b: FabricKind | None = None
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    core_dci: Hop | None = None


@dataclass(frozen=True, kw_only=True)
class PartKeys(Table):
    """A part of a published AI cluster.

    Its upper tiers have the oversubscription of the whole, with as many of the links and switches as
    its nodes need.

    Attributes
    ----------
    name
        The name of the cluster. No default.
    nodes
        Number of GPU nodes, at least 1; of each site, where it has several. They are spread
        evenly over the segments. Default: as published.
    segments
        Number of segments (scalable units, racks) of each pod, at least 1. Default: the fewest
        that hold the nodes.
    pods
        Number of pods, at least 1. Default: the fewest that hold the nodes.
    """

    name: PresetName
    nodes: int | None = None
    segments: int | None = None
    pods: int | None = None


@dataclass(frozen=True, kw_only=True)
class LongLink(Table):
    """The links between the datacenters.

    Attributes
    ----------
    rate
        Rate of each. No default.
    delay
        Delay. Not together with `length`; one of the two must be given.
    length
        Length, at 5 us/km. Not together with `delay`; one of the two must be given.
    count
        Number of parallel links, at least 1. Default: 1.
    """

    rate: Rate
    delay: Time | None = None
    length: Length | None = None
    count: int | None = None


@dataclass(frozen=True, kw_only=True)
class MultiDc(Table):
    """Parameters of several datacenters.

    Attributes
    ----------
    sites
        The sites: their number, from 2 to 1024, or a list of tables. No default.
    long_links
        Links between sites, all tagged `long-haul`, and `long-a-b` if they link the sites a and
        b. No default.
    fabric
        The fabric of sites that have none of their own. No default.
    rate
        Rate of links inside sites that have none of their own. No default.
    delay
        Delay of links inside sites that have none of their own. Not together with `length`.
    length
        Length of links inside sites that have none of their own, at 5 us/km. Not together with
        `delay`.
    core_dci
        Links between the gateways of a fabric (the cores of a fat tree) and DCI switches.
        Default: rate and delay of links inside the site.
    dci
        Whether the long links of a site share a DCI switch. Default: `shared`.
    """

    _tag: ClassVar[str | None] = "multi-dc"
    sites: Sites
    long_links: LongLinks
    fabric: FabricKind | None = None
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    core_dci: Hop | None = None
    dci: Dci | None = None


@dataclass(frozen=True, kw_only=True)
class SiteKeys(Table):
    """A site.

    Attributes
    ----------
    name
        Its name, of letters, digits, - and _: its nodes and links are tagged `dc-<name>`.
        Default: the letter of its place, a, b, c, … .
    fabric
        Its fabric. Default: that of `multi-dc`.
    rate
        Rate of its links that have none of their own. Default: that of `multi-dc`.
    delay
        Delay of its links that have none of their own. Not together with `length`. Default:
        that of `multi-dc`.
    length
        Length of its links that have none of their own, at 5 us/km. Not together with `delay`.
        Default: that of `multi-dc`.
    core_dci
        Links between its gateways and its DCI switches. Default: those of `multi-dc`.
    """

    name: str | None = None
    fabric: FabricKind | None = None
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    core_dci: Hop | None = None


@dataclass(frozen=True, kw_only=True)
class ListedLong(Table):
    """A long link, or several equal ones.

    Attributes
    ----------
    between
        The names of the two sites.
    rate
        Rate of each link. No default.
    delay
        Delay. Not together with `length`; one of the two must be given.
    length
        Length, at 5 us/km. Not together with `delay`; one of the two must be given.
    count
        Number of parallel links, at least 1. Default: 1.
    tags
        Tags in addition to `long-haul` and that of the pair of sites. Default: none.
    """

    between: tuple[str, str]
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    count: int | None = None
    tags: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True)
class LongTable(Table):
    """The links between sites, by exactly one of `lengths`, `delays`, `ring` and `full-mesh`, and their
    rates and numbers.

    A matrix has a row and a column for each site, in their order. A long link is the same both ways, so one half of the matrix may be left blank (`""`, or 0). Where both halves are given they must be equal.

    Attributes
    ----------
    lengths
        Lengths of long links, a matrix; blank where there is no link. Default: none.
    delays
        Delays of long links, a matrix; blank where there is no link. Default: none.
    ring
        Lengths or delays around a ring: from each site to the next one, from the last to the
        first (two sites have one link); one value applies to all. Default: none.
    full_mesh
        Length or delay between any two sites. Default: none.
    rate
        Rate of long links that have none in `rates`. No default.
    rates
        Rates of long links, a matrix; blank where `rate` applies. Default: none.
    count
        Number of parallel links, where `counts` does not give it. Default: 1.
    counts
        Numbers of parallel links, a matrix; 0 where there is no long link. Default: `count` of
        each.
    tags
        Tags in addition to `long-haul` and that of the pair of sites. Default: none.
    """

    lengths: Sequence[Sequence[LengthOrBlank]] | None = None
    delays: Sequence[Sequence[TimeOrBlank]] | None = None
    ring: DistanceList | None = None
    full_mesh: Distance | None = None
    rate: Rate | None = None
    rates: Sequence[Sequence[RateOrBlank]] | None = None
    count: int | None = None
    counts: Sequence[Sequence[int]] | None = None
    tags: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True)
class HpccTopology(Table):
    """Parameters of a network in the HPCC simulator's topology file.

    Attributes
    ----------
    file
        The file, relative to the scenario's folder; `${NAME}` is replaced by an environment
        variable. No default.
    error_rate
        Probability from 0 to 1 that a frame of any kind is lost on a link, each way, for links
        with 0 in the file: the simulator's key `ERROR_RATE_PER_LINK`. Default: 0.
    datacenters
        Number of hosts of each datacenter, in the order of their ids: `[16, 16]`. They have the
        tags `dc-a`, `dc-b` and so on, which results use to separate flows within a datacenter
        from those between two. Default: one datacenter, without a tag.
    """

    _tag: ClassVar[str | None] = "hpcc"
    file: str
    error_rate: float | None = None
    datacenters: Sequence[int] | None = None


@dataclass(frozen=True, kw_only=True)
class GpuNodes(Table):
    """GPU nodes.

    Hosts are GPUs with a NIC each, in the order of the network, so many of them a node. Hosts and their
    links are tagged `node-<n>` and `rail-<i>`, their place in the node.

    Attributes
    ----------
    gpus_per_node
        GPUs of a node, from 1 to 1024. Default: that of a rail-optimised network, else 8.
    gpus_per_nic
        GPUs that share a NIC, and so a host of the network; it divides `gpus-per-node`.
        Default: 1.
    scale_up
        The scale-up domain of a node (`NVLink`), which carries messages between its GPUs, or
        `"none"`: all messages are packets of the network. Default: that of a published AI
        cluster, else none.
    """

    gpus_per_node: int | None = None
    gpus_per_nic: int | None = None
    scale_up: ScaleUpOrNone | None = None


@dataclass(frozen=True, kw_only=True)
class ScaleUpKeys(Table):
    """A scale-up domain: a message takes `latency` and its bytes over `rate`, in turn at the port of each
    GPU.

    It is no part of the network of packets.

    Attributes
    ----------
    rate
        Rate of a GPU's port, the same in both directions. Default: that of a published AI
        cluster; it must be given elsewhere.
    latency
        Time from the start of a message to the arrival of its first byte. Default: that of a
        published AI cluster, else 1 us.
    nodes
        Nodes that share a domain, at least 1. Default: 1.
    """

    rate: Rate | None = None
    latency: Time | None = None
    nodes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Defaults(Table):
    """Settings of all objects that no override changes.

    Attributes
    ----------
    flow_control
        Link flow control of the classes of data. Default: `pfc`.
    link_retry
        Retry of the frames that a link damages. Default: `none`.
    faults
        Faults of links or nodes. Default: nothing.
    congestion_point
        Detection of congestion at egress ports. Default: none.
    buffer
        Admission to switch buffers. Default: `static`.
    routing
        Routing among equal-cost ports. Default: `ecmp`.
    scheduler
        Scheduling of egress ports. Default: `strict`.
    notification
        At receivers: the rule for sending CNPs. Default: the rule that the rate control needs.
    rate_control
        At senders: the stack of rate and window controls, the lowest first. Default: `line-
        rate`.
    reliability
        Recovery from losses. Default: `go-back-n`.
    qp
        Which flows share a queue pair. Default: `per-flow`.
    class_
        Class of flows. Default: 3.
    payload
        Payload of the full packets of flows, from 1 byte to the run's `mtu`: flows of several
        sizes mix on a link, in turns. Default: the run's `mtu`.
    pipeline
        Time from a packet's arrival at a switch to its place in the egress queue, for data,
        ACKs, NAKs and CNPs alike. Default: 0.
    cell
        Cell of switches' buffers: a packet occupies whole cells, from 1 byte to 8 KiB. Sizes,
        thresholds and headroom count cells then. Default: 1 byte, as if there were none.
    drain
        Of hosts: the rate at which a NIC writes what it has received to the host's memory, as
        PCIe or memory allow, in bytes of frames. What arrives faster waits in the NIC's receive
        buffer, by which the link's flow control pauses the switch; packets are delivered and
        acknowledged when they are written. Default: without limit.
    receive_buffer
        Of hosts with `drain`: size of the receive buffer of each NIC and class, headroom
        included. Default: 262,016 bytes, the receive buffer of a ConnectX port (Mellanox
        DOC-2933), or what the link's flow control needs, if that is more.
    nic_failover
        Of hosts with several NICs: how long after a host knows that the link of a NIC is down
        (`faults.detection`) the queue pairs of that NIC move to others; `"off"` to let them
        wait for the link. Linux looks every `miimon`, often 100 ms; hardware that bonds ports
        knows at once. Default: 0.
    nics
        Of hosts with several NICs: which of them sends. Default: `per-qp`.
    """

    flow_control: FlowControl | None = None
    link_retry: LinkRetryParams | None = None
    faults: Faults | None = None
    congestion_point: CongestionPointParamsList | None = None
    buffer: BufferParams | None = None
    routing: RoutingParams | None = None
    scheduler: SchedulerParams | None = None
    notification: NotificationParams | None = None
    rate_control: ReactionParamsList | None = None
    reliability: ReliabilityParams | None = None
    qp: Qp | None = None
    class_: Class | None = None
    payload: Size | None = None
    pipeline: Time | None = None
    cell: Size | None = None
    drain: Rate | None = None
    receive_buffer: Size | None = None
    nic_failover: Failover | None = None
    nics: Nics | None = None


@dataclass(frozen=True, kw_only=True)
class Lossy(Table):
    """No parameters."""

    _tag: ClassVar[str | None] = "lossy"


@dataclass(frozen=True, kw_only=True)
class Pfc(Table):
    """Parameters of priority-based flow control.

    Attributes
    ----------
    xoff
        XOFF, the bytes of one (ingress port, class) below headroom at which it pauses its
        upstream: a size, `{ fixed, alpha }` with one part or both, `{ total }` for all bytes of
        the switch, or `"auto"`: beside a shared pool a quarter of its free bytes; of a buffer
        of the port's own what it leaves next to headroom and MTU - 1, which is one packet where
        the buffer's size is `"auto"`, too. Default: `"auto"` with a buffer of the port's own
        whose size is given, else 320 KB. Source: IEEE 802.1Qbb leaves it open; Mercury's small
        scale has 320 KB, and a port that is sized by hand is filled (floodway's choice); alpha
        1/4 is SWING's, and that of SONiC's rows for Tomahawk 3.
    resume_offset
        XOFF - XON: resume this far below the threshold, in bytes, at least 0. Default: 2 MTU;
        with `xon` alone none, so that only `xon` counts. Source: IEEE 802.1Qbb leaves it open;
        floodway's choice, as Mercury's 2 KB and HPCC's 3 KiB: at 0, as SWING and Bifrost have
        it, each packet at the crossing sends a PAUSE and a RESUME.
    xon
        XON, the bytes below headroom at which the class resumes, at most a fixed XOFF; beside
        `resume-offset` the greater of both counts: XON is max(`xon`, XOFF - `resume-offset`).
        Default: none. Source: OCP's SAI, `SAI_BUFFER_PROFILE_ATTR_XON_TH` and
        `..._XON_OFFSET_TH`.
    headroom
        H, room for the bytes that arrive after the decision to pause: a size; `"auto"` for the
        formula, with a shared pool one MTU more; or `{ delays }`. Source: what IEEE 802.1Qbb
        lets arrive, term by term (see Sizing).
    pause
        How long a pause lasts. Default: as the run's wire format says, `"timer"` with
        `ethernet` and `"on-off"` with `hpcc-ns3` and `swing-ns3`. Source: IEEE 802.1Qbb
        (`timer`); the HPCC and SWING simulators (`on-off`).
    quanta
        Pause time of each PAUSE, in 512 bit times, from 1 to 65535 (`timer` mode). It must be
        long enough for its refresh to arrive. Source: IEEE 802.1Qbb, the most that the field of
        16 bits holds.
    pause_time
        How long each PAUSE lasts, in place of `quanta` (`timer` mode), above 0 and up to the
        time of 65535 quanta; the frame carries it in whole quanta, rounded up. Default: the
        time of `quanta`. Source: ConWeave's simulator, `PAUSE_TIME`, which has 5 us.
    renewal
        What refreshes a pause that must last (`timer` mode). Source: IEEE 802.1Qbb leaves it
        open; floodway's choice: what renews it in time.
    refresh
        Fraction of a PAUSE's time after which it is refreshed (`timer` mode, `renewal =
        "timer"`), between 0 and 1. Source: IEEE 802.1Qbb leaves it open; floodway's choice:
        half is usual.
    react
        The upstream stops this long after a PAUSE has arrived: a time of at least 0, or
        `"ieee-802.3"` for the time that it allows at the link's rate (10G 60 quanta, 25G 80,
        40G 118, 50G 147, 100G 394, 200G 453, 400G and 800G 905), or `"nvidia"` for what
        NVIDIA's headroom calculator counts (10G 67 quanta, the others as IEEE 802.3). Headroom
        grows with it. Source: floodway's choice: an ideal MAC. Real ones: IEEE 802.3, 31B.3.7,
        30,720 bit times at 10G, 2.02 us at 100G and 1.16 us at 400G; NVIDIA's
        `buffer_headroom_mellanox.lua` in SONiC.
    interface_delay
        Delay of the port's own interface, of the pause on its way out and of data on their way
        in: a time of at least 0, or `"ieee-802.3"` for the most at the link's rate, in bit
        times (10G 8192, 25G 6144, 40G 24576, 100G 122880; 50G, 200G, 400G and 800G as much as
        `react`). Headroom grows with it, and pauses take so much longer to be obeyed. Source:
        floodway's choice: an ideal interface. Real ones: IEEE 802.1Qbb, Annex O, with the
        values that Cisco quotes.
    trigger
        What makes a packet's arrival send a PAUSE. Source: the HPCC simulator's `switch-
        mmu.cc`, which asks for either condition.
    watchdog
        Ends a pause that lasts too long. Default: off. Source: SONiC's PFC watchdog; IEEE
        802.1Qbb defines none.
    """

    _tag: ClassVar[str | None] = "pfc"
    xoff: Xoff | None = None
    resume_offset: Size | None = None
    xon: Size | None = None
    headroom: Headroom | None = None
    pause: PauseMode | None = None
    quanta: Quanta | None = None
    pause_time: Time | None = None
    renewal: Renewal | None = None
    refresh: float | None = None
    react: React | None = None
    interface_delay: InterfaceDelay | None = None
    trigger: Trigger | None = None
    watchdog: Watchdog | None = None


@dataclass(frozen=True, kw_only=True)
class XoffParts(Table):
    """A threshold of parts, either of which may be left out: XOFF = `fixed` + `alpha` · free bytes of the
    pool; or XOFF of the whole switch, `total`.

    Attributes
    ----------
    fixed
        The part that does not depend on the pool, in bytes. Default: 0. Source: IEEE 802.1Qbb
        leaves it open; SWING's static part is 288 KB.
    alpha
        Share of the pool's free bytes, at least 0. Default: 0. Source: switch chips (powers of
        two from 1/128 to 8); HPCC's simulator has 1/8 at the NICs' rate, SWING 1/4.
    per
        The rate up to which `alpha` holds, or `"nic"` for that of the network's first host:
        above it `alpha` doubles with each doubling of the link's rate, a part of one included,
        up to 1. Default: `alpha` holds at every rate. Source: HPCC's simulator, whose shift per
        port is 3 at the NICs' rate and one less per doubling.
    total
        In place of the other parts: XOFF of all bytes that the switch holds. An ingress pauses
        when a packet arrives there while they are at least as many, and resumes when one of its
        packets leaves and they have fallen to XON, or when it holds nothing. Default: none.
        Source: floodway's choice of when each ingress pauses; papers that give one threshold of
        a switch do not say.
    """

    fixed: Size | None = None
    alpha: float | None = None
    per: NicOrRate | None = None
    total: Size | None = None


@dataclass(frozen=True, kw_only=True)
class HeadroomByDelays(Table):
    """Headroom as a multiple of rate · delay, which is rounded down to whole bytes before it is
    multiplied.

    Attributes
    ----------
    delays
        The multiple, at least 0. Default: none, it must be given. Source: HPCC's simulator has
        3.
    """

    delays: int


@dataclass(frozen=True, kw_only=True)
class Watchdog(Table):
    """Ends a pause that lasts too long, for example because of a faulty neighbour; one per egress port and
    class.

    It measures from the start of an uninterrupted pause (a refresh does not interrupt it) and then overrides the pause: PFC frames are ignored, and the queue is dropped or sent. This state ends when no PFC frame of the class has arrived for `restore`. A RESUME is such a frame: it ends nothing. In `on-off` mode a pause counts as arriving frames until its RESUME, since nothing refreshes it.

    Attributes
    ----------
    after
        Longest pause that is obeyed, above 0. Source: SONiC, `pfcwd start_default`, whose
        detection time is 200 ms.
    action
        What happens to the queue then. Source: SONiC, `pfcwd start --action`, whose default is
        to drop.
    restore
        Time without a PFC frame of the class, above 0, after which pauses are obeyed again.
        Default: twice `after`. Source: SONiC, `pfcwd start --restoration-time`.
    poll
        Time between two looks at the queue, above 0 and at most `after` and `restore`. At each
        multiple of it, counted from the start of the run, the watchdog learns whether the class
        was paused, or quiet, all the time since the last look; `after` and `restore` are
        rounded up to whole intervals. Default: it looks all the time. Source: SONiC, `pfcwd
        interval`, which has 200 ms; floodway's choice is the exact times.
    """

    after: Time | None = None
    action: Action | None = None
    restore: Time | None = None
    poll: Time | None = None


@dataclass(frozen=True, kw_only=True)
class Bifrost(Table):
    """Parameters of Bifrost.

    Attributes
    ----------
    slot
        T, the time between two grants: more than 1 us, less than the one-way delay, and at most
        the longest pause of one frame (83 us at 400G). Source: Bifrost, section V.
    level
        H, the target of bytes held and in flight: a size of at least Delta + 2·Rs·T, or
        `"auto"` = Delta + 3·Rs·T, or what the port's static buffer has room for beside (k + N +
        1) MTU, but never below that minimum. Source: Bifrost's testbed has Delta + 3·Rs·T;
        Theorem 1 needs Delta + 2·Rs·T.
    f_mode
        How virtual incoming bytes are counted. Source: floodway's choice: the paper's own count
        does not include what leaks past a pause.
    leak_period
        k: leaked bytes are checked every k slots, at least 1; the buffer reserves k MTU for
        them. Source: Bifrost, section VI.
    half_mtu
        Lengthen each pause by the time of half an MTU, the mean remainder of the frame that the
        upstream has already started. Source: floodway's choice: the paper does not, and the
        ledger pays such bytes back.
    react
        Time from the arrival of a pause until the upstream stops: from 0 to less than a slot,
        or `"ieee-802.3"` for what that standard allows at the link's rate, or `"nvidia"` for
        what NVIDIA's headroom calculator counts. Delta grows with it. Source: floodway's
        choice: an ideal MAC; for real ones see `pfc`.
    pause
        How a pause ends: only `"timer"` is allowed. Default: `"timer"`, whatever the run's wire
        format is. Source: Bifrost, Algorithm 1: its frames carry a time, and nothing else ends
        a pause.
    """

    _tag: ClassVar[str | None] = "bifrost"
    slot: Time | None = None
    level: Sizing | None = None
    f_mode: FMode | None = None
    leak_period: int | None = None
    half_mtu: bool | None = None
    react: React | None = None
    pause: PauseMode | None = None


@dataclass(frozen=True, kw_only=True)
class Cbfc(Table):
    """Parameters of credit-based flow control.

    Attributes
    ----------
    mode
        How credit is counted. Source: Bifrost, section VI-B, compares with CBFC-ideal, which
        has no limit of distance.
    period
        P, the time between two credit messages, at least the time of a message on the wire.
        Default: a tenth of the link's one-way delay, but at least 1 us and at most 10 us.
        Source: floodway's choice: Bifrost's slot of 10 us on long links, for a fair comparison;
        1 us inside a datacenter.
    on_change
        Also send a message as soon as the limit has grown by this much since the last one, at
        least 1 byte. Default: off, the period alone. Source: InfiniBand, 7.9, allows a receiver
        to send one whenever it is useful.
    credit_size
        Mode `"uec"`: bytes of a credit, from 32 to 2,048. Default: 256. Source: UEC 1.0.3, 5.2,
        lets the ends negotiate it; the default is floodway's choice.
    spacing
        `CF_min` of mode `"uec"`, the least time between two reports of a class, above 0.
        Default: the time of a largest frame on the link, at most P. Source: UEC 1.0.3, 5.2, has
        such a time; the default is floodway's choice.
    sync
        Mode `"uec"`: the time between two reports of the sender's count where frames may be
        damaged, at least that of a message. Default: 16 P. Source: UEC 1.0.3, 5.2: they are
        rarer than updates; the default is floodway's choice.
    """

    _tag: ClassVar[str | None] = "cbfc"
    mode: Mode | None = None
    period: Time | None = None
    on_change: Size | None = None
    credit_size: Size | None = None
    spacing: Time | None = None
    sync: Time | None = None


@dataclass(frozen=True, kw_only=True)
class Swing(Table):
    """Parameters of SWING.

    Attributes
    ----------
    form
        Device that makes the pauses which cross the link. Source: SWING, section 5.2: a relay
        next to the switch.
    cable
        One-way delay of the cable between relay and switch, above 0 (`form = "relay"`). Source:
        SWING's simulator, `link_relay.csv`.
    margin
        Room beyond one bandwidth-delay product, as a share of it, at least 0. Source: SWING,
        section 6.1: 41 MB for 40 MB.
    xoff
        Forwarded bytes at which the switch pauses (`form = "switch"`), at least one MTU.
        Source: SWING, section 6.1: the switch's port to the relay.
    resume_offset
        Resume this far below `xoff`, in bytes up to it (`form = "switch"`). Default: what the
        link carries in a round trip over `cable`, at least 2 MTU. Source: floodway's choice:
        the loop to a relay makes pauses as long; SWING has 0, a pause and a resume for each
        packet.
    pause
        How long a pause lasts. Default: as the run's wire format says, `"timer"` with
        `ethernet` and `"on-off"` with `hpcc-ns3` and `swing-ns3`. Source: IEEE 802.1Qbb
        (`timer`); SWING's simulator (`on-off`).
    """

    _tag: ClassVar[str | None] = "swing"
    form: SwingForm | None = None
    cable: Time | None = None
    margin: float | None = None
    xoff: Size | None = None
    resume_offset: Size | None = None
    pause: PauseMode | None = None


@dataclass(frozen=True, kw_only=True)
class NoLinkRetry(Table):
    """No parameters."""

    _tag: ClassVar[str | None] = "none"


@dataclass(frozen=True, kw_only=True)
class Llr(Table):
    """Parameters of link-level retry.

    Attributes
    ----------
    ack_spacing
        S, bytes on the wire from one acknowledgement to the next, from 400 to 17,296. Source:
        SAI's default of the target spacing of control ordered sets, 2,048.
    outstanding_frames
        Most frames in the replay buffer, from 1 to 524,288. Default: 524,288, half of what
        numbers of 20 bits can tell apart. Source: SAI's `OUTSTANDING_FRAMES_MAX`; the default
        is floodway's choice.
    outstanding_bytes
        Size of the replay buffer in bytes on the wire, at least a largest frame. Default: R ·
        replay timer + W, with which the link never idles. Source: SAI's
        `OUTSTANDING_BYTES_MAX`; the default is floodway's choice.
    replay_timer
        Time without progress after which the sender goes back. Default: the longest time until
        the answer to a frame, which is also the shortest that is allowed. Source: SAI's
        `REPLAY_TIMER_MAX`; the default is floodway's choice.
    replay_count
        After how many times in a row of going back without progress the sender flushes the
        replay buffer, at least 1. Default: never. Source: SAI's `REPLAY_COUNT_MAX`; the default
        is floodway's choice.
    """

    _tag: ClassVar[str | None] = "llr"
    ack_spacing: Size | None = None
    outstanding_frames: int | None = None
    outstanding_bytes: Size | None = None
    replay_timer: Time | None = None
    replay_count: int | None = None


@dataclass(frozen=True, kw_only=True)
class Faults(Table):
    """Faults of a link or of a node.

    Attributes
    ----------
    error_rate
        Probability that a frame is damaged: a number for all kinds, or `{ data, control, link-
        control }`. Default: 0.
    jitter
        Maximum of the random delay that is added to each frame's propagation; order is kept.
        Default: 0.
    down
        Times at which the link is down. Default: never.
    detection
        Time until the ends of the link detect that it is down, or up again. Until then they
        send into a dead link, and these packets are lost. Default: 0.
    convergence
        Time from then until routes are computed again, everywhere at once. Until then packets
        are sent to the port of the dead link, and are lost there. Default: 0.
    switchover
        Other delays of the link from given instants on, for example where protection switches
        to another fibre; order is kept. Default: none.
    pause
        A forced pause: a port pauses its upstream, whatever its buffer holds. Default: none.
    bypass
        Times at which relays are bypassed: their two links are joined, so that frames and
        pauses pass as on one link; what they hold then is lost, and at both instants their
        neighbours' flow control begins anew. Default: never.
    """

    error_rate: ErrorRate | None = None
    jitter: Time | None = None
    down: PeriodList | None = None
    detection: Time | None = None
    convergence: Time | None = None
    switchover: SwitchoverList | None = None
    pause: PauseList | None = None
    bypass: PeriodList | None = None


@dataclass(frozen=True, kw_only=True)
class ErrorRates(Table):
    """Probability that a frame is damaged, by kind.

    Attributes
    ----------
    data
        Of data packets. Default: 0.
    control
        Of ACK, NAK and CNP. Default: 0.
    link_control
        Of link control frames, such as PFC's. Default: 0.
    """

    data: float | None = None
    control: float | None = None
    link_control: float | None = None


@dataclass(frozen=True, kw_only=True)
class Period(Table):
    """A period from one instant to another.

    Attributes
    ----------
    from_
        The first instant.
    to
        The first instant after the period.
    """

    from_: Time
    to: Time


@dataclass(frozen=True, kw_only=True)
class Switchover(Table):
    """A new delay of a link from an instant on.

    Attributes
    ----------
    at
        The delay applies to frames sent from then on.
    delay
        The delay. Default: by `length`.
    length
        The length, at 5 us/km. Not together with `delay`. Default: by `delay`.
    """

    at: Time
    delay: Time | None = None
    length: Length | None = None


@dataclass(frozen=True, kw_only=True)
class Pause(Table):
    """A pause that a faulty node sends.

    Attributes
    ----------
    from_
        First pause.
    class_
        The paused class. Default: 3.
    to
        Resume. Default: never.
    """

    from_: Time
    class_: Class | None = None
    to: Time | None = None


@dataclass(frozen=True, kw_only=True)
class Red(Table):
    """Parameters of RED: a set of published values, and changes to it.

    Attributes
    ----------
    preset
        The set of published values; values given next to it take precedence. Source: floodway's
        choice: HPCC's is the row that grows with the port's rate.
    kmin
        Longest queue at which no packet is marked, in bytes. Default: the preset's. Source: the
        preset's.
    kmax
        Above this queue length every packet is marked, in bytes; at least `kmin`. Default: the
        preset's. Source: the preset's.
    pmax
        Probability of a mark at `kmax`, from 0 to 1. Default: the preset's. Source: the
        preset's.
    per
        The port rate, above 0, for which the given `kmin` and `kmax` hold: they scale with the
        port's rate. Default: they hold at every rate unchanged. Source: HPCC's simulations,
        whose thresholds are per 25G.
    offset
        Bytes of a queue that do not count: q is the length beyond them, at least 0. Source:
        floodway's choice: all of the queue counts; ConWeave's simulator leaves out the 1049 B
        that each queue has for itself.
    at
        When a packet is marked. Source: the HPCC simulator.
    """

    _tag: ClassVar[str | None] = "red"
    preset: RedPreset | None = None
    kmin: Size | None = None
    kmax: Size | None = None
    pmax: float | None = None
    per: Rate | None = None
    offset: Size | None = None
    at: MarkAt | None = None


@dataclass(frozen=True, kw_only=True)
class ProxyCnp(Table):
    """Parameters of CNPs made at a port.

    Attributes
    ----------
    kmin
        Longest queue that causes no CNPs, in bytes. Source: SWING's configurations of ECN.
    kmax
        Above this queue length every packet is selected, in bytes; at least `kmin`. Source:
        SWING's configurations of ECN.
    pmax
        Probability at `kmax`, from 0 to 1. Source: SWING's configurations of ECN.
    interval
        N: the minimum time between two CNPs that this port sends for a flow, at least 0.
        Source: DCQCN's paper, section 3.1.
    """

    _tag: ClassVar[str | None] = "proxy-cnp"
    kmin: Size | None = None
    kmax: Size | None = None
    pmax: float | None = None
    interval: Time | None = None


@dataclass(frozen=True, kw_only=True)
class Mercury(Table):
    """Parameters of Mercury's congestion point.

    Attributes
    ----------
    threshold
        Threshold: a longer queue is congested, unless it is undetermined; in bytes. Default:
        100 KB per 25G of the port's rate. Source: floodway's choice: the Kmin of HPCC's ECN;
        the paper gives none.
    period
        T: the time after which an undetermined queue is checked again; above 0. Source: the
        paper, parameter settings.
    detection
        What decides whether a queue above the threshold is congested. Source: the paper: the
        state of the port.
    tolerance
        Number of full packets by which the bytes received during a pause may exceed what the
        link could carry, at least 0. Source: floodway's choice: one for each of the two inputs
        of the paper's motivation; the paper has 0.
    base_rtt
        The round-trip time that windows cover: `"largest"` for the largest of all pairs of
        hosts, `"auto"` for that of each flow's own path, or a time for all; above 0. A time too
        short for a long path limits its throughput, and one too long for a short path leaves it
        more than it needs. Source: the paper: one value that is known in advance, the largest
        of its topology, 12 us.
    cnp_interval
        The minimum time between two CNPs that this port sends for a flow, at least 0; 0 sends
        one for every packet. Source: DCQCN's paper, section 3.1.
    flows
        Which packets count as one flow. Source: the paper: the pair of addresses.
    most_flows
        Maximum number of flows in the table of a queue, at least 1. Source: floodway's choice;
        the paper bounds the table by deleting empty entries alone.
    """

    _tag: ClassVar[str | None] = "mercury"
    threshold: Size | None = None
    period: Time | None = None
    detection: MercuryDetection | None = None
    tolerance: int | None = None
    base_rtt: TimeOfPath | None = None
    cnp_interval: Time | None = None
    flows: MercuryFlows | None = None
    most_flows: int | None = None


@dataclass(frozen=True, kw_only=True)
class Tcd(Table):
    """Parameters of ternary detection.

    Attributes
    ----------
    red
        The rule by which a determined port marks CE, with the parameters of `red`; always at
        dequeue. Source: floodway's choice: as `red` alone, so that both mark by the same
        thresholds; the simulator's `configburst.txt` has the row `dcqcn-tcd-burst`.
    max_ton
        max(Ton): a port that has been on for no longer since its last RESUME is undetermined. A
        time, from 0 up, or `"auto"`: by the formula, for each port. Source: floodway's choice:
        the formula, which gives the 97 us of the simulator's `configburst.txt` there.
    eps
        ε: the downstream is assumed to drain no faster than the port's rate over 1 + ε; above
        0; for `max-ton = "auto"` alone, which gives a second at most. Default: 0.1. Source:
        floodway's choice: it gives the 97 us of the simulator's configuration.
    gap
        Bytes between the downstream's thresholds of PAUSE and RESUME (Xoff - Xon), at least 0;
        for `max-ton = "auto"` alone. Default: 2 KB. Source: the simulator: two packets.
    """

    _tag: ClassVar[str | None] = "tcd"
    red: Red | None = None
    max_ton: TimeOrAuto | None = None
    eps: float | None = None
    gap: Size | None = None


@dataclass(frozen=True, kw_only=True)
class Pacc(Table):
    """Parameters of the reconstruction of PACC's congestion point.

    Attributes
    ----------
    period
        Tp: the time between two evaluations of the table, from 4 us to 1 s. Source: Mercury's
        paper, which names it as PACC's default.
    a
        a: gain of the distance of the queue from `qref`, at least 0. Source: reconstruction;
        ratio of the gains as in Taheri et al., CoNEXT 2020.
    b
        b: gain of the growth of the queue, at least 0. Source: reconstruction; ratio of the
        gains as in Taheri et al., CoNEXT 2020.
    qref
        Qref: the queue length that the controller aims at, above 0; packets that join a longer
        queue are congested. Source: reconstruction: RoCC's at 40 Gbit/s (Taheri et al., CoNEXT
        2020), here at every rate, since with the port's Kmin PACC would not be better than
        DCQCN, as Mercury's paper has it.
    m
        m: maximum number of congested packets per CNP, at least 1. Source: reconstruction.
    nmax
        Nmax: maximum number of CNPs of a queue in a period, before they are rounded up flow by
        flow; 1 at least. Source: reconstruction.
    theta
        theta: the share of a period's bytes, from 0 to 1, below which a flow gets no CNP;
        `"auto"` for 1/(2n) with n flows. Source: reconstruction.
    multi
        Whether a flow gets each of its CNPs, 4 us apart, instead of one that represents all.
        Source: floodway's choice: one; DCQCN's sender would cut again at each.
    most_flows
        Maximum number of flows of a period in the table of a queue, at least 1. Source:
        floodway's choice.
    """

    _tag: ClassVar[str | None] = "pacc"
    period: Time | None = None
    a: float | None = None
    b: float | None = None
    qref: Size | None = None
    m: int | None = None
    nmax: int | None = None
    theta: DoubleOrAuto | None = None
    multi: bool | None = None
    most_flows: int | None = None


@dataclass(frozen=True, kw_only=True)
class Rcm(Table):
    """Parameters of RCM.

    Attributes
    ----------
    equilibrium
        Qeq: the target length of queues, in bytes above 0. Source: floodway's choice: 20 % of
        the paper's queues of 100 KB, as QCN has of its buffer.
    weight
        wq: weight of the growth of a queue relative to its length, from 0 to 64. Source: IEEE
        802.1Qau; the paper gives none.
    remote_weight
        w: weight of the downstream neighbour's degree in the degree that is sent upstream, from
        0 to 1. Source: floodway's choice: equal weights; the paper gives none.
    cam_depth
        M: entries of the memory of a port and class, from 1 to 255. Source: floodway's choice;
        the paper gives none. `floodway reproduce rcm` sweeps it.
    cam_hits
        h: number of entries that a harmful flow holds at least, from 1 to M. Default: a quarter
        of M, 1 at least. Source: floodway's choice: of the paper's five flows the burst has
        half of the port and is found, and the others have an eighth each and are not found,
        although by the paper's wording (h = 1) they would be; the paper speaks of relatively
        high rates.
    cam_interval
        Departing bytes between two samples of the memory, above 0; they vary by 15 % either
        way. Source: floodway's choice: the paper gives none. By its text control begins with
        detection; since the memory is filled from then on, it is delayed by M intervals, 1.3 us
        at 100G with 1 KB (more where frames do not divide it: 1.8 with frames of 1,062 B) and 5
        us with 4 KB, a quarter of the paper's burst of 20 us.
    severe
        The degree from which on other flows should take another path, from 1 to 63. Source:
        floodway's choice: half of the largest; the paper does not say.
    expire
        How long a notification is valid, and how long a flow of which nothing is seen is kept;
        above 0. Source: floodway's choice.
    cuts
        What cuts Wc while harmful flows are limited. Source: floodway's choice: the paper says
        when congestion is reported, not how often rates are cut.
    marks
        Which flows' packets the other congestion points of the port may mark, such as `red`.
        Source: floodway's choice: the paper only says that end-to-end control stays on.
    """

    _tag: ClassVar[str | None] = "rcm"
    equilibrium: Size | None = None
    weight: int | None = None
    remote_weight: float | None = None
    cam_depth: int | None = None
    cam_hits: int | None = None
    cam_interval: Size | None = None
    severe: int | None = None
    expire: Time | None = None
    cuts: RcmCuts | None = None
    marks: RcmMarks | None = None


@dataclass(frozen=True, kw_only=True)
class Casl(Table):
    """Parameters of CASL.

    Attributes
    ----------
    kmin
        Kmin: the largest queue at which no packet is marked, in bytes; Q1 is learnt between it
        and `kmax`. Source: floodway's choice: a quarter of HPCC's value at 100G.
    kmax
        Kmax: the queue above which every packet is marked, in bytes above 0; at least `kmin`.
        Source: floodway's choice, as `kmin`.
    pmax
        Pmax: probability of a mark at `kmax`, from 0 to 1. Source: HPCC's simulations,
        `run.py`.
    gain
        a: weight of one packet in the averages: of its flow's marks and of both queues'
        lengths; above 0, up to 1. Source: section 3.2: marks "continue to accumulate",
        "historical" patterns and data; the number is floodway's choice.
    label_above
        `m_hi`: average of marks above which a flow is congested, from 0 to 1. With the default
        of `gain` it takes 21 marks. Source: section 3.2: "the ECN tags of a flow continue to
        accumulate"; the number is floodway's choice.
    release_below
        `m_lo`: average of marks below which a flow stops being congested, from 0 to `label-
        above`. With the defaults this takes some 2,360 unmarked packets in a row. Source:
        section 3.2: "if the ECN tag is less"; the number is floodway's choice.
    forget_after
        Time after a flow's last packet at which its state is deleted, above 0. Source:
        floodway's choice; the paper gives none.
    threshold
        Q1: "auto" to learn it, or a fixed number of bytes above 0. Source: section 3.2: it is
        learnt online from "historical traffic patterns".
    capacity
        Ymax: capacity of the lossy queue, in bytes; at least a frame. Default: 200 us of the
        port's rate, 2.5 MB at 100G. Source: section 4: "the queue capacity is 200 us bandwidth
        capacity".
    drop_most
        The ratio d of packets that are dropped when the lossy queue's average is Ymax, from 0
        to 1; with 0 only a full queue drops. Source: section 3.2: the ratio adapts to
        "historical data", "to avoid excessive packet loss"; the number is floodway's choice.
    floor
        Share of the port's rate for the lossy queue while both queues have something to send,
        from 0 to 0.5. Source: floodway's choice: no flow starves; with 0 the lossless queue has
        strict priority. Section 3.2 says that its priority is higher.
    """

    _tag: ClassVar[str | None] = "casl"
    kmin: Size | None = None
    kmax: Size | None = None
    pmax: float | None = None
    gain: float | None = None
    label_above: float | None = None
    release_below: float | None = None
    forget_after: Time | None = None
    threshold: SizeOrAuto | None = None
    capacity: Size | None = None
    drop_most: float | None = None
    floor: float | None = None


@dataclass(frozen=True, kw_only=True)
class Bfc(Table):
    """Parameters of backpressure flow control. Defaults are those of the paper's evaluation.

    Attributes
    ----------
    queues
        Queues of flows per class at a port, from 1 to 63, in addition to the one for first
        packets. Source: Goyal et al., evaluation: 32 queues a port.
    flows
        VFIDs: the number of flows that a port can distinguish, from 1 to 65536. Source: Goyal
        et al.: 16K.
    filter
        Size of the Bloom filter, from 1 to 128 bytes. Source: Goyal et al.: 128 bytes.
    hashes
        Bits of the filter for each flow, from 1 to 8. Source: Goyal et al.: 4 hash functions.
    hop_rtt
        HRTT, above 0. Default: both delays of the link, its largest frame, and the filter
        frame. Source: Goyal et al.: the round-trip time of the hop.
    interval
        τ, the time from one filter to the next, longer than a filter frame takes on the link.
        Default: half of `hop-rtt`, or twice the time of that frame if that is longer. Source:
        Goyal et al.: τ = HRTT / 2.
    resumes
        Maximum number of flows of a queue that are resumed within `hop-rtt`, at least 1.
        Source: Goyal et al.: two.
    first_packets
        Whether a flow's first packet is served before the queues of flows; if not, it waits
        like the others. Source: Goyal et al.: a high-priority queue for first packets.
    """

    _tag: ClassVar[str | None] = "bfc"
    queues: int | None = None
    flows: int | None = None
    filter: Size | None = None
    hashes: int | None = None
    hop_rtt: Time | None = None
    interval: Time | None = None
    resumes: int | None = None
    first_packets: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ExpresspassCp(Table):
    """Parameters of the limit on credits.

    Attributes
    ----------
    credit
        Mean size of a credit on the wire, at least 84 bytes. Source: section 3.1: the smallest
        frame with preamble and gap, and up to 8 bytes drawn at random.
    queue
        Credits that may wait, at least 1. Source: section 3.1 and 6: 8 packets.
    burst
        Credits that may leave at once after an idle time, at least 1. Source: section 3.1: 2
        packets.
    """

    _tag: ClassVar[str | None] = "expresspass"
    credit: Size | None = None
    queue: int | None = None
    burst: int | None = None


@dataclass(frozen=True, kw_only=True)
class ThemisPnp(Table):
    """Parameters of THEMIS's proactive notification point.

    Attributes
    ----------
    interval
        The time after a flow's CNP has left from which a marked packet makes the next one, at
        least 0. Source: the authors' simulator: 5 us.
    delay
        The time from the packet to its CNP, at least 0. Source: the authors' simulator: 2 us.
    """

    _tag: ClassVar[str | None] = "themis-pnp"
    interval: Time | None = None
    delay: Time | None = None


@dataclass(frozen=True, kw_only=True)
class ThemisTrp(Table):
    """Parameters of THEMIS's temporary reaction point.

    Attributes
    ----------
    by
        Which flows count their CNPs together: `flow` or `hosts`. Source: the authors'
        simulator: its last version counts per flow.
    recovery
        Time, above 0, after the last CNP of a flow from which its packets are no longer slowed
        down. Source: the authors' simulator: 1 ms, the round trip over their long link.
    fast
        Number of CNPs of a flow of which each adds a pass, at least 1. Source: the authors'
        simulator: 11.
    slow
        Number of CNPs of a flow, counted from the second on, that add another pass, at least 1.
        Source: the authors' simulator: 20.
    most
        The maximum number of passes of a packet, at least 1. Source: the authors' simulator:
        401.
    latency
        Time of a pass, above 0, while the loop holds few bytes. Source: the authors' simulator:
        100 ns, the delay of the loop's link.
    rate
        Rate of the loop, above 0. Default: that of the port. Source: floodway's choice: the
        authors' loop, of 1.6 Tbit/s, serves four ports of 400 Gbit/s.
    kmin
        The largest number of bytes in the loop at which no packet is marked. Default: the bytes
        that the loop sends in 8 us. Source: the authors' configuration: 1.6 MB at 1.6 Tbit/s.
    kmax
        Above this number of bytes in the loop each pass marks each packet; at least `kmin`.
        Default: the bytes that the loop sends in 128 us. Source: the authors' configuration:
        25.6 MB at 1.6 Tbit/s.
    pmax
        Probability of a mark in a pass at `kmax`, from 0 to 1; with 0 passes below that mark
        nothing. Source: the authors' configuration: 0.2.
    queues
        Queues of each class at the port, the first for flows that are not slowed down: from 2
        to 255. All ports of the run have the same number. Source: floodway's choice.
    """

    _tag: ClassVar[str | None] = "themis-trp"
    by: ThemisTrpBy | None = None
    recovery: Time | None = None
    fast: int | None = None
    slow: int | None = None
    most: int | None = None
    latency: Time | None = None
    rate: Rate | None = None
    kmin: Size | None = None
    kmax: Size | None = None
    pmax: float | None = None
    queues: int | None = None


@dataclass(frozen=True, kw_only=True)
class StaticBuffer(Table):
    """Parameters of a static buffer.

    Attributes
    ----------
    size
        Size of the buffer, headroom included: a size above 0, or `"auto"` for the bytes that
        the flow control needs. Source: the flow control's own formula.
    crossing
        The account that the packet which crosses the flow control's threshold is charged to.
        Source: floodway's choice: headroom is then exactly the formula, without another MTU.
    """

    _tag: ClassVar[str | None] = "static"
    size: Sizing | None = None
    crossing: Crossing | None = None


@dataclass(frozen=True, kw_only=True)
class SharedBuffer(Table):
    """Parameters of a shared buffer.

    Attributes
    ----------
    pool
        The pool alone, in bytes; reserves and headroom are added to it. Not together with
        `total`. Default: 10 MB, where `total` is not given. Source: SWING, section 6.1.
    total
        All memory of the switch, in bytes; reserves and headroom are taken from it. Not
        together with `pool`. Default: not given; the pool is. Source: the HPCC simulator's
        `switch-mmu.cc`, which counts so.
    headroom_pool
        Headroom that all ports share, in bytes: a packet that would enter its port's headroom
        is dropped when this is full. Less than the sum of the ports' headroom is over-
        subscribed, and promises nothing if all pause at once. Default: each port has its own.
        Source: `SONiC`'s shared headroom pool, `BUFFER_POOL.xoff`.
    reserve
        R: bytes set aside for each (ingress port, class), at least 0. Source: floodway's
        choice: nothing that is not asked for; HPCC has 4 KiB, SWING 288 KB.
    egress_alpha
        A packet is dropped when its egress queue would exceed this share, above 0, of the free
        bytes: of the pool's, if its class is lossy; of `egress-pool`, whatever its class, where
        that is given. Source: ConWeave's simulator.
    egress_pool
        Bytes that the egress queues of the switch share beyond `egress-reserve` of each: a
        second account of the same packets, which then limits lossless classes, too. Default:
        none. Source: ConWeave's simulator, where it is the memory less 8 KiB and a bit for each
        port.
    egress_reserve
        Bytes that each egress queue has for itself in addition to `egress-pool`, at least 0.
        Source: floodway's choice: nothing that is not asked for; ConWeave's simulator has 1049
        B.
    crossing
        The account that the packet which crosses the flow control's threshold is charged to. A
        lossy class has no threshold: there `"headroom"` drops a packet that finds the reserve
        full unless all of it would fit into the pool, not only the part above the reserve.
        Source: floodway's choice: a threshold then is what it says; `"headroom"` is that of the
        HPCC and SWING simulators, lossy classes included.
    """

    _tag: ClassVar[str | None] = "shared"
    pool: Size | None = None
    total: Size | None = None
    headroom_pool: Size | None = None
    reserve: Size | None = None
    egress_alpha: float | None = None
    egress_pool: Size | None = None
    egress_reserve: Size | None = None
    crossing: Crossing | None = None


@dataclass(frozen=True, kw_only=True)
class Ioq(Table):
    """Parameters of an input-output queued switch.

    Attributes
    ----------
    voq
        Size of each virtual output queue, in bytes: one for each input, output and class, and
        at least a frame. Source: RCM, section 4: each queue of the switch has 100 KB.
    output
        Size of each output queue, in bytes: one for each output and class, and at least a
        frame. Source: RCM, section 4.
    speed_up
        Speed of the crossbar relative to the switch's fastest link, from 1 to 16. Source:
        floodway's choice, since RCM's paper does not specify it: with 2 every maximal matching
        carries all admissible traffic (Dai and Prabhakar, 2000).
    """

    _tag: ClassVar[str | None] = "ioq"
    voq: Size | None = None
    output: Size | None = None
    speed_up: float | None = None


@dataclass(frozen=True, kw_only=True)
class OutputQueue(Table):
    """Parameters of bounded output queues.

    Attributes
    ----------
    size
        Room of a queue of data, in bytes, above 0. Source: the Consortium's simulator: the
        bandwidth-delay product of 16 hosts at 100 Gbit/s and 1 us.
    control
        Room of the queue of the control class, in bytes. Default: twice `size`. Source: the
        Consortium's simulator.
    trim
        Whether a packet without room loses its payload alone. Source: UEC, section 4.1.
    victim
        Which packet a full queue cuts or drops. Source: UEC, section 4.1: the one that arrives.
    trim_class
        Class of data that cut packets go in, 0 to 5 or 7, with a queue of `size` of its own; a
        scheduler shares the link among classes. Default: the control class, which is served
        first. Source: the default is that of the Consortium's simulator; UEC, section 4.1, has
        a class of their own.
    trim_size
        Bytes of a packet that has lost its payload, above 0; a packet that has no more is
        dropped. Default: the header of `wire`. Source: the Consortium's simulator.
    """

    _tag: ClassVar[str | None] = "output-queue"
    size: Size | None = None
    control: Size | None = None
    trim: bool | None = None
    victim: TrimVictim | None = None
    trim_class: Class | None = None
    trim_size: Size | None = None


@dataclass(frozen=True, kw_only=True)
class Ecmp(Table):
    """Parameters of equal-cost multipath.

    Attributes
    ----------
    hash
        How a flow is hashed. Source: floodway's choice: tiers that choose independently are the
        fair case.
    seed
        Seed for different path choices with the same run seed: any whole number of 32 bits,
        which enters the hashes `mix` and `shared`. Source: floodway's choice.
    """

    _tag: ClassVar[str | None] = "ecmp"
    hash: Hash | None = None
    seed: int | None = None


@dataclass(frozen=True, kw_only=True)
class Spray(Table):
    """No parameters."""

    _tag: ClassVar[str | None] = "spray"


@dataclass(frozen=True, kw_only=True)
class Sar(Table):
    """Parameters of switch-level adaptive routing.

    Attributes
    ----------
    seed
        Selects other initial paths with the same run seed: any whole number of 32 bits. Source:
        floodway's choice.
    most_flows
        Number of moved flows that a switch stores, at least 1. Source: floodway's choice; the
        paper does not say.
    """

    _tag: ClassVar[str | None] = "sar"
    seed: int | None = None
    most_flows: int | None = None


@dataclass(frozen=True, kw_only=True)
class Strict(Table):
    """No parameters."""

    _tag: ClassVar[str | None] = "strict"


@dataclass(frozen=True, kw_only=True)
class RoundRobin(Table):
    """No parameters."""

    _tag: ClassVar[str | None] = "round-robin"


@dataclass(frozen=True, kw_only=True)
class DeficitRoundRobin(Table):
    """Parameters of deficit round robin.

    Attributes
    ----------
    quantum
        Bytes per turn of a class of weight 1, above 0; times the largest weight, at most 1 GiB.
        Default: one MTU. Source: Shreedhar and Varghese: a quantum of the largest packet finds
        one that fits in each turn.
    weights
        Weights by class, whole numbers of at least 1, as `{ 3 = 4, 5 = 1 }`. Default: 1 for
        each class that is not listed. Source: Shreedhar and Varghese: quanta in proportion to
        the shares.
    """

    _tag: ClassVar[str | None] = "deficit-round-robin"
    quantum: Size | None = None
    weights: Weights | None = None


@dataclass(frozen=True, kw_only=True)
class NoNotification(Table):
    """No parameters."""

    _tag: ClassVar[str | None] = "none"


@dataclass(frozen=True, kw_only=True)
class DcqcnNp(Table):
    """Parameters of DCQCN's notification point.

    Attributes
    ----------
    cnp_interval
        N: the minimum time between two CNPs of a flow; 0 sends a CNP for every marked packet.
        Where a rate control needs CNPs and no notification is chosen, its own interval applies.
        Source: newer NICs, `min_time_between_cnps`; DCQCN's paper has 50 us.
    """

    _tag: ClassVar[str | None] = "dcqcn"
    cnp_interval: Time | None = None


@dataclass(frozen=True, kw_only=True)
class TcdNp(Table):
    """Parameters of the notification point of ternary detection.

    Attributes
    ----------
    cnp_interval
        N: the minimum time between two CNPs of a flow that report the same mark; 0 answers
        every marked packet. Where a rate control asks for CNPs and no notification is chosen,
        its own interval applies. Source: the simulator's `configburst.txt`; DCQCN's paper.
    """

    _tag: ClassVar[str | None] = "tcd"
    cnp_interval: Time | None = None


@dataclass(frozen=True, kw_only=True)
class ExpresspassNp(Table):
    """Parameters of ExpressPass's receiver.

    Attributes
    ----------
    initial_rate
        alpha: a flow's first rate, as a fraction of the largest, above 0 and up to 1. Source:
        section 3.3: 1/2; 1/16 wastes fewer credits of short flows.
    w_init
        Initial w, the step towards the largest rate, from `w-min` to `w-max`. Source: Algorithm
        1: 1/2.
    w_min
        Minimum of w, above 0. Source: section 3.2: 0.01.
    w_max
        Maximum of w, up to 1. Source: Algorithm 1: 0.5.
    w_step
        Increase of w from the second period of increase on, above 0 and up to 1. Default: half
        of the distance to `w-max`. Source: Algorithm 1; the simulator of its authors has 0.05.
    target_loss
        The share of lost credits up to which the rate grows, from 0 to below 1. Source: section
        3.2: 10 %; the simulator of its authors has 0.125, falling.
    target_falls
        Whether the target is that share for a rate of 0, and falls to 0 for the largest rate.
        Source: false is Algorithm 1; true the simulator of its authors.
    exceed
        Whether increases go beyond the largest rate, by the target, so that credits get lost
        where there is no other flow. Source: true is Algorithm 1; false the simulator of its
        authors.
    own_credits
        Whether a rate is evaluated only by the credits sent at it, which takes two round trips;
        false counts those that data reported in the last round trip, most of which were sent at
        the previous rate. Source: floodway's choice, to show the effect of late feedback; false
        is the simulator of its authors.
    measured
        Whether a decrease starts from the rate at which credits came through in the period, and
        leads to no higher rate than before; false uses the sending rate minus the lost share,
        as Algorithm 1 is written. Source: the simulator of its authors.
    jitter
        The fraction by which an interval between credits may be shorter or longer, from 0 to
        below 1. Source: the simulator of its authors, `min_jitter_` and `max_jitter_`.
    padding
        Maximum number of bytes by which a credit is longer than the smallest frame. Source:
        section 3.1: credits of 84 to 92 bytes.
    """

    _tag: ClassVar[str | None] = "expresspass"
    initial_rate: float | None = None
    w_init: float | None = None
    w_min: float | None = None
    w_max: float | None = None
    w_step: float | None = None
    target_loss: float | None = None
    target_falls: bool | None = None
    exceed: bool | None = None
    own_credits: bool | None = None
    measured: bool | None = None
    jitter: float | None = None
    padding: int | None = None


@dataclass(frozen=True, kw_only=True)
class LineRate(Table):
    """Parameters of sending at a constant rate.

    Attributes
    ----------
    rate
        Rate of wire bytes, above 0. Default: the NIC's rate, which is also the maximum. Source:
        SWING, section 6.1: without congestion control a host sends at its line's rate.
    """

    _tag: ClassVar[str | None] = "line-rate"
    rate: Rate | None = None


@dataclass(frozen=True, kw_only=True)
class StaticWindow(Table):
    """Parameters of a constant window.

    Attributes
    ----------
    size
        Maximum payload bytes in flight: a size of at least one full packet, `"auto"` for the
        path's bandwidth-delay product, or `"largest"` for that of all pairs of hosts. Source:
        HPCC, section 5.1: one bandwidth-delay product; `"largest"` is its simulator's
        `GLOBAL_T`.
    variable
        Whether `size` is the window at line rate, which shrinks with the rate that the other
        layers allow. Source: HPCC, section 5.1: constant; true is its simulator's `VAR_WIN`.
    """

    _tag: ClassVar[str | None] = "static-window"
    size: SizeOfPath | None = None
    variable: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Dcqcn(Table):
    """Parameters of DCQCN: a preset of published values, and values that override it.

    Attributes
    ----------
    preset
        The preset of published values, which also selects the state machine; parameters given
        beside it override its values. Source: floodway's choice: HPCC's is the preset whose
        increments grow with the NIC's rate.
    cnp
        How the receiver reports marks. Source: Zhu et al., SIGCOMM 2015, section 3.1: a packet
        of its own.
    cnp_interval
        Minimum time between two CNPs of a flow, at its receiver; with `cnp = "ack-flag"` at the
        sender, in `paper` only. Default: 50 us in `paper` (N), 4 us in the others. Source: Zhu
        et al., section 3.1; newer NICs, `min_time_between_cnps`.
    ue
        Reaction to undetermined congestion (UE, where ports have `tcd`). Default: `"ignore"`.
        Source: the `DCQCN-TCD` simulator, whose rate adjustment (`EnableRootECNCC`) is off by
        default and in its `configburst.txt`.
    losses_as_cnps
        An increase of the flow's loss rate counts as a CNP: replies report more lost bytes in a
        period of this length, above 0, than in the one before. Losses found by a timer do not
        count. Default: `"off"`. Source: Zhu et al., whose network loses nothing; CASL's section
        3.2 ("when the packet loss rate of the congestion flow is detected to increase"), with
        50 us by floodway's choice.
    window
        Limit of the payload bytes in flight. Default: `"variable-bdp"` in `swing` and `hpcc-
        config`, `"none"` in the others. Source: SWING's configurations; HPCC's `config.txt`;
        the paper and NICs have no window.
    g
        Gain of α, from 0 to 1. Default: 5/1024 in `mellanox`, 0.0048828 in `swing`, 1/256 in
        the others. Source: Zhu et al.; NICs, `dce_tcp_g` 1019; HPCC's `run.py`.
    initial_alpha
        α at the first CNP, from 0 to 1. Default: 0.5 in `tcd`, 1 in the others. Source: Zhu et
        al., section 3.1; the HPCC simulator; TCD's simulator.
    t_alpha
        Period of α, above 0. Default: 55 us in `paper` (K), 50 us in `hpcc-paper`, 1 us in the
        others. Source: Zhu et al.; HPCC's `run.py`; NICs, `dce_tcp_rtt`.
    t_dec
        Period of the checks that cut the rate, above 0; not in `paper`. Default: 50 us in
        `hpcc-paper`, 4 us in the others. Source: NICs, `rate_reduce_monitor_period`; HPCC's
        `run.py`.
    t_inc
        Time between increase steps, above 0. Default: 55 us in `paper` (T) and `hpcc-paper`,
        900 us in `hpcc-config`, 300 us in the others. Source: Zhu et al.; HPCC's `run.py` and
        `config.txt`; NICs, `rpg_time_reset`.
    byte_counter
        Wire bytes between increase steps, above 0, beside those of the timer. Default: 10 MB in
        `paper` (B), none in the others. Source: Zhu et al., and its authors' ns-3 model; HPCC's
        and SWING's models of NICs have none. NICs, `rpg_byte_reset`, 2,097,088 bytes.
    f
        F: the stage at which fast recovery ends, at least 0. Default: 5 in `paper`, 1 in the
        others. Source: Zhu et al.; NICs, `rpg_threshold`.
    rai
        Additive increase step of Rt, at least 0. Default: 40 Mbit/s in `paper`, 50 Mbit/s in
        `hpcc-config`, 5 Mbit/s in the others; in `hpcc` and `hpcc-paper` per 25G of the NIC's
        rate. Source: Zhu et al.; NVIDIA's page of DCQCN parameters; HPCC's `run.py` and
        `config.txt`.
    rhai
        Hyper increase step of Rt, at least 0, which `paper` multiplies by the stages beyond F.
        Default: 200 Mbit/s in `paper`, 100 Mbit/s in `hpcc-config`, 50 Mbit/s in the others; in
        `hpcc` and `hpcc-paper` per 25G of the NIC's rate. Source: the ns-3 model of DCQCN's
        authors; NVIDIA's page of DCQCN parameters; HPCC's `run.py` and `config.txt`.
    rmin
        Minimum rate, above 0; at most the NIC's. Default: 1 Gbit/s in `hpcc` and `hpcc-paper`,
        100 Mbit/s in `paper` and `hpcc-config`, 1 Mbit/s in the others. Source: HPCC's `run.py`
        and `config.txt`; the ns-3 model of DCQCN's authors for `paper`, whose text defines
        none, and TCD's simulator; NVIDIA's page of DCQCN parameters.
    check_offset
        Delay of the first check beyond `t-dec` after the first CNP, at least 0; not in `paper`.
        Default: 0. Source: the HPCC simulator has 1 ns, so that α's period ends first.
    timers
        When periods of α, checks and increase steps are processed; not in `paper`. Default:
        `"asleep"`. Source: floodway's choice: no work is done where it would have no effect.
    means
        How an odd bit of a mean of Rc and Rt is rounded. Default: `"up"`. Source: floodway's
        choice: a sender that has recovered is at line rate.
    clamp
        Whether every cut lowers Rt to Rc, and not only a cut that follows an increase. Default:
        true in `paper`, false in the others. Source: Zhu et al., section 3.1; NICs, "clamp
        target rate".
    min_decrease
        Smallest factor of one cut, above 0, up to 1. Default: 0.5. Source: NICs,
        `rpg_min_dec_fac` 50.
    rate_on_first_cnp
        Factor of the rate at the first CNP, above 0, up to 1; not in `paper`. Default: 1.
        Source: the HPCC simulator, `RateOnFirstCnp`; NICs, `rate_to_set_on_first_cnp`.
    """

    _tag: ClassVar[str | None] = "dcqcn"
    preset: DcqcnPreset | None = None
    cnp: Cnp | None = None
    cnp_interval: Time | None = None
    ue: DcqcnUe | None = None
    losses_as_cnps: Timeout | None = None
    window: DcqcnWindow | None = None
    g: float | None = None
    initial_alpha: float | None = None
    t_alpha: Time | None = None
    t_dec: Time | None = None
    t_inc: Time | None = None
    byte_counter: Size | None = None
    f: int | None = None
    rai: Rate | None = None
    rhai: Rate | None = None
    rmin: Rate | None = None
    check_offset: Time | None = None
    timers: DcqcnTimers | None = None
    means: DcqcnMeans | None = None
    clamp: bool | None = None
    min_decrease: float | None = None
    rate_on_first_cnp: float | None = None


@dataclass(frozen=True, kw_only=True)
class Timely(Table):
    """Parameters of TIMELY: a set of published values, and changes to it.

    Attributes
    ----------
    preset
        The form of the algorithm, with its values; values given next to it take precedence.
        Source: floodway's choice: HPCC's simulator, with which others have compared.
    ewma
        α: weight of the new difference of round-trip times, from 0 to 1. Default: 0.875.
        Source: HPCC's simulator, `TimelyAlpha`.
    beta
        β: strength of a cut, from 0 to 1. Default: 0.8; 0.008 in `patched`. Source: Mittal et
        al., section 5; Zhu et al., CONEXT 2016, section 4.
    t_low
        Round-trip time below which the rate only rises. Default: 50 us. Source: Mittal et al.,
        section 5; HPCC's simulator, `TimelyTLow`.
    t_high
        Round-trip time above which the rate only falls, at least `t-low`. Default: 500 us.
        Source: Mittal et al., section 5; HPCC's simulator, `TimelyTHigh`.
    min_rtt
        The divisor that turns differences into the gradient, above 0. Default: 20 us. Source:
        Mittal et al., section 5; HPCC's simulator, `TimelyMinRtt`.
    rai
        δ: step of an increase, at least 0. Default: 10 Mbit/s per 10G of the NIC's rate.
        Source: Mittal et al., section 5; HPCC's `run.py`.
    rhai
        N·δ: step of a hyper increase, at least 0; not in `patched`. Default: five times `rai`.
        Source: Mittal et al., section 4; HPCC's `run.py`.
    hai_after
        Increases in a row before the first hyper increase, at least 0; not in `patched`.
        Default: 5. Source: Mittal et al., section 4; HPCC's simulator.
    rmin
        Minimum rate, above 0; at most the NIC's. Default: 1 Gbit/s. Source: HPCC's `run.py`,
        `MIN_RATE`; also for `paper` and `patched`, which name none.
    segment
        Acknowledged payload bytes between updates, above 0; `paper` and `patched` only.
        Default: 16 KB. Source: Mittal et al., section 5.
    rtt_ref
        Round-trip time to which patched flows converge, above 0; `patched` only. Default:
        `t-low`. Source: Zhu et al., CONEXT 2016, section 4.
    """

    _tag: ClassVar[str | None] = "timely"
    preset: TimelyPreset | None = None
    ewma: float | None = None
    beta: float | None = None
    t_low: Time | None = None
    t_high: Time | None = None
    min_rtt: Time | None = None
    rai: Rate | None = None
    rhai: Rate | None = None
    hai_after: int | None = None
    rmin: Rate | None = None
    segment: Size | None = None
    rtt_ref: Time | None = None


@dataclass(frozen=True, kw_only=True)
class Hpcc(Table):
    """Parameters of HPCC: a preset of published values, and values that override it.

    Attributes
    ----------
    preset
        The form of the algorithm, with its values; parameters given beside it override them.
        Source: floodway's choice: the published algorithm.
    eta
        η: the target utilisation, above 0, up to 1. Default: 0.95. Source: Li et al., section
        5.1; its simulator, `U_TARGET`.
    max_stage
        Additive steps between two multiplicative ones, at least 0. Default: 5 in `paper`, 0 in
        `simulator`. Source: Li et al., section 5.1; `MI_THRESH` of HPCC's `run.py`.
    wai
        `W_AI`: bytes that each update adds to the window, at least 0; `paper` only. Default:
        window · (1 - η) / `expected-flows`. Source: Li et al., section 3.3.
    expected_flows
        N: number of flows that may share a link before their additive steps fill it, at least
        1; `paper` only, where `wai` is not given. Default: 100. Source: Li et al., section 3.3;
        the number is floodway's choice, near the step of section 5.1.
    rai
        Increase of the rate by each update, at least 0; `simulator` only. Default: 10 Mbit/s
        per 25G of the NIC's rate. Source: HPCC's `run.py`, `RATE_AI`.
    rmin
        Minimum rate, above 0; at most the NIC's. Default: 100 Mbit/s in `paper`, 1 Gbit/s in
        `simulator`. Source: HPCC's simulator, the class's default for `MinRate`; HPCC's
        `run.py`, `MIN_RATE`.
    base_rtt
        T: a time of at least 1 ns, `"auto"` for the path's base round trip, or `"largest"` for
        that of all pairs of hosts. Default: `"auto"` in `paper`, `"largest"` in `simulator`.
        Source: floodway's choice for paths of very different length; `GLOBAL_T` of HPCC's
        `run.py`.
    window
        `W_init`, payload bytes in flight at line rate: a size of at least one full packet,
        `"auto"` for the NIC's rate times `base-rtt` in `paper` and the path's bandwidth-delay
        product in `simulator`, or `"largest"` for that of all pairs of hosts. Default: `"auto"`
        in `paper`, `"largest"` in `simulator`, which also divides queues by it. Source: Li et
        al., section 3.2; `GLOBAL_T` of HPCC's `run.py`.
    variable_window
        Whether the window shrinks with the rate; `simulator` only. Default: true. Source:
        HPCC's `run.py`, `VAR_WIN`.
    fast_react
        Whether every ACK sets window and rate, and not only the ACK of a full update. Default:
        true. Source: Li et al., section 3.2; HPCC's `run.py`, `FAST_REACT`.
    multi_rate
        Whether each hop has its own utilisation and reference, of which the smallest applies;
        `simulator` only. Default: false. Source: HPCC's `run.py`, `MULTI_RATE`.
    sample_feedback
        Whether ACKs between full updates leave out hops with an empty queue; `simulator` only.
        Default: false. Source: HPCC's `run.py`, `SAMPLE_FEEDBACK`.
    int_multi
        Reads records as if coded in 64 bits, in units of this many times 128 bytes sent and 80
        bytes queued, from 1. Default: records are exact. Source: HPCC's simulator, `INT_MULTI`;
        exact is floodway's choice.
    """

    _tag: ClassVar[str | None] = "hpcc"
    preset: HpccPreset | None = None
    eta: float | None = None
    max_stage: int | None = None
    wai: Size | None = None
    expected_flows: int | None = None
    rai: Rate | None = None
    rmin: Rate | None = None
    base_rtt: TimeOfPath | None = None
    window: SizeOfPath | None = None
    variable_window: bool | None = None
    fast_react: bool | None = None
    multi_rate: bool | None = None
    sample_feedback: bool | None = None
    int_multi: int | None = None


@dataclass(frozen=True, kw_only=True)
class Dctcp(Table):
    """Parameters of DCTCP.

    Attributes
    ----------
    g
        Gain of α, from 0 to 1. Default: 1/16. Source: Alizadeh et al., section 3.1; HPCC's
        simulator, `EWMA_GAIN` 0.0625.
    rai
        Increase of the rate after a batch without congestion, at least 0. Default: 615 Mbit/s,
        one packet of 1000 bytes in 13 us. Source: HPCC's `run.py`, `DCTCP_RATE_AI`.
    rmin
        Minimum rate, above 0; at most the NIC's. Default: 1 Gbit/s. Source: HPCC's `run.py`,
        `MIN_RATE`.
    """

    _tag: ClassVar[str | None] = "dctcp"
    g: float | None = None
    rai: Rate | None = None
    rmin: Rate | None = None


@dataclass(frozen=True, kw_only=True)
class MercuryWindow(Table):
    """Parameters of Mercury's window.

    Attributes
    ----------
    base_rtt
        The round-trip time that the full window covers at the NIC's rate: `"largest"` for the
        largest of all pairs of hosts, `"auto"` for that of the flow's path, or a time; above 0.
        Source: the paper: one value that is known in advance, the largest of its topology, 12
        us.
    restore_after
        The full window is restored after this time without a CNP; only where no layer below
        makes increase steps. Above 0. Source: floodway's choice: the time between increase
        steps of NICs.
    """

    _tag: ClassVar[str | None] = "mercury"
    base_rtt: TimeOfPath | None = None
    restore_after: Time | None = None


@dataclass(frozen=True, kw_only=True)
class Expresspass(Table):
    """Parameters of ExpressPass's sender.

    Attributes
    ----------
    request_timeout
        Time without a credit, above 0, after which the request is sent again; credits that
        still arrive that long after a stop trigger another stop. Source: the simulator of its
        authors, `retransmit_timeout_`.
    """

    _tag: ClassVar[str | None] = "expresspass"
    request_timeout: Time | None = None


@dataclass(frozen=True, kw_only=True)
class Swift(Table):
    """Parameters of Swift.

    Attributes
    ----------
    ai
        Packets that a round trip below the target adds to the window, above 0. Default: 1.
        Source: csg-htsim, `_ai`.
    beta
        β: strength of a cut, from 0 to 1. Default: 0.8. Source: csg-htsim, `_beta`.
    max_mdf
        Maximum fraction that one cut removes, above 0, up to 1. Default: 0.5. Source: csg-
        htsim, `_max_mdf`.
    base_target
        Target of a path without switches, above 0. Default: the base round-trip time of the
        path. Source: Kumar et al., section 3.5; the default is floodway's choice, which holds
        for paths of any length. Their testbeds have 25 us (section 5.2).
    per_hop
        ħ: the amount that each switch on the path adds to the target, at least 0. Default: 1
        us. Source: Kumar et al., section 3.5; the value is floodway's choice: 12.5 KB of queue
        at 100 Gbit/s.
    fs_range
        Maximum that a small window adds to the target, at least 0; 0 disables flow scaling.
        Default: five times `base-target`. Source: csg-htsim, `_fs_range`.
    fs_min_cwnd
        Window, in packets, at which that maximum is reached, above 0. Default: 0.1. Source:
        csg-htsim, `_fs_min_cwnd`.
    fs_max_cwnd
        Window, in packets, from which nothing is added, above `fs-min-cwnd`. Default: 100.
        Source: csg-htsim, `_fs_max_cwnd`.
    min_cwnd
        Minimum window in packets, above 0, up to 1. Default: 0.001. Source: Kumar et al.,
        section 3.4.
    max_cwnd
        Largest window in packets, at least 1. Default: the packets sent at line rate in the
        longest target. Source: floodway's choice.
    initial_cwnd
        First window in packets, above 0. Default: the path's bandwidth-delay product. Source:
        floodway's choice; Kumar et al. name none (section 3.2).
    retx_reset_threshold
        Timeouts in a row, from 1, of which the last sets the window to `min-cwnd`. Default: 5.
        Source: csg-htsim, `_rtx_reset_threshold`.
    """

    _tag: ClassVar[str | None] = "swift"
    ai: float | None = None
    beta: float | None = None
    max_mdf: float | None = None
    base_target: Time | None = None
    per_hop: Time | None = None
    fs_range: Time | None = None
    fs_min_cwnd: float | None = None
    fs_max_cwnd: float | None = None
    min_cwnd: float | None = None
    max_cwnd: float | None = None
    initial_cwnd: float | None = None
    retx_reset_threshold: int | None = None


@dataclass(frozen=True, kw_only=True)
class PowerTcp(Table):
    """Parameters of PowerTCP.

    Attributes
    ----------
    form
        What power is computed from. Source: floodway's choice: the form that the paper puts
        first.
    gamma
        γ: weight of the new window, above 0, up to 1. Default: 0.9. Source: Addanki et al.,
        section 3.3.
    expected_flows
        N: flows of a host that share its NIC, from 1, which determine `beta`. Default: 10.
        Source: Addanki et al., section 3.3, without a number; that of the authors' Linux
        module, `expected_flows`. Their simulator's step of 150 Mbit/s at 25 Gbit/s is one of N
        = 167.
    beta
        β: bytes that each update adds, at least 0. Default: line rate · τ / `expected-flows`.
        Source: Addanki et al., section 3.3.
    base_rtt
        τ: a time of at least 1 ns, `"auto"` for the path's base round trip, or `"largest"` for
        that of all pairs of hosts. Source: Addanki et al., section 3.3; `"largest"` is that of
        section 4.1, the default floodway's choice, for paths of very different length.
    rmin
        Minimum rate, above 0; at most the NIC's. Default: 100 Mbit/s. Source: floodway's
        choice, as in HPCC; the paper has none.
    """

    _tag: ClassVar[str | None] = "powertcp"
    form: PowerTcpForm | None = None
    gamma: float | None = None
    expected_flows: int | None = None
    beta: Size | None = None
    base_rtt: TimeOfPath | None = None
    rmin: Rate | None = None


@dataclass(frozen=True, kw_only=True)
class Nscc(Table):
    """Parameters of NSCC.

    Attributes
    ----------
    form
        Whether the specification or the Consortium's simulator is followed where they differ.
        Source: floodway's choice: the specification.
    target
        Delay beyond the base round trip that the window aims at, above 0; `"auto"` for 3/4 of
        the longest base round trip of all pairs of hosts where switches cut packets, and all of
        it where they drop them. Source: UEC, section 3.6.13.3.
    clear_delay
        Delay below which a path counts as empty, so that the window may grow fast; at least 0.
        Source: the Consortium's simulator: 1 us.
    config_base_rtt
        Round trip from which target and constants follow, above 0; `"auto"` for the longest
        base round trip of all pairs of hosts. Source: UEC, section 3.6.13.3.
    base_rtt
        Base round trip that a connection begins with, above 0, until a packet takes less;
        `"auto"` for that of its path, and in the simulator's form for the longest of all pairs
        of hosts. Source: UEC, section 3.6.13.3.
    first_window
        First window, above 0, at least a full packet; `"auto"` for 1.5 bandwidth-delay
        products. Source: UEC, table 3-83.
    quick_adapt_gate
        Quick adapt acts where less than the largest window over two to the power of this number
        arrived in its period, 0 to 32. Source: UEC, table 3-82.
    average
        How delays are averaged. Default: `ewma` in the simulator's form, else `rtt`. Source:
        UEC, section 3.6.13.6.
    cut_lowers_base_rtt
        Whether a packet without payload lowers the base round trip, though it travels faster
        than a full one. Default: in the simulator's form. Source: the Consortium's simulator.
    """

    _tag: ClassVar[str | None] = "nscc"
    form: UetForm | None = None
    target: TimeOrAuto | None = None
    clear_delay: Time | None = None
    config_base_rtt: TimeOrAuto | None = None
    base_rtt: TimeOrAuto | None = None
    first_window: SizeOrAuto | None = None
    quick_adapt_gate: int | None = None
    average: NsccAverage | None = None
    cut_lowers_base_rtt: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Rccc(Table):
    """Parameters of RCCC.

    Attributes
    ----------
    form
        Whether the specification or the Consortium's simulator is followed where they differ.
        Source: floodway's choice: the specification.
    base_rtt
        Base round trip that a connection begins with, above 0, until a packet takes less;
        `"auto"` for that of its path, and in the simulator's form for the longest of all pairs
        of hosts. Source: UEC, section 3.6.14.
    """

    _tag: ClassVar[str | None] = "rccc"
    form: UetForm | None = None
    base_rtt: TimeOrAuto | None = None


@dataclass(frozen=True, kw_only=True)
class NoReliability(Table):
    """No parameters."""

    _tag: ClassVar[str | None] = "none"


@dataclass(frozen=True, kw_only=True)
class GoBackN(Table):
    """Parameters of go-back-N.

    Attributes
    ----------
    ack_interval
        Number of packets per ACK, at least 1. If it exceeds a window, a flow never gets the ACK
        that would open it. Source: the HPCC simulator, `L2_ACK_INTERVAL`.
    nack_interval
        Minimum time between two NAKs for the same packet, at least 0. Default: the longer of
        500 us and the base round-trip time. Source: the HPCC simulator has 500 us; floodway's
        choice beyond that: a repeat before the answer can arrive sends the window twice.
    timeout
        Time without an ACK that advances, after which the sender goes back, or `"off"`.
        Default: off where the whole path is lossless and keeps the order of packets, else the
        longer of 4 ms and 4 base round-trip times. Source: InfiniBand C9-139 asks for a timer;
        ConWeave's simulator has 4 ms; the HPCC and SWING simulators have none on lossless
        paths.
    duplicates
        The receiver's answer to a packet that it has already received. Source: InfiniBand
        C9-110: an ACK; the HPCC simulator answers nothing.
    restart
        What restarts the timer while packets are outstanding. Source: floodway's choice: an ACK
        without new information does not hide a loss.
    nak_marks
        Whether a NAK reports congestion, as the reply to a marked packet does. Source:
        floodway's choice: a loss is not a mark; ConWeave's simulator sets the flag of a CNP.
    """

    _tag: ClassVar[str | None] = "go-back-n"
    ack_interval: int | None = None
    nack_interval: Time | None = None
    timeout: Timeout | None = None
    duplicates: GoBackNDuplicates | None = None
    restart: GoBackNRestart | None = None
    nak_marks: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Irn(Table):
    """Parameters of IRN.

    Attributes
    ----------
    form
        The published form of IRN. Source: floodway's choice: the paper's.
    preset
        How window and timeouts that are not given are derived. Source: floodway's choice: as
        published.
    window
        Maximum in flight: packets (110), bytes of payload ("110KB"), at least one packet;
        `"auto"` for what fills the flow's own path, or `"largest"` for what fills the longest.
        Default: `"largest"`; with `preset = "per-pair"` `"auto"`. Source: IRN, section 3.2: the
        BDP of the network's longest path.
    rto_low
        Time after which a packet counts as lost while few are in flight, or `"off"`; `"auto"`
        for the base round-trip time of the flow's own path, or `"largest"` for that of the
        longest. Default: off where the whole path is lossless; else 100 us, in SWING's form
        `"largest"`; with `preset = "per-pair"` `"auto"`. Source: IRN, section 4.1; SWING,
        section 6.1.
    rto_high
        Time after which a packet counts as lost while more are in flight, or `"off"`; `"auto"`
        for the base round-trip time of the flow's own path with all its queues full, or
        `"largest"` for the largest such time. Default: off where the whole path is lossless;
        else 320 us, in SWING's form `"largest"`; with `preset = "per-pair"` `"auto"`. Source:
        IRN, section 4.1; SWING, section 6.1.
    low_packets
        N: the short timeout applies while at most this many packets are in flight, at least 0.
        Source: IRN, section 4.1; SWING's and ConWeave's configurations.
    nack_interval
        In ConWeave's form: minimum time between two replies that report the same block, at
        least 0. Default: the longer of 500 us and the base round-trip time. Source: ConWeave's
        simulator has 500 us; floodway's choice beyond that.
    """

    _tag: ClassVar[str | None] = "irn"
    form: IrnForm | None = None
    preset: IrnPreset | None = None
    window: IrnWindowOfPath | None = None
    rto_low: TimeoutOfPath | None = None
    rto_high: TimeoutOfPath | None = None
    low_packets: int | None = None
    nack_interval: Time | None = None


@dataclass(frozen=True, kw_only=True)
class Uet(Table):
    """Parameters of Ultra Ethernet's transport.

    Attributes
    ----------
    form
        Whether the specification or the Consortium's simulator is followed where they differ.
        Source: floodway's choice: the specification.
    entropy
        How the entropy values of packets are chosen. Source: the Consortium's simulator, whose
        default it is.
    paths
        Number of entropy values, a power of two from 1 to 65536. Source: the Consortium's
        simulator.
    ack_every
        Bytes, headers included, above 0, of which one report is sent at the latest. Source: the
        Consortium's simulator, 16,384 B.
    rto
        Time after which a packet without report counts as lost, above 0; `"auto"` for what
        follows from the sizes of queues. Source: the Consortium's simulator, `main_uec.cpp`.
    sleek
        Whether the sender also finds losses by packets that arrived behind them, and sends
        probes where no report comes (SLEEK): for switches that drop rather than cut packets. It
        is off where flow control loses none. Source: the Consortium's simulator, which has it
        off.
    """

    _tag: ClassVar[str | None] = "uet"
    form: UetForm | None = None
    entropy: UetEntropy | None = None
    paths: int | None = None
    ack_every: Size | None = None
    rto: TimeOrAuto | None = None
    sleek: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Override(Table):
    """Settings of the objects of one selector: exactly one of `links`, `switches`, `hosts`, `flows`.

    Attributes
    ----------
    name
        Its name, which `--set` uses.
    links
        These links, with the ports at both ends.
    switches
        These switches.
    hosts
        These hosts.
    flows
        The flows of these workloads.
    direction
        Of the links: only from one end to the other, as in `"x1>x2"`.
    rate
        Of the links: their rate.
    delay
        Of the links: their delay.
    length
        Of the links: their length, at 5 us/km.
    output_queue
        Of the links: room of the output queue of a switch's port that sends on them, above 0,
        where the switch has `buffer.output-queue`; the control class has twice as much.
        Default: its switch's.
    hash_seed
        Of the switches: the seed of the hash `swing-ns3`.
    flow_control
        Link flow control of the classes of data. Default: `pfc`.
    link_retry
        Retry of the frames that a link damages. Default: `none`.
    faults
        Faults of links or nodes. Default: nothing.
    congestion_point
        Detection of congestion at egress ports. Default: none.
    buffer
        Admission to switch buffers. Default: `static`.
    routing
        Routing among equal-cost ports. Default: `ecmp`.
    scheduler
        Scheduling of egress ports. Default: `strict`.
    notification
        At receivers: the rule for sending CNPs. Default: the rule that the rate control needs.
    rate_control
        At senders: the stack of rate and window controls, the lowest first. Default: `line-
        rate`.
    reliability
        Recovery from losses. Default: `go-back-n`.
    qp
        Which flows share a queue pair. Default: `per-flow`.
    class_
        Class of flows. Default: 3.
    payload
        Payload of the full packets of flows, from 1 byte to the run's `mtu`: flows of several
        sizes mix on a link, in turns. Default: the run's `mtu`.
    pipeline
        Time from a packet's arrival at a switch to its place in the egress queue, for data,
        ACKs, NAKs and CNPs alike. Default: 0.
    cell
        Cell of switches' buffers: a packet occupies whole cells, from 1 byte to 8 KiB. Sizes,
        thresholds and headroom count cells then. Default: 1 byte, as if there were none.
    drain
        Of hosts: the rate at which a NIC writes what it has received to the host's memory, as
        PCIe or memory allow, in bytes of frames. What arrives faster waits in the NIC's receive
        buffer, by which the link's flow control pauses the switch; packets are delivered and
        acknowledged when they are written. Default: without limit.
    receive_buffer
        Of hosts with `drain`: size of the receive buffer of each NIC and class, headroom
        included. Default: 262,016 bytes, the receive buffer of a ConnectX port (Mellanox
        DOC-2933), or what the link's flow control needs, if that is more.
    nic_failover
        Of hosts with several NICs: how long after a host knows that the link of a NIC is down
        (`faults.detection`) the queue pairs of that NIC move to others; `"off"` to let them
        wait for the link. Linux looks every `miimon`, often 100 ms; hardware that bonds ports
        knows at once. Default: 0.
    nics
        Of hosts with several NICs: which of them sends. Default: `per-qp`.
    """

    name: str
    links: Selector | None = None
    switches: Selector | None = None
    hosts: Selector | None = None
    flows: Selector | None = None
    direction: str | None = None
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    output_queue: Size | None = None
    hash_seed: int | None = None
    flow_control: FlowControl | None = None
    link_retry: LinkRetryParams | None = None
    faults: Faults | None = None
    congestion_point: CongestionPointParamsList | None = None
    buffer: BufferParams | None = None
    routing: RoutingParams | None = None
    scheduler: SchedulerParams | None = None
    notification: NotificationParams | None = None
    rate_control: ReactionParamsList | None = None
    reliability: ReliabilityParams | None = None
    qp: Qp | None = None
    class_: Class | None = None
    payload: Size | None = None
    pipeline: Time | None = None
    cell: Size | None = None
    drain: Rate | None = None
    receive_buffer: Size | None = None
    nic_failover: Failover | None = None
    nics: Nics | None = None


@dataclass(frozen=True, kw_only=True)
class ByTag(Table):
    """Objects that have a tag.

    Attributes
    ----------
    tag
        The tag, with `*` and `?` as wildcards.
    """

    tag: str


@dataclass(frozen=True, kw_only=True)
class ByWorkload(Table):
    """Flows of a workload.

    Attributes
    ----------
    workload
        The workload's name, with `*` and `?` as wildcards.
    """

    workload: str


@dataclass(frozen=True, kw_only=True)
class Workload(Table):
    """A named source of flows: exactly one of `flows`, `flow-list`, `poisson`, `burst`, `permutation`,
    `long-lived`, `incast`, `all-to-all`, `micro-bursts`, `perftest`, `collective`, `training`, `trace`.

    Attributes
    ----------
    name
        Its name, which results include.
    tags
        Tags, which overrides use to select its flows.
    class_
        Class of its flows. Default: as the overrides and defaults say, else 3.
    flows
        Flows, listed one by one.
    flow_list
        Flows listed in a file.
    poisson
        Poisson arrivals.
    burst
        One flow from each sender, once or repeatedly.
    permutation
        One flow of each host to another, so that each receives one.
    long_lived
        Flows without end.
    incast
        Many flows to one receiver at one instant, drawn by the seed, once or repeatedly.
    all_to_all
        One flow from each host to every other host.
    micro_bursts
        Bursts of microseconds at line rate.
    perftest
        Messages in a closed loop, as perftest sends them.
    collective
        A collective operation of ranks (GPUs).
    training
        Iterations of a training job.
    trace
        A job from files that other programs have written.
    start
        Its start time. Default: 0.
    until
        No flow starts at this time or later; not of jobs. Default of Poisson arrivals: to the
        end of the run.
    measure
        Flows that start in this window are measured. Default: as at the top level.
    measured
        Whether its flows are measured. Default: true.
    """

    name: str
    tags: Sequence[str] | None = None
    class_: Class | None = None
    flows: Sequence[ListedFlow] | None = None
    flow_list: FlowList | None = None
    poisson: Poisson | None = None
    burst: Burst | None = None
    permutation: Permutation | None = None
    long_lived: LongLived | None = None
    incast: Incast | None = None
    all_to_all: AllToAll | None = None
    micro_bursts: MicroBursts | None = None
    perftest: Perftest | None = None
    collective: Collective | None = None
    training: Training | None = None
    trace: Trace | None = None
    start: Time | None = None
    until: Time | None = None
    measure: MeasureWindow | None = None
    measured: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ListedFlow(Table):
    """A flow, which may wait for others.

    Attributes
    ----------
    from_
        Sender.
    to
        Receiver.
    size
        Payload, or `"unbounded"` for a flow without end.
    id
        Its id, which other flows of the list use in `after`, unique. Default: nothing.
    after
        Flows of the list that must be complete before it starts, by their ids: `"a"`, `["a",
        "b"]`. Each of them must end at the sender of this flow (it is complete when its last
        byte arrives) or begin there (it is complete when its last byte is acknowledged, or has
        left the NIC where there are no acknowledgements). Default: none.
    wait
        Time from the end of the last of those flows to the start of this one: the computation
        in between. Default: 0.
    start
        Start time; the earliest one, if it waits for others. Default: at the workload's
        `start`, else 0.
    class_
        Its class. Default: the workload's.
    source_port
        Source port, as switches hash it. Default: drawn from the flow's id, 49152 to 65535.
    destination_port
        Destination port, as switches hash it. Default: 4791, RoCEv2's.
    path
        The nodes on its data's path, as in `"h1,s1,s2,h2"`; `s2#2` is the second of the links
        to s2.
    ack_path
        The nodes on its ACKs' path, starting at the receiver.
    """

    from_: str
    to: str
    size: FlowSize
    id: str | None = None
    after: StringList | None = None
    wait: Time | None = None
    start: Time | None = None
    class_: Class | None = None
    source_port: int | None = None
    destination_port: int | None = None
    path: str | None = None
    ack_path: str | None = None


@dataclass(frozen=True, kw_only=True)
class FlowList(Table):
    """A file of flows: CSV, or Parquet where Python reads it, with floodway's columns or those of SWING's
    authors; or the flow file of an HPCC simulation.

    Attributes
    ----------
    file
        Its path, relative to the scenario's folder; `${NAME}` is replaced by an environment
        variable.
    format
        The format of the file.
    origin
        The file's time at which the run begins: it is subtracted from all start times. Default:
        with `format = "hpcc"` the scenario's `origin`, else 0.
    paths
        With `format = "hpcc"`: a file that pins the paths of flows, with one line for each: `n
        source destination source-port destination-port size | nodes of the data's path | nodes
        of the ACKs' path`, where n counts the flows from 0 and nodes are ids. Default: none;
        switches choose.
    """

    file: str
    format: ListFormat | None = None
    origin: Time | None = None
    paths: str | None = None


@dataclass(frozen=True, kw_only=True)
class Poisson(Table):
    """Poisson arrivals: an independent process at each sender, as in HPCC's traffic generator and those of
    most papers.

    Attributes
    ----------
    sizes
        Sizes of flows.
    load
        Offered bytes over the capacity of `of`, above 0.
    of
        Links whose summed rate is the capacity, in the direction from senders to receivers; or
        `"hosts"`: the NICs of the senders. Default: `"hosts"`.
    from_
        Hosts that send. Default: all.
    to
        Hosts that receive, drawn uniformly unless `hot-spot`, `inter-dc` or `groups` is set,
        never the sender itself. Default: all.
    hot_spot
        A share of the flows goes to hot hosts. Not together with `inter-dc` or `groups`.
        Default: none are hot.
    inter_dc
        Probability, from 0 to 1, that a flow goes to a host of another datacenter than its
        sender's, drawn uniformly from all of them; the other flows go to hosts of the sender's
        datacenter. Datacenters are the tags `dc-*` of hosts. The load counts all flows. Not
        together with `hot-spot` or `groups`. Default: datacenters make no difference.
    groups
        Number of groups of hosts, at least 1: senders and receivers are divided into this many
        groups of equal size, as `grouping` says, and every flow stays in its sender's group.
        With `groups = 12`, the groups of a fat tree with 12 pods are its pods. Not together
        with `hot-spot` or `inter-dc`. Default: all hosts are one group.
    grouping
        Which hosts are in a group, in the order of their numbers. Only with `groups`. Default:
        `consecutive`.
    accounting
        Bytes that count as offered. Default: `payload`.
    """

    sizes: Sizes
    load: float
    of: Selector | None = None
    from_: Selector | None = None
    to: Selector | None = None
    hot_spot: HotSpot | None = None
    inter_dc: float | None = None
    groups: int | None = None
    grouping: Grouping | None = None
    accounting: Accounting | None = None


@dataclass(frozen=True, kw_only=True)
class SizesFile(Table):
    """Sizes from a file.

    Attributes
    ----------
    file
        The file, relative to the scenario's folder: lines of bytes and cumulative percent; `#`
        begins a comment.
    """

    file: str


@dataclass(frozen=True, kw_only=True)
class FixedSize(Table):
    """The same size for every flow.

    Attributes
    ----------
    fixed
        The size.
    """

    fixed: Size


@dataclass(frozen=True, kw_only=True)
class HotSpot(Table):
    """A share of the flows goes to a few hot hosts; the destinations of the other flows do not change.

    This is RCM's experiment, whose numbers are the defaults.

    Attributes
    ----------
    share
        Probability of a flow to a hot host, from 0 to 1. Default: 0.15.
    hosts
        The hot hosts: a number is the fraction of `to` that is hot, above 0 and up to 1,
        rounded to whole hosts and drawn by the seed; a selector selects them. Default: 0.125.
    """

    share: float | None = None
    hosts: HotHosts | None = None


@dataclass(frozen=True, kw_only=True)
class Burst(Table):
    """Each sender sends one flow: the i-th sender to the i-th receiver; after the last receiver, the count
    starts again at the first.

    Attributes
    ----------
    to
        Hosts that receive; a single one gives an incast.
    size
        Payload of each flow.
    from_
        Hosts that send. Default: all.
    every
        Time between two flows of a sender, until the workload's `until`. Not together with
        `back-to-back`. Default: once.
    back_to_back
        A new flow as soon as the last byte of the sender's flow before has left its NIC, until
        the workload's `until`: the sender is never idle, and each flow starts in its initial
        state. Default: false.
    """

    to: Selector
    size: Size
    from_: Selector | None = None
    every: Time | None = None
    back_to_back: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Permutation(Table):
    """Each host sends one flow to a partner drawn by the seed, and receives one.

    With flows as long as the run, this is the classic test of a fabric's bisection bandwidth.

    Attributes
    ----------
    size
        Payload of each flow, or `"unbounded"` for flows without end.
    of
        The hosts. Default: all.
    every
        Time between two permutations, each with new partners, until the workload's `until`.
        Default: once.
    """

    size: FlowSize
    of: Selector | None = None
    every: Time | None = None


@dataclass(frozen=True, kw_only=True)
class LongLived(Table):
    """Flows without end: the i-th sender to the i-th receiver; after the last receiver, the count starts
    again at the first.

    Attributes
    ----------
    to
        Hosts that receive.
    from_
        Hosts that send. Default: all.
    """

    to: Selector
    from_: Selector | None = None


@dataclass(frozen=True, kw_only=True)
class Incast(Table):
    """Again and again, senders drawn by the seed send one flow each to one receiver, all at the same
    instant, like the workers of a partition-aggregate job.

    HPCC (Li et al., SIGCOMM 2019, section 5.1) adds such incasts at 2 % of the capacity to its
    background traffic: `load = 0.02`, as a Poisson process with `spacing = "exponential"`.

    Attributes
    ----------
    to
        Hosts from which the receiver is drawn, anew each time.
    size
        Payload of each flow.
    from_
        Hosts from which the senders are drawn, all different, never the receiver itself.
        Default: all.
    fan_in
        Number of simultaneous senders, at least 1. Default: all of `from`.
    every
        Time between two incasts, until the workload's `until`. Not together with `load`.
        Default: once.
    load
        Offered payload over the capacity of `of`, above 0; the time between incasts follows
        from it. Not together with `every`. Default: as `every` says.
    spacing
        Whether the time between two incasts, of `every` or of `load`, is constant or a mean:
        with `exponential` they are a Poisson process from the workload's `start` to its
        `until`. Default: `fixed`, the first one at the `start`.
    of
        Links whose summed rate is the capacity for `load`, in the direction from senders to
        receivers; or `"hosts"`: the NICs of `from`. Default: `"hosts"`.
    """

    to: Selector
    size: Size
    from_: Selector | None = None
    fan_in: int | None = None
    every: Time | None = None
    load: float | None = None
    spacing: Spacing | None = None
    of: Selector | None = None


@dataclass(frozen=True, kw_only=True)
class AllToAll(Table):
    """Each host sends one flow to every other host, all at once: the traffic of the collective operation
    of this name.

    A host begins with the host after it and continues around, so that no receiver is the first one of
    two senders.

    Attributes
    ----------
    size
        Payload of each flow.
    of
        The hosts. Default: all.
    every
        Time between two rounds, until the workload's `until`. Default: once.
    """

    size: Size
    of: Selector | None = None
    every: Time | None = None


@dataclass(frozen=True, kw_only=True)
class MicroBursts(Table):
    """Each sender sends bursts at line rate for `length`.

    The i-th sender sends to the i-th receiver; after the last receiver, the count starts again at the
    first. RCM's experiments disturb an incast with such a burst of 20 us.

    Attributes
    ----------
    to
        Hosts that receive.
    length
        Time for which a burst occupies the sender's NIC. A burst is one flow of the largest
        payload whose packets, headers and gaps included, leave within this time: 231 packets of
        1000 B in 20 us at 100G. Shorter than `every`.
    from_
        Hosts that send. Default: all.
    every
        Time from one burst of a sender to its next, until the workload's `until`. Default: one
        burst each, at the workload's `start`.
    spacing
        Whether `every` is the time between two bursts, or its mean. Default: `fixed`.
    rate
        Rate from which the size of a burst is computed, at most the sender's. Default: that of
        the sender's NIC, of the slowest one where it has several.
    synchronised
        Whether all senders burst at the same instants, the first one at the workload's `start`.
        Default: false, each sender's first burst comes at a time within the first `every` that
        the seed draws.
    """

    to: Selector
    length: Time
    from_: Selector | None = None
    every: Time | None = None
    spacing: Spacing | None = None
    rate: Rate | None = None
    synchronised: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Perftest(Table):
    """Messages that follow each other as they complete, as perftest's programs post them; every message is
    a flow of the results.

    Each pair has its own queue pairs for all its messages, whatever the value of `qp`.

    An RDMA READ of `read-bw` is two messages: the request, a byte from the client to the server, and the response, `size` bytes back, which the server sends when the request has arrived. Both are acknowledged as other messages are; on a real queue pair the response is the acknowledgement of the request.

    Attributes
    ----------
    test
        The measured quantity.
    to
        Hosts that run the server. The server of the i-th client is the i-th host; after the
        last host, the count starts again at the first.
    from_
        Hosts that run the client. Default: all.
    size
        Payload of each message, of `read-bw` of each response. Default: 65536 B of `write-bw`
        and `read-bw`, 2 B of `write-lat`, as perftest's.
    queue_depth
        Of `write-bw` and `read-bw`: outstanding messages of each queue pair, at least 1
        (perftest's `--tx-depth`). Default: 128.
    outstanding_reads
        Of `read-bw`: the most requests of a queue pair that its NIC sends before their
        responses are complete, at least 1 (perftest's `--outs`); others of the queue wait in
        the NIC. Default: 16, what NICs of the ConnectX family allow.
    iterations
        Messages of each queue pair, each way, at least 1; of `write-lat` at least 4, because it
        leaves out the two longest of the times between them. Default: 5000 of `write-bw`, 1000
        of `read-bw` and `write-lat`, as perftest's.
    qps
        Of `write-bw` and `read-bw`: number of queue pairs of each pair of hosts, at least 1.
        Default: 1.
    bidirectional
        Of `write-bw`: whether the server sends as much as the client. Default: false.
    """

    test: Test
    to: Selector
    from_: Selector | None = None
    size: Size | None = None
    queue_depth: int | None = None
    outstanding_reads: int | None = None
    iterations: int | None = None
    qps: int | None = None
    bidirectional: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Collective(Table):
    """A collective operation of ranks, once or repeatedly, as nccl-tests run it.

    Attributes
    ----------
    op
        What it computes.
    size
        Size of the whole buffer, as nccl-tests count it: all-gather and gather by their output,
        all others by the input of a rank. Several sizes follow one another: `["1MB", "8MB",
        "64MB"]`. Where it is less than a byte for each rank, each part is a byte; of `0B`
        nothing is sent. Default: `0B` of a barrier, which sends the least that there is; none
        of others.
    algorithm
        The algorithm. Default: `ring`; of what each rank sends to others (`all-to-all`,
        `gather`, `scatter`, `send-receive`) `direct`, of a barrier `double-binary-tree`.
    ranks
        Hosts of the ranks, in the order of the network. Default: all.
    rank_file
        A file with the host of each rank, one in a line, in the order of ranks; `#` begins a
        comment. Not together with `ranks` or `placement`.
    count
        Number of ranks, the first of those. Default: all.
    placement
        Order of the ranks. Default: `node-first`.
    groups
        Which ranks execute the collective together. Default: `all`.
    channels
        Queue pairs between two ranks, each with its part of every message (NCCL's channels),
        from 1 to 256; of rings and trees through several GPU nodes, so many for each NIC.
        Default: 1.
    cross_nic
        Of rings through several GPU nodes: by which NIC a ring leaves a node, the one by which
        it came (`same`, `NCCL_CROSS_NIC=0` with PXN), the next one and back in the node behind
        (`alternate`, as NCCL since 2.20), or the next one in each node (`next`), through the
        spine. Default: `alternate`.
    pxn
        Of `direct` and `pairwise` all-to-alls, `gather`, `scatter` and `send-receive` between
        GPU nodes that have a scale-up domain and several NICs: whether a GPU hands a message to
        the GPU of its node whose NIC has the receiver's place, which sends it on, so that it
        stays on its rail (NCCL's PXN, unless `NCCL_PXN_DISABLE=1`). Without, each GPU sends by
        its own NIC, and messages change rails through the spine. Default: `true`.
    chunk
        Largest message; larger ones are cut, and their pieces are sent one after another.
        Default: 128 KiB, or a 4096th if that is more, of what goes along a ring to or from a
        root and of `double-binary-tree`; all else is not cut.
    window
        Of `pairwise`: number of ranks to which a rank sends at once, at least 1. Default: 1.
    root
        Of a broadcast and a scatter, the place of its source in the group; of a reduce and a
        gather, that of its destination. Default: 0.
    reduce_rate
        Of all-reduce, reduce-scatter and reduce: how fast a rank adds what has arrived to what
        it has, before it sends the sum on. Default: at once.
    levels
        Of `hierarchical`: ranks of a ring of each level, the innermost first; their product is
        the number of ranks of a group. Default: GPUs of a node, nodes of a site, sites.
    matrix
        Of an all-to-all whose messages differ: size by sender and receiver, a row for each rank
        of a group. `size` is then what a rank sends in all on average, for the bandwidth in the
        results. Default: equal parts of `size`.
    repeat
        How often it is executed, from 1 to 4096; each rank begins again when it is done.
        Default: 1.
    flows
        Whether each message has a row in the table of flows. Default: if there are at most a
        million.
    """

    op: Purpose
    size: SizeList | None = None
    algorithm: AlgorithmName | None = None
    ranks: Selector | None = None
    rank_file: str | None = None
    count: int | None = None
    placement: Placement | None = None
    groups: Groups | None = None
    channels: int | None = None
    cross_nic: CrossNic | None = None
    pxn: bool | None = None
    chunk: Size | None = None
    window: int | None = None
    root: int | None = None
    reduce_rate: Rate | None = None
    levels: Sequence[int] | None = None
    matrix: Sequence[Sequence[Size]] | None = None
    repeat: int | None = None
    flows: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Training(Table):
    """Iterations of a training job.

    Attributes
    ----------
    model
        The model: the name of a published one, or a table.
    layers
        Layers that are simulated, as many in each stage of the pipeline; each has the time and
        the bytes of a layer of the whole model. An iteration is that of these layers alone, and
        results say so. Default: all layers of the model.
    tensor
        Ranks over which each layer is split (tensor parallel). Default: 1.
    pipeline
        Stages of the pipeline; where they do not divide the layers, the first ones have one
        more. Default: 1.
    data
        Replicas of the model (data parallel). Default: 1.
    expert
        Ranks over which experts are spread; it divides the model's experts, where these are
        known. The product of the four degrees is the number of ranks. Default: 1.
    micro_batch
        Sequences of a micro-batch. Default: 1.
    micro_batches
        Micro-batches of an iteration, for each replica. Default: 1.
    simulated_micro_batches
        Micro-batches that are simulated, at least as many as the pipeline has stages; the last
        of them is followed by the reduction of gradients. An iteration is that of these alone,
        and results say so. Default: all of `micro-batches`.
    sequence
        Tokens of a sequence. Default: the model's.
    flops
        Assumed floating-point operations a second of a GPU, from which a layer's time follows:
        `4e14`. Either this or `forward`.
    forward
        Time of a layer's forward pass of a micro-batch. Either this or `flops`.
    backward
        Time of a layer's backward pass of a micro-batch. Default: twice `forward`.
    gradients
        How gradients are reduced. Default: `reduce-scatter`.
    bucket
        Most bytes of a bucket of gradients; at least one layer is in each. Default: 40 MB.
    algorithm
        The algorithm of collectives, where it is one of the operation; the levels of
        `hierarchical` are those of the ranks. Default: as of `collective`.
    channels
        Queue pairs between two ranks, from 1 to 256. Default: 1.
    cross_nic
        Of rings through several GPU nodes: by which NIC a ring leaves a node, the one by which
        it came (`same`, `NCCL_CROSS_NIC=0` with PXN), the next one and back in the node behind
        (`alternate`, as NCCL since 2.20), or the next one in each node (`next`), through the
        spine. Default: `alternate`.
    pxn
        Of the experts' all-to-alls: whether messages leave a GPU node by the NIC of the
        receiver's rail (NCCL's PXN), as `pxn` of `collective` says. Default: `true`.
    iterations
        Number of iterations, from 1 to 4096. Default: 1.
    ranks
        Hosts of the ranks, in the order of the network. Default: all.
    rank_file
        A file with the host of each rank, one in a line, in the order of ranks; `#` begins a
        comment. Not together with `ranks` or `placement`.
    placement
        Order of the ranks. Default: `node-first`.
    flows
        Whether each message has a row in the table of flows. Default: if there are at most a
        million.
    """

    model: ModelKeys
    layers: int | None = None
    tensor: int | None = None
    pipeline: int | None = None
    data: int | None = None
    expert: int | None = None
    micro_batch: int | None = None
    micro_batches: int | None = None
    simulated_micro_batches: int | None = None
    sequence: int | None = None
    flops: float | None = None
    forward: Time | None = None
    backward: Time | None = None
    gradients: Gradients | None = None
    bucket: Size | None = None
    algorithm: AlgorithmName | None = None
    channels: int | None = None
    cross_nic: CrossNic | None = None
    pxn: bool | None = None
    iterations: int | None = None
    ranks: Selector | None = None
    rank_file: str | None = None
    placement: Placement | None = None
    flows: bool | None = None


@dataclass(frozen=True, kw_only=True)
class ModelTable(Table):
    """A model's description.

    Attributes
    ----------
    layers
        Transformer layers, at least 1. No default.
    hidden
        Width of the activations. No default.
    sequence
        Tokens of a sequence. No default.
    parameters
        Parameters in all. No default.
    active_parameters
        Parameters that a token passes, at most all. Default: all.
    experts_per_token
        Experts that a token goes to. Default: 0, no experts.
    experts
        Experts of a layer, at least `experts-per-token`; `training.expert` divides them.
        Default: not known, and `training.expert` is any number.
    """

    layers: int
    hidden: int
    sequence: int
    parameters: int
    active_parameters: int | None = None
    experts_per_token: int | None = None
    experts: int | None = None


@dataclass(frozen=True, kw_only=True)
class Trace(Table):
    """A job from a file.

    Attributes
    ----------
    format
        The format of the files.
    files
        The file; of Chakra's traces a folder with a file `NAME.<rank>.et` for each rank, or a
        list of these. Files that gzip has compressed are read, too. Paths are relative to the
        scenario's folder; `${NAME}` is replaced by an environment variable.
    ranks
        Hosts of the ranks, in the order of the network. Default: all.
    rank_file
        A file with the host of each rank, one in a line, in the order of ranks; `#` begins a
        comment. Not together with `ranks` or `placement`.
    placement
        Order of the ranks. Default: `node-first`.
    algorithm
        Of Chakra and `SimAI`: the algorithm of collectives, where it is one of the operation;
        the levels of `hierarchical` are those of the ranks. Default: as of `collective`.
    splits
        Of Chakra: each collective is executed as so many, one after another, each with its
        share of the bytes (ASTRA-sim's `preferred-dataset-splits`), from 1 to 4096. Default: 1.
    channels
        Of Chakra and `SimAI`: queue pairs between two ranks of a collective, from 1 to 256.
        Default: 1.
    cross_nic
        Of Chakra and `SimAI`, of rings through several GPU nodes: by which NIC a ring leaves a
        node, the one by which it came (`same`, `NCCL_CROSS_NIC=0` with PXN), the next one and
        back in the node behind (`alternate`, as NCCL since 2.20), or the next one in each node
        (`next`), through the spine. Default: `alternate`.
    pxn
        Of Chakra and `SimAI`, of collectives that send messages from rank to rank: whether
        these leave a GPU node by the NIC of the receiver's rail (NCCL's PXN), as `pxn` of
        `collective` says. Default: `true` of Chakra; `false` of `SimAI`, as its
        `AS_PXN_ENABLE`.
    flops
        Of Chakra: operations a second of a GPU, for computations that state a number of
        operations and no duration. No default: such a computation without it is an error.
    dims
        Of Chakra: the sizes of the dimensions that `involved_dim` names, the first one counting
        ranks fastest; their product is the number of ranks: `[4, 2]`. No default: a collective
        over some dimensions without it is an error.
    memory_rate
        Of Chakra: the rate of memory, for loads and stores that state `tensor_size` and no
        duration. No default: such a node without it is an error.
    memory_latency
        Of Chakra: what such a load or store takes besides its bytes over `memory-rate`.
        Default: 0.
    send_completes
        When a send is complete at its sender. Default: as in the programs that read the format:
        GOAL's at once, Chakra's when it has arrived, all others when it is acknowledged.
    flows
        Whether each message has a row in the table of flows. Default: if there are at most a
        million.
    """

    format: TraceFormat
    files: StringList
    ranks: Selector | None = None
    rank_file: str | None = None
    placement: Placement | None = None
    algorithm: AlgorithmName | None = None
    splits: int | None = None
    channels: int | None = None
    cross_nic: CrossNic | None = None
    pxn: bool | None = None
    flops: float | None = None
    dims: Sequence[int] | None = None
    memory_rate: Rate | None = None
    memory_latency: Time | None = None
    send_completes: SendCompletes | None = None
    flows: bool | None = None


@dataclass(frozen=True, kw_only=True)
class MeasureWindow(Table):
    """A window from one instant to another.

    Attributes
    ----------
    to
        The first instant after the window.
    from_
        The first instant. Default: 0.
    """

    to: Time
    from_: Time | None = None


@dataclass(frozen=True, kw_only=True)
class RecordKeys(Table):
    """Records in addition to the tables of flows and counters.

    Attributes
    ----------
    report
        Whether all is kept that the page of `floodway report` shows: the series of every link,
        whatever `watch` says; `pauses`; and `signals`, where a congestion point assigns states
        to queues. It does not write the page. Default: false.
    watch
        Links whose series are kept, both ways. Default: those tagged `long-haul`, and those of
        100 us or more.
    busiest
        Number of additional egress ports, the busiest. Default: 8.
    buckets
        Maximum number of buckets of a series, for links that are watched by name; for the
        busiest others, 100. Default: 1000; with `report` and more than 200 nodes, 500.
    pauses
        Whether each pause and resume is kept as it is received, in the table `pauses`, up to
        ten million rows; the run's verdicts have the number of further ones. Default: false.
    signals
        Whether congestion feedback is kept, in the table `signals`: each mark, CNP and CN of a
        port's congestion points, and each change of the state that they assign to a queue; up
        to ten million rows, and the run's verdicts have the number of further ones. Default:
        false.
    allowances
        Flows whose allowances are kept, in the table `allowances`: the pacing rate and the
        window of a flow's sender, at each change; up to ten million rows, as above. `true` for
        all flows, or their workloads: by name or tag, as `flows` of overrides. Default: no
        flows.
    shares
        Bytes of each flow on some links, in the table `shares`: the bytes that each port of
        these links sends of each flow, by buckets of time. Default: not kept.
    queue_histogram
        Queue lengths of every switch's ports at regular instants, in the table
        `queue_histogram`. Default: not kept.
    capture
        Frames that are kept as a file for Wireshark, `capture.pcapng`. Default: none.
    """

    report: bool | None = None
    watch: Selector | None = None
    busiest: int | None = None
    buckets: int | None = None
    pauses: bool | None = None
    signals: bool | None = None
    allowances: AllowanceKeys | None = None
    shares: ShareKeys | None = None
    queue_histogram: HistogramKeys | None = None
    capture: CaptureKeys | None = None


@dataclass(frozen=True, kw_only=True)
class ShareKeys(Table):
    """Links whose bytes are recorded per flow: bytes of data on the wire, in the buckets in which they are
    transmitted.

    Attributes
    ----------
    links
        The links, both ways.
    bucket
        Width of a bucket of time, above 0. Up to ten million rows; the run's verdicts have the
        number of further ones. Default: 1 us.
    """

    links: Selector
    bucket: Time | None = None


@dataclass(frozen=True, kw_only=True)
class HistogramKeys(Table):
    """Instants and resolution of the samples of switch queues: at `from`, `from` + `every`, and so on to
    `to`, each before the changes of that instant.

    Waiting packets of all classes count; the packet on the wire does not.

    Attributes
    ----------
    from_
        The first instant. Default: 0.
    to
        The last instant at most; a run that ends before has the instants until its end.
        Default: the end of the run.
    every
        Time from one instant to the next, above 0. Default: 100 ns.
    bin
        Width of a bin, from 64 B up: the i-th bin counts the instants at which i to i + 1
        widths waited. Default: 1 KB.
    """

    from_: Time | None = None
    to: Time | None = None
    every: Time | None = None
    bin: Size | None = None


@dataclass(frozen=True, kw_only=True)
class CaptureKeys(Table):
    """Frames that are kept as a file for Wireshark: the frames on links, in the bytes that RoCEv2 and
    802.1Qbb define.

    Attributes
    ----------
    links
        Links whose frames are kept, both ways, each when its first bit is sent.
    packets
        Maximum number of frames, the first ones of the run, from 1 to 1,000,000; the number of
        further ones is reported. Default: 100,000.
    bytes
        Maximum number of bytes of each frame, from 64B to 16KB. Default: 16KB, all of it: of
        packets that are cut, Wireshark shows the headers, but calls them malformed.
    dscp
        DSCP of the packets of classes of data, from 0 to 63, such as `{ class-3 = 26 }`.
        Default: the class selector (RFC 2474), which is 8 times the class: 24 for class 3.
    """

    links: Selector
    packets: int | None = None
    bytes: Size | None = None
    dscp: DscpByClass | None = None


@dataclass(frozen=True, kw_only=True)
class EngineKeys(Table):
    """Settings of the computation. They do not change the records.

    Attributes
    ----------
    threads
        Threads of a run, from 1 up; never more than there are nodes, and fewer where links are
        so short that threads would mostly wait for one another (`--force-threads` uses them
        nevertheless). `--threads` takes precedence, and `floodway compare` uses one unless
        `--threads` is given. Default: one a core where links are long enough and there is
        enough to be sent, else one.
    skip
        Whether iterations and micro-batches of a job that repeat earlier ones to the picosecond
        are skipped: where the state of the whole network recurs, what follows is known. The
        records are the same to the byte, and the run says what it skipped. Default: true.
    """

    threads: int | None = None
    skip: bool | None = None


@dataclass(frozen=True, kw_only=True)
class TopologyPreset(Table):
    """The network of a published experiment or AI cluster, by its name, or a part of such a cluster.

    Attributes
    ----------
    preset
        Its value.
    """

    _tag: ClassVar[str | None] = "preset"
    _scalar: ClassVar[bool] = True
    preset: PresetKeys


@dataclass(frozen=True, kw_only=True)
class FabricKindPreset(Table):
    """A published network of one site, by its name, or a part of a published AI cluster.

    Attributes
    ----------
    preset
        Its value.
    """

    _tag: ClassVar[str | None] = "preset"
    _scalar: ClassVar[bool] = True
    preset: PresetKeys


#: A quantity with a unit, such as `'80km'`.
Length: TypeAlias = str


#: A quantity with a unit, such as `'400G'`.
Rate: TypeAlias = str


#: A quantity with a unit, such as `'288KB'`.
Size: TypeAlias = str


#: A quantity with a unit, such as `'10us'`.
Time: TypeAlias = str


#: Bytes that count as offered.
#: - 'payload': The payload of flows, as traffic generators count.
#: - 'wire': The bytes on the link, headers and gaps included, without acknowledgements.
Accounting: TypeAlias = "Literal['payload', 'wire']"


#: Queue of replies (ACK, NAK).
#: - 'control': In the control class: served first everywhere, never paused, charged to no buffer.
#: - 'data-class': In switches with the data of their flow's class; at hosts in one queue before all
#:   data. At hosts, a pause of the class of the first reply stops the queue.
#: - 'data-class-unpaused': As `data-class`, but no pause stops replies at hosts.
AcksKey: TypeAlias = "Literal['control', 'data-class', 'data-class-unpaused']"


#: What a watchdog does with the queue of a pause that it overrides.
#: - 'drop': Discards the packets that wait in it and those that arrive. Source: SONiC, `drop`.
#: - 'forward': Sends what waits in it and what arrives. Source: SONiC, `forward`.
Action: TypeAlias = "Literal['drop', 'forward']"


#: An algorithm.
#: - 'ring': Each rank sends to the next one; a broadcast and a reduce go from rank to rank, in
#:   chunks. Through nodes there is a ring for each NIC.
#: - 'halving-doubling': Recursive halving, then doubling, with partners at distance 1, 2, 4, ...;
#:   the number of ranks must be a power of 2.
#: - 'double-binary-tree': Two complementary binary trees, each with half of the buffer, as in NCCL
#:   2.4. Through nodes there are two for each NIC.
#: - 'direct': To all others at once.
#: - 'pairwise': To one other at a time, or to `window` of them: in step i to the rank i places on.
#: - 'binomial-tree': A binomial tree from the root.
#: - 'hierarchical': Rings within rings, by `levels`: reduce-scatter within nodes, all-reduce along
#:   rails, all-gather within nodes.
AlgorithmName: TypeAlias = "Literal['ring', 'halving-doubling', 'double-binary-tree', 'direct', 'pairwise', 'binomial-tree', 'hierarchical']"


#: Flows whose allowances are kept.
AllowanceKeys: TypeAlias = "bool | Selector"


#: Components of a base round-trip time.
#: - 'exact': Propagation, pipelines, crossbars, and store-and-forward of a full packet to the
#:   receiver and of its ACK back.
#: - 'one-way': Twice the propagation, and store-and-forward of a full packet to the receiver.
#: - 'payload': Twice the propagation, and the whole nanoseconds of a full packet's payload at each
#:   link to the receiver.
BaseRttKey: TypeAlias = "Literal['exact', 'one-way', 'payload']"


BufferParams: TypeAlias = (
    "Literal['static', 'shared', 'ioq', 'output-queue'] | StaticBuffer | SharedBuffer | Ioq | OutputQueue"
)


#: A priority (802.1Q) or virtual lane, 0 to 7.
Class: TypeAlias = "int"


#: How the receiver reports marks.
#: - 'packet': By a frame of the control class, at most one per flow and `cnp-interval`. Source: Zhu
#:   et al., section 3.1.
#: - 'ack-flag': By a flag that each ACK copies from its packet's mark, without an interval. Source:
#:   the HPCC and SWING simulators.
Cnp: TypeAlias = "Literal['packet', 'ack-flag']"


CongestionPointParams: TypeAlias = "Literal['red', 'proxy-cnp', 'mercury', 'tcd', 'pacc', 'rcm', 'casl', 'bfc', 'expresspass', 'themis-pnp', 'themis-trp'] | Red | ProxyCnp | Mercury | Tcd | Pacc | Rcm | Casl | Bfc | ExpresspassCp | ThemisPnp | ThemisTrp"


CongestionPointParamsList: TypeAlias = "CongestionPointParams | Sequence[CongestionPointParams]"


#: By which NIC a ring leaves a node.
#: - 'same': By the one by which it came (`NCCL_CROSS_NIC=0`): it stays on its rail. Where a NIC has
#:   one GPU, the last GPU of the ring in the node hands its messages to that one (NCCL's PXN).
#: - 'alternate': By the one next to it in one node, and back by the same two in the next one (NCCL
#:   since 2.20, with `NCCL_CROSS_NIC=2`): it stays on its rails, but between the last and the first
#:   of an odd number of nodes.
#: - 'next': By the one next to it in each node (`NCCL_CROSS_NIC=1` without alternating rings): it
#:   changes rails from node to node, through the spine.
CrossNic: TypeAlias = "Literal['same', 'alternate', 'next']"


#: The account that the packet which crosses the flow control's threshold is charged to.
#: - 'shared': The shared part, which then exceeds the threshold by one byte less than a frame at
#:   most. Source: floodway's choice.
#: - 'headroom': The headroom, whole; it then needs one frame more. Source: the HPCC and SWING
#:   simulators.
#: - 'pool': The shared part, however far beyond the threshold, while the pool has room for it; then
#:   the headroom. Source: ConWeave's simulator, whose threshold only pauses.
Crossing: TypeAlias = "Literal['shared', 'headroom', 'pool']"


#: The DCI switches at which a site's long links end.
#: - 'shared': One DCI switch of the site for all.
#: - 'per-link': A separate DCI switch for each, which is linked to all gateways of the site.
Dci: TypeAlias = "Literal['shared', 'per-link']"


#: How an odd bit is rounded where Rc rises to the mean of Rc and Rt.
#: - 'up': The mean is rounded up, so that Rt is reached. Source: floodway's choice.
#: - 'halves': Each half is rounded down, so that Rc stays a bit or two below Rt forever. Source:
#:   the HPCC simulator.
DcqcnMeans: TypeAlias = "Literal['up', 'halves']"


#: A preset of published values, and the state machine that it belongs to.
#: - 'paper': The paper's state machine and values; what it does not print (`rhai`, `rmin`) is that
#:   of its authors' ns-3 model. Source: Zhu et al., SIGCOMM 2015, and that model.
#: - 'tcd': As `paper`, but alpha starts at 0.5. Source: TCD's simulator (`DCQCN-TCD`) with its
#:   `configburst.txt`.
#: - 'mellanox': The NICs' state machine as HPCC has it, by the timer alone, with the NICs'
#:   defaults; `byte-counter = "2097088B"` adds the counter that NICs also have. Source: NVIDIA's
#:   page of DCQCN parameters.
#: - 'hpcc': The NICs' state machine with the values of HPCC's simulations: increments grow with the
#:   NIC's rate. Source: `dcqcn` of HPCC's `run.py`.
#: - 'hpcc-paper': The NICs' state machine with the periods of the paper: alpha and checks each 50
#:   us, steps each 55 us; F and increments as in `hpcc`. Source: `dcqcn_paper` of HPCC's `run.py`,
#:   with which HPCC's figures compare.
#: - 'hpcc-config': The NICs' state machine with the values of HPCC's published configuration: steps
#:   each 900 us, fixed increments, a variable window. Source: `config.txt` of HPCC's simulator.
#: - 'swing': The NICs' state machine with the values of SWING's simulations, including their
#:   variable window. Source: SWING's configurations.
DcqcnPreset: TypeAlias = "Literal['paper', 'tcd', 'mellanox', 'hpcc', 'hpcc-paper', 'hpcc-config', 'swing']"


#: When the timers of the NICs' state machine are processed.
#: - 'asleep': Only where they may have an effect. At one instant a CNP is processed first, then
#:   alpha, the check, the increase step. Source: floodway's choice.
#: - 'ticking': Each at every period from the first CNP on, as an event that sets the next one: of
#:   the timers of one instant, the one that was set first is processed first, so that an increase
#:   step precedes a check. With `ties = "scheduling-order"` that applies to all events: a check
#:   precedes events that were scheduled less than `t-dec` before. Source: the HPCC simulator.
DcqcnTimers: TypeAlias = "Literal['asleep', 'ticking']"


#: Effect of undetermined congestion (UE) on the rate.
#: - 'hold': Rc and alpha keep their values, Rt = Rc, and increase steps and stages restart. Source:
#:   the `DCQCN-TCD` simulator with its rate adjustment (`EnableRootECNCC`).
#: - 'ignore': No effect. Source: the `DCQCN-TCD` simulator as it is configured.
DcqcnUe: TypeAlias = "Literal['hold', 'ignore']"


#: Limit of the payload bytes in flight under DCQCN. A window of constant size is a separate layer.
#: - 'none': No limit. Source: Zhu et al., and NICs.
#: - 'variable-bdp': The path's bandwidth-delay product times Rc over the NIC's rate. Source: HPCC's
#:   `_vwin` variants; SWING's configurations.
DcqcnWindow: TypeAlias = "Literal['none', 'variable-bdp']"


Distance: TypeAlias = "Length | Time"


DistanceList: TypeAlias = "Distance | Sequence[Distance]"


DoubleOrAuto: TypeAlias = "Literal['auto'] | float"


#: Random stream of congestion points.
#: - 'per-node': Each node draws from its own stream.
#: - 'hpcc-ns3': As in HPCC's simulator (one thread only): each draw of the run is the first one of
#:   the next stream of ns-3's generator. Each pause frame also uses one stream, and a draw is made
#:   for each reply among data.
#: - 'conweave-ns3': As in ConWeave's simulator: each switch draws from a stream of ns-3's
#:   generator, the same one for all.
#: - 'swing-ns3': As in SWING's simulator: each switch draws from its own stream of ns-3's
#:   generator, numbered in the order of switches.
DrawsKey: TypeAlias = "Literal['per-node', 'hpcc-ns3', 'conweave-ns3', 'swing-ns3']"


DscpByClass: TypeAlias = "Mapping[str, int]"


ErrorRate: TypeAlias = "float | ErrorRates"


#: How virtual incoming bytes (F) are counted.
#: - 'ledger': The sum of the grants that are not yet due: leaks and idle upstreams do not distort
#:   it. Source: Bifrost, section I, "a history of previous pause decisions", and IV-A.
#: - 'measured': F - r + c, clamped, with r in frame bytes. Source: Bifrost, Algorithm 1, line 15;
#:   section V, "the RX bytes from MAC".
FMode: TypeAlias = "Literal['ledger', 'measured']"


#: The network inside a datacenter. Its DCI switch is linked to the gateways: the cores of a fat
#: tree, the spines of a leaf-spine, the cores or spines of a rail-optimised network, the switch of
#: a single-switch, the last switch of a chain, s2 (the right one) of a dumbbell, the switches
#: tagged `gateway` of an explicit network; of a preset, those of the kind of network that it is.
FabricKind: TypeAlias = (
    "FatTree | LeafSpine | RailOptimised | SingleSwitch | Chain | Dumbbell | Explicit | FabricKindPreset"
)


Failover: TypeAlias = "Literal['off'] | Time"


FlowControl: TypeAlias = "FlowControlParams | Mapping[str, FlowControlParams]"


FlowControlParams: TypeAlias = (
    "Literal['lossy', 'pfc', 'bifrost', 'cbfc', 'swing'] | Lossy | Pfc | Bifrost | Cbfc | Swing"
)


FlowSize: TypeAlias = "Literal['unbounded'] | Size"


#: Headers of packets.
#: - 'ethernet': RoCEv2 over Ethernet, with FCS, preamble and gap.
#: - 'hpcc-ns3': The sizes of the HPCC ns-3 simulator: payload + 48, ACK 60, PFC 43.
#: - 'swing-ns3': The sizes of the ns-3 simulator of SWING's authors: payload + 52, ACK 52, PFC 24.
#: - 'htsim-uet': The sizes of the Ultra Ethernet Consortium's simulator: payload + 64, all others
#:   64.
Format: TypeAlias = "Literal['ethernet', 'hpcc-ns3', 'swing-ns3', 'htsim-uet']"


#: The answer to a duplicate.
#: - 'ack': An ACK with the expected number. Source: InfiniBand C9-110.
#: - 'silent': No answer. Source: the HPCC simulator, `ReceiverCheckSeq` in `rdma-hw.cc`.
GoBackNDuplicates: TypeAlias = "Literal['ack', 'silent']"


#: What restarts the timer.
#: - 'advance': An ACK that advances, and the first packet sent after all were acknowledged. Source:
#:   floodway's choice.
#: - 'any': Every reply and every packet sent; a NAK does not stop it. Source: InfiniBand o9-85, as
#:   in ConWeave's simulator.
GoBackNRestart: TypeAlias = "Literal['advance', 'any']"


#: How gradients are reduced.
#: - 'reduce-scatter': Each rank gets its share of the sums, and shares its part of the new
#:   parameters by an all-gather.
#: - 'all-reduce': Each rank gets all sums.
Gradients: TypeAlias = "Literal['reduce-scatter', 'all-reduce']"


#: Which hosts are in a group.
#: - 'consecutive': Hosts that follow one another.
#: - 'in-turn': One host for each group in turn: groups reach over all pods or racks.
Grouping: TypeAlias = "Literal['consecutive', 'in-turn']"


#: Which ranks form a group.
#: - 'all': All ranks.
#: - 'node': The ranks of a node.
#: - 'rail': The ranks with the same place in their nodes.
#: - 'site': The ranks of a site.
Groups: TypeAlias = "Literal['all', 'node', 'rail', 'site']"


#: How a flow is hashed.
#: - 'mix': With a key per switch, derived from the run's seed and the switch's name. Source:
#:   floodway's choice.
#: - 'shared': With the same hash at all switches. Source: floodway's choice, for fabrics whose
#:   hashes polarise.
#: - 'swing-ns3': h = 31·h + byte, with the seeds of its profile. Source: SWING's simulator,
#:   `CalcTime31Hash`.
#: - 'hpcc-ns3': The Murmur hash, with the seeds of its profile. Source: HPCC's simulator,
#:   `EcmpHash`.
Hash: TypeAlias = "Literal['mix', 'shared', 'swing-ns3', 'hpcc-ns3']"


#: Source of the seeds of the hashes `swing-ns3` and `hpcc-ns3`.
#: - 'none': Only `hash-seed` of overrides.
#: - 'mrg32k3a': Draws of ns-3's generator with its default seed, one for each switch in order.
#: - 'node-number': The number of the switch among all nodes, from 0. Hosts then have the addresses
#:   of HPCC's simulator, which are computed from their numbers.
HashSeeds: TypeAlias = "Literal['none', 'mrg32k3a', 'node-number']"


Headroom: TypeAlias = "Literal['auto'] | Size | HeadroomByDelays"


#: Hosts at each switch.
Hosts: TypeAlias = "int | Sequence[int]"


HotHosts: TypeAlias = "float | Selector"


#: A form of the algorithm, and the values that it was published with.
#: - 'paper': A window, and a rate that follows from it. Source: Li et al., SIGCOMM 2019, algorithm
#:   1.
#: - 'simulator': A rate, and a window that follows from it. Source: HPCC's simulator, mode 3, and
#:   `hp` of its `run.py`.
HpccPreset: TypeAlias = "Literal['paper', 'simulator']"


InterfaceDelay: TypeAlias = "Literal['ieee-802.3'] | Time"


#: The published form of IRN.
#: - 'paper': A bitmap, a recovery and one timer. Source: Mittal et al., SIGCOMM 2018, sections 3.1
#:   and 3.2.
#: - 'swing': Replies for one packet, a timer for each packet, retransmissions before all new data.
#:   Source: SWING's simulator.
#: - 'conweave': Blocks of bytes, going back over holes. Source: ConWeave's simulator.
IrnForm: TypeAlias = "Literal['paper', 'swing', 'conweave']"


#: How window and timeouts are derived.
#: - 'published': One value for all pairs: the window of the network's longest path, and the form's
#:   timeouts. Source: IRN, sections 3.2 and 4.1; SWING, section 6.1.
#: - 'per-pair': Separate values for each pair, from its path, by the same formulas. Source:
#:   floodway's choice; SWING, section 1, names a dynamic bitmap, and objects that all NICs would
#:   have to change.
IrnPreset: TypeAlias = "Literal['published', 'per-pair']"


IrnWindow: TypeAlias = "int | Size"


IrnWindowOfPath: TypeAlias = "Literal['auto', 'largest'] | IrnWindow"


LengthOrBlank: TypeAlias = "Literal['', '0'] | Length"


#: Queue of link control frames (PAUSE, credits).
#: - 'first': Before all other frames.
#: - 'control-class': With the control class, first in, first out, as in ConWeave's simulator: a
#:   PAUSE is sent after the ACKs that wait.
LinkControlKey: TypeAlias = "Literal['first', 'control-class']"


LinkRetryParams: TypeAlias = "Literal['none', 'llr'] | NoLinkRetry | Llr"


#: The format of a file of flows.
#: - 'table': A table with a header line.
#: - 'hpcc': The format of the HPCC simulator: the number of flows, then for each flow a line
#:   `source destination priority-group destination-port bytes seconds`, sorted by start time. Nodes
#:   are ids: host 3 is `h3`. The priority group is the flow's class; source ports count from 10000
#:   for each pair of hosts.
#: - 'conweave': The format of ConWeave's simulator: as `hpcc`, but without the destination port,
#:   which counts from 100 for each destination; source ports count from 10000 for each source.
ListFormat: TypeAlias = "Literal['table', 'hpcc', 'conweave']"


#: A node, or a range of nodes.
Listed: TypeAlias = "str | TaggedNode"


LongLinks: TypeAlias = "Sequence[ListedLong] | LongTable"


#: When a packet is marked.
#: - 'dequeue': When it starts on the wire, by the queue that remains. Source: the HPCC simulator.
#: - 'enqueue': When it joins the queue, by the queue that includes it. Source: RED, which marks on
#:   arrival.
MarkAt: TypeAlias = "Literal['dequeue', 'enqueue']"


#: What decides whether a queue above the threshold is congested.
#: - 'state-driven': Its state: an undetermined queue is not. Source: the paper, Algorithm 1.
#: - 'threshold': Its length alone: a pause leaves every queue determined. Source: floodway's
#:   choice, to compare with: Mercury without its detection.
MercuryDetection: TypeAlias = "Literal['state-driven', 'threshold']"


#: Which packets a switch counts as one flow.
#: - 'addresses': All packets between two addresses; the CNP goes to the queue pair of the departing
#:   packet. Source: the paper.
#: - 'queue-pairs': A queue pair, by its addresses and ports. Source: floodway's choice, for many
#:   queue pairs between two hosts.
MercuryFlows: TypeAlias = "Literal['addresses', 'queue-pairs']"


#: How credit is counted.
#: - 'ideal': In bytes, without limit. Source: Bifrost, section VI-B (CBFC-ideal).
#: - 'infiniband': In blocks of 64 bytes modulo 4096, with a credit of 2048 blocks at most. Source:
#:   InfiniBand, 7.9.
#: - 'uec': In credits modulo 2^20, reported as they are freed. Source: UEC 1.0.3, 5.2.
Mode: TypeAlias = "Literal['ideal', 'infiniband', 'uec']"


#: A model.
ModelKeys: TypeAlias = "ModelName | ModelTable"


#: A published model.
#: - 'gpt-3-175b': 96 layers of 12288 (Brown et al. 2020, table 2.1).
#: - 'llama-3-70b': 80 layers of 8192 (Llama Team 2024, table 3).
#: - 'llama-3-405b': 126 layers of 16384 (Llama Team 2024, table 3).
#: - 'mixtral-8x7b': 32 layers of 4096, eight experts of which each token goes to two (Jiang et al.
#:   2024, table 1).
#: - 'deepseek-v3': 61 layers of 7168, of whose 256 routed experts each token goes to eight
#:   (DeepSeek-AI 2024, section 4.2).
ModelName: TypeAlias = "Literal['gpt-3-175b', 'llama-3-70b', 'llama-3-405b', 'mixtral-8x7b', 'deepseek-v3']"


NicOrRate: TypeAlias = "Literal['nic'] | Rate"


#: Which of a host's NICs sends.
#: - 'per-qp': For each queue pair one by hash, of those on shortest paths.
#: - 'active-backup': For all queue pairs the first, in the order of links, as in Linux's mode of
#:   this name: another one is used while its link is down.
#: - 'spray': For each packet the NIC with the fewest bytes ahead of it. Packets arrive out of
#:   order.
Nics: TypeAlias = "Literal['per-qp', 'active-backup', 'spray']"


NotificationParams: TypeAlias = (
    "Literal['none', 'dcqcn', 'tcd', 'expresspass'] | NoNotification | DcqcnNp | TcdNp | ExpresspassNp"
)


#: How delays are averaged.
#: - 'ewma': Each report has a weight of 1/80. Source: the Consortium's simulator.
#: - 'rtt': Each report has the weight of the time since the one before, over a round trip. Source:
#:   UEC, section 3.6.13.6: the average of the last round trip.
NsccAverage: TypeAlias = "Literal['ewma', 'rtt']"


#: Effect of a deadlock.
#: - 'stop': The run ends.
#: - 'continue': The deadlock is reported, and the run continues.
OnDeadlock: TypeAlias = "Literal['stop', 'continue']"


#: Whether packets are paced at the rate.
#: - 'on': Packets are paced.
#: - 'off': Packets are not paced. Rates only scale windows: a rate control without a window has no
#:   effect.
PacingKey: TypeAlias = "Literal['on', 'off']"


PauseList: TypeAlias = "Pause | Sequence[Pause]"


#: Duration of a pause.
#: - 'timer': For the time in its frame, with refresh while congested. Source: IEEE 802.1Qbb.
#: - 'on-off': Until a resume frame: an idealised pause. Source: the HPCC and SWING simulators.
PauseMode: TypeAlias = "Literal['timer', 'on-off']"


PeriodList: TypeAlias = "Period | Sequence[Period]"


#: Order of ranks.
#: - 'node-first': Node by node, in each GPU by GPU, as the network lists its hosts.
#: - 'rail-first': GPU by GPU: the first GPU of each node, then the second of each, and so on.
#: - 'sites-in-turn': Node by node, of the sites in turn: a node of the first site, one of the
#:   second, and so on.
Placement: TypeAlias = "Literal['node-first', 'rail-first', 'sites-in-turn']"


#: What power is computed from.
#: - 'int': Records of switches. Source: Addanki et al., algorithm 1.
#: - 'delay': Round-trip times: θ-PowerTCP. Source: Addanki et al., algorithm 2.
PowerTcpForm: TypeAlias = "Literal['int', 'delay']"


PresetKeys: TypeAlias = "PresetName | PartKeys"


PresetName: TypeAlias = "Literal['swing-2dc', 'bifrost-2dc', 'bifrost-a', 'bifrost-b', 'bifrost-c', 'swing-line', 'swing-line-short', 'mercury-chain', 'mercury-9', 'mercury-fat', 'hpcc-fat', 'hpcc-star', 'hpcc-ali', 'rcm-k12', 'casl-33', 'tcd-victim', 'conweave-ls', 'conweave-k8', 'superpod-h100', 'meta-24k', 'hpn-pod', 'superpod-h100-two-sites']"


#: Simulators with a complete profile of their semantics.
#: - 'swing-ns3': The simulator of SWING's authors.
#: - 'hpcc-ns3': The simulator of HPCC's authors, on which many forks build.
#: - 'conweave-ns3': The simulator of ConWeave's authors, which builds on HPCC's.
Profile: TypeAlias = "Literal['swing-ns3', 'hpcc-ns3', 'conweave-ns3']"


#: What a collective computes.
Purpose: TypeAlias = "Literal['all-reduce', 'reduce-scatter', 'all-gather', 'broadcast', 'all-to-all', 'reduce', 'gather', 'scatter', 'send-receive', 'barrier']"


#: Flows that share a queue pair.
#: - 'per-flow': None: each flow has its own queue pair, whose congestion control starts in its
#:   initial state.
#: - 'per-pair': Flows of a workload with the same sender, receiver and class (and, where a list
#:   names them, ports and paths): they are messages of one queue pair, sent one after another in
#:   the order of their starts, and its congestion control keeps its state from message to message.
Qp: TypeAlias = "Literal['per-flow', 'per-pair']"


Quanta: TypeAlias = "int"


RateOrBlank: TypeAlias = "Literal['', '0'] | Rate"


#: Effect of a rate control's timers on a NIC, besides a new rate.
#: - 'look': The NIC looks for a packet to send.
#: - 'silent': None, as in HPCC's simulator: a NIC that waits continues to wait until another event
#:   makes it look. This needs a `repacing` that keeps the time of the packet that waits.
RateTimersKey: TypeAlias = "Literal['look', 'silent']"


#: What cuts Wc while harmful flows are limited.
#: - 'each-sample': Each sample of the output queue that finds congestion, and each CN that names
#:   flows. Source: floodway's choice: Eq. 4 and 5 at every degree that is found.
#: - 'first-detection': One of each congestion: the sample that begins it at the port, and of a
#:   neighbour's the first CN that names flows; another follows only when congestion has ended and
#:   begins again. Source: section 3.2, where a state is reported once it is "firstly detected".
RcmCuts: TypeAlias = "Literal['each-sample', 'first-detection']"


#: Which flows' packets are marked at the port.
#: - 'all': All flows'. Source: ECN as DCQCN has it, which the paper leaves as it is.
#: - 'harmful': The harmful flows' alone: others leave without the mark that the port set. Marks of
#:   ports before stay, and so do marks that `red` sets at enqueue. Source: sections 1 and 3.1: end-
#:   to-end control reduces "the long-life harmful flow", and control is performed "only on
#:   congestion flows".
RcmMarks: TypeAlias = "Literal['all', 'harmful']"


React: TypeAlias = "Literal['ieee-802.3', 'nvidia'] | Time"


ReactionParams: TypeAlias = "Literal['line-rate', 'static-window', 'dcqcn', 'timely', 'hpcc', 'dctcp', 'mercury', 'expresspass', 'swift', 'powertcp', 'nscc', 'rccc'] | LineRate | StaticWindow | Dcqcn | Timely | Hpcc | Dctcp | MercuryWindow | Expresspass | Swift | PowerTcp | Nscc | Rccc"


ReactionParamsList: TypeAlias = "ReactionParams | Sequence[ReactionParams]"


#: Published values of `kmin`, `kmax` and `pmax`.
#: - 'hpcc': 100 KB, 400 KB per 25G of the port's rate, 0.2. Source: HPCC's simulations, `run.py`.
#: - 'conweave': 100 KB, 400 KB, 0.2 at every rate. Source: ConWeave's simulations, `run.py`.
#: - 'swing': 200 KB, 800 KB, 0.2. Source: SWING's configurations.
#: - 'dcqcn-paper': 5 KB, 200 KB, 0.01, for 40G. Source: DCQCN's paper.
#: - 'dcqcn-tcd': 40 KB, 1000 KB, 1. Source: the DCQCN of TCD's repository, `config.txt`.
#: - 'dcqcn-tcd-burst': 5 KB, 200 KB, 0.01. Source: the DCQCN of TCD's repository,
#:   `configburst.txt`, its burst experiment, as DCQCN's paper.
#: - 'dctcp': 30 KB per 10G of the port's rate, a step. Source: DCTCP in HPCC's simulations,
#:   `run.py`.
RedPreset: TypeAlias = (
    "Literal['hpcc', 'conweave', 'swing', 'dcqcn-paper', 'dcqcn-tcd', 'dcqcn-tcd-burst', 'dctcp']"
)


#: Time at which a packet's bytes leave the ingress account.
#: - 'end': At its last bit.
#: - 'start': At the start of its transmission.
ReleaseKey: TypeAlias = "Literal['end', 'start']"


ReliabilityParams: TypeAlias = (
    "Literal['none', 'go-back-n', 'irn', 'uet'] | NoReliability | GoBackN | Irn | Uet"
)


#: What refreshes a pause that must last.
#: - 'timer': A timer: a fraction of the pause's time, given by `refresh`. Source: floodway's
#:   choice.
#: - 'arrivals': Each packet that arrives while the condition for a PAUSE holds; an arriving packet
#:   may also cause the RESUME. A pause that expires while nothing arrives is over: its upstream
#:   sends for a round trip before it is paused again, for which headroom is not sized. Source:
#:   ConWeave's simulator, `switch-node.cc`.
Renewal: TypeAlias = "Literal['timer', 'arrivals']"


#: Effect of a new rate on the packet of a queue pair that waits for its pacing time.
#: - 'moved': The packet is paced at the new rate.
#: - 'kept': The packet keeps its time.
#: - 'hpcc-ns3': `moved` with HPCC, `kept` with the others, as in HPCC's simulator.
RepacingKey: TypeAlias = "Literal['moved', 'kept', 'hpcc-ns3']"


#: Rounding of serialisation times.
#: - 'picosecond': Up to a picosecond.
#: - 'truncated-ns': Down to a nanosecond, as in ns-3; also for pacing gaps.
#: - 'hpcc-ns3': As `truncated-ns`, in the older ns-3 of HPCC's simulator: a whole number of
#:   nanoseconds becomes one less.
RoundingKey: TypeAlias = "Literal['picosecond', 'truncated-ns', 'hpcc-ns3']"


RoutingParams: TypeAlias = "Literal['ecmp', 'spray', 'sar'] | Ecmp | Spray | Sar"


ScaleUpOrNone: TypeAlias = "Literal['none'] | ScaleUpKeys"


SchedulerParams: TypeAlias = (
    "Literal['strict', 'round-robin', 'deficit-round-robin'] | Strict | RoundRobin | DeficitRoundRobin"
)


#: Objects: a name with * and ? as wildcards, a tag, the workload of flows, or a list of these.
Selector: TypeAlias = "str | ByTag | ByWorkload | Sequence[Selector]"


#: When a send is complete at its sender.
#: - 'acknowledged': When its last byte is acknowledged, as a verb is; where nothing is
#:   acknowledged, when it has left.
#: - 'issued': At once, as GOAL's eager messages are.
#: - 'received': When its last byte has arrived, as in ASTRA-sim, where a rank's part of a
#:   collective is complete when all has arrived there. The sender could not know of an arrival
#:   before a packet comes back; so all events of the run have one order.
SendCompletes: TypeAlias = "Literal['acknowledged', 'issued', 'received']"


Sites: TypeAlias = "int | Sequence[SiteKeys]"


SizeList: TypeAlias = "Size | Sequence[Size]"


SizeOfPath: TypeAlias = "Literal['auto', 'largest'] | Size"


SizeOrAuto: TypeAlias = "Literal['auto'] | Size"


#: Sizes of flows: a published distribution, a file, one size, or points of size and cumulative
#: percent.
Sizes: TypeAlias = "Literal['websearch', 'fb-hadoop', 'fb-hadoop-fine', 'webserver', 'webserver-r', 'cachefollower', 'alistorage', 'solar', 'googlerpc', 'datamining', 'datamining-b', 'enterprise'] | SizesFile | FixedSize | Sequence[tuple[Size, float]]"


Sizing: TypeAlias = "Literal['auto'] | Size"


#: Distribution of the times between the bursts of a sender.
#: - 'fixed': Constant.
#: - 'exponential': Exponential, drawn by the seed; bursts may overlap.
Spacing: TypeAlias = "Literal['fixed', 'exponential']"


#: Place of flow starts among the events of their instant.
#: - 'first': Before the others, as if scheduled before the run.
#: - 'last': After the others, as if scheduled at the instant itself.
StartsKey: TypeAlias = "Literal['first', 'last']"


#: Condition that ends a run.
#: - 'measured': Completion of the last measured flow, or the limit.
#: - 'acknowledged': The last acknowledgement of the last measured flow, or the limit.
#: - 'limit': The limit.
Stop: TypeAlias = "Literal['measured', 'acknowledged', 'limit']"


StringList: TypeAlias = "str | Sequence[str]"


#: Device that makes the pauses which cross the link.
#: - 'relay': The switch beyond a cable; a relay at each end of the link copies its pauses. Source:
#:   SWING, section 5.2.
#: - 'switch': The switch at the end of the link, which acts as relay and switch in one. Source:
#:   SWING, section 7.
SwingForm: TypeAlias = "Literal['relay', 'switch']"


SwitchoverList: TypeAlias = "Switchover | Sequence[Switchover]"


#: The measured quantity.
#: - 'write-bw': Bandwidth: messages are posted in advance, and another one each time that one
#:   completes at its sender.
#: - 'read-bw': Bandwidth of reads: the client requests messages of the server, a bounded number at
#:   once, and each response that is complete lets it request another one.
#: - 'write-lat': Latency: a message to the server and one back, in turns; half a round trip is a
#:   latency.
Test: TypeAlias = "Literal['write-bw', 'read-bw', 'write-lat']"


#: Which flows count their CNPs together, and are slowed down together.
#: - 'flow': Each flow separately. Source: the last version of the authors' simulator.
#: - 'hosts': All flows from one host to another, later ones included. Source: the version that is
#:   kept beside figures of the ablation.
ThemisTrpBy: TypeAlias = "Literal['flow', 'hosts']"


#: Order of events at one instant.
#: - 'hashed': By kind, then by a keyed hash of the port and the packet's sequence number.
#: - 'scheduling-order': The order in which they were scheduled (one thread only).
#: - 'htsim': As `scheduling-order`, as htsim schedules events: of the packets on a link the first
#:   has an event, what arrives at a switch passes behind all else of its instant, and a packet is
#:   on the link when its last bit has left the NIC. Switches have no pipelines.
TiesKey: TypeAlias = "Literal['hashed', 'scheduling-order', 'htsim']"


TimeOfPath: TypeAlias = "Literal['auto', 'largest'] | Time"


TimeOrAuto: TypeAlias = "Literal['auto'] | Time"


TimeOrBlank: TypeAlias = "Literal['', '0'] | Time"


#: A form of the algorithm, and the values that it was published with.
#: - 'paper': The paper's algorithm, with an update per segment. Source: Mittal et al., SIGCOMM
#:   2015, section 4.
#: - 'patched': The same with one fixed point. Source: Zhu et al., CONEXT 2016, section 4.
#: - 'hpcc': One update per round trip. Source: HPCC's simulator, mode 7, and `timely` of its
#:   `run.py`.
TimelyPreset: TypeAlias = "Literal['paper', 'patched', 'hpcc']"


Timeout: TypeAlias = "Literal['off'] | Time"


TimeoutOfPath: TypeAlias = "Literal['auto', 'largest'] | Timeout"


#: The network.
Topology: TypeAlias = "Explicit | SingleSwitch | Chain | Dumbbell | LeafSpine | FatTree | RailOptimised | TwoDc | MultiDc | HpccTopology | TopologyPreset"


#: A format of traces.
#: - 'goal': GOAL schedules (`LogGOPSim`, ATLAHS), as text and in their binary form.
#: - 'chakra': Execution traces of Chakra (`MLCommons`, ASTRA-sim).
#: - 'simai': Workloads of `SimAI`, as AICB writes them.
#: - 'htsim': Connection matrices of htsim (`.cm`).
TraceFormat: TypeAlias = "Literal['goal', 'chakra', 'simai', 'htsim']"


#: What makes a packet's arrival send a PAUSE.
#: - 'threshold': The shared part has reached the threshold, or headroom is in use. Source: the HPCC
#:   simulator.
#: - 'headroom': Headroom is in use. Source: the static ports of SWING's simulator.
Trigger: TypeAlias = "Literal['threshold', 'headroom']"


#: Which packet a full queue cuts or drops.
#: - 'arriving': The one that arrives. Source: UEC, section 4.1.
#: - 'either': That one or the last one that waits, each in half of all cases. Source: the
#:   Consortium's simulator.
TrimVictim: TypeAlias = "Literal['arriving', 'either']"


#: Order of turns among the queue pairs of a NIC.
#: - 'ring': Round robin, in the order in which they started.
#: - 'swing-ns3': As in SWING's simulator: round robin in the order in which the flows are listed,
#:   whatever their start times. One timer wakes the NIC, at the earliest pacing time of all queue
#:   pairs that have data left. The timer is not set while that time is in the past (as it may be
#:   for a queue pair that waits for its window), nor while a listed flow of the host has not
#:   started.
#: - 'hpcc-ns3': As in HPCC's simulator: round robin by place in a list. A finished queue pair is
#:   removed from the list when its turn is reached, and the place of the last turn is not adjusted.
#:   One timer wakes the NIC, at the earliest pacing time of all queue pairs that have data left, so
#:   a queue pair that waits for its window may delay a paced one until a packet arrives. Hosts have
#:   no scheduler then.
#: - 'conweave-ns3': As in ConWeave's simulator: as `hpcc-ns3`, but finished queue pairs keep their
#:   places, so that turns stay in order, and queue pairs whose pacing time is in the past do not
#:   keep others from waking the NIC.
TurnsKey: TypeAlias = "Literal['ring', 'swing-ns3', 'hpcc-ns3', 'conweave-ns3']"


#: How the entropy values of packets are chosen.
#: - 'fixed': One value for all packets of a flow: one path. Source: ECMP.
#: - 'oblivious': Each value in turn, in an order drawn for each round. Source: UEC, section 3.6.16.
#: - 'bitmap': Likewise, and values of marked, cut or lost packets are passed over. Source: UEC,
#:   section 3.6.16.4.
#: - 'reps': Values of unmarked packets again, from a ring of 8. Source: REPS.
#: - 'reps-legacy': Values of unmarked packets again, from a list without limit. Source: REPS, first
#:   version.
#: - 'mixed': Values of unmarked packets again, else as `bitmap`. Source: the Consortium's
#:   simulator.
UetEntropy: TypeAlias = "Literal['fixed', 'oblivious', 'bitmap', 'reps', 'reps-legacy', 'mixed']"


#: The source that is followed where the specification and its simulator differ.
#: - 'spec': The specification. Source: UEC 1.0.3.
#: - 'htsim': The Consortium's simulator. Source: `ultraethernet/uet-htsim`.
UetForm: TypeAlias = "Literal['spec', 'htsim']"


#: Order in which routing visits neighbours.
#: - 'listed': The order of the list of nodes.
#: - 'descending': From the last of that list to the first, as in the recorded runs of HPCC's
#:   simulator.
#: - 'swing-ns3': The order of the list, but with the first two aggregation switches exchanged, as
#:   in the memory of the published runs.
Visit: TypeAlias = "Literal['listed', 'descending', 'swing-ns3']"


Weights: TypeAlias = "Mapping[str, int]"


#: Condition on which a window lets a packet be sent.
#: - 'whole': The packet and the bytes in flight fit into the window.
#: - 'overshoot': The bytes in flight are less than the window: the packet may exceed it.
WindowKey: TypeAlias = "Literal['whole', 'overshoot']"


Xoff: TypeAlias = "Literal['auto'] | Size | XoffParts"
