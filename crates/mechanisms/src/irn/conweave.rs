//! IRN in the form of ConWeave's simulator (`rdma-hw.cc`, `rdma-queue-pair.cc`): blocks of arrived packets,
//! and going back over the holes between them.
//!
//! Both ends keep a list of blocks beyond the cumulative number. A reply that names a block sends the sender
//! back to its oldest hole, once per recovery; from there on it skips the blocks that it knows when it
//! reaches them. So packets in flight are retransmitted, too. The packets in flight count from the cumulative
//! number, including blocks.
//!
//! That simulator counts bytes; here packets are counted, as full ones.

use floodway_units::{Bytes, Span, Time, Until};

use super::blocks::Blocks;
use super::sizing::Settings;
use crate::slots::{Cx, LossView, Messages, QpInfo, Reply, Segment, TransportReceiver, TransportSender};

/// The sender's end.
#[derive(Clone, Debug)]
pub struct Sender {
    settings: Settings,
    mtu: u64,
    messages: Messages,
    /// `snd_una`: the oldest packet not acknowledged, neither cumulatively nor in a block that `snd_una` has
    /// reached.
    unacknowledged: u64,
    /// `snd_nxt`: the packet to send next, unless a block begins there.
    next: u64,
    /// `highest_ack`: the largest cumulative number that a reply has named.
    cumulative: u64,
    /// `max_seq`: the newest packet that was ever sent.
    newest: u64,
    /// One after the newest packet ever sent: packets before it are retransmissions.
    sent: u64,
    /// Blocks that have arrived out of order and that `next` has not passed yet.
    blocks: Blocks,
    recovering: bool,
    /// `recovery_seq`: the recovery ends when everything before it is acknowledged.
    recovery_end: u64,
    deadline: Option<Time>,
}

impl Sender {
    pub(super) fn new(qp: &QpInfo, settings: &Settings) -> Self {
        Sender {
            settings: *settings,
            mtu: qp.mtu.0,
            messages: Messages::new(qp.mtu),
            unacknowledged: 0,
            next: 0,
            cumulative: 0,
            newest: 0,
            sent: 0,
            blocks: Blocks::default(),
            recovering: false,
            recovery_end: 0,
            deadline: None,
        }
    }

    /// Packets from the cumulative number to the newest one, which is not counted; `None` if even the newest
    /// one is acknowledged, which that simulator treats as more than any window.
    fn beyond_cumulative(&self) -> Option<u64> {
        self.newest.checked_sub(self.cumulative)
    }

    /// Whether another packet may be sent (`CanIrnTransmit`).
    fn has_room(&self) -> bool {
        let window = self.settings.window_bytes.0;
        let left = self.messages.payload(self.next, self.messages.end()).0.min(self.mtu);
        let fits = |packets: u64| packets.saturating_mul(self.mtu).saturating_add(left) < window;
        self.beyond_cumulative().is_some_and(fits)
            || (self.next - self.cumulative.min(self.next)).saturating_mul(self.mtu) < window
    }

    /// The next packet to send: a block that begins at `next` is skipped.
    fn to_send(&self) -> u64 {
        self.blocks.front().filter(|block| block.start == self.next).map_or(self.next, |block| block.end)
    }

    fn skip(&mut self) {
        let next = self.to_send();
        if next != self.next {
            self.next = next;
            self.blocks.discard(next);
        }
    }

    /// The time after which the packets now in flight count as lost.
    fn timeout(&self) -> Option<Span> {
        let few = self.beyond_cumulative().is_some_and(|packets| packets <= self.settings.low_packets);
        if few { self.settings.rto_low } else { self.settings.rto_high }
    }

    fn restart_timer(&mut self, now: Time) {
        self.deadline = self.timeout().map(|timeout| now + timeout);
    }

    /// Processes a reply; returns the newly acknowledged payload.
    fn acknowledge(&mut self, next: u64, seen: Option<u64>) -> Bytes {
        let before = self.unacknowledged;
        // Nothing can have arrived that was never sent.
        let next = next.min(self.sent);
        self.unacknowledged = before.max(next);
        self.cumulative = self.cumulative.max(next);
        if let Some(seen) = seen.filter(|&seen| seen < self.sent) {
            self.blocks.insert(seen);
        }
        if let Some(met) = self.blocks.front().filter(|block| block.start == self.unacknowledged) {
            self.unacknowledged = met.end;
        }
        self.blocks.discard(self.unacknowledged);
        self.next = self.next.max(self.unacknowledged);
        let acked = self.messages.payload(before, self.unacknowledged);
        self.messages.release(self.unacknowledged);
        acked
    }

