//! Go-back-N, the reliability of RoCE NICs: the receiver accepts packets in order only, and after a loss the
//! sender restarts from the lost packet (InfiniBand specification, 9.7; the HPCC simulator's `rdma-hw.cc`).
//!
//! # What it does
//!
//! Packet e is delivered; each `ack-interval`-th packet and the last one of each message are acknowledged. A
//! packet beyond e is discarded and answered by NAK(e), which is repeated for the same e only after
//! `nack-interval`. A packet before e is a duplicate, answered by ACK(e) (InfiniBand C9-110) unless
//! `duplicates` sets another answer. A NAK, or a timeout without an ACK that advances, sends the sender back
//! to `snd_una`.
//!
//! # Why
//!
//! It is what NICs implement, and costs nothing where nothing is lost. Where packets are lost or reordered
//! (`spray`) it retransmits a whole window for each gap. `none` saves the ACKs on networks that are lossless
//! throughout.
//!
//! # Symbols
//!
//! | symbol | here, in packets |
//! |---|---|
//! | e | the number that the receiver expects |
//! | `snd_una` | the oldest packet not acknowledged |
//! | `snd_nxt` | the next packet to send |
//!
//! # Known differences
//!
//! - Both times depend on the path. The timer (C9-139) is off where the whole path is lossless and keeps the
//!   order of packets, as in the HPCC and SWING simulators, and elsewhere the longer of 4 ms and 4 round
//!   trips: 4 ms alone would resend each flow over 600 km before its first ACK. Where packets are spread over
//!   paths, the last ones of a message may overtake one that is expected, and be discarded; if the ACK for
//!   that one then overtakes their NAK, only the timer sends them again.
//! - Sequence numbers count packets; the HPCC simulator counts bytes and may go back to a multiple of a
//!   chunk.
//!
//! # References
//!
//! - InfiniBand Trade Association, "InfiniBand Architecture Specification, Volume 1", section 9.7 (C9-110,
//!   C9-139).
//! - Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, its simulator's `rdma-hw.cc`.
//! - Song et al., "Network Load Balancing with In-network Reordering Support for RDMA", SIGCOMM 2023
//!   (ConWeave), its simulator: a timer of 4 ms.

