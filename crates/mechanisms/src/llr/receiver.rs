//! The end that receives frames.

use floodway_units::{Bytes, Span, Time};

use super::Params;
use crate::slots::{Outbox, RetryInfo, RetryReceiver, RetrySet};

/// The receiving end of a link direction.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// Bytes on the wire from one acknowledgement to the next, and how long they take.
    spacing: (Bytes, Span),
    /// The number of the frame that is accepted next.
    expected: u64,
    /// Bytes on the wire that were accepted since the last acknowledgement.
    unacknowledged: Bytes,
    /// When the next acknowledgement is due; never while nothing is unacknowledged.
    due: Time,
    /// Frames are discarded until the expected one arrives, which has been asked for.
    discards: bool,
}

impl Receiver {
    pub(super) fn new(params: &Params, link: &RetryInfo) -> Self {
        Receiver {
            spacing: (params.ack_spacing, link.rate.time_to_send(params.ack_spacing)),
            expected: 0,
            unacknowledged: Bytes::ZERO,
            due: Time::NEVER,
            discards: false,
        }
    }

    fn answer(&mut self, set: RetrySet, out: &mut Outbox<RetrySet>) {
        (self.unacknowledged, self.due) = (Bytes::ZERO, Time::NEVER);
        out.0.push(set);
    }
}

impl RetryReceiver for Receiver {
    fn on_frame(
        &mut self,
        now: Time,
        number: u64,
        wire: Bytes,
        is_damaged: bool,
        out: &mut Outbox<RetrySet>,
    ) -> bool {
        if !is_damaged && number < self.expected {
            // It was sent again because an answer was lost.
            self.answer(RetrySet::Ack(self.expected), out);
            return false;
        }
        if is_damaged || number > self.expected {
            // Section 5.1: one LLR_NACK, then all is discarded until the missing frame arrives.
            if !self.discards {
                self.discards = true;
                self.answer(RetrySet::Nack(self.expected), out);
            }
            return false;
        }
        self.discards = false;
        self.expected += 1;
        self.unacknowledged += wire;
        // Section 5.1: acknowledgements are cumulative and have a target spacing.
        if self.unacknowledged >= self.spacing.0 {
            self.answer(RetrySet::Ack(self.expected), out);
        } else if self.due == Time::NEVER {
            self.due = now + self.spacing.1;
        }
        true
    }

    fn on_set(&mut self, _now: Time, set: RetrySet, out: &mut Outbox<RetrySet>) -> u64 {
        let RetrySet::Init(number) = set else { return 0 };
        let lost = number.saturating_sub(self.expected);
        (self.expected, self.discards) = (self.expected.max(number), false);
        self.answer(RetrySet::Ack(self.expected), out);
        lost
    }

    fn expected(&self) -> u64 {
        self.expected
    }

    fn next_timeout(&self) -> Option<Time> {
        (self.due != Time::NEVER).then_some(self.due)
    }

    fn on_timeout(&mut self, now: Time, out: &mut Outbox<RetrySet>) {
        if self.due <= now {
            self.answer(RetrySet::Ack(self.expected), out);
        }
    }

    fn on_link_reset(&mut self) {
        (self.expected, self.unacknowledged, self.due, self.discards) = (0, Bytes::ZERO, Time::NEVER, false);
    }
}
