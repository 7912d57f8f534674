//! Messages within a scale-up domain: no packets, but bytes in turn at the ports of two ranks.
//!
//! A message leaves its sender's port behind those before it, its first byte is at the receiver's port after
//! the latency, and it occupies that port for as long, behind those whose first bytes came before. All hosts
//! of a domain are of one group, so that a rank may hand its messages to another one itself.
//!
//! A port is a queue in closed form: when a message leaves follows from the one before it. So of those that
//! wait only the next one has its times, and what a receiver sorts is two messages of each sender. It looks
//! when the first of them can be complete, and no message before that one can still come.

mod serve;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use floodway_programs::{Message, Posting};
use floodway_units::{Span, Time};

use super::Programs;
use crate::run::events::NEVER;

/// A rank's port to its scale-up domain.
#[derive(Debug)]
pub(super) struct ScaleUpPort {
    /// When the last message that has its times begins to leave, and has left.
    pub begins: u64,
    pub sends_until: u64,
    /// Behind that one: receiver, and message.
    pub waiting: VecDeque<(u32, Posting)>,
    /// When it has received what it has taken so far.
    pub receives_until: u64,
    pub incoming: BinaryHeap<Reverse<Coming>>,
    /// When the first of those that come can be complete.
    pub looks: u64,
}

/// A message on its way: when its first byte arrives, its sender, and how long it takes at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Coming {
    pub first: u64,
    /// Among the ranks of its workload.
    pub from: u32,
    pub message: Message,
    pub step: u32,
    pub takes: Span,
}

impl Coming {
    /// When it is complete if it does not wait.
    fn soonest(&self) -> u64 {
        self.first + self.takes.0
    }
}

impl Default for ScaleUpPort {
    fn default() -> Self {
        ScaleUpPort {
            begins: 0,
            sends_until: 0,
            waiting: VecDeque::new(),
            receives_until: 0,
            incoming: BinaryHeap::new(),
            looks: NEVER,
        }
    }
}

impl ScaleUpPort {
    /// When it next gives a message its times, or takes one.
    pub(super) fn next_time(&self) -> Option<Time> {
        let sends = if self.waiting.is_empty() { NEVER } else { self.begins };
        Some(sends.min(self.looks)).filter(|&next| next != NEVER).map(Time)
    }
}

impl Programs {
    /// The scale-up domain of two ranks' hosts, if they share one.
    pub(super) fn common_domain(&self, from: u32, to: u32) -> Option<u32> {
        let [from, to] = [from, to].map(|rank| self.places[rank as usize].domain);
        from.filter(|_| from == to)
    }
}
