//! The end that sends frames, with the replay buffer.

use std::collections::VecDeque;

use floodway_units::{Bytes, Span, Time};

use super::Params;
use crate::slots::{Outbox, RetryInfo, RetrySender, RetrySet};

/// The sending end of a link direction.
#[derive(Clone, Debug)]
pub struct Sender {
    largest: Bytes,
    most_frames: usize,
    most_bytes: Bytes,
    timer: Span,
    most_replays: u32,
    /// The replay buffer: bytes on the wire of each frame that is not acknowledged.
    kept: VecDeque<Bytes>,
    /// Their sum.
    bytes: Bytes,
    /// The number of the first of them.
    acknowledged: u64,
    /// The number of the frame to send next: of one that is kept, if the sender has gone back.
    next: u64,
    /// When it goes back without an answer; never while nothing is kept.
    due: Time,
    /// How often it has gone back since something was acknowledged.
    replays: u32,
    /// The replay buffer was flushed, and the receiver has not acknowledged that.
    initialising: bool,
}

impl Sender {
    pub(super) fn new(params: &Params, link: &RetryInfo) -> Self {
        Sender {
            largest: link.largest,
            most_frames: params.outstanding_frames as usize,
            most_bytes: params.buffer(link),
            timer: params.timer(link),
            most_replays: params.replay_count.unwrap_or(u32::MAX),
            kept: VecDeque::new(),
            bytes: Bytes::ZERO,
            acknowledged: 0,
            next: 0,
            due: Time::NEVER,
            replays: 0,
            initialising: false,
        }
    }

    /// The number of the next new frame.
    fn end(&self) -> u64 {
        self.acknowledged + self.kept.len() as u64
    }

    /// All frames before `number` have been accepted.
    fn acknowledge(&mut self, now: Time, number: u64) {
        let is_new = if self.initialising { number == self.acknowledged } else { number > self.acknowledged };
        if !is_new || number > self.end() {
            return;
        }
        while self.acknowledged < number {
            self.acknowledged += 1;
            let wire = self.kept.pop_front().unwrap_or_default();
            self.bytes -= wire;
        }
        self.next = self.next.max(number);
        (self.replays, self.initialising) = (0, false);
        self.due = if self.kept.is_empty() { Time::NEVER } else { now + self.timer };
    }

    /// Sends all that is kept again, or gives it up after too many times.
    fn go_back(&mut self, now: Time, out: &mut Outbox<RetrySet>) {
        if self.initialising {
            // Section 5.1: the ends agree on the next number before frames go.
            out.0.push(RetrySet::Init(self.acknowledged));
            self.due = now + self.timer;
            return;
        }
        if self.kept.is_empty() {
            self.due = Time::NEVER;
            return;
        }
        if self.replays >= self.most_replays {
            // Section 5.1: after REPLAY_COUNT_MAX tries the replay buffer is flushed.
            (self.acknowledged, self.bytes) = (self.end(), Bytes::ZERO);
            self.kept.clear();
            (self.next, self.replays, self.initialising) = (self.acknowledged, 0, true);
            return self.go_back(now, out);
        }
        self.replays += 1;
        self.next = self.acknowledged;
        self.due = now + self.timer;
    }
}

impl RetrySender for Sender {
    fn on_sent(&mut self, now: Time, wire: Bytes) {
        // Section 5.1: a frame is kept in the replay buffer until it is acknowledged.
        if self.kept.is_empty() {
            self.due = now + self.timer;
        }
        self.kept.push_back(wire);
        self.bytes += wire;
        self.next = self.end();
    }

    fn is_open(&self) -> bool {
        !self.initialising
            && self.next == self.end()
            && self.kept.len() < self.most_frames
            && self.bytes + self.largest <= self.most_bytes
    }

    fn next_replay(&self) -> Option<(u64, Bytes)> {
        let at = usize::try_from(self.next - self.acknowledged).ok()?;
        self.kept.get(at).map(|wire| (self.next, *wire))
    }

    fn on_replayed(&mut self, now: Time) {
        if self.next == self.acknowledged {
            self.due = now + self.timer;
        }
        self.next += 1;
    }

    fn on_set(&mut self, now: Time, set: RetrySet, out: &mut Outbox<RetrySet>) {
        match set {
            RetrySet::Ack(number) => self.acknowledge(now, number),
            RetrySet::Nack(number) => {
                self.acknowledge(now, number);
                // Section 5.1: the sender goes back to the frame that the receiver misses.
                if number == self.acknowledged && !self.initialising {
                    self.go_back(now, out);
                }
            }
            RetrySet::Init(_) => {}
        }
    }

    fn next_timeout(&self) -> Option<Time> {
        (self.due != Time::NEVER).then_some(self.due)
    }

    fn on_timeout(&mut self, now: Time, out: &mut Outbox<RetrySet>) {
        // Section 5.1: without an answer, the replay timer makes it go back.
        if self.due <= now {
            self.go_back(now, out);
        }
    }

    fn on_link_reset(&mut self) {
        self.kept.clear();
        (self.bytes, self.acknowledged, self.next) = (Bytes::ZERO, 0, 0);
        (self.due, self.replays, self.initialising) = (Time::NEVER, 0, false);
    }
}
