//! Queue pairs of a run, by slot.

mod open;

use floodway_units::Time;
use rustc_hash::FxHashMap;

use crate::column::Column;
use crate::host::messages::Incoming;
use crate::host::receive::ReceiveHalf;
use crate::host::send::SendHalf;
use crate::network::ways::Way;
use crate::traffic::flows::PairKey;

/// The queue pairs of a run.
#[derive(Default)]
pub(crate) struct QueuePairs {
    /// Queue pairs by slot: what is fixed, what the sender has and what the receiver has.
    pub ways: Column<Way>,
    pub senders: Column<SendHalf>,
    pub receivers: Column<ReceiveHalf>,
    /// By slot: packets made on the way less packets lost; it wraps, as the counts of the halves.
    pub elsewhere: Column<i32>,
    /// Slots to be used again.
    pub free_slots: Vec<u32>,
    /// Queue pairs that are complete at their senders and not closed.
    pub done: Vec<Done>,
    /// Queue pairs that several flows share.
    pub by_key: FxHashMap<PairKey, u32>,
}

/// A queue pair that is complete at its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done {
    pub slot: u32,
    /// The end of the epoch since which nothing of it has been in the network.
    pub gone: Option<Time>,
}

/// What an open queue pair is to those who do not send on it: its way is for everybody on it, its half for the
/// receiver.
pub(crate) struct Opened {
    pub slot: u32,
    pub way: Way,
    pub half: ReceiveHalf,
}

/// A message that comes on a queue pair that is open: word for the receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    pub slot: u32,
    pub message: Incoming,
}
