//! Metered messages at a port: a bounded queue behind a token bucket.

use floodway_mechanisms::slots::Meter;
use floodway_units::{Bytes, Time};

use crate::link::arena::Fifo;

/// The metered messages of a port. The bucket is kept as the instant at which it is full: exact in
/// picoseconds.
#[derive(Debug)]
pub(crate) struct MeterQueue {
    meter: Meter,
    pub fifo: Fifo,
    waiting: u32,
    /// When the bucket is full.
    full_at: Time,
    /// When the first message may leave, while the port has nothing else to do but to wait for that.
    pub wake: Option<Time>,
}

impl MeterQueue {
    pub fn new(meter: Meter) -> Self {
        MeterQueue { meter, fifo: Fifo::default(), waiting: 0, full_at: Time::ZERO, wake: None }
    }

    /// When a message of `wire` bytes may leave, if none leaves before it.
    pub fn opens_for(&self, now: Time, wire: u64) -> Time {
        let full = self.meter.rate.time_to_send(self.meter.burst);
        // What is in a full bucket is enough for any message.
        let needs = self.meter.rate.time_to_send(Bytes(wire)).min(full);
        (self.full_at.max(now) + needs).0.checked_sub(full.0).map_or(now, |at| Time(at).max(now))
    }

    /// Is there no room for another message?
    pub fn is_full(&self) -> bool {
        self.waiting >= self.meter.packets
    }

    /// A message joins the queue.
    pub fn joins(&mut self) {
        self.waiting += 1;
    }

    /// A message of `wire` bytes leaves.
    pub fn leaves(&mut self, now: Time, wire: u64) {
        self.waiting -= 1;
        self.full_at = self.full_at.max(now) + self.meter.rate.time_to_send(Bytes(wire));
        self.wake = None;
    }

    /// All that waits.
    pub fn empty(&mut self) -> Fifo {
        self.waiting = 0;
        self.wake = None;
        std::mem::take(&mut self.fifo)
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::{Rate, Span};

    use super::*;

    #[test]
    fn a_bucket_of_two_messages_lets_two_go_and_then_one_each_interval() {
        // 84 B take 672 ns at 1 Gbit/s.
        let mut queue = MeterQueue::new(Meter { rate: Rate::gbps(1), burst: Bytes(168), packets: 8 });
        let mut now = Time::ZERO + Span::us(10);
        let mut sent = Vec::new();
        for _ in 0..4 {
            now = queue.opens_for(now, 84);
            queue.joins();
            queue.leaves(now, 84);
            sent.push(now.since(Time::ZERO + Span::us(10)));
        }
        assert_eq!(sent, [0, 0, 672, 1344].map(Span::ns));
        // After a silence the bucket is full again, and not fuller.
        let later = now + Span::us(100);
        for expected in [0, 0, 672] {
            let at = queue.opens_for(later, 84);
            assert_eq!(at.since(later), Span::ns(expected));
            queue.joins();
            queue.leaves(at, 84);
        }
    }

    #[test]
    fn a_message_larger_than_the_bucket_leaves_when_that_is_full() {
        let mut queue = MeterQueue::new(Meter { rate: Rate::gbps(1), burst: Bytes(84), packets: 8 });
        let now = Time::ZERO + Span::us(1);
        assert_eq!(queue.opens_for(now, 92), now);
        queue.joins();
        queue.leaves(now, 92);
        assert_eq!(queue.opens_for(now, 92).since(now), Span::ns(736));
    }
}
