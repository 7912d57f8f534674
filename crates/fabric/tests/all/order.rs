//! Packets that arrive out of order: counted to the packet, for the flow that they belong to.

use crate::support;
use crate::support::{Net, PFC, fct_ps, sum, whole};
use floodway_fabric::Records;
use floodway_fabric::blueprint::Sharing;
use floodway_units::{Bytes, NodeId, Rate, Span, Time};
use floodway_wire::Format;

const G100: Rate = Rate::gbps(100);
/// Picoseconds of a full packet on a link.
const PACKET: u64 = 1048 * 80;
/// Of a link, unless it is long.
const LINK: u64 = 1_000_000;

fn packets(records: &Records) -> Vec<u64> {
    whole(records.flows.column("packets"))
}

fn out_of_order(records: &Records) -> Vec<u64> {
    whole(records.flows.column("out_of_order_packets"))
}

/// Two hosts, and between their switches a way over m1 and one over m2, which is longer by 51 us.
///
/// ```text
///          ┌─ m1 ─────────┐
///  a ── s ─┤              ├─ t ── b
///          └─ m2 ──...────┘
/// ```
fn two_paths() -> (Net, NodeId, NodeId) {
    let mut net = Net::new(Format::HpccNs3);
    let [s, t, m1, m2] = ["s", "t", "m1", "m2"].map(|name| net.switch(name));
    let (a, b) = (net.host("a"), net.host("b"));
    for (from, to) in [(a, s), (s, m1), (m1, t), (s, m2), (t, b)] {
        net.link(from, to, G100, Span::us(1), PFC);
    }
    net.link(m2, t, G100, Span::us(52), PFC);
    net.routing(s, r#""spray""#);
    (net, a, b)
}

/// Flows of two packets, of which none meets another: they come each 2 us, and the paths differ by an odd
/// number. Two packets by the same way arrive one behind the other. Where the first has taken the long way
/// and the second the short one, the flow ends with the first.
#[test]
fn a_packet_that_a_later_one_has_passed_is_out_of_order() {
    let (mut net, a, b) = two_paths();
    for i in 0..200 {
        net.flow(a, b, Bytes(2000), Span::us(2 * i));
    }
    let records = net.run();
    let (short, long) = (4 * LINK, 4 * LINK + 51_000_000);
    let overtaken = |fct: Option<u64>| match fct.expect("all arrive") {
        fct if fct == 4 * PACKET + long => 1,
        fct => {
            assert!(fct == 5 * PACKET + short || fct == 5 * PACKET + long, "{fct}");
            0
        }
    };
    let expected: Vec<u64> = fct_ps(&records).into_iter().map(overtaken).collect();
    assert_eq!(out_of_order(&records), expected);
    assert!((30..70).contains(&expected.iter().sum::<u64>()), "one of four: {expected:?}");
    assert_eq!(packets(&records), [2; 200]);
}

/// Hosts at two switches that are a short link apart, which comes up at `up`, and else a long way over m.
fn shortcut(up: Span) -> (Net, NodeId, NodeId) {
    let mut net = Net::new(Format::HpccNs3);
    let [s, t, middle] = ["s", "t", "m"].map(|name| net.switch(name));
    let (a, b) = (net.host("a"), net.host("b"));
    for (from, to) in [(a, s), (s, middle), (t, b)] {
        net.link(from, to, G100, Span::us(1), PFC);
    }
    net.link(middle, t, G100, Span::us(50), PFC);
    let short = net.link(s, t, G100, Span::us(1), PFC);
    net.blueprint.links[short].down = vec![(Time::ZERO, Time::ZERO + up)];
    (net, a, b)
}

/// Packets that have reached s, a link away, by `up`.
fn before(up: Span) -> u64 {
    (up.0 - LINK) / PACKET
}

#[test]
fn packets_on_the_long_path_are_overtaken_by_those_on_the_short_one() {
    let up = Span::us(6);
    assert_eq!(before(up), 59);
    let (mut net, a, b) = shortcut(up);
    net.flow(a, b, Bytes::kb(500), Span::ZERO);
    let records = net.run();
    assert_eq!((packets(&records), out_of_order(&records)), (vec![500], vec![59]));
}

#[test]
fn each_message_of_a_queue_pair_has_its_own_packets() {
    let up = Span::us(6);
    let (mut net, a, b) = shortcut(up);
    net.blueprint.settings[0].qp = Sharing::PerPair;
    for kb in [20, 50, 30] {
        net.flow(a, b, Bytes::kb(kb), Span::ZERO);
    }
    let records = net.run();
    assert_eq!(packets(&records), [20, 50, 30]);
    assert_eq!(out_of_order(&records), [20, before(up) - 20, 0]);
}

/// Of 59 packets by the long way and more by the short one, go-back-N refuses those that come first, and asks
/// once for the first packet. Everything is retransmitted: its numbers are lower, but it is sent later than
/// all that came.
fn go_back(size: Bytes) -> Records {
    let (mut net, a, b) = shortcut(Span::us(6));
    net = net.reliability(r#"{"go-back-n": {"nack-interval": "1ms"}}"#);
    net.flow(a, b, size, Span::ZERO);
    net.run()
}

#[test]
fn what_is_sent_again_is_in_order_and_what_comes_behind_it_is_not() {
    // The long way takes 50 us: its packets come while the flow is retransmitted.
    let records = go_back(Bytes::mb(2));
    let again = whole(records.flows.column("retransmitted_bytes"))[0] / 1000;
    assert!(again > 59, "{again}");
    assert_eq!((packets(&records), out_of_order(&records)), (vec![2000 + again], vec![59]));
}

#[test]
fn what_comes_when_a_flow_is_complete_does_not_count() {
    // 41 by the short way, and all 100 again: the flow is complete before the first 59 come.
    let records = go_back(Bytes::kb(100));
    assert_eq!(whole(records.flows.column("retransmitted_bytes")), [100_000]);
    assert_eq!((packets(&records), out_of_order(&records)), (vec![141], vec![0]));
}

#[test]
fn losses_alone_put_nothing_out_of_order() {
    let mut net = Net::new(Format::HpccNs3).reliability(r#""go-back-n""#);
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    for (from, to) in [(a, s), (s, b)] {
        let link = net.link(from, to, G100, Span::us(1), PFC);
        net.blueprint.links[link].directions[0].errors.data = 0.01;
    }
    net.flow(a, b, Bytes::mb(1), Span::ZERO);
    let records = net.run();
    let again = whole(records.flows.column("retransmitted_bytes"))[0] / 1000;
    let lost = support::drops(&records);
    assert!(lost > 5 && again > lost, "{lost} {again}");
    assert_eq!((packets(&records), out_of_order(&records)), (vec![1000 + again - lost], vec![0]));
}

#[test]
fn an_incast_under_pfc_keeps_the_order_on_one_path_for_each_flow() {
    let mut net = Net::new(Format::HpccNs3).reliability(r#""go-back-n""#);
    let (s, t, b) = (net.switch("s"), net.switch("t"), net.host("b"));
    let pfc = r#"{"pfc": {"xoff": "30KB"}}"#;
    for name in ["m1", "m2"] {
        let middle = net.switch(name);
        net.link(s, middle, G100, Span::us(1), pfc);
        net.link(middle, t, G100, Span::us(20), pfc);
    }
    net.link(t, b, G100, Span::us(1), pfc);
    for i in 0..8 {
        let host = net.host(&format!("h{i}"));
        net.link(host, s, G100, Span::us(1), pfc);
        net.flow(host, b, Bytes::kb(500), Span::ZERO);
    }
    let records = net.run();
    assert!(sum(&records, "pfc_rx") > 100);
    assert_eq!((packets(&records), out_of_order(&records)), (vec![500; 8], vec![0; 8]));
}
