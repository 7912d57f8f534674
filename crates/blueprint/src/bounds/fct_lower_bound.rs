//! A lower bound on the completion time of a flow whose paths change while it is sent.
//!
//! While they stay what they are, its ideal is a bound. When one of its links goes down or comes up in
//! between, or takes another time, packets on old paths and on new ones are in the network together. They do
//! not wait for one another, and together may be faster than all of them on the fastest path. Of that case
//! only this is certain:
//!
//! - The packets leave the NIC one after another, or the NICs where they are sprayed. The last one goes on
//!   for no less than a packet alone takes.
//! - Where the receiver has one link, they arrive by it one after another, the first not before a packet
//!   alone would.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_units::cast::narrow;
use floodway_units::{NodeId, PortId};

use crate::NEVER;
use crate::bounds::ideal::Packets;
use crate::network::blueprint::Role;
use crate::network::facts::Facts;
use crate::network::routing::peer;

impl Facts<'_> {
    /// Picoseconds that a flow takes at least, at whatever times links are up.
    pub fn fct_lower_bound(&self, (source, destination): (NodeId, NodeId), packets: &Packets) -> u64 {
        let leave = self.through(source, (destination, 0), packets, true);
        let mut last = self.blueprint.ports_of(destination).map(peer);
        match (last.next(), last.next()) {
            (Some(port), None) if self.ports[port.index()].node != source => {
                let after = self.passing(port, packets.on(&self.ports[port.index()].serial));
                let before = self.ports[port.index()].node;
                leave.max(self.through(source, (before, after), packets, false))
            }
            _ => leave,
        }
    }

    /// The least time over the NICs of `source`, to a node from where it takes so long on: of all packets
    /// behind one another, or of the smallest alone.
    fn through(&self, source: NodeId, to: (NodeId, u64), packets: &Packets, all: bool) -> u64 {
        let from = self.least_from(to, packets.smallest().0);
        let nics = if self.sprays(source) { self.blueprint.ports_of(source).count() as u64 } else { 1 };
        let times = self.blueprint.ports_of(source).map(|port| {
            let state = &self.ports[port.index()];
            let sends =
                if all { packets.on(&state.serial) / nics } else { state.serial.time(packets.smallest().0) };
            let on = from[self.ports[peer(port).index()].node.index()];
            sends.saturating_add(self.shortest_delay(port)).saturating_add(on)
        });
        times.min().unwrap_or_default()
    }

    /// By node: the least time of one packet from its arrival there, over any links, to `end` and on.
    fn least_from(&self, (end, after): (NodeId, u64), wire: u64) -> Vec<u64> {
        let mut least = vec![NEVER; self.blueprint.nodes.len()];
        let mut leading: Vec<Vec<PortId>> = vec![Vec::new(); least.len()];
        for port in (0..narrow::<u32>(self.ports.len())).map(PortId) {
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
        state.pipeline.0.saturating_add(sends).saturating_add(self.shortest_delay(port))
    }

    fn shortest_delay(&self, port: PortId) -> u64 {
        self.blueprint.links[port.index() / 2].directions[port.index() % 2].shortest_delay().0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use floodway_units::Bytes;
    use floodway_wire::Format;

    use super::*;
    use crate::network::layout::Layout;
    use crate::network::routing::Routes;
    use crate::testing::{blueprint, host, link, switch};

    /// Switches take 100 ns, links 1 us.
    ///
    /// ```text
    ///  a --100G-- s --10G-- t --40G-- b        s --100G-- m --100G-- t
    /// ```
    #[test]
    fn all_packets_pass_the_slower_end_and_one_the_rest_of_the_shortest_path() {
        let links = [
            link("a-s", [0, 2], 100),
            link("s-t", [2, 3], 10),
            link("s-m", [2, 4], 100),
            link("m-t", [4, 3], 100),
            link("t-b", [3, 1], 40),
        ];
        let nodes = [host("a"), host("b"), switch("s"), switch("t"), switch("m")];
        let blueprint = blueprint(nodes.to_vec(), links.to_vec());
        let layout = Layout::new(blueprint.classes(), 1, blueprint.wire);
        let facts = Facts::new(&blueprint, Arc::new(Routes::new(&blueprint)), layout);
        let wire = |payload, first| Format::Ethernet.data(Bytes(payload), first).wire.0;
        let all = wire(1_000, true) + wire(1_000, false) + wire(500, false);
        // The last packet alone at 10G and 100G; a switch before each of two links, three links. Over m it is
        // later.
        let alone = wire(500, false) * (800 + 80) + 2 * 100_000 + 3 * 1_000_000;
        let packets = Packets::new(Bytes(2_500), blueprint.mtu, Format::Ethernet);
        let bound = |from, to| facts.fct_lower_bound((NodeId(from), NodeId(to)), &packets);
        assert_eq!(bound(0, 1), all * 200 + alone, "they arrive one after another at 40G");
        assert_eq!(bound(1, 0), all * 200 + alone, "they leave one after another at 40G");
    }
}
