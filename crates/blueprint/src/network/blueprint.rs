//! Blueprint: what is to be simulated, as plain values; the one input of a fabric.
//!
//! Links and nodes are numbered by their place in the lists; the egress of end `i` of link `l` is
//! port `2 l + i`, and its peer is port `2 l + 1 - i`.

mod host;
mod link_retry;
mod own;
mod parts;
mod semantics;

use std::sync::Arc;

use floodway_mechanisms::registry::{
    BufferParams, CongestionPointParams, FlowControlParams, LinkRetryParams, NotificationParams,
    ReactionParams, ReliabilityParams, RoutingParams, SchedulerParams,
};
use floodway_programs::Program;
use floodway_units::{Bytes, Class, NodeId, PortId, Rate, Span, Time};
use floodway_wire::Format;
use rustc_hash::FxHashMap;

use crate::traffic::destinations::DestinationPattern;
use crate::traffic::sizes::Sizes;

pub use self::host::{NicPolicy, ReceiveSpec};
pub use self::parts::job;
pub use self::semantics::{
    Acks, BaseRtt, Draws, LinkControl, Pacing, RateTimers, Release, Repacing, Rounding, Semantics, Starts,
    Ties, Turns, WindowRule,
};

/// A whole network with its traffic.
#[derive(Clone, Debug)]
pub struct Blueprint {
    /// Seeds every random stream and tie.
    pub seed: u64,
    /// Headers of packets.
    pub wire: Format,
    /// Payload of a full packet.
    pub mtu: Bytes,
    /// Points in which other simulators differ.
    pub semantics: Semantics,
    /// Hosts and switches.
    pub nodes: Vec<NodeSpec>,
    /// Links among them.
    pub links: Vec<LinkSpec>,
    /// Scale-up domains of hosts; a host is in one at most.
    pub scale_up: Vec<ScaleUp>,
    /// How flows are sent; workloads and flows refer to these by index.
    pub settings: Vec<FlowSettings>,
    /// Traffic.
    pub workloads: Vec<WorkloadSpec>,
    /// When the run ends.
    pub end: End,
    /// What is kept of it beyond the tables of flows and counters.
    pub records: RecordSpec,
}

/// Scale-up domains by host.
#[derive(Clone, Debug, Default)]
pub struct Domains(FxHashMap<NodeId, u32>);

impl Domains {
    /// The domain of a host, in the blueprint's list.
    pub fn of(&self, host: NodeId) -> Option<u32> {
        self.0.get(&host).copied()
    }

    /// Do two ranks on these hosts reach each other without the network?
    pub fn join(&self, a: NodeId, b: NodeId) -> bool {
        self.of(a).is_some_and(|domain| self.of(b) == Some(domain))
    }
}

impl Blueprint {
    /// Scale-up domains by host.
    pub fn domains(&self) -> Domains {
        let domains = (0..).zip(&self.scale_up);
        Domains(
            domains.flat_map(|(index, domain)| domain.hosts.iter().map(move |&host| (host, index))).collect(),
        )
    }
}

/// A host or switch.
#[derive(Clone, Debug)]
pub struct NodeSpec {
    /// Its name, unique.
    pub name: String,
    /// What generators and users call its kind.
    pub tags: Vec<String>,
    /// Host or switch.
    pub role: Role,
    /// Place in the order in which routing visits neighbours, which orders equal-cost ports.
    pub rank: u32,
}

/// What a node does.
#[derive(Clone, Debug)]
pub enum Role {
    /// Sends and receives flows, forwards nothing.
    Host {
        /// Its address, as switches hash it.
        address: u32,
        /// Which of its NICs sends.
        nics: NicPolicy,
    },
    /// Forwards packets.
    Switch(SwitchSpec),
}

