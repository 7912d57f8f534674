//! Both ends of a queue pair over a path that loses, delays and reorders data and replies. Every
//! reliability of the registry that acknowledges is tried.

#![allow(clippy::cast_possible_truncation, reason = "numbers of tests are small")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_mechanisms::registry::{AnyTransportReceiver, AnyTransportSender, ReliabilityParams};
use floodway_mechanisms::slots::{
    Cx, Header, Outbox, QpInfo, Reply, Report, Room, Segment, TransportReceiver, TransportSender,
};
use floodway_units::{Bytes, Rng, Span, Time, stream};
use proptest::prelude::*;

/// A path that loses and delays.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// How many of 100 packets, and of 100 replies, are lost.
    loss: u64,
    /// Shortest delay, and how much longer it may be: one packet may overtake another.
    delay: Span,
    spread: Span,
    /// Most payload that the sender has in flight.
    window: u64,
    seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Data(Segment),
    Reply(Reply),
    /// Of a transport whose packets have headers, and its receiver's report.
    Headed(Segment, Header),
    Report(Report),
    /// Its packet without payload, which asks for a report.
    Query(Header),
}

/// What a run has seen.
#[derive(Debug, Default)]
struct Outcome {
    /// Times that each packet was delivered, by number.
    delivered: Vec<u32>,
    payload: u64,
    retransmissions: u64,
    timeouts: u64,
    finished: bool,
}

struct Pair {
    path: Path,
    now: Time,
    rng: Rng,
    sender: AnyTransportSender,
    receiver: AnyTransportReceiver,
    /// Arrivals by time and number; the events are kept apart, as they have no order.
    due: BinaryHeap<Reverse<(Time, usize)>>,
    events: Vec<Event>,
    out: Outbox<Reply>,
    reports: Outbox<Report>,
    outcome: Outcome,
}

/// Time to send one packet.
const PACKET_TIME: Span = Span::ns(100);

impl Pair {
    fn new(choice: &ReliabilityParams, messages: &[u64], path: Path) -> Self {
        let qp = QpInfo { base_rtt: path.delay * 2, ..QpInfo::example() };
        let (mut sender, receiver) = choice.build(&qp).expect("the parameters are valid");
        for bytes in messages {
            sender.push(Bytes(*bytes));
        }
        Pair {
            path,
            now: Time::ZERO,
            rng: stream(path.seed, 0, "path"),
            sender,
            receiver,
            due: BinaryHeap::new(),
            events: Vec::new(),
            out: Outbox::default(),
            reports: Outbox::default(),
            outcome: Outcome::default(),
        }
    }

    fn run(mut self) -> Outcome {
        for _ in 0..200_000 {
            if self.sender.is_done() {
                self.outcome.finished = true;
                break;
            }
            if self.send() {
                self.now += PACKET_TIME;
            }
            let limit = if self.may_send() { self.now } else { Time::NEVER };
            if !self.next(limit) && limit == Time::NEVER {
                break;
            }
        }
        self.outcome
    }

    fn may_send(&self) -> bool {
        self.sender.has_repeats() || self.may_send_new()
    }

    fn may_send_new(&self) -> bool {
        let window = Bytes(self.path.window).min(self.sender.cap());
        let fits = |payload| !self.sender.needs_room() || self.sender.in_flight() + payload <= window;
        self.sender.ready().is_some_and(fits)
    }

    fn send(&mut self) -> bool {
        if !self.may_send() {
            return false;
        }
        let repeat = self.sender.has_repeats().then(|| self.sender.next_repeat(self.now)).flatten();
        let Some(segment) =
            repeat.or_else(|| self.may_send_new().then(|| self.sender.next_segment(self.now))?)
        else {
            // What was to be retransmitted had arrived meanwhile.
            return false;
        };
        let capped = self.sender.in_flight() <= self.sender.cap().max(Bytes(1000));
        assert!(capped, "{} in flight exceed the window", self.sender.in_flight());
        self.outcome.retransmissions += u64::from(segment.retransmission);
        if self.sender.has_headers() {
            let header = self.sender.header(self.now, &self.room());
            self.launch(Event::Headed(segment, header));
        } else {
            self.launch(Event::Data(segment));
        }
        true
    }

    fn room(&self) -> Room {
        Room { window: Bytes(self.path.window), closed: !self.may_send_new(), wants: 0 }
    }

    fn launch(&mut self, event: Event) {
        if self.rng.next_u64() % 100 < self.path.loss {
            return;
        }
        let extra = Span(self.rng.next_u64() % (self.path.spread.0 + 1));
        self.due.push(Reverse((self.now + self.path.delay + extra, self.events.len())));
        self.events.push(event);
    }

    /// The next arrival or timer until `limit`, if there is one.
    fn next(&mut self, limit: Time) -> bool {
        let arrival = self.due.peek().map_or(Time::NEVER, |Reverse((at, _))| *at);
        let timer = self.sender.next_timeout().unwrap_or(Time::NEVER);
        let at = arrival.min(timer);
        if at > limit || at == Time::NEVER {
            return false;
        }
        self.now = self.now.max(at);
        if timer < arrival {
            self.outcome.timeouts += u64::from(self.sender.on_timeout(self.now).is_some());
            while let Some(header) = self.sender.next_query(self.now, &self.room()) {
                self.launch(Event::Query(header));
            }
        } else {
            let Reverse((_, index)) = self.due.pop().expect("an arrival is due");
            self.arrive(self.events[index]);
        }
        true
    }

