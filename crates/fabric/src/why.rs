//! Breakdown of a flow's completion time, to the picosecond (`floodway why`).
//!
//! A flow is complete when a packet arrives after which no byte is missing; this need not be the last packet.
//! What the sender did until the first bit of this packet, and then the path of the packet, cover each
//! instant of the completion time exactly once:
//!
//! ```text
//! start ───────── sender ─────────► first bit ─────────── path of the packet ──────────► complete
//!   own data on the wire, or the first    each hop: serialisation, propagation, switching, and the
//!   thing that kept it from it            wait at the port: paused, held back, queueing
//! ```
//! - Packets of the flow have a [`journey`](journey::Flight) each, written down hop by hop until they arrive
//!   or are lost.
//! - The [state](sender::Standing) of the sender is recorded after each event. Nothing but the time changes
//!   between two events, so the end of what ends by time alone (a packet on the wire, a pacing gap) is known
//!   in advance.
//! - Of each port and class it is known [since when it is stopped](stops::Stops), and where that began
//!   ([`origin`]).
//!
//! A run with a trace executes the same events as one without, draws the same random numbers and records the
//! same bytes; it runs on one thread. Without a trace, this is checked only in places that are slow anyway.

use std::collections::{BTreeMap, VecDeque};

use floodway_units::cast::narrow;
use floodway_units::{NodeId, PortId, Span, Time};
use journey::{Flight, FlightKey};
use origin::Origins;
use rustc_hash::FxHashMap;
use sender::Sender;
pub use sent::Sent;
use stops::Stops;

use crate::records::table::{NONE, Table, Values};

mod follow;
mod journey;
mod origin;
mod path;
mod sections;
mod sender;
mod sent;
mod stops;

pub use path::{CriticalPath, PathPart, PathStep, PathTarget};
use sections::Section;

/// The cause of an instant of a flow's completion time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Its data is on the wire: at the sender's NIC all of it for the first time, behind that the packet that
    /// completes it.
    Serialisation,
    /// That packet is on a link, jitter included.
    Propagation,
    /// It passes a switch: the pipeline, and the crossbar from its first bit to its last.
    Switching,
    /// It waits at a port, and nothing below stops the port; or the sender's NIC is at others' frames.
    Queueing,
    /// The flow control of the link has stopped the class at the port.
    Paused,
    /// A congestion point of the port holds its queue back.
    HeldBack,
    /// It is in the receive buffer of its host, which drains slower than the link: it waits, or is written to
    /// the host's memory.
    ReceiveBuffer,
    /// The sender waits for its pacing time.
    Pacing,
    /// The sender may send nothing before an ACK comes: its window, or the limit of its reliability.
    Window,
    /// Its data is retransmitted, or the sender waits until it may be.
    Retransmission,
    /// Messages that were posted on its queue pair before it are sent, by the sender's NIC.
    Predecessors,
    /// The link of the sender's NIC is down.
    LinkDown,
}

impl Cause {
    /// All, in the order in which they are shown.
    pub const ALL: [Cause; 12] = [
        Cause::Serialisation,
        Cause::Propagation,
        Cause::Switching,
        Cause::Queueing,
        Cause::Paused,
        Cause::HeldBack,
        Cause::ReceiveBuffer,
        Cause::Pacing,
        Cause::Window,
        Cause::Retransmission,
        Cause::Predecessors,
        Cause::LinkDown,
    ];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Serialisation => "serialisation",
            Cause::Propagation => "propagation",
            Cause::Switching => "switching",
            Cause::Queueing => "queueing",
            Cause::Paused => "paused",
            Cause::HeldBack => "held-back",
            Cause::ReceiveBuffer => "receive-buffer",
            Cause::Pacing => "pacing",
            Cause::Window => "window",
            Cause::Retransmission => "retransmission",
            Cause::Predecessors => "predecessors",
            Cause::LinkDown => "link-down",
        }
    }
}

/// A flow, as the table of flows names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRef {
    /// Index of its workload.
    pub workload: u32,
    /// Its sender.
    pub source: NodeId,
    /// Among the flows of its workload's source.
    pub number: u64,
}

/// A part of a flow's completion time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it went to.
    pub cause: Cause,
    /// The egress port where, "link: from>to", if it is one.
    pub port: Option<String>,
    /// Of pauses: the egress port, or the host, where they began.
    pub origin: Option<String>,
    /// How long, in all.
    pub time: Span,
}

/// The breakdown of a flow's completion time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why {
    /// When it started.
    pub start: Time,
    /// From its start to its completion at the receiver.
    pub fct: Span,
    /// What it would have taken alone.
    pub ideal: Span,
    /// They add up to `fct`; none is zero. In the order of causes, then of ports, then of origins.
    pub parts: Vec<Part>,
    /// What its sender transmitted over time.
    pub sent: Sent,
}

