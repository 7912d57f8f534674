//! No link retry: a frame that a link damages is lost (as on Ethernet without link-level retry).
//!
//! # What it does
//!
//! The receiving port discards a damaged frame. Nothing is kept to be sent again, and nothing is sent beside
//! frames; the transport recovers from the loss.
//!
//! # Why
//!
//! Ethernet without Ultra Ethernet's extensions works like this. Choose `llr` where damaged frames cost a
//! transport a round trip of the network, or where a flow control must not lose any.
//!
//! # Known differences
//!
//! None.
//!
//! # References
//!
//! - IEEE 802.3, clause 3.4 (a MAC discards frames with a wrong check sequence).

use floodway_units::{Bytes, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{LinkRetry, Outbox, ParamError, RetryInfo, RetryReceiver, RetrySender, RetrySet};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "NoLinkRetry")]
pub struct Params {}

impl LinkRetry for Params {
    type Sender = Sender;
    type Receiver = Receiver;

    fn build(&self, _link: &RetryInfo) -> Result<(Sender, Receiver), ParamError> {
        Ok((Sender, Receiver::default()))
    }
}

/// The sending end: always open.
#[derive(Clone, Copy, Debug)]
pub struct Sender;

impl RetrySender for Sender {
    fn on_sent(&mut self, _now: Time, _wire: Bytes) {}

    fn is_open(&self) -> bool {
        true
    }

    fn next_replay(&self) -> Option<(u64, Bytes)> {
        None
    }

    fn on_replayed(&mut self, _now: Time) {}

    fn on_set(&mut self, _now: Time, _set: RetrySet, _out: &mut Outbox<RetrySet>) {}

    fn next_timeout(&self) -> Option<Time> {
        None
    }

    fn on_timeout(&mut self, _now: Time, _out: &mut Outbox<RetrySet>) {}

    fn on_link_reset(&mut self) {}
}

/// The receiving end: accepts what is not damaged.
#[derive(Clone, Copy, Debug, Default)]
pub struct Receiver {
    /// The number after that of the last frame.
    expected: u64,
}

impl RetryReceiver for Receiver {
    fn on_frame(
        &mut self,
        _now: Time,
        number: u64,
        _wire: Bytes,
        is_damaged: bool,
        _out: &mut Outbox<RetrySet>,
    ) -> bool {
        self.expected = number + 1;
        !is_damaged
    }

    fn on_set(&mut self, _now: Time, _set: RetrySet, _out: &mut Outbox<RetrySet>) -> u64 {
        0
    }

    fn expected(&self) -> u64 {
        self.expected
    }

    fn next_timeout(&self) -> Option<Time> {
        None
    }

    fn on_timeout(&mut self, _now: Time, _out: &mut Outbox<RetrySet>) {}

    fn on_link_reset(&mut self) {
        self.expected = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::us;

    #[test]
    fn a_damaged_frame_is_lost_and_nothing_is_sent_again() {
        let (mut sender, mut receiver) =
            Params {}.build(&RetryInfo::example()).expect("there is nothing to refuse");
        let mut out = Outbox::default();
        sender.on_sent(us(1), Bytes(100));
        assert!(!receiver.on_frame(us(2), 0, Bytes(100), true, &mut out));
        assert!(receiver.on_frame(us(3), 1, Bytes(100), false, &mut out));
        assert!(out.0.is_empty() && sender.is_open() && sender.next_replay().is_none());
        assert_eq!(Params {}.replay_buffer(&RetryInfo::example()), None);
    }
}