/// What is chosen for a switch.
#[derive(Clone, Debug)]
pub struct SwitchSpec {
    /// Its buffer, for ports that have none of their own.
    pub buffer: BufferParams,
    /// Choice among equal-cost ports.
    pub routing: RoutingParams,
    /// Hash seed in a profile that knows one.
    pub hash_seed: Option<u32>,
    /// From a packet's arrival to its place in the egress queue.
    pub pipeline: Span,
    /// Its buffer's cell: a packet occupies whole cells. At most 1 where it counts bytes.
    pub cell: Bytes,
    /// Its ports, where it is a relay on a link and not a switch.
    pub relay: Option<RelayPorts>,
    /// When a relay is bypassed, from and to, in order and apart: its two links are joined, as by an optical
    /// switch.
    pub bypass: Vec<(Time, Time)>,
}

impl Role {
    /// Its ports, if it is a relay.
    pub fn relay(&self) -> Option<RelayPorts> {
        match self {
            Role::Switch(switch) => switch.relay,
            Role::Host { .. } => None,
        }
    }

    /// Which of its NICs sends, if it is a host.
    pub fn nics(&self) -> NicPolicy {
        match self {
            Role::Host { nics, .. } => *nics,
            Role::Switch(_) => NicPolicy::default(),
        }
    }

    /// When it is bypassed, if it is a relay.
    pub fn bypass(&self) -> &[(Time, Time)] {
        match self {
            Role::Switch(SwitchSpec { relay: Some(_), bypass, .. }) => bypass,
            Role::Switch(_) | Role::Host { .. } => &[],
        }
    }
}

/// The ports of a relay. It is no hop for routing: what comes in by one port leaves by the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RelayPorts {
    /// Toward the switch or host that it stands at.
    pub local: PortId,
    /// At the link that it is for, whose flow control says what it relays.
    pub remote: PortId,
}

impl RelayPorts {
    /// The port by which what came in by `port` leaves.
    pub fn other(self, port: PortId) -> PortId {
        if port == self.local { self.remote } else { self.local }
    }
}

/// A full-duplex link.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    /// Its name, unique.
    pub name: String,
    /// What generators and users call its kind.
    pub tags: Vec<String>,
    /// Its two ends.
    pub ends: [EndSpec; 2],
    /// `directions[i]` carries data from `ends[i]` to the other end.
    pub directions: [DirectionSpec; 2],
    /// When it is down, from and to, in order and apart.
    pub down: Vec<(Time, Time)>,
    /// How long until its ends know that it is down, or up again.
    pub detection: Span,
    /// How long from then until all routes are recomputed.
    pub convergence: Span,
}

/// A port: one end of a link.
#[derive(Clone, Debug)]
pub struct EndSpec {
    /// The node it is at.
    pub node: NodeId,
    /// A buffer of its own for what arrives here.
    pub buffer: Option<BufferParams>,
    /// Order of its queues.
    pub scheduler: SchedulerParams,
    /// Machines on its egress.
    pub congestion_points: Vec<CongestionPointParams>,
    /// Room of its output queue, if not that of its switch; the control class has twice as much.
    pub output_queue: Option<Bytes>,
    /// Forced pauses that it sends, whatever its buffer holds (a broken NIC).
    pub pauses: Vec<PauseFault>,
    /// Of a host's port: how its host takes in what arrives; none where it does so at once.
    pub receive: Option<ReceiveSpec>,
    /// Of a host's port: when, after its link is known to be down, queue pairs move to others, if any do.
    pub failover: Option<Span>,
}

/// A port that pauses its upstream from one time to another, refreshed in timer mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseFault {
    /// The class that stops.
    pub class: Class,
    /// First pause.
    pub from: Time,
    /// Resume; `Time::NEVER` for a pause without end.
    pub to: Time,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct DirectionSpec {
    /// Line rate.
    pub rate: Rate,
    /// Propagation, never zero.
    pub delay: Span,
    /// From when on propagation takes another time, in order. No frame overtakes those that are on the link.
    pub switchovers: Vec<(Time, Span)>,
    /// Up to this much is added at random to each frame's propagation; order is kept.
    pub jitter: Span,
    /// Flow control of the classes that have one; the others are lossy.
    pub flow_control: Vec<(Class, FlowControlParams)>,
    /// Random losses.
    pub errors: ErrorRates,
    /// Retry of the frames that the link damages.
    pub link_retry: LinkRetryParams,
}

