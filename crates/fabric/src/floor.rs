//! What no flow can beat though links come and go while it is sent.
//!
//! While all links stay as they are, the packets of a flow take ways of one kind, and its ideal is a bound. When a link
//! goes down or comes up in between, packets on old ways and on new ones are in the network together. They do not wait for
//! one another, and together may be faster than all of them on the fastest way. Of that case only this is certain:
//!
//! - The packets leave the NIC one after another. The last one goes on for no less than a packet alone takes.
//! - Where the receiver has one link, they arrive by it one after another, the first not before a packet alone would.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_units::{Bytes, NodeId, PortId};

use crate::blueprint::{Arrivals, Role};
use crate::ideal::Packets;
use crate::records::{FlowRow, SentRow};
use crate::routing::peer;
use crate::world::{NEVER, World};

impl World<'_> {
    /// Was a flow that is complete faster than is possible?
    pub fn is_too_fast(&self, &(sent, received): &FlowRow<'_>) -> bool {
        let took = received.finish - received.key.start;
        let mixed = || self.any_change(received.key.start, received.finish) && !self.is_pinned(sent);
        took < sent.ideal && !(mixed() && took >= self.floor(sent))
    }

    /// Does a link go down or come up from `start` to `finish`, both included?
    fn any_change(&self, start: u64, finish: u64) -> bool {
        let mut times =
            self.blueprint.links.iter().flat_map(|link| &link.down).flat_map(|&(from, to)| [from, to]);
        times.any(|time| (start..=finish).contains(&time.0))
    }

    /// Do all flows of the workload between these ends name their ways?
    fn is_pinned(&self, sent: &SentRow) -> bool {
        let ends = (NodeId(sent.key.source), NodeId(sent.destination));
        match &self.blueprint.workloads[sent.key.workload as usize].arrivals {
            Arrivals::List(flows) => {
                let mut alike = flows.iter().filter(|flow| (flow.source, flow.destination) == ends);
                alike.all(|flow| flow.path.is_some())
            }
            _ => false,
        }
    }

    /// Picoseconds that a flow takes at least, whichever links are up when.
    fn floor(&self, sent: &SentRow) -> u64 {
        let (source, destination) = (NodeId(sent.key.source), NodeId(sent.destination));
        let packets = Packets::new(Bytes(sent.size), self.blueprint.mtu, self.format);
        let leave = self.through(source, (destination, 0), &packets, true);
        let mut last = self.blueprint.ports_of(destination).map(peer);
        match (last.next(), last.next()) {
            (Some(port), None) if self.ports[port.index()].node != source => {
                let after = self.passing(port, packets.on(&self.ports[port.index()].serial));
                let before = self.ports[port.index()].node;
                leave.max(self.through(source, (before, after), &packets, false))
            }
            _ => leave,
        }
    }

    /// The least time over the NICs of `source`, to a node from where it takes so long on: of all packets behind one
    /// another, or of the smallest alone.
    fn through(&self, source: NodeId, to: (NodeId, u64), packets: &Packets, all: bool) -> u64 {
        let from = self.least_from(to, packets.smallest().0);
        let times = self.blueprint.ports_of(source).map(|port| {
            let state = &self.ports[port.index()];
            let sends = if all { packets.on(&state.serial) } else { state.serial.time(packets.smallest().0) };
            let on = from[self.ports[peer(port).index()].node.index()];
            sends.saturating_add(state.delay).saturating_add(on)
        });
        times.min().unwrap_or_default()
    }

    /// By node: the least time of one packet from its arrival there, over any links, to `end` and on.
    fn least_from(&self, (end, after): (NodeId, u64), wire: u64) -> Vec<u64> {
        let mut least = vec![NEVER; self.blueprint.nodes.len()];
        let mut leading: Vec<Vec<PortId>> = vec![Vec::new(); least.len()];
        for port in (0..self.ports.len() as u32).map(PortId) {
            leading[self.ports[peer(port).index()].node.index()].push(port);
        }
        let mut next = BinaryHeap::from([(Reverse(after), end)]);
        while let Some((Reverse(time), node)) = next.pop() {
            if time >= least[node.index()] {
                continue;
            }
            least[node.index()] = time;
            for &port in &leading[node.index()] {
                let before = self.ports[port.index()].node;
                if matches!(self.blueprint.nodes[before.index()].role, Role::Switch(_)) {
                    let sends = self.ports[port.index()].serial.time(wire);
                    next.push((Reverse(time.saturating_add(self.passing(port, sends))), before));
                }
            }
        }
        least
    }

    /// From the arrival at a switch to that at the far end of one of its ports, which takes so long to send.
    fn passing(&self, port: PortId, sends: u64) -> u64 {
        let state = &self.ports[port.index()];
        let switch = self.nodes[state.node.index()].switch as usize;
        let pipeline = self.switches.get(switch).map_or(0, |switch| switch.pipeline);
        pipeline.saturating_add(sends).saturating_add(state.delay)
    }
}
