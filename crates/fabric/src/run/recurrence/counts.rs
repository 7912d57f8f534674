//! What a run counts: numbers that only grow, and on which no event depends but by their differences.

use floodway_records::counters::{EgressCounters, RareCounters, RareEgressCounters, Traffic};

use super::Moment;
use crate::link::port::Egress;
use crate::run::node::Node;
use crate::switch::buffer::Ingress;

impl Moment<'_, '_> {
    /// All counts, in one order; those of threads are added up.
    pub(super) fn counts(&mut self) -> Vec<u64> {
        let mut counts = Vec::new();
        self.nodes.iter_mut().for_each(|node| each_count(node, &mut |count| counts.push(*count)));
        let of_nodes = counts.len();
        counts.extend(self.runs.own.kept.counts_mut().map(|count| *count));
        for run in &mut self.runs.others {
            let own = counts[of_nodes..].iter_mut();
            own.zip(run.kept.counts_mut()).for_each(|(sum, count)| *sum = sum.wrapping_add(*count));
        }
        counts
    }

    /// Adds to all counts as often what they have grown by.
    pub(super) fn add_counts(&mut self, grown: &[u64], times: u64) {
        let mut grown = grown.iter().map(|grown| grown.wrapping_mul(times));
        let mut more = || grown.next().expect("there is one for each count");
        let classes = self.facts.layout.classes.len();
        let queues = self.facts.layout.queues_per_port;
        for node in self.nodes.iter_mut() {
            let paused: Vec<u64> = node.links.egress.iter().map(|egress| egress.paused_total).collect();
            each_count(node, &mut |count| *count = count.wrapping_add(more()));
            // What waits has not been paused for longer.
            for (index, queue) in node.links.queues.iter().enumerate() {
                let class = usize::from(self.facts.layout.class_of_queue(index % queues));
                let port_class = index / queues * classes + class;
                let longer = node.links.egress[port_class].paused_total - paused[port_class];
                if longer > 0 {
                    let packets = &mut self.runs.own.packets;
                    let waiting: Vec<_> = queue.fifo.packet_refs(packets).collect();
                    for packet_ref in waiting {
                        packets[packet_ref].paused = packets[packet_ref].paused.wrapping_sub(longer);
                    }
                }
            }
        }
        self.runs.own.kept.counts_mut().for_each(|count| *count = count.wrapping_add(more()));
    }
}

/// Calls `visit` with each count of a node.
fn each_count(node: &mut Node, visit: &mut impl FnMut(&mut u64)) {
    for egress in node.links.egress.iter_mut() {
        let Egress { paused_total, counters, rare, .. } = egress;
        let EgressCounters { pfc_rx, ecn_marks } = counters;
        let RareEgressCounters { ue_marks, cnps, receiver_cnps, cnp_flags, cns, moves, lost, state_noted: _ } =
            rare;
        [paused_total, pfc_rx, ecn_marks, ue_marks, cnps, receiver_cnps, cnp_flags, cns, moves]
            .into_iter()
            .for_each(&mut *visit);
        each_of(lost, visit);
    }
    for account in node.buffer.accounts.iter_mut() {
        let Ingress { received, rare, .. } = account;
        let RareCounters { pfc_tx, drops, buffer_drop_bytes, failure_drop_bytes, lost, cut } = rare;
        [pfc_tx, buffer_drop_bytes, failure_drop_bytes].into_iter().for_each(&mut *visit);
        drops.iter_mut().for_each(&mut *visit);
        each_of(received, visit);
        each_of(lost, visit);
        each_of(cut, visit);
    }
}

fn each_of(traffic: &mut Traffic, visit: &mut impl FnMut(&mut u64)) {
    let Traffic { packets, bytes } = traffic;
    visit(packets);
    visit(bytes);
}
