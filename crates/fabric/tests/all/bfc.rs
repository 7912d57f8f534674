//! BFC in networks: only the flows that should be are held back, all complete in order, and bytes do not
//! depend on threads.

use crate::support;
use crate::support::plans::{Plan, plans};
use crate::support::{Net, assert_invariants, at_all_ports, drops, everything, fct_ps, finished, sum, whole};
use floodway_fabric::{Control, Fabric, Records, ThreadPlan, Threads};
use floodway_units::{Bytes, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

const G100: Rate = Rate::gbps(100);
const BFC: &str = r#""bfc""#;

fn run(net: &Net) -> Records {
    let control = Control::default();
    let records = Fabric::build(&net.blueprint, &control).unwrap_or_else(|error| panic!("{error}")).run();
    assert_invariants(&records);
    records
}

fn fct_us(records: &Records) -> Vec<f64> {
    fct_ps(records).into_iter().map(|fct| fct.expect("it is complete") as f64 / 1e6).collect()
}

/// Hosts send to one behind a second switch, and the last of them to another there:
///
/// ```text
///  h0 .. h8 ─── s1 ─── s2 ─── a (incast), b (victim)
/// ```
fn incast(point: Option<&str>) -> Net {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(20)).reliability(r#""go-back-n""#);
    let buffer = r#"{"shared": {"pool": "3MB"}}"#;
    let (s1, s2) = (net.switch_with("s1", buffer), net.switch_with("s2", buffer));
    let pfc = r#"{"pfc": {"xoff": "100KB"}}"#;
    let (a, b) = (net.host("a"), net.host("b"));
    for (x, y) in [(s1, s2), (s2, a), (s2, b)] {
        net.link(x, y, G100, Span::us(2), pfc);
    }
    for number in 0..9 {
        let host = net.host(&format!("h{number}"));
        net.link(host, s1, G100, Span::us(2), pfc);
        if number == 8 {
            net.flow(host, b, Bytes::kb(500), Span::us(60));
        } else {
            net.flow(host, a, Bytes::mb(1), Span::ZERO);
        }
    }
    if let Some(point) = point {
        at_all_ports(&mut net.blueprint, point);
    }
    net
}

#[test]
fn a_victim_has_its_share_though_an_incast_is_held_back() {
    // The victim's 500 KB take 43 us alone. The port between the switches serves its queue as often as that
    // of the incast, which the last link holds back to its own rate; under PFC alone it waits in one queue
    // with the incast until that is over.
    let with = run(&incast(Some(BFC)));
    let without = run(&incast(None));
    let victim = |records: &Records| fct_us(records)[8];
    let last = |records: &Records| fct_us(records).iter().copied().fold(0.0, f64::max);
    assert!(finished(&with).iter().all(|&finished| finished));
    assert_eq!((drops(&with), drops(&without)), (0, 0));
    assert!(sum(&without, "pfc_tx") > 0 && sum(&with, "pfc_tx") == 0, "BFC leaves PFC nothing to do");
    assert!(victim(&with) < 2.0 * 49.0, "{}", victim(&with));
    assert!(victim(&without) > 4.0 * victim(&with), "{} {}", victim(&without), victim(&with));
    // Neither loses much of the last link's time: 8 MB take 692 us.
    assert!(last(&with) < 1.25 * 692.0 && last(&without) < 1.25 * 692.0);
}

/// Two hosts send 5 MB each through one port.
fn two_into_one() -> Net {
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(20)).reliability(r#""go-back-n""#);
    let (s, to) = (net.switch_with("s", r#"{"shared": {"pool": "3MB"}}"#), net.host("to"));
    let pfc = r#"{"pfc": {"xoff": "1MB"}}"#;
    net.link(s, to, G100, Span::us(2), pfc);
    for number in 0..2 {
        let host = net.host(&format!("h{number}"));
        net.link(host, s, G100, Span::us(2), pfc);
        net.flow(host, to, Bytes::mb(5), Span::ZERO);
    }
    at_all_ports(&mut net.blueprint, BFC);
    net
}

#[test]
fn queues_stay_within_what_a_hop_needs_and_the_port_idles_a_fifth_of_the_time_at_most() {
    let records = run(&two_into_one());
    // Each flow comes in at twice the rate at which it leaves. Until the pause acts, for HRTT + τ, its queue
    // grows to twice Th = (HRTT + τ) · μ / 2, and that is what leaves in HRTT + τ: 6.16 us, which are 77 KB.
    // A packet is on its way in, one on its way out, and one went ahead.
    let peaks = whole(records.counters.column("peak_bytes"));
    let peak = *peaks.iter().max().expect("there are ports");
    let threshold = 38_500;
    assert!(peak > threshold && peak < 2 * threshold + 4 * 1_100, "{peak}");
    // It grows to Th in HRTT + τ, to 2 Th in as much again, falls in twice that, and comes back HRTT + τ
    // later: 1 of 5 parts idle.
    let took = fct_us(&records).into_iter().fold(0.0, f64::max) - 4.0;
    let busy = 10_000.0 * 1_082.0 * 8.0 / 1e5;
    assert!(busy / took > 0.8, "{busy} {took}");
}

proptest! {
    #![proptest_config(support::long_property(60))]

    /// A tree has no cycles that could lock up, whatever its buffers.
    #[test]
    fn in_any_tree_all_flows_end_in_order(plan in plans(), point in 0..POINTS.len(), pooled in any::<bool>()) {
        let one_way = Plan { more: Vec::new(), routing: 0, relay: false, point: 0, ..plan };
        // PFC below it, and nothing is lost.
        let plan = Plan { crossbar: false, tight: false, chance: one_way.chance & 1, flow_control: 0, pooled, ..one_way };
        let mut net = plan.net().limit(Span::ms(20));
        at_all_ports(&mut net.blueprint, POINTS[point]);
        let records = run(&net);
        prop_assert!(finished(&records).iter().all(|&finished| finished), "nothing is stuck");
        let late: u64 = whole(records.flows.column("out_of_order_packets")).iter().sum();
        prop_assert_eq!(late, 0);
    }

    /// Losses, links that fail, paths that change, relays: nothing panics, and all threads keep the same.
    #[test]
    fn any_network_keeps_the_same_bytes_on_any_threads(plan in plans(), point in 0..POINTS.len()) {
        let plan = Plan { crossbar: false, point: 0, ..plan };
        let mut net = plan.net();
        at_all_ports(&mut net.blueprint, POINTS[point]);
        let control = Control::default();
        let build = || Fabric::build(&net.blueprint, &control).unwrap_or_else(|error| panic!("{error}"));
        let one = everything(&build().run());
        let many = everything(&build().on(&plan.thread_plan(&net.blueprint)).run());
        prop_assert!(one == many);
        let one_order = everything(&build().in_one_order().run());
        prop_assert!(one == one_order, "in one order");
    }
}

/// The paper's, and some that pause often, share queues and bits, and resume slowly.
const POINTS: [&str; 4] = [
    BFC,
    r#"{"bfc": {"hop-rtt": "500ns", "queues": 2, "flows": 8, "filter": "2B", "hashes": 2, "resumes": 1}}"#,
    r#"{"bfc": {"hop-rtt": "1us", "interval": "3us", "queues": 1}}"#,
    r#"{"bfc": {"hop-rtt": "300ns", "first-packets": false}}"#,
];

#[test]
fn one_two_and_four_threads_keep_the_same() {
    let net = incast(Some(BFC));
    let control = Control::default();
    let on = |threads: usize| {
        let plan = ThreadPlan::of_run(&net.blueprint, Threads::Forced(threads), threads);
        everything(&Fabric::build(&net.blueprint, &control).expect("it is sound").on(&plan).run())
    };
    let one = on(1);
    assert!(one == on(2) && one == on(4));
}

#[test]
fn a_run_whose_links_lose_frames_of_filters_goes_on() {
    let mut net = incast(Some(BFC));
    for direction in net.blueprint.links.iter_mut().flat_map(|link| &mut link.directions) {
        direction.errors.link_control = 0.3;
    }
    let records = run(&net);
    assert!(finished(&records).iter().all(|&finished| finished));
}

#[test]
fn a_run_whose_link_fails_while_flows_are_paused_goes_on() {
    let mut net = incast(Some(BFC));
    net.blueprint.links[0].down = vec![(Time::ZERO + Span::us(100), Time::ZERO + Span::us(160))];
    let records = run(&net);
    assert!(finished(&records).iter().all(|&finished| finished));
}
