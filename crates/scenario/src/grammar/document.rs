//! A scenario's keys.

use floodway_fabric::blueprint::{
    Acks, BaseRtt, Draws, LinkControl, Pacing, RateTimers, Release, Repacing, Rounding, Starts, Ties, Turns,
    WindowRule,
};
use floodway_units::{Bytes, Span, Time};
use floodway_wire::Format;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::selector::Selector;
use super::settings::{Defaults, Override};
use crate::topology::Topology;
use crate::workload::Workload;

/// A scenario.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(extend("required" = ["topology", "workload"]))]
pub struct Document {
    /// What results are filed under. Default: the file's name.
    #[serde(default)]
    pub name: Option<String>,
    /// What it shows.
    #[serde(default)]
    pub description: Option<String>,
    /// Seeds every random stream and tie. Default: 1.
    #[serde(default = "one")]
    pub seed: u64,
    /// Another simulator's semantics in every point; what is set beside it wins.
    #[serde(default)]
    pub profile: Option<Profile>,
    /// Headers of packets. Default: `ethernet`.
    #[serde(default)]
    pub wire: Option<Format>,
    /// Payload of a full packet. Default: 1000 B.
    #[serde(default)]
    pub mtu: Option<Bytes>,
    /// Points in which other simulators differ.
    #[serde(default)]
    pub semantics: SemanticsKeys,
    /// What time 0 of the scenario is on the clock of the simulator whose files it reads: starts in HPCC's flow
    /// files count from there, and exports for that simulator add it. Default: 0.
    #[serde(default)]
    pub origin: Option<Time>,
    /// The network.
    pub topology: Topology,
    /// What holds wherever no override says otherwise.
    #[serde(default)]
    pub defaults: Defaults,
    /// Exceptions, later ones win.
    #[serde(default)]
    pub r#override: Vec<Override>,
    /// Traffic.
    #[serde(default)]
    pub workload: Vec<Workload>,
    /// Flows that start in this window are measured. Default: of Poisson arrivals all but the first tenth of
    /// their time, of lists all.
    #[serde(default)]
    pub measure: Option<Window>,
    /// The run ends here at the latest. Default: 100 base round-trip times and 4 times the end of Poisson arrivals
    /// that are measured, or the time by which other measured flows, as their links, paces and faults let them,
    /// would have ended.
    #[serde(default)]
    pub limit: Option<Time>,
    /// What ends the run. Default: `measured`.
    #[serde(default)]
    pub stop: Stop,
    /// What a deadlock does. Default: `stop`.
    #[serde(default)]
    pub on_deadlock: OnDeadlock,
    /// What is kept beyond the tables of flows and counters.
    #[serde(default)]
    pub records: RecordKeys,
    /// How the run is computed: `threads = 2`. It changes nothing of what is kept.
    #[serde(default)]
    pub engine: EngineKeys,
}

fn one() -> u64 {
    1
}

/// A part of a scenario that a profile stands for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fragment {
    /// Headers of packets.
    pub wire: Format,
    /// Payload of a full packet.
    pub mtu: Bytes,
    /// Points in which other simulators differ.
    pub semantics: SemanticsKeys,
    /// What holds wherever no override says otherwise.
    pub defaults: Defaults,
    /// Exceptions, later ones win.
    #[serde(default)]
    pub r#override: Vec<Override>,
}

/// Simulators whose semantics are known in every point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Profile {
    /// That of SWING's authors.
    SwingNs3,
    /// That of HPCC's authors, on which many forks build.
    HpccNs3,
    /// That of ConWeave's authors, which builds on it.
    ConweaveNs3,
}

