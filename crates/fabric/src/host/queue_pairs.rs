//! Queue pairs of a run, by slot.
//!
//! A queue pair is a path (the blueprint's `path`: fixed values, which switches read), a sender's half
//! (`host/send.rs`) and a receiver's half (`host/receive.rs`). None of them reads another, so threads may
//! process both halves at once.

mod elsewhere;
mod open;

pub(crate) use elsewhere::Opening;

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use floodway_blueprint::network::layout::Local;
use floodway_blueprint::network::path::Path;
use floodway_blueprint::traffic::begin::PairKey;
use floodway_mechanisms::slots::NotificationPoint as _;
use floodway_records::tally::Records;
use floodway_units::{FlowId, Time};
use rustc_hash::FxHashMap;

use crate::host::messages::Incoming;
use crate::host::receive::ReceiveHalf;
use crate::host::send::SendHalf;
use crate::link::packet::{ON_PATH, Packet};
use crate::pool::{Pool, PoolNumber};
use crate::run::events::NEVER;

/// The queue pairs of a run, as a thread has them.
#[derive(Default)]
pub(crate) struct QueuePairs {
    /// Queue pairs by slot: what is fixed, what the sender has and what the receiver has.
    pub paths: Pool<Path, FlowId>,
    pub senders: Pool<SendHalf, FlowId>,
    pub receivers: Pool<ReceiveHalf, FlowId>,
    /// By slot: packets created on the path less packets lost there; it wraps, as the counts of the halves.
    /// Any node may count.
    on_path: Pool<AtomicI32>,
    /// How many slots there are.
    slots: Arc<AtomicU32>,
    /// Slots to be used again, and queue pairs that are complete at their senders and not closed: those of
    /// which this thread knows.
    pub free_slots: Vec<u32>,
    pub done: Vec<Done>,
    /// By thread: messages for receivers at nodes that it owns; behind them, those at nodes of other
    /// processes.
    pub posted: Vec<Vec<Posted>>,
    /// Where there are other processes: queue pairs that have not been announced to them.
    pub opened: Option<Vec<Opening>>,
}

/// A packet names its queue pair by its slot.
impl PoolNumber for FlowId {
    #[inline]
    fn number(self) -> usize {
        self.index()
    }
}

/// Nodes of any thread read these.
const _: fn() = || {
    fn may_be_read_by_any_thread<T: Sync>() {}
    may_be_read_by_any_thread::<Path>();
    may_be_read_by_any_thread::<AtomicI32>();
};

impl QueuePairs {
    /// Where a packet on the way to `ingress` will leave the node there: found beforehand, so that all that
    /// it needs there can be fetched at once.
    #[inline]
    pub fn out_of(&self, ingress: Local, packet: &Packet) -> Local {
        if !packet.has(ON_PATH) {
            return ingress;
        }
        let path = self.paths.of(packet.flow);
        path.port(packet.is_reply(), packet.hop as usize + 1).unwrap_or(ingress)
    }

    /// The same queue pairs, for another thread.
    ///
    /// # Safety
    /// As [`Pool::share`].
    #[allow(unsafe_code, reason = "threads share what nodes own")]
    pub unsafe fn share(&self) -> Self {
        // SAFETY: by the caller.
        let (paths, senders, receivers, on_path) = unsafe {
            (self.paths.share(), self.senders.share(), self.receivers.share(), self.on_path.share())
        };
        QueuePairs {
            paths,
            senders,
            receivers,
            on_path,
            slots: Arc::clone(&self.slots),
            free_slots: Vec::new(),
            done: Vec::new(),
            posted: Vec::new(),
            opened: self.opened.as_ref().map(|_| Vec::new()),
        }
    }

    /// Adds messages that nodes of other threads have posted to their receivers.
    pub fn receive(&mut self, posted: &mut Vec<Posted>) {
        for Posted { slot, message } in posted.drain(..) {
            self.receivers[slot as usize].post(message);
        }
    }

