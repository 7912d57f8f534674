//! The keys of a scenario.

use floodway_fabric::blueprint::{
    Acks, BaseRtt, Draws, LinkControl, Pacing, RateTimers, Release, Repacing, Rounding, Starts, Ties, Turns,
    WindowRule,
};
use floodway_units::{Bytes, Span, Time};
use floodway_wire::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::forms::DscpByClass;
use super::gpu_nodes::GpuNodes;
use super::selector::Selector;
use super::settings::{Defaults, Override};
use crate::topology::Topology;
use crate::workload::Workload;

/// A scenario.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(extend("required" = ["topology", "workload"]))]
pub struct Document {
    /// Name of the results. Default: the file's name.
    #[serde(default)]
    pub name: Option<String>,
    /// Description of the scenario.
    #[serde(default)]
    pub description: Option<String>,
    /// Seed of all random streams and of the order of ties. Default: 1.
    #[serde(default = "one")]
    pub seed: u64,
    /// Semantics of another simulator, for all keys at once; keys set beside it take precedence.
    #[serde(default)]
    pub profile: Option<Profile>,
    /// Packet headers. Default: `ethernet`.
    #[serde(default)]
    pub wire: Option<Format>,
    /// Payload of a full packet. Default: 1000 B.
    #[serde(default)]
    pub mtu: Option<Bytes>,
    /// Semantics in which other simulators differ.
    #[serde(default)]
    pub semantics: SemanticsKeys,
    /// Time 0 of the scenario on the clock of the simulator whose files it reads: start times in HPCC's flow
    /// files count from there, and exports for that simulator add it. Default: 0.
    #[serde(default)]
    pub origin: Option<Time>,
    /// The network.
    pub topology: Topology,
    /// Which hosts are the GPUs of a node. Default: each host is a node of its own.
    #[serde(default)]
    pub gpu_nodes: Option<GpuNodes>,
    /// Settings of all objects that no override changes.
    #[serde(default)]
    pub defaults: Defaults,
    /// Settings of selected objects; later ones take precedence.
    #[serde(default)]
    pub r#override: Vec<Override>,
    /// Traffic.
    #[serde(default)]
    pub workload: Vec<Workload>,
    /// Flows that start in this window are measured. Default: of Poisson arrivals all but the first tenth of
    /// their time, of lists all.
    #[serde(default)]
    pub measure: Option<Window>,
    /// The latest end of the run. Default: 100 base round-trip times and 4 times the end of measured Poisson
    /// arrivals, or the time by which other measured flows would have ended, given their links, paces and
    /// faults.
    #[serde(default)]
    pub limit: Option<Time>,
    /// Condition that ends the run. Default: `measured`.
    #[serde(default)]
    pub stop: Stop,
    /// Effect of a deadlock on the run. Default: `stop`.
    #[serde(default)]
    pub on_deadlock: OnDeadlock,
    /// Records in addition to the tables of flows and counters.
    #[serde(default)]
    pub records: RecordKeys,
    /// Settings of the computation: `threads = 2`. They do not change the records.
    #[serde(default)]
    pub engine: EngineKeys,
}

fn one() -> u64 {
    1
}

/// The part of a scenario that a profile sets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fragment {
    /// Packet headers.
    pub wire: Format,
    /// Payload of a full packet.
    pub mtu: Bytes,
    /// Semantics in which other simulators differ.
    pub semantics: SemanticsKeys,
    /// Settings of all objects that no override changes.
    pub defaults: Defaults,
    /// Settings of selected objects; later ones take precedence.
    #[serde(default)]
    pub r#override: Vec<Override>,
}

/// Simulators with a complete profile of their semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// The simulator of SWING's authors.
    SwingNs3,
    /// The simulator of HPCC's authors, on which many forks build.
    HpccNs3,
    /// The simulator of ConWeave's authors, which builds on HPCC's.
    ConweaveNs3,
}

