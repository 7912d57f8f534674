//! Wires of links that fail or whose delay changes: the packets on them, and whether they arrive.
//!
//! Only their ports store packets so (they are `observed`): other ports have no cost of it.

use std::collections::VecDeque;

use floodway_blueprint::network::blueprint::LinkSpec;

use crate::link::arena::PacketRef;

/// One direction of such a link.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    /// The link goes down at some time.
    fails: bool,
    /// The link is down: what is sent is lost.
    pub is_dead: bool,
    /// What was sent and has not been seen to arrive: when it does, and the packet.
    sent: VecDeque<(u64, PacketRef)>,
}

impl Wire {
    /// Of a link, if anything of it changes.
    pub fn new(link: &LinkSpec) -> Option<Box<Self>> {
        link.changes().then(|| Box::new(Wire { fails: !link.down.is_empty(), ..Wire::default() }))
    }

    /// A packet is on it from `now` until `arrival`.
    pub fn carries(&mut self, packet_ref: PacketRef, now: u64, arrival: u64) {
        while self.sent.front().is_some_and(|&(at, _)| at < now) {
            self.sent.pop_front();
        }
        if self.fails {
            self.sent.push_back((arrival, packet_ref));
        }
    }

    /// Takes all that is on the wire and arrives at `first` or later, the first to arrive first.
    pub fn clear(&mut self, first: u64) -> Vec<PacketRef> {
        self.sent.drain(..).filter(|&(at, _)| at >= first).map(|(_, packet_ref)| packet_ref).collect()
    }
}
