//! No reliability: packets are neither acknowledged nor retransmitted (as in SWING's runs without link-level
//! retransmission).
//!
//! # What it does
//!
//! Each packet is sent once, in order, and every packet that arrives is delivered. A flow that loses a packet
//! never finishes.
//!
//! # Why
//!
//! On a lossless network it is the simplest transport: there are no ACKs on the reverse path, so the effect
//! of flow control can be seen by itself. Use `go-back-n` where packets may be lost, and with mechanisms that
//! need ACKs (windows, ACK flags).
//!
//! # Known differences
//!
//! None.
//!
//! # References
//!
//! - Chen et al., "Swing: Providing Long-Range Lossless RDMA via PFC-Relay", IEEE TPDS 34(1), 2023, section 6
//!   and its simulator (retransmission mode `NONE`).

use floodway_units::{Bytes, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    Cx, LossView, Messages, ParamError, QpInfo, Reliability, Repeats, Reply, Segment, TransportReceiver,
    TransportSender,
};

/// No parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "NoReliability")]
pub struct Params {}

impl Reliability for Params {
    type Sender = Sender;
    type Receiver = Receiver;

    fn build(&self, qp: &QpInfo) -> Result<(Sender, Receiver), ParamError> {
        Ok((Sender { messages: Messages::new(qp.mtu), next: 0 }, Receiver))
    }

    fn repeats(&self) -> Repeats {
        Repeats::Nothing
    }

    fn longest_timeout(&self, _usual: Span) -> Span {
        Span::ZERO
    }

    fn has_acks(&self) -> bool {
        false
    }
}

/// The sender's end: each packet once, in order.
#[derive(Clone, Debug)]
pub struct Sender {
    messages: Messages,
    /// The packet to send next.
    next: u64,
}

impl TransportSender for Sender {
    fn push(&mut self, message: Bytes) {
        self.messages.push(message);
    }

    fn ready(&self) -> Option<Bytes> {
        (!self.is_done()).then(|| self.messages.segment(self.next, false).payload)
    }

    fn next_segment(&mut self, _now: Time) -> Option<Segment> {
        if self.is_done() {
            return None;
        }
        let segment = self.messages.segment(self.next, false);
        self.next += 1;
        self.messages.release(self.next);
        Some(segment)
    }

    fn on_reply(&mut self, _now: Time, _reply: Reply) -> (Bytes, Option<LossView>) {
        (Bytes::ZERO, None)
    }

    fn next_psn(&self) -> u64 {
        self.next
    }

    fn in_flight(&self) -> Bytes {
        Bytes::ZERO
    }

    fn is_done(&self) -> bool {
        self.next == self.messages.end()
    }

    fn counted_from(&self, psn: u64) -> Option<String> {
        let messages = self.messages.counted_from(psn, self.messages.before());
        let own = Sender { messages, next: self.next.wrapping_sub(psn) };
        Some(format!("{own:?}"))
    }
}

/// The receiver's end: every packet that arrives is delivered.
#[derive(Clone, Copy, Debug)]
pub struct Receiver;

impl TransportReceiver for Receiver {
    fn on_segment(&mut self, _cx: &mut Cx<'_, Reply>, s: &Segment) -> Bytes {
        s.payload
    }

    fn counted_from(&self, _psn: u64) -> Option<String> {
        Some(String::new())
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::Turns;

    use super::*;
    use crate::testing::{Bench, qp, us};

    #[test]
    fn each_packet_is_sent_once_and_counts_when_it_arrives() {
        let (mut sender, mut receiver) = Params {}.build(&qp()).expect("there is nothing to refuse");
        assert!(sender.is_done());
        sender.push(Bytes(2_500));
        sender.push(Bytes(400));
        let mut bench = Bench::new();
        let mut seen = Vec::new();
        let mut turns = Turns::at_most(100);
        while turns.go()
            && let Some(payload) = sender.ready()
        {
            let segment = sender.next_segment(us(1)).expect("one is ready");
            assert!(
                bench.sent(us(2), |cx| assert_eq!(receiver.on_segment(cx, &segment), payload)).is_empty()
            );
            seen.push((segment.psn, payload.0, segment.first, segment.last));
        }
        assert_eq!(
            seen,
            [(0, 1000, true, false), (1, 1000, false, false), (2, 500, false, true), (3, 400, true, true)]
        );
        assert!(sender.is_done() && sender.next_segment(us(3)).is_none());
        assert_eq!(sender.in_flight(), Bytes::ZERO);
    }
}
