//! Pop one event, push the next: what an event costs with few and many pending.
#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use floodway_engine::{Event, Queue};
use floodway_units::{Time, mix};

/// A simulation's delays: mostly a packet's time, a microsecond of wire, now and then a long link.
fn delay(random: u64) -> u64 {
    match random % 64 {
        0 => 400_000_000,
        1..=31 => 84_000 + random % 1_000,
        _ => 1_084_000 + random % 1_000,
    }
}

fn pop_and_push(c: &mut Criterion) {
    for pending in [1_000u64, 10_000, 100_000] {
        c.bench_function(&format!("{pending} pending"), |b| {
            b.iter_batched_ref(
                || {
                    let mut queue = Queue::default();
                    (0..pending).for_each(|i| queue.push(Event { time: Time(delay(mix(i))), order: i }));
                    queue
                },
                |queue| {
                    for _ in 0..10_000 {
                        let event = queue.pop_before(Time::NEVER).expect("events are put back");
                        let time = Time(event.time.0 + delay(mix(event.order ^ event.time.0)));
                        queue.push(Event { time, order: event.order });
                    }
                },
                BatchSize::LargeInput,
            );
        });
    }
}

criterion_group!(benches, pop_and_push);
criterion_main!(benches);
