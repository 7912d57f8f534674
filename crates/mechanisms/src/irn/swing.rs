//! IRN in the form of SWING's simulator: replies name single packets, each packet has its own timer, and lost
//! packets wait in a queue that the NIC serves before new data (`rdma-tx-queue-pair.cc`,
//! `rdma-rx-queue-pair.cc`, `pfc-host-port.cc`).
//!
//! ```text
//! w = newest - base + 1                                what is acknowledged inside counts
//! new packet: only if w < window                       retransmissions: always
//! timer:      RTO_low if w <= N (itself included), else RTO_high; out: into the queue, until it is retransmitted
//! ACK(s):     s is acknowledged, base goes on
//! SACK(s, e): s is acknowledged; e to s - 1 are not, their timers stop, and each goes into the queue
//! ```
//!
//! The queue is not searched: a packet may be in it twice, and is then sent twice unless it is acknowledged
//! meanwhile. A retransmission that is lost, too, is detected by its timer alone.

use std::collections::VecDeque;

use floodway_units::cast::to_usize;
use floodway_units::{Bytes, Span, Time};

use super::sizing::Settings;
use crate::marks::Marks;
use crate::slots::{Cx, LossView, Messages, QpInfo, Reply, Segment, TransportReceiver, TransportSender};

/// State of a packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Its timer expires at this time.
    Timed(Time),
    /// Reported lost, or its timer has expired, or it has none.
    Untimed,
    /// It has arrived.
    Acknowledged,
}

/// Timers of one length, in order of expiry. Timers of packets that were acknowledged, or timed again, are
/// skipped.
#[derive(Clone, Debug)]
struct Timers {
    length: Option<Span>,
    running: VecDeque<Timer>,
}

/// The timer of a packet.
#[derive(Clone, Copy, Debug)]
struct Timer {
    /// When it expires.
    at: Time,
    psn: u64,
    /// Its number in scheduling order, where ties are resolved by that.
    number: u64,
}

impl Timers {
    fn new(length: Option<Span>) -> Self {
        Timers { length, running: VecDeque::new() }
    }

    /// Those that run, where packets count from `psn`.
    fn counted_from(&self, psn: u64) -> Vec<Timer> {
        self.running.iter().map(|timer| Timer { psn: timer.psn.wrapping_sub(psn), ..*timer }).collect()
    }

    /// When the first one expires, and when it was set.
    fn first(&self) -> Option<(Time, Time)> {
        let Timer { at, .. } = self.running.front()?;
        Some((*at, Time(at.0.saturating_sub(self.length?.0))))
    }

    /// Sets a timer for `psn` at `now`; returns when it expires.
    fn set(&mut self, psn: u64, now: Time, number: u64) -> Option<Time> {
        let at = now + self.length?;
        self.running.push_back(Timer { at, psn, number });
        Some(at)
    }
}

/// The sender's end.
#[derive(Clone, Debug)]
pub struct Sender {
    settings: Settings,
    messages: Messages,
    /// The oldest packet that is not acknowledged.
    base: u64,
    /// Packets from `base` to the newest one sent.
    sent: VecDeque<State>,
    /// Packets to retransmit; a packet may occur more than once.
    repeats: VecDeque<u64>,
    /// Timers of `RTO_low` and of `RTO_high`.
    low: Timers,
    high: Timers,
    /// The number of the next timer in scheduling order.
    number: u64,
    /// Payload sent and not acknowledged.
    in_flight: Bytes,
}

impl Sender {
    pub(super) fn new(qp: &QpInfo, settings: &Settings) -> Self {
        Sender {
            settings: *settings,
            messages: Messages::new(qp.mtu),
            base: 0,
            sent: VecDeque::new(),
            repeats: VecDeque::new(),
            low: Timers::new(settings.rto_low),
            high: Timers::new(settings.rto_high),
            number: 0,
            in_flight: Bytes::ZERO,
        }
    }

    /// w: packets from the oldest that is not acknowledged to the newest.
    fn window(&self) -> u64 {
        self.sent.len() as u64
    }

    /// The packet after the newest one sent.
    fn next(&self) -> u64 {
        self.base + self.window()
    }

