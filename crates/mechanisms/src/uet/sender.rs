//! The sender's end: what is sent, again or for the first time, and what reports and the timer make of it.

use std::collections::BTreeMap;

use floodway_units::{Bytes, Span, Time};

use super::Form;
use super::entropy::{Choice, Feedback};
use super::sent::{Outstanding, Sent};
use super::sleek::Sleek;
use crate::slots::{
    Backlog, Cut, Header, LossView, Messages, QpInfo, Query, Reply, Report, Reported, Room, Sample, Segment,
    TransportSender,
};

/// A sender without credit that waits for nothing asks for some after so many round trips.
const SILENT_ROUNDS: u64 = 8;

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
    timer: Timer,
    /// The number of the next packet that is new.
    next: u64,
    /// All packets before this one have arrived.
    acknowledged: u64,
    sent: Outstanding,
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
    requests: Requests,
    sleek: Option<Box<Sleek>>,
}

/// The timer of all packets that are waited for.
#[derive(Clone, Copy, Debug, Default)]
struct Timer {
    due: Option<Time>,
    /// When the packet started for which it was set.
    of: Option<Time>,
}

/// Requests to send (RTS): what is sent where nothing else may be.
#[derive(Clone, Debug)]
struct Requests {
    /// Their numbers, in ascending order.
    numbers: Vec<u64>,
    /// Those that were lost, and are sent again.
    lost: Vec<u64>,
    /// One follows, if it still needs to: a timer has counted a packet as lost.
    due: Option<Due>,
    /// The least time from one to the next.
    gap: Span,
    last: Option<Time>,
    /// Up to which number the last packet asked for credit, where requests ask for as much, as in the
    /// Consortium's simulator.
    wants: Option<u64>,
    /// Receivers grant credit.
    has_credit: bool,
    /// One also follows after so long without a report and without anything to wait for.
    silence: Option<Span>,
    heard: Time,
}

/// Why a request may be needed.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// A packet of so many bytes waits to be sent again, perhaps behind others.
    Lost { size: u64, others: bool },
    /// Nothing was heard.
    Silence,
}

impl Sender {
    pub(super) fn new(qp: &QpInfo, form: Form, rto: Span, choice: Choice, sleek: Option<Sleek>) -> Self {
        let htsim = form == Form::Htsim;
        let requests = Requests {
            numbers: Vec::new(),
            lost: Vec::new(),
            due: None,
            gap: form.base_rtt(qp),
            last: None,
            wants: htsim.then_some(0),
            has_credit: qp.has_credit,
            silence: (qp.has_credit && !htsim).then(|| qp.base_rtt * SILENT_ROUNDS),
            heard: Time::ZERO,
        };
        Sender(Box::new(State {
            messages: Messages::new(qp.mtu),
            overhead: qp.wire.0.saturating_sub(qp.mtu.0),
            mtu: qp.wire.0,
            rto,
            timer: Timer::default(),
            next: 0,
            acknowledged: 0,
            sent: Outstanding::default(),
            repeats: BTreeMap::new(),
            repeated: BTreeMap::new(),
            backlog: Backlog::default(),
            in_flight: 0,
            received: 0,
            choice,
            last: (0, 0, false),
            requests,
            sleek: sleek.map(Box::new),
        }))
    }
}

impl State {
    /// A packet starts.
    fn starts(&mut self, now: Time, number: u64, size: u64) {
        self.in_flight += size.cast_signed();
        self.waits_for(now, number, size, false);
    }

    /// A packet or request is waited for.
    fn waits_for(&mut self, now: Time, number: u64, size: u64, is_request: bool) {
        self.sent.insert(number, size, now, is_request);
        self.set_timer(now, now);
        self.requests.heard = now;
    }

    /// The timer expires for a packet that started at `at`, unless it expires earlier for another one.
    fn set_timer(&mut self, now: Time, at: Time) {
        let due = at + self.rto;
        if self.timer.due.is_none_or(|set| due < set) {
            self.timer = Timer { due: Some(due.max(now)), of: Some(at) };
        }
    }

    /// The timer is for the first packet again that is waited for.
    fn reset_timer(&mut self, now: Time) {
        self.timer.due = None;
        if let Some((at, _)) = self.sent.first_timed() {
            self.set_timer(now, at);
        }
    }

    /// A packet is no longer waited for: its size and start, if it was.
    fn take(&mut self, now: Time, number: u64) -> Option<Sent> {
        let sent = self.sent.remove(number)?;
        if self.timer.of == Some(sent.at) {
            self.reset_timer(now);
        }
        Some(sent)
    }

    /// Data packets among those before a number.
    fn data_before(&self, number: u64) -> u64 {
        number - self.requests.numbers.partition_point(|request| *request < number) as u64
    }

