//! Order of arrivals of one instant at a node, where it is hashed.
//!
//! It is hashed from the turn of a packet: its sequence number in its queue pair, of a job counted from the
//! first packet of the iteration, or of the micro-batch, on. Link control frames have 0. So the order of a
//! tie depends on the packets that meet, and on nothing before: equal situations end equally at any time,
//! and the iterations of a job are equal to the picosecond once the network's state recurs.
//!
//! As turns go on, no port stays first: synchronised senders, two or more, paced or not, have
//! equal shares of a port's losses. Messages of one packet that meet again and again do so in the same order
//! each time. With `qp = "per-pair"` turns go on from message to message, and so the order of ties recurs
//! after 1,024 packets of a queue pair.

use crate::link::packet::TURN_BITS;
use floodway_units::cast::low_u32;
use floodway_units::{PortId, fold, mix};

/// Bits of a place: what the order of an event has left beside its kind and its port.
const PLACE_BITS: u32 = 28;
/// After this many packets, as a power of two, the places of a port are mirrored.
const MIRROR_SHIFT: u32 = 9;
const _: () = assert!(TURN_BITS == MIRROR_SHIFT + 1, "a turn has the bits that count");

/// The key of ties among arrivals at `port` (the receiving one).
pub(crate) fn tie_key(seed: u64, node_key: u64, port: PortId) -> u64 {
    fold(fold(fold(mix(seed), node_key), u64::from(port.0)), 0x7165)
}

/// The place of an arrival among those of its instant, from the key of its port and the packet's turn.
///
/// It owes nothing to the time, nor to what came before, so that a situation that recurs ends as it did.
/// Turns count modulo 1,024. Those of the second half have the places of the first, mirrored: so
/// of two ports whose packets always meet, each is first in exactly half of all ties, wherever they began.
#[inline]
pub(super) fn place(tie_key: u64, turn: u64) -> u32 {
    let mirrored = 0u64.wrapping_sub(turn >> MIRROR_SHIFT & 1);
    let hashed = mix(tie_key ^ turn & ((1 << MIRROR_SHIFT) - 1));
    low_u32((hashed ^ mirrored) >> (u64::BITS - PLACE_BITS))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn key(port: u32) -> u64 {
        tie_key(1, 7, PortId(port))
    }

    /// Whichever packets of theirs meet: two ports that send in step may be any number of packets apart.
    #[test]
    fn of_two_ports_that_always_meet_each_is_first_in_exactly_half_of_all_ties() {
        for (apart, from) in [(0, 0), (0, 300), (1, 0), (17, 5), (511, 1000), (512, 3), (1023, 0)] {
            let first = |n: &u64| place(key(4), *n) < place(key(6), n + apart);
            assert_eq!((from..from + 1024).filter(first).count(), 512, "{apart} apart from {from}");
        }
    }

    /// In turns, the port in the middle would never be first.
    #[test]
    fn three_ports_that_always_meet_come_in_any_order_equally_often() {
        let mut counts = [0; 3];
        let orders: BTreeSet<_> = (0..1024)
            .map(|n| {
                let mut ports = [0, 1, 2];
                ports.sort_by_key(|&port| place(key(port), n));
                counts[ports[0] as usize] += 1;
                ports
            })
            .collect();
        assert_eq!(orders.len(), 6);
        // A third of 1,024, and four standard deviations.
        assert!(counts.iter().all(|count| (281..=402).contains(count)), "{counts:?}");
    }
}