    /// The state of a packet; `None` if it is already released or was never sent.
    fn state(&self, psn: u64) -> Option<State> {
        let at = psn.checked_sub(self.base)?;
        self.sent.get(to_usize(at)).copied()
    }

    fn set(&mut self, psn: u64, state: State) {
        self.sent[to_usize(psn - self.base)] = state;
    }

    fn is_open(&self, psn: u64) -> bool {
        self.state(psn).is_some_and(|state| state != State::Acknowledged)
    }

    /// Starts the timer of a packet that starts on the wire.
    fn time(&mut self, psn: u64, now: Time) {
        let few = self.window() <= self.settings.low_packets;
        let timers = if few { &mut self.low } else { &mut self.high };
        let state = timers.set(psn, now, self.number).map_or(State::Untimed, State::Timed);
        self.set(psn, state);
        self.forget_timers();
    }

    /// Skips timers that are no longer needed.
    fn forget_timers(&mut self) {
        let (base, sent) = (self.base, &self.sent);
        let waits = |timer: &Timer| {
            let state = timer.psn.checked_sub(base).and_then(|index| sent.get(to_usize(index)));
            state == Some(&State::Timed(timer.at))
        };
        for timers in [&mut self.low, &mut self.high] {
            while timers.running.front().is_some_and(|timer| !waits(timer)) {
                timers.running.pop_front();
            }
        }
    }

    /// A packet has arrived; returns its payload if it is newly acknowledged.
    fn acknowledge(&mut self, psn: u64) -> Bytes {
        if !self.is_open(psn) {
            return Bytes::ZERO;
        }
        let payload = self.messages.segment(psn, false).payload;
        self.in_flight = self.in_flight.saturating_sub(payload);
        self.set(psn, State::Acknowledged);
        while self.sent.front() == Some(&State::Acknowledged) {
            self.sent.pop_front();
            self.base += 1;
        }
        self.messages.release(self.base);
        if self.is_done() {
            // Nothing is left to retransmit.
            self.repeats.clear();
        }
        self.forget_timers();
        payload
    }

    /// The packets `from` to `to` are lost: each is queued for retransmission.
    fn lose(&mut self, from: u64, to: u64) -> Option<LossView> {
        let mut loss = None;
        for psn in from.max(self.base)..to.min(self.next()) {
            if self.is_open(psn) {
                self.repeat(psn, loss.get_or_insert(LossView { lost: Bytes::ZERO, timeout: false }));
            }
        }
        self.forget_timers();
        loss
    }

    /// Queues a packet for retransmission, as part of a loss.
    fn repeat(&mut self, psn: u64, loss: &mut LossView) {
        self.set(psn, State::Untimed);
        self.repeats.push_back(psn);
        loss.lost += self.messages.segment(psn, true).payload;
    }

    /// Removes and returns the next packet whose timer has expired by `now`; of two at one instant the one
    /// that was set first.
    fn timed_out(&mut self, now: Time) -> Option<u64> {
        self.forget_timers();
        let first =
            self.first_timers_mut().filter(|timers| timers.first().is_some_and(|(at, _)| at <= now))?;
        first.running.pop_front().map(|timer| timer.psn)
    }

    /// The timers of which one expires next; of two at one instant the one that was set first.
    fn first_timers_mut(&mut self) -> Option<&mut Timers> {
        [&mut self.low, &mut self.high]
            .into_iter()
            .filter(|timers| timers.first().is_some())
            .min_by_key(|timers| timers.first())
    }

    /// The timer that expires next; of two at one instant the one that was set first.
    fn first_timer(&self) -> Option<&Timer> {
        let timers = [&self.low, &self.high].into_iter().filter(|timers| timers.first().is_some());
        timers.min_by_key(|timers| timers.first())?.running.front()
    }
}

impl TransportSender for Sender {
    fn push(&mut self, message: Bytes) {
        self.messages.push(message);
    }

    fn ready(&self) -> Option<Bytes> {
        // SWING, Section 2.1: a bitmap of fixed size bounds the packets in flight.
        let room = self.window() < self.settings.window && self.next() < self.messages.end();
        room.then(|| self.messages.segment(self.next(), false).payload)
    }

