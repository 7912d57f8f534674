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

from floodway.builder import Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


__all__ = [
    "Accounting",
    "AcksKey",
    "Action",
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
    "CaslWaiting",
    "Cbfc",
    "Chain",
    "Class",
    "Cnp",
    "CongestionPointParams",
    "CongestionPointParamsList",
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
    "Hpcc2",
    "HpccPreset",
    "Incast",
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
    "ListFormat",
    "Listed",
    "ListedFlow",
    "ListedLink",
    "ListedLong",
    "LongLink",
    "LongLinks",
    "LongLived",
    "LongTable",
    "Lossy",
    "MarkAt",
    "MeasureWindow",
    "Mercury",
    "MercuryFlows",
    "MercuryWindow",
    "MicroBursts",
    "Mode",
    "MultiDc",
    "NicOrRate",
    "NoNotification",
    "NoReliability",
    "NotificationParams",
    "OnDeadlock",
    "Override",
    "Pacc",
    "PacingKey",
    "Pause",
    "PauseList",
    "PauseMode",
    "Perftest",
    "Period",
    "PeriodList",
    "Permutation",
    "Pfc",
    "Poisson",
    "PowerTcp",
    "PowerTcpForm",
    "PresetName",
    "Profile",
    "ProxyCnp",
    "Qp",
    "Quanta",
    "Rate",
    "RateOrBlank",
    "RateTimersKey",
    "Rcm",
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
    "SchedulerParams",
    "Selector",
    "SemanticsKeys",
    "ShareKeys",
    "SharedBuffer",
    "SingleSwitch",
    "SiteKeys",
    "Sites",
    "Size",
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
    "Trigger",
    "TurnsKey",
    "TwoDc",
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
    """Points in which other simulators differ.

    Attributes
    ----------
    release
        When a packet's bytes leave the ingress account. Default: `end`.
    ties
        What orders events of one instant. Default: `hashed`.
    starts
        When flows start among the events of their instant, where ties go by scheduling order.
        Default: `first`.
    rounding
        How a serialisation time is rounded. Default: `picosecond`.
    hash_seeds
        Seeds of the hashes `swing-ns3` and `hpcc-ns3`, one for each switch. Default: `none`.
    visit
        The order in which routing visits neighbours, which orders equal-cost ports. Default:
        `listed`.
    repacing
        What a new rate does to the packet that waits for its pacing time. Default: `moved`.
    rate_timers
        What timers of a rate control make a NIC do, besides changing a rate. Default: `look`.
    acks
        Where replies (ACK, NAK) queue. Default: `control`.
    link_control
        Where link control frames (PAUSE, credits) queue. Default: `first`.
    turns
        Whose turn it is among the queue pairs of a NIC. Default: `ring`.
    window
        When a window lets a packet go. Default: `whole`.
    base_rtt
        What a base round-trip time counts. Default: `exact`.
    pacing
        Whether rates hold packets back. Default: `on`.
    draws
        Where congestion points draw from. Default: `per-node`.
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
    """Parameters of a network that is listed.

    Attributes
    ----------
    hosts
        Hosts: names, ranges of names, or `{ name, tags }`. Default: none.
    switches
        Switches: names, ranges of names, or `{ name, tags }`. Default: none.
    rate
        Rate of links that say none. No default.
    delay
        Delay of links that say none. Not together with `length`.
    length
        Length of links that say none, at 5 us/km. Not together with `delay`.
    links
        Links. The ports of a node are in their order. Default: none.
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
    """A link, or several alike.

    Attributes
    ----------
    between
        The nodes at its ends; a range of names stands for each of its nodes. No default.
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
        How many, side by side, 1 at least. Default: 1.
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
        How many hosts, 1 at least. No default.
    rate
        Rate of each link. No default.
    delay
        Delay of each link. Not together with `length`; one of the two must be given.
    length
        Length of each link, at 5 us/km. Not together with `delay`; one of the two must be
        given.
    links_per_host
        Links between each host and the switch, side by side, 1 at least. Default: 1.
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
        How many switches, 1 at least. No default.
    hosts
        Hosts at each switch: a number, or a list with one for each. Default: 1.
    rate
        Rate of links that say none. No default.
    delay
        Delay of links that say none. Not together with `length`.
    length
        Length of links that say none, at 5 us/km. Not together with `delay`.
    host
        Links between hosts and switches. Default: rate and delay of the whole.
    trunk
        Links between switches. Default: rate and delay of the whole.
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
    """Rate and delay of links; what is left out comes from the level above.

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
        Hosts at s1, 1 at least. No default.
    right
        Hosts at s2, 1 at least. No default.
    rate
        Rate of links that say none. No default.
    delay
        Delay of links that say none. Not together with `length`.
    length
        Length of links that say none, at 5 us/km. Not together with `delay`.
    bottleneck
        The link between the switches. Default: rate and delay of the whole.
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
        How many spines, 1 at least. No default.
    leaves
        How many leaves, 1 at least. No default.
    hosts
        Hosts linked to each leaf, 1 at least. No default.
    rate
        Rate of links whose tier says none. No default.
    delay
        Delay of links whose tier says none. Not together with `length`.
    length
        Length of links whose tier says none, at 5 us/km. Not together with `delay`.
    host_leaf
        Links between hosts and leaves. Default: rate and delay of the whole.
    leaf_spine
        Links between leaves and spines. Default: rate and delay of the whole.
    parallel
        Links between each leaf and each spine, side by side, 1 at least. Default: 1.
    homes
        Leaves to which each host is linked: so many leaves that follow one another share their
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
        How many pods, 1 at least. Default: k.
    tors_per_pod
        `ToR` of each pod, 1 at least. Default: k/2.
    aggs_per_pod
        Aggregation switches of each pod, 1 at least. Default: k/2.
    cores_per_agg
        Cores above each aggregation switch, 1 at least: there are `aggs-per-pod` times as many
        cores. Default: k/2.
    hosts_per_tor
        Hosts linked to each `ToR`, 1 at least. Default: k/2.
    homes
        `ToR` of its pod to which each host is linked: so many `ToR` that follow one another
        share their hosts. It must divide `tors-per-pod`. Default: 1.
    rate
        Rate of links whose tier says none. No default.
    delay
        Delay of links whose tier says none. Not together with `length`.
    length
        Length of links whose tier says none, at 5 us/km. Not together with `delay`.
    host_tor
        Links between hosts and `ToR`. Default: rate and delay of the whole.
    tor_agg
        Links between `ToR` and aggregation. Default: rate and delay of the whole.
    agg_core
        Links between aggregation and cores. Default: rate and delay of the whole.
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
        Rate of links inside datacenters that say none. No default.
    delay
        Delay of links inside datacenters that say none. Not together with `length`.
    length
        Length of links inside datacenters that say none, at 5 us/km. Not together with `delay`.
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
        How many, side by side, 1 at least. Default: 1.
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
        The sites: how many, from 2 to 1024, or a list of tables. No default.
    long_links
        Links between sites, all tagged `long-haul`, and `long-a-b` if they join the sites a and
        b. No default.
    fabric
        The fabric of sites that have none of their own. No default.
    rate
        Rate of links inside sites that say none. No default.
    delay
        Delay of links inside sites that say none. Not together with `length`.
    length
        Length of links inside sites that say none, at 5 us/km. Not together with `delay`.
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
        Rate of its links that say none. Default: that of `multi-dc`.
    delay
        Delay of its links that say none. Not together with `length`. Default: that of `multi-
        dc`.
    length
        Length of its links that say none, at 5 us/km. Not together with `delay`. Default: that
        of `multi-dc`.
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
    """A long link, or several alike.

    Attributes
    ----------
    between
        The names of the two sites.
    rate
        Rate of each. No default.
    delay
        Delay. Not together with `length`; one of the two must be given.
    length
        Length, at 5 us/km. Not together with `delay`; one of the two must be given.
    count
        How many, side by side, 1 at least. Default: 1.
    tags
        Tags beside `long-haul` and that of the pair of sites. Default: none.
    """

    between: tuple[str, str]
    rate: Rate | None = None
    delay: Time | None = None
    length: Length | None = None
    count: int | None = None
    tags: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True)
