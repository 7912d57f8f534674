//! Machines in a switch: routing, admission to its buffer, scheduling of a port.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::{Bytes, Class, PortId, QueueId, Rate, Rng, Time};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Gate, IngressView, PacketView, QueueView, Signals, Sizing};

/// Addresses and ports of a flow, as switches hash them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct FlowTuple {
    /// Address of the sender.
    pub source: u32,
    /// Address of the receiver.
    pub destination: u32,
    /// UDP source port (the flow's entropy).
    pub source_port: u16,
    /// UDP destination port, or its substitute.
    pub destination_port: u16,
}

impl FlowTuple {
    /// The tuple of the reply packets.
    pub fn reversed(self) -> FlowTuple {
        FlowTuple {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
        }
    }

    /// All of it as one number; distinct tuples give distinct numbers only after hashing.
    pub fn key(self) -> u64 {
        let addresses = u64::from(self.source) << 32 | u64::from(self.destination);
        let ports = u64::from(self.source_port) << 16 | u64::from(self.destination_port);
        floodway_units::fold(floodway_units::mix(addresses), ports)
    }
}

/// The fixed values of a switch when its router is built.
#[derive(Clone, Copy, Debug)]
pub struct SwitchInfo {
    /// A key of the run's seed and the switch's name.
    pub key: u64,
    /// The seed of its hash in a profile that defines one.
    pub hash_seed: Option<u32>,
}

/// Properties of a candidate port that a router may read.
#[derive(Clone, Copy, Debug)]
pub struct PortView {
    /// The port.
    pub port: PortId,
    /// Bytes of data waiting there.
    pub queued: Bytes,
    /// Its rate.
    pub rate: Rate,
    /// Its link is up.
    pub up: bool,
    /// The signals of its congestion points.
    pub signals: Signals,
    /// The packet's flow is held there.
    pub harmful: bool,
    /// Packets of its flow wait there, if the port knows: a port whose discipline has several queues does.
    pub holds_flow: bool,
}

hooks! {
    ($)
    /// Chooses among equal-cost ports; one per switch.
    pub trait Router: Sync => router for machines {
        /// The choice where it depends on the flow alone, so that it is made once per flow: hosts of several
        /// threads may call it at once.
        fn by_flow(&self, _flow: &FlowTuple, _ways: usize) -> Option<usize> {
            None
        }

        /// Must the candidates' views be filled in (all but `port`)?
        fn reads_ports(&self) -> bool {
            false
        }

        /// The port that this packet takes while [`stays`](Router::stays) is true for it, so that only that
        /// port is examined: an index into `ports`; `None` where all views decide.
        fn usual_port(&mut self, _p: &PacketView, _ports: &[PortId]) -> Option<usize> {
            None
        }

        /// Does this packet take its usual path, given the view of its port?
        fn stays(&self, _p: &PacketView, _at: &PortView) -> bool {
            true
        }

        /// The choice for this packet: an index into `candidates`, which is never empty.
        fn route(&mut self, now: Time, rng: &mut Rng, p: &PacketView, candidates: &[PortView]) -> usize;
    }
}

/// The state of the pool for one ingress and class.
#[derive(Clone, Copy, Debug)]
pub struct PoolView {
    /// Free bytes of the pool (of a static buffer: below headroom).
    pub free: Bytes,
    /// Where `shared` ends and headroom begins, according to the flow control.
    pub threshold: Bytes,
    /// Size of the headroom.
    pub headroom: Bytes,
    /// Free bytes of the headroom that the switch's ports share; `Bytes::MAX` where each has its own.
    pub headroom_free: Bytes,
    /// Size of a static buffer, headroom included; `Bytes::MAX` with a shared pool.
    pub size: Bytes,
    /// Bytes that the switch's egress queues of data hold beyond those reserved for each; zero where
    /// admission does not ask for it ([`Admission::egress_reserve`]).
    pub egress_used: Bytes,
    /// Bytes that the packet's egress queue may hold; `Bytes::MAX` where it has no bound ([`OutputPlan`]).
    pub queue_room: Bytes,
}

/// The account that the packet which crosses the flow control's threshold is charged to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Crossing {
    /// The shared part, which then exceeds the threshold by one byte less than a frame at most.
    /// Source: floodway's choice.
    #[default]
    Shared,
    /// The headroom, whole; it then needs one frame more. Source: the HPCC and SWING simulators.
    Headroom,
    /// The shared part, however far beyond the threshold, while the pool has room for it; then the headroom.
    /// Source: ConWeave's simulator, whose threshold only pauses.
    Pool,
}

impl Crossing {
    /// Do `added` bytes fit below `threshold`, where `shared` bytes are already? (`added` is the part of a
    /// frame beyond the reserve.)
    #[inline]
    pub fn is_below(self, shared: Bytes, added: Bytes, threshold: Bytes) -> bool {
        match self {
            Crossing::Shared => shared < threshold,
            Crossing::Headroom => shared.saturating_add(added) <= threshold,
            Crossing::Pool => true,
        }
    }
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// No room at the ingress.
    Buffer,
    /// No room at the egress (a queue over its share).
    Egress,
    /// Damaged on a link.
    LinkError,
    /// On a link that went down, or waiting for it.
    LinkDown,
    /// No path to its destination.
    NoRoute,
    /// Discarded by a watchdog.
    Watchdog,
    /// Selected by a congestion point.
    Selective,
    /// No room in a queue that may lose packets, or for packets from one.
    IsolatedFull,
    /// A control message, such as a credit, that exceeds a port's meter.
    Metered,
}