    /// Retransmits from the oldest hole.
    fn go_back(&mut self, timeout: bool) -> Option<LossView> {
        let lost = self.in_flight();
        self.next = self.unacknowledged;
        self.recovering = true;
        (lost > Bytes::ZERO).then_some(LossView { lost, timeout })
    }
}

impl TransportSender for Sender {
    fn push(&mut self, message: Bytes) {
        self.messages.push(message);
    }

    fn ready(&self) -> Option<Bytes> {
        let next = self.to_send();
        let left = next < self.messages.end() && self.has_room();
        left.then(|| self.messages.segment(next, false).payload)
    }

    fn has_more(&self) -> bool {
        self.to_send() < self.messages.end()
    }

    fn on_poll(&mut self) {
        self.skip();
    }

    fn next_segment(&mut self, now: Time) -> Option<Segment> {
        self.ready()?;
        self.skip();
        let segment = self.messages.segment(self.next, self.next < self.sent);
        self.newest = self.newest.max(self.next);
        self.next += 1;
        self.sent = self.sent.max(self.next);
        self.restart_timer(now);
        Some(segment)
    }

    fn on_reply(&mut self, now: Time, reply: Reply) -> (Bytes, Option<LossView>) {
        let (next, seen) = match reply {
            Reply::Ack { next } | Reply::Nak { next } => (next, None),
            Reply::Sack { next, seen } => (next, Some(seen)),
            // Its receiver never sends this.
            Reply::One { .. } => return (Bytes::ZERO, None),
        };
        let acked = self.acknowledge(next, seen);
        self.recovering &= self.unacknowledged < self.recovery_end;
        self.skip();
        if self.is_done() {
            self.deadline = None;
        } else if self.next > self.unacknowledged {
            self.restart_timer(now);
        }
        if seen.is_none() {
            self.recovering = false;
            return (acked, None);
        }
        if self.recovering {
            return (acked, None);
        }
        self.recovery_end = self.next;
        (acked, self.go_back(false))
    }

    fn acknowledged(&self, _reply: Reply) -> u64 {
        self.unacknowledged
    }

    fn next_psn(&self) -> u64 {
        self.next
    }

    fn in_flight(&self) -> Bytes {
        self.messages.payload(self.unacknowledged, self.next)
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
        self.deadline = None;
        self.go_back(true)
    }

    fn counted_from(&self, psn: u64) -> Option<String> {
        let messages = self.messages.counted_from(psn, self.messages.before());
        let from = |number: u64| number.wrapping_sub(psn);
        let own = Sender {
            messages,
            unacknowledged: from(self.unacknowledged),
            next: from(self.next),
            cumulative: from(self.cumulative),
            newest: from(self.newest),
            sent: from(self.sent),
            blocks: self.blocks.counted_from(psn),
            // Of a recovery that is over nothing is read any more.
            recovery_end: if self.recovering { from(self.recovery_end) } else { 0 },
            ..*self
        };
        Some(format!("{own:?}"))
    }
}

/// The receiver's end.
#[derive(Clone, Debug)]
pub struct Receiver {
    nack_interval: Span,
    /// The packet that is expected.
    expected: u64,
    /// Blocks that have arrived beyond it.
    blocks: Blocks,
    /// Before this instant a packet that is in a block is not answered.
    blocked_until: Time,
}

impl Receiver {
    pub(super) fn new(_qp: &QpInfo, settings: &Settings) -> Self {
        Receiver {
            nack_interval: settings.nack_interval,
            expected: 0,
            blocks: Blocks::default(),
            blocked_until: Time::ZERO,
        }
    }

    /// Answers a packet that is expected or before that: while packets are missing, it is named as a block.
    fn answer(&self, cx: &mut Cx<'_, Reply>, psn: u64) {
        cx.push(match self.blocks.front() {
            None => Reply::Ack { next: self.expected },
            Some(_) => Reply::Sack { next: self.expected, seen: psn },
        });
    }

    fn take(&mut self, cx: &mut Cx<'_, Reply>, s: &Segment) -> Bytes {
        self.expected += 1;
        if let Some(met) = self.blocks.front().filter(|block| block.start <= self.expected) {
            self.expected = met.end;
        }
        self.blocks.discard(self.expected);
        self.answer(cx, s.psn);
        s.payload
    }

