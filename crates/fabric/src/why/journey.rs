//! The path of a packet through the network, hop by hop.

mod hops;

use super::parts::{Interval, Label};
use crate::link::packet::Packet;

/// A packet from its NIC to its receiver. Hosts that spray send several of a queue pair at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FlightKey {
    /// When its first bit left the NIC.
    pub stamp: u64,
    /// Its queue pair.
    pub slot: u32,
    pub psn: u64,
}

impl FlightKey {
    pub fn of(packet: &Packet) -> Self {
        FlightKey { stamp: packet.stamp, slot: packet.flow.0, psn: packet.psn() }
    }
}

/// A packet of the flow that was sent and may still arrive.
#[derive(Clone, Debug)]
pub(super) struct Flight {
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
    pub fn has_arrived(&self, now: u64) -> bool {
        self.to_host && self.at == now
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
