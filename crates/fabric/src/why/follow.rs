//! Trace of one flow, event by event.

use std::collections::{BTreeMap, VecDeque};
use std::mem;

use floodway_engine::Advance;
use floodway_units::{Span, Time};
use rustc_hash::FxHashMap;

use super::journey::{Flight, FlightKey};
use super::origin::Origins;
use super::parts::{FlowRef, Found, Label, Message, Origin, Part, Section, Why};
use super::sent::Sent;
use super::stops::Stops;
use super::trace::Trace;
use crate::bounds::ideal::over_time::FlowIdeals;
use crate::host::messages::Outgoing;
use crate::link::arena::PacketRef;
use crate::link::packet::Packet;
use crate::network::layout::Local;
use crate::records::tally::FlowKey;
use crate::run::at_node::AtNode;
use crate::run::world::{STOP_CHECK, World};

impl World<'_> {
    /// Follows flows from now on, before the run starts.
    pub fn trace(&mut self, flows: &[FlowRef]) {
        for &flow in flows {
            let before = self.runs.own.trace.take();
            self.trace_sections(Section::whole(flow), VecDeque::new());
            self.runs.own.further_traces.extend(before.map(Some));
        }
    }

    /// Follows flows one after another, before the run starts.
    pub(super) fn trace_sections(&mut self, section: Section, next: VecDeque<Section>) {
        self.runs.own.events.go_in_one_order();
        let (port_classes, ports) = (self.facts.port_classes(), self.facts.ports.len());
        for port in self.nodes.iter_mut().flat_map(|node| node.links.ports.iter_mut()) {
            port.observed = true;
        }
        self.runs.own.trace = Some(Box::new(Trace {
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
        }));
    }

    /// The run is over when the flow is complete.
    pub fn end_when_found(&mut self) {
        for trace in self.traces_mut() {
            trace.to_end = false;
        }
    }

    fn traces(&self) -> impl Iterator<Item = &Trace> {
        self.runs.own.trace.iter().chain(self.runs.own.further_traces.iter().flatten()).map(|trace| &**trace)
    }

    fn traces_mut(&mut self) -> impl Iterator<Item = &mut Trace> {
        let run = &mut self.runs.own;
        run.trace.iter_mut().chain(run.further_traces.iter_mut().flatten()).map(|trace| &mut **trace)
    }

    /// As [`World::run_until`], and after each event the trace is brought up to date.
    #[cold]
    #[inline(never)]
    pub fn run_traced(&mut self, end: Time) -> Advance {
        let mut until_check = STOP_CHECK;
        while let Some(event) = self.runs.own.events.in_one_order().and_then(|queue| queue.pop_before(end)) {
            self.dispatch(event);
            self.trace_senders();
            if self.has_found() {
                self.runs.report(self.now);
                return Advance::Interrupted;
            }
            until_check -= 1;
            if until_check == 0 {
                until_check = STOP_CHECK;
                self.runs.report(self.now);
                if self.is_stopped() {
                    return Advance::Interrupted;
                }
            }
        }
        self.runs.report(self.now);
        if self.is_stopped() { Advance::Interrupted } else { Advance::Reached }
    }

    /// Is there nothing more to find, and nothing else to run for?
    fn has_found(&self) -> bool {
        (self.runs.own.trace.is_some() && self.traces().all(|trace| trace.found.is_some() && !trace.to_end))
            || self.runs.own.traffic.programs.is_target_complete()
    }

    /// An event has been executed.
    fn trace_senders(&mut self) {
        self.trace_sender();
        for further in 0..self.runs.own.further_traces.len() {
            mem::swap(&mut self.runs.own.trace, &mut self.runs.own.further_traces[further]);
            self.trace_sender();
        }
    }

    /// What was found of a flow that was followed, if it is complete.
    pub fn why(&self, flow: FlowRef) -> Option<Why> {
        let trace = self.traces().find(|trace| trace.section.flow == flow)?;
        let found = trace.found.as_ref()?;
        Some(Why {
            start: Time(found.message.start),
            fct: Span(found.fct),
            ideal: self.ideal_of(flow, found),
            parts: self.parts(found),
            sent: trace.sent.clone(),
        })
    }

    pub(super) fn parts(&self, found: &Found) -> Vec<Part> {
        let name = |origin: Origin| match origin {
            Origin::Port(port) => self.facts.blueprint.direction(port),
            Origin::Node(node) => self.facts.blueprint.nodes[node.index()].name.clone(),
        };
        let part = |(label, time): (&Label, &u64)| Part {
            cause: label.cause,
            port: label.port.map(|port| self.facts.blueprint.direction(port)),
            origin: label.origin.map(name),
            time: Span(*time),
        };
        found.sums.0.iter().map(part).collect()
    }

    /// The ideal of the flow, which is known at its start only where the network does not change.
    fn ideal_of(&self, flow: FlowRef, found: &Found) -> Span {
        let Message { destination, start, size, ideal, .. } = found.message;
        let key = FlowKey { start, workload: flow.workload, source: flow.source.0, number: flow.number };
        let ideals = FlowIdeals { facts: &self.facts, labels: &self.runs.own.traffic.labels, now: self.now };
        let over_time = || ideals.of_flow(key, destination, size, found.fct);
        if self.facts.changes { over_time() } else { Span(ideal) }
    }
}