    fn keep(&mut self, cx: &mut Cx<'_, Reply>, s: &Segment) -> Bytes {
        let known = self.blocks.contains(s.psn);
        if known && cx.now < self.blocked_until {
            return Bytes::ZERO;
        }
        self.blocked_until = cx.now + self.nack_interval;
        self.blocks.insert(s.psn);
        cx.push(Reply::Sack { next: self.expected, seen: s.psn });
        if known { Bytes::ZERO } else { s.payload }
    }
}

impl TransportReceiver for Receiver {
    fn on_segment(&mut self, cx: &mut Cx<'_, Reply>, s: &Segment) -> Bytes {
        match s.psn.cmp(&self.expected) {
            std::cmp::Ordering::Equal => self.take(cx, s),
            std::cmp::Ordering::Greater => self.keep(cx, s),
            std::cmp::Ordering::Less => {
                self.answer(cx, s.psn);
                Bytes::ZERO
            }
        }
    }

    fn marks_disorder(&self) -> bool {
        true
    }

    fn counted_from(&self, psn: u64) -> Option<String> {
        let Receiver { nack_interval: _, expected, blocks, blocked_until } = self;
        let (expected, blocks) = (expected.wrapping_sub(psn), blocks.counted_from(psn));
        Some(format!("expected: {expected} blocks: {blocks:?} blocked_until: {:?}", Until(*blocked_until)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::irn::Params;
    use crate::slots::Reliability as _;
    use crate::testing::{Bench, qp, segments, us};
    use Reply::{Ack, Sack};

    /// The published values, with a window for 100G and 4160 ns.
    const C5: &str = r#"{ "form": "conweave", "window": "52KB", "nack-interval": "4us" }"#;

    fn settings(json: &str) -> (Sender, Receiver) {
        let params: Params = serde_json::from_str(json).expect("the parameters are well formed");
        let settings = params.settings(&qp()).expect("the parameters are valid");
        params.build(&qp()).expect("they are valid for both ends");
        (Sender::new(&qp(), &settings), Receiver::new(&qp(), &settings))
    }

    /// A sender of `packets` packets that has sent all that it may at time 0.
    fn sender(json: &str, packets: u64) -> Sender {
        let mut sender = settings(json).0;
        sender.push(Bytes::kb(packets));
        segments(&mut sender, Time::ZERO);
        sender
    }

    fn loss(kb: u64) -> LossView {
        LossView { lost: Bytes::kb(kb), timeout: false }
    }

    fn answers(receiver: &mut Receiver, at: Time, psns: &[u64]) -> Vec<Reply> {
        let mut bench = Bench::new();
        let mut answers = Vec::new();
        for &psn in psns {
            let (first, last, retransmission) = (psn == 0, false, false);
            let s = Segment { psn, payload: Bytes(1_000), first, last, retransmission };
            answers.extend(bench.sent(at, |cx| {
                receiver.on_segment(cx, &s);
            }));
        }
        answers
    }

    #[test]
    fn the_window_counts_from_the_newest_acknowledged_to_the_newest_sent() {
        let mut sender = sender(C5, 200);
        assert_eq!((sender.next_psn(), sender.in_flight()), (52, Bytes::kb(52)));
        assert!(sender.has_more() && sender.ready().is_none());
        assert_eq!(sender.on_reply(us(1), Ack { next: 2 }), (Bytes::kb(2), None));
        assert_eq!(segments(&mut sender, us(1)), [(52, false), (53, false)]);
        // A block does not make room: what it holds counts until all before it has arrived.
        sender.on_reply(us(2), Sack { next: 2, seen: 3 });
        assert_eq!(segments(&mut sender, us(2)).last(), Some(&(53, true)));
    }

    #[test]
    fn a_block_sends_back_to_the_hole_and_is_left_out() {
        let mut sender = sender(C5, 8);
        assert_eq!(sender.on_reply(us(1), Ack { next: 2 }), (Bytes::kb(2), None));
        assert_eq!(sender.on_reply(us(2), Sack { next: 2, seen: 4 }), (Bytes::ZERO, Some(loss(6))));
        assert_eq!(sender.next_segment(us(3)).map(|s| s.psn), Some(2));
        // In recovery further blocks do not send back, but are left out, too; 7 is not known of.
        assert_eq!(sender.on_reply(us(4), Sack { next: 2, seen: 5 }), (Bytes::ZERO, None));
        assert_eq!(segments(&mut sender, us(5)), [(3, true), (6, true), (7, true)]);
    }

    #[test]
    fn what_the_cumulative_number_meets_is_acknowledged_with_it() {
        let mut sender = sender(C5, 8);
        sender.on_reply(us(1), Sack { next: 2, seen: 3 });
        assert_eq!(sender.on_reply(us(2), Ack { next: 3 }), (Bytes::kb(2), None));
        assert_eq!((sender.unacknowledged, sender.acknowledged(Ack { next: 3 })), (4, 4));
        assert_eq!(segments(&mut sender, us(3))[0], (4, true));
        assert_eq!(sender.on_reply(us(4), Ack { next: 8 }), (Bytes::kb(4), None));
        assert!(sender.is_done() && sender.next_timeout().is_none() && !sender.has_more());
    }

    #[test]
    fn a_recovery_ends_at_what_was_sent_before_it_or_with_a_reply_without_a_block() {
        let mut sender = sender(C5, 20);
        assert_eq!(sender.on_reply(us(1), Sack { next: 2, seen: 4 }), (Bytes::kb(2), Some(loss(18))));
        assert_eq!(sender.on_reply(us(2), Sack { next: 2, seen: 6 }).1, None);
        sender.on_reply(us(3), Ack { next: 3 });
        segments(&mut sender, us(3));
        assert_eq!(sender.on_reply(us(4), Sack { next: 3, seen: 8 }), (Bytes::ZERO, Some(loss(17))));

        let mut sender = self::sender(C5, 60);
        assert_eq!(sender.on_reply(us(1), Sack { next: 2, seen: 4 }).1, Some(loss(50)));
        assert_eq!(segments(&mut sender, us(2)).last(), Some(&(53, false)));
        assert_eq!(sender.on_reply(us(3), Sack { next: 51, seen: 53 }).1, None);
        assert_eq!(sender.on_reply(us(4), Sack { next: 52, seen: 53 }).1, Some(loss(2)));
    }

    #[test]
    fn the_timer_restarts_with_every_packet_and_reply_and_is_short_while_few_are_in_flight() {
        let mut sender = settings(C5).0;
        sender.push(Bytes::kb(9));
        for (psn, due) in [(1, 101), (2, 102), (3, 103), (4, 104), (5, 325)] {
            sender.next_segment(us(psn));
            assert_eq!(sender.next_timeout(), Some(us(due)), "packet {psn}");
        }
        sender.on_reply(us(10), Ack { next: 0 });
        assert_eq!(sender.next_timeout(), Some(us(330)));
        sender.on_reply(us(20), Ack { next: 2 });
        assert_eq!(sender.next_timeout(), Some(us(120)));
        assert_eq!(sender.on_timeout(us(119)), None);
        assert_eq!(sender.on_timeout(us(120)), Some(LossView { lost: Bytes::kb(3), timeout: true }));
        assert_eq!(sender.next_timeout(), None);
        assert_eq!(segments(&mut sender, us(130))[..2], [(2, true), (3, true)]);
    }

    #[test]
    fn what_was_never_sent_is_not_acknowledged() {
        let mut sender = sender(C5, 4);
        assert_eq!(sender.on_reply(us(1), Sack { next: 9, seen: 30 }).0, Bytes::kb(4));
        assert!(sender.is_done() && sender.blocks.front().is_none());
    }

    #[test]
    fn every_packet_is_answered_with_a_block_while_something_is_missing() {
        let mut receiver = settings(C5).1;
        let all = answers(&mut receiver, us(1), &[0, 2, 4, 1, 0, 3, 4]);
        let due = [
            Ack { next: 1 },
            Sack { next: 1, seen: 2 },
            Sack { next: 1, seen: 4 },
            Sack { next: 3, seen: 1 },
            Sack { next: 3, seen: 0 },
            Ack { next: 5 },
            Ack { next: 5 },
        ];
        assert_eq!(all, due);
        assert_eq!(due.map(Reply::reports_gap), [false, true, true, false, false, false, false]);
    }

    #[test]
    fn a_block_is_reported_again_after_the_interval_only() {
        let mut receiver = settings(C5).1;
        assert_eq!(answers(&mut receiver, us(1), &[2, 2]), [Sack { next: 0, seen: 2 }]);
        assert_eq!(answers(&mut receiver, us(4), &[2]), []);
        assert_eq!(answers(&mut receiver, us(5), &[2]), [Sack { next: 0, seen: 2 }]);
    }
}
