//! Partitions put together again when a run is over and their books are closed: what each owns goes into the place
//! that the first one has for it.

use std::mem::swap;

use floodway_units::{NodeId, PortId};

use crate::run::border::exchange;
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
        for &packet in other.packets.flying() {
            self.packets.add(packet);
        }
        for port in (0..self.ports.len()).map(|port| PortId(port as u32)) {
            if self.is_of(self.ports[port.index()].node, part) {
                self.absorb_port(&mut other, port);
            }
        }
        for node in 0..self.nodes.len() {
            let switch = self.nodes[node].switch as usize;
            if self.is_of(NodeId(node as u32), part) && switch < self.switches.len() {
                self.absorb_switch(&mut other, switch);
            }
        }
        self.kept.records.absorb(other.kept.records);
        self.kept.packet_hops += other.kept.packet_hops;
        self.kept.counts.iter_mut().zip(other.kept.counts).for_each(|(count, more)| *count += more);
        let waiting = self.traffic.triggers.waiting.iter_mut().zip(&other.traffic.triggers.waiting);
        waiting.for_each(|(waiting, more)| *waiting += more);
        if let (Some(log), Some(more)) = (&mut self.kept.pauses, other.kept.pauses) {
            log.absorb(more);
        }
        if let (Some(log), Some(more)) = (&mut self.kept.signals, other.kept.signals) {
            log.absorb(more);
        }
        if let (Some(log), Some(more)) = (&mut self.kept.allowances, other.kept.allowances) {
            log.absorb(more);
        }
        if let (Some(log), Some(more)) = (&mut self.kept.shares, other.kept.shares) {
            log.absorb(more);
        }
    }

    fn is_of(&self, node: NodeId, part: usize) -> bool {
        self.border.cut().owner(node) == part
    }

    fn absorb_port(&mut self, other: &mut World<'a>, port: PortId) {
        let at = port.index();
        self.ports[at].waiting = other.ports[at].waiting;
        swap(&mut self.kept.series[at], &mut other.kept.series[at]);
        if let (Some(own), Some(more)) = (self.kept.histograms.get_mut(at), other.kept.histograms.get_mut(at))
        {
            swap(own, more);
        }
        for class in 0..self.facts.layout.classes.len() as u8 {
            let lane = self.facts.layout.lane(port, class);
            swap(&mut self.egress[lane], &mut other.egress[lane]);
            swap(&mut self.ingress[lane], &mut other.ingress[lane]);
        }
        let first = self.facts.layout.queue(port);
        for q in first..first + self.facts.layout.queues_per_port {
            swap(&mut self.queues[q], &mut other.queues[q]);
            self.queues[q].fifo = self.queues[q].fifo.moved(&mut other.packets, &mut self.packets);
        }
    }

    fn absorb_switch(&mut self, other: &mut World<'a>, switch: usize) {
        swap(&mut self.switches[switch], &mut other.switches[switch]);
        for (_, _, place) in &mut self.switches[switch].pipe {
            *place = self.packets.add(other.packets[*place]);
        }
        if let Some(inputs) = &mut self.switches[switch].inputs {
            inputs.move_packets(&mut other.packets, &mut self.packets);
        }
    }
}