impl AtNode<'_, '_> {
    /// Calls something for each flow that is followed, whose trace is then `run.trace`.
    #[cold]
    pub fn each_trace(&mut self, mut call: impl FnMut(&mut Self)) {
        call(self);
        for further in 0..self.ctx.run.further_traces.len() {
            mem::swap(&mut self.ctx.run.trace, &mut self.ctx.run.further_traces[further]);
            call(self);
        }
    }

    /// A queue pair of the flow's source is open, which carries `head`, and perhaps others after it.
    #[cold]
    pub fn trace_opened(&mut self, slot: u32, head: &Outgoing) {
        self.trace_section(slot, head.number);
        let shared = self.ctx.run.pairs.senders[slot as usize].state.shared;
        let own = self.is_own_pair(slot);
        let path = &self.ctx.run.pairs.paths[slot as usize];
        if let Some(trace) = &mut self.ctx.run.trace {
            trace.opens(slot, (path.workload, path.source), shared);
        }
        if let Some(trace) = self.ctx.run.trace.as_mut().filter(|trace| own && trace.is_open()) {
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
        self.trace_section(slot, message.number);
        let own = self.is_own_pair(slot);
        let Some(mut trace) = self.ctx.run.trace.take() else { return };
        if own && trace.is_open() && message.number == trace.section.flow.number {
            let Outgoing { start, size, ideal, end, .. } = *message;
            let destination = self.ctx.run.pairs.paths[slot as usize].destination;
            trace.message = Some(Message { slot, destination, start, size, ideal, first, end });
            trace.slots = vec![slot];
            trace.sent = Sent::new(start);
            trace.flights.retain(|key, _| key.slot == slot);
            self.begin_stops(&mut trace);
            let off = trace.off.get(&slot).copied().unwrap_or(0);
            trace.sender = Some(self.begin_sender(slot, first, (off, trace.section.from)));
        }
        self.ctx.run.trace = Some(trace);
    }

    /// Does the queue pair belong to the workload and the source of the flow that is followed?
    fn is_own_pair(&self, slot: u32) -> bool {
        let path = &self.ctx.run.pairs.paths[slot as usize];
        let of = |trace: &Trace| trace.section.is_of((path.workload, path.source));
        self.ctx.run.trace.as_ref().is_some_and(|trace| of(trace))
    }

    /// A frame starts on the wire of a port now, takes `serial`, and is at the far end at `arrival`.
    #[cold]
    pub fn trace_start(&mut self, port: Local, packet_ref: PacketRef, (serial, arrival): (u64, u64)) {
        let Some(mut trace) = self.ctx.run.trace.take() else { return };
        let packet = self.ctx.run.packets[packet_ref];
        if packet.is_link_control() {
            // Of one that waited to be sent, `at` is when it was made.
            trace.origins.leaves(self.node.links.id(port), arrival, packet.at);
        } else {
            let id = self.node.links.id(port);
            let (port_class, until) =
                (self.ctx.facts.layout.port_class_id(id, packet.class), self.ctx.now + serial);
            trace.busy[port_class] = until;
            let oldest = trace.oldest(self.ctx.now);
            trace.paused[port_class].interrupt(self.ctx.now, until, oldest);
            if packet.is_data() && trace.slots.contains(&packet.flow.0) {
                self.journey(&mut trace, id, &packet, (serial, arrival));
            }
            if let Some(sender) = trace.sender.as_mut().filter(|sender| sender.nic == id) {
                sender.starts(&packet, until, trace.message.as_ref());
            }
            let may_carry = |trace: &Trace| trace.is_path() || trace.slots.contains(&packet.flow.0);
            if self.node.links.ports[port.index()].at_host && packet.is_data() && may_carry(&trace) {
                trace.off.insert(packet.flow.0, until);
            }
        }
        self.ctx.run.trace = Some(trace);
    }

    /// A packet is lost.
    #[cold]
    pub fn trace_lost(&mut self, packet: &Packet) {
        if let Some(trace) = self.ctx.run.trace.as_mut().filter(|_| packet.is_data()) {
            trace.flights.remove(&FlightKey::of(packet));
        }
    }

    /// A message is complete at its receiver, by the packet `psn` of its queue pair.
    #[cold]
    pub fn trace_received(&mut self, slot: u32, number: u64, psn: u64) {
        let own = self.is_own_pair(slot);
        let Some(trace) = self.ctx.run.trace.as_mut().filter(|trace| own && trace.is_live()) else { return };
        let Some(message) = trace.message.filter(|message| message.slot == slot) else { return };
        if number != trace.section.flow.number {
            return;
        }
        let now = self.ctx.now;
        let sender = trace.sender.take().map(|mut sender| {
            sender.account(now, trace);
            sender
        });
        let arrived = |(key, flight): &(&FlightKey, &Flight)| key.psn == psn && flight.has_arrived(now);
        let last = trace.flights.iter().find(arrived).map(|(key, flight)| (key.stamp, flight));
        let (Some((left, flight)), Some(sender)) = (last, sender) else {
            debug_assert!(false, "what completes a flow has arrived, and was sent");
            return;
        };
        let mut sums = sender.until(left);
        // It may have arrived before the time that counts, in which only its acknowledgement comes.
        let begin = message.start.max(trace.section.from).min(now);
        for hop in &flight.delays {
            sums.add(hop, (begin, now));
        }
        let all = sums.0.values().sum::<u64>();
        debug_assert_eq!(all, now - begin, "no instant is left out, and none counts twice");
        trace.finds(Found { message, fct: now - message.start, sums });
    }
}