/// Defines the table of semantics: each key with its kind and its default.
macro_rules! semantics {
    ($($(#[$doc:meta])* $key:ident: $kind:ty = $default:expr,)*) => {
        /// Semantics in which other simulators differ.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        pub struct SemanticsKeys {
            $($(#[$doc])* pub $key: Option<$kind>,)*
        }

        impl SemanticsKeys {
            /// The defaults of all keys.
            pub const DEFAULT: SemanticsKeys = SemanticsKeys { $($key: Some($default),)* };

            /// Takes missing keys from `other`.
            pub fn or(self, other: SemanticsKeys) -> SemanticsKeys {
                SemanticsKeys { $($key: self.$key.or(other.$key),)* }
            }
        }
    };
}

semantics! {
    /// Time at which a packet's bytes leave the ingress account. Default: `end`.
    release: ReleaseKey = ReleaseKey::End,
    /// Order of events at one instant. Default: `hashed`.
    ties: TiesKey = TiesKey::Hashed,
    /// Place of flow starts among the events of their instant, where ties are in scheduling order. Default:
    /// `first`.
    starts: StartsKey = StartsKey::First,
    /// Rounding of serialisation times. Default: `picosecond`.
    rounding: RoundingKey = RoundingKey::Picosecond,
    /// Seeds of the hashes `swing-ns3` and `hpcc-ns3`, one for each switch. Default: `none`.
    hash_seeds: HashSeeds = HashSeeds::None,
    /// Order in which routing visits neighbours; it determines the order of equal-cost ports. Default:
    /// `listed`.
    visit: Visit = Visit::Listed,
    /// Effect of a new rate on the packet that waits for its pacing time. Default: `moved`.
    repacing: RepacingKey = RepacingKey::Moved,
    /// Effect of a rate control's timers on a NIC, besides a new rate. Default: `look`.
    rate_timers: RateTimersKey = RateTimersKey::Look,
    /// Queue of replies (ACK, NAK). Default: `control`.
    acks: AcksKey = AcksKey::Control,
    /// Queue of link control frames (PAUSE, credits). Default: `first`.
    link_control: LinkControlKey = LinkControlKey::First,
    /// Order of turns among the queue pairs of a NIC. Default: `ring`.
    turns: TurnsKey = TurnsKey::Ring,
    /// Condition on which a window lets a packet be sent. Default: `whole`.
    window: WindowKey = WindowKey::Whole,
    /// Components of a base round-trip time. Default: `exact`.
    base_rtt: BaseRttKey = BaseRttKey::Exact,
    /// Whether packets are paced at the rate. Default: `on`.
    pacing: PacingKey = PacingKey::On,
    /// Random stream of congestion points. Default: `per-node`.
    draws: DrawsKey = DrawsKey::PerNode,
}

/// Defines the choices of one key of semantics, and the fabric's value for each.
macro_rules! semantic {
    ($(#[$about:meta])* $key:ident => $of:ident { $($(#[$doc:meta])* $choice:ident => $arm:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        pub enum $key { $($(#[$doc])* $choice,)* }

        impl From<$key> for $of {
            fn from(key: $key) -> $of {
                match key { $($key::$choice => $of::$arm,)* }
            }
        }
    };
}

semantic! {
    /// Time at which a packet's bytes leave the ingress account.
    ReleaseKey => Release {
        /// At its last bit.
        End => End,
        /// At the start of its transmission.
        Start => Start,
    }
}

semantic! {
    /// Effect of a new rate on the packet of a queue pair that waits for its pacing time.
    RepacingKey => Repacing {
        /// The packet is paced at the new rate.
        Moved => Moved,
        /// The packet keeps its time.
        Kept => Kept,
        /// `moved` with HPCC, `kept` with the others, as in HPCC's simulator.
        HpccNs3 => ByMechanism,
    }
}

semantic! {
    /// Effect of a rate control's timers on a NIC, besides a new rate.
    RateTimersKey => RateTimers {
        /// The NIC looks for a packet to send.
        Look => Look,
        /// None, as in HPCC's simulator: a NIC that waits continues to wait until another event makes it
        /// look. This needs a `repacing` that keeps the time of the packet that waits.
        Silent => Silent,
    }
}

semantic! {
    /// Queue of link control frames (PAUSE, credits).
    LinkControlKey => LinkControl {
        /// Before all other frames.
        First => First,
        /// With the control class, first in, first out, as in ConWeave's simulator: a PAUSE is sent after the
        /// ACKs that wait.
        ControlClass => ControlClass,
    }
}

semantic! {
    /// Order of events at one instant.
    TiesKey => Ties {
        /// By kind, then by a keyed hash of the port and the packet's sequence number.
        Hashed => Hashed,
        /// The order in which they were scheduled (one thread only).
        SchedulingOrder => SchedulingOrder,
        /// As `scheduling-order`, as htsim schedules events: of the packets on a link the first has an event,
        /// what arrives at a switch passes behind all else of its instant, and a packet is on the link when
        /// its last bit has left the NIC. Switches have no pipelines.
        Htsim => Htsim,
    }
}

semantic! {
    /// Place of flow starts among the events of their instant.
    StartsKey => Starts {
        /// Before the others, as if scheduled before the run.
        First => First,
        /// After the others, as if scheduled at the instant itself.
        Last => Last,
    }
}

semantic! {
    /// Rounding of serialisation times.
    RoundingKey => Rounding {
        /// Up to a picosecond.
        Picosecond => Picosecond,
        /// Down to a nanosecond, as in ns-3; also for pacing gaps.
        TruncatedNs => TruncatedNanosecond,
        /// As `truncated-ns`, in the older ns-3 of HPCC's simulator: a whole number of nanoseconds becomes
        /// one less.
        HpccNs3 => CutNanosecond,
    }
}

semantic! {
    /// Queue of replies (ACK, NAK).
    AcksKey => Acks {
        /// In the control class: served first everywhere, never paused, charged to no buffer.
        Control => Control,
        /// In switches with the data of their flow's class; at hosts in one queue before all data. At hosts,
        /// a pause of the class of the first reply stops the queue.
        DataClass => Data,
        /// As `data-class`, but no pause stops replies at hosts.
        DataClassUnpaused => DataUnpaused,
    }
}

semantic! {
    /// Order of turns among the queue pairs of a NIC.
    TurnsKey => Turns {
        /// Round robin, in the order in which they started.
        Ring => Ring,
        /// As in SWING's simulator: round robin in the order in which the flows are listed, whatever their
        /// start times. One timer wakes the NIC, at the earliest pacing time of all queue pairs that have
        /// data left. The timer is not set while that time is in the past (as it may be for a queue pair that
        /// waits for its window), nor while a listed flow of the host has not started.
        SwingNs3 => Listed,
        /// As in HPCC's simulator: round robin by place in a list. A finished queue pair is removed from the
        /// list when its turn is reached, and the place of the last turn is not adjusted. One timer wakes the
        /// NIC, at the earliest pacing time of all queue pairs that have data left, so a queue pair that
        /// waits for its window may delay a paced one until a packet arrives. Hosts have no scheduler then.
        HpccNs3 => List,
        /// As in ConWeave's simulator: as `hpcc-ns3`, but finished queue pairs keep their places, so that
        /// turns stay in order, and queue pairs whose pacing time is in the past do not keep others from
        /// waking the NIC.
        ConweaveNs3 => StandingList,
    }
}

semantic! {
    /// Condition on which a window lets a packet be sent.
    WindowKey => WindowRule {
        /// The packet and the bytes in flight fit into the window.
        Whole => Whole,
        /// The bytes in flight are less than the window: the packet may exceed it.
        Overshoot => Overshoot,
    }
}

semantic! {
    /// Components of a base round-trip time.
    BaseRttKey => BaseRtt {
        /// Propagation, pipelines, crossbars, and store-and-forward of a full packet to the receiver and of
        /// its ACK back.
        Exact => Exact,
        /// Twice the propagation, and store-and-forward of a full packet to the receiver.
        OneWay => OneWay,
        /// Twice the propagation, and the whole nanoseconds of a full packet's payload at each link to the
        /// receiver.
        Payload => Payload,
    }
}

semantic! {
    /// Random stream of congestion points.
    DrawsKey => Draws {
        /// Each node draws from its own stream.
        PerNode => PerNode,
        /// As in HPCC's simulator (one thread only): each draw of the run is the first one of the next stream
        /// of ns-3's generator. Each pause frame also uses one stream, and a draw is made for each reply
        /// among data.
        HpccNs3 => HpccNs3,
        /// As in ConWeave's simulator: each switch draws from a stream of ns-3's generator, the same one for
        /// all.
        ConweaveNs3 => ConweaveNs3,
        /// As in SWING's simulator: each switch draws from its own stream of ns-3's generator, numbered in
        /// the order of switches.
        SwingNs3 => SwingNs3,
    }
}

semantic! {
    /// Whether packets are paced at the rate.
    PacingKey => Pacing {
        /// Packets are paced.
        On => On,
        /// Packets are not paced. Rates only scale windows: a rate control without a window has no effect.
        Off => Off,
    }
}

/// Source of the seeds of the hashes `swing-ns3` and `hpcc-ns3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HashSeeds {
    /// Only `hash-seed` of overrides.
    #[default]
    None,
    /// Draws of ns-3's generator with its default seed, one for each switch in order.
    Mrg32k3a,
    /// The number of the switch among all nodes, from 0. Hosts then have the addresses of HPCC's simulator,
    /// which are computed from their numbers.
    NodeNumber,
}

/// Order in which routing visits neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Visit {
    /// The order of the list of nodes.
    #[default]
    Listed,
    /// From the last of that list to the first, as in the recorded runs of HPCC's simulator.
    Descending,
    /// The order of the list, but with the first two aggregation switches exchanged, as in the memory of the
    /// published runs.
    SwingNs3,
}

/// A window from one instant to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MeasureWindow")]
pub struct Window {
    /// The first instant. Default: 0.
    #[serde(default)]
    pub from: Time,
    /// The first instant after the window.
    pub to: Time,
}

/// Condition that ends a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// Completion of the last measured flow, or the limit.
    #[default]
    Measured,
    /// The last acknowledgement of the last measured flow, or the limit.
    Acknowledged,
    /// The limit.
    Limit,
}

/// Effect of a deadlock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnDeadlock {
    /// The run ends.
    #[default]
    Stop,
    /// The deadlock is reported, and the run continues.
    Continue,
}

