//! What ranks have counted.

use borsh::{BorshDeserialize, BorshSerialize};

use crate::records::tally::Totals;

/// What a rank has counted, or all of them, which ends runs.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Census {
    /// By workload.
    pub totals: Vec<Totals>,
    pub waiting: Vec<u64>,
    pub outstanding: Vec<u64>,
    /// Payload that stayed within scale-up domains.
    pub scale_up: Vec<u64>,
    /// A source may still start a measured flow.
    pub sources_may_measure: bool,
    /// Bytes on links and in queues; of a rank alone it wraps.
    pub in_network: u64,
    pub flows_done: u64,
    pub flows_started: u64,
    /// Packets received over links.
    pub packet_hops: u64,
}

impl Census {
    pub(super) fn absorb(&mut self, other: &Census) {
        self.totals.iter_mut().zip(&other.totals).for_each(|(totals, more)| totals.absorb(more));
        for (counts, more) in [
            (&mut self.waiting, &other.waiting),
            (&mut self.outstanding, &other.outstanding),
            (&mut self.scale_up, &other.scale_up),
        ] {
            counts.iter_mut().zip(more).for_each(|(count, more)| *count = count.wrapping_add(*more));
        }
        self.sources_may_measure |= other.sources_may_measure;
        self.in_network = self.in_network.wrapping_add(other.in_network);
        self.flows_done += other.flows_done;
        self.flows_started += other.flows_started;
        self.packet_hops += other.packet_hops;
    }
}
