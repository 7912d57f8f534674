//! The machine as it would be if its clock always ticked: a model, computed from a list of all packets that
//! passed.

use floodway_units::Turns;
use proptest::prelude::*;

use super::tests::{Driven, SentCnp, of};
use super::*;

/// A packet that joins or leaves its queue: its time, direction, flow, and the queue's length then.
#[derive(Clone, Copy, Debug)]
struct Passing {
    at: Time,
    joins: bool,
    class: Class,
    flow: u32,
    len: u64,
}

const QREF: f64 = 100_000.0;

/// The CNPs of one class whose clock ticks each 80 us from `origin` on, up to `end`, with these gains.
fn cnps_of_class((a, b): (f64, f64), passings: &[Passing], origin: Time, end: Time) -> Vec<SentCnp> {
    let (mut cnps, mut p, mut before) = (Vec::new(), 0.0, 0);
    let mut from = Time::ZERO;
    let mut to = origin + Span::us(80);
    let mut turns = Turns::at_most(1_000_000);
    while turns.go() && to <= end {
        let length = passings.iter().rfind(|passing| passing.at < to).map_or(0, |passing| passing.len);
        let (q, old) = (length as f64, before as f64);
        p = (p + a * ((q - QREF) / QREF) + b * ((q - old) / QREF)).clamp(0.0, 1.0);
        let counted = |passing: &&Passing| {
            passing.joins && passing.len > 100_000 && passing.at >= from && passing.at < to
        };
        let packets: Vec<u32> = passings.iter().filter(counted).map(|passing| passing.flow).collect();
        cnps.extend(cnps_of_period(&packets, p).into_iter().map(|(flow, degree)| (to, flow, degree)));
        (before, from, to) = (length, to, to + Span::us(80));
    }
    cnps
}

/// The CNPs of one period, in which these flows' packets of 1000 B were congested.
fn cnps_of_period(packets: &[u32], p: f64) -> Vec<(u32, f32)> {
    let mut flows = packets.to_vec();
    flows.sort_unstable();
    flows.dedup();
    let amount = (p * packets.len() as f64 / 16.0).round().min(64.0) as usize;
    let of = |flow: &u32| packets.iter().filter(|other| *other == flow).count();
    let large = flows.iter().filter(|flow| 2 * flows.len() * of(flow) >= packets.len());
    let cnps = large.map(|flow| (*flow, (amount * of(flow)).div_ceil(packets.len()).min(20) as f32));
    cnps.filter(|&(_, degree)| degree > 0.0).collect()
}

/// Waits in picoseconds: many at whole periods, where packets and ticks fall together, and long ones, so that
/// it sleeps.
fn passings() -> impl Strategy<Value = Vec<Passing>> {
    let wait = prop_oneof![
        8 => 0u64..3_000_000,
        2 => (0u64..30).prop_map(|us| us * 8_000_000),
        1 => 0u64..2_000_000_000,
    ];
    let len = prop_oneof![3 => Just(0), 2 => 1u64..100_001, 5 => 100_000u64..300_000];
    let one = (wait, any::<bool>(), 3u8..5, 0u32..6, len);
    proptest::collection::vec(one, 1..300).prop_map(|ones| {
        let mut at = Time::ZERO;
        let passing = |(wait, joins, class, flow, len)| {
            at += Span(wait);
            Passing { at, joins, class: Class(class), flow, len }
        };
        ones.into_iter().map(passing).collect()
    })
}

proptest! {
    #[test]
    fn a_sleeping_clock_sends_the_cnps_of_one_that_ticks(
        passings in passings(),
        (a, b) in prop_oneof![Just((0.3, 1.5)), Just((0.05, 0.0)), Just((0.125, 0.25))],
    ) {
        let mut driven = Driven::new(&format!(r#"{{"a": {a}, "b": {b}}}"#));
        for Passing { at, joins, class, flow, len } in passings.iter().copied() {
            driven.passes(at, joins, &PacketView { class, ..of(flow) }, len);
        }
        let end = passings[passings.len() - 1].at + Span::ms(2);
        driven.pass(end);
        let mut cnps = Vec::new();
        if let Some(first) = passings.iter().find(|passing| passing.len > 0) {
            for class in [3, 4] {
                let own: Vec<_> = passings.iter().filter(|one| one.class == Class(class)).copied().collect();
                cnps.extend(cnps_of_class((a, b), &own, first.at, end));
            }
        }
        let order = |a: &SentCnp, b: &SentCnp| (a.0, a.1, a.2).partial_cmp(&(b.0, b.1, b.2)).expect("they are numbers");
        driven.cnps.sort_by(order);
        cnps.sort_by(order);
        prop_assert_eq!(driven.cnps, cnps);
    }
}