/// Records in addition to the tables of flows and counters.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RecordKeys {
    /// Whether all is kept that the page of `floodway report` shows: the series of every link, whatever
    /// `watch` says; `pauses`; and `signals`, where a congestion point assigns states to queues. It does not
    /// write the page. Default: false.
    pub report: bool,
    /// Links whose series are kept, both ways. Default: those tagged `long-haul`, and those of 100 us or
    /// more.
    pub watch: Option<Selector>,
    /// Number of additional egress ports, the busiest. Default: 8.
    pub busiest: usize,
    /// Maximum number of buckets of a series, for links that are watched by name; for the busiest others,
    /// 100. Default: 1000; with `report` and more than 200 nodes, 500.
    pub buckets: Option<usize>,
    /// Whether each pause and resume is kept as it is received, in the table `pauses`, up to ten million
    /// rows; the run's verdicts have the number of further ones. Default: false.
    pub pauses: bool,
    /// Whether congestion feedback is kept, in the table `signals`: each mark, CNP and CN of a port's
    /// congestion points, and each change of the state that they assign to a queue; up to ten million rows,
    /// and the run's verdicts have the number of further ones. Default: false.
    pub signals: bool,
    /// Flows whose allowances are kept, in the table `allowances`: the pacing rate and the window of a flow's
    /// sender, at each change; up to ten million rows, as above. `true` for all flows, or their workloads: by
    /// name or tag, as `flows` of overrides. Default: no flows.
    pub allowances: AllowanceKeys,
    /// Bytes of each flow on some links, in the table `shares`: the bytes that each port of these links sends
    /// of each flow, by buckets of time. Default: not kept.
    pub shares: Option<ShareKeys>,
    /// Queue lengths of every switch's ports at regular instants, in the table `queue_histogram`. Default:
    /// not kept.
    pub queue_histogram: Option<HistogramKeys>,
    /// Frames that are kept as a file for Wireshark, `capture.pcapng`. Default: none.
    pub capture: Option<CaptureKeys>,
}

