//! Trace of one flow, event by event.
//!
//! The loop that follows flows is separate (`run_traced`); the ordinary loop has no branch for it. Ports are
//! `observed`, like captured ones; stops of flow control, lost frames, and starts and ends of flows check
//! whether a flow is followed. A test runs networks with every mechanism in both modes.

use std::collections::{BTreeMap, VecDeque};

use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::layout::Local;
use floodway_blueprint::traffic::numbers::Label;
use floodway_records::tally::FlowKey;
use floodway_units::{Span, Time};
use rustc_hash::FxHashMap;

use super::journey::{Flight, FlightKey};
use super::origin::Origins;
use super::parts::{FlowRef, Found, Message, Section, Why};
use super::seen::Seen;
use super::sender::Sender;
use super::sent::Sent;
use super::stops::Stops;
use super::trace::Trace;
use crate::bounds::over_time::FlowIdeals;
use crate::host::messages::Outgoing;
use crate::link::arena::PacketRef;
use crate::link::packet::Packet;

impl Trace {
    /// Follows flows one after another, before the run starts.
    pub fn new(facts: &Facts<'_>, section: Section, next: VecDeque<Section>) -> Self {
        let (port_classes, ports) = (facts.port_classes(), facts.ports.len());
        Trace {
            section,
            next,
            before: Vec::new(),
            open_pairs: BTreeMap::new(),
            to_end: true,
            message: None,
            slots: Vec::new(),
            flights: BTreeMap::new(),
            busy: vec![0; port_classes],
            paused: vec![Stops::default(); port_classes],
            held: vec![Stops::default(); ports],
            origins: Origins::default(),
            sender: None,
            sent: Sent::new(0),
            off: FxHashMap::default(),
            found: None,
        }
    }

    /// Is there nothing more to find, and nothing else to run for?
    pub fn is_over(&self) -> bool {
        self.found.is_some() && !self.to_end
    }

    /// What was found of the flow that was followed, if it is complete. The network is `now` at the end of
    /// the run; flows are labelled as its traffic says.
    pub fn why(&self, facts: &Facts<'_>, labels: &[Vec<Label>], now: u64) -> Option<Why> {
        let found = self.found.as_ref()?;
        let flow = self.section.flow;
        let Message { destination, start, size, ideal, .. } = found.message;
        let key = FlowKey { start, workload: flow.workload, source: flow.source.0, number: flow.number };
        let over_time = || FlowIdeals { facts, labels, now }.of_flow(key, destination, size, found.fct);
        Some(Why {
            start: Time(start),
            fct: Span(found.fct),
            // It is known at the flow's start only where the network does not change.
            ideal: if facts.changes { over_time() } else { Span(ideal) },
            parts: found.parts(facts.blueprint),
            sent: self.sent.clone(),
        })
    }

    /// A queue pair of the flow's source is open, which carries `head`, and perhaps others after it.
    pub fn opened(&mut self, seen: &Seen<'_, '_>, slot: u32, head: &Outgoing) {
        self.starts_section(flow_of(seen, slot, head.number), seen.now);
        let shared = seen.run.pairs.senders[slot as usize].state.shared;
        let path = &seen.run.pairs.paths[slot as usize];
        self.opens(slot, (path.workload, path.source), shared);
        if self.is_own_pair(seen, slot) && self.is_open() {
            // A slot is used again.
            self.slots.retain(|&other| other != slot);
            if shared {
                self.slots.push(slot);
            }
        }
        self.posted(seen, slot, head, 0);
    }