class LongTable(Table):
    """Which sites are joined, by exactly one of `lengths`, `delays`, `ring` and `full-mesh`, and by what.

    A matrix has a row and a column for each site, in their order; a long link is the same both ways, so that one half may be left blank (`""`, or 0), and where both are given they agree.

    Attributes
    ----------
    lengths
        Lengths of long links, a matrix; blank where there is none. Default: none.
    delays
        Delays of long links, a matrix; blank where there is none. Default: none.
    ring
        Lengths or delays around a ring: from each site to the next one, from the last to the
        first (of two sites there is one link); one value stands for all. Default: none.
    full_mesh
        Length or delay between any two sites. Default: none.
    rate
        Rate of long links that have none in `rates`. No default.
    rates
        Rates of long links, a matrix; blank where `rate` holds. Default: none.
    count
        How many side by side, where `counts` does not say. Default: 1.
    counts
        How many side by side, a matrix; 0 where there is no long link. Default: `count` of
        each.
    tags
        Tags beside `long-haul` and that of the pair of sites. Default: none.
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
class Hpcc(Table):
    """Parameters of a network in the HPCC simulator's topology file.

    Attributes
    ----------
    file
        The file, from the scenario's folder; `${NAME}` stands for an environment variable. No
        default.
    error_rate
        Probability from 0 to 1 that a frame of any kind is lost on a link, each way, where the
        file says 0 of that link: the simulator's key `ERROR_RATE_PER_LINK`. Default: 0.
    datacenters
        How many hosts each datacenter has, in the order of their ids: `[16, 16]`. They have the
        tags `dc-a`, `dc-b` and so on, by which results tell flows within a datacenter from
        those between two. Default: one datacenter, without a tag.
    """

    _tag: ClassVar[str | None] = "hpcc"
    file: str
    error_rate: float | None = None
    datacenters: Sequence[int] | None = None


@dataclass(frozen=True, kw_only=True)
class Defaults(Table):
    """What holds wherever no override says otherwise.

    Attributes
    ----------
    flow_control
        Link flow control of the classes of data. Default: `pfc`.
    faults
        What goes wrong on links, or at nodes. Default: nothing.
    congestion_point
        Detection of congestion at egress ports. Default: none.
    buffer
        Admission to switches' buffers. Default: `static`.
    routing
        Routing among equal-cost ports. Default: `ecmp`.
    scheduler
        Scheduling of egress ports. Default: `strict`.
    notification
        At receivers: when a CNP is sent. Default: as the rate control asks for.
    rate_control
        At senders: the stack of rate and window controls, the lowest first. Default: `line-
        rate`.
    reliability
        Recovery from losses. Default: `go-back-n`.
    qp
        Which flows share a queue pair. Default: `per-flow`.
    class_
        Class of flows. Default: 3.
    pipeline
        From a packet's arrival at a switch to its place in the egress queue: of data, ACKs,
        NAKs and CNPs alike. Default: 0.
    """

    flow_control: FlowControl | None = None
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
    pipeline: Time | None = None


@dataclass(frozen=True, kw_only=True)
class Lossy(Table):
    """Nothing to choose."""

    _tag: ClassVar[str | None] = "lossy"


@dataclass(frozen=True, kw_only=True)
class Pfc(Table):
    """Parameters of priority-based flow control.

    Attributes
    ----------
    xoff
        XOFF, the bytes of one (ingress port, class) below headroom at which it pauses its
        upstream: a size, `{ fixed, alpha }` with one part or both, or `"auto"` = what the
        port's static buffer leaves beside headroom and MTU - 1. Default: `"auto"` with a buffer
        of the port's own whose size is given, else 320 KB. Source: IEEE 802.1Qbb leaves it
        open; Mercury's small scale has 320 KB, and a port that is sized by hand is filled
        (floodway's choice).
    resume_offset
        XOFF - XON: resume this far below the threshold, in bytes from 0 up. Default: 2 MTU.
        Source: IEEE 802.1Qbb leaves it open; floodway's choice, as Mercury's 2 KB and HPCC's 3
        KiB: at 0, as SWING and Bifrost have it, each packet at the crossing sends a PAUSE and a
        RESUME.
    headroom
        H, room for what arrives after the decision to pause: a size; `"auto"` for the formula,
        with a shared pool one MTU more; or `{ delays }`. Source: what IEEE 802.1Qbb lets
        arrive, term by term (see Sizing).
    pause
        How long a pause lasts. Default: as the run's wire format says, `"timer"` with
        `ethernet` and `"on-off"` with `hpcc-ns3` and `swing-ns3`. Source: IEEE 802.1Qbb
        (`timer`); the HPCC and SWING simulators (`on-off`).
    quanta
        Pause time that each PAUSE names, in 512 bit times, from 1 to 65535 (`timer` mode). It
        must be long enough for its refresh to arrive. Source: IEEE 802.1Qbb, the most that the
        field of 16 bits holds.
    pause_time
        How long each PAUSE lasts, in place of `quanta` (`timer` mode), above 0 and up to the
        time of 65535 quanta; the frame names it in whole quanta, rounded up. Default: the time
        of `quanta`. Source: ConWeave's simulator, `PAUSE_TIME`, which has 5 us.
    renewal
        What renews a pause that has to last (`timer` mode). Source: IEEE 802.1Qbb leaves it
        open; floodway's choice: what renews it in time.
    refresh
        A PAUSE is renewed when this fraction of its time has gone (`timer` mode, `renewal =
        "timer"`), between 0 and 1. Source: IEEE 802.1Qbb leaves it open; floodway's choice:
        half is usual.
    react
        The upstream stops this long after a PAUSE has arrived: a time from 0 up, or
        `"ieee-802.3"` for what that allows at the link's rate (10G 67 quanta, 25G 80, 40G 118,
        50G 147, 100G 394, 200G 453, 400G and 800G 905). Headroom grows with it. Source:
        floodway's choice: an ideal MAC. Real ones: IEEE 802.3, 31B.3.7, 2.02 us at 100G and
        1.16 us at 400G.
    trigger
        What makes a packet's arrival send a PAUSE. Source: the HPCC simulator's `switch-
        mmu.cc`, which asks for either condition.
    watchdog
        Ends a pause that lasts too long. Default: off. Source: makers of switches have one;
        IEEE 802.1Qbb knows none.
    """

    _tag: ClassVar[str | None] = "pfc"
    xoff: Xoff | None = None
    resume_offset: Size | None = None
    headroom: Headroom | None = None
    pause: PauseMode | None = None
    quanta: Quanta | None = None
    pause_time: Time | None = None
    renewal: Renewal | None = None
    refresh: float | None = None
    react: React | None = None
    trigger: Trigger | None = None
    watchdog: Watchdog | None = None


@dataclass(frozen=True, kw_only=True)
class XoffParts(Table):
    """A threshold of parts, either of which may be left out: XOFF = `fixed` + `alpha` · free bytes of the
    pool.

    Attributes
    ----------
    fixed
        The part that does not depend on the pool, in bytes. Default: 0. Source: IEEE 802.1Qbb
        leaves it open; SWING's static part is 288 KB.
    alpha
        Share of the pool's free bytes, from 0 up. Default: 0. Source: switch chips (powers of
        two from 1/128 to 8); HPCC's simulator has 1/8 at the NICs' rate, SWING 1/4.
    per
        The rate up to which `alpha` holds, or `"nic"` for that of the network's first host:
        above it `alpha` doubles with each doubling of the link's rate, a part of one included,
        up to 1. Default: `alpha` holds at every rate. Source: HPCC's simulator, whose shift per
        port is 3 at the NICs' rate and one less per doubling.
    """

    fixed: Size | None = None
    alpha: float | None = None
    per: NicOrRate | None = None


@dataclass(frozen=True, kw_only=True)
class HeadroomByDelays(Table):
    """Headroom by the link's delay: so many times rate · delay, cut to whole bytes before it is
    multiplied.

    Attributes
    ----------
    delays
        How many times, from 0 up. Default: none, it must be given. Source: HPCC's simulator has
        3.
    """

    delays: int


@dataclass(frozen=True, kw_only=True)
class Watchdog(Table):
    """Ends a pause that lasts too long, as a broken neighbour can cause; one per egress port and class.

    It counts from the start of an unbroken pause (a refresh does not break it) and then gives the pause up: the queue may send, and PAUSE frames are ignored. That ends with a RESUME, or when no PAUSE has arrived for `restore`. In `on-off` mode nothing renews a pause, which lasts until a RESUME; so there only a RESUME ends it.

    Attributes
    ----------
    after
        Longest pause that is borne, above 0. Source: makers of switches choose 100 to 200 ms.
    action
        What becomes of the queue then. Source: makers of switches offer both; floodway's choice
        is the one that frees the buffer.
    restore
        Time without a PAUSE, above 0, after which pauses are obeyed again. Default: as `after`.
        Source: floodway's choice: as patient with the neighbour's recovery as with its fault.
    """

    after: Time | None = None
    action: Action | None = None
    restore: Time | None = None


@dataclass(frozen=True, kw_only=True)
class Bifrost(Table):
    """Parameters of Bifrost.

    Attributes
    ----------
    slot
        T, the time between two grants: more than 1 us, less than the one-way delay, and a pause
        that one frame can name (83 us at 400G). Source: Bifrost, section V.
    level
        H, where bytes held and on their way are kept: a size of Delta + 2·Rs·T at least, or
        `"auto"` = Delta + 3·Rs·T, or what the port's static buffer has room for beside (k + N +
        1) MTU, but never below that least. Source: Bifrost's testbed has Delta + 3·Rs·T;
        Theorem 1 needs Delta + 2·Rs·T.
    f_mode
        How virtual incoming bytes are counted. Source: floodway's choice: the paper's own count
        does not see what leaks past a pause.
    leak_period
        k: leaked bytes are looked for each so many slots, 1 at least, for which the buffer sets
        aside as many MTU. Source: Bifrost, section VI.
    half_mtu
        Lengthen each pause by the time of half an MTU, the mean of what the upstream still
        sends of the frame that it has begun. Source: floodway's choice: the paper does not, and
        the ledger pays such bytes back.
    react
        The upstream stops this long after a pause has arrived: a time from 0 up to less than a
        slot, or `"ieee-802.3"` for what that allows at the link's rate. Delta grows with it.
        Source: floodway's choice: an ideal MAC; real ones as `pfc` says.
    pause
        How long a pause lasts: `"timer"` and nothing else. Default: `"timer"`, whatever the
        run's wire format says. Source: Bifrost, Algorithm 1: its frames name a time, and
        nothing else ends a pause.
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
        P, the time between two credit messages, no less than a message takes on the wire.
        Default: a tenth of the link's one-way delay, but 1 us at least and 10 us at most.
        Source: floodway's choice: Bifrost's slot of 10 us on long links, for a fair comparison;
        1 us inside a datacenter.
    on_change
        Also send a message as soon as the limit has grown by this much since the last one, 1
        byte or more. Default: off, the period alone. Source: InfiniBand, 7.9, lets a receiver
        send one whenever it is of use.
    """

    _tag: ClassVar[str | None] = "cbfc"
    mode: Mode | None = None
    period: Time | None = None
    on_change: Size | None = None


@dataclass(frozen=True, kw_only=True)
class Swing(Table):
    """Parameters of SWING.

    Attributes
    ----------
    form
        Where the pauses are made that cross the link. Source: SWING, section 5.2: a relay
        beside the switch.
    cable
        One-way delay of the cable between relay and switch, above 0 (`form = "relay"`). Source:
        SWING's simulator, `link_relay.csv`.
    margin
        Room beyond one bandwidth-delay product, as a share of it, from 0 up. Source: SWING,
        section 6.1: 41 MB for 40 MB.
    xoff
        Bytes handed on at which the switch pauses (`form = "switch"`), at least one MTU.
        Source: SWING, section 6.1: the switch's port to the relay.
    resume_offset
        Resume this far below `xoff`, in bytes up to it (`form = "switch"`). Default: 2 MTU.
        Source: floodway's choice, as PFC's; SWING has 0, a pause and a resume for each packet.
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
class Faults(Table):
    """What goes wrong on a link, or at a node.

    Attributes
    ----------
    error_rate
        Probability that a frame is damaged: a number for all kinds, or `{ data, control, link-
        control }`. Default: 0.
    jitter
        Up to this much is added to each frame's propagation; order is kept. Default: 0.
    down
        When the link is down. Default: never.
    detection
        How long until the ends of the link know that it is down, or up again: until then they
        send into a dead link, and what they send is lost. Default: 0.
    convergence
        How long from then until routes are computed anew, everywhere at once: until then
        packets are sent to the port of the dead link, and are lost there. Default: 0.
    switchover
        Other delays of the link from given instants on, as where protection switches to another
        fibre; order is kept. Default: none.
    pause
        A port that pauses what feeds it, whatever its buffer holds. Default: none.
    """

    error_rate: ErrorRate | None = None
    jitter: Time | None = None
    down: PeriodList | None = None
    detection: Time | None = None
    convergence: Time | None = None
    switchover: SwitchoverList | None = None
    pause: PauseList | None = None


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
    """From one instant to another.

    Attributes
    ----------
    from_
        The first instant.
    to
        The first instant after it.
    """

    from_: Time
    to: Time


