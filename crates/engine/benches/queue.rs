//! Benchmark of the event queue: the cost of a pop and a push with few and many pending events, in comparison
//! with the standard library's heap.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use floodway_engine::{Event, Item, Queue};
use floodway_units::{Time, mix};

/// Number of pops and pushes of an iteration.
const TURNS: u64 = 10_000;

/// Draws the next event after one.
type Next = fn(Event) -> Event;

/// Delays of a simulation: mostly a packet's time and a microsecond of wire, sometimes a long link.
fn spread(event: Event) -> Event {
    let random = mix(event.order ^ event.time.0);
    let delay = match random % 64 {
        0 => 400_000_000,
        1..=31 => 84_000 + random % 1_000,
        _ => 1_084_000 + random % 1_000,
    };
    Event { time: Time(event.time.0 + delay), order: event.order, item: Item::NONE }
}

/// The delays of a permutation on a fat tree of 100G links, as recorded: few different values, so that two of
/// three events share their instant with others. Departures are ordered by port, arrivals by a hash.
fn fabric(event: Event) -> Event {
    let random = mix(event.order ^ event.time.0);
    let port = event.order & 0xffff_ffff;
    let (departs, share) = (random % 100 < 39, (random >> 32) % 100);
    let delay = match (departs, share) {
        (true, 0..52) | (false, 0..45) => 86_560,
        (true, 52..84) | (false, 45..74) => 6_880,
        (true, 84..90) => 1_280,
        (true, _) => 80 * (share + 900),
        (false, 74..82) => 93_440,
        (false, 82..92) => 173_120,
        (false, 92..97) => 315_120,
        (false, _) => 1_087_840,
    };
    let kind = if departs { 2 << 60 } else { 3 << 60 | random << 32 >> 4 };
    Event { time: Time(event.time.0 + delay), order: kind | port, item: Item::NONE }
}

/// The queues that are compared.
trait Pending: Default {
    fn push(&mut self, event: Event);
    fn pop(&mut self) -> Option<Event>;
}

impl Pending for Queue {
    fn push(&mut self, event: Event) {
        Queue::push(self, event.time, event.order, event.item);
    }

    fn pop(&mut self) -> Option<Event> {
        self.pop_before(Time::NEVER)
    }
}

impl Pending for BinaryHeap<Reverse<Event>> {
    fn push(&mut self, event: Event) {
        BinaryHeap::push(self, Reverse(event));
    }

    fn pop(&mut self) -> Option<Event> {
        BinaryHeap::pop(self).map(|Reverse(event)| event)
    }
}

fn turns(pending: &mut impl Pending, next: Next, turns: u64) {
    for _ in 0..turns {
        let event = pending.pop().expect("events are put back");
        pending.push(next(black_box(event)));
    }
}

/// A queue with this number of events, after each of them was popped once.
fn filled<P: Pending>(events: u64, next: Next) -> P {
    let mut pending = P::default();
    for port in 0..events {
        pending.push(next(Event { time: Time(0), order: port, item: Item::NONE }));
    }
    turns(&mut pending, next, events);
    pending
}

fn measure<P: Pending>(c: &mut Criterion, what: &str, next: Next, counts: &[u64]) {
    let mut group = c.benchmark_group(what);
    group.throughput(Throughput::Elements(TURNS));
    for &events in counts {
        group.bench_function(BenchmarkId::from_parameter(events), |b| {
            let setup = || filled::<P>(events, next);
            b.iter_batched_ref(setup, |pending| turns(pending, next, TURNS), BatchSize::LargeInput);
        });
    }
}

fn queues(c: &mut Criterion) {
    let counts = [1_000, 10_000, 100_000];
    measure::<Queue>(c, "wheel, spread delays", spread, &counts);
    measure::<BinaryHeap<_>>(c, "binary heap, spread delays", spread, &counts);
    // Of 16, 128 and 1,024 hosts.
    let counts = [150, 1_250, 6_000];
    measure::<Queue>(c, "wheel, delays of a fabric", fabric, &counts);
    measure::<BinaryHeap<_>>(c, "binary heap, delays of a fabric", fabric, &counts);
}

criterion_group!(benches, queues);
criterion_main!(benches);