impl Why {
    /// One row a part: cause, port, origin, picoseconds.
    pub fn table(&self) -> Table {
        let text = |of: &dyn Fn(&Part) -> Option<&str>| texts(&self.parts.iter().map(of).collect::<Vec<_>>());
        Table::new(vec![
            ("cause", text(&|part| Some(part.cause.name()))),
            ("port", text(&|part| part.port.as_deref())),
            ("origin", text(&|part| part.origin.as_deref())),
            ("time_ps", Values::U64(self.parts.iter().map(|part| part.time.0).collect())),
        ])
    }
}

/// A column of texts, some of which are not there.
fn texts(values: &[Option<&str>]) -> Values {
    let mut dictionary: Vec<&str> = values.iter().copied().flatten().collect();
    dictionary.sort_unstable();
    dictionary.dedup();
    let place = |word: &str| narrow::<u32>(dictionary.partition_point(|&other| other < word));
    let codes = values.iter().map(|value| value.map_or(NONE, place)).collect();
    Values::Text { codes, dictionary: dictionary.into_iter().map(str::to_owned).collect() }
}

/// Where a pause began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Origin {
    /// An egress port that drains less than arrives for it.
    Port(PortId),
    /// A node that pauses for reasons of its own, such as a forced pause.
    Node(NodeId),
}

/// What an instant goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Label {
    cause: Cause,
    port: Option<PortId>,
    origin: Option<Origin>,
}

impl Label {
    fn of(cause: Cause) -> Self {
        Label { cause, port: None, origin: None }
    }

    fn at(cause: Cause, port: PortId) -> Self {
        Label { cause, port: Some(port), origin: None }
    }

    fn paused(port: PortId, origin: Option<Origin>) -> Self {
        Label { cause: Cause::Paused, port: Some(port), origin }
    }
}

/// From one instant to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Interval {
    from: u64,
    to: u64,
    label: Label,
}

/// Times by what they went to.
#[derive(Clone, Debug, Default)]
struct Sums(BTreeMap<Label, u64>);

impl Sums {
    /// Adds what of an interval lies between two instants.
    fn add(&mut self, interval: &Interval, (from, to): (u64, u64)) {
        let time = interval.to.min(to).saturating_sub(interval.from.max(from));
        if time > 0 {
            *self.0.entry(interval.label).or_default() += time;
        }
    }
}

/// The flow while it is under way.
#[derive(Clone, Copy, Debug)]
struct Message {
    slot: u32,
    destination: NodeId,
    start: u64,
    size: u64,
    ideal: u64,
    /// Sequence numbers of its first packet, and after its last one.
    first: u64,
    end: u64,
}

/// A completion time whose breakdown is under way.
#[derive(Debug)]
struct Found {
    message: Message,
    fct: u64,
    sums: Sums,
}

/// What is recorded for one flow, or for several one after another.
#[derive(Debug)]
pub(crate) struct Trace {
    /// The flow that is followed, and of what time.
    section: Section,
    /// Those that are followed after it, and what was found of those before.
    next: VecDeque<Section>,
    before: Vec<Found>,
    /// By queue pair that several messages may share: workload and source, where flows are to follow.
    open_pairs: BTreeMap<u32, (u32, NodeId)>,
    /// The run goes on when the flow is complete.
    to_end: bool,
    message: Option<Message>,
    /// Queue pairs that carry the flow, or may.
    slots: Vec<u32>,
    /// Their packets that may still arrive.
    flights: BTreeMap<FlightKey, Flight>,
    /// By port class: when the last frame of the class that the port has sent is off its transmitter.
    busy: Vec<u64>,
    /// By port class: when the flow control of the link stopped it.
    paused: Vec<Stops>,
    /// By port: when a congestion point held the flow's queue back.
    held: Vec<Stops>,
    origins: Origins,
    sender: Option<Sender>,
    sent: Sent,
    /// By queue pair: when its last packet is off the NIC's transmitter.
    off: FxHashMap<u32, u64>,
    found: Option<Found>,
}

impl Trace {
    /// Has the flow still to start?
    fn is_open(&self) -> bool {
        self.message.is_none()
    }

    /// Is the flow under way?
    fn is_live(&self) -> bool {
        self.message.is_some() && self.found.is_none()
    }

    /// Forgets the packets that have arrived and completed nothing; those behind one that is late are kept
    /// for as long.
    fn forget(&mut self, now: u64) {
        while self.flights.first_key_value().is_some_and(|(_, flight)| flight.is_over(now)) {
            self.flights.pop_first();
        }
    }

    /// No packet that may still arrive has waited anywhere before this instant, and what the sender did
    /// before is noted.
    fn oldest(&self, now: u64) -> u64 {
        let packets = self.flights.first_key_value().map_or(now, |(key, _)| key.stamp);
        self.sender.as_ref().map_or(packets, |sender| packets.min(sender.known))
    }
}
