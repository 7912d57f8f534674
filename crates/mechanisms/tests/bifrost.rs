//! Bifrost's two halves, a fluid between them, and any drain: Theorem 1 in every slot.
//!
//! The upstream's clock is ahead by the delay of the data, so that what it has sent by its clock has arrived
//! by the receiver's; a frame then takes a whole round trip. At slot 0 the link is full, as the theorem has
//! it.

#![allow(clippy::cast_possible_truncation, reason = "numbers of tests are small")]

use std::collections::VecDeque;

use floodway_mechanisms::bifrost::{Params, Receiver, Sender};
use floodway_mechanisms::slots::{
    Cx, FcFrame, FcReceiver, FcSender, FlowControl, Gate, IngressView, LinkInfo, Outbox,
};
use floodway_units::{Bytes, Quanta, Rate, Rng, Span, Time, Turns, stream};
use proptest::prelude::*;

/// The unit of all bytes where results are to be exact.
const QUANTUM: u64 = 64;
const CONTROL_FRAME: u64 = 64;

/// A link whose round trip is so many bytes, with frames of `mtu`.
fn link(rate: Rate, rtt: u64, mtu: u64) -> LinkInfo {
    let both_ways = rate.time_to_send(Bytes(rtt - 2 * mtu - CONTROL_FRAME));
    LinkInfo {
        rate,
        reverse_rate: rate,
        delay: both_ways / 2,
        reverse_delay: both_ways - both_ways / 2,
        mtu: Bytes(mtu),
        buffer: Bytes::MAX - Bytes(1),
        ..LinkInfo::example()
    }
}

fn params(json: &str) -> Params {
    serde_json::from_str(json).expect("the parameters are well formed")
}

