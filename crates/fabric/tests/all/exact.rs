//! Completion times to the picosecond.

use crate::support::{Net, PFC, fct_ps, real};
use floodway_units::{Bytes, NodeId, Rate, Span};
use floodway_wire::Format;

/// A chain of links with these rates in Gbit/s, 1 us each; its first and last host.
fn chain(rates: &[u64]) -> (Net, NodeId, NodeId) {
    let mut net = Net::new(Format::Ethernet);
    let first = net.host("first");
    let mut at = first;
    for (i, &rate) in rates.iter().enumerate() {
        let next = if i + 1 == rates.len() { net.host("last") } else { net.switch(&format!("s{i}")) };
        net.link(at, next, Rate::gbps(rate), Span::us(1), PFC);
        at = next;
    }
    (net, first, at)
}

#[test]
fn one_packet_takes_serialisation_and_propagation_of_each_hop() {
    for rates in [&[100][..], &[100, 400], &[100, 400, 25, 40, 100]] {
        let (mut net, a, b) = chain(rates);
        net.flow(a, b, Bytes(500), Span::ZERO);
        // 500 B with 78 B of headers and 20 B of preamble and gap.
        let expected: u64 = rates.iter().map(|rate| 598 * 8_000 / rate + 1_000_000).sum();
        assert_eq!(fct_ps(&net.run()), [Some(expected)]);
    }
}

#[test]
fn a_flow_with_a_short_last_packet_is_paced_by_its_slowest_hop() {
    // Two full packets of 1098 and 1082 wire bytes, and one of 500 + 82.
    let (mut net, a, b) = chain(&[100, 400]);
    net.flow(a, b, Bytes(2500), Span::ns(3));
    // All leave the 100G link back to back; the last then takes its own time at 400G.
    assert_eq!(fct_ps(&net.run()), [Some((1098 + 1082 + 582) * 80 + 582 * 20 + 2_000_000)]);

    let (mut net, a, b) = chain(&[400, 100]);
    net.flow(a, b, Bytes(2500), Span::ZERO);
    // The first reaches the 100G link after its own time at 400G; from then on that link is never idle.
    assert_eq!(fct_ps(&net.run()), [Some(1098 * 20 + (1098 + 1082 + 582) * 80 + 2_000_000)]);
}

#[test]
fn the_ideal_is_what_an_unhindered_flow_takes() {
    for rates in [&[100][..], &[400, 100], &[100, 400], &[100, 25, 400, 25, 40]] {
        for size in [1, 999, 1000, 1001, 2000, 2001, 7_777, 100_000] {
            let (mut net, a, b) = chain(rates);
            net.flow(a, b, Bytes(size), Span::ZERO);
            let records = net.run();
            assert_eq!(real(records.flows.column("slowdown")), [1.0], "{size} B over {rates:?}");
        }
    }
}

#[test]
fn two_flows_of_a_nic_take_turns_packet_by_packet() {
    let (mut net, a, b) = chain(&[100]);
    net.flow(a, b, Bytes(2000), Span::ZERO);
    net.flow(a, b, Bytes(3000), Span::ZERO);
    // First, second, first (its last), second, second.
    let first = (1098 + 1098 + 1082) * 80 + 1_000_000;
    let second = (1098 + 1098 + 3 * 1082) * 80 + 1_000_000;
    assert_eq!(fct_ps(&net.run()), [Some(first), Some(second)]);
}

#[test]
fn two_flows_from_different_hosts_share_a_link_without_a_gap() {
    // `a` and `b` meet at `s`; the first packet of `b` arrives 10 ns after that of `a`.
    let mut net = Net::new(Format::Ethernet);
    let (a, b) = (net.host("a"), net.host("b"));
    let (s, c) = (net.switch("s"), net.host("c"));
    for host in [a, b, c] {
        net.link(host, s, Rate::gbps(100), Span::us(1), PFC);
    }
    net.flow(a, c, Bytes(2000), Span::ZERO);
    net.flow(b, c, Bytes(1500), Span::ns(10));
    let (first, full, half) = (1098 * 80, 1082 * 80, 582 * 80);
    // In the order of their arrival at `s`: a's first, b's first; b's 582 bytes are then whole before a's
    // 1082 are, and all four leave back to back.
    let common = 1_000_000 + first + 1_000_000;
    let of_b = common + 2 * first + half - 10_000;
    let of_a = common + 2 * first + half + full;
    assert_eq!(fct_ps(&net.run()), [Some(of_a), Some(of_b)]);
}

