//! Why a flow took as long as it did: its completion time taken apart, to the picosecond.
//!
//! A flow is complete when a packet arrives behind which nothing is missing any more, whichever number that has. The way
//! of this packet, from its first bit on, and what its sender did until then leave no instant out and count none twice:
//!
//! ```text
//! start ───────── sender ─────────► first bit ─────────── way of the packet ───────────► complete
//!   own data on the wire, or the first    each hop: serialisation, propagation, switching, and the
//!   thing that kept it from it            wait at the port: paused, held back, queueing
//! ```
//! - Packets of the flow have a [`journey`](journey::Flight) each, written down hop by hop until they arrive or are lost.
//! - Of the sender it is noted after each event what it [stands](sender::Standing) at: between two events only the clock
//!   moves on, so that what ends by time alone (a packet on the wire, a pacing gap) is known beforehand.
//! - Of each port and class it is known [since when it is stopped](stops::Stops), and where that began ([`origin`]).
//!
//! A run with a trace goes through every event as one without, draws the same random numbers and keeps the same bytes; it
//! runs in one partition. Without a trace nothing of this is looked at but on ways that are slow anyway.

mod journey;
mod origin;
mod sender;
mod stops;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use floodway_engine::Advance;
use floodway_units::{NodeId, PortId, Span, Time};
use rustc_hash::FxHashMap;

use crate::host::messages::Outgoing;
use crate::link::arena::Place;
use crate::link::packet::Packet;
use crate::network::layout::Local;
use crate::records::table::{NONE, Table, Values};
use crate::records::tally::FlowKey;
use crate::run::at_node::AtNode;
use crate::run::world::{STOP_CHECK, World};

use journey::Flight;
use origin::Origins;
use sender::Sender;
use stops::Stops;

/// What an instant of a flow's completion time went to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// Its data is on the wire: at the sender's NIC all of it for the first time, behind that the packet that completes it.
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
    /// The sender waits for its pacing time.
    Pacing,
    /// The sender may send nothing before an ACK comes: its window, or the limit of its reliability.
    Window,
    /// Its data is sent again, or the sender waits until it may be.
    Retransmission,
    /// Messages that were posted on its queue pair before it are sent.
    Predecessors,
    /// The link of the sender's NIC is down.
    LinkDown,
}

impl Cause {
    /// All, in the order in which they are shown.
    pub const ALL: [Cause; 11] = [
        Cause::Serialisation,
        Cause::Propagation,
        Cause::Switching,
        Cause::Queueing,
        Cause::Paused,
        Cause::HeldBack,
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

/// A flow's completion time, taken apart.
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
}

impl Why {
    /// One row a part: cause, port, origin, picoseconds.
    pub fn table(&self) -> Table {
        let text = |of: &dyn Fn(&Part) -> Option<&str>| {
            let mut dictionary: Vec<String> = self.parts.iter().filter_map(of).map(str::to_owned).collect();
            dictionary.sort_unstable();
            dictionary.dedup();
            let place = |word: &str| dictionary.partition_point(|other| other.as_str() < word) as u32;
            let codes = self.parts.iter().map(|part| of(part).map_or(NONE, place)).collect();
            Values::Text { codes, dictionary }
        };
        Table::new(vec![
            ("cause", text(&|part| Some(part.cause.name()))),
            ("port", text(&|part| part.port.as_deref())),
            ("origin", text(&|part| part.origin.as_deref())),
            ("time_ps", Values::U64(self.parts.iter().map(|part| part.time.0).collect())),
        ])
    }
}

/// Where a pause began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Origin {
    /// An egress port that takes less than comes for it.
    Port(PortId),
    /// A node that pauses of its own accord.
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

/// A completion time that is taken apart.
#[derive(Debug)]
struct Found {
    message: Message,
    fct: u64,
    sums: Sums,
}

/// What is written down for the sake of one flow.
#[derive(Debug)]
pub(crate) struct Trace {
    flow: FlowRef,
    /// The run goes on when the flow is complete.
    to_end: bool,
    message: Option<Message>,
    /// Queue pairs that carry the flow, or may.
    slots: Vec<u32>,
    /// By the time at which their first bit left the NIC, and queue pair: their packets that may still arrive.
    flights: BTreeMap<(u64, u32), Flight>,
    /// By lane: when the last frame of the class that the port has sent is off its transmitter.
    busy: Vec<u64>,
    /// By lane: when the flow control of the link stopped it.
    paused: Vec<Stops>,
    /// By port: when a congestion point held the flow's queue back.
    held: Vec<Stops>,
    origins: Origins,
    sender: Option<Sender>,
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

