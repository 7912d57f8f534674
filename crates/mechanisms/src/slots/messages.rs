//! Messages of a queue pair, split into packets.

use std::collections::VecDeque;

use floodway_units::Bytes;

use super::Segment;

/// The messages of a queue pair, split into packets: sequence numbers continue from message to message, and
/// only the last packet of a message may be short.
#[derive(Clone, Debug)]
pub struct Messages {
    mtu: u64,
    /// Where the oldest open message begins.
    begin: Message,
    /// Where it ends, at the same position if none is open. It is stored apart from the others, so that a
    /// queue pair of one message has all its state in one place.
    oldest: Message,
    /// The open ones behind it, in order.
    rest: VecDeque<Message>,
}

/// Index of the message of packet `psn` among messages in order, of which the first begins at `begin` and
/// each ends at its `end`; their number if it lies behind them all. Messages of one size are found at once,
/// others by a search.
#[inline]
pub fn message_of<T>(messages: &VecDeque<T>, begin: u64, psn: u64, end: impl Fn(&T) -> u64) -> usize {
    let Some(size) = messages.front().map(|first| end(first) - begin) else { return 0 };
    let guess = psn.saturating_sub(begin).checked_div(size).and_then(|guess| usize::try_from(guess).ok());
    if let Some(guess) = guess
        && messages.get(guess).is_some_and(|message| psn < end(message))
        && guess.checked_sub(1).is_none_or(|before| end(&messages[before]) <= psn)
    {
        return guess;
    }
    messages.partition_point(|message| end(message) <= psn)
}

/// Where a message ends.
#[derive(Clone, Copy, Debug, Default)]
struct Message {
    /// Sequence number after its last packet.
    end: u64,
    /// Payload of all messages up to here; wraps, since only differences count.
    bytes: u64,
}

impl Messages {
    /// No messages; full packets carry `mtu` bytes.
    pub fn new(mtu: Bytes) -> Self {
        let none = Message::default();
        Messages { mtu: mtu.0, begin: none, oldest: none, rest: VecDeque::new() }
    }

    /// Adds a message; one of no bytes still takes a packet.
    pub fn push(&mut self, message: Bytes) {
        let last = self.last();
        let end = last.end.saturating_add(message.0.div_ceil(self.mtu).max(1));
        let message = Message { end, bytes: last.bytes.wrapping_add(message.0) };
        if self.has_open() {
            self.rest.push_back(message);
        } else {
            self.oldest = message;
        }
    }

    fn has_open(&self) -> bool {
        self.begin.end < self.oldest.end
    }

    #[inline]
    fn last(&self) -> Message {
        self.rest.back().copied().unwrap_or(self.oldest)
    }

    /// The sequence number after the last packet.
    #[inline]
    pub fn end(&self) -> u64 {
        self.last().end
    }

    /// The open message of packet `psn`: where it begins and ends.
    #[inline]
    fn around(&self, psn: u64) -> (Message, Message) {
        // Mostly it is the oldest.
        if psn < self.oldest.end { (self.begin, self.oldest) } else { self.search(psn) }
    }

    fn search(&self, psn: u64) -> (Message, Message) {
        let at = message_of(&self.rest, self.oldest.end, psn, |message| message.end);
        let Some(&message) = self.rest.get(at) else { return (self.last(), self.last()) };
        (if at == 0 { self.oldest } else { self.rest[at - 1] }, message)
    }

    /// The packet `psn`, which must lie in an open message.
    #[inline]
    pub fn segment(&self, psn: u64, retransmission: bool) -> Segment {
        let (begin, message) = self.around(psn);
        debug_assert!(psn < message.end, "packet {psn} lies in no open message");
        let last = psn + 1 == message.end;
        let before = (psn - begin.end) * self.mtu;
        let payload = if last { message.bytes.wrapping_sub(begin.bytes) - before } else { self.mtu };
        Segment { psn, payload: Bytes(payload), first: psn == begin.end, last, retransmission }
    }

    /// Payload before packet `psn`, as `Message::bytes` counts it.
    #[inline]
    pub(crate) fn offset(&self, psn: u64) -> u64 {
        let (begin, _) = self.around(psn);
        begin.bytes.wrapping_add((psn - begin.end) * self.mtu)
    }

    /// Payload of the packets `from..to`, all in open messages.
    pub fn payload(&self, from: u64, to: u64) -> Bytes {
        if from >= to {
            return Bytes::ZERO;
        }
        Bytes(self.offset(to).wrapping_sub(self.offset(from)))
    }

    /// The same, where packets count from `psn` and payload from `bytes`: only differences count.
    pub(crate) fn counted_from(&self, psn: u64, bytes: u64) -> Self {
        let mut own = self.clone();
        for message in [&mut own.begin, &mut own.oldest].into_iter().chain(&mut own.rest) {
            message.end = message.end.wrapping_sub(psn);
            message.bytes = message.bytes.wrapping_sub(bytes);
        }
        own
    }

    /// Payload of all messages before the oldest open one, as `Message::bytes` counts it.
    pub(crate) fn before(&self) -> u64 {
        self.begin.bytes
    }

    /// Removes messages that end at or before `psn`.
    #[inline]
    pub fn release(&mut self, psn: u64) {
        while self.oldest.end <= psn && self.has_open() {
            self.begin = self.oldest;
            self.oldest = self.rest.pop_front().unwrap_or(self.begin);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_packet_is_found_in_the_message_that_ends_behind_it(
            begin in 0u64..9,
            sizes in prop_oneof![vec(1u64..5, 0..40), (1u64..5, 0usize..40).prop_map(|(size, n)| vec![size; n])],
        ) {
            let mut end = begin;
            let ends: VecDeque<u64> = sizes.iter().map(|size| { end += size; end }).collect();
            for psn in begin..end + 3 {
                let expected = ends.iter().filter(|&&end| end <= psn).count();
                prop_assert_eq!(message_of(&ends, begin, psn, |&end| end), expected);
            }
        }
    }
}
