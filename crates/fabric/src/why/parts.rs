//! What a breakdown is made of: causes, parts, and times by what they went to.

use std::collections::BTreeMap;

use floodway_blueprint::network::blueprint::Blueprint;
use floodway_records::table::{NONE, Table, Values};
use floodway_units::cast::narrow;
use floodway_units::{NodeId, PortId, Span, Time};

use super::sent::Sent;
use crate::run::events::NEVER;

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
pub(super) fn texts(values: &[Option<&str>]) -> Values {
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
pub(super) struct Label {
    pub cause: Cause,
    pub port: Option<PortId>,
    pub origin: Option<Origin>,
}

impl Label {
    pub fn of(cause: Cause) -> Self {
        Label { cause, port: None, origin: None }
    }

    pub fn at(cause: Cause, port: PortId) -> Self {
        Label { cause, port: Some(port), origin: None }
    }

    pub fn paused(port: PortId, origin: Option<Origin>) -> Self {
        Label { cause: Cause::Paused, port: Some(port), origin }
    }
}

/// From one instant to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub from: u64,
    pub to: u64,
    pub label: Label,
}

/// Times by what they went to.
#[derive(Clone, Debug, Default)]
pub(super) struct Sums(pub BTreeMap<Label, u64>);

impl Sums {
    /// Adds what of an interval lies between two instants.
    pub fn add(&mut self, interval: &Interval, (from, to): (u64, u64)) {
        let time = interval.to.min(to).saturating_sub(interval.from.max(from));
        if time > 0 {
            *self.0.entry(interval.label).or_default() += time;
        }
    }
}

/// The flow while it is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub slot: u32,
    pub destination: NodeId,
    pub start: u64,
    pub size: u64,
    pub ideal: u64,
    /// Sequence numbers of its first packet, and after its last one.
    pub first: u64,
    pub end: u64,
}

/// A completion time whose breakdown is under way.
#[derive(Debug)]
pub(super) struct Found {
    pub message: Message,
    pub fct: u64,
    pub sums: Sums,
}

impl Found {
    pub fn parts(&self, blueprint: &Blueprint) -> Vec<Part> {
        let name = |origin: Origin| match origin {
            Origin::Port(port) => blueprint.direction(port),
            Origin::Node(node) => blueprint.nodes[node.index()].name.clone(),
        };
        let part = |(label, time): (&Label, &u64)| Part {
            cause: label.cause,
            port: label.port.map(|port| blueprint.direction(port)),
            origin: label.origin.map(name),
            time: Span(*time),
        };
        self.sums.0.iter().map(part).collect()
    }
}

/// A flow that is followed, and the time of it that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Section {
    pub flow: FlowRef,
    /// What is before does not count.
    pub from: u64,
    /// If the flow is not complete then, only its sender counts, whose last packet has left.
    pub until: u64,
}

impl Section {
    /// All of a flow.
    pub fn whole(flow: FlowRef) -> Self {
        Section { flow, from: 0, until: NEVER }
    }

    /// Is the flow of this workload and source?
    pub fn is_of(&self, pair: (u32, NodeId)) -> bool {
        (self.flow.workload, self.flow.source) == pair
    }
}