    /// A message starts whose packets are numbered from `first` on.
    pub fn posted(&mut self, seen: &Seen<'_, '_>, slot: u32, message: &Outgoing, first: u64) {
        let flow = flow_of(seen, slot, message.number);
        self.starts_section(flow, seen.now);
        if self.is_open() && flow == self.section.flow {
            let Outgoing { start, size, ideal, end, .. } = *message;
            let destination = seen.run.pairs.paths[slot as usize].destination;
            self.message = Some(Message { slot, destination, start, size, ideal, first, end });
            self.slots = vec![slot];
            self.sent = Sent::new(start);
            self.flights.retain(|key, _| key.slot == slot);
            self.begin_stops(seen);
            let off = self.off.get(&slot).copied().unwrap_or(0);
            self.sender = Some(Sender::new(seen, slot, first, (off, self.section.from)));
        }
    }

    /// A frame starts on the wire of a port now, takes `serial`, and is at the far end at `arrival`.
    pub fn starts(
        &mut self,
        seen: &Seen<'_, '_>,
        port: Local,
        packet_ref: PacketRef,
        (serial, arrival): (u64, u64),
    ) {
        let (id, packet) = (seen.node.links.id(port), &seen.run.packets[packet_ref]);
        if packet.is_link_control() {
            // Of one that waited to be sent, `at` is when it was made.
            self.origins.leaves(id, arrival, packet.at);
            return;
        }
        let (port_class, until) = (seen.facts.layout.port_class_id(id, packet.class), seen.now + serial);
        self.busy[port_class] = until;
        let oldest = self.oldest(seen.now);
        self.paused[port_class].interrupt(seen.now, until, oldest);
        if packet.is_data() && self.slots.contains(&packet.flow.0) {
            self.journey(seen, id, packet, (serial, arrival));
        }
        if let Some(sender) = self.sender.as_mut().filter(|sender| sender.nic == id) {
            sender.starts(packet, until, self.message.as_ref());
        }
        let may_carry = self.is_path() || self.slots.contains(&packet.flow.0);
        if seen.node.links.ports[port.index()].at_host && packet.is_data() && may_carry {
            self.off.insert(packet.flow.0, until);
        }
    }

    /// A packet is lost.
    pub fn lost(&mut self, packet: &Packet) {
        if packet.is_data() {
            self.flights.remove(&FlightKey::of(packet));
        }
    }

    /// A message is complete at its receiver, by the packet `psn` of its queue pair.
    pub fn received(&mut self, seen: &Seen<'_, '_>, slot: u32, number: u64, psn: u64) {
        if !self.is_live() || flow_of(seen, slot, number) != self.section.flow {
            return;
        }
        let Some(message) = self.message.filter(|message| message.slot == slot) else { return };
        let now = seen.now;
        let sender = self.sender.take().map(|mut sender| {
            sender.account(now, self);
            sender
        });
        let arrived = |(key, flight): &(&FlightKey, &Flight)| key.psn == psn && flight.has_arrived(now);
        let last = self.flights.iter().find(arrived).map(|(key, flight)| (key.stamp, flight));
        let (Some((left, flight)), Some(sender)) = (last, sender) else {
            debug_assert!(false, "what completes a flow has arrived, and was sent");
            return;
        };
        let mut sums = sender.until(left);
        // It may have arrived before the time that counts, in which only its acknowledgement comes.
        let begin = message.start.max(self.section.from).min(now);
        for hop in &flight.delays {
            sums.add(hop, (begin, now));
        }
        let all = sums.0.values().sum::<u64>();
        debug_assert_eq!(all, now - begin, "no instant is left out, and none counts twice");
        self.finds(Found { message, fct: now - message.start, sums });
    }

    /// Does the queue pair belong to the workload and the source of the flow that is followed?
    fn is_own_pair(&self, seen: &Seen<'_, '_>, slot: u32) -> bool {
        let path = &seen.run.pairs.paths[slot as usize];
        self.section.is_of((path.workload, path.source))
    }
}

/// The flow of a message of a queue pair.
fn flow_of(seen: &Seen<'_, '_>, slot: u32, number: u64) -> FlowRef {
    let path = &seen.run.pairs.paths[slot as usize];
    FlowRef { workload: path.workload, source: path.source, number }
}