    /// A packet has arrived, by a report. One that waits to be sent again had been taken off the bytes in
    /// flight, of which the report has it once more.
    fn arrived(&mut self, now: Time, number: u64) {
        self.take(now, number);
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

    /// The sample of the round trip that a report is, if its time from start to now belongs to one
    /// transmission.
    fn sample(&self, now: Time, report: &Report) -> Option<Sample> {
        if report.query == Some(Query::Probe) {
            let rtt = self.sleek.as_ref()?.answered(now, report.number)?;
            return Some(Sample { rtt, query: report.query });
        }
        let sent = self.sent.get(report.number)?;
        let is_one = match self.repeated.get(&report.number) {
            None => !report.repeated,
            Some(1) => report.repeated,
            Some(_) => false,
        };
        is_one.then(|| Sample { rtt: now.since(sent.at), query: report.query })
    }

    /// A packet arrived without its payload.
    fn on_cut(&mut self, now: Time, report: &Report) -> Reported {
        let Some(sent) = self.take(now, report.number) else { return Reported::default() };
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
        Reported { next: self.data_before(self.acknowledged), cut: Some(cut), ..Reported::default() }
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
        let next = state.data_before(state.next);
        let new = next < state.messages.end();
        new.then(|| state.messages.segment(next, false).payload + Bytes(state.overhead))
    }

    fn next_segment(&mut self, now: Time) -> Option<Segment> {
        let state = &mut *self.0;
        if let Some((number, size)) = state.repeats.pop_first() {
            state.backlog.repeated = state.backlog.repeated.saturating_sub(Bytes(size));
            *state.repeated.entry(number).or_default() += 1;
            state.starts(now, number, size);
            state.last = (number, size, true);
            return Some(state.messages.segment(state.data_before(number), true));
        }
        let next = state.data_before(state.next);
        if next >= state.messages.end() {
            return None;
        }
        let segment = state.messages.segment(next, false);
        let size = segment.payload.0 + state.overhead;
        state.backlog.new = state.backlog.new.saturating_sub(Bytes(size));
        state.starts(now, state.next, size);
        state.last = (state.next, size, false);
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
        if state.requests.wants.is_some() && room.window == Bytes::MAX {
            // uec.cpp: the round trip between requests is one of NSCC's constants, 0 without it.
            state.requests.gap = Span::ZERO;
        }
        state.requests.wants = state.requests.wants.map(|_| room.wants);
        Header { number, entropy: state.entropy(now, number, room), asks, wants: room.wants, query: None }
    }

    fn on_reported(&mut self, now: Time, report: &Report) -> Reported {
        let state = &mut *self.0;
        if report.trimmed {
            return state.on_cut(now, report);
        }
        let new = report.received.saturating_sub(state.received);
        state.received += new;
        state.in_flight -= new.cast_signed();
        if report.query != Some(Query::Probe) {
            state.requests.heard = now;
        }
        let sample = state.sample(now, report);
        while let Some(number) = state.sent.first_before(report.next) {
            state.arrived(now, number);
        }
        while let Some((&number, _)) = state.repeats.range(..report.next).next() {
            state.arrived(now, number);
        }
        // What has not been sent cannot have arrived.
        state.acknowledged = state.acknowledged.max(report.next.min(state.next));
        let mut bits = report.bits;
        while bits != 0 {
            state.arrived(now, report.base + u64::from(bits.trailing_zeros()));
            bits &= bits - 1;
        }
        let next = state.data_before(state.acknowledged);
        state.messages.release(next);
        let feedback = if report.marked { Feedback::Marked } else { Feedback::Good };
        state.choice.learn(now, report.entropy, feedback);
        if let Some(sleek) = &mut state.sleek {
            sleek.observes(report, sample.as_ref());
        }
        Reported { acked: Bytes(new), next, sample, ..Reported::default() }
    }

    fn next_psn(&self) -> u64 {
        let number = self.0.repeats.keys().next().copied().unwrap_or(self.0.next);
        self.0.data_before(number)
    }

    fn in_flight(&self) -> Bytes {
        self.0.flying()
    }

    fn is_done(&self) -> bool {
        self.0.data_before(self.0.acknowledged) >= self.0.messages.end()
    }

    fn needs_room(&self) -> bool {
        let state = &*self.0;
        state.repeats.is_empty() || !state.sleek.as_ref().is_some_and(|sleek| sleek.is_recovering())
    }

    fn after_report(&mut self, now: Time, window: Bytes) {
        let state = &mut *self.0;
        let Some(mut sleek) = state.sleek.take() else { return };
        sleek.arm(now, state.next, state.backlog.new > Bytes::ZERO);
        let range = sleek.recovers(window, state.next, !state.repeats.is_empty());
        let lost: Vec<(u64, Sent)> = state.sent.range(range).collect();
        for (number, sent) in lost.into_iter().filter(|(_, sent)| !sent.is_request) {
            // Section 3.5: what is missing at the receiver is sent again once.
            state.take(now, number);
            state.lost(number, sent.size);
            sleek.resends(number);
        }
        state.sleek = Some(sleek);
    }

    fn next_query(&mut self, now: Time, room: &Room) -> Option<Header> {
        let state = &mut *self.0;
        if let Some(number) = state.next_request(now, room) {
            return Some(state.query(now, Query::Request, number, room));
        }
        let number = state.sleek.as_mut()?.next_probe(now)?;
        Some(state.query(now, Query::Probe, number, room))
    }

    fn next_timeout(&self) -> Option<Time> {
        let state = &*self.0;
        let probe = state.sleek.as_ref().and_then(|sleek| sleek.next_timeout());
        [state.timer.due, probe, self.silent_at()].into_iter().flatten().min()
    }

    fn on_timeout(&mut self, now: Time) -> Option<LossView> {
        if self.silent_at().is_some_and(|at| at <= now) {
            self.0.requests.heard = now;
            self.0.requests.due = Some(Due::Silence);
        }
        let state = &mut *self.0;
        if let Some(sleek) = &mut state.sleek {
            sleek.on_timeout(now);
        }
        let mut lost = Bytes::ZERO;
        while state.timer.due.is_some_and(|due| due <= now) {
            lost += state.expires(now);
        }
        (lost > Bytes::ZERO).then_some(LossView { lost, timeout: true })
    }
}

impl Sender {
    /// When a sender without credit that waits for nothing asks for some.
    fn silent_at(&self) -> Option<Time> {
        let state = &*self.0;
        let silence = state.requests.silence.filter(|_| state.sent.is_untimed())?;
        self.ready().map(|_| state.requests.heard + silence)
    }
}

impl State {
    /// The timer of the packet that started first has expired: the bytes that count as lost.
    fn expires(&mut self, now: Time) -> Bytes {
        self.timer.due = None;
        let Some((_, number)) = self.sent.first_timed() else { return Bytes::ZERO };
        self.choice.learn(now, 0, Feedback::Timeout);
        let is_request = self.sent.get(number).is_some_and(|sent| sent.is_request);
        if let Some(sleek) = self.sleek.as_mut().filter(|sleek| sleek.is_recovering() && !is_request) {
            // uec.cpp: recovery is to send it again, whose timer is off until then.
            self.sent.untime(number);
            if self.repeated.contains_key(&number) {
                sleek.sends_again_from(number);
            } else {
                self.reset_timer(now);
            }
            return Bytes::ZERO;
        }
        let others = !self.repeats.is_empty();
        let Some(Sent { size, .. }) = self.take(now, number) else { return Bytes::ZERO };
        self.reset_timer(now);
        if is_request {
            self.requests.lost.push(number);
        } else {
            self.lost(number, size);
            self.requests.due = Some(Due::Lost { size, others });
        }
        Bytes(size)
    }