use floodway_units::{Bytes, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::slots::{
    Cx, LossView, Messages, ParamError, QpInfo, Reliability, Repeats, Reply, Segment, Timeout,
    TransportReceiver, TransportSender,
};

/// Parameters of go-back-N.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[schemars(rename = "GoBackN")]
pub struct Params {
    /// Number of packets per ACK, at least 1. If it exceeds a window, a flow never gets the ACK that would
    /// open it.
    /// Source: the HPCC simulator, `L2_ACK_INTERVAL`.
    pub ack_interval: u32,
    /// Minimum time between two NAKs for the same packet, at least 0. Default: the longer of 500 us and the
    /// base round-trip time.
    /// Source: the HPCC simulator has 500 us; floodway's choice beyond that: a repeat before the answer can
    /// arrive sends the window twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nack_interval: Option<Span>,
    /// Time without an ACK that advances, after which the sender goes back, or `"off"`. Default: off where
    /// the whole path is lossless and keeps the order of packets, else the longer of 4 ms and 4 base
    /// round-trip times.
    /// Source: InfiniBand C9-139 asks for a timer; ConWeave's simulator has 4 ms; the HPCC and SWING
    /// simulators have none on lossless paths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Timeout>,
    /// The receiver's answer to a packet that it has already received.
    /// Source: InfiniBand C9-110: an ACK; the HPCC simulator answers nothing.
    pub duplicates: Duplicates,
    /// What restarts the timer while packets are outstanding.
    /// Source: floodway's choice: an ACK without new information does not hide a loss.
    pub restart: Restart,
    /// Whether a NAK reports congestion, as the reply to a marked packet does.
    /// Source: floodway's choice: a loss is not a mark; ConWeave's simulator sets the flag of a CNP.
    pub nak_marks: bool,
}

/// What restarts the timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "GoBackNRestart")]
pub enum Restart {
    /// An ACK that advances, and the first packet sent after all were acknowledged. Source: floodway's
    /// choice.
    #[default]
    Advance,
    /// Every reply and every packet sent; a NAK does not stop it. Source: InfiniBand o9-85, as in ConWeave's
    /// simulator.
    Any,
}

/// The answer to a duplicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "GoBackNDuplicates")]
pub enum Duplicates {
    /// An ACK with the expected number. Source: InfiniBand C9-110.
    #[default]
    Ack,
    /// No answer. Source: the HPCC simulator, `ReceiverCheckSeq` in `rdma-hw.cc`.
    Silent,
}

impl Default for Params {
    fn default() -> Self {
        Params {
            ack_interval: 1,
            nack_interval: None,
            timeout: None,
            duplicates: Duplicates::Ack,
            restart: Restart::Advance,
            nak_marks: false,
        }
    }
}

impl Params {
    fn timeout(&self, qp: &QpInfo) -> Option<Span> {
        match self.timeout {
            Some(timeout) => timeout.span(),
            // Packets that arrive early are discarded, too, and the NAK that would tell may be overtaken by
            // an ACK.
            None if qp.lossless && qp.keeps_order => None,
            None => Some(Span::ms(4).max(qp.base_rtt * 4)),
        }
    }
}

impl Reliability for Params {
    type Sender = Sender;
    type Receiver = Receiver;

    fn build(&self, qp: &QpInfo) -> Result<(Sender, Receiver), ParamError> {
        if self.ack_interval == 0 {
            return Err(ParamError::new("ack-interval", "0 is not allowed; the minimum is 1"));
        }
        let nack_interval = self.nack_interval.unwrap_or(Span::us(500).max(qp.base_rtt));
        let receiver = Receiver::new(self, nack_interval);
        Ok((Sender::new(qp.mtu, self.timeout(qp), self.restart), receiver))
    }

    fn repeats(&self) -> Repeats {
        Repeats::AllAfter
    }

    fn ack_interval(&self) -> u32 {
        self.ack_interval.max(1)
    }

    fn longest_timeout(&self, usual: Span) -> Span {
        self.timeout.map_or(usual, |timeout| timeout.span().unwrap_or_default())
    }
}

/// The sender's end.
#[derive(Clone, Debug)]
pub struct Sender {
    /// `snd_una`: the oldest packet not acknowledged.
    unacknowledged: u64,
    /// `snd_nxt`: the packet to send next.
    next: u64,
    /// One after the newest packet ever sent: packets before it are retransmissions.
    highest: u64,
    /// Payload before `snd_una` and before `snd_nxt`, as `messages` counts it. The bytes in flight are
    /// queried at every packet and reply, and would otherwise be computed from two numbers each time.
    acknowledged_bytes: u64,
    next_bytes: u64,
    messages: Messages,
    timeout: Option<Span>,
    restart: Restart,
    /// When the timer expires; it runs while packets are outstanding.
    deadline: Option<Time>,
}

impl Sender {
    fn new(mtu: Bytes, timeout: Option<Span>, restart: Restart) -> Self {
        Sender {
            unacknowledged: 0,
            next: 0,
            highest: 0,
            acknowledged_bytes: 0,
            next_bytes: 0,
            messages: Messages::new(mtu),
            timeout,
            restart,
            deadline: None,
        }
    }

    fn is_outstanding(&self) -> bool {
        self.unacknowledged < self.next
    }

    /// Restarts the timer if packets are outstanding.
    fn restart_timer(&mut self, now: Time) {
        // C9-139: a timer watches what is outstanding.
        self.deadline = self.timeout.filter(|_| self.is_outstanding()).map(|timeout| now + timeout);
    }

    /// A reply has arrived: restarts the timer where any reply does.
    fn reply_arrived(&mut self, now: Time) {
        // o9-85: each response may start the timer anew.
        if self.restart == Restart::Any && self.is_outstanding() {
            self.restart_timer(now);
        }
    }

    /// Everything before `next` has arrived; returns the newly acknowledged payload.
    fn acknowledge(&mut self, now: Time, next: u64) -> Bytes {
        // Nothing can have arrived that was never sent.
        let next = next.min(self.highest);
        if next <= self.unacknowledged {
            return Bytes::ZERO;
        }
        let bytes = self.messages.offset(next);
        let acked = bytes.wrapping_sub(self.acknowledged_bytes);
        // Section 9.7.5.1.2: a response acknowledges all packets before its own number.
        (self.unacknowledged, self.acknowledged_bytes) = (next, bytes);
        // An ACK from before a rewind may be ahead of the retransmission.
        if self.next < next {
            (self.next, self.next_bytes) = (next, bytes);
        }
        self.messages.release(next);
        self.restart_timer(now);
        Bytes(acked)
    }

    /// Retransmits from the oldest packet that is not acknowledged.
    fn go_back(&mut self, timeout: bool) -> Option<LossView> {
        let lost = self.in_flight();
        // Section 9.7: the requester retransmits all from the oldest packet that is not acknowledged.
        (self.next, self.next_bytes) = (self.unacknowledged, self.acknowledged_bytes);
        if timeout || self.restart == Restart::Advance {
            self.deadline = None;
        }
        (lost > Bytes::ZERO).then_some(LossView { lost, timeout })
    }
}

impl TransportSender for Sender {
    fn push(&mut self, message: Bytes) {
        self.messages.push(message);
    }

    fn ready(&self) -> Option<Bytes> {
        (self.next < self.messages.end()).then(|| self.messages.segment(self.next, false).payload)
    }

    fn next_segment(&mut self, now: Time) -> Option<Segment> {
        if self.next == self.messages.end() {
            return None;
        }
        let segment = self.messages.segment(self.next, self.next < self.highest);
        let first_outstanding = !self.is_outstanding();
        self.next += 1;
        self.next_bytes = self.next_bytes.wrapping_add(segment.payload.0);
        self.highest = self.highest.max(self.next);
        if first_outstanding || self.restart == Restart::Any {
            self.restart_timer(now);
        }
        Some(segment)
    }

    fn next_psn(&self) -> u64 {
        self.next
    }

    fn on_reply(&mut self, now: Time, reply: Reply) -> (Bytes, Option<LossView>) {
        match reply {
            Reply::Ack { next } => {
                let acked = self.acknowledge(now, next);
                self.reply_arrived(now);
                (acked, None)
            }
            // Its receiver keeps no packets out of order, and so never sends this.
            Reply::One { .. } => (Bytes::ZERO, None),
            Reply::Nak { next } | Reply::Sack { next, .. } => {
                let acked = self.acknowledge(now, next);
                self.reply_arrived(now);
                // A NAK from before the last ACK carries no new information.
                let loss = if next == self.unacknowledged { self.go_back(false) } else { None };
                (acked, loss)
            }
        }
    }

    fn in_flight(&self) -> Bytes {
        Bytes(self.next_bytes.wrapping_sub(self.acknowledged_bytes))
    }

    fn is_done(&self) -> bool {
        self.unacknowledged == self.messages.end()
    }

    fn next_timeout(&self) -> Option<Time> {
        self.deadline
    }

    fn on_timeout(&mut self, now: Time) -> Option<LossView> {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return None;
        }
        // C9-139: the timer has run out.
        self.go_back(true)
    }

    fn counted_from(&self, psn: u64) -> Option<String> {
        let [unacknowledged, next, highest] =
            [self.unacknowledged, self.next, self.highest].map(|number| number.wrapping_sub(psn));
        let (acknowledged_bytes, next_bytes) = (0, self.in_flight().0);
        let messages = self.messages.counted_from(psn, self.acknowledged_bytes);
        let own = Sender { unacknowledged, next, highest, acknowledged_bytes, next_bytes, messages, ..*self };
        Some(format!("{own:?}"))
    }
}

