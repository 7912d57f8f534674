//! Hops of packets of the flow that is traced.

use floodway_units::PortId;

use super::super::parts::{Cause, Label, Message};
use super::super::trace::Trace;
use super::{Flight, FlightKey};
use crate::link::arena::PacketRef;
use crate::link::packet::Packet;
use crate::network::layout::Local;
use crate::network::routing::peer;
use crate::run::at_node::AtNode;

impl AtNode<'_, '_> {
    /// A packet of a queue pair that is followed starts on the wire of a port.
    pub(in crate::why) fn journey(
        &self,
        trace: &mut Trace,
        port: PortId,
        packet: &Packet,
        (serial, arrival): (u64, u64),
    ) {
        let key = FlightKey::of(packet);
        let mut flight = if self.node.is_host() {
            trace.forget(self.ctx.now);
            let own = |message: Message| (message.first..message.end).contains(&packet.psn);
            if trace.message.is_some_and(own) && trace.is_live() {
                trace.sent.add(self.ctx.now, u64::from(packet.payload));
            }
            Flight { delays: Vec::new(), at: self.ctx.now, to_host: false, crossing: None }
        } else {
            // One that left before the queue pair was followed is not.
            let Some(flight) = trace.flights.remove(&key) else { return };
            flight
        };
        self.waited(trace, &mut flight, port, packet.class);
        let sent = self.ctx.now + serial;
        flight.push(self.ctx.now, sent, Label::at(Cause::Serialisation, port));
        flight.push(sent, arrival, Label::at(Cause::Propagation, port));
        let rx = &self.ctx.facts.ports[peer(port).index()];
        (flight.at, flight.to_host) = (arrival, rx.at_host && rx.drain.is_none());
        trace.flights.insert(key, flight);
    }

    /// A packet leaves the port at which it has waited since it arrived at the node.
    fn waited(&self, trace: &Trace, flight: &mut Flight, port: PortId, class: u8) {
        let (from, to) = (flight.at, self.ctx.now);
        if from == to {
            return;
        }
        let pipeline = self.node.switch.pipeline;
        let queued = (from + pipeline).min(to);
        let switching = Label::at(Cause::Switching, port);
        flight.push(from, queued, switching);
        let mut waited = vec![(queued, to)];
        if let Some((start, crossed)) = flight.crossing.take() {
            flight.push(start, crossed, switching);
            waited = vec![(queued, start), (crossed, to)];
        }
        waited.retain(|(from, to)| from < to);
        let port_class = self.ctx.facts.layout.port_class_id(port, class);
        let (paused, left) = trace.paused[port_class].take_out_of(&waited);
        flight.delays.extend(trace.pauses(port_class, port, &paused));
        let (held, left) = trace.held[port.index()].take_out_of(&left);
        for stop in held {
            flight.push(stop.from, stop.to, Label::at(Cause::HeldBack, port));
        }
        for (from, to) in left {
            flight.push(from, to, Label::at(Cause::Queueing, port));
        }
    }

    /// A packet has left the receive buffer of its host.
    #[cold]
    pub fn trace_drained(&mut self, port: Local, packet_ref: PacketRef) {
        let (now, port, packet) =
            (self.ctx.now, peer(self.node.links.id(port)), self.ctx.run.packets[packet_ref]);
        if let Some(trace) = &mut self.ctx.run.trace
            && let Some(flight) = trace.flights.get_mut(&FlightKey::of(&packet))
        {
            flight.push(flight.at, now, Label::at(Cause::ReceiveBuffer, port));
            (flight.at, flight.to_host) = (now, true);
        }
    }

    /// A packet starts to cross a switch, and will have crossed at `at`.
    #[cold]
    pub fn trace_crossing(&mut self, packet_ref: PacketRef, at: u64) {
        let (now, packet) = (self.ctx.now, self.ctx.run.packets[packet_ref]);
        if let Some(trace) = self.ctx.run.trace.as_mut().filter(|_| packet.is_data())
            && let Some(flight) = trace.flights.get_mut(&FlightKey::of(&packet))
        {
            flight.crossing = Some((now, at));
        }
    }
}