/// Makes the table of semantics: each key with its kind, and what holds where nothing is said.
macro_rules! semantics {
    ($($(#[$doc:meta])* $key:ident: $kind:ty = $default:expr,)*) => {
        /// Points in which other simulators differ.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
        pub struct SemanticsKeys {
            $($(#[$doc])* pub $key: Option<$kind>,)*
        }

        impl SemanticsKeys {
            /// What holds where nothing is said.
            pub const DEFAULT: SemanticsKeys = SemanticsKeys { $($key: Some($default),)* };

            /// What is left out, from `other`.
            pub fn or(self, other: SemanticsKeys) -> SemanticsKeys {
                SemanticsKeys { $($key: self.$key.or(other.$key),)* }
            }
        }
    };
}

semantics! {
    /// When a packet's bytes leave the ingress account. Default: `end`.
    release: ReleaseKey = ReleaseKey::End,
    /// What orders events of one instant. Default: `hashed`.
    ties: TiesKey = TiesKey::Hashed,
    /// When flows start among the events of their instant, where ties go by scheduling order. Default: `first`.
    starts: StartsKey = StartsKey::First,
    /// How a serialisation time is rounded. Default: `picosecond`.
    rounding: RoundingKey = RoundingKey::Picosecond,
    /// Seeds of the hashes `swing-ns3` and `hpcc-ns3`, one for each switch. Default: `none`.
    hash_seeds: HashSeeds = HashSeeds::None,
    /// The order in which routing visits neighbours, which orders equal-cost ports. Default: `listed`.
    visit: Visit = Visit::Listed,
    /// What a new rate does to the packet that waits for its pacing time. Default: `moved`.
    repacing: RepacingKey = RepacingKey::Moved,
    /// What timers of a rate control make a NIC do, besides changing a rate. Default: `look`.
    rate_timers: RateTimersKey = RateTimersKey::Look,
    /// Where replies (ACK, NAK) queue. Default: `control`.
    acks: AcksKey = AcksKey::Control,
    /// Where link control frames (PAUSE, credits) queue. Default: `first`.
    link_control: LinkControlKey = LinkControlKey::First,
    /// Whose turn it is among the queue pairs of a NIC. Default: `ring`.
    turns: TurnsKey = TurnsKey::Ring,
    /// When a window lets a packet go. Default: `whole`.
    window: WindowKey = WindowKey::Whole,
    /// What a base round-trip time counts. Default: `exact`.
    base_rtt: BaseRttKey = BaseRttKey::Exact,
    /// Whether rates hold packets back. Default: `on`.
    pacing: PacingKey = PacingKey::On,
    /// Where congestion points draw from. Default: `per-node`.
    draws: DrawsKey = DrawsKey::PerNode,
}

/// Makes a choice of one key of semantics, and the fabric's for it.
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
    /// When a packet's bytes leave the ingress account.
    ReleaseKey => Release {
        /// At its last bit.
        End => End,
        /// At the start of its transmission.
        Start => Start,
    }
}

semantic! {
    /// What a new rate does to the packet of a queue pair that waits for its pacing time.
    RepacingKey => Repacing {
        /// It is paced at the new rate.
        Moved => Moved,
        /// Its time stays.
        Kept => Kept,
        /// `moved` with HPCC, `kept` with the others, as in HPCC's simulator.
        HpccNs3 => ByMechanism,
    }
}

semantic! {
    /// What timers of a rate control make a NIC do, besides changing a rate.
    RateTimersKey => RateTimers {
        /// Look for something to send.
        Look => Look,
        /// Nothing, as in HPCC's simulator: a NIC that waits goes on waiting for what else makes it look. It needs a
        /// `repacing` that keeps the time of the packet that waits.
        Silent => Silent,
    }
}

semantic! {
    /// Where link control frames (PAUSE, credits) queue.
    LinkControlKey => LinkControl {
        /// Before all else.
        First => First,
        /// With the control class, first in, first out, as in ConWeave's simulator: a PAUSE goes after the ACKs that wait.
        ControlClass => ControlClass,
    }
}

semantic! {
    /// What orders events of one instant.
    TiesKey => Ties {
        /// Kind, then a keyed hash.
        Hashed => Hashed,
        /// The order in which they were scheduled (one thread only).
        SchedulingOrder => SchedulingOrder,
    }
}

semantic! {
    /// When flows start among the events of their instant.
    StartsKey => Starts {
        /// Before the others, as if scheduled before the run.
        First => First,
        /// After the others, as if scheduled when their time has come.
        Last => Last,
    }
}

semantic! {
    /// How a serialisation time is rounded.
    RoundingKey => Rounding {
        /// Up to a picosecond.
        Picosecond => Picosecond,
        /// Down to a nanosecond, as ns-3 does; pacing gaps, too.
        TruncatedNs => TruncatedNanosecond,
        /// Likewise by the older ns-3 of HPCC's simulator: a whole number of nanoseconds comes out one less.
        HpccNs3 => CutNanosecond,
    }
}

semantic! {
    /// Where replies (ACK, NAK) queue.
    AcksKey => Acks {
        /// In the control class: first everywhere, never paused, charged to no buffer.
        Control => Control,
        /// In switches with the data of their flow's class, at hosts before all data, in one queue; a pause of
        /// the first one's class stops them.
        DataClass => Data,
        /// As `data-class`, but no pause stops them at hosts.
        DataClassUnpaused => DataUnpaused,
    }
}

semantic! {
    /// Whose turn it is among the queue pairs of a NIC.
    TurnsKey => Turns {
        /// Round and round, in the order in which they started.
        Ring => Ring,
        /// By SWING's simulator: round and round in the order in which the flows are listed, whichever start first;
        /// and one timer wakes the NIC, at the least pacing time of all queue pairs with something left. It is not
        /// set while that time is past, as that of a queue pair that waits for its window may be, nor while a listed
        /// flow of the host is still to start.
        SwingNs3 => Listed,
        /// By HPCC's simulator: round a list by place, from which finished queue pairs are taken out when they
        /// are come across without the place of the last turn being moved; and one timer wakes the NIC, at the
        /// least pacing time of all queue pairs with something left, so that one that waits for its window
        /// may keep a paced one waiting until something arrives. Hosts have no scheduler then.
        HpccNs3 => List,
        /// By ConWeave's simulator: likewise, but finished queue pairs keep their places, so that turns stay in order,
        /// and those whose pacing time lies in the past do not keep others from waking the NIC.
        ConweaveNs3 => StandingList,
    }
}

semantic! {
    /// When a window lets a packet go.
    WindowKey => WindowRule {
        /// If it fits with what is in flight.
        Whole => Whole,
        /// If less than the window is in flight: the packet may exceed it.
        Overshoot => Overshoot,
    }
}

semantic! {
    /// What a base round-trip time counts.
    BaseRttKey => BaseRtt {
        /// Propagation, pipelines, crossbars, and store and forward of a full packet there and of its ACK back.
        Exact => Exact,
        /// Twice the propagation, and store and forward of a full packet there.
        OneWay => OneWay,
        /// Twice the propagation, and the whole nanoseconds of a full packet's payload at each link there.
        Payload => Payload,
    }
}

semantic! {
    /// Where congestion points draw from.
    DrawsKey => Draws {
        /// Each node from a stream of its own.
        PerNode => PerNode,
        /// As in HPCC's simulator (one thread only): each draw of the run is the first one of the next stream of
        /// ns-3's generator; each pause frame takes one, too, and replies among data are drawn for.
        HpccNs3 => HpccNs3,
        /// As in ConWeave's simulator: each switch draws from a stream of ns-3's generator, the same one for all.
        ConweaveNs3 => ConweaveNs3,
        /// As in SWING's simulator: each switch draws from a stream of ns-3's generator of its own, in their order.
        SwingNs3 => SwingNs3,
    }
}

semantic! {
    /// Whether rates hold packets back.
    PacingKey => Pacing {
        /// They do.
        On => On,
        /// They only scale windows: a rate control without a window does nothing.
        Off => Off,
    }
}

/// Where the seeds of the hashes `swing-ns3` and `hpcc-ns3` come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HashSeeds {
    /// Nowhere but from `hash-seed` of overrides.
    #[default]
    None,
    /// Draws of ns-3's generator with its default seed, one for each switch in order.
    Mrg32k3a,
    /// The number of the switch among all nodes, from 0. Hosts then have the addresses of HPCC's simulator,
    /// which are made of their numbers.
    NodeNumber,
}

/// The order in which routing visits neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Visit {
    /// That of the list of nodes.
    #[default]
    Listed,
    /// From the last of that list to the first, as in the recorded runs of HPCC's simulator.
    Descending,
    /// That of the list, but the first two aggregation switches change places, as they did in the memory of the
    /// published runs.
    SwingNs3,
}

/// From one instant to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "MeasureWindow")]
pub struct Window {
    /// The first instant. Default: 0.
    #[serde(default)]
    pub from: Time,
    /// The first instant after it.
    pub to: Time,
}

/// What ends a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The last measured flow, or the limit.
    #[default]
    Measured,
    /// The last acknowledgement of the last measured flow, or the limit.
    Acknowledged,
    /// The limit.
    Limit,
}