/// Time slots of `full` bytes at 100 Gbit/s, and a level of so many bytes.
fn bifrost(mode: &str, full: u64, level: u64) -> Params {
    let time_slot = Rate::gbps(100).time_to_send(Bytes(full));
    params(&format!(r#"{{ "f-mode": "{mode}", "slot": "{}ps", "level": "{level}B" }}"#, time_slot.0))
}

/// What a time slot was like.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// L and F at its end.
    held: u64,
    incoming: u64,
    /// Bytes that came in it.
    received: u64,
    /// Bytes that the drain asked for and were not there.
    missing: u64,
}

struct Pair {
    rtt: Span,
    time_slot: Span,
    rate: Rate,
    rng: Rng,
    out: Outbox<FcFrame>,
    // upstream
    sender: Sender,
    sender_now: Time,
    frames: VecDeque<(Time, FcFrame)>,
    sent: u64,
    idle: bool,
    /// Bytes on top in each time slot that is paused for a part of it.
    leak: u64,
    // downstream
    receiver: Receiver,
    now: Time,
    received: u64,
    held: u64,
}

impl Pair {
    fn new(params: &Params, link: &LinkInfo, rtt: u64) -> Self {
        let (sender, receiver) = params.build(link).expect("the parameters are valid");
        Pair {
            rtt: link.rate.time_to_send(Bytes(rtt)),
            time_slot: params.slot,
            rate: link.rate,
            rng: stream(1, 1, "fluid"),
            out: Outbox::default(),
            sender,
            sender_now: Time::ZERO,
            frames: VecDeque::new(),
            sent: 0,
            idle: false,
            leak: 0,
            receiver,
            now: Time::ZERO,
            received: 0,
            held: 0,
        }
    }

    /// One time slot, in which the drain asks for `drain` bytes.
    fn time_slot(&mut self, drain: u64) -> Seen {
        self.now += self.time_slot;
        self.advance_sender();
        let received = self.sent - self.received;
        self.received = self.sent;
        let there = self.held + received;
        self.held = there.saturating_sub(drain);
        let view = IngressView {
            queued: Bytes(self.held),
            wire: Bytes(self.held),
            shared: Bytes(self.held),
            received: Bytes(self.received),
            received_frames: Bytes(self.received),
            ..IngressView::default()
        };
        let mut cx = Cx { now: self.now, rng: &mut self.rng, out: &mut self.out };
        self.receiver.on_enqueue(&mut cx, &view);
        if self.receiver.next_timeout().is_some_and(|at| at <= self.now) {
            assert_eq!(self.receiver.next_timeout(), Some(self.now));
            self.receiver.on_timeout(&mut cx, &view);
        }
        assert!(self.receiver.next_timeout().is_none_or(|at| at == self.now + self.time_slot));
        let arrives = self.now + self.rtt;
        self.frames.extend(self.out.0.drain(..).map(|frame| (arrives, frame)));
        let (held, incoming) = (self.held, self.receiver.incoming().0);
        Seen { held, incoming, received, missing: drain.saturating_sub(there) }
    }

    fn advance_sender(&mut self) {
        let mut turns = Turns::at_most(10_000_000);
        while turns.go() && self.frames.front().is_some_and(|(at, _)| *at <= self.now) {
            let (at, frame) = self.frames.pop_front().expect("it has a front");
            self.flow(at);
            let FcFrame::Pause { quanta, .. } = frame else { panic!("{frame:?} is not a pause") };
            if quanta.0 > 0 && quanta.span(self.rate) < self.time_slot {
                self.sent += self.leak;
            }
            self.sender.on_frame(&mut Cx { now: at, rng: &mut self.rng, out: &mut self.out }, frame);
        }
        self.flow(self.now);
    }

    /// Sends until then, wherever the gate is open.
    fn flow(&mut self, until: Time) {
        let mut turns = Turns::at_most(10_000_000);
        while turns.go() && self.sender_now < until {
            match self.sender.gate(self.sender_now, Bytes(1)) {
                Gate::Until(end) => self.sender_now = end.min(until),
                Gate::Open => {
                    let span = until - self.sender_now;
                    self.sent += if self.idle { 0 } else { self.rate.bytes_in(span).0 };
                    self.sender_now = until;
                }
                Gate::Closed => panic!("a pause of Bifrost's ends by itself"),
            }
        }
    }
}

/// A fluid's setting in quanta: (N, quanta of a time slot, quanta of RTT beyond (N - 1) T, quanta of H beyond
/// the least, drain of each time slot in percent).
type Fluid = (u64, u64, u64, u64, Vec<u64>);

fn fluids() -> impl Strategy<Value = Fluid> {
    let count = prop_oneof![4u64..=20, 4u64..=600];
    let percent = prop_oneof![Just(0u64), Just(100), 0u64..=100];
    let stretches = prop::collection::vec((percent, 1usize..300), 1..12);
    (count, 200u64..2_500).prop_flat_map(move |(count, full)| {
        let drains = stretches.clone().prop_map(|stretches| {
            stretches.into_iter().flat_map(|(percent, time_slots)| vec![percent; time_slots]).collect()
        });
        let part = prop_oneof![Just(full), 1..=full];
        (Just(count), Just(full), part, prop_oneof![Just(0), 0..2 * full], drains)
    })
}

/// Runs it with all sizes multiplied by `unit` and moved by `rest`; what each time slot was like, the least
/// of L + F that the theorem has, and H.
fn run(mode: &str, fluid: &Fluid, unit: u64, rest: u64) -> (Vec<Seen>, u64, u64) {
    let (count, full, part, above, drains) = fluid;
    let full = full * unit + rest;
    let delta = (count - 1) * full + part * unit;
    let level = delta + 2 * full + above * unit;
    let link = link(Rate::gbps(100), delta, unit);
    let mut pair = Pair::new(&bifrost(mode, full, level), &link, delta);
    let seen = drains.iter().map(|percent| pair.time_slot(full * percent / 100 / unit * unit));
    (seen.collect(), delta + full, level)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn theorem_1_holds_exactly_in_every_slot(fluid in fluids(), mode in prop::sample::select(vec!["ledger", "measured"])) {
        let (seen, least, level) = run(mode, &fluid, QUANTUM, 0);
        let mut before = (0, least);
        for (time_slot, seen) in seen.iter().enumerate() {
            let sum = seen.held + seen.incoming;
            prop_assert!(least <= sum && sum <= level, "slot {time_slot}: {least} <= {sum} <= {level}: {seen:?}");
            // Nothing is lost inside the time slot, were all of its drain to come at its end.
            prop_assert!(seen.received <= before.1 && before.0 + seen.received <= level);
            prop_assert_eq!(seen.missing, 0, "the drain found less than it asked for in slot {}", time_slot);
            before = (seen.held, seen.incoming);
        }
    }

    /// A grant is what whole quanta of pause leave of a time slot, so that L + F falls short by less than
    /// one.
    #[test]
    fn theorem_1_holds_but_for_a_quantum_where_sizes_are_no_whole_quanta(
        fluid in fluids(), rest in 1..QUANTUM, unit in 65u64..200,
        mode in prop::sample::select(vec!["ledger", "measured"]),
    ) {
        let (seen, least, level) = run(mode, &fluid, unit, rest);
        for seen in seen {
            let sum = seen.held + seen.incoming;
            prop_assert!(least < sum + QUANTUM && sum <= level, "{least} <= {sum} <= {level}: {seen:?}");
        }
    }

    #[test]
    fn a_pause_for_a_whole_slot_is_never_cut_off_by_its_field(
        gbps in prop::sample::select(vec![1u64, 25, 100, 400, 1_600]), time_slot in 1_001u64..90_000, mtu in 64u64..16_000,
        react in 0u64..5_000,
    ) {
        let rate = Rate::gbps(gbps);
        let link = LinkInfo { delay: Span::us(100), reverse_delay: Span::us(100), ..link(rate, 1 << 30, mtu) };
        let params = params(&format!(r#"{{ "slot": "{time_slot}ns", "react": "{react}ns", "half-mtu": true }}"#));
        let Ok((_, mut receiver)) = params.build(&link) else { return Ok(()) };
        let level = receiver.level().expect("it has one");
        let full = IngressView { queued: level, wire: level, ..IngressView::default() };
        let (mut rng, mut out) = (stream(1, 1, "field"), Outbox::default());
        let mut cx = Cx { now: Time::ZERO, rng: &mut rng, out: &mut out };
        receiver.on_enqueue(&mut cx, &full);
        cx.now += Span::ns(time_slot);
        receiver.on_timeout(&mut cx, &full);
        let [FcFrame::Pause { quanta, .. }] = out.0[..] else { panic!("{:?}", out.0) };
        // What is left of the pause when a successor comes that an MTU has held up.
        let lasts = quanta.span(rate);
        prop_assert!(lasts >= Span::ns(time_slot + react) + rate.time_to_send(Bytes(mtu)), "{quanta:?}");
    }
}

// ---- leaks and idle upstreams: the results of the two ways of counting

/// N = 40 time slots of 128,000 bytes at 100 Gbit/s, at the least level: the ledger's or the measured F.
fn forty_time_slots(mode: &str) -> (Pair, u64, u64) {
    let full = 2_000 * QUANTUM;
    let level = 42 * full;
    (
        Pair::new(&bifrost(mode, full, level), &link(Rate::gbps(100), 40 * full, QUANTUM), 40 * full),
        full,
        level,
    )
}

/// The most that is held above H, where each partly paused time slot lets a frame of 1280 bytes more through
/// than it was granted, while the drain changes its pace and then stops.
fn overflow(mode: &str, time_slots: u64) -> u64 {
    let (mut pair, full, level) = forty_time_slots(mode);
    pair.leak = 1_280;
    let eighths = |time_slot: u64| [6, 3, 5, 1, 7, 5, 4, 2][(time_slot / 50 % 8) as usize];
    let drains = (0..time_slots).map(|time_slot| full / 8 * eighths(time_slot)).chain([0; 100]);
    drains.map(|drain| pair.time_slot(drain).held.saturating_sub(level)).max().unwrap_or_default()
}

#[test]
fn leaks_are_paid_back_by_the_ledger_and_pile_up_where_bytes_are_measured() {
    // (N + 1) MTU.
    let bound = 41 * 1_280;
    for time_slots in [400, 4_000, 60_000] {
        let above = overflow("ledger", time_slots);
        assert!(0 < above && above <= bound, "{above} above H after {time_slots} slots");
    }
    let [early, later, late] = [400, 1_200, 60_000].map(|time_slots| overflow("measured", time_slots));
    assert!(8 * bound < early && early < later && later < late, "{early}, {later}, {late} above H");
}

/// Bytes that a drain at line rate misses after this: the drain is slow, the upstream pauses for 10 time
/// slots of its own accord, and is backlogged again for long enough.
fn missing_after_an_idle_upstream(mode: &str) -> u64 {
    let (mut pair, full, _) = forty_time_slots(mode);
    let at_a_quarter =
        |pair: &mut Pair, time_slots| (0..time_slots).map(|_| pair.time_slot(full / 4).missing).sum::<u64>();
    assert_eq!(at_a_quarter(&mut pair, 200), 0);
    pair.idle = true;
    assert_eq!(at_a_quarter(&mut pair, 10), 0);
    pair.idle = false;
    assert_eq!(at_a_quarter(&mut pair, 200), 0);
    (0..100).map(|_| pair.time_slot(full).missing).sum()
}

#[test]
fn unused_grants_starve_the_drain_where_bytes_are_measured_and_not_with_the_ledger() {
    assert_eq!(missing_after_an_idle_upstream("ledger"), 0);
    // The grants of 10 time slots at a quarter of the rate stay in F for good, and the queue is short of
    // them.
    let full = 2_000 * QUANTUM;
    let missing = missing_after_an_idle_upstream("measured");
    assert!(missing > full / 2 && missing <= 10 * full / 4, "{missing} bytes");
}

// ---- sleeping

/// Algorithm 1 word by word, every time slot.
struct Ticking {
    full: u64,
    part: u64,
    level: u64,
    guard: u64,
    /// Of the last N + 1 time slots, the newest last.
    grants: VecDeque<u64>,
    last: u64,
}

impl Ticking {
    fn incoming(&self) -> u64 {
        self.grants[0].min(self.part) + self.grants.iter().skip(1).sum::<u64>()
    }

    fn tick(&mut self, held: u64) -> Option<u64> {
        let room = self.level.saturating_sub(held + self.incoming());
        let quanta = (0..=self.full).find(|quanta| quanta * QUANTUM + room >= self.full).expect("it ends");
        let grant = self.full.saturating_sub(quanta * QUANTUM);
        let named = quanta + if grant == 0 { self.guard } else { 0 };
        let says = named > 0 || self.last * QUANTUM > self.full;
        self.last = if says { named } else { 0 };
        self.grants.pop_front();
        self.grants.push_back(grant);
        says.then_some(named)
    }
}

/// At an instant in nanoseconds so many bytes are held: by an arrival, or since some have left.
type Change = (u64, u64, bool);

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let gap = prop_oneof![Just(0u64), 1u64..4_000, Just(10_000), 1u64..200_000];
    let held = prop_oneof![2 => Just(0u64), 2 => 0u64..70_000, 1 => 0u64..400_000];
    prop::collection::vec((gap, held, any::<bool>()), 1..100).prop_map(|steps| {
        let mut at = 0;
        let step = |(gap, held, arrives)| {
            at += gap;
            (at, held, arrives)
        };
        steps.into_iter().map(step).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// 10G, RTT = 55 us, time slots of 10 us: N = 6, Rs T = 12,500 bytes.
    #[test]
    fn a_receiver_that_sleeps_sends_the_frames_of_one_that_ticks(changes in changes(), above in 0u64..40_000) {
        let (full, delta) = (12_500, 68_750);
        let level = delta + 2 * full + above;
        let link = link(Rate::gbps(10), delta, 1_000);
        let (_, mut receiver) = params(&format!(r#"{{ "level": "{level}B" }}"#)).build(&link).unwrap();
        let mut ticking = Ticking {
            full, part: delta - 5 * full, level, guard: 17, grants: vec![full; 7].into(), last: 0,
        };
        let (mut rng, mut out) = (stream(1, 1, "sleep"), Outbox::default());
        let (mut held, mut calls) = (0, 0);
        let mut changes = changes.into_iter().peekable();
        for time_slot in 1u64..3_000 {
            let end = time_slot * 10_000;
            let view = |held| IngressView { queued: Bytes(held), wire: Bytes(held), ..IngressView::default() };
            // Releases and arrivals come before timers.
            let mut turns = Turns::at_most(100_000);
            while turns.go() && let Some((at, now_held, arrives)) = changes.next_if(|change| change.0 <= end) {
                // A queue grows by arrivals only.
                let arrives = arrives || now_held > held;
                held = now_held;
                let mut cx = Cx { now: Time::ZERO + Span::ns(at), rng: &mut rng, out: &mut out };
                if arrives {
                    receiver.on_enqueue(&mut cx, &view(held));
                }
                prop_assert!(receiver.next_timeout().is_none_or(|timeout| timeout == Time::ZERO + Span::ns(end)));
            }
            let now = Time::ZERO + Span::ns(end);
            if receiver.next_timeout() == Some(now) {
                receiver.on_timeout(&mut Cx { now, rng: &mut rng, out: &mut out }, &view(held));
                calls += 1;
            }
            let said = out.0.drain(..).map(|frame| match frame {
                FcFrame::Pause { quanta: Quanta(quanta), .. } => u64::from(quanta),
                other => panic!("{other:?}"),
            });
            prop_assert_eq!(said.collect::<Vec<_>>(), Vec::from_iter(ticking.tick(held)), "slot {}", time_slot);
            prop_assert_eq!(receiver.incoming().0, ticking.incoming());
        }
        // The queue rests for long after the last change; if there is nothing in it, the receiver sleeps.
        prop_assert!(held > above || calls < 2_600, "{calls} calls");
    }
}
