//! Partitions put together again when a run is over and their books are closed: what each owns goes into the place
//! that the first one has for it.

use std::mem::swap;

use floodway_units::NodeId;

use crate::run::border::across::exchange;
use crate::run::world::World;

/// One network of all its partitions; none if there are none.
pub(crate) fn merge(mut worlds: Vec<World<'_>>) -> Option<World<'_>> {
    exchange(&mut worlds);
    let mut parts = worlds.into_iter();
    let mut whole = parts.next()?;
    for (index, part) in (1..).zip(parts) {
        whole.absorb(part, index);
    }
    Some(whole)
}

impl<'a> World<'a> {
    /// Takes over what partition `part` owns.
    fn absorb(&mut self, mut other: World<'a>, part: usize) {
        for &packet in other.run.packets.flying() {
            self.run.packets.add(packet);
        }
        for node in (0..self.nodes.len()).map(|node| NodeId(node as u32)) {
            if self.run.border.cut().owner(node) == part {
                self.absorb_node(&mut other, node);
            }
        }
        self.run.kept.records.absorb(other.run.kept.records);
        self.run.kept.packet_hops += other.run.kept.packet_hops;
        self.run.kept.counts.iter_mut().zip(other.run.kept.counts).for_each(|(count, more)| *count += more);
        let waiting = self.run.traffic.triggers.waiting.iter_mut().zip(&other.run.traffic.triggers.waiting);
        waiting.for_each(|(waiting, more)| *waiting += more);
        if let (Some(log), Some(more)) = (&mut self.run.kept.pauses, other.run.kept.pauses) {
            log.absorb(more);
        }
        if let (Some(log), Some(more)) = (&mut self.run.kept.signals, other.run.kept.signals) {
            log.absorb(more);
        }
        if let (Some(log), Some(more)) = (&mut self.run.kept.allowances, other.run.kept.allowances) {
            log.absorb(more);
        }
        if let (Some(log), Some(more)) = (&mut self.run.kept.shares, other.run.kept.shares) {
            log.absorb(more);
        }
    }

    /// Takes over a node, with the packets that are there.
    fn absorb_node(&mut self, other: &mut World<'a>, node: NodeId) {
        let node = node.index();
        swap(&mut self.nodes[node], &mut other.nodes[node]);
        let (node, from, to) = (&mut self.nodes[node], &mut other.run.packets, &mut self.run.packets);
        for queue in node.queues.iter_mut() {
            queue.fifo = queue.fifo.moved(from, to);
        }
        for (_, _, place) in &mut node.switch.pipe {
            *place = to.add(from.take(*place));
        }
        if let Some(inputs) = &mut node.switch.inputs {
            inputs.move_packets(from, to);
        }
    }
}