/// The receiver's end.
#[derive(Clone, Debug)]
pub struct Receiver {
    ack_interval: u32,
    nack_interval: Span,
    duplicates: Duplicates,
    nak_marks: bool,
    /// e: the packet that is expected.
    expected: u64,
    /// Packets taken since the last ACK.
    unanswered: u32,
    /// When NAK(e) was last sent, for the current e.
    nacked: Option<Time>,
}

impl Receiver {
    fn new(params: &Params, nack_interval: Span) -> Self {
        Receiver {
            ack_interval: params.ack_interval,
            nack_interval,
            duplicates: params.duplicates,
            nak_marks: params.nak_marks,
            expected: 0,
            unanswered: 0,
            nacked: None,
        }
    }

    fn acknowledge(&mut self, cx: &mut Cx<'_, Reply>) {
        self.unanswered = 0;
        cx.push(Reply::Ack { next: self.expected });
    }

    fn take(&mut self, cx: &mut Cx<'_, Reply>, s: &Segment) -> Bytes {
        // Section 9.7: the responder takes the packet with the expected number alone.
        self.expected += 1;
        self.unanswered += 1;
        self.nacked = None;
        if s.last || self.unanswered == self.ack_interval {
            self.acknowledge(cx);
        }
        s.payload
    }

    fn refuse(&mut self, cx: &mut Cx<'_, Reply>) {
        if self.nacked.is_some_and(|at| cx.now.since(at) < self.nack_interval) {
            return;
        }
        self.nacked = Some(cx.now);
        self.unanswered = 0;
        // Section 9.7: one beyond it is answered by a NAK.
        cx.push(Reply::Nak { next: self.expected });
    }
}

