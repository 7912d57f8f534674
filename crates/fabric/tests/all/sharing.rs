//! Fair sharing: a NIC's queue pairs, classes of a port, senders that meet, equal-cost paths.

use crate::support::{Net, PFC, counter, drops, drops_by, fct_ps, finished, names, params, real, whole};
use floodway_fabric::blueprint::{FlowSettings, UNBOUNDED};
use floodway_fabric::{Records, Values};
use floodway_units::{Bytes, NodeId, Rate, Span};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);
/// Wire bytes of a full packet of the ns-3 format.
const WIRE: u64 = 1048;
/// Its picoseconds at 100G.
const TURN: u64 = WIRE * 80;

/// Two hosts and a link of 100G, 1 us.
fn pair() -> (Net, NodeId, NodeId) {
    let mut net = Net::new(Format::HpccNs3);
    let (a, b) = (net.host("a"), net.host("b"));
    net.link(a, b, G100, Span::us(1), PFC);
    (net, a, b)
}

// ---- queue pairs of a NIC

#[test]
fn two_thousand_equal_flows_of_a_nic_finish_one_packet_apart() {
    let (mut net, a, b) = pair();
    for _ in 0..2_000 {
        net.flow(a, b, Bytes(10_000), Span::ZERO);
    }
    let fct = fct_ps(&net.run());
    let last_round = 9 * 2_000 * TURN + 1_000_000;
    for (i, fct) in fct.into_iter().enumerate() {
        assert_eq!(fct, Some(last_round + (i as u64 + 1) * TURN), "flow {i}");
    }
}

