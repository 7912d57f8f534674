//! The sender's end: what is sent, again or for the first time, and what reports and the timer make of it.

use std::collections::{BTreeMap, BTreeSet};

use floodway_units::{Bytes, Span, Time};

use super::entropy::{Choice, Feedback};
use crate::slots::{
    Backlog, Cut, Header, LossView, Messages, QpInfo, Reply, Report, Reported, Room, Segment, TransportSender,
};

/// A packet that was sent and has neither been reported nor counted as lost.
#[derive(Clone, Copy, Debug)]
struct Sent {
    size: u64,
    at: Time,
}

/// The sender's end. It is boxed, so that flows with another reliability stay small.
#[derive(Clone, Debug)]
pub struct Sender(Box<State>);

#[derive(Clone, Debug)]
struct State {
    messages: Messages,
    /// Bytes that windows count beside the payload of a packet.
    overhead: u64,
    /// All of a full packet.
    mtu: u64,
    rto: Span,
    /// The number of the next packet that is new.
    next: u64,
    /// All packets before this one have arrived.
    acknowledged: u64,
    sent: BTreeMap<u64, Sent>,
    /// The same by time.
    by_time: BTreeSet<(Time, u64)>,
    /// What is to be sent again: sizes.
    repeats: BTreeMap<u64, u64>,
    /// How often packets were sent again that are not acknowledged.
    repeated: BTreeMap<u64, u32>,
    /// What is left, headers included.
    backlog: Backlog,
    /// A packet that counted as lost may arrive after all, so that this may be below zero for a while.
    in_flight: i64,
    /// The most bytes that a report had.
    received: u64,
    choice: Choice,
    /// Number and size of the packet that was sent last, and whether it was sent before.
    last: (u64, u64, bool),
}

impl Sender {
    pub(super) fn new(qp: &QpInfo, rto: Span, choice: Choice) -> Self {
        Sender(Box::new(State {
            messages: Messages::new(qp.mtu),
            overhead: qp.wire.0.saturating_sub(qp.mtu.0),
            mtu: qp.wire.0,
            rto,
            next: 0,
            acknowledged: 0,
            sent: BTreeMap::new(),
            by_time: BTreeSet::new(),
            repeats: BTreeMap::new(),
            repeated: BTreeMap::new(),
            backlog: Backlog::default(),
            in_flight: 0,
            received: 0,
            choice,
            last: (0, 0, false),
        }))
    }
}

impl State {
    /// A packet starts.
    fn starts(&mut self, now: Time, number: u64, size: u64) {
        self.in_flight += size.cast_signed();
        self.sent.insert(number, Sent { size, at: now });
        self.by_time.insert((now, number));
    }

    /// A packet is no longer waited for: its size and start, if it was.
    fn take(&mut self, number: u64) -> Option<Sent> {
        let sent = self.sent.remove(&number)?;
        self.by_time.remove(&(sent.at, number));
        Some(sent)
    }

    /// A packet has arrived, by a report. One that waits to be sent again had been taken off the bytes in
    /// flight, of which the report has it once more.
    fn arrived(&mut self, number: u64) {
        self.take(number);
        self.repeated.remove(&number);
        if let Some(size) = self.repeats.remove(&number) {
            self.backlog.repeated = self.backlog.repeated.saturating_sub(Bytes(size));
            self.in_flight += size.cast_signed();
        }
    }

    /// A packet counts as lost, and waits to be sent again.
    fn lost(&mut self, number: u64, size: u64) {
        self.in_flight -= size.cast_signed();
        if self.repeats.insert(number, size).is_none() {
            self.backlog.repeated += Bytes(size);
        }
    }

    /// Does a report's time from start to now belong to one transmission?
    fn is_timed(&self, report: &Report) -> bool {
        self.sent.contains_key(&report.number)
            && match self.repeated.get(&report.number) {
                None => !report.repeated,
                Some(1) => report.repeated,
                Some(_) => false,
            }
    }

    /// A packet arrived without its payload.
    fn on_cut(&mut self, now: Time, report: &Report) -> Reported {
        let Some(sent) = self.take(report.number) else { return Reported::default() };
        let cut = Cut {
            lost: Bytes(sent.size),
            rtt: now.since(sent.at),
            in_flight: self.flying(),
            last_hop: report.last_hop,
        };
        self.lost(report.number, sent.size);
        let feedback = match (report.last_hop, report.marked) {
            (false, _) => Feedback::Cut,
            (true, true) => Feedback::Marked,
            (true, false) => Feedback::Good,
        };
        self.choice.learn(now, report.entropy, feedback);
        Reported { next: self.acknowledged, cut: Some(cut), ..Reported::default() }
    }

