//! NICs: queue pairs of a host's port, and which of them may send.
//!
//! Queue pairs take turns round robin in the order of their ranks, in which they started. A reliability may
//! send its retransmissions before all new data of the NIC: queue pairs with retransmissions are in a bitmap
//! of their own, and both bitmaps share the position of the last turn.

pub(in crate::host) mod turn;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::host::nic_list::List;
use crate::host::ranks::Ranks;
use crate::host::round_robin_bitmap::RoundRobinBitmap;
use crate::link::arena::Fifo;
use crate::run::events::Armed;

/// A host's port: queue pairs take turns.
#[derive(Debug, Default)]
pub(crate) struct Nic {
    /// Its number among the NICs of the network, in the events of its queue pairs.
    pub number: u32,
    /// By class: queue pairs that may send now, by rank.
    pub ready: Vec<RoundRobinBitmap>,
    /// By class: queue pairs with something to retransmit before all new data, by rank; and how many those
    /// are.
    pub repeats: Vec<RoundRobinBitmap>,
    pub repeating: usize,
    /// By class: rank of the queue pair served last.
    pub last: Vec<u32>,
    /// Queue pairs that wait for their pacing time: (time, rank).
    pub pacing: BinaryHeap<Reverse<(u64, u32)>>,
    pub pacing_timer: Armed,
    /// Its link is down, and its queue pairs move to other NICs.
    pub failed: bool,
    /// What waits in its receive buffer, or is on its way from there to the host's memory.
    pub receive_buffer: Fifo,
    /// Its queue pairs.
    pub ranks: Ranks,
    /// Of a host's first NIC: receivers of the host that have set a timer.
    pub receivers: Ranks,
    /// Where turns go by a list; else empty.
    pub list: List,
    /// Where turns go by the list of flows: queue pairs that are open and not complete.
    pub unfinished: usize,
}

impl Nic {
    /// Will it have something to do when its transmitter is free? By a list, finished queue pairs are taken
    /// out then, too; by the list of flows its timer may be set.
    pub fn has_waiting(&self) -> bool {
        self.repeating > 0
            || self.unfinished > 0
            || !self.list.is_empty()
            || self.ready.iter().any(|ready| !ready.is_empty())
    }
}
