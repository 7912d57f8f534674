//! Wires of links that fail or whose delay changes: what is on them, and whether it arrives.

use std::collections::VecDeque;

use floodway_units::NodeId;

use crate::link::arena::{Arena, Place};
use crate::network::blueprint::LinkSpec;
use crate::network::layout::Local;

/// One direction of such a link.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    /// The link goes down at some time.
    fails: bool,
    /// The link is down: what is sent is lost.
    pub is_dead: bool,
    /// What was sent and has not been seen to arrive: when it does, and its place.
    sent: VecDeque<(u64, Place)>,
}

impl Wire {
    /// Of a link, if anything of it changes.
    pub fn new(link: &LinkSpec) -> Option<Box<Self>> {
        link.changes().then(|| Box::new(Wire { fails: !link.down.is_empty(), ..Wire::default() }))
    }

    /// A packet is on it from `now` until `arrival`.
    pub fn carries(&mut self, place: Place, now: u64, arrival: u64) {
        while self.sent.front().is_some_and(|&(at, _)| at < now) {
            self.sent.pop_front();
        }
        if self.fails {
            self.sent.push_back((arrival, place));
        }
    }

    /// Takes all that is on the wire to a port of a node, the first to arrive first.
    pub fn clear(&mut self, to: (NodeId, Local), packets: &Arena) -> Vec<Place> {
        let sent = self.sent.drain(..);
        sent.filter(|&(at, place)| packets.is_flying(place, to, at)).map(|(_, place)| place).collect()
    }
}