impl DropReason {
    /// All of them, in the order of their columns.
    pub const ALL: [DropReason; 9] = [
        DropReason::Buffer,
        DropReason::Egress,
        DropReason::LinkError,
        DropReason::LinkDown,
        DropReason::NoRoute,
        DropReason::Watchdog,
        DropReason::Selective,
        DropReason::IsolatedFull,
        DropReason::Metered,
    ];

    /// Was the packet lost by a failure, not by a buffer or a choice of a congestion point?
    pub fn is_failure(self) -> bool {
        matches!(
            self,
            DropReason::LinkError | DropReason::LinkDown | DropReason::NoRoute | DropReason::Watchdog
        )
    }

    /// Its name in columns and messages.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::Buffer => "buffer",
            DropReason::Egress => "egress",
            DropReason::LinkError => "link_error",
            DropReason::LinkDown => "link_down",
            DropReason::NoRoute => "no_route",
            DropReason::Watchdog => "watchdog",
            DropReason::Selective => "selective",
            DropReason::IsolatedFull => "isolated_full",
            DropReason::Metered => "metered",
        }
    }
}

/// The account that a packet is charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admit {
    /// Inside the reserve.
    Reserved,
    /// Above it: the part of the pool (reserve first, the rest shared).
    Shared,
    /// To headroom, whole.
    Headroom,
    /// Nowhere, without its payload: its header goes on in the control class.
    Cut,
    /// Inside the shared part, and the packet that came last to its egress queue loses its payload, or is
    /// dropped where none is cut.
    CutLast,
    /// Nowhere.
    Drop(DropReason),
}

/// How large a switch's shared pool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoolSize {
    /// The pool itself; reserves and headroom come on top.
    Pool(Bytes),
    /// All of the switch's memory; reserves and headroom come out of it.
    Total(Bytes),
}

/// An admission's use of a switch's memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BufferPlan {
    /// A buffer of each (ingress port, class) alone; with a crossbar, of each (ingress port, egress port,
    /// class).
    pub own: Option<Sizing>,
    /// A pool shared by the switch.
    pub pool: Option<PoolSize>,
    /// Headroom that the switch's ports share, where not each has its own.
    pub headroom: Option<Bytes>,
    /// Set aside for each (ingress port, class).
    pub reserve: Bytes,
    /// Packets wait at the inputs, for each output separately, and cross to queues at the outputs.
    pub crossbar: Option<CrossbarPlan>,
    /// Output queues have bounds of their own, and inputs none.
    pub output: Option<OutputPlan>,
}

/// The bounds of the output queues of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputPlan {
    /// Of each queue of data.
    pub queue: Bytes,
    /// Of the queue of the control class.
    pub control: Bytes,
    /// A packet that finds no room may lose its payload alone: its header goes on.
    pub trims: bool,
    /// The class of such headers; none where they go with the control class.
    pub trim_class: Option<Class>,
    /// Bytes of a packet that has lost its payload; none for those of the run's headers.
    pub trim_size: Option<Bytes>,
}

impl OutputPlan {
    /// The bounds of a port whose queues of data have a room of their own, if it has one: its control class
    /// has twice as much.
    #[must_use]
    pub fn with_room(self, own: Option<Bytes>) -> Self {
        own.map_or(self, |room| OutputPlan { queue: room, control: room + room, ..self })
    }
}

/// How an input-output queued switch takes packets from its inputs to its outputs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossbarPlan {
    /// Room of an output queue, of each (egress port, class).
    pub output: Bytes,
    /// How much faster than the switch's fastest link packets cross.
    pub speed_up: f64,
}

hooks! {
    ($)
    /// Decides where an arriving packet is charged; one per ingress port.
    pub trait Admission => admission for machines {
        /// The decision for a packet of class `p.class`; `i` and `e` do not include it.
        fn admit(
            &mut self,
            now: Time,
            rng: &mut Rng,
            p: &PacketView,
            i: &IngressView,
            e: &QueueView,
            pool: &PoolView,
        ) -> Admit;

        /// A hint for speed: is a packet admitted below headroom wherever it keeps `shared` below the
        /// threshold, and the pool and `queue_room` have room for it, whatever the egress queue holds?
        fn is_plain(&self) -> bool {
            false
        }

        /// Where it is plain and the class has no threshold: up to which length of the egress queue, with the
        /// packet, that holds while so much of the pool is free.
        fn plain_up_to(&self, _pool_free: Bytes) -> Bytes {
            Bytes::MAX
        }

        /// Bytes reserved for each egress queue, if `PoolView::egress_used` is needed.
        fn egress_reserve(&self) -> Option<Bytes> {
            None
        }
    }
}

/// A queue of an egress port that has something to send.
#[derive(Clone, Copy, Debug)]
pub struct ReadyView {
    /// The queue.
    pub queue: QueueId,
    /// Bytes waiting.
    pub len: Bytes,
    /// Wire bytes of its first frame.
    pub head: Bytes,
    /// Whether it may send.
    pub gate: Gate,
}

hooks! {
    ($)
    /// Chooses the queue that sends next; one per egress port. The control class is served before it is
    /// called.
    pub trait Scheduler => scheduler for machines {
        /// One of `queues` whose gate is open at `now`, or none. It must not depend on the number of calls.
        /// Not called where a run has one queue of data at each port: there is nothing to choose.
        fn pick(&mut self, now: Time, queues: &[ReadyView]) -> Option<QueueId>;

        /// A frame of `wire` bytes of queue `q` starts on the wire.
        fn on_sent(&mut self, _now: Time, _q: QueueId, _wire: Bytes) {}
    }
}