#[test]
fn flows_held_by_their_windows_take_turns_all_the_same() {
    let (net, a, b) = pair();
    let window = r#"{"static-window": {"size": "2KB"}}"#;
    let mut net = net.reliability(r#""go-back-n""#).rate_control(&[r#""line-rate""#, window]);
    for _ in 0..2_000 {
        net.flow(a, b, Bytes(10_000), Span::ZERO);
    }
    let mut fct: Vec<u64> = fct_ps(&net.run()).into_iter().map(Option::unwrap).collect();
    fct.sort_unstable();
    // With 2000 flows none ever waits for its window: the link is full, and all end in the last round.
    let first = 9 * 2_000 * TURN + 1_000_000 + TURN;
    let expected: Vec<u64> = (0..2_000).map(|i| first + i * TURN).collect();
    assert_eq!(fct, expected);
}

#[test]
fn a_lone_flow_sends_one_window_a_round_trip() {
    let (net, a, b) = pair();
    let window = r#"{"static-window": {"size": "2KB"}}"#;
    let mut net = net.reliability(r#""go-back-n""#).rate_control(&[window]);
    net.flow(a, b, Bytes(9_000), Span::ZERO);
    // The first packet of each window waits for the ACK of the one two before it.
    let round_trip = TURN + 60 * 80 + 2_000_000;
    assert_eq!(fct_ps(&net.run()), [Some(4 * round_trip + TURN + 1_000_000)]);
}

#[test]
fn a_paced_flow_gets_its_rate_to_within_a_packet() {
    for (mbps, flows) in [(40_u64, 2_000), (10, 1_000), (33_333, 2), (99_000, 1)] {
        let (net, a, b) = pair();
        let rate = format!(r#"{{"line-rate": {{"rate": "{mbps}M"}}}}"#);
        let mut net = net.rate_control(&[&rate]).limit(Span::ms(3));
        for _ in 0..flows {
            net.flow(a, b, UNBOUNDED, Span::ZERO);
        }
        let records = net.run();
        let allowed = mbps as f64 * 1e6 / 8.0 * (3e-3 - 1e-6) / WIRE as f64;
        for delivered in whole(records.flows.column("delivered_bytes")) {
            let packets = (delivered / 1_000) as f64;
            // One may be ahead of its time by a packet, or behind by a turn of all others and one on the way.
            assert!(packets <= allowed + 1.0, "{packets} packets at {mbps} Mbit/s, not {allowed}");
            assert!(packets >= allowed - 2.0, "{packets} packets at {mbps} Mbit/s, not {allowed}");
        }
    }
}

/// The pace counts from a packet's start: at a quarter of the rate a packet is due four turns after the one
/// before, finds one just begun, and leaves after five.
#[test]
fn a_paced_packet_waits_for_the_one_on_the_wire_and_its_pace_counts_from_there() {
    let (mut net, a, b) = pair();
    let slow = FlowSettings {
        rate_control: vec![params(r#"{"line-rate": {"rate": "25G"}}"#)],
        ..net.blueprint.settings[0].clone()
    };
    net.blueprint.settings.push(slow);
    net.flow(a, b, UNBOUNDED, Span::ZERO).settings = Some(1);
    net.flow(a, b, UNBOUNDED, Span::ZERO);
    let delivered = whole(net.limit(Span::ms(1)).run().flows.column("delivered_bytes"));
    let share = delivered[0] as f64 / (delivered[0] + delivered[1]) as f64;
    assert!((share - 0.2).abs() < 0.002, "{share}");
}

#[test]
fn one_ack_for_several_packets_and_for_the_last_of_a_message() {
    for (interval, acks) in [(1, 10), (4, 3), (5, 2), (16, 1)] {
        let (net, a, b) = pair();
        let mut net = net.reliability(&format!(r#"{{"go-back-n": {{"ack-interval": {interval}}}}}"#));
        net.flow(a, b, Bytes(9_001), Span::ZERO);
        let records = net.run();
        assert_eq!(counter(&records, "b", "a-b", "tx_packets"), acks, "every {interval}");
        assert!(finished(&records)[0] && real(records.flows.column("finish_sender_us"))[0] > 0.0);
    }
}

// ---- classes

/// Two endless flows of classes 3 and 4 from `from` to `to`, with this scheduler at all ports.
fn two_classes(net: &mut Net, ends: [(NodeId, NodeId); 2], scheduler: &str) -> Records {
    net.second_class();
    net.scheduler(scheduler);
    net.flow(ends[0].0, ends[0].1, UNBOUNDED, Span::ZERO);
    net.flow(ends[1].0, ends[1].1, UNBOUNDED, Span::ZERO).settings = Some(1);
    net.blueprint.end.limit = floodway_units::Time::ZERO + Span::ms(2);
    net.run()
}

/// The first flow's share of what both delivered.
fn share(records: &Records) -> f64 {
    let classes = whole(records.flows.column("class"));
    let delivered = whole(records.flows.column("delivered_bytes"));
    let of = |class| classes.iter().zip(&delivered).find(|(c, _)| **c == class).expect("a flow").1;
    *of(3) as f64 / (of(3) + of(4)) as f64
}

/// Two senders, a switch, one receiver.
fn meet(format: Format, flow_control: &str) -> (Net, [(NodeId, NodeId); 2]) {
    let mut net = Net::new(format);
    let (a, b) = (net.host("a"), net.host("b"));
    let (s, c) = (net.switch("s"), net.host("c"));
    net.link(a, s, G100, Span::us(1), flow_control);
    net.link(b, s, G100, Span::us(1), flow_control);
    net.link(s, c, G100, Span::us(1), flow_control);
    (net, [(a, c), (b, c)])
}

#[test]
fn deficit_round_robin_shares_a_port_by_weight() {
    for (weights, expected) in [("{}", 0.5), (r#"{"3": 3}"#, 0.75), (r#"{"3": 1, "4": 4}"#, 0.2)] {
        let scheduler = format!(r#"{{"deficit-round-robin": {{"weights": {weights}}}}}"#);
        let (mut net, ends) = meet(Format::Ethernet, PFC);
        let at_switch = share(&two_classes(&mut net, ends, &scheduler));
        assert!((at_switch - expected).abs() < 0.01, "{at_switch} at a switch with weights {weights}");
        let (mut net, a, b) = pair();
        let at_host = share(&two_classes(&mut net, [(a, b), (a, b)], &scheduler));
        assert!((at_host - expected).abs() < 0.01, "{at_host} at a host with weights {weights}");
    }
}

#[test]
fn round_robin_shares_a_port_by_packets_and_strict_priority_not_at_all() {
    for (scheduler, expected) in [(r#""round-robin""#, 0.5), (r#""strict""#, 0.0)] {
        let (mut net, ends) = meet(Format::Ethernet, PFC);
        let at_switch = share(&two_classes(&mut net, ends, scheduler));
        assert!((at_switch - expected).abs() < 0.01, "{at_switch} at a switch, {scheduler}");
        let (mut net, a, b) = pair();
        let at_host = share(&two_classes(&mut net, [(a, b), (a, b)], scheduler));
        assert!((at_host - expected).abs() < 0.01, "{at_host} at a host, {scheduler}");
    }
}

#[test]
fn a_pause_of_one_class_leaves_the_other_the_whole_link() {
    let (mut net, ends) = meet(Format::Ethernet, PFC);
    let c = NodeId(3);
    net.pauses(2, c, Span::ZERO, floodway_units::Time::NEVER);
    let records = two_classes(&mut net, ends, r#""strict""#);
    assert!(share(&records) < 0.001);
    let sent = counter(&records, "s", "s-c", "tx_bytes") as f64;
    // All of 2 ms, less the way there; 1062 bytes of each 1082 are frame.
    assert!(sent > 0.999 * 12.5e9 * (2e-3 - 2e-6) * 1062.0 / 1082.0, "{sent}");
}

// ---- senders that meet

#[test]
fn two_synchronised_equal_senders_share_the_losses_of_a_port() {
    for seed in 0..4 {
        let (mut net, ends) = meet(Format::Ethernet, r#""lossy""#);
        net.blueprint.seed = seed;
        net.buffer(NodeId(2), r#"{"shared": {"pool": "100KB"}}"#);
        for (from, to) in ends {
            net.flow(from, to, UNBOUNDED, Span::ZERO);
        }
        let records = net.limit(Span::ms(2)).run();
        let lost = |link| counter(&records, "s", link, "drops_egress") as f64;
        let (a, b) = (lost("a-s"), lost("b-s"));
        assert_eq!(a + b, drops(&records) as f64);
        assert!(a + b > 10_000.0, "half of what comes has no room");
        assert!((a / (a + b) - 0.5).abs() < 0.05, "{a} and {b} of seed {seed}");
    }
}

#[test]
fn two_equal_senders_share_a_port_that_pauses_them() {
    let (mut net, ends) = meet(Format::Ethernet, r#"{"pfc": {"xoff": "30KB"}}"#);
    for (from, to) in ends {
        net.flow(from, to, UNBOUNDED, Span::ZERO);
    }
    let delivered = whole(net.limit(Span::ms(2)).run().flows.column("delivered_bytes"));
    let share = delivered[0] as f64 / (delivered[0] + delivered[1]) as f64;
    assert!((share - 0.5).abs() < 0.05, "{share}");
}

// ---- equal-cost paths

/// 4 switches, then 4 more, all joined: packets from one switch to another by 16 paths.
fn two_tiers(routing: &str) -> (Net, NodeId, NodeId) {
    let mut net = Net::new(Format::HpccNs3).limit(Span::ms(200));
    let (a, first, last, b) = (net.host("a"), net.switch("first"), net.switch("last"), net.host("b"));
    let (up, down): (Vec<_>, Vec<_>) =
        (0..4).map(|i| (net.switch(&format!("u{i}")), net.switch(&format!("d{i}")))).unzip();
    net.link(a, first, Rate::gbps(400), Span::ns(10), PFC);
    net.link(last, b, Rate::gbps(400), Span::ns(10), PFC);
    for i in 0..4 {
        net.link(first, up[i], Rate::gbps(400), Span::ns(10), PFC);
        net.link(down[i], last, Rate::gbps(400), Span::ns(10), PFC);
        for &to in &down {
            net.link(up[i], to, Rate::gbps(400), Span::ns(10), PFC);
        }
    }
    for node in 0..net.blueprint.nodes.len() {
        if node != a.index() && node != b.index() {
            net.routing(NodeId(node as u32), routing);
        }
    }
    (net, a, b)
}

/// Packets by the 16 paths through both tiers.
fn joint(records: &Records) -> Vec<f64> {
    let paths = (0..4).flat_map(|up| (0..4).map(move |down| (up, down)));
    paths
        .map(|(up, down)| counter(records, &format!("u{up}"), &format!("u{up}-d{down}"), "tx_packets") as f64)
        .collect()
}

/// Pearson's statistic against 16 equal shares: 15 degrees of freedom, 99.9 % of a fair one lies below 37.7.
fn chi_square(counts: &[f64]) -> f64 {
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    counts.iter().map(|count| (count - mean) * (count - mean) / mean).sum()
}

const FLOWS: u64 = 100_000;

fn one_packet_flows(net: &mut Net, a: NodeId, b: NodeId) -> Records {
    for i in 0..FLOWS {
        let flow = net.flow(a, b, Bytes(1), Span::ns(i));
        flow.source_port = Some((i % 50_000) as u16);
        flow.destination_port = Some((i / 50_000) as u16);
    }
    let records = net.run();
    assert_eq!(drops_by(&records, "no_route"), 0);
    records
}

#[test]
fn two_tiers_choose_independently() {
    let (mut net, a, b) = two_tiers(r#""ecmp""#);
    let counts = joint(&one_packet_flows(&mut net, a, b));
    assert_eq!(counts.iter().sum::<f64>(), FLOWS as f64);
    assert!(chi_square(&counts) < 37.7, "{} of {counts:?}", chi_square(&counts));
}

#[test]
fn with_a_shared_hash_the_second_tier_repeats_the_choice_of_the_first() {
    let (mut net, a, b) = two_tiers(r#"{"ecmp": {"hash": "shared"}}"#);
    let counts = joint(&one_packet_flows(&mut net, a, b));
    assert_eq!(counts.iter().filter(|&&count| count > 0.0).count(), 4);
    assert!(counts.iter().all(|&count| count == 0.0 || (count / 25_000.0 - 1.0).abs() < 0.03), "{counts:?}");
}

#[test]
fn spray_uses_all_paths_for_the_packets_of_one_flow() {
    let (mut net, a, b) = two_tiers(r#""spray""#);
    net.flow(a, b, Bytes::mb(100), Span::ZERO);
    let records = net.run();
    assert_eq!(finished(&records), [true]);
    let counts = joint(&records);
    assert!(chi_square(&counts) < 37.7, "{} of {counts:?}", chi_square(&counts));
}

#[test]
fn a_pinned_flow_takes_its_path_and_its_acks_take_theirs() {
    let (net, a, b) = two_tiers(r#""ecmp""#);
    let mut net = net.reliability(r#""go-back-n""#);
    let node = |net: &Net, name: &str| {
        NodeId(net.blueprint.nodes.iter().position(|node| node.name == name).expect("a node") as u32)
    };
    let [first, last, u1, d2, u3, d0] =
        ["first", "last", "u1", "d2", "u3", "d0"].map(|name| node(&net, name));
    let (there, back) = (net.path(&[a, first, u1, d2, last, b]), net.path(&[b, last, d0, u3, first, a]));
    let flow = net.flow(a, b, Bytes(50_000), Span::ZERO);
    (flow.path, flow.ack_path) = (Some(there), Some(back));
    let records = net.run();
    let sent = |node, link| counter(&records, node, link, "tx_packets");
    assert_eq!((sent("u1", "u1-d2"), sent("d0", "u3-d0")), (50, 50));
    assert_eq!(joint(&records).iter().sum::<f64>(), 50.0);
    assert_eq!(real(records.flows.column("slowdown")), [1.0]);
}

#[test]
fn rows_name_the_flows_workload_ends_and_class() {
    let (mut net, a, b) = pair();
    net.flow(a, b, Bytes(10), Span::ZERO);
    net.flow(b, a, Bytes(20), Span::us(1));
    let second = net.workload("more");
    net.flow_of(second, a, b, Bytes(30), Span::us(2));
    let flows = net.run().flows;
    assert_eq!(names(flows.column("workload")), ["flows", "flows", "more"]);
    assert_eq!(names(flows.column("source")), ["a", "b", "a"]);
    assert_eq!(names(flows.column("destination")), ["b", "a", "b"]);
    assert_eq!(whole(flows.column("size_bytes")), [10, 20, 30]);
    assert_eq!(whole(flows.column("class")), [3, 3, 3]);
    assert_eq!(flows.column("finished"), Some(&Values::Bool(vec![1, 1, 1])));
}