impl TransportReceiver for Receiver {
    fn on_segment(&mut self, cx: &mut Cx<'_, Reply>, s: &Segment) -> Bytes {
        match s.psn.cmp(&self.expected) {
            std::cmp::Ordering::Equal => return self.take(cx, s),
            std::cmp::Ordering::Greater => self.refuse(cx),
            // C9-110: a duplicate is answered.
            std::cmp::Ordering::Less if self.duplicates == Duplicates::Ack => self.acknowledge(cx),
            std::cmp::Ordering::Less => {}
        }
        Bytes::ZERO
    }

    fn marks_disorder(&self) -> bool {
        self.nak_marks
    }

    fn counted_from(&self, psn: u64) -> Option<String> {
        Some(format!("{:?}", Receiver { expected: self.expected.wrapping_sub(psn), ..*self }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, qp, segments, us};
    use Reply::{Ack, Nak};

    fn pair(json: &str, qp: &QpInfo) -> (Sender, Receiver) {
        let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
        params.build(qp).expect("the parameters are valid")
    }

    /// A sender that has been given `bytes` and has sent `packets` of them at 0.
    fn sender(json: &str, bytes: u64, packets: usize) -> Sender {
        let (mut sender, _) = pair(json, &qp());
        sender.push(Bytes(bytes));
        assert!((0..packets).all(|_| sender.next_segment(Time::ZERO).is_some()));
        sender
    }

    fn lost(bytes: u64) -> LossView {
        LossView { lost: Bytes(bytes), timeout: false }
    }

    #[test]
    fn acks_are_cumulative_and_old_ones_have_no_effect() {
        let mut sender = sender("{}", 3_500, 4);
        assert_eq!(sender.in_flight(), Bytes(3_500));
        assert_eq!(sender.on_reply(us(1), Ack { next: 3 }), (Bytes(3_000), None));
        assert_eq!(sender.on_reply(us(2), Ack { next: 1 }), (Bytes::ZERO, None));
        assert_eq!((sender.in_flight(), sender.is_done()), (Bytes(500), false));
        assert_eq!(sender.on_reply(us(3), Ack { next: 4 }), (Bytes(500), None));
        assert!(sender.is_done() && sender.in_flight() == Bytes::ZERO);
    }

    #[test]
    fn the_interval_of_acks_is_the_one_that_is_given() {
        let interval = |json: &str| {
            let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
            params.ack_interval()
        };
        assert_eq!([interval("{}"), interval(r#"{"ack-interval": 4}"#)], [1, 4]);
    }

    #[test]
    fn a_nak_acknowledges_and_sends_back() {
        let mut sender = sender("{}", 6_000, 5);
        assert_eq!(sender.on_reply(us(1), Nak { next: 2 }), (Bytes(2_000), Some(lost(3_000))));
        assert_eq!((sender.in_flight(), sender.ready()), (Bytes::ZERO, Some(Bytes(1_000))));
        assert_eq!(segments(&mut sender, us(2)), [(2, true), (3, true), (4, true), (5, false)]);
    }

    #[test]
    fn a_nak_from_before_the_last_ack_is_stale() {
        let mut sender = sender("{}", 4_000, 4);
        sender.on_reply(us(1), Ack { next: 2 });
        assert_eq!(sender.on_reply(us(2), Nak { next: 1 }), (Bytes::ZERO, None));
        assert_eq!(sender.in_flight(), Bytes(2_000));
    }

    #[test]
    fn an_ack_that_overtakes_the_rewind_moves_it_on() {
        let mut sender = sender("{}", 4_000, 4);
        sender.on_reply(us(1), Nak { next: 1 });
        assert_eq!(sender.on_reply(us(2), Ack { next: 3 }), (Bytes(2_000), None));
        assert_eq!(segments(&mut sender, us(3)), [(3, true)]);
    }

    #[test]
    fn what_was_never_sent_is_not_acknowledged() {
        let mut sender = sender("{}", 4_000, 1);
        assert_eq!(sender.on_reply(us(1), Ack { next: 9 }), (Bytes(1_000), None));
        assert_eq!(segments(&mut sender, us(2)).len(), 3);
    }

    #[test]
    fn the_timer_watches_what_is_outstanding() {
        let mut sender = sender(r#"{ "timeout": "100us" }"#, 3_000, 0);
        assert_eq!(sender.next_timeout(), None);
        sender.next_segment(us(1));
        sender.next_segment(us(5));
        assert_eq!(sender.next_timeout(), Some(us(101)));
        sender.on_reply(us(20), Ack { next: 1 });
        assert_eq!(sender.next_timeout(), Some(us(120)));
        sender.on_reply(us(30), Ack { next: 1 });
        assert_eq!(sender.next_timeout(), Some(us(120)));
        sender.on_reply(us(40), Ack { next: 2 });
        assert_eq!(sender.next_timeout(), None);
    }

    #[test]
    fn a_timeout_goes_back_and_starts_again_with_what_is_resent() {
        let mut sender = sender(r#"{ "timeout": "100us" }"#, 3_000, 3);
        assert_eq!(sender.on_timeout(us(99)), None);
        assert_eq!(sender.on_timeout(us(100)), Some(LossView { lost: Bytes(3_000), timeout: true }));
        assert_eq!(sender.next_timeout(), None);
        assert_eq!(segments(&mut sender, us(150)), [(0, true), (1, true), (2, true)]);
        assert_eq!(sender.next_timeout(), Some(us(250)));
    }

    #[test]
    fn any_reply_and_any_packet_restart_the_timer_where_chosen() {
        let mut sender = sender(r#"{ "timeout": "100us", "restart": "any" }"#, 3_000, 0);
        sender.next_segment(us(1));
        sender.next_segment(us(5));
        assert_eq!(sender.next_timeout(), Some(us(105)));
        sender.on_reply(us(20), Ack { next: 0 });
        assert_eq!(sender.next_timeout(), Some(us(120)));
        sender.on_reply(us(30), Nak { next: 1 });
        assert_eq!(sender.next_timeout(), Some(us(130)));
        assert_eq!(segments(&mut sender, us(40)), [(1, true), (2, false)]);
        sender.on_reply(us(50), Ack { next: 3 });
        assert!(sender.is_done() && sender.next_timeout().is_none());
    }

    #[test]
    fn the_timer_knows_the_path() {
        let timeout = |json: &str, qp: &QpInfo| pair(json, qp).0.timeout;
        let long = QpInfo { base_rtt: Span::ms(6), ..qp() };
        let lossless = QpInfo { lossless: true, ..long };
        assert_eq!(timeout("{}", &qp()), Some(Span::ms(4)));
        assert_eq!(timeout("{}", &long), Some(Span::ms(24)));
        assert_eq!(timeout("{}", &lossless), None);
        let spread = QpInfo { keeps_order: false, ..lossless };
        assert_eq!(timeout("{}", &spread), Some(Span::ms(24)));
        assert_eq!(timeout(r#"{ "timeout": "4ms" }"#, &lossless), Some(Span::ms(4)));
        assert_eq!(timeout(r#"{ "timeout": "off" }"#, &long), None);
        assert_eq!(pair("{}", &qp()).1.nack_interval, Span::us(500));
        assert_eq!(pair("{}", &long).1.nack_interval, Span::ms(6));
    }

    #[test]
    fn an_ack_interval_of_nothing_is_refused() {
        let error = Params { ack_interval: 0, ..Params::default() }.build(&qp()).unwrap_err();
        assert_eq!(error.key, "ack-interval");
    }

    /// The packet `psn` of a long message that `last` ends.
    fn segment(psn: u64, last: bool) -> Segment {
        Segment { psn, payload: Bytes(1_000), first: psn == 0, last, retransmission: false }
    }

    /// Steps of (us, psn, last, payload delivered, replies).
    fn receive(json: &str, steps: &[(u64, u64, bool, u64, &[Reply])]) {
        let (_, mut receiver) = pair(json, &qp());
        let mut bench = Bench::new();
        for (at, psn, last, payload, replies) in steps {
            let mut delivered = Bytes::ZERO;
            let sent = bench.sent(us(*at), |cx| delivered = receiver.on_segment(cx, &segment(*psn, *last)));
            assert_eq!((delivered, &sent[..]), (Bytes(*payload), *replies), "packet {psn} at {at} us");
        }
    }

    #[test]
    fn every_packet_in_order_is_delivered_and_acknowledged() {
        receive("{}", &[(1, 0, false, 1000, &[Ack { next: 1 }]), (2, 1, true, 1000, &[Ack { next: 2 }])]);
    }

    #[test]
    fn with_an_interval_every_nth_and_the_last_packet_of_a_message_are_acknowledged() {
        receive(
            r#"{ "ack-interval": 3 }"#,
            &[
                (1, 0, false, 1000, &[]),
                (2, 1, false, 1000, &[]),
                (3, 2, false, 1000, &[Ack { next: 3 }]),
                (4, 3, true, 1000, &[Ack { next: 4 }]),
                (5, 4, false, 1000, &[]),
                (6, 5, false, 1000, &[]),
                (7, 6, false, 1000, &[Ack { next: 7 }]),
            ],
        );
    }

    #[test]
    fn a_gap_is_naked_once_in_an_interval_and_again_after_progress() {
        receive(
            "{}",
            &[
                (1, 1, false, 0, &[Nak { next: 0 }]),
                (2, 2, false, 0, &[]),
                (500, 3, false, 0, &[]),
                (501, 4, false, 0, &[Nak { next: 0 }]),
                (502, 0, false, 1000, &[Ack { next: 1 }]),
                (503, 2, false, 0, &[Nak { next: 1 }]),
            ],
        );
    }

    #[test]
    fn a_duplicate_is_acknowledged_and_not_delivered() {
        receive("{}", &[(1, 0, false, 1000, &[Ack { next: 1 }]), (2, 0, false, 0, &[Ack { next: 1 }])]);
    }

    #[test]
    fn a_duplicate_is_passed_over_in_silence_if_asked() {
        let first = (1, 0, false, 1000, &[Ack { next: 1 }][..]);
        let next = (3, 1, false, 1000, &[Ack { next: 2 }][..]);
        receive(r#"{"duplicates": "silent"}"#, &[first, (2, 0, false, 0, &[]), next]);
    }
}