impl LinkSpec {
    /// The shorter of the shortest delays of its directions.
    pub fn shortest_delay(&self) -> Span {
        let [there, back] = self.directions.each_ref().map(DirectionSpec::shortest_delay);
        there.min(back)
    }

    /// The nodes at its ends.
    pub fn nodes(&self) -> [usize; 2] {
        self.ends.each_ref().map(|end| end.node.index())
    }

    /// Does it go down at some time, or its delay change?
    pub fn changes(&self) -> bool {
        !self.down.is_empty() || self.directions.iter().any(|of| !of.switchovers.is_empty())
    }
}

impl DirectionSpec {
    /// Propagation at all times of the run.
    pub fn delays(&self) -> impl Iterator<Item = Span> {
        self.switchovers.iter().map(|&(_, delay)| delay).chain([self.delay])
    }

    /// The longest propagation at any time of the run: what buffers are sized for.
    pub fn longest_delay(&self) -> Span {
        self.delays().max().unwrap_or_default()
    }

    /// The shortest propagation at any time of the run: how far the ends may be apart in simulated time.
    pub fn shortest_delay(&self) -> Span {
        self.delays().min().unwrap_or_default()
    }
}

/// A scale-up domain (NVLink): GPUs of a node, or of several, which reach each other without the packet
/// network. A message there takes the latency and its bytes over the rate, in turn at the port of each rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaleUp {
    /// Hosts of its GPUs.
    pub hosts: Vec<NodeId>,
    /// Rate of a GPU's port, the same in both directions.
    pub rate: Rate,
    /// From the first byte's start at the sender to its arrival.
    pub latency: Span,
}

/// Probability that a frame is damaged, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ErrorRates {
    /// Data packets.
    pub data: f64,
    /// ACK, NAK and CNP.
    pub control: f64,
    /// Link control frames (PFC and its like).
    pub link_control: f64,
}

impl ErrorRates {
    /// Can any frame be damaged?
    pub fn any(&self) -> bool {
        self.data + self.control + self.link_control > 0.0
    }
}

/// How the flows of a group are sent.
#[derive(Clone, Debug)]
pub struct FlowSettings {
    /// Their class.
    pub class: Class,
    /// Loss recovery.
    pub reliability: ReliabilityParams,
    /// The stack of reaction points, the lowest first.
    pub rate_control: Vec<ReactionParams>,
    /// At the receiver.
    pub notification: NotificationParams,
    /// Which flows share a queue pair.
    pub qp: Sharing,
    /// Payload of their full packets, at most the run's `mtu`; that, where it is not given.
    pub payload: Option<Bytes>,
}

/// Which flows share a queue pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// None: each has one of its own.
    #[default]
    PerFlow,
    /// Those of a workload from one host to another with the same settings, ports and paths: they are
    /// messages of one queue pair, sent in the order in which they start.
    PerPair,
}

/// A named source of flows.
#[derive(Clone, Debug)]
pub struct WorkloadSpec {
    /// Its name, unique; results keep it.
    pub name: String,
    /// Index of its flows' settings.
    pub settings: usize,
    /// When its flows start, and which.
    pub arrivals: Arrivals,
    /// Flows that start in this span are measured: from, to (exclusive).
    pub measure: (Time, Time),
    /// No flow that waits for others starts at this time or later; `Time::NEVER` to the end of the run.
    pub until: Time,
}