    fn flying(&self) -> Bytes {
        Bytes(u64::try_from(self.in_flight).unwrap_or(0))
    }
}

impl TransportSender for Sender {
    fn push(&mut self, message: Bytes) {
        let state = &mut *self.0;
        let before = state.messages.end();
        state.messages.push(message);
        let packets = state.messages.end() - before;
        state.backlog.new += message + Bytes(packets.saturating_mul(state.overhead));
    }

    fn ready(&self) -> Option<Bytes> {
        let state = &*self.0;
        if let Some(&size) = state.repeats.values().next() {
            return Some(Bytes(size));
        }
        let new = state.next < state.messages.end();
        new.then(|| state.messages.segment(state.next, false).payload + Bytes(state.overhead))
    }

    fn next_segment(&mut self, now: Time) -> Option<Segment> {
        let state = &mut *self.0;
        if let Some((number, size)) = state.repeats.pop_first() {
            state.backlog.repeated = state.backlog.repeated.saturating_sub(Bytes(size));
            *state.repeated.entry(number).or_default() += 1;
            state.starts(now, number, size);
            state.last = (number, size, true);
            return Some(state.messages.segment(number, true));
        }
        if state.next >= state.messages.end() {
            return None;
        }
        let segment = state.messages.segment(state.next, false);
        let size = segment.payload.0 + state.overhead;
        state.backlog.new = state.backlog.new.saturating_sub(Bytes(size));
        state.starts(now, segment.psn, size);
        state.last = (segment.psn, size, false);
        state.next += 1;
        Some(segment)
    }

    fn on_reply(&mut self, _now: Time, _reply: Reply) -> (Bytes, Option<LossView>) {
        (Bytes::ZERO, None)
    }

    fn has_headers(&self) -> bool {
        true
    }

    fn backlog(&self) -> Backlog {
        Backlog { started: Bytes(self.0.last.1), ..self.0.backlog }
    }

    fn header(&mut self, now: Time, room: &Room) -> Header {
        let state = &mut *self.0;
        let (number, size, repeated) = state.last;
        let full = state.flying().0.saturating_add(size) >= room.window.0;
        let asks = repeated || state.backlog.new == Bytes::ZERO || room.closed || full;
        let entropy = state.choice.next(now, number, room.window.0 / state.mtu.max(1));
        Header { number, entropy, asks, wants: 0 }
    }

    fn on_reported(&mut self, now: Time, report: &Report) -> Reported {
        let state = &mut *self.0;
        if report.trimmed {
            return state.on_cut(now, report);
        }
        let new = report.received.saturating_sub(state.received);
        state.received += new;
        state.in_flight -= new.cast_signed();
        let is_timed = state.is_timed(report);
        while let Some((&number, _)) = state.sent.range(..report.next).next() {
            state.arrived(number);
        }
        while let Some((&number, _)) = state.repeats.range(..report.next).next() {
            state.arrived(number);
        }
        // What has not been sent cannot have arrived.
        state.acknowledged = state.acknowledged.max(report.next.min(state.next));
        for bit in 0..64 {
            if report.bits >> bit & 1 != 0 {
                state.arrived(report.base + bit);
            }
        }
        state.messages.release(state.acknowledged);
        let feedback = if report.marked { Feedback::Marked } else { Feedback::Good };
        state.choice.learn(now, report.entropy, feedback);
        Reported { acked: Bytes(new), next: state.acknowledged, is_timed, ..Reported::default() }
    }

    fn next_psn(&self) -> u64 {
        self.0.repeats.keys().next().copied().unwrap_or(self.0.next)
    }

    fn in_flight(&self) -> Bytes {
        self.0.flying()
    }

    fn is_done(&self) -> bool {
        self.0.acknowledged >= self.0.messages.end()
    }

    fn next_timeout(&self) -> Option<Time> {
        self.0.by_time.first().map(|&(at, _)| at + self.0.rto)
    }

    fn on_timeout(&mut self, now: Time) -> Option<LossView> {
        let state = &mut *self.0;
        let mut lost = Bytes::ZERO;
        while let Some(&(at, number)) = state.by_time.first()
            && at + state.rto <= now
            && let Some(sent) = state.take(number)
        {
            state.choice.learn(now, 0, Feedback::Timeout);
            state.lost(number, sent.size);
            lost += Bytes(sent.size);
        }
        (lost > Bytes::ZERO).then_some(LossView { lost, timeout: true })
    }
}