#[test]
fn a_packet_waits_for_the_one_on_the_wire_of_the_next_link_only() {
    let mut net = Net::new(Format::HpccNs3);
    let (a, b) = (net.host("a"), net.host("b"));
    let (s, c) = (net.switch("s"), net.host("c"));
    for host in [a, b, c] {
        net.link(host, s, Rate::gbps(100), Span::us(1), PFC);
    }
    net.flow(a, c, Bytes(1000), Span::ZERO);
    // Its 148 bytes are whole at `s` 1 ps after the 1048 of the other are.
    let late = (1048 - 148) * 80 + 1;
    net.flow(b, c, Bytes(100), Span(late));
    let alone = 2 * (1048 * 80 + 1_000_000);
    assert_eq!(fct_ps(&net.run()), [Some(alone), Some(alone - late + 148 * 80)]);
}

#[test]
fn the_ns3_format_charges_48_bytes_and_no_gap() {
    let mut net = Net::new(Format::HpccNs3);
    let (a, s, b) = (net.host("a"), net.switch("s"), net.host("b"));
    net.link(a, s, Rate::gbps(100), Span::us(1), PFC);
    net.link(s, b, Rate::gbps(400), Span::us(2), PFC);
    net.flow(a, b, Bytes(2500), Span::ZERO);
    assert_eq!(fct_ps(&net.run()), [Some((1048 + 1048 + 548) * 80 + 548 * 20 + 3_000_000)]);
}

#[test]
fn a_rate_without_whole_picoseconds_a_byte_rounds_each_frame_up() {
    // 598 bytes take 159466.7 ps at 30G; three frames of 1098, 1082 and 582 take 292800, 288533.3 and 155200.
    let mut net = Net::new(Format::Ethernet);
    let (a, b) = (net.host("a"), net.host("b"));
    net.link(a, b, Rate::gbps(30), Span::us(1), PFC);
    net.flow(a, b, Bytes(500), Span::ZERO);
    net.flow(a, b, Bytes(2500), Span::us(2));
    let records = net.run();
    assert_eq!(fct_ps(&records), [Some(159_467 + 1_000_000), Some(292_800 + 288_534 + 155_200 + 1_000_000)]);
    assert_eq!(real(records.flows.column("slowdown")), [1.0, 1.0]);
}

#[test]
fn a_pipeline_delays_each_packet_once_a_switch_and_slows_none() {
    let (mut net, a, b) = chain(&[100, 100, 100]);
    net.pipeline(NodeId(1), Span::ns(600));
    net.pipeline(NodeId(2), Span::ns(50));
    net.flow(a, b, Bytes(2500), Span::ZERO);
    let records = net.run();
    // The first packet is the longest: behind it no other ever waits, and only its own time adds up.
    let fct = 2 * 1098 * 80 + (1098 + 1082 + 582) * 80 + 3_000_000 + 650_000;
    assert_eq!(fct_ps(&records), [Some(fct)]);
    assert_eq!(real(records.flows.column("slowdown")), [1.0]);
}

#[test]
fn the_ideal_is_over_the_fastest_of_equal_cost_paths_whichever_host_of_a_switch_it_leads_to() {
    // Two spines, one near and one far; hosts with links of different rates at the last switch, and one with
    // links to both leaves.
    let mut net = Net::new(Format::Ethernet);
    let (a, b, c, d) = (net.host("a"), net.host("b"), net.host("c"), net.host("d"));
    let leaves = [net.switch("t1"), net.switch("t2")];
    let spines = [(net.switch("c1"), Span::us(5)), (net.switch("c2"), Span::us(2))];
    for (spine, delay) in spines {
        for leaf in leaves {
            net.link(leaf, spine, Rate::gbps(100), delay, PFC);
        }
    }
    for (host, leaf, gbps) in [(a, 0, 100), (b, 1, 100), (c, 1, 25), (d, 0, 50), (d, 1, 50)] {
        net.link(host, leaves[leaf], Rate::gbps(gbps), Span::us(1), PFC);
    }
    // Each alone in the network.
    for (i, to) in (0u64..).zip([b, c, b, d]) {
        net.flow(a, to, Bytes(500), Span::ms(i));
    }
    let ideals = real(net.run().flows.column("ideal_fct_us"));
    let (near, at) = (3 * 598 * 80 + 6_000_000, |gbps: u64| 598 * 8_000 / gbps);
    let expected = [near + at(100), near + at(25), near + at(100), 598 * 80 + at(50) + 2_000_000];
    assert_eq!(ideals, expected.map(|ps: u64| ps as f64 / 1e6));
}
