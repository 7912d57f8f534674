//! Hops of packets of the flow that is traced.

use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::routing::peer;
use floodway_units::PortId;

use super::super::parts::{Cause, Label, Message};
use super::super::seen::Seen;
use super::super::trace::Trace;
use super::{Flight, FlightKey};
use crate::link::arena::PacketRef;
use crate::link::packet::Packet;

impl Trace {
    /// A packet of a queue pair that is followed starts on the wire of a port.
    pub(in crate::why) fn journey(
        &mut self,
        seen: &Seen<'_, '_>,
        port: PortId,
        packet: &Packet,
        (serial, arrival): (u64, u64),
    ) {
        let key = FlightKey::of(packet);
        let mut flight = if seen.node.is_host() {
            self.forget(seen.now);
            let own = |message: Message| (message.first..message.end).contains(&packet.psn());
            if self.message.is_some_and(own) && self.is_live() {
                self.sent.add(seen.now, u64::from(packet.payload));
            }
            Flight { delays: Vec::new(), at: seen.now, to_host: false, crossing: None }
        } else {
            // One that left before the queue pair was followed is not.
            let Some(flight) = self.flights.remove(&key) else { return };
            flight
        };
        self.waited(seen, &mut flight, port, packet.class);
        let sent = seen.now + serial;
        flight.push(seen.now, sent, Label::at(Cause::Serialisation, port));
        flight.push(sent, arrival, Label::at(Cause::Propagation, port));
        let rx = &seen.facts.ports[peer(port).index()];
        (flight.at, flight.to_host) = (arrival, rx.at_host && rx.drain.is_none());
        self.flights.insert(key, flight);
    }

    /// A packet leaves the port at which it has waited since it arrived at the node.
    fn waited(&self, seen: &Seen<'_, '_>, flight: &mut Flight, port: PortId, class: u8) {
        let (from, to) = (flight.at, seen.now);
        if from == to {
            return;
        }
        let pipeline = seen.node.switch.map_or(0, |switch| switch.pipeline);
        let queued = (from + pipeline).min(to);
        let switching = Label::at(Cause::Switching, port);
        flight.push(from, queued, switching);
        let mut waited = vec![(queued, to)];
        if let Some((start, crossed)) = flight.crossing.take() {
            flight.push(start, crossed, switching);
            waited = vec![(queued, start), (crossed, to)];
        }
        waited.retain(|(from, to)| from < to);
        let port_class = seen.facts.layout.port_class_id(port, class);
        let (paused, left) = self.paused[port_class].take_out_of(&waited);
        flight.delays.extend(self.pauses(port_class, port, &paused));
        let (held, left) = self.held[port.index()].take_out_of(&left);
        for stop in held {
            flight.push(stop.from, stop.to, Label::at(Cause::HeldBack, port));
        }
        for (from, to) in left {
            flight.push(from, to, Label::at(Cause::Queueing, port));
        }
    }

    /// A packet has left the receive buffer of its host.
    pub fn drained(&mut self, seen: &Seen<'_, '_>, port: Local, packet_ref: PacketRef) {
        let (now, port, packet) = (seen.now, peer(seen.node.links.id(port)), seen.run.packets[packet_ref]);
        if let Some(flight) = self.flights.get_mut(&FlightKey::of(&packet)) {
            flight.push(flight.at, now, Label::at(Cause::ReceiveBuffer, port));
            (flight.at, flight.to_host) = (now, true);
        }
    }

    /// A packet starts to cross a switch, and will have crossed at `at`.
    pub fn crosses(&mut self, seen: &Seen<'_, '_>, packet_ref: PacketRef, at: u64) {
        let (now, packet) = (seen.now, seen.run.packets[packet_ref]);
        if packet.is_data()
            && let Some(flight) = self.flights.get_mut(&FlightKey::of(&packet))
        {
            flight.crossing = Some((now, at));
        }
    }
}
