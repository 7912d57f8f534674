//! NICs: queue pairs of a host's port, and which of them may send.
//!
//! Queue pairs take turns round robin in the order of their ranks, in which they started. A reliability may
//! send its retransmissions before all new data of the NIC: queue pairs with retransmissions are in a bitmap
//! of their own, and both bitmaps share the position of the last turn.

pub(in crate::host) mod turn;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::host::nic_list::List;
use crate::host::ranks::Ranks;
use crate::host::round_robin_bitmap::RoundRobinBitmap;
use crate::link::arena::Fifo;
use crate::run::events::Armed;

/// The timer of what grants credit. Its events are of the kind and object of the NIC's pacing timer, so its
/// generations are others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrantTimer(pub Armed);

impl Default for GrantTimer {
    fn default() -> Self {
        GrantTimer(Armed::of_second_timer())
    }
}

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
    /// Of a host's first NIC: the timer of what grants credit, which is of the same kind.
    pub grant_timer: GrantTimer,
    /// Its link is down, and its queue pairs move to other NICs.
    pub failed: bool,
    /// What waits in its receive buffer, or is on its way from there to the host's memory.
    pub receive_buffer: Fifo,
    /// Its queue pairs.
    pub ranks: Ranks,
    /// Of a host's first NIC: receivers of the host that have set a timer.
    pub receivers: Ranks,
    /// Where ties go as htsim schedules events: queue pairs that wait for their turn, by rank, in the order
    /// in which they could send.
    pub order: Option<VecDeque<u32>>,
    /// Where turns go by a list; else empty.
    pub list: List,
    /// Where turns go by the list of flows: queue pairs that are open and not complete.
    pub unfinished: usize,
}

impl Nic {
    /// A queue pair can send from now on, and waits for its turn.
    pub fn waits(&mut self, rank: u32) {
        if let Some(order) = &mut self.order
            && !order.contains(&rank)
        {
            order.push_back(rank);
        }
    }

    /// The queue pair of a class that has waited longest, where they go by that, is the next one of the ring.
    pub fn first_of_order(&mut self, class: usize) -> Option<u32> {
        let order = self.order.as_mut()?;
        while let Some(rank) = order.pop_front() {
            let before = rank.wrapping_sub(1);
            if self.ready[class].next_after(before) == Some(rank) {
                self.last[class] = before;
                return Some(rank);
            }
        }
        None
    }

    /// The queue pair that had its turn waits for another one, if it can send.
    pub fn waits_again(&mut self, class: usize, rank: u32) {
        if self.ready[class].next_after(rank.wrapping_sub(1)) == Some(rank) {
            self.waits(rank);
        }
    }

    /// Will it have something to do when its transmitter is free? By a list, finished queue pairs are taken
    /// out then, too; by the list of flows its timer may be set.
    pub fn has_waiting(&self) -> bool {
        self.repeating > 0
            || self.unfinished > 0
            || !self.list.is_empty()
            || self.ready.iter().any(|ready| !ready.is_empty())
    }
}