    fn arrive(&mut self, event: Event) {
        match event {
            Event::Reply(reply) => {
                self.sender.on_reply(self.now, reply);
            }
            Event::Report(report) => {
                self.sender.on_reported(self.now, &report);
                self.sender.after_report(self.now, Bytes(self.path.window));
            }
            Event::Query(header) => {
                let mut cx = Cx { now: self.now, rng: &mut self.rng, out: &mut self.reports };
                self.receiver.on_query(&mut cx, &header, false);
                for report in std::mem::take(&mut self.reports.0) {
                    self.launch(Event::Report(report));
                }
            }
            Event::Headed(segment, header) => {
                let mut cx = Cx { now: self.now, rng: &mut self.rng, out: &mut self.reports };
                let payload = self.receiver.on_packet(&mut cx, &segment, &header, false);
                self.deliver(&segment, payload);
                for report in std::mem::take(&mut self.reports.0) {
                    self.launch(Event::Report(report));
                }
            }
            Event::Data(segment) => {
                let mut cx = Cx { now: self.now, rng: &mut self.rng, out: &mut self.out };
                let payload = self.receiver.on_segment(&mut cx, &segment);
                self.deliver(&segment, payload);
                for reply in std::mem::take(&mut self.out.0) {
                    self.launch(Event::Reply(reply));
                }
            }
        }
    }

    fn deliver(&mut self, segment: &Segment, payload: Bytes) {
        if payload == Bytes::ZERO {
            return;
        }
        assert_eq!(payload, segment.payload);
        let psn = segment.psn as usize;
        let delivered = &mut self.outcome.delivered;
        delivered.resize(delivered.len().max(psn + 1), 0);
        delivered[psn] += 1;
        self.outcome.payload += payload.0;
    }
}

/// Choices that acknowledge: the defaults of each, and go-back-N as it can be tuned.
fn choices() -> Vec<ReliabilityParams> {
    let named = ReliabilityParams::names().into_iter().map(|name| format!("{name:?}"));
    let tuned = [
        r#"{ "go-back-n": { "ack-interval": 4, "timeout": "60us" } }"#,
        r#"{ "go-back-n": { "nack-interval": "1us", "timeout": "500us" } }"#,
        r#"{ "irn": { "window": 7, "rto-low": "150us", "rto-high": "400us" } }"#,
        r#"{ "irn": { "window": "12500B", "rto-low": "150us", "rto-high": "400us", "low-packets": 0 } }"#,
        r#"{ "irn": { "form": "swing", "window": 9, "rto-low": "150us", "rto-high": "400us" } }"#,
        r#"{ "irn": { "form": "swing", "window": 200, "rto-low": "150us", "rto-high": "400us" } }"#,
        r#"{ "uet": { "sleek": true } }"#,
        r#"{ "uet": { "sleek": true, "form": "htsim", "rto": "300us" } }"#,
        r#"{ "irn": { "form": "conweave", "window": 40, "rto-low": "150us", "rto-high": "400us" } }"#,
    ];
    let read = |json: String| serde_json::from_str(&json).expect("the parameters are well formed");
    let all = named.chain(tuned.iter().map(|json| (*json).to_owned())).map(read);
    all.filter(ReliabilityParams::has_acks).collect()
}

fn path() -> impl Strategy<Value = Path> {
    let loss = prop_oneof![Just(0u64), 1u64..5, 5u64..30];
    let spread = prop_oneof![Just(0u64), 0u64..20_000];
    (loss, 1u64..20_000, spread, 5_000u64..60_000, any::<u64>()).prop_map(
        |(loss, delay, spread, window, seed)| Path {
            loss,
            delay: Span::ns(delay),
            spread: Span::ns(spread),
            window,
            seed,
        },
    )
}

proptest! {
    #[test]
    fn every_byte_is_delivered_exactly_once(messages in proptest::collection::vec(1u64..30_000, 1..5), path in path()) {
        for choice in choices() {
            let outcome = Pair::new(&choice, &messages, path).run();
            prop_assert!(outcome.finished, "{choice:?} does not finish: {outcome:?}");
            prop_assert!(outcome.delivered.iter().all(|times| *times == 1));
            prop_assert_eq!(outcome.payload, messages.iter().sum::<u64>());
        }
    }

    #[test]
    fn a_path_in_order_without_loss_sends_nothing_twice(
        messages in proptest::collection::vec(1u64..30_000, 1..5), path in path(),
    ) {
        // A probe is sent after a few round trips of silence, which must be longer than a packet takes.
        let clean = Path { loss: 0, spread: Span::ZERO, delay: path.delay.max(Span::us(1)), ..path };
        for choice in choices() {
            let outcome = Pair::new(&choice, &messages, clean).run();
            prop_assert!(outcome.finished);
            prop_assert_eq!((outcome.retransmissions, outcome.timeouts), (0, 0));
        }
    }
}

#[test]
fn a_lost_last_packet_is_found_by_the_timer_alone() {
    // Of a single packet nothing else can show it.
    let path = Path { loss: 50, delay: Span::us(5), spread: Span::ZERO, window: 5_000, seed: 3 };
    for choice in choices() {
        let outcome = Pair::new(&choice, &[700], path).run();
        assert!(outcome.finished && outcome.payload == 700);
        assert!(outcome.timeouts > 0 && outcome.timeouts == outcome.retransmissions, "{outcome:?}");
    }
}
