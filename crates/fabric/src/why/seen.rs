//! What a trace sees of a run while an event is executed.

use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::layout::Local;
use floodway_units::NodeId;

use crate::link::packet::Packet;
use crate::link::port::Queue;
use crate::run::node::{Node, NodeCore, Sight};
use crate::run::state::Run;

/// The node whose event is executed, and the rest of the network as it is now.
pub(crate) struct Seen<'s, 'a> {
    pub now: u64,
    pub facts: &'s Facts<'a>,
    pub run: &'s Run<'a>,
    pub node: Sight<'s>,
    /// The nodes before it and after it.
    pub others: Option<[&'s [Node]; 2]>,
}

impl<'s> Seen<'s, '_> {
    /// Any node of the network, as it is now.
    pub(super) fn any(&self, node: NodeId) -> Sight<'s> {
        let [before, after] = self.others.expect("a run that is traced lends all nodes");
        let at = node.index();
        match at.checked_sub(before.len()) {
            None => before[at].sight(),
            Some(0) => self.node,
            Some(behind) => after[behind - 1].sight(),
        }
    }

    /// The egress port of a switch that holds most of what came in by `ingress`, the first of several; what
    /// comes to a relay can leave by one port only.
    pub(super) fn holds_most(&self, node: Sight<'_>, ingress: Local, class: u8) -> Option<Local> {
        let switch = node.switch?;
        if let Some(relay) = &switch.relay {
            return Some(relay.other(ingress));
        }
        let is_its = |packet: &Packet| packet.ingress == ingress && packet.class == class;
        let mut most = (0, None);
        for port in node.locals() {
            let bytes = if let Some(inputs) = &switch.inputs {
                inputs.bytes(ingress, port, class)
            } else {
                let queued =
                    self.queues(node.core, port).flat_map(|queue| queue.fifo.iter(&self.run.packets));
                let piped = switch.pipe.iter().filter(|(_, out, _)| *out == port);
                let piped = piped.map(|&(.., packet_ref)| &self.run.packets[packet_ref]);
                queued
                    .chain(piped)
                    .filter(|packet| is_its(packet))
                    .map(|packet| u64::from(packet.frame))
                    .sum()
            };
            if bytes > most.0 {
                most = (bytes, Some(port));
            }
        }
        most.1
    }

    /// Queues of data of a port.
    fn queues<'n>(&self, node: &'n NodeCore, port: Local) -> impl Iterator<Item = &'n Queue> {
        node.links.queues[self.facts.layout.queues(port).data()].iter()
    }

    /// When the packet arrived that has waited longest at an egress port of those that came in by an ingress.
    pub(super) fn oldest_of(
        &self,
        node: Sight<'_>,
        (ingress, port): (Local, Local),
        class: u8,
    ) -> Option<u64> {
        if let Some(inputs) = node.switch.and_then(|switch| switch.inputs.as_ref()) {
            return inputs.oldest(&self.run.packets, (ingress, port), class, self.facts.layout.subs);
        }
        let is_its = |packet: &&Packet| packet.ingress == ingress && packet.class == class;
        let mut queues = self.queues(node.core, port);
        let oldest = queues.by_ref().filter_map(|queue| queue.fifo.iter(&self.run.packets).find(is_its));
        oldest.map(|packet| packet.at).min()
    }

    /// The queue of data at a port in which a flow's oldest packet waits.
    pub(super) fn queue_of_oldest(&self, port: Local, slot: u32) -> Option<usize> {
        let queues = self.facts.layout.queues(port);
        let waiting = (1..self.facts.layout.queues_per_port).flat_map(|q| {
            let packets = self.node.links.queues[queues.nth(q)].fifo.iter(&self.run.packets);
            packets.filter(|packet| packet.flow.0 == slot).map(move |packet| (packet.psn(), q))
        });
        waiting.min().map(|(_, q)| q)
    }
}