/// What a deadlock does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnDeadlock {
    /// It ends the run.
    #[default]
    Stop,
    /// It is reported, and the run goes on.
    Continue,
}

/// What is kept beyond the tables of flows and counters.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RecordKeys {
    /// Links whose series are kept, both ways. Default: those tagged `long-haul`, and those of 100 us or
    /// more.
    pub watch: Option<Selector>,
    /// How many egress ports more, the busiest. Default: 8.
    pub busiest: usize,
    /// At most this many buckets of a series: of links that are watched by name; of the busiest others, 100. Default: 1000.
    pub buckets: usize,
    /// Whether each pause and resume is kept as it is received, in the table `pauses`: of ten million at most;
    /// how many more there were is in the run's verdicts. Default: false.
    pub pauses: bool,
    /// Whether congestion feedback is kept, in the table `signals`: each mark, CNP and CN of a port's congestion points, and
    /// each change of the state that they say a queue is in; of ten million rows at most, and how many more there
    /// were is in the run's verdicts. Default: false.
    pub signals: bool,
    /// Whose allowances are kept, in the table `allowances`: the pacing rate and the window of a flow's sender, each time
    /// that they change; of ten million rows at most, as above. `true` for all flows, or their workloads: by name or
    /// tag, as `flows` of overrides. Default: nobody's.
    pub allowances: AllowanceKeys,
    /// What each flow has of some links, in the table `shares`: the bytes that each port of them sends of it, by buckets of time.
    /// Default: not kept.
    pub shares: Option<ShareKeys>,
    /// How long the queues of every switch's port were at regular instants, in the table `queue_histogram`.
    /// Default: not kept.
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
    /// Those of these workloads.
    Of(Selector),
}

