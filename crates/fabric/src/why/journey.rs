//! The path of a packet through the network, hop by hop.

mod hops;

use super::{Interval, Label};

/// A packet of the flow that was sent and may still arrive.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    psn: u64,
    /// From its first bit at the NIC to `at`, without a gap.
    pub delays: Vec<Interval>,
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
            self.delays.push(Interval { from, to, label });
        }
    }
}