    fn next_segment(&mut self, now: Time) -> Option<Segment> {
        self.ready()?;
        let segment = self.messages.segment(self.next(), false);
        self.sent.push_back(State::Untimed);
        self.in_flight += segment.payload;
        self.time(segment.psn, now);
        Some(segment)
    }

    fn on_reply(&mut self, _now: Time, reply: Reply) -> (Bytes, Option<LossView>) {
        match reply {
            Reply::One { psn } => (self.acknowledge(psn), None),
            // A second SACK for the same packet carries no new information.
            Reply::Sack { next, seen } if self.is_open(seen) => {
                let acked = self.acknowledge(seen);
                (acked, self.lose(next, seen))
            }
            _ => (Bytes::ZERO, None),
        }
    }

    fn acknowledged(&self, _reply: Reply) -> u64 {
        self.base
    }

    fn has_repeats(&self) -> bool {
        !self.repeats.is_empty()
    }

    fn next_repeat(&mut self, now: Time) -> Option<Segment> {
        let psn = self.repeats.pop_front()?;
        if !self.is_open(psn) {
            return None;
        }
        self.time(psn, now);
        Some(self.messages.segment(psn, true))
    }

    fn next_psn(&self) -> u64 {
        self.next()
    }

    fn in_flight(&self) -> Bytes {
        self.in_flight
    }

    fn is_done(&self) -> bool {
        self.base == self.messages.end()
    }

    fn cap(&self) -> Bytes {
        self.settings.window_bytes
    }

    fn next_timeout(&self) -> Option<Time> {
        self.first_timer().map(|timer| timer.at)
    }

    fn times_packets(&self) -> bool {
        true
    }

    fn number_timer(&mut self, number: u64) {
        self.number = number;
    }

    fn timeout_number(&self) -> Option<u64> {
        self.first_timer().map(|timer| timer.number)
    }

    fn on_timeout(&mut self, now: Time) -> Option<LossView> {
        let psn = self.timed_out(now)?;
        let mut loss = LossView { lost: Bytes::ZERO, timeout: true };
        self.repeat(psn, &mut loss);
        self.forget_timers();
        Some(loss)
    }

    fn has_more(&self) -> bool {
        !self.is_done()
    }

    fn counted_from(&self, psn: u64) -> Option<String> {
        let Sender { settings: _, messages, base, sent, repeats, low, high, number, in_flight } = self;
        let messages = messages.counted_from(psn, messages.before());
        let repeats: Vec<u64> = repeats.iter().map(|repeat| repeat.wrapping_sub(psn)).collect();
        let [low, high] = [low, high].map(|timers| timers.counted_from(psn));
        let base = base.wrapping_sub(psn);
        Some(format!(
            "messages: {messages:?} base: {base} sent: {sent:?} repeats: {repeats:?} low: {low:?} \
             high: {high:?} number: {number} in_flight: {in_flight:?}"
        ))
    }
}

/// The receiver's end.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    /// Packets that have arrived.
    arrived: Marks,
    /// h: one after the highest number that has arrived.
    edge: u64,
}

impl Receiver {
    pub(super) fn new(_qp: &QpInfo, _settings: &Settings) -> Self {
        Receiver::default()
    }
}

impl TransportReceiver for Receiver {
    fn on_segment(&mut self, cx: &mut Cx<'_, Reply>, s: &Segment) -> Bytes {
        let new = self.arrived.add(s.psn);
        // SWING, Section 2.1: a packet out of order is answered by a SACK.
        if s.psn <= self.edge {
            cx.push(Reply::One { psn: s.psn });
        } else {
            cx.push(Reply::Sack { next: self.edge, seen: s.psn });
        }
        self.edge = self.edge.max(s.psn + 1);
        if new { s.payload } else { Bytes::ZERO }
    }

    fn counted_from(&self, psn: u64) -> Option<String> {
        let Receiver { arrived, edge } = self;
        Some(format!("arrived: {:?} edge: {}", arrived.counted_from(psn), edge.wrapping_sub(psn)))
    }
}