/// When flows start, and which.
#[derive(Clone, Debug)]
pub enum Arrivals {
    /// Explicit flows, in order of their start.
    List(Vec<FlowSpec>),
    /// An independent Poisson process at each source.
    Poisson(PoissonSpec),
    /// Messages that follow each other as they complete.
    ClosedLoop(Vec<LoopSpec>),
    /// A job: operations of ranks that wait for each other.
    Program(ProgramSpec),
}

impl Arrivals {
    /// Does this loop post a flow as soon as the one before has left the NIC?
    pub fn is_back_to_back(&self, index: usize) -> bool {
        matches!(self, Arrivals::ClosedLoop(loops) if loops[index].next == Next::Left)
    }
}

/// A job: what its ranks do, and where they are.
#[derive(Clone, Debug)]
pub struct ProgramSpec {
    /// The operations of its ranks.
    pub program: Arc<Program>,
    /// The host of each rank. Several ranks may have one.
    pub hosts: Vec<NodeId>,
    /// When its ranks begin.
    pub start: Time,
    /// Does each of its messages have a row in the table of flows?
    pub rows: bool,
}

impl ProgramSpec {
    /// Messages that enter the network, and their bytes.
    pub fn offered(&self, domains: &Domains) -> (u64, u64) {
        let mut sum = (0_u64, 0_u64);
        for (rank, &from) in (0..).zip(&self.hosts) {
            self.program.each_peer(rank, |_, to, messages, bytes| {
                if !domains.join(from, self.hosts[to as usize]) {
                    sum = (sum.0.saturating_add(messages), sum.1.saturating_add(bytes));
                }
            });
        }
        let iterations = u64::from(self.program.iterations);
        (sum.0.saturating_mul(iterations), sum.1.saturating_mul(iterations))
    }
}

/// Messages on one queue pair of their own, each posted when another one completes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopSpec {
    /// Sender.
    pub source: NodeId,
    /// Receiver.
    pub destination: NodeId,
    /// Payload of each message.
    pub size: Bytes,
    /// Messages in all.
    pub messages: u64,
    /// So many of them are posted when it starts.
    pub depth: u64,
    /// When it starts.
    pub start: Time,
    /// What posts the others.
    pub next: Next,
}

/// What posts the next message of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// One of its own is complete at the sender: its last byte is acknowledged, or has left the NIC where
    /// nothing is acknowledged.
    Sent,
    /// The last byte of one of its own has left the NIC, for the first time. Each message is then a flow as
    /// others are, with a queue pair of its own unless its settings share them.
    Left,
    /// One of this loop of the workload, which leads here, has arrived whole.
    Arrived(usize),
}

/// Poisson arrivals.
#[derive(Clone, Debug)]
pub struct PoissonSpec {
    /// Hosts that send, each at the same rate.
    pub sources: Vec<NodeId>,
    /// Hosts that receive, in order of their numbers; never the source itself.
    pub destinations: Vec<NodeId>,
    /// How they are drawn.
    pub pattern: DestinationPattern,
    /// Flow sizes.
    pub sizes: Sizes,
    /// Mean time between two flows of one source.
    pub mean_gap: Span,
    /// No flow starts before.
    pub from: Time,
    /// No flow starts at this time or later; `Time::NEVER` to the end of the run.
    pub until: Time,
}

/// The size of a flow that never ends.
pub const UNBOUNDED: Bytes = Bytes(u64::MAX >> 4);

