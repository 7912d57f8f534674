//! Link retry: frames that a link damages are sent again on that link, so that they arrive in order.

use floodway_units::{Bytes, Rate, Span, Time};

use super::{Outbox, ParamError};

/// The fixed values of one link direction when the ends of its retry are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryInfo {
    /// Rate of the direction that carries the frames.
    pub rate: Rate,
    /// Rate of the direction that carries the acknowledgements.
    pub reverse_rate: Rate,
    /// Longest propagation delay of the frames, jitter included.
    pub delay: Span,
    /// Longest propagation delay of the acknowledgements, jitter included.
    pub reverse_delay: Span,
    /// The largest frame on the wire, with preamble and gap.
    pub largest: Bytes,
}

impl RetryInfo {
    /// A link of 100 Gbit/s and 1 us with frames of 4,178 bytes on the wire.
    pub fn example() -> Self {
        RetryInfo {
            rate: Rate::gbps(100),
            reverse_rate: Rate::gbps(100),
            delay: Span::us(1),
            reverse_delay: Span::us(1),
            largest: Bytes(4178),
        }
    }
}

/// What the two ends send each other, beside frames: a control ordered set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetrySet {
    /// Upstream: all frames before this number have been accepted.
    Ack(u64),
    /// Upstream: the same, and this one was damaged or is missing: send again from here.
    Nack(u64),
    /// Downstream: frames before this number are not sent again; those that were not accepted are lost.
    Init(u64),
}

impl RetrySet {
    /// Its bytes on the wire; it has no preamble and no gap.
    pub const WIRE: Bytes = Bytes(8);
}

hooks! {
    ($)
    /// The end that sends frames. Numbers count frames from 0.
    pub trait RetrySender => retry_sender for machines {
        /// A new frame of `wire` bytes starts on the link. It has the next number.
        fn on_sent(&mut self, now: Time, wire: Bytes);

        /// May a new frame start?
        fn is_open(&self) -> bool;

        /// The frame that is sent again before anything else, and its bytes on the wire.
        fn next_replay(&self) -> Option<(u64, Bytes)>;

        /// The frame that `next_replay` named starts on the link again.
        fn on_replayed(&mut self, now: Time);

        /// A set of the receiver's has arrived.
        fn on_set(&mut self, now: Time, set: RetrySet, out: &mut Outbox<RetrySet>);

        /// When to call `on_timeout` next.
        fn next_timeout(&self) -> Option<Time>;

        /// The instant that `next_timeout` named has come.
        fn on_timeout(&mut self, now: Time, out: &mut Outbox<RetrySet>);

        /// The link went down: numbers begin at 0 again, and nothing is kept.
        fn on_link_reset(&mut self);
    }
}

hooks! {
    ($)
    /// The end that receives frames.
    pub trait RetryReceiver => retry_receiver for machines {
        /// The frame of this number and so many bytes on the wire has arrived, whole or damaged. Is it
        /// accepted? Frames are accepted in the order of their numbers.
        fn on_frame(
            &mut self, now: Time, number: u64, wire: Bytes, is_damaged: bool, out: &mut Outbox<RetrySet>,
        ) -> bool;

        /// A set of the sender's has arrived: how many frames are not accepted any more.
        fn on_set(&mut self, now: Time, set: RetrySet, out: &mut Outbox<RetrySet>) -> u64;

        /// The number of the frame that is accepted next.
        fn expected(&self) -> u64;

        /// When to call `on_timeout` next.
        fn next_timeout(&self) -> Option<Time>;

        /// The instant that `next_timeout` named has come.
        fn on_timeout(&mut self, now: Time, out: &mut Outbox<RetrySet>);

        /// The link went down: numbers begin at 0 again.
        fn on_link_reset(&mut self);
    }
}

hooks! {
    ($)
    /// Retry of the frames that a link damages.
    pub trait LinkRetry => link_retry for queries {
        /// The end that sends frames.
        type Sender: RetrySender;
        /// The end that receives frames.
        type Receiver: RetryReceiver;

        /// Both ends of one link direction.
        fn build(&self, link: &RetryInfo) -> Result<(Self::Sender, Self::Receiver), ParamError>;

        /// The most bytes on the wire that the sending end keeps to send them again: so many may arrive after
        /// a pause in effect, since a pause does not stop what is sent again. `None`: nothing is sent again.
        fn replay_buffer(&self, _link: &RetryInfo) -> Option<Bytes> {
            None
        }

        /// Why the link may idle though nothing is damaged, if it may.
        fn warning(&self, _link: &RetryInfo) -> Option<String> {
            None
        }
    }
}