/// Flows whose allowances are kept.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "true, false, a workload, a list of workloads, or { tag = \"...\" }")]
pub enum AllowanceKeys {
    /// All flows, or none.
    Whether(bool),
    /// The flows of these workloads.
    Of(Selector),
}

/// Links whose bytes are recorded per flow: bytes of data on the wire, in the buckets in which they are
/// transmitted.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShareKeys {
    /// The links, both ways.
    pub links: Selector,
    /// Width of a bucket of time, above 0. Up to ten million rows; the run's verdicts have the number of
    /// further ones. Default: 1 us.
    #[serde(default = "share_bucket")]
    pub bucket: Span,
}

fn share_bucket() -> Span {
    Span::us(1)
}

/// Settings of the computation. They do not change the records.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EngineKeys {
    /// Threads of a run, from 1 up; never more than there are nodes, and fewer where links are so short that
    /// threads would mostly wait for one another (`--force-threads` uses them nevertheless). `--threads`
    /// takes precedence, and `floodway compare` uses one unless `--threads` is given. Default: one a core
    /// where links are long enough and there is enough to be sent, else one.
    pub threads: Option<usize>,
    /// Whether iterations and micro-batches of a job that repeat earlier ones to the picosecond are skipped:
    /// where the state of the whole network recurs, what follows is known. The records are the same to the
    /// byte, and the run says what it skipped. Default: true.
    pub skip: Option<bool>,
}

