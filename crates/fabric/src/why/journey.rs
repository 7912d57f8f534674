//! The way of a packet through the network, hop by hop.

use floodway_units::PortId;

use super::{Cause, Interval, Label, Trace};
use crate::link::arena::Place;
use crate::link::packet::Packet;
use crate::network::routing::peer;
use crate::run::at_node::AtNode;

/// A packet of the flow that was sent and may still arrive.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    psn: u64,
    /// From its first bit at the NIC to `at`, without a gap.
    pub way: Vec<Interval>,
    /// When its last bit is at the node to which it is on the way.
    at: u64,
    /// That node is a host.
    to_host: bool,
    /// At an input-output queued switch: when it starts to cross, and has crossed.
    crossing: Option<(u64, u64)>,
}

impl Flight {
    /// Has it arrived at its receiver just now?
    pub fn has_arrived(&self, now: u64, psn: u64) -> bool {
        self.to_host && self.at == now && self.psn == psn
    }

    /// Was it at its receiver before now?
    pub fn is_over(&self, now: u64) -> bool {
        self.to_host && self.at < now
    }

    fn push(&mut self, from: u64, to: u64, label: Label) {
        if from < to {
            self.way.push(Interval { from, to, label });
        }
    }
}

impl AtNode<'_, '_> {
    /// A packet of a queue pair that is followed starts on the wire of a port.
    pub(super) fn journey(
        &self,
        trace: &mut Trace,
        port: PortId,
        packet: &Packet,
        (serial, arrival): (u64, u64),
    ) {
        let key = (packet.stamp, packet.flow.0);
        let mut flight = if self.node.is_host() {
            trace.forget(self.now);
            Flight { psn: packet.psn, way: Vec::new(), at: self.now, to_host: false, crossing: None }
        } else {
            // One that left before the queue pair was followed is not.
            let Some(flight) = trace.flights.remove(&key) else { return };
            flight
        };
        self.waited(trace, &mut flight, port, packet.class);
        let sent = self.now + serial;
        flight.push(self.now, sent, Label::at(Cause::Serialisation, port));
        flight.push(sent, arrival, Label::at(Cause::Propagation, port));
        (flight.at, flight.to_host) = (arrival, self.facts.ports[peer(port).index()].at_host);
        trace.flights.insert(key, flight);
    }

    /// A packet leaves the port at which it has waited since it arrived at the node.
    fn waited(&self, trace: &Trace, flight: &mut Flight, port: PortId, class: u8) {
        let (from, to) = (flight.at, self.now);
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
        let lane = self.facts.layout.lane_id(port, class);
        let (paused, left) = trace.paused[lane].take_out_of(&waited);
        flight.way.extend(trace.pauses(lane, port, &paused));
        let (held, left) = trace.held[port.index()].take_out_of(&left);
        for stop in held {
            flight.push(stop.from, stop.to, Label::at(Cause::HeldBack, port));
        }
        for (from, to) in left {
            flight.push(from, to, Label::at(Cause::Queueing, port));
        }
    }

    /// A packet starts to cross a switch, and will have crossed at `at`.
    #[cold]
    pub fn trace_crossing(&mut self, place: Place, at: u64) {
        let (now, packet) = (self.now, self.run.packets[place]);
        if let Some(trace) = self.run.trace.as_mut().filter(|_| packet.is_data())
            && let Some(flight) = trace.flights.get_mut(&(packet.stamp, packet.flow.0))
        {
            flight.crossing = Some((now, at));
        }
    }
}