    /// Forgets the packets that have arrived and completed nothing; those behind one that is late are kept for as long.
    fn forget(&mut self, now: u64) {
        while self.flights.first_key_value().is_some_and(|(_, flight)| flight.is_over(now)) {
            self.flights.pop_first();
        }
    }

    /// No packet that may still arrive has waited anywhere before this instant, and what the sender did before is noted.
    fn oldest(&self, now: u64) -> u64 {
        let packets = self.flights.first_key_value().map_or(now, |(&(stamp, _), _)| stamp);
        self.sender.as_ref().map_or(packets, |sender| packets.min(sender.known))
    }
}

impl World<'_> {
    /// Follows a flow from now on, before the run starts.
    pub fn trace(&mut self, flow: FlowRef) {
        self.run.events.go_in_one_order();
        let (lanes, ports) = (self.lanes(), self.facts.ports.len());
        for port in self.nodes.iter_mut().flat_map(|node| node.ports.iter_mut()) {
            port.observed = true;
        }
        self.run.trace = Some(Box::new(Trace {
            flow,
            to_end: true,
            message: None,
            slots: Vec::new(),
            flights: BTreeMap::new(),
            busy: vec![0; lanes],
            paused: vec![Stops::default(); lanes],
            held: vec![Stops::default(); ports],
            origins: Origins::default(),
            sender: None,
            off: FxHashMap::default(),
            found: None,
        }));
    }

    /// The run is over when the flow is complete.
    pub fn end_when_found(&mut self) {
        if let Some(trace) = &mut self.run.trace {
            trace.to_end = false;
        }
    }

    /// As [`World::run_until`], and after each event the trace is brought up to date.
    #[cold]
    #[inline(never)]
    pub fn run_traced(&mut self, end: Time) -> Advance {
        let mut until_check = STOP_CHECK;
        while let Some(event) = self.run.events.in_one_order().and_then(|queue| queue.pop_before(end)) {
            self.dispatch(event);
            self.trace_sender();
            if self.run.trace.as_ref().is_some_and(|trace| trace.found.is_some() && !trace.to_end) {
                self.report();
                return Advance::Interrupted;
            }
            until_check -= 1;
            if until_check == 0 {
                until_check = STOP_CHECK;
                self.report();
                if self.run.control.stop.load(Ordering::Relaxed) {
                    return Advance::Interrupted;
                }
            }
        }
        self.report();
        if self.run.control.stop.load(Ordering::Relaxed) { Advance::Interrupted } else { Advance::Reached }
    }

    /// What was found, if the flow is complete.
    pub fn why(&mut self) -> Option<Why> {
        let trace = self.run.trace.take()?;
        let (flow, found) = (trace.flow, trace.found?);
        let name = |origin: Origin| match origin {
            Origin::Port(port) => self.direction(port),
            Origin::Node(node) => self.facts.blueprint.nodes[node.index()].name.clone(),
        };
        let part = |(label, time): (&Label, &u64)| Part {
            cause: label.cause,
            port: label.port.map(|port| self.direction(port)),
            origin: label.origin.map(name),
            time: Span(*time),
        };
        Some(Why {
            start: Time(found.message.start),
            fct: Span(found.fct),
            ideal: self.ideal_of(flow, &found),
            parts: found.sums.0.iter().map(part).collect(),
        })
    }

    /// The ideal of the flow, which is known at its start only where the network does not change.
    fn ideal_of(&self, flow: FlowRef, found: &Found) -> Span {
        let Message { destination, start, size, ideal, .. } = found.message;
        let key = FlowKey { start, workload: flow.workload, source: flow.source.0, number: flow.number };
        let over_time = || self.ideal_over_time(key, destination, size, found.fct);
        if self.run.wires.is_empty() { Span(ideal) } else { over_time() }
    }
}

impl AtNode<'_, '_> {
    /// A queue pair of the flow's source is open, which carries `head`, and perhaps others after it.
    #[cold]
    pub fn trace_opened(&mut self, slot: u32, head: &Outgoing) {
        let shared = self.run.pairs.senders[slot as usize].shared;
        let own = self.is_own_pair(slot);
        if let Some(trace) = self.run.trace.as_mut().filter(|trace| own && trace.is_open()) {
            // A slot is used again.
            trace.slots.retain(|&other| other != slot);
            if shared {
                trace.slots.push(slot);
            }
        }
        self.trace_posted(slot, head, 0);
    }