    /// Writes the rows of flows that are open.
    pub fn close_rows(&mut self, records: &mut Records) {
        for slot in 0..self.paths.len() {
            let (path, sender, receiver) =
                (&self.paths[slot], &mut self.senders[slot], &mut self.receivers[slot]);
            if sender.state.alive {
                sender.close(path, records);
            }
            if receiver.alive {
                receiver.close(path, records);
            }
        }
    }

    /// A slot for a queue pair, and whether it had none before.
    fn slot(&mut self) -> Slot {
        match self.free_slots.pop() {
            Some(slot) => Slot::Again(slot),
            None => Slot::New(self.slots.fetch_add(1, Ordering::Relaxed)),
        }
    }

    /// A queue pair is open.
    fn enter(&mut self, slot: Slot, path: Path, sender: SendHalf, receiver: ReceiveHalf) {
        match slot {
            Slot::New(slot) => {
                self.paths.enter(slot, path);
                self.senders.enter(slot, sender);
                self.receivers.enter(slot, receiver);
                self.on_path.enter(slot, AtomicI32::new(0));
            }
            Slot::Again(slot) => {
                let at = slot as usize;
                (self.paths[at], self.senders[at], self.receivers[at]) = (path, sender, receiver);
                self.on_path[at] = AtomicI32::new(0);
            }
        }
    }

    /// Is a queue pair open at one of its ends?
    pub fn is_open(&self, slot: usize) -> bool {
        self.senders[slot].state.alive || self.receivers[slot].alive
    }

    /// Counts packets of a queue pair that were created on its path, or lost there if negative.
    pub fn count_on_path(&self, flow: FlowId, packets: i32) {
        self.on_path[flow.index()].fetch_add(packets, Ordering::Relaxed);
    }

    /// Is nothing of a queue pair in the network, and will its receiver send nothing by itself?
    pub fn is_silent(&self, slot: u32) -> bool {
        self.in_network(slot) == 0 && self.receivers[slot as usize].notification.next_timeout().is_none()
    }

    /// Is all of a queue pair complete, and no timer of it armed?
    pub fn is_at_rest(&self, slot: u32) -> bool {
        let (half, other) = (&self.senders[slot as usize], &self.receivers[slot as usize]);
        let armed = [half.timers.timer.at, half.pacing.heap_at, other.timer.at];
        let complete = half.head.sent && half.rest.is_empty() && other.rest.is_empty();
        complete && self.is_silent(slot) && armed == [NEVER; 3]
    }

    /// Packets of a queue pair on links and in queues: only the sum of what its ends and the nodes between
    /// have counted has a meaning.
    pub fn in_network(&self, slot: u32) -> i32 {
        let at = slot as usize;
        let ends = self.senders[at].in_network.wrapping_add(self.receivers[at].in_network);
        ends.wrapping_add(self.on_path[at].load(Ordering::Relaxed))
    }
}

/// Queue pairs of a host as a sender.
#[derive(Debug, Default)]
pub(crate) struct HostPairs {
    /// Those that several flows share, by key.
    pub by_key: FxHashMap<PairKey, u32>,
    /// A NIC is selected for each packet: its queue pairs have the same rank at all of its NICs.
    pub sprays: bool,
    /// With turns by the list: queue pairs that have not started.
    pub to_start: u32,
}

/// A slot that a queue pair gets.
#[derive(Clone, Copy, Debug)]
enum Slot {
    New(u32),
    Again(u32),
}

impl Slot {
    fn number(self) -> u32 {
        match self {
            Slot::New(slot) | Slot::Again(slot) => slot,
        }
    }
}

/// A queue pair that is complete at its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub slot: u32,
    /// The end of the epoch since which nothing of it has been in the network.
    pub gone: Option<Time>,
}

/// A message that comes on a queue pair that is open: word for the receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    pub slot: u32,
    pub message: Incoming,
}
