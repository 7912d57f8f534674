//! IRN in the form of its paper: a cumulative number and a bitmap, one timer, and recovery (Mittal et al.
//! 2018, sections 3.1 and 3.2).
//!
//! ```text
//! in flight = sent - cumulatively acknowledged - selectively acknowledged
//! recovery: begins with a SACK or the timer, ends when all is acknowledged that was sent before it began
//!           first snd_una, then each packet with a later one acknowledged, upward from retx_next,
//!           then new ones while in flight < window
//! timer:    RTO_low if in flight <= N, else RTO_high; set anew by each packet sent and each reply with news
//! ```

use floodway_units::{Bytes, Time};

use super::sizing::Settings;
use crate::marks::Marks;
use crate::slots::{Cx, LossView, Messages, QpInfo, Reply, Segment, TransportReceiver, TransportSender};

/// A recovery from loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recovery {
    /// One after the last packet that was sent before it began (the paper's recovery sequence is that
    /// packet).
    end: u64,
    /// Whether `snd_una` is to be retransmitted, whatever is known of later packets.
    first: bool,
    /// `retx_next`: all lost packets before it were retransmitted.
    next: u64,
}

/// The sender's end.
#[derive(Clone, Debug)]
pub struct Sender {
    settings: Settings,
    messages: Messages,
    /// What is acknowledged; its base is `snd_una`.
    acknowledged: Marks,
    /// Number of acknowledged packets.
    known: u64,
    /// One after the highest packet that is acknowledged.
    top: u64,
    /// `snd_nxt`: the first packet that was never sent.
    next: u64,
    recovery: Option<Recovery>,
    /// Payload sent and not acknowledged.
    in_flight: Bytes,
    /// When the timer expires; it runs while packets are in flight.
    deadline: Option<Time>,
}

impl Sender {
    pub(super) fn new(qp: &QpInfo, settings: &Settings) -> Self {
        Sender {
            settings: *settings,
            messages: Messages::new(qp.mtu),
            acknowledged: Marks::default(),
            known: 0,
            top: 0,
            next: 0,
            recovery: None,
            in_flight: Bytes::ZERO,
            deadline: None,
        }
    }

    /// `snd_una`: the oldest packet that is not acknowledged.
    fn unacknowledged(&self) -> u64 {
        self.acknowledged.base()
    }

    /// Packets in flight.
    fn flight(&self) -> u64 {
        self.next - self.known
    }

    /// The packet to retransmit now.
    fn lost(&self) -> Option<u64> {
        let recovery = self.recovery?;
        let oldest = self.unacknowledged();
        // Section 3.1: a recovery first sends the packet of the cumulative acknowledgement again.
        if recovery.first {
            return Some(oldest);
        }
        let from = recovery.next.max(oldest);
        // Section 3.1: then each packet of which a later one is acknowledged.
        (from < self.top).then(|| self.acknowledged.first_unmarked(from)).filter(|psn| *psn < self.top)
    }

    fn may_send_new(&self) -> bool {
        // Section 3.2: BDP-FC, new packets go only while fewer are in flight than fill the path.
        self.next < self.messages.end() && self.flight() < self.settings.window
    }

    fn restart_timer(&mut self, now: Time) {
        // Section 3.1: RTO_low while few packets are in flight, else RTO_high.
        let few = self.flight() <= self.settings.low_packets;
        let timeout = if few { self.settings.rto_low } else { self.settings.rto_high };
        self.deadline = timeout.filter(|_| self.flight() > 0).map(|timeout| now + timeout);
    }

    /// `psn` has arrived; returns its payload if it is newly acknowledged.
    fn acknowledge(&mut self, psn: u64) -> Bytes {
        // Nothing can have arrived that was never sent.
        if psn >= self.next || self.acknowledged.has(psn) {
            return Bytes::ZERO;
        }
        let payload = self.messages.segment(psn, false).payload;
        self.acknowledged.add(psn);
        self.known += 1;
        self.top = self.top.max(psn + 1);
        payload
    }

    /// Everything before `next` has arrived; returns the newly acknowledged payload.
    fn acknowledge_before(&mut self, next: u64) -> Bytes {
        (self.unacknowledged()..next.min(self.next)).map(|psn| self.acknowledge(psn)).sum()
    }

    /// The payload that a reply acknowledges for the first time.
    fn news(&mut self, now: Time, reply: Reply) -> Bytes {
        let before = self.known;
        let acked = match reply {
            Reply::Ack { next } | Reply::Nak { next } => self.acknowledge_before(next),
            Reply::Sack { next, seen } => self.acknowledge_before(next) + self.acknowledge(seen),
            Reply::One { psn } => self.acknowledge(psn),
        };
        if self.known > before {
            self.in_flight = self.in_flight.saturating_sub(acked);
            self.messages.release(self.unacknowledged());
            self.restart_timer(now);
        }
        acked
    }