/// Frames that are kept as a file for Wireshark: the frames on links, in the bytes that RoCEv2 and 802.1Qbb
/// define.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaptureKeys {
    /// Links whose frames are kept, both ways, each when its first bit is sent.
    pub links: Selector,
    /// Maximum number of frames, the first ones of the run, from 1 to 1,000,000; the number of further ones
    /// is reported. Default: 100,000.
    #[serde(default = "capture_packets")]
    pub packets: usize,
    /// Maximum number of bytes of each frame, from 64B to 16KB. Default: 16KB, all of it: of packets that are
    /// cut, Wireshark shows the headers, but calls them malformed.
    #[serde(default = "capture_bytes")]
    pub bytes: Bytes,
    /// DSCP of the packets of classes of data, from 0 to 63, such as `{ class-3 = 26 }`. Default: the class
    /// selector (RFC 2474), which is 8 times the class: 24 for class 3.
    #[serde(default)]
    pub dscp: DscpByClass,
}

fn capture_packets() -> usize {
    100_000
}

fn capture_bytes() -> Bytes {
    Bytes::kb(16)
}

impl Default for RecordKeys {
    fn default() -> Self {
        RecordKeys {
            report: false,
            watch: None,
            busiest: 8,
            buckets: None,
            pauses: false,
            signals: false,
            allowances: AllowanceKeys::Whether(false),
            shares: None,
            queue_histogram: None,
            capture: None,
        }
    }
}

/// Instants and resolution of the samples of switch queues: at `from`, `from` + `every`, and so on to `to`,
/// each before the changes of that instant. Waiting packets of all classes count; the packet on the wire
/// does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HistogramKeys {
    /// The first instant. Default: 0.
    pub from: Time,
    /// The last instant at most; a run that ends before has the instants until its end. Default: the end of
    /// the run.
    pub to: Option<Time>,
    /// Time from one instant to the next, above 0. Default: 100 ns.
    pub every: Span,
    /// Width of a bin, from 64 B up: the i-th bin counts the instants at which i to i + 1 widths waited.
    /// Default: 1 KB.
    pub bin: Bytes,
}

impl Default for HistogramKeys {
    fn default() -> Self {
        HistogramKeys { from: Time::ZERO, to: None, every: Span(100_000), bin: Bytes::kb(1) }
    }
}