/// Links whose flows are told apart. Data counts, in bytes on the wire, when it starts.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShareKeys {
    /// The links, both ways.
    pub links: Selector,
    /// Width of a bucket of time, above 0. Of ten million rows at most; how many more there were is in the run's verdicts.
    /// Default: 1 us.
    #[serde(default = "share_bucket")]
    pub bucket: Span,
}

fn share_bucket() -> Span {
    Span::us(1)
}

/// How a run is computed. It changes nothing of what is kept.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct EngineKeys {
    /// Threads of a run, from 1 up; never more than there are nodes, and fewer where links are so short that they would only
    /// wait for one another (`--force-threads` uses them nevertheless). `--threads` wins, and `floodway compare` uses one
    /// unless `--threads` is given. Default: one a core where links are long enough and there is enough to be sent, else one.
    pub threads: Option<usize>,
}

/// Frames that are kept as a file for Wireshark: what links carry, in the bytes that RoCEv2 and 802.1Qbb give it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CaptureKeys {
    /// Links whose frames are kept, both ways, each when its first bit is sent.
    pub links: Selector,
    /// At most so many frames, the first ones of the run, from 1 to 1,000,000; how many more there were is told.
    /// Default: 100,000.
    #[serde(default = "capture_packets")]
    pub packets: usize,
    /// At most so many bytes of each frame, from 64B to 16KB. Default: 16KB, all of it: of packets that are cut,
    /// Wireshark shows the headers, but calls them malformed.
    #[serde(default = "capture_bytes")]
    pub bytes: Bytes,
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
            watch: None,
            busiest: 8,
            buckets: 1000,
            pauses: false,
            signals: false,
            allowances: AllowanceKeys::Whether(false),
            shares: None,
            queue_histogram: None,
            capture: None,
        }
    }
}

/// When, and how finely, the queues of switches are looked at: at `from`, `from` + `every`, and so on to `to`,
/// each as it was before what changed at that very instant. What waits counts, of all classes; the packet on
/// the wire does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HistogramKeys {
    /// The first instant. Default: 0.
    pub from: Time,
    /// No instant is later; a run that ends before has those until its end. Default: the end of the run.
    pub to: Option<Time>,
    /// From one instant to the next, above 0. Default: 100 ns.
    pub every: Span,
    /// Width of a bin, from 64 B up: the i-th one counts the instants that found i to i + 1 widths waiting.
    /// Default: 1 KB.
    pub bin: Bytes,
}

impl Default for HistogramKeys {
    fn default() -> Self {
        HistogramKeys { from: Time::ZERO, to: None, every: Span(100_000), bin: Bytes::kb(1) }
    }
}