    /// Whether a reply reports the oldest packet as missing. A reply older than the last new acknowledgement
    /// reports nothing.
    fn reports_loss(&self, reply: Reply) -> bool {
        let oldest = self.unacknowledged();
        match reply {
            Reply::Ack { .. } => false,
            Reply::Nak { next } => next == oldest && oldest < self.next,
            Reply::Sack { seen, .. } | Reply::One { psn: seen } => oldest < seen && seen < self.next,
        }
    }

    fn recover(&mut self) {
        let oldest = self.unacknowledged();
        // Section 3.1: loss recovery begins, and ends with what was sent before it.
        self.recovery = Some(Recovery { end: self.next, first: true, next: oldest });
    }

    /// Payload that the recovery retransmits, as far as is known now.
    fn holes(&self) -> Bytes {
        let oldest = self.unacknowledged();
        let lost = (oldest..self.top.max(oldest + 1)).filter(|psn| !self.acknowledged.has(*psn));
        lost.map(|psn| self.messages.segment(psn, true).payload).sum()
    }
}

impl TransportSender for Sender {
    fn push(&mut self, message: Bytes) {
        self.messages.push(message);
    }

    fn ready(&self) -> Option<Bytes> {
        let psn = self.lost().or_else(|| self.may_send_new().then_some(self.next))?;
        Some(self.messages.segment(psn, false).payload)
    }

    fn next_segment(&mut self, now: Time) -> Option<Segment> {
        let lost = self.lost();
        let segment = if let (Some(psn), Some(recovery)) = (lost, &mut self.recovery) {
            (recovery.first, recovery.next) = (false, psn + 1);
            self.messages.segment(psn, true)
        } else if self.may_send_new() {
            let segment = self.messages.segment(self.next, false);
            self.next += 1;
            self.in_flight += segment.payload;
            segment
        } else {
            return None;
        };
        self.restart_timer(now);
        Some(segment)
    }

    fn on_reply(&mut self, now: Time, reply: Reply) -> (Bytes, Option<LossView>) {
        let before = self.unacknowledged();
        let acked = self.news(now, reply);
        let oldest = self.unacknowledged();
        if let Some(recovery) = &mut self.recovery {
            // The packet to retransmit first has arrived meanwhile.
            recovery.first &= oldest == before;
        }
        // Section 3.1: a cumulative acknowledgement beyond the recovery sequence ends it.
        if self.recovery.is_some_and(|recovery| oldest >= recovery.end) {
            self.recovery = None;
        }
        if self.recovery.is_some() || !self.reports_loss(reply) {
            return (acked, None);
        }
        self.recover();
        (acked, Some(LossView { lost: self.holes(), timeout: false }))
    }

    fn acknowledged(&self, _reply: Reply) -> u64 {
        self.unacknowledged()
    }

    fn needs_room(&self) -> bool {
        self.lost().is_none()
    }

    fn next_psn(&self) -> u64 {
        self.lost().unwrap_or(self.next)
    }

    fn in_flight(&self) -> Bytes {
        self.in_flight
    }

    fn is_done(&self) -> bool {
        self.unacknowledged() == self.messages.end()
    }

    fn cap(&self) -> Bytes {
        self.settings.window_bytes
    }

    fn next_timeout(&self) -> Option<Time> {
        self.deadline
    }

    fn on_timeout(&mut self, now: Time) -> Option<LossView> {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return None;
        }
        self.deadline = None;
        self.recover();
        Some(LossView { lost: self.holes(), timeout: true })
    }

    fn counted_from(&self, psn: u64) -> Option<String> {
        let Sender { settings: _, messages, acknowledged, known, top, next, recovery, in_flight, deadline } =
            self;
        let messages = messages.counted_from(psn, messages.before());
        let [known, top, next] = [known, top, next].map(|number| number.wrapping_sub(psn));
        let recovery = recovery
            .map(|Recovery { end, first, next }| (end.wrapping_sub(psn), first, next.wrapping_sub(psn)));
        let acknowledged = acknowledged.counted_from(psn);
        Some(format!(
            "messages: {messages:?} acknowledged: {acknowledged:?} known: {known} top: {top} next: {next} \
             recovery: {recovery:?} in_flight: {in_flight:?} deadline: {deadline:?}"
        ))
    }
}

/// The receiver's end.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    /// Packets that have arrived; the base is the expected packet.
    arrived: Marks,
}

impl Receiver {
    pub(super) fn new(_qp: &QpInfo, _settings: &Settings) -> Self {
        Receiver::default()
    }
}

impl TransportReceiver for Receiver {
    fn on_segment(&mut self, cx: &mut Cx<'_, Reply>, s: &Segment) -> Bytes {
        let new = self.arrived.add(s.psn);
        let next = self.arrived.base();
        if new && s.psn > next {
            // Section 3.1: out of order, the reply has both numbers.
            cx.push(Reply::Sack { next, seen: s.psn });
        } else {
            cx.push(Reply::Ack { next });
        }
        if new { s.payload } else { Bytes::ZERO }
    }

    fn counted_from(&self, psn: u64) -> Option<String> {
        Some(format!("arrived: {:?}", self.arrived.counted_from(psn)))
    }
}