/// One explicit flow.
#[derive(Clone, Debug)]
pub struct FlowSpec {
    /// Sender.
    pub source: NodeId,
    /// Receiver.
    pub destination: NodeId,
    /// Payload; [`UNBOUNDED`] for a flow that never ends, which is not measured.
    pub size: Bytes,
    /// When it starts; not before, if it waits for others.
    pub start: Time,
    /// Flows of the list, by their place, that must be complete before it starts: as its own sender sees
    /// it, so each must end at its source (at the last byte's arrival) or begin there (when it is complete
    /// at the sender).
    pub after: Vec<usize>,
    /// It starts so long after the last of them.
    pub wait: Span,
    /// As switches hash it, where the list names one (else numbered in order).
    pub source_port: Option<u16>,
    /// As switches hash it, where the list names one.
    pub destination_port: Option<u16>,
    /// Egress ports of its data, from the sender's NIC on, where it is pinned.
    pub path: Option<Vec<PortId>>,
    /// Egress ports of its ACKs, from the receiver's NIC on, where they are pinned.
    pub ack_path: Option<Vec<PortId>>,
    /// Index of its settings, where they differ from the workload's.
    pub settings: Option<usize>,
    /// Its place in the list as it was written, which need not be in order of the starts.
    pub place: usize,
}

/// When the run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Never later.
    pub limit: Time,
    /// At the limit even if all measured flows finish before.
    pub at_limit: bool,
    /// Not before all measured flows are complete at their senders, too.
    pub acknowledged: bool,
    /// End when a deadlock is found.
    pub stop_on_deadlock: bool,
}

/// What is kept beyond the tables of flows and counters.
#[derive(Clone, Debug)]
pub struct RecordSpec {
    /// Egress ports whose series are always kept.
    pub watch: Vec<PortId>,
    /// How many more, the busiest.
    pub busiest: usize,
    /// At most this many buckets of a series.
    pub buckets: usize,
    /// At most this many pauses and resumes, each as it was received; none are kept by default.
    pub pauses: Option<usize>,
    /// At most this many marks, CNPs and changes of state of congestion points; none are kept by default.
    pub signals: Option<usize>,
    /// What senders may, each time that it changes; not kept by default.
    pub allowances: Option<AllowanceSpec>,
    /// What each flow has of chosen ports; not kept by default.
    pub shares: Option<ShareSpec>,
    /// At most this many operations of ranks of jobs.
    pub operations: usize,
    /// How long the queues of switches were; not kept by default.
    pub queue_histogram: Option<HistogramSpec>,
    /// Frames that are captured.
    pub capture: Option<CaptureSpec>,
}

/// Whose allowances are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowanceSpec {
    /// Indices of the workloads whose flows they are.
    pub workloads: Vec<usize>,
    /// Maximum number of rows.
    pub rows: usize,
}

/// The ports at which flows are counted separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareSpec {
    /// The ports that send them.
    pub ports: Vec<PortId>,
    /// Width of a bucket of time, above 0.
    pub bucket: Span,
    /// Maximum number of rows.
    pub rows: usize,
}

/// Which frames are captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureSpec {
    /// The ports that send them.
    pub ports: Vec<PortId>,
    /// Maximum number of frames, the first ones of the run.
    pub packets: usize,
    /// Maximum number of bytes of each frame.
    pub bytes: usize,
    /// The DSCP of the packets of each class.
    pub dscp: [u8; Class::COUNT],
}

impl CaptureSpec {
    /// The class selector of each class (RFC 2474, 4.2.2): 24 for class 3, 48 for the control class.
    pub const CLASS_SELECTORS: [u8; Class::COUNT] = [0, 8, 16, 24, 32, 40, 48, 56];
}

/// So many operations of jobs are kept by default.
pub const OPERATIONS: usize = 4_000_000;

impl Default for RecordSpec {
    fn default() -> Self {
        RecordSpec {
            watch: Vec::new(),
            busiest: 8,
            buckets: 1000,
            pauses: None,
            signals: None,
            allowances: None,
            shares: None,
            operations: OPERATIONS,
            queue_histogram: None,
            capture: None,
        }
    }
}

/// When, and how finely, the queues of switches are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistogramSpec {
    /// The first instant.
    pub from: Time,
    /// No instant is later.
    pub to: Time,
    /// From one instant to the next, above 0.
    pub every: Span,
    /// Width of a bin, above 0.
    pub bin: Bytes,
}