@dataclass(frozen=True, kw_only=True)
class Switchover(Table):
    """From an instant on a link has another delay.

    Attributes
    ----------
    at
        What is sent from then on takes that long.
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
    """A pause that a broken node sends.

    Attributes
    ----------
    from_
        First pause.
    class_
        The class that stops. Default: 3.
    to
        Resume. Default: never.
    """

    from_: Time
    class_: Class | None = None
    to: Time | None = None


@dataclass(frozen=True, kw_only=True)
class Red(Table):
    """Parameters of RED: a row of published values, and what differs from it.

    Attributes
    ----------
    preset
        The row of published values; what is given beside it wins. Source: floodway's choice:
        HPCC's is the row that grows with the port's rate.
    kmin
        Longest queue that marks nothing, in bytes. Default: the preset's. Source: the preset's.
    kmax
        Beyond this queue every packet is marked, in bytes; at least `kmin`. Default: the
        preset's. Source: the preset's.
    pmax
        Probability of a mark at `kmax`, from 0 to 1. Default: the preset's. Source: the
        preset's.
    per
        The rate, above 0, that the `kmin` and `kmax` given beside it are for: they grow with
        the port's rate. Default: they hold for every port as they are. Source: HPCC's
        simulations, whose thresholds are per 25G.
    offset
        Bytes of a queue that do not count: q is what lies beyond them, from 0 up. Source:
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
        Longest queue that tells nobody, in bytes. Source: SWING's configurations of ECN.
    kmax
        Beyond this queue every packet is chosen, in bytes; at least `kmin`. Source: SWING's
        configurations of ECN.
    pmax
        Probability at `kmax`, from 0 to 1. Source: SWING's configurations of ECN.
    interval
        N: the least time between two CNPs of a flow from here, from 0 up. Source: DCQCN's
        paper, section 3.1.
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
        T: after so long an undetermined queue looks again; above 0. Source: the paper,
        parameter settings.
    tolerance
        By so many full packets what comes in during a pause may exceed what the link could
        carry, from 0 up. Source: floodway's choice: one for each of the two inputs of the
        paper's motivation; the paper has 0.
    base_rtt
        The round-trip time that windows cover: `"auto"` for that of each flow's own path,
        `"largest"` for the largest of all pairs of hosts, or a time for all; above 0. A time
        that is too short for a long path starves it. Source: floodway's choice; the paper has
        one fixed value, the largest of its topology, 12 us.
    cnp_interval
        The least time between two CNPs of a flow from here, from 0 up; 0 tells of every packet.
        Source: DCQCN's paper, section 3.1.
    flows
        What is one flow. Source: the paper: the pair of addresses.
    most_flows
        Most flows that the table of a queue holds, 1 at least. Source: floodway's choice; the
        paper says that the table is small.
    """

    _tag: ClassVar[str | None] = "mercury"
    threshold: Size | None = None
    period: Time | None = None
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
        thresholds; the simulator's `configburst.txt` has the row `dcqcn-paper`.
    max_ton
        max(Ton): a port that has been on for no longer since its last RESUME is undetermined. A
        time, from 0 up, or `"auto"`: by the formula, for each port. Source: floodway's choice:
        the formula, which gives the 97 us of the simulator's `configburst.txt` there.
    eps
        ε: the downstream is assumed to drain no faster than the port's rate over 1 + ε; above
        0; for `max-ton = "auto"` alone, which gives a second at most. Default: 0.1. Source:
        floodway's choice: it gives the 97 us of the simulator's configuration.
    gap
        Bytes between the downstream's thresholds of PAUSE and RESUME (Xoff - Xon), from 0 up;
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
        Tp: from one settling of the table to the next, from 4 us to 1 s. Source: Mercury's
        paper, which names it as PACC's default.
    a
        a: gain of the distance of the queue from `qref`, from 0 up. Source: reconstruction;
        ratio of the gains as in Taheri et al., CoNEXT 2020.
    b
        b: gain of the growth of the queue, from 0 up. Source: reconstruction; ratio of the
        gains as in Taheri et al., CoNEXT 2020.
    qref
        Qref: the queue that the controller aims at, above 0; packets that join a longer one are
        congested. Default: 100 KB per 25G of the port's rate. Source: reconstruction: the Kmin
        of HPCC's ECN.
    m
        m: congested packets that one CNP stands for at most, 1 at least. Source:
        reconstruction.
    nmax
        Nmax: most CNPs that a queue allots in a period, before they are rounded up flow by
        flow; 1 at least. Source: reconstruction.
    theta
        theta: the share of a period's bytes, from 0 to 1, below which a flow gets no CNP;
        `"auto"` for 1/(2n) with n flows. Source: reconstruction.
    multi
        Does a flow get each of its CNPs, 4 us apart, in place of one that stands for all?
        Source: floodway's choice: one; DCQCN's sender would cut again at each.
    most_flows
        Most flows of a period that the table of a queue holds, 1 at least. Source: floodway's
        choice.
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
        Qeq: the length that queues are kept at, in bytes above 0. Source: floodway's choice: 20
        % of the paper's queues of 100 KB, as QCN has of its buffer.
    weight
        wq: what the growth of a queue counts beside its length, from 0 to 64. Source: IEEE
        802.1Qau; the paper gives none.
    remote_weight
        w: what the degree of the neighbour downstream counts in the one that is sent upstream,
        from 0 to 1. Source: floodway's choice: both alike; the paper gives none.
    cam_depth
        M: entries of the memory of a port and class, from 1 to 255. Source: floodway's choice;
        the paper gives none. `floodway reproduce rcm` sweeps it.
    cam_hits
        h: a flow is to blame that holds so many entries, from 1 to M. Default: a quarter of M,
        1 at least. Source: floodway's choice: of the paper's five flows the burst has half of
        the port and is found, and the others have an eighth each and are not, which by the
        letter they were (h = 1); the paper speaks of relatively high rates.
    cam_interval
        Bytes that leave from one sample of the memory to the next, above 0; it varies by 15 %
        either way. Source: floodway's choice: M of them are some 2 us at 100G, much less than
        the paper's burst of 20 us.
    severe
        The degree from which on others should take another way, from 1 to 63. Source:
        floodway's choice: half of the largest; the paper does not say.
    expire
        So long a notification holds, and a flow of which nothing is seen is remembered; above
        0. Source: floodway's choice.
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


@dataclass(frozen=True, kw_only=True)
class Casl(Table):
    """Parameters of CASL.

    Attributes
    ----------
    kmin
        Kmin: longest Ql + Qy that marks nothing, in bytes; Q1 is learnt between it and `kmax`.
        Source: floodway's choice: half of what HPCC has at 50G, so that all of the ramp lies
        within the class's queue.
    kmax
        Kmax: beyond this Ql + Qy every packet is marked, in bytes above 0; at least `kmin`.
        Source: floodway's choice, as `kmin`.
    pmax
        Pmax: probability of a mark at `kmax`, from 0 to 1. Source: HPCC's simulations,
        `run.py`.
    gain
        a: what a packet counts in its flow's average of marks, above 0, up to 1. Source:
        floodway's choice; the paper gives none.
    label_above
        `m_hi`: marks above which a flow is congested, from 0 to 1. Source: floodway's choice:
        the probability of a mark at 250 KB, where Q1 starts.
    release_below
        `m_lo`: marks below which it is so no longer, from 0 to `label-above`. Source:
        floodway's choice: a fifth of `m_hi`.
    forget_after
        A flow is forgotten so long after its last packet, above 0. Source: floodway's choice;
        the paper gives none.
    threshold
        Q1: "auto" to learn it from (Kmin + Kmax) / 2 on, or the bytes above 0 at which it
        stays. Source: section 3.2, which learns it online.
    learn_every
        Period of learning, above 0. Source: floodway's choice; the paper gives none.
    misjudged_within
        A label that is taken back within this time was wrong; above 0. Source: floodway's
        choice; the paper gives none.
    misjudged_share
        More wrong labels than this share of a period's raise Q1, from 0 to 1. Source:
        floodway's choice; the paper gives none.
    raise_
        By this factor, from 1 to 10. Source: floodway's choice; the paper gives none.
    lower
        Where the switch has sent a PAUSE, Q1 is lowered by this factor, above 0, up to 1.
        Source: floodway's choice; the paper gives none.
    capacity
        Ymax: capacity of the lossy queue, in bytes; at least a frame. Default: 100 us of the
        port's rate, 1.25 MB at 100G. Source: section 4: queues of 200 us, of which the lossy
        one has half by floodway's choice.
    adapt_every
        Period at which d is adapted, above 0. Source: floodway's choice; the paper gives none.
    drop_gain
        What d gains in a period by a lossy queue of twice Q1, from 0 to 1. Source: floodway's
        choice; the paper gives none.
    drop_most
        The largest d, from 0 to 1; with 0 only a full queue drops. Source: floodway's choice;
        the paper gives none.
    floor
        Share of the port that the lossy queue has while both have something to send, from 0 to
        0.5. Source: floodway's choice: no flow stands still; with 0 the lossless queue goes
        strictly first, as in section 3.2.
    waiting
        What becomes of the packets that a flow has in the lossless queue when it is labelled.
        Source: floodway's choice; the paper does not say.
    inherit
        Whether a flow that comes from a lossy queue is congested here, too. Source: floodway's
        choice: labels hold at one port, where section 3.2 has them.
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
    learn_every: Time | None = None
    misjudged_within: Time | None = None
    misjudged_share: float | None = None
    raise_: float | None = None
    lower: float | None = None
    capacity: Size | None = None
    adapt_every: Time | None = None
    drop_gain: float | None = None
    drop_most: float | None = None
    floor: float | None = None
    waiting: CaslWaiting | None = None
    inherit: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Bfc(Table):
    """Parameters of backpressure flow control. Defaults are those of the paper's evaluation.

    Attributes
    ----------
    queues
        Queues of flows, of each class at a port, from 1 to 63; one for first packets comes on
        top. Source: Goyal et al., evaluation: 32 queues a port.
    flows
        VFIDs: so many flows a port can tell apart, from 1 to 65536. Source: Goyal et al.: 16K.
    filter
        Size of the Bloom filter, from 1 to 128 bytes. Source: Goyal et al.: 128 bytes.
    hashes
        Bits of the filter for each flow, from 1 to 8. Source: Goyal et al.: 4 hash functions.
    hop_rtt
        HRTT, above 0. Default: both delays of the link, its largest frame, and the frame of a
        filter. Source: Goyal et al.: the round-trip time of the hop.
    interval
        τ, from one filter to the next, longer than a filter's frame takes on the link. Default:
        half of `hop-rtt`, or twice what that frame takes if that is longer. Source: Goyal et
        al.: τ = HRTT / 2.
    resumes
        Flows of a queue that are resumed within `hop-rtt` at most, at least 1. Source: Goyal et
        al.: two.
    first_packets
        A flow's first packet goes before the queues of flows; if not, it waits as the others
        do. Source: Goyal et al.: a high-priority queue for first packets.
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
        Credits that may leave at once after a silence, at least 1. Source: section 3.1: 2
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
        How long after a CNP of a flow has left a marked packet makes the next one, from 0 up.
        Source: the authors' simulator: 5 us.
    delay
        From the packet to its CNP, from 0 up. Source: the authors' simulator: 2 us.
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
        Whose CNPs are counted together: `flow` or `hosts`. Source: the authors' simulator: its
        last version goes by the flow.
    recovery
        How long, above 0, after the last CNP of a flow its packets are no longer held back.
        Source: the authors' simulator: 1 ms, the round trip over their long link.
    fast
        CNPs of a flow each of which adds a pass, 1 at least. Source: the authors' simulator:
        11.
    slow
        Each so many CNPs of a flow beyond the first add a pass, 1 at least. Source: the
        authors' simulator: 20.
    most
        The most passes of a packet, 1 at least. Source: the authors' simulator: 401.
    latency
        What a pass takes, above 0, while little is in the loop. Source: the authors' simulator:
        100 ns, the delay of the loop's link.
    rate
        Rate of the loop, above 0. Default: that of the port. Source: floodway's choice: the
        authors' loop, of 1.6 Tbit/s, serves four ports of 400 Gbit/s.
    kmin
        The most in the loop, in bytes, that marks no packet. Default: what the loop sends in 8
        us. Source: the authors' configuration: 1.6 MB at 1.6 Tbit/s.
    kmax
        With more than this in the loop, in bytes, each pass marks each packet; at least `kmin`.
        Default: what the loop sends in 128 us. Source: the authors' configuration: 25.6 MB at
        1.6 Tbit/s.
    pmax
        Probability of a mark in a pass at `kmax`, from 0 to 1; with 0 passes below that mark
        nothing. Source: the authors' configuration: 0.2.
    queues
        Queues of each class at the port, the first for flows that are not held back: from 2 to
        255. All ports of the run have as many. Source: floodway's choice.
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
        All that it holds, headroom included: a size above 0, or `"auto"` for what the flow
        control needs. Source: the flow control's own formula.
    crossing
        Who is charged for the packet that crosses the flow control's threshold. Source:
        floodway's choice: headroom is then what the formula says, without another MTU.
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
        The pool alone, in bytes; reserves and headroom come on top. Not together with `total`.
        Default: 10 MB, where `total` is not given. Source: SWING, section 6.1.
    total
        All memory of the switch, in bytes; reserves and headroom come out of it. Not together
        with `pool`. Default: not given; the pool is. Source: the HPCC simulator's `switch-
        mmu.cc`, which counts so.
    reserve
        R: bytes set aside for each (ingress port, class), from 0 up. Source: floodway's choice:
        nothing that is not asked for; HPCC has 4 KiB, SWING 288 KB.
    egress_alpha
        A packet is dropped when its egress queue would exceed this share, above 0, of the free
        bytes: of the pool's, if its class is lossy; of `egress-pool`, whatever its class, where
        that is given. Source: ConWeave's simulator.
    egress_pool
        What the egress queues of the switch share beside `egress-reserve` of each, in bytes: a
        second account of the same packets, which then limits lossless classes, too. Default:
        none. Source: ConWeave's simulator, where it is the memory less 8 KiB and a bit for each
        port.
    egress_reserve
        What each egress queue has for itself beside `egress-pool`, in bytes from 0 up. Source:
        floodway's choice: nothing that is not asked for; ConWeave's simulator has 1049 B.
    crossing
        Who is charged for the packet that crosses the flow control's threshold. A lossy class
        has none: there `"headroom"` drops a packet that finds the reserve full unless all of it
        would fit into the pool, not only the part above the reserve. Source: floodway's choice:
        a threshold then is what it says; `"headroom"` is that of the HPCC and SWING simulators,
        lossy classes included.
    """

    _tag: ClassVar[str | None] = "shared"
    pool: Size | None = None
    total: Size | None = None
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
        Room of each virtual output queue, in bytes: one for each input, output and class, and
        at least a frame. Source: RCM, section 4: each queue of the switch has 100 KB.
    output
        Room of each output queue, in bytes: one for each output and class, and at least a
        frame. Source: RCM, section 4.
    speed_up
        How much faster than the switch's fastest link a packet crosses, from 1 to 16. Source:
        floodway's choice, since RCM's paper does not say: with 2 every maximal matching carries
        all admissible traffic (Dai and Prabhakar, 2000).
    """

    _tag: ClassVar[str | None] = "ioq"
    voq: Size | None = None
    output: Size | None = None
    speed_up: float | None = None


@dataclass(frozen=True, kw_only=True)
class Ecmp(Table):
    """Parameters of equal-cost multipath.

    Attributes
    ----------
    hash
        How a flow is hashed. Source: floodway's choice: tiers that choose independently are the
        fair case.
    seed
        Other choices with the same run seed: any whole number of 32 bits, which enters the
        hashes `mix` and `shared`. Source: floodway's choice.
    """

    _tag: ClassVar[str | None] = "ecmp"
    hash: Hash | None = None
    seed: int | None = None


@dataclass(frozen=True, kw_only=True)
class Spray(Table):
    """Nothing to choose."""

    _tag: ClassVar[str | None] = "spray"


@dataclass(frozen=True, kw_only=True)
class Sar(Table):
    """Parameters of switch-level adaptive routing.

    Attributes
    ----------
    seed
        Other first ways with the same run seed: any whole number of 32 bits. Source: floodway's
        choice.
    most_flows
        Flows of which a switch remembers that they have moved, 1 at least. Source: floodway's
        choice; the paper does not say.
    """

    _tag: ClassVar[str | None] = "sar"
    seed: int | None = None
    most_flows: int | None = None


@dataclass(frozen=True, kw_only=True)
class Strict(Table):
    """Nothing to choose."""

    _tag: ClassVar[str | None] = "strict"


@dataclass(frozen=True, kw_only=True)
class RoundRobin(Table):
    """Nothing to choose."""

    _tag: ClassVar[str | None] = "round-robin"


@dataclass(frozen=True, kw_only=True)
class DeficitRoundRobin(Table):
    """Parameters of deficit round robin.

    Attributes
    ----------
    quantum
        Bytes a turn of a class of weight 1, above 0; times the largest weight 1 GiB at most.
        Default: one MTU. Source: Shreedhar and Varghese: a quantum of the largest packet finds
        one that fits in each turn.
    weights
        Weights by class, whole numbers from 1 up, as `{ 3 = 4, 5 = 1 }`. Default: 1 for each
        class that is not named. Source: Shreedhar and Varghese: quanta in proportion to the
        shares.
    """

    _tag: ClassVar[str | None] = "deficit-round-robin"
    quantum: Size | None = None
    weights: Weights | None = None


@dataclass(frozen=True, kw_only=True)
class NoNotification(Table):
    """Nothing to choose."""

    _tag: ClassVar[str | None] = "none"


@dataclass(frozen=True, kw_only=True)
class DcqcnNp(Table):
    """Parameters of DCQCN's notification point.

    Attributes
    ----------
    cnp_interval
        N: the least time between two CNPs of a flow; 0 answers every marked packet. Where a
        rate control asks for CNPs and no notification is chosen, its own interval holds.
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
        N: the least time between two CNPs of a flow that report the same mark; 0 answers every
        marked packet. Where a rate control asks for CNPs and no notification is chosen, its own
        interval holds. Source: the simulator's `configburst.txt`; DCQCN's paper.
    """

    _tag: ClassVar[str | None] = "tcd"
    cnp_interval: Time | None = None


@dataclass(frozen=True, kw_only=True)
class ExpresspassNp(Table):
    """Parameters of ExpressPass's receiver.

    Attributes
    ----------
    initial_rate
        alpha: a flow's first rate, as a part of the largest, above 0 and up to 1. Source:
        section 3.3: 1/2; 1/16 wastes fewer credits of short flows.
    w_init
        How far a flow goes towards the largest rate in its first periods, from `w-min` to
        `w-max`. Source: Algorithm 1: 1/2.
    w_min
        The least of it, above 0. Source: section 3.2: 0.01.
    w_max
        The most of it, up to 1. Source: Algorithm 1: 0.5.
    w_step
        What that grows by from the second period of increase on, above 0 and up to 1. Default:
        half of what is left to `w-max`. Source: Algorithm 1; the simulator of its authors has
        0.05.
    target_loss
        The share of lost credits up to which the rate grows, from 0 to below 1. Source: section
        3.2: 10 %; the simulator of its authors has 0.125, falling.
    target_falls
        Whether the target is that share for a rate of 0, and falls to 0 for the largest rate.
        Source: false is Algorithm 1; true the simulator of its authors.
    exceed
        Whether increases lead beyond the largest rate, by the target, so that credits get lost
        where there is no other flow. Source: true is Algorithm 1; false the simulator of its
        authors.
    own_credits
        Whether a rate is judged by the credits sent at it alone, which takes two round trips;
        false counts those of which data told in the last round trip, most of which were sent at
        the rate before. Source: floodway's, to tell what late feedback does; false is the
        simulator of its authors.
    measured
        Whether a decrease starts from the rate at which credits came through in the period, and
        leads to no higher rate than before; false takes the rate of sending less the share
        lost, as Algorithm 1 is written. Source: the simulator of its authors.
    jitter
        By which part of itself an interval between credits may be shorter or longer, from 0 to
        below 1. Source: the simulator of its authors, `min_jitter_` and `max_jitter_`.
    padding
        The most bytes that a credit is longer than the smallest frame. Source: section 3.1:
        credits of 84 to 92 bytes.
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
        Rate of wire bytes, above 0. Default: the NIC's rate, which is also the most. Source:
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
        Payload bytes that may be in flight: a size of at least one full packet, `"auto"` for
        the path's bandwidth-delay product, or `"largest"` for that of all pairs of hosts.
        Source: HPCC, section 5.1: one bandwidth-delay product; `"largest"` is its simulator's
        `GLOBAL_T`.
    variable
        Whether that is the window at line rate, which shrinks with the rate that the other
        layers allow. Source: HPCC, section 5.1: constant; true is its simulator's `VAR_WIN`.
    """

    _tag: ClassVar[str | None] = "static-window"
    size: SizeOfPath | None = None
    variable: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Dcqcn(Table):
    """Parameters of DCQCN: a row of published values, and what differs from it.

    Attributes
    ----------
    preset
        The row of published values, which also chooses the machine; what is given beside it
        wins. Source: floodway's choice: HPCC's is the row whose increments grow with the NIC's
        rate.
    cnp
        How the receiver tells of marks. Source: Zhu et al., SIGCOMM 2015, section 3.1: a packet
        of its own.
    cnp_interval
        Least time between two CNPs of a flow, at its receiver; with `cnp = "ack-flag"` at the
        sender, in `paper` only. Default: 50 us in `paper` (N), 4 us in the others. Source: Zhu
        et al., section 3.1; newer NICs, `min_time_between_cnps`.
    ue
        What word of undetermined congestion does (UE, where ports have `tcd`). Default:
        `"hold"`. Source: Zhang et al., SIGCOMM 2021, and the `DCQCN-TCD` simulator.
    losses_as_cnps
        Losses that replies tell of count as CNPs, at most one in this time, above 0: CASL's
        rate control. What a timer finds does not count. Default: `"off"`. Source: Zhu et al.,
        whose network loses nothing; with CASL 50 us by floodway's choice.
    window
        What limits the payload bytes in flight. Default: `"variable-bdp"` in `swing`, `"none"`
        in the others. Source: SWING's configurations; the paper and NICs have no window.
    g
        Gain of α, from 0 to 1. Default: 1/256 in `paper` and `hpcc`, 5/1024 in `mellanox`,
        0.0048828 in `swing`. Source: Zhu et al.; NICs, `dce_tcp_g` 1019.
    initial_alpha
        α at the first CNP, from 0 to 1. Default: 1. Source: Zhu et al., section 3.1; the HPCC
        simulator.
    t_alpha
        Period of α, above 0. Default: 55 us in `paper` (K), 1 us in the others. Source: Zhu et
        al.; NICs, `dce_tcp_rtt`.
    t_dec
        Period of the checks that cut the rate, above 0; not in `paper`. Default: 4 us. Source:
        NICs, `rate_reduce_monitor_period`.
    t_inc
        Time between increase steps, above 0. Default: 55 us in `paper` (T), 300 us in the
        others. Source: Zhu et al.; NICs, `rpg_time_reset`.
    byte_counter
        Wire bytes between increase steps, above 0; `paper` only. Default: 10 MB (B). Source:
        Zhu et al., and its authors' ns-3 model.
    f
        F: the stage at which fast recovery ends, from 0 up. Default: 5 in `paper`, 1 in the
        others. Source: Zhu et al.; NICs, `rpg_threshold`.
    rai
        Additive step of Rt, from 0 up. Default: 40 Mbit/s in `paper`, 5 Mbit/s in the others;
        in `hpcc` per 25G of the NIC's rate. Source: Zhu et al.; NVIDIA's page of DCQCN
        parameters; HPCC's `run.py`.
    rhai
        Hyper step of Rt, from 0 up, which `paper` multiplies by the stages beyond F. Default:
        200 Mbit/s in `paper`, 50 Mbit/s in the others; in `hpcc` per 25G of the NIC's rate.
        Source: the ns-3 model of DCQCN's authors; NVIDIA's page of DCQCN parameters; HPCC's
        `run.py`.
    rmin
        Least rate, above 0; at most the NIC's. Default: 1 Gbit/s in `hpcc`, 1 Mbit/s in the
        others. Source: HPCC's `run.py`; NVIDIA's page of DCQCN parameters, also for `paper`,
        which names none.
    check_offset
        How much later than `t-dec` after the first CNP the first check comes, from 0 up; not in
        `paper`. Default: 0. Source: the HPCC simulator has 1 ns, so that α's period ends first.
    timers
        When periods of α, checks and increase steps happen; not in `paper`. Default:
        `"asleep"`. Source: floodway's choice: nothing is done where nothing can come of it.
    means
        What becomes of an odd bit of a mean of Rc and Rt. Default: `"up"`. Source: floodway's
        choice: a sender that has recovered is at line rate.
    clamp
        Whether every cut lowers Rt to Rc, and not only one that follows an increase. Default:
        true in `paper`, false in the others. Source: Zhu et al., section 3.1; NICs, "clamp
        target rate".
    min_decrease
        Least factor of one cut, above 0, up to 1. Default: 0.5. Source: NICs, `rpg_min_dec_fac`
        50.
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
    """Parameters of TIMELY: a row of published values, and what differs from it.

    Attributes
    ----------
    preset
        The form of the algorithm, with its values; what is given beside it wins. Source:
        floodway's choice: HPCC's simulator, with which others have compared.
    ewma
        α: weight of the new difference of round-trip times, from 0 to 1. Default: 0.875.
        Source: HPCC's simulator, `TimelyAlpha`.
    beta
        β: extent of a cut, from 0 to 1. Default: 0.8; 0.008 in `patched`. Source: Mittal et
        al., section 5; Zhu et al., CONEXT 2016, section 4.
    t_low
        Round-trip time below which the rate only rises. Default: 50 us. Source: Mittal et al.,
        section 5; HPCC's simulator, `TimelyTLow`.
    t_high
        Round-trip time above which the rate only falls, at least `t-low`. Default: 500 us.
        Source: Mittal et al., section 5; HPCC's simulator, `TimelyTHigh`.
    min_rtt
        What differences are divided by to give the gradient, above 0. Default: 20 us. Source:
        Mittal et al., section 5; HPCC's simulator, `TimelyMinRtt`.
    rai
        δ: step of an increase, from 0 up. Default: 10 Mbit/s per 10G of the NIC's rate. Source:
        Mittal et al., section 5; HPCC's `run.py`.
    rhai
        N·δ: step of a hyper increase, from 0 up; not in `patched`. Default: five times `rai`.
        Source: Mittal et al., section 4; HPCC's `run.py`.
    hai_after
        Increases in a row before the first hyper increase, from 0 up; not in `patched`.
        Default: 5. Source: Mittal et al., section 4; HPCC's simulator.
    rmin
        Least rate, above 0; at most the NIC's. Default: 1 Gbit/s. Source: HPCC's `run.py`,
        `MIN_RATE`; also for `paper` and `patched`, which name none.
    segment
        Acknowledged payload bytes between updates, above 0; `paper` and `patched` only.
        Default: 16 KB. Source: Mittal et al., section 5.
    rtt_ref
        Round-trip time at which patched flows settle, above 0; `patched` only. Default:
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
class Hpcc2(Table):
    """Parameters of HPCC: a row of published values, and what differs from it.

    Attributes
    ----------
    preset
        The form of the algorithm, with its values; what is given beside it wins. Source:
        floodway's choice: the published algorithm.
    eta
        η: the utilisation aimed at, above 0, up to 1. Default: 0.95. Source: Li et al., section
        5.1; its simulator, `U_TARGET`.
    max_stage
        Additive steps between two multiplicative ones, from 0 up. Default: 5 in `paper`, 0 in
        `simulator`. Source: Li et al., section 5.1; `MI_THRESH` of HPCC's `run.py`.
    wai
        `W_AI`: bytes that each update adds to the window, from 0 up; `paper` only. Default:
        window · (1 - η) / `expected-flows`. Source: Li et al., section 3.3.
    expected_flows
        N: flows that may share a link without the steps of all filling it, from 1; `paper`
        only, where `wai` is not given. Default: 100. Source: Li et al., section 3.3; the number
        is floodway's choice, near the step of section 5.1.
    rai
        What each update adds to the rate, from 0 up; `simulator` only. Default: 10 Mbit/s per
        25G of the NIC's rate. Source: HPCC's `run.py`, `RATE_AI`.
    rmin
        Least rate, above 0; at most the NIC's. Default: 100 Mbit/s in `paper`, 1 Gbit/s in
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
        Whether every ACK sets window and rate, and not only the one that makes a full update.
        Default: true. Source: Li et al., section 3.2; HPCC's `run.py`, `FAST_REACT`.
    multi_rate
        Whether each hop has a utilisation and a reference of its own, of which the least
        counts; `simulator` only. Default: false. Source: HPCC's `run.py`, `MULTI_RATE`.
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
        What a batch without congestion adds to the rate, from 0 up. Default: 615 Mbit/s, one
        packet of 1000 bytes in 13 us. Source: HPCC's `run.py`, `DCTCP_RATE_AI`.
    rmin
        Least rate, above 0; at most the NIC's. Default: 1 Gbit/s. Source: HPCC's `run.py`,
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
        The round-trip time that the whole window covers at the NIC's rate: `"auto"` for that of
        the flow's path, `"largest"` for the largest of all pairs of hosts, or a time; above 0.
        Source: floodway's choice; the paper has one fixed value, the largest of its topology,
        12 us.
    restore_after
        Without a CNP for so long the window is whole again; only where no layer below makes
        increase steps. Above 0. Source: floodway's choice: the time between increase steps of
        NICs.
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
        After how long without a credit, above 0, the request is sent again; credits that still
        come that long after a stop are answered by another. Source: the simulator of its
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
        β: extent of a cut, from 0 to 1. Default: 0.8. Source: csg-htsim, `_beta`.
    max_mdf
        Most that one cut takes off, above 0, up to 1. Default: 0.5. Source: csg-htsim,
        `_max_mdf`.
    base_target
        Target of a path without switches, above 0. Default: the base round-trip time of the
        path. Source: Kumar et al., section 3.5; the default is floodway's choice, which holds
        for paths of any length. Their testbeds have 25 us (section 5.2).
    per_hop
        ħ: what each switch on the way adds to the target, from 0 up. Default: 1 us. Source:
        Kumar et al., section 3.5; the value is floodway's choice: 12.5 KB of queue at 100
        Gbit/s.
    fs_range
        Most that a small window adds to the target, from 0 up; 0 leaves flow scaling out.
        Default: five times `base-target`. Source: csg-htsim, `_fs_range`.
    fs_min_cwnd
        Window, in packets, at which that is reached, above 0. Default: 0.1. Source: csg-htsim,
        `_fs_min_cwnd`.
    fs_max_cwnd
        Window, in packets, from which nothing is added, above `fs-min-cwnd`. Default: 100.
        Source: csg-htsim, `_fs_max_cwnd`.
    min_cwnd
        Least window in packets, above 0, up to 1. Default: 0.001. Source: Kumar et al., section
        3.4.
    max_cwnd
        Largest window in packets, at least 1. Default: what the line rate sends in the longest
        target. Source: floodway's choice.
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
        N: flows of a host that share its NIC, from 1, which give `beta`. Default: 10. Source:
        Addanki et al., section 3.3, without a number; that of the authors' Linux module,
        `expected_flows`. Their simulator's step of 150 Mbit/s at 25 Gbit/s is one of N = 167.
    beta
        β: bytes that each update adds, from 0 up. Default: line rate · τ / `expected-flows`.
        Source: Addanki et al., section 3.3.
    base_rtt
        τ: a time of at least 1 ns, `"auto"` for the path's base round trip, or `"largest"` for
        that of all pairs of hosts. Source: Addanki et al., section 3.3; `"largest"` is that of
        section 4.1, the default floodway's choice, for paths of very different length.
    rmin
        Least rate, above 0; at most the NIC's. Default: 100 Mbit/s. Source: floodway's choice,
        as in HPCC; the paper has none.
    """

    _tag: ClassVar[str | None] = "powertcp"
    form: PowerTcpForm | None = None
    gamma: float | None = None
    expected_flows: int | None = None
    beta: Size | None = None
    base_rtt: TimeOfPath | None = None
    rmin: Rate | None = None


@dataclass(frozen=True, kw_only=True)
class NoReliability(Table):
    """Nothing to choose."""

    _tag: ClassVar[str | None] = "none"


@dataclass(frozen=True, kw_only=True)
class GoBackN(Table):
    """Parameters of go-back-N.

    Attributes
    ----------
    ack_interval
        Packets for which one ACK is sent, at least 1. Beyond a window it leaves a flow without
        the ACK that would open it. Source: the HPCC simulator, `L2_ACK_INTERVAL`.
    nack_interval
        A NAK for the same packet is repeated after this time, from 0 up. Default: the longer of
        500 us and the base round-trip time. Source: the HPCC simulator has 500 us; floodway's
        choice beyond that: a repeat before the answer can come sends the window twice.
    timeout
        Time without an ACK that advances, after which the sender goes back, or `"off"`.
        Default: off where the whole path is lossless, else the longer of 4 ms and 4 base round-
        trip times. Source: InfiniBand C9-139 asks for a timer; ConWeave's simulator has 4 ms;
        the HPCC and SWING simulators have none on lossless paths.
    duplicates
        What the receiver answers to a packet that it has already. Source: InfiniBand C9-110: an
        ACK; the HPCC simulator answers nothing.
    restart
        What starts the timer anew, while something is outstanding. Source: floodway's choice:
        an ACK that says nothing new does not hide a loss.
    nak_marks
        Whether a NAK tells of congestion, as the reply to a marked packet does. Source:
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
        Whose IRN it is. Source: floodway's choice: the paper's.
    preset
        Where window and timeouts come from that are not given. Source: floodway's choice: as
        published.
    window
        Most that may be in flight: packets (110), bytes of payload ("110KB"), at least one
        packet; `"auto"` for what fills the flow's own path, or `"largest"` for what fills the
        longest. Default: `"largest"`; by `preset = "per-pair"` `"auto"`. Source: IRN, section
        3.2: the BDP of the network's longest path.
    rto_low
        Time after which a packet counts as lost while few are in flight, or `"off"`; `"auto"`
        for the base round-trip time of the flow's own path, or `"largest"` for that of the
        longest. Default: off where the whole path is lossless; else 100 us, in SWING's form
        `"largest"`; by `preset = "per-pair"` `"auto"`. Source: IRN, section 4.1; SWING, section
        6.1.
    rto_high
        Time after which a packet counts as lost while more are in flight, or `"off"`; `"auto"`
        for the base round-trip time of the flow's own path with all its queues full, or
        `"largest"` for the largest such time. Default: off where the whole path is lossless;
        else 320 us, in SWING's form `"largest"`; by `preset = "per-pair"` `"auto"`. Source:
        IRN, section 4.1; SWING, section 6.1.
    low_packets
        N: the short timeout holds while at most so many packets are in flight, from 0 up.
        Source: IRN, section 4.1; SWING's and ConWeave's configurations.
    nack_interval
        In ConWeave's form: a reply that reports the same block is repeated after this time,
        from 0 up. Default: the longer of 500 us and the base round-trip time. Source:
        ConWeave's simulator has 500 us; floodway's choice beyond that.
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
class Override(Table):
    """What holds for the objects of one selector: exactly one of `links`, `switches`, `hosts`, `flows`.

    Attributes
    ----------
    name
        Its name, by which `--set` finds it.
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
    hash_seed
        Of the switches: the seed of the hash `swing-ns3`.
    flow_control
        Link flow control of the classes of data. Default: `pfc`.
    faults
        What goes wrong on links, or at nodes. Default: nothing.
    congestion_point
        Detection of congestion at egress ports. Default: none.
    buffer
        Admission to switches' buffers. Default: `static`.
    routing
        Routing among equal-cost ports. Default: `ecmp`.
    scheduler
        Scheduling of egress ports. Default: `strict`.
    notification
        At receivers: when a CNP is sent. Default: as the rate control asks for.
    rate_control
        At senders: the stack of rate and window controls, the lowest first. Default: `line-
        rate`.
    reliability
        Recovery from losses. Default: `go-back-n`.
    qp
        Which flows share a queue pair. Default: `per-flow`.
    class_
        Class of flows. Default: 3.
    pipeline
        From a packet's arrival at a switch to its place in the egress queue: of data, ACKs,
        NAKs and CNPs alike. Default: 0.
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
    hash_seed: int | None = None
    flow_control: FlowControl | None = None
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
    pipeline: Time | None = None


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
    `long-lived`, `incast`, `all-to-all`, `micro-bursts`, `perftest`.

    Attributes
    ----------
    name
        Its name; results keep it.
    tags
        Tags, by which overrides select its flows.
    class_
        Class of its flows. Default: as the overrides and defaults say, else 3.
    flows
        Flows, one by one.
    flow_list
        Flows listed in a file.
    poisson
        Poisson arrivals.
    burst
        One flow of each sender, once or again and again.
    permutation
        One flow of each host to another, so that each receives one.
    long_lived
        Flows without end.
    incast
        Many flows to one receiver at one instant, drawn by the seed, once or again and again.
    all_to_all
        One flow of each host to each other one.
    micro_bursts
        Bursts of microseconds at line rate.
    perftest
        Messages that follow each other as they complete, as perftest's.
    start
        When it begins. Default: 0.
    until
        No flow starts at this time or later. Default of Poisson arrivals: to the end of the
        run.
    measure
        Flows that start in this window are measured. Default: as at the top level.
    measured
        Are its flows measured at all? Default: true.
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
        What others of the list call it in `after`, unique. Default: nothing.
    after
        Flows of the list that must be complete before it starts, by their ids: `"a"`, `["a",
        "b"]`. Each must end at its sender (it is complete when its last byte arrives) or begin
        there (when its last byte is acknowledged, or has left the NIC where nothing is
        acknowledged). Default: none.
    wait
        It starts so long after the last of those flows: the time to compute in between.
        Default: 0.
    start
        When it starts; not before, if it waits for others. Default: at the workload's `start`,
        else 0.
    class_
        Its class. Default: the workload's.
    source_port
        As switches hash it. Default: drawn from the flow's id, 49152 to 65535.
    destination_port
        As switches hash it. Default: 4791, RoCEv2's.
    path
        The nodes that its data pass, as in `"h1,s1,s2,h2"`; `s2#2` is the second of the links
        to s2.
    ack_path
        The nodes that its ACKs pass, from the receiver on.
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
    """A file of flows: CSV, or Parquet where Python reads it, with our columns or those of SWING's
    authors; or the flow file of an HPCC simulation.

    Attributes
    ----------
    file
        Its path, from the scenario's folder; `${NAME}` stands for an environment variable.
    format
        How the file is written.
    origin
        The file's time at which the run begins: it is taken from all starts. Default: with
        `format = "hpcc"` the scenario's `origin`, else 0.
    paths
        With `format = "hpcc"`: a file that pins the paths of flows, a line each: `n source
        destination source-port destination-port size | nodes of the data's path | nodes of the
        ACKs' path`, where n counts the flows from 0 and nodes are ids. Default: none; switches
        choose.
    """

    file: str
    format: ListFormat | None = None
    origin: Time | None = None
    paths: str | None = None


@dataclass(frozen=True, kw_only=True)
class Poisson(Table):
    """Poisson arrivals: an independent process at each sender, as HPCC's traffic generator and those of
    most papers have it.

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
        Hosts that receive, drawn uniformly unless `hot-spot`, `inter-dc` or `groups` says
        otherwise, never the sender itself. Default: all.
    hot_spot
        A share of the flows goes to hot hosts. Not together with `inter-dc` or `groups`.
        Default: none are hot.
    inter_dc
        Probability, from 0 to 1, of a flow to a host of another datacenter than its sender's,
        drawn uniformly of all of them; the other flows go to hosts of its own. Datacenters are
        the tags `dc-*` of hosts. The load counts all flows. Not together with `hot-spot` or
        `groups`. Default: datacenters make no difference.
    groups
        So many groups of hosts, from 1 up: senders and receivers are dealt out to them in the
        order of their numbers, as many to each as to any other, and every flow stays in its
        sender's group. `groups = 12` of a fat tree with 12 pods are its pods. Not together with
        `hot-spot` or `inter-dc`. Default: all hosts are one group.
    accounting
        Which bytes count as offered. Default: `payload`.
    """

    sizes: Sizes
    load: float
    of: Selector | None = None
    from_: Selector | None = None
    to: Selector | None = None
    hot_spot: HotSpot | None = None
    inter_dc: float | None = None
    groups: int | None = None
    accounting: Accounting | None = None


@dataclass(frozen=True, kw_only=True)
class SizesFile(Table):
    """Sizes from a file.

    Attributes
    ----------
    file
        The file, from the scenario's folder: lines of bytes and cumulative percent; `#` begins
        a comment.
    """

    file: str


@dataclass(frozen=True, kw_only=True)
class FixedSize(Table):
    """Every flow of the same size.

    Attributes
    ----------
    fixed
        The size.
    """

    fixed: Size


@dataclass(frozen=True, kw_only=True)
class HotSpot(Table):
    """A share of the flows goes to a few hot hosts, the others go where they would without: RCM's
    experiment, whose numbers are the defaults.

    Attributes
    ----------
    share
        Probability of a flow to a hot host, from 0 to 1. Default: 0.15.
    hosts
        The hot hosts: a number is the fraction of `to` that is hot, above 0 and up to 1,
        rounded to whole hosts and drawn by the seed; a selector names them. Default: 0.125.
    """

    share: float | None = None
    hosts: HotHosts | None = None


@dataclass(frozen=True, kw_only=True)
class Burst(Table):
    """Each sender sends one flow: the i-th of them to the i-th receiver, and so on around.

    Attributes
    ----------
    to
        Hosts that receive; one of them makes an incast.
    size
        Payload of each flow.
    from_
        Hosts that send. Default: all.
    every
        Again after this time, until the workload's `until`. Not together with `back-to-back`.
        Default: once.
    back_to_back
        Again as soon as the last byte of the sender's flow before has left its NIC, until the
        workload's `until`: a sender that is never idle, whose flows all begin anew. Default:
        false.
    """

    to: Selector
    size: Size
    from_: Selector | None = None
    every: Time | None = None
    back_to_back: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Permutation(Table):
    """Each host sends one flow, and receives one, of a partner drawn by the seed: with flows as long as
    the run the classic test of a fabric's bisection.

    Attributes
    ----------
    size
        Payload of each flow, or `"unbounded"` for flows without end.
    of
        The hosts. Default: all.
    every
        Again after this time with partners drawn anew, until the workload's `until`. Default:
        once.
    """

    size: FlowSize
    of: Selector | None = None
    every: Time | None = None


@dataclass(frozen=True, kw_only=True)
class LongLived(Table):
    """Flows without end: the i-th sender to the i-th receiver, and so on around.

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
    instant, as the workers of a partition-aggregate job do.

    HPCC (Li et al., SIGCOMM 2019, section 5.1) adds such incasts at 2 % of the capacity to its
    background traffic.

    Attributes
    ----------
    to
        Hosts of which one receives, drawn anew each time.
    size
        Payload of each flow.
    from_
        Hosts of which the senders are drawn, all different, never the receiver itself. Default:
        all.
    fan_in
        How many send at once, from 1 on. Default: all of `from`.
    every
        Again after this time, until the workload's `until`. Not together with `load`. Default:
        once.
    load
        Offered payload over the capacity of `of`, above 0: incasts follow each other by the
        time that makes it so. Not together with `every`. Default: as `every` says.
    of
        Links whose summed rate is the capacity that `load` is of, in the direction from senders
        to receivers; or `"hosts"`: the NICs of `from`. Default: `"hosts"`.
    """

    to: Selector
    size: Size
    from_: Selector | None = None
    fan_in: int | None = None
    every: Time | None = None
    load: float | None = None
    of: Selector | None = None


@dataclass(frozen=True, kw_only=True)
class AllToAll(Table):
    """Each host sends one flow to each other host, all at once: the traffic of the collective operation of
    this name.

    A host begins with the one after it and goes around, so that no receiver is first for two senders.

    Attributes
    ----------
    size
        Payload of each flow.
    of
        The hosts. Default: all.
    every
        Again after this time, until the workload's `until`. Default: once.
    """

    size: Size
    of: Selector | None = None
    every: Time | None = None


@dataclass(frozen=True, kw_only=True)
class MicroBursts(Table):
    """Each sender sends at line rate for `length`, and again after a while: the i-th of them to the i-th
    receiver, and so on around.

    RCM's experiments hit an incast with such a burst of 20 us.

    Attributes
    ----------
    to
        Hosts that receive.
    length
        How long a burst occupies the sender's NIC. It is one flow of the largest payload whose
        packets, headers and gaps included, leave within this time: 231 packets of 1000 B in 20
        us at 100G. Shorter than `every`.
    from_
        Hosts that send. Default: all.
    every
        From one burst of a sender to its next, until the workload's `until`. Default: one burst
        each, at the workload's `start`.
    spacing
        Is `every` the time between two bursts, or its mean? Default: `fixed`.
    rate
        Rate by which the size of a burst is computed, at most the sender's. Default: that of
        the sender's NIC, of the slowest one where it has several.
    synchronised
        Do all senders burst at the same instants, the first one at the workload's `start`?
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

    Each pair has queue pairs of its own for all its messages, whatever `qp` says.

    Attributes
    ----------
    test
        What is measured.
    to
        Hosts that run the server: the i-th client's is the i-th of them, and so on around.
    from_
        Hosts that run the client. Default: all.
    size
        Payload of each message. Default: 65536 B of `write-bw`, 2 B of `write-lat`, as
        perftest's.
    queue_depth
        Of `write-bw`: messages that each queue pair keeps outstanding, from 1 (perftest's
        `--tx-depth`). Default: 128.
    iterations
        Messages of each queue pair, each way, from 1; of `write-lat` from 4, since it leaves
        out the two longest of the times between them. Default: 5000 of `write-bw`, 1000 of
        `write-lat`, as perftest's.
    qps
        Of `write-bw`: queue pairs of each pair of hosts, from 1. Default: 1.
    bidirectional
        Of `write-bw`: does the server send as much as the client? Default: false.
    """

    test: Test
    to: Selector
    from_: Selector | None = None
    size: Size | None = None
    queue_depth: int | None = None
    iterations: int | None = None
    qps: int | None = None
    bidirectional: bool | None = None


@dataclass(frozen=True, kw_only=True)
class MeasureWindow(Table):
    """From one instant to another.

    Attributes
    ----------
    to
        The first instant after it.
    from_
        The first instant. Default: 0.
    """

    to: Time
    from_: Time | None = None


@dataclass(frozen=True, kw_only=True)
class RecordKeys(Table):
    """What is kept beyond the tables of flows and counters.

    Attributes
    ----------
    watch
        Links whose series are kept, both ways. Default: those tagged `long-haul`, and those of
        100 us or more.
    busiest
        How many egress ports more, the busiest. Default: 8.
    buckets
        At most this many buckets of a series: of links that are watched by name; of the busiest
        others, 100. Default: 1000.
    pauses
        Whether each pause and resume is kept as it is received, in the table `pauses`: of ten
        million at most; how many more there were is in the run's verdicts. Default: false.
    signals
        Whether congestion feedback is kept, in the table `signals`: each mark, CNP and CN of a
        port's congestion points, and each change of the state that they say a queue is in; of
        ten million rows at most, and how many more there were is in the run's verdicts.
        Default: false.
    allowances
        Whose allowances are kept, in the table `allowances`: the pacing rate and the window of
        a flow's sender, each time that they change; of ten million rows at most, as above.
        `true` for all flows, or their workloads: by name or tag, as `flows` of overrides.
        Default: nobody's.
    shares
        What each flow has of some links, in the table `shares`: the bytes that each port of
        them sends of it, by buckets of time. Default: not kept.
    queue_histogram
        How long the queues of every switch's port were at regular instants, in the table
        `queue_histogram`. Default: not kept.
    capture
        Frames that are kept as a file for Wireshark, `capture.pcapng`. Default: none.
    """

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
    """Links whose flows are told apart. Data counts, in bytes on the wire, when it starts.

    Attributes
    ----------
    links
        The links, both ways.
    bucket
        Width of a bucket of time, above 0. Of ten million rows at most; how many more there
        were is in the run's verdicts. Default: 1 us.
    """

    links: Selector
    bucket: Time | None = None


@dataclass(frozen=True, kw_only=True)
class HistogramKeys(Table):
    """When, and how finely, the queues of switches are looked at: at `from`, `from` + `every`, and so on
    to `to`, each as it was before what changed at that very instant.

    What waits counts, of all classes; the packet on the wire does not.

    Attributes
    ----------
    from_
        The first instant. Default: 0.
    to
        No instant is later; a run that ends before has those until its end. Default: the end of
        the run.
    every
        From one instant to the next, above 0. Default: 100 ns.
    bin
        Width of a bin, from 64 B up: the i-th one counts the instants that found i to i + 1
        widths waiting. Default: 1 KB.
    """

    from_: Time | None = None
    to: Time | None = None
    every: Time | None = None
    bin: Size | None = None


@dataclass(frozen=True, kw_only=True)
class CaptureKeys(Table):
    """Frames that are kept as a file for Wireshark: what links carry, in the bytes that RoCEv2 and
    802.1Qbb give it.

    Attributes
    ----------
    links
        Links whose frames are kept, both ways, each when its first bit is sent.
    packets
        At most so many frames, the first ones of the run, from 1 to 1,000,000; how many more
        there were is told. Default: 100,000.
    bytes
        At most so many bytes of each frame, from 64B to 16KB. Default: 16KB, all of it: of
        packets that are cut, Wireshark shows the headers, but calls them malformed.
    """

    links: Selector
    packets: int | None = None
    bytes: Size | None = None


@dataclass(frozen=True, kw_only=True)
class EngineKeys(Table):
    """How a run is computed. It changes nothing of what is kept.

    Attributes
    ----------
    threads
        Threads of a run, from 1 up; never more than there are nodes, and fewer where links are
        so short that they would only wait for one another (`--force-threads` uses them
        nevertheless). `--threads` wins, and `floodway compare` uses one unless `--threads` is
        given. Default: one a core where links are long enough and there is enough to be sent,
        else one.
    """

    threads: int | None = None


@dataclass(frozen=True, kw_only=True)
class TopologyPreset(Table):
    """The network of a published experiment, by its name.

    Attributes
    ----------
    preset
        Its value.
    """

    _tag: ClassVar[str | None] = "preset"
    _scalar: ClassVar[bool] = True
    preset: PresetName


#: A quantity with a unit, such as `'80km'`.
Length: TypeAlias = str


#: A quantity with a unit, such as `'400G'`.
Rate: TypeAlias = str


#: A quantity with a unit, such as `'288KB'`.
Size: TypeAlias = str


#: A quantity with a unit, such as `'10us'`.
Time: TypeAlias = str


#: Which bytes count as offered.
#: - 'payload': Those of flows, as traffic generators count.
#: - 'wire': Those on the link, headers and gaps included, without acknowledgements.
Accounting: TypeAlias = "Literal['payload', 'wire']"


#: Where replies (ACK, NAK) queue.
#: - 'control': In the control class: first everywhere, never paused, charged to no buffer.
#: - 'data-class': In switches with the data of their flow's class, at hosts before all data, in one
#:   queue; a pause of the first one's class stops them.
#: - 'data-class-unpaused': As `data-class`, but no pause stops them at hosts.
AcksKey: TypeAlias = "Literal['control', 'data-class', 'data-class-unpaused']"


#: What a watchdog does with the queue of a pause that it gives up.
#: - 'drop': Discards what waits in it and what comes. Source: makers of switches.
#: - 'ignore': Sends it. Source: makers of switches.
Action: TypeAlias = "Literal['drop', 'ignore']"


#: Flows whose allowances are kept.
AllowanceKeys: TypeAlias = "bool | Selector"


#: What a base round-trip time counts.
#: - 'exact': Propagation, pipelines, crossbars, and store and forward of a full packet there and of
#:   its ACK back.
#: - 'one-way': Twice the propagation, and store and forward of a full packet there.
#: - 'payload': Twice the propagation, and the whole nanoseconds of a full packet's payload at each
#:   link there.
BaseRttKey: TypeAlias = "Literal['exact', 'one-way', 'payload']"


BufferParams: TypeAlias = "Literal['static', 'shared', 'ioq'] | StaticBuffer | SharedBuffer | Ioq"


#: What becomes of packets that wait in the lossless queue when their flow is labelled.
#: - 'moves': They move to the lossy queue at once, in their order, and those that it has no room
#:   for are dropped. Source: floodway's choice: the only way in which a label helps while its flow
#:   goes on sending.
#: - 'stays': They stay, and so do those behind them: the flow changes its queue when it has none
#:   left in the lossless one. Source: the rule by which flows go from one class to another
#:   unsorted.
CaslWaiting: TypeAlias = "Literal['moves', 'stays']"


#: A priority (802.1Q) or virtual lane, 0 to 7.
Class: TypeAlias = "int"


#: How the receiver tells of marks.
#: - 'packet': By a frame of the control class, at most one per flow and `cnp-interval`. Source: Zhu
#:   et al., section 3.1.
#: - 'ack-flag': By a flag that each ACK copies from its packet's mark, without an interval. Source:
#:   the HPCC and SWING simulators.
Cnp: TypeAlias = "Literal['packet', 'ack-flag']"


CongestionPointParams: TypeAlias = "Literal['red', 'proxy-cnp', 'mercury', 'tcd', 'pacc', 'rcm', 'casl', 'bfc', 'expresspass', 'themis-pnp', 'themis-trp'] | Red | ProxyCnp | Mercury | Tcd | Pacc | Rcm | Casl | Bfc | ExpresspassCp | ThemisPnp | ThemisTrp"


CongestionPointParamsList: TypeAlias = "CongestionPointParams | Sequence[CongestionPointParams]"


#: Who is charged for the packet that crosses the flow control's threshold.
#: - 'shared': The shared part, which then exceeds the threshold by one byte less than a frame at
#:   most. Source: floodway's choice.
#: - 'headroom': The headroom, whole; it then needs one frame more. Source: the HPCC and SWING
#:   simulators.
#: - 'pool': The shared part, however far beyond the threshold, while the pool has room for it; then
#:   the headroom. Source: ConWeave's simulator, whose threshold only pauses.
Crossing: TypeAlias = "Literal['shared', 'headroom', 'pool']"


#: How a site's long links end in it.
#: - 'shared': In one DCI switch of the site.
#: - 'per-link': Each in a DCI switch of its own, which is linked to all gateways of the site.
Dci: TypeAlias = "Literal['shared', 'per-link']"


#: What becomes of an odd bit where Rc rises to the mean of Rc and Rt.
#: - 'up': The mean is rounded up, so that Rt is reached. Source: floodway's choice.
#: - 'halves': Each half is rounded down, so that Rc stays a bit or two short of Rt for ever.
#:   Source: the HPCC simulator.
DcqcnMeans: TypeAlias = "Literal['up', 'halves']"


#: A row of published values, and the machine that they are for.
#: - 'paper': The paper's machine and values. Source: Zhu et al., SIGCOMM 2015, and its authors'
#:   ns-3 model.
#: - 'mellanox': The NICs' machine with their defaults. Source: NVIDIA's page of DCQCN parameters.
#: - 'hpcc': The NICs' machine as HPCC's simulations set it: increments grow with the NIC's rate.
#:   Source: `dcqcn` of HPCC's `run.py`.
#: - 'swing': The NICs' machine as SWING's simulations set it, with their variable window. Source:
#:   SWING's configurations.
DcqcnPreset: TypeAlias = "Literal['paper', 'mellanox', 'hpcc', 'swing']"


#: When the timers of the NICs' machine do their work.
#: - 'asleep': Where something may come of it. At one instant a CNP comes first, then alpha, the
#:   check, the increase step. Source: floodway's choice.
#: - 'ticking': Each at every period from the first CNP on, as an event that sets the next one: of
#:   those that fall on one instant the one that was set first comes first, so that an increase step
#:   precedes a check. With `ties = "scheduling-order"` that holds among all events: a check
#:   precedes what was scheduled less than `t-dec` before. Source: the HPCC simulator.
DcqcnTimers: TypeAlias = "Literal['asleep', 'ticking']"


#: What word of undetermined congestion (UE) does to the rate.
#: - 'hold': Rc and alpha stay, Rt = Rc, and increase steps and stages begin afresh. Source: Zhang
#:   et al., SIGCOMM 2021.
#: - 'ignore': Nothing. Source: the `DCQCN-TCD` simulator without its rate adjustment.
DcqcnUe: TypeAlias = "Literal['hold', 'ignore']"


#: Payload bytes that DCQCN lets be in flight. A window of constant size is a layer of its own.
#: - 'none': No limit. Source: Zhu et al., and NICs.
#: - 'variable-bdp': The path's bandwidth-delay product times Rc over the NIC's rate. Source: HPCC's
#:   `_vwin` variants; SWING's configurations.
DcqcnWindow: TypeAlias = "Literal['none', 'variable-bdp']"


Distance: TypeAlias = "Length | Time"


DistanceList: TypeAlias = "Distance | Sequence[Distance]"


DoubleOrAuto: TypeAlias = "Literal['auto'] | float"


#: Where congestion points draw from.
#: - 'per-node': Each node from a stream of its own.
#: - 'hpcc-ns3': As in HPCC's simulator (one thread only): each draw of the run is the first one of
#:   the next stream of ns-3's generator; each pause frame takes one, too, and replies among data
#:   are drawn for.
#: - 'conweave-ns3': As in ConWeave's simulator: each switch draws from a stream of ns-3's
#:   generator, the same one for all.
#: - 'swing-ns3': As in SWING's simulator: each switch draws from a stream of ns-3's generator of
#:   its own, in their order.
DrawsKey: TypeAlias = "Literal['per-node', 'hpcc-ns3', 'conweave-ns3', 'swing-ns3']"


ErrorRate: TypeAlias = "float | ErrorRates"


#: How virtual incoming bytes (F) are counted.
#: - 'ledger': The sum of the grants that have not come due: leaks and idle upstreams do not distort
#:   it. Source: Bifrost, section IV, its "history of pause decisions".
#: - 'measured': F - r + c, clamped. Source: Bifrost, Algorithm 1, line 15.
FMode: TypeAlias = "Literal['ledger', 'measured']"


#: What is inside a datacenter. Its DCI switch is linked to the gateways: the cores of a fat tree,
#: the spines of a leaf-spine, the switch of a single-switch, the last switch of a chain, s2 (the
#: right one) of a dumbbell, the switches tagged `gateway` of an explicit network.
FabricKind: TypeAlias = "FatTree | LeafSpine | SingleSwitch | Chain | Dumbbell | Explicit"


FlowControl: TypeAlias = "FlowControlParams | Mapping[str, FlowControlParams]"


FlowControlParams: TypeAlias = (
    "Literal['lossy', 'pfc', 'bifrost', 'cbfc', 'swing'] | Lossy | Pfc | Bifrost | Cbfc | Swing"
)


FlowSize: TypeAlias = "Literal['unbounded'] | Size"


#: Which headers packets carry.
#: - 'ethernet': RoCEv2 over Ethernet, with FCS, preamble and gap.
#: - 'hpcc-ns3': As the HPCC ns-3 simulator charges: payload + 48, ACK 60, PFC 43.
#: - 'swing-ns3': As the ns-3 simulator of SWING's authors charges: payload + 52, ACK 52, PFC 24.
Format: TypeAlias = "Literal['ethernet', 'hpcc-ns3', 'swing-ns3']"


#: The answer to a duplicate.
#: - 'ack': An ACK that tells what is expected. Source: InfiniBand C9-110.
#: - 'silent': None. Source: the HPCC simulator, `ReceiverCheckSeq` in `rdma-hw.cc`.
GoBackNDuplicates: TypeAlias = "Literal['ack', 'silent']"


#: What starts the timer anew.
#: - 'advance': An ACK that advances, and the first packet after all were acknowledged. Source:
#:   floodway's choice.
#: - 'any': Every reply and every packet sent; a NAK does not stop it. Source: InfiniBand o9-85, as
#:   ConWeave's simulator has it.
GoBackNRestart: TypeAlias = "Literal['advance', 'any']"


#: How a flow is hashed.
#: - 'mix': With a key of each switch, made of the run's seed and its name. Source: floodway's
#:   choice.
#: - 'shared': Alike at all switches. Source: floodway's choice, for fabrics whose hashes polarise.
#: - 'swing-ns3': h = 31·h + byte, with the seeds that its profile knows. Source: SWING's simulator,
#:   `CalcTime31Hash`.
#: - 'hpcc-ns3': Murmur's, with the seeds that its profile knows. Source: HPCC's simulator,
#:   `EcmpHash`.
Hash: TypeAlias = "Literal['mix', 'shared', 'swing-ns3', 'hpcc-ns3']"


#: Where the seeds of the hashes `swing-ns3` and `hpcc-ns3` come from.
#: - 'none': Nowhere but from `hash-seed` of overrides.
#: - 'mrg32k3a': Draws of ns-3's generator with its default seed, one for each switch in order.
#: - 'node-number': The number of the switch among all nodes, from 0. Hosts then have the addresses
#:   of HPCC's simulator, which are made of their numbers.
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


#: Whose IRN it is.
#: - 'paper': A bitmap, a recovery and one timer. Source: Mittal et al., SIGCOMM 2018, sections 3.1
#:   and 3.2.
#: - 'swing': Replies for one packet, a timer for each, retransmissions before all new data. Source:
#:   SWING's simulator.
#: - 'conweave': Blocks of bytes, back over holes. Source: ConWeave's simulator.
IrnForm: TypeAlias = "Literal['paper', 'swing', 'conweave']"


#: Where window and timeouts come from.
#: - 'published': One value for all pairs: the window of the network's longest path, and the form's
#:   timeouts. Source: IRN, sections 3.2 and 4.1; SWING, section 6.1.
#: - 'per-pair': Each pair its own, from its path, by the same formulas. Source: floodway's choice;
#:   both papers name the need.
IrnPreset: TypeAlias = "Literal['published', 'per-pair']"


IrnWindow: TypeAlias = "int | Size"


IrnWindowOfPath: TypeAlias = "Literal['auto', 'largest'] | IrnWindow"


LengthOrBlank: TypeAlias = "Literal['', '0'] | Length"


#: Where link control frames (PAUSE, credits) queue.
#: - 'first': Before all else.
#: - 'control-class': With the control class, first in, first out, as in ConWeave's simulator: a
#:   PAUSE goes after the ACKs that wait.
LinkControlKey: TypeAlias = "Literal['first', 'control-class']"


#: How a file of flows is written.
#: - 'table': A table with a header line.
#: - 'hpcc': That of the HPCC simulator: the number of flows, then for each a line `source
#:   destination priority-group destination-port bytes seconds`, sorted by start. Nodes are ids:
#:   host 3 is `h3`. The priority group is the flow's class; source ports count from 10000 for each
#:   pair of hosts.
#: - 'conweave': That of ConWeave's simulator: likewise without the destination's port, which counts
#:   from 100 for each destination; source ports count from 10000 for each source.
ListFormat: TypeAlias = "Literal['table', 'hpcc', 'conweave']"


#: A node, or a range of nodes.
Listed: TypeAlias = "str | TaggedNode"


LongLinks: TypeAlias = "Sequence[ListedLong] | LongTable"


#: When a packet is marked.
#: - 'dequeue': When it starts on the wire, by the queue that it leaves behind. Source: the HPCC
#:   simulator.
#: - 'enqueue': When it joins the queue, by the queue that includes it. Source: RED, which marks on
#:   arrival.
MarkAt: TypeAlias = "Literal['dequeue', 'enqueue']"


#: What is one flow to a switch.
#: - 'addresses': All between two addresses; who is told is the queue pair of the packet that
#:   leaves. Source: the paper.
#: - 'queue-pairs': A queue pair, by its addresses and ports. Source: floodway's choice, for many
#:   queue pairs between two hosts.
MercuryFlows: TypeAlias = "Literal['addresses', 'queue-pairs']"


#: How credit is counted.
#: - 'ideal': In bytes, without limit. Source: Bifrost, section VI-B (CBFC-ideal).
#: - 'infiniband': In blocks of 64 bytes modulo 4096, with a credit of 2048 blocks at most. Source:
#:   InfiniBand, 7.9.
Mode: TypeAlias = "Literal['ideal', 'infiniband']"


NicOrRate: TypeAlias = "Literal['nic'] | Rate"


NotificationParams: TypeAlias = (
    "Literal['none', 'dcqcn', 'tcd', 'expresspass'] | NoNotification | DcqcnNp | TcdNp | ExpresspassNp"
)


#: What a deadlock does.
#: - 'stop': It ends the run.
#: - 'continue': It is reported, and the run goes on.
OnDeadlock: TypeAlias = "Literal['stop', 'continue']"


#: Whether rates hold packets back.
#: - 'on': They do.
#: - 'off': They only scale windows: a rate control without a window does nothing.
PacingKey: TypeAlias = "Literal['on', 'off']"


PauseList: TypeAlias = "Pause | Sequence[Pause]"


#: How long a pause lasts.
#: - 'timer': For the time that its frame names, with refresh while congested. Source: IEEE
#:   802.1Qbb.
#: - 'on-off': Until a resume frame: an idealised pause. Source: the HPCC and SWING simulators.
PauseMode: TypeAlias = "Literal['timer', 'on-off']"


PeriodList: TypeAlias = "Period | Sequence[Period]"


#: What power is computed from.
#: - 'int': Records of switches. Source: Addanki et al., algorithm 1.
#: - 'delay': Round-trip times: θ-PowerTCP. Source: Addanki et al., algorithm 2.
PowerTcpForm: TypeAlias = "Literal['int', 'delay']"


PresetName: TypeAlias = "Literal['swing-2dc', 'bifrost-2dc', 'bifrost-a', 'bifrost-b', 'bifrost-c', 'swing-line', 'swing-line-short', 'mercury-chain', 'mercury-9', 'mercury-fat', 'hpcc-fat', 'hpcc-star', 'hpcc-ali', 'rcm-k12', 'casl-33', 'tcd-victim', 'conweave-ls', 'conweave-k8']"


#: Simulators whose semantics are known in every point.
#: - 'swing-ns3': That of SWING's authors.
#: - 'hpcc-ns3': That of HPCC's authors, on which many forks build.
#: - 'conweave-ns3': That of ConWeave's authors, which builds on it.
Profile: TypeAlias = "Literal['swing-ns3', 'hpcc-ns3', 'conweave-ns3']"


#: Which flows share a queue pair.
#: - 'per-flow': None: each flow has a queue pair of its own, with congestion control that begins
#:   anew.
#: - 'per-pair': Those of a workload with the same sender, receiver and class (and, where a list
#:   names them, ports and paths): they are messages of one queue pair, sent one after another in
#:   the order of their starts, and its congestion control goes on from message to message.
Qp: TypeAlias = "Literal['per-flow', 'per-pair']"


Quanta: TypeAlias = "int"


RateOrBlank: TypeAlias = "Literal['', '0'] | Rate"


#: What timers of a rate control make a NIC do, besides changing a rate.
#: - 'look': Look for something to send.
#: - 'silent': Nothing, as in HPCC's simulator: a NIC that waits goes on waiting for what else makes
#:   it look. It needs a `repacing` that keeps the time of the packet that waits.
RateTimersKey: TypeAlias = "Literal['look', 'silent']"


React: TypeAlias = "Literal['ieee-802.3'] | Time"


ReactionParams: TypeAlias = "Literal['line-rate', 'static-window', 'dcqcn', 'timely', 'hpcc', 'dctcp', 'mercury', 'expresspass', 'swift', 'powertcp'] | LineRate | StaticWindow | Dcqcn | Timely | Hpcc2 | Dctcp | MercuryWindow | Expresspass | Swift | PowerTcp"


ReactionParamsList: TypeAlias = "ReactionParams | Sequence[ReactionParams]"


#: Published values of `kmin`, `kmax` and `pmax`.
#: - 'hpcc': 100 KB, 400 KB per 25G of the port's rate, 0.2. Source: HPCC's simulations, `run.py`.
#: - 'conweave': 100 KB, 400 KB, 0.2 at every rate. Source: ConWeave's simulations, `run.py`.
#: - 'swing': 200 KB, 800 KB, 0.2. Source: SWING's configurations.
#: - 'dcqcn-paper': 5 KB, 200 KB, 0.01, for 40G. Source: DCQCN's paper.
#: - 'dcqcn-tcd': 40 KB, 1000 KB, 1. Source: the DCQCN of TCD's repository, `config.txt`.
#: - 'dctcp': 30 KB per 10G of the port's rate, a step. Source: DCTCP in HPCC's simulations,
#:   `run.py`.
RedPreset: TypeAlias = "Literal['hpcc', 'conweave', 'swing', 'dcqcn-paper', 'dcqcn-tcd', 'dctcp']"


#: When a packet's bytes leave the ingress account.
#: - 'end': At its last bit.
#: - 'start': At the start of its transmission.
ReleaseKey: TypeAlias = "Literal['end', 'start']"


ReliabilityParams: TypeAlias = "Literal['none', 'go-back-n', 'irn'] | NoReliability | GoBackN | Irn"


#: What renews a pause that has to last.
#: - 'timer': Time: a part of the pause's, as `refresh` says. Source: floodway's choice.
#: - 'arrivals': Each packet that arrives while the condition for a PAUSE holds; a packet that
#:   arrives may also send the RESUME. A pause that runs out while nothing arrives is over: its
#:   upstream sends for a round trip before it is paused again, for which headroom is not sized.
#:   Source: ConWeave's simulator, `switch-node.cc`.
Renewal: TypeAlias = "Literal['timer', 'arrivals']"


#: What a new rate does to the packet of a queue pair that waits for its pacing time.
#: - 'moved': It is paced at the new rate.
#: - 'kept': Its time stays.
#: - 'hpcc-ns3': `moved` with HPCC, `kept` with the others, as in HPCC's simulator.
RepacingKey: TypeAlias = "Literal['moved', 'kept', 'hpcc-ns3']"


#: How a serialisation time is rounded.
#: - 'picosecond': Up to a picosecond.
#: - 'truncated-ns': Down to a nanosecond, as ns-3 does; pacing gaps, too.
#: - 'hpcc-ns3': Likewise by the older ns-3 of HPCC's simulator: a whole number of nanoseconds comes
#:   out one less.
RoundingKey: TypeAlias = "Literal['picosecond', 'truncated-ns', 'hpcc-ns3']"


RoutingParams: TypeAlias = "Literal['ecmp', 'spray', 'sar'] | Ecmp | Spray | Sar"


SchedulerParams: TypeAlias = (
    "Literal['strict', 'round-robin', 'deficit-round-robin'] | Strict | RoundRobin | DeficitRoundRobin"
)


#: Objects: a name with * and ? as wildcards, a tag, the workload of flows, or a list of these.
Selector: TypeAlias = "str | ByTag | ByWorkload | Sequence[Selector]"


Sites: TypeAlias = "int | Sequence[SiteKeys]"


SizeOfPath: TypeAlias = "Literal['auto', 'largest'] | Size"


SizeOrAuto: TypeAlias = "Literal['auto'] | Size"


#: Sizes of flows: a published distribution, a file, one size, or points of size and cumulative
#: percent.
Sizes: TypeAlias = "Literal['websearch', 'fb-hadoop', 'fb-hadoop-fine', 'webserver', 'webserver-r', 'cachefollower', 'alistorage', 'solar', 'googlerpc', 'datamining', 'datamining-b', 'enterprise'] | SizesFile | FixedSize | Sequence[tuple[Size, float]]"


Sizing: TypeAlias = "Literal['auto'] | Size"


#: Times between the bursts of a sender.
#: - 'fixed': Always the same.
#: - 'exponential': Exponential, drawn by the seed; bursts may overlap.
Spacing: TypeAlias = "Literal['fixed', 'exponential']"


#: When flows start among the events of their instant.
#: - 'first': Before the others, as if scheduled before the run.
#: - 'last': After the others, as if scheduled when their time has come.
StartsKey: TypeAlias = "Literal['first', 'last']"


#: What ends a run.
#: - 'measured': The last measured flow, or the limit.
#: - 'acknowledged': The last acknowledgement of the last measured flow, or the limit.
#: - 'limit': The limit.
Stop: TypeAlias = "Literal['measured', 'acknowledged', 'limit']"


StringList: TypeAlias = "str | Sequence[str]"


#: Where the pauses are made that cross the link.
#: - 'relay': By the switch beyond a cable; a relay at each end of the link copies them. Source:
#:   SWING, section 5.2.
#: - 'switch': By the switch at the end of the link, which acts as relay and switch in one. Source:
#:   SWING, section 7.
SwingForm: TypeAlias = "Literal['relay', 'switch']"


SwitchoverList: TypeAlias = "Switchover | Sequence[Switchover]"


#: What is measured.
#: - 'write-bw': Bandwidth: messages are posted ahead, and another one as each completes at its
#:   sender.
#: - 'write-lat': Latency: a message there and one back, in turns; half a round trip is a latency.
Test: TypeAlias = "Literal['write-bw', 'write-lat']"


#: Of whom CNPs are counted together, and who is held back together.
#: - 'flow': Each flow for itself. Source: the last version of the authors' simulator.
#: - 'hosts': All flows from one host to another, those to come as well. Source: the version that is
#:   kept beside figures of the ablation.
ThemisTrpBy: TypeAlias = "Literal['flow', 'hosts']"


#: What orders events of one instant.
#: - 'hashed': Kind, then a keyed hash.
#: - 'scheduling-order': The order in which they were scheduled (one thread only).
TiesKey: TypeAlias = "Literal['hashed', 'scheduling-order']"


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


#: Which network.
Topology: TypeAlias = "Explicit | SingleSwitch | Chain | Dumbbell | LeafSpine | FatTree | TwoDc | MultiDc | Hpcc | TopologyPreset"


#: What makes a packet's arrival send a PAUSE.
#: - 'threshold': The shared part has reached the threshold, or headroom is in use. Source: the HPCC
#:   simulator.
#: - 'headroom': Headroom is in use. Source: the static ports of SWING's simulator.
Trigger: TypeAlias = "Literal['threshold', 'headroom']"


#: Whose turn it is among the queue pairs of a NIC.
#: - 'ring': Round and round, in the order in which they started.
#: - 'swing-ns3': By SWING's simulator: round and round in the order in which the flows are listed,
#:   whichever start first; and one timer wakes the NIC, at the least pacing time of all queue pairs
#:   with something left. It is not set while that time is past, as that of a queue pair that waits
#:   for its window may be, nor while a listed flow of the host is still to start.
#: - 'hpcc-ns3': By HPCC's simulator: round a list by place, from which finished queue pairs are
#:   taken out when they are come across without the place of the last turn being moved; and one
#:   timer wakes the NIC, at the least pacing time of all queue pairs with something left, so that
#:   one that waits for its window may keep a paced one waiting until something arrives. Hosts have
#:   no scheduler then.
#: - 'conweave-ns3': By ConWeave's simulator: likewise, but finished queue pairs keep their places,
#:   so that turns stay in order, and those whose pacing time lies in the past do not keep others
#:   from waking the NIC.
TurnsKey: TypeAlias = "Literal['ring', 'swing-ns3', 'hpcc-ns3', 'conweave-ns3']"


#: The order in which routing visits neighbours.
#: - 'listed': That of the list of nodes.
#: - 'descending': From the last of that list to the first, as in the recorded runs of HPCC's
#:   simulator.
#: - 'swing-ns3': That of the list, but the first two aggregation switches change places, as they
#:   did in the memory of the published runs.
Visit: TypeAlias = "Literal['listed', 'descending', 'swing-ns3']"


Weights: TypeAlias = "Mapping[str, int]"


#: When a window lets a packet go.
#: - 'whole': If it fits with what is in flight.
#: - 'overshoot': If less than the window is in flight: the packet may exceed it.
WindowKey: TypeAlias = "Literal['whole', 'overshoot']"


Xoff: TypeAlias = "Literal['auto'] | Size | XoffParts"