    /// A message starts whose packets are numbered from `first` on.
    #[cold]
    pub fn trace_posted(&mut self, slot: u32, message: &Outgoing, first: u64) {
        let own = self.is_own_pair(slot);
        let Some(mut trace) = self.run.trace.take() else { return };
        if own && trace.is_open() && message.number == trace.flow.number {
            let Outgoing { start, size, ideal, end, .. } = *message;
            let destination = self.run.pairs.ways[slot as usize].destination;
            trace.message = Some(Message { slot, destination, start, size, ideal, first, end });
            trace.slots = vec![slot];
            trace.flights.retain(|&(_, of), _| of == slot);
            self.begin_stops(&mut trace);
            let off = trace.off.get(&slot).copied().unwrap_or(0);
            trace.sender = Some(self.begin_sender(slot, first, off));
        }
        self.run.trace = Some(trace);
    }

    /// Does the queue pair belong to the workload and the source of the flow that is followed?
    fn is_own_pair(&self, slot: u32) -> bool {
        let way = &self.run.pairs.ways[slot as usize];
        let of = |trace: &Trace| (trace.flow.workload, trace.flow.source) == (way.workload, way.source);
        self.run.trace.as_ref().is_some_and(|trace| of(trace))
    }

    /// A frame starts on the wire of a port now, takes `serial`, and is at the far end at `arrival`.
    #[cold]
    pub fn trace_start(&mut self, port: Local, place: Place, (serial, arrival): (u64, u64)) {
        let Some(mut trace) = self.run.trace.take() else { return };
        let packet = self.run.packets[place];
        if packet.is_link_control() {
            // Of one that waited to be sent, `at` is when it was made.
            trace.origins.leaves(self.id(port), arrival, packet.at);
        } else {
            let id = self.id(port);
            let (lane, until) = (self.facts.layout.lane_id(id, packet.class), self.now + serial);
            trace.busy[lane] = until;
            let oldest = trace.oldest(self.now);
            trace.paused[lane].interrupt(self.now, until, oldest);
            if packet.is_data() && trace.slots.contains(&packet.flow.0) {
                self.journey(&mut trace, id, &packet, (serial, arrival));
            }
            if let Some(sender) = trace.sender.as_mut().filter(|sender| sender.nic == id) {
                sender.starts(&packet, until, trace.message.as_ref());
            }
            if self.node.ports[port.index()].at_host
                && packet.is_data()
                && trace.slots.contains(&packet.flow.0)
            {
                trace.off.insert(packet.flow.0, until);
            }
        }
        self.run.trace = Some(trace);
    }

    /// A packet is lost.
    #[cold]
    pub fn trace_lost(&mut self, packet: &Packet) {
        if let Some(trace) = self.run.trace.as_mut().filter(|_| packet.is_data()) {
            trace.flights.remove(&(packet.stamp, packet.flow.0));
        }
    }

    /// A message is complete at its receiver, by the packet `psn` of its queue pair.
    #[cold]
    pub fn trace_received(&mut self, slot: u32, number: u64, psn: u64) {
        let own = self.is_own_pair(slot);
        let Some(trace) = self.run.trace.as_mut().filter(|trace| own && trace.is_live()) else { return };
        let Some(message) = trace.message.filter(|message| message.slot == slot) else { return };
        if number != trace.flow.number {
            return;
        }
        let now = self.now;
        let sender = trace.sender.take().map(|mut sender| {
            sender.account(now, trace);
            sender
        });
        let arrived = |&(_, flight): &(&(u64, u32), &Flight)| flight.has_arrived(now, psn);
        let last = trace.flights.iter().find(arrived).map(|(&(stamp, _), flight)| (stamp, flight));
        let (Some((left, flight)), Some(sender)) = (last, sender) else {
            debug_assert!(false, "what completes a flow has arrived, and was sent");
            return;
        };
        let mut sums = sender.until(left);
        for hop in &flight.way {
            sums.add(hop, (message.start, now));
        }
        let fct = now - message.start;
        debug_assert_eq!(sums.0.values().sum::<u64>(), fct, "no instant is left out, and none counts twice");
        trace.found = Some(Found { message, fct, sums });
    }
}