    /// The number of a request that is sent now.
    fn next_request(&mut self, now: Time, room: &Room) -> Option<u64> {
        if let Some(number) = self.requests.lost.pop() {
            self.sends_request(now, number);
            return Some(number);
        }
        let due = self.requests.due.take()?;
        // uec.cpp: at most one each round trip restarts a connection of which a whole window was lost.
        if self.requests.last.is_some_and(|last| now.since(last) < self.requests.gap) {
            return None;
        }
        let is_needed = match due {
            Due::Lost { others: true, .. } => self.requests.has_credit,
            Due::Lost { size, .. } => !self.fits(size, room),
            Due::Silence => room.closed,
        };
        if !is_needed {
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.requests.numbers.push(number);
        self.sends_request(now, number);
        Some(number)
    }

    /// Is there room for a packet of this size beside what is in flight?
    fn fits(&self, size: u64, room: &Room) -> bool {
        // Without a window there always is.
        room.window == Bytes::MAX || self.flying().0 + size <= room.window.0
    }

    /// A request is sent.
    fn sends_request(&mut self, now: Time, number: u64) {
        self.requests.last = Some(now);
        self.waits_for(now, number, self.overhead, true);
    }

    fn query(&mut self, now: Time, query: Query, number: u64, room: &Room) -> Header {
        // One for no more than was granted also brings the number that was.
        let requests = query == Query::Request && self.requests.has_credit;
        let wants = if requests { self.requests.wants.unwrap_or(room.wants).max(1) } else { 0 };
        let entropy = self.entropy(now, self.next, room);
        Header { number, entropy, asks: query == Query::Request, wants, query: Some(query) }
    }

    fn entropy(&mut self, now: Time, number: u64, room: &Room) -> u16 {
        self.choice.next(now, number, room.window.0 / self.mtu.max(1))
    }
}
