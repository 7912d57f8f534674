//! Messages of the two halves of a queue pair.

use floodway_blueprint::network::path::Path;
use floodway_engine::memory;
use floodway_mechanisms::slots::message_of;
use floodway_records::tally::Records;

use super::{Incoming, Outgoing};
use crate::host::receive::ReceiveHalf;
use crate::host::send::SendHalf;

impl SendHalf {
    /// Number, end and size of its messages, the oldest first.
    pub fn messages(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        let all = std::iter::once(&self.head).chain(&self.rest);
        all.map(|message| (message.number, message.end, message.size))
    }

    /// The message that was posted last.
    pub(super) fn newest(&self) -> &Outgoing {
        self.rest.back().unwrap_or(&self.head)
    }

    /// The message of packet `psn`, which is one that is not complete.
    #[inline]
    pub fn message_of(&mut self, psn: u64) -> &mut Outgoing {
        if psn < self.head.end || self.rest.is_empty() {
            return &mut self.head;
        }
        let at = message_of(&self.rest, self.head.end, psn, |message| message.end);
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
        push_sent(records, &self.head, path);
        self.head = message;
    }

    /// Gives the messages that have no row theirs.
    pub fn close(&mut self, path: &Path, records: &mut Records) {
        self.state.alive = false;
        self.stack = Vec::new();
        push_sent(records, &self.head, path);
        self.rest.drain(..).for_each(|message| push_sent(records, &message, path));
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
        if psn < self.head.end { 0 } else { 1 + self.rest_of(psn) }
    }

    /// Index behind the oldest.
    fn rest_of(&self, psn: u64) -> usize {
        let begin = self.rest.front().map_or(0, |message| message.first);
        message_of(&self.rest, begin, psn, |message| message.end)
    }

