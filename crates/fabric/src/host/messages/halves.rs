//! Messages of the two halves of a queue pair.

use floodway_engine::memory;

use super::{Incoming, Outgoing};
use crate::host::receive::ReceiveHalf;
use crate::host::send::SendHalf;
use crate::network::path::Path;
use crate::records::tally::Records;

impl SendHalf {
    /// Number, end and size of its messages, the oldest first.
    pub fn messages(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let all = std::iter::once(&self.head).chain(&self.rest);
        all.map(|message| (message.number, message.end, message.size))
    }

    /// The message of packet `psn`, which is one that is not complete.
    #[inline]
    pub fn message_of(&mut self, psn: u64) -> &mut Outgoing {
        if psn < self.head.end || self.rest.is_empty() {
            return &mut self.head;
        }
        let at = self.rest.partition_point(|message| message.end <= psn);
        let last = self.rest.len() - 1;
        &mut self.rest[at.min(last)]
    }

    /// Adds a message.
    pub(super) fn post(&mut self, message: Outgoing, path: &Path, records: &mut Records) {
        self.end = message.end;
        if !self.head.sent {
            self.rest.push_back(message);
            return;
        }
        records.push_sent(&self.head, path);
        self.head = message;
    }

    /// Gives the messages that have no row theirs.
    pub fn close(&mut self, path: &Path, records: &mut Records) {
        self.state.alive = false;
        self.stack = Vec::new();
        records.push_sent(&self.head, path);
        self.rest.drain(..).for_each(|message| records.push_sent(&message, path));
    }
}

impl ReceiveHalf {
    /// Number, end and size of its messages, the oldest first.
    pub fn messages(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let all = std::iter::once(&self.head).chain(&self.rest);
        all.map(|message| (message.number, message.end, message.size))
    }

    pub(super) fn message(&mut self, index: usize) -> &mut Incoming {
        if index == 0 { &mut self.head } else { &mut self.rest[index - 1] }
    }

    /// Index of the message of packet `psn`, which is one that is there.
    pub(super) fn index_of(&self, psn: u64) -> usize {
        if psn < self.head.end { 0 } else { 1 + self.rest.partition_point(|message| message.end <= psn) }
    }

    /// The message of packet `psn`, unless it is complete: when another one takes its place depends on who
    /// owns the nodes.
    #[inline]
    pub fn open_message(&mut self, psn: u64) -> Option<&mut Incoming> {
        let message = if psn < self.head.end || self.rest.is_empty() {
            &mut self.head
        } else {
            let at = self.rest.partition_point(|message| message.end <= psn);
            self.rest.get_mut(at)?
        };
        (message.first <= psn && !message.is_received()).then_some(message)
    }

    /// Adds a message. One that is complete has its row.
    pub fn post(&mut self, message: Incoming) {
        if self.head.is_received() {
            self.head = message;
        } else {
            self.rest.push_back(message);
        }
    }

    /// Takes out the message at `index`, if another one is there.
    pub(super) fn take_out(&mut self, index: usize) {
        if index > 0 {
            self.rest.remove(index - 1);
        } else if let Some(next) = self.rest.pop_front() {
            self.head = next;
        }
    }

    /// Gives the messages that have no row theirs.
    pub fn close(&mut self, path: &Path, records: &mut Records) {
        self.alive = false;
        let head = Some(self.head).filter(|head| !head.is_received());
        head.iter().chain(&self.rest).for_each(|message| records.push_received(message, path));
        self.rest.clear();
    }
}

impl Records {
    /// Writes the sender's part of a message's row, if it has one.
    pub(super) fn push_sent(&mut self, message: &Outgoing, path: &Path) {
        if message.has_row() {
            memory::push(&mut self.sent_rows, message.row(path));
        }
    }

    /// Writes the receiver's part of a message's row, if it has one.
    pub(super) fn push_received(&mut self, message: &Incoming, path: &Path) {
        if message.has_row() {
            memory::push(&mut self.received_rows, message.row(path));
        }
    }
}