    /// The message of packet `psn`, unless it is complete: when another one takes its place depends on who
    /// owns the nodes.
    #[inline]
    pub fn open_message(&mut self, psn: u64) -> Option<&mut Incoming> {
        let message = if psn < self.head.end || self.rest.is_empty() {
            &mut self.head
        } else {
            let at = self.rest_of(psn);
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
        head.iter().chain(&self.rest).for_each(|message| push_received(records, message, path));
        self.rest.clear();
    }
}

/// Writes the sender's part of a message's row, if it has one.
pub(super) fn push_sent(records: &mut Records, message: &Outgoing, path: &Path) {
    if message.has_row() {
        memory::push(&mut records.sent_rows, message.row(path));
    }
}

/// Writes the receiver's part of a message's row, if it has one.
pub(super) fn push_received(records: &mut Records, message: &Incoming, path: &Path) {
    if message.has_row() {
        memory::push(&mut records.received_rows, message.row(path));
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::Span;

    use super::*;
    use crate::run::events::NEVER;
    use crate::run::world::World;
    use crate::testing::at_busy;

    fn outgoing(end: u64) -> Outgoing {
        Outgoing { end, number: 10 * end, size: 1_000 * end, ..Outgoing::NONE }
    }

    fn incoming(first: u64, end: u64) -> Incoming {
        Incoming { first, end, number: 10 * end, size: 1_000 * end, ..Incoming::NONE }
    }

    /// With messages of the packets 0 to 2, 3 and 4, and 5 to 8.
    fn sending() -> SendHalf {
        SendHalf { head: outgoing(3), rest: [5, 9].map(outgoing).into(), end: 9, ..SendHalf::idle() }
    }

    fn receiving(test: impl FnOnce(&mut ReceiveHalf)) {
        receiving_in(|world| test(&mut world.runs.own.pairs.receivers[0]));
    }

    fn receiving_in(test: impl FnOnce(&mut World<'_>)) {
        at_busy(Span::us(3), |world| {
            let half = &mut world.runs.own.pairs.receivers[0];
            (half.head, half.rest) = (incoming(0, 3), [incoming(3, 5), incoming(5, 9)].into());
            test(world);
        });
    }

    fn ends(half: &ReceiveHalf) -> Vec<u64> {
        half.messages().map(|(_, end, _)| end).collect()
    }

    const ALL: [(u64, u64, u64); 3] = [(30, 3, 3_000), (50, 5, 5_000), (90, 9, 9_000)];

    #[test]
    fn a_packet_that_is_sent_belongs_to_the_message_that_ends_behind_it() {
        let mut half = sending();
        assert_eq!(half.messages().collect::<Vec<_>>(), ALL);
        let ends = (0..11).map(|psn| half.message_of(psn).end).collect::<Vec<_>>();
        assert_eq!(ends, [3, 3, 3, 5, 5, 9, 9, 9, 9, 9, 9]);
        half.rest.clear();
        assert_eq!(half.message_of(7).end, 3);
    }

    #[test]
    fn a_packet_that_arrives_belongs_to_the_message_that_ends_behind_it() {
        receiving(|half| {
            assert_eq!(half.messages().collect::<Vec<_>>(), ALL);
            let index: Vec<usize> = (0..9).map(|psn| half.index_of(psn)).collect();
            assert_eq!(index, [0, 0, 0, 1, 1, 2, 2, 2, 2]);
            assert_eq!([0, 1, 2].map(|index| half.message(index).end), [3, 5, 9]);
            let open: Vec<_> = (0..10).map(|psn| half.open_message(psn).map(|message| message.end)).collect();
            let expected = [3, 3, 3, 5, 5, 9, 9, 9, 9].map(Some);
            assert_eq!((&open[..9], open[9]), (&expected[..], None));
        });
    }

    #[test]
    fn a_message_is_open_from_its_first_packet_until_it_is_complete() {
        receiving(|half| {
            half.rest[0].finish = 7;
            assert!(half.open_message(4).is_none() && half.open_message(5).is_some());
            half.rest.clear();
            half.head = incoming(2, 5);
            let open = [1, 2, 4].map(|psn| half.open_message(psn).is_some());
            assert_eq!(open, [false, true, true]);
            half.head.finish = 7;
            assert!(half.open_message(4).is_none());
        });
    }

    #[test]
    fn a_message_that_is_taken_out_leaves_the_others_in_their_order() {
        receiving(|half| {
            half.take_out(1);
            assert_eq!(ends(half), [3, 9]);
            half.take_out(0);
            assert_eq!(ends(half), [9]);
            half.take_out(0);
            assert_eq!(ends(half), [9], "the last one stays");
            half.post(incoming(9, 12));
            assert_eq!(ends(half), [9, 12]);
            half.take_out(1);
            half.head.finish = 7;
            half.post(incoming(9, 12));
            assert_eq!(ends(half), [12], "one that is complete has its row");
        });
    }

    #[test]
    fn a_half_that_closes_writes_the_rows_of_all_messages_that_have_none() {
        receiving_in(|world| {
            let (pairs, records) = (&mut world.runs.own.pairs, &mut world.runs.own.kept.records);
            let before = (records.sent_rows.len(), records.received_rows.len());
            let mut half = sending();
            half.state.alive = true;
            half.close(&pairs.paths[0], records);
            assert!(!half.state.alive && half.rest.is_empty());
            pairs.receivers[0].close(&pairs.paths[0], records);
            assert!(!pairs.receivers[0].alive);
            assert_eq!((records.sent_rows.len(), records.received_rows.len()), (before.0 + 3, before.1 + 3));
            // The row of a message that was complete is there already.
            pairs.receivers[0].head.finish = 7;
            pairs.receivers[0].close(&pairs.paths[0], records);
            assert_eq!(records.received_rows.len(), before.1 + 3);
            assert!(records.received_rows[before.1..].iter().all(|row| row.finish == NEVER));
        });
    }

    #[test]
    fn a_message_that_is_posted_waits_behind_the_oldest_that_is_not_sent() {
        receiving_in(|world| {
            let (path, records) = (&world.runs.own.pairs.paths[0], &mut world.runs.own.kept.records);
            let rows = records.sent_rows.len();
            let mut half = SendHalf { head: outgoing(3), end: 3, ..SendHalf::idle() };
            half.post(outgoing(5), path, records);
            assert_eq!((half.head.end, half.rest.len(), half.end), (3, 1, 5));
            assert_eq!(records.sent_rows.len(), rows);
            half.rest.clear();
            half.head.sent = true;
            half.post(outgoing(9), path, records);
            assert_eq!((half.head.end, half.rest.len(), half.end), (9, 0, 9));
            assert_eq!(records.sent_rows.len(), rows + 1);
        });
    }
}
