//! Flows that wait for others: when they start, and which may not wait.

use std::collections::{BTreeMap, BTreeSet};

use crate::support;
use crate::support::{Net, PFC, everything, names, real, whole};
use floodway_fabric::blueprint::{Arrivals, FlowSpec, Sharing, Ties, UNBOUNDED};
use floodway_fabric::outcome::Stopped;
use floodway_fabric::{Control, Fabric, Records};
use floodway_units::{Bytes, NodeId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

const BYTE: u64 = 80;
const LINK: u64 = 1_000_000;
const ACK: u64 = 86;
const G100: Rate = Rate::gbps(100);
const WAIT: Span = Span::ns(250);

/// Hosts at one switch; links of 1 us at 100G.
fn star(n: usize, reliability: &str) -> (Net, Vec<NodeId>) {
    let mut net = Net::new(Format::Ethernet).reliability(reliability);
    let s = net.switch("s");
    let hosts: Vec<NodeId> = (0..n).map(|i| net.host(&format!("h{i}"))).collect();
    for &host in &hosts {
        net.link(host, s, G100, Span::us(1), PFC);
    }
    (net, hosts)
}

fn starts(records: &Records) -> Vec<u64> {
    real(records.flows.column("start_us")).into_iter().map(|us| (us * 1e6).round() as u64).collect()
}

fn finishes(records: &Records) -> Vec<u64> {
    let us = real(records.flows.column("finish_receiver_us"));
    us.into_iter().map(|us| (us * 1e6).round() as u64).collect()
}

/// One packet of `size` over two links.
fn packet(size: u64) -> u64 {
    2 * ((size + 98) * BYTE + LINK)
}

#[test]
fn a_flow_starts_when_the_one_before_has_arrived_at_its_sender_and_it_has_computed() {
    let (mut net, h) = star(3, r#""go-back-n""#);
    net.flow(h[0], h[1], Bytes(500), Span::ns(7));
    let next = net.flow(h[1], h[2], Bytes(700), Span::ZERO);
    (next.after, next.wait) = (vec![1], Span::us(5));
    // In the order of their starts the first comes second.
    let support::Net { blueprint } = &mut net;
    let floodway_fabric::blueprint::Arrivals::List(flows) = &mut blueprint.workloads[0].arrivals else {
        unreachable!("it is a list")
    };
    flows.swap(0, 1);
    let records = net.run();
    let arrives = 7_000 + packet(500);
    assert_eq!(starts(&records), [7_000, arrives + 5_000_000]);
    assert_eq!(finishes(&records), [arrives, arrives + 5_000_000 + packet(700)]);
    assert_eq!(records.outcome.stopped, Stopped::Finished);
}

#[test]
fn a_flow_that_names_a_start_does_not_start_before() {
    let (mut net, h) = star(3, r#""go-back-n""#);
    net.flow(h[0], h[1], Bytes(500), Span::ZERO);
    net.flow(h[1], h[2], Bytes(700), Span::us(50)).after = vec![0];
    assert_eq!(starts(&net.run()), [0, 50_000_000]);
}

#[test]
fn at_the_sender_a_flow_is_complete_with_its_last_ack() {
    let (mut net, h) = star(3, r#""go-back-n""#);
    net.flow(h[0], h[1], Bytes(500), Span::ZERO);
    net.flow(h[0], h[2], Bytes(700), Span::ZERO).after = vec![0];
    assert_eq!(starts(&net.run())[1], packet(500) + 2 * (ACK * BYTE + LINK));
}

#[test]
fn without_acks_it_is_complete_when_its_last_byte_has_left_the_nic() {
    let (mut net, h) = star(3, r#""none""#);
    net.flow(h[0], h[1], Bytes(1500), Span::ZERO);
    net.flow(h[0], h[2], Bytes(700), Span::ZERO).after = vec![0];
    let records = net.run();
    assert_eq!(starts(&records)[1], (1098 + 582) * BYTE);
    assert!(real(records.flows.column("finish_sender_us")).iter().all(|us| us.is_nan()));
}

#[test]
fn a_flow_waits_for_all_that_it_names() {
    let (mut net, h) = star(4, r#""go-back-n""#);
    net.flow(h[0], h[3], Bytes(500), Span::ZERO);
    net.flow(h[1], h[3], Bytes(500), Span::us(30));
    net.flow(h[3], h[2], Bytes(700), Span::ZERO).after = vec![0, 1];
    let support::Net { blueprint } = &mut net;
    let floodway_fabric::blueprint::Arrivals::List(flows) = &mut blueprint.workloads[0].arrivals else {
        unreachable!("it is a list")
    };
    // Sorted by start: 0, then the one that waits, then the late one.
    flows.swap(1, 2);
    flows[1].after = vec![0, 2];
    assert_eq!(starts(&net.run()), [0, 30_000_000, 30_000_000 + packet(500)]);
}

/// A ring of `n` hosts passes a message on, `rounds` times around.
fn ring(n: usize, rounds: usize, seed: u64, ties: Ties) -> Records {
    let (mut net, h) = star(n, r#""go-back-n""#);
    net.blueprint.seed = seed;
    net.blueprint.semantics.ties = ties;
    for step in 0..n * rounds {
        let flow = net.flow(h[step % n], h[(step + 1) % n], Bytes(900), Span::ZERO);
        if step > 0 {
            (flow.after, flow.wait) = (vec![step - 1], WAIT);
        }
    }
    net.run()
}

#[test]
fn a_ring_of_eight_hands_a_message_round() {
    let records = ring(8, 3, 1, Ties::Hashed);
    let step = packet(900) + WAIT.0;
    let expected: Vec<u64> = (0..24).map(|i| i * step).collect();
    assert_eq!(starts(&records), expected);
    let from: Vec<String> = (0..24).map(|i| format!("h{}", i % 8)).collect();
    assert_eq!(names(records.flows.column("source")), from);
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    assert_eq!(everything(&records), everything(&ring(8, 3, 1, Ties::Hashed)));
    assert_eq!(starts(&ring(8, 3, 2, Ties::Hashed)), expected);
    // Where starts come first among events of an instant, they do so among those that are left.
    assert_eq!(starts(&ring(8, 3, 1, Ties::SchedulingOrder)), expected);
}

#[test]
fn in_an_order_of_scheduling_flows_of_one_instant_start_as_they_are_listed() {
    for order in [[1, 2, 1], [2, 1, 2]] {
        let (mut net, h) = star(4, r#""go-back-n""#);
        net.blueprint.semantics.ties = Ties::SchedulingOrder;
        net.flow(h[0], h[1], Bytes(500), Span::ZERO);
        net.flow(h[0], h[2], Bytes(500), Span::ZERO);
        for source in order {
            net.flow(h[source], h[3], Bytes(700), Span::us(50)).after = vec![source - 1];
        }
        let records = net.run();
        let (from, finish) = (names(records.flows.column("source")), finishes(&records));
        let mut arrived: Vec<(u64, &str)> = finish.into_iter().zip(from.iter().map(String::as_str)).collect();
        arrived.sort_unstable();
        // At the switch the first packet of the flow that is listed first is before that of the other host.
        let expected: Vec<String> = order.iter().map(|source| format!("h{source}")).collect();
        assert_eq!(arrived[2..].iter().map(|of| of.1).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn without_a_wait_it_starts_at_the_very_instant() {
    for ties in [Ties::Hashed, Ties::SchedulingOrder] {
        let (mut net, h) = star(3, r#""go-back-n""#);
        net.blueprint.semantics.ties = ties;
        net.flow(h[0], h[1], Bytes(500), Span::ZERO);
        net.flow(h[1], h[2], Bytes(700), Span::ZERO).after = vec![0];
        assert_eq!(starts(&net.run()), [0, packet(500)]);
    }
}

#[test]
fn the_run_goes_on_while_a_measured_flow_waits() {
    let (mut net, h) = star(3, r#""go-back-n""#);
    net.flow(h[0], h[1], Bytes(500), Span::ZERO);
    let last = net.flow(h[1], h[2], Bytes(500), Span::ZERO);
    (last.after, last.wait) = (vec![0], Span::ms(3));
    let records = net.run();
    assert_eq!((records.flows.rows(), records.outcome.stopped), (2, Stopped::Finished));
    let totals = &records.outcome.workloads[0];
    assert_eq!((totals.flows, totals.never_started), (2, 0));
}

#[test]
fn flows_that_never_start_have_no_row_and_are_counted() {
    let (mut net, h) = star(3, r#""go-back-n""#);
    net.blueprint.end.limit = Time::ZERO + Span::ms(1);
    net.flow(h[0], h[1], Bytes(500), Span::ZERO);
    let last = net.flow(h[1], h[2], Bytes(500), Span::ZERO);
    (last.after, last.wait) = (vec![0], Span::ms(3));
    let records = net.run();
    assert_eq!((records.flows.rows(), records.outcome.stopped), (1, Stopped::Limit));
    assert_eq!(records.outcome.workloads[0].never_started, 1);
    // With an end of its starts the workload waits for it no longer.
    net.blueprint.workloads[0].until = Time::ZERO + Span::us(500);
    let records = net.run();
    assert_eq!((records.flows.rows(), records.outcome.stopped), (1, Stopped::Finished));
    assert_eq!(records.outcome.workloads[0].never_started, 1);
}

#[test]
fn a_flow_cannot_wait_for_what_its_source_does_not_see() {
    let refused = |ties: &[(usize, usize)], endless: bool| {
        let (mut net, h) = star(3, r#""go-back-n""#);
        let ends = [(0, 1), (1, 2), (2, 0), (0, 2)];
        for (i, (from, to)) in ends.into_iter().enumerate() {
            let size = if endless && i == 0 { UNBOUNDED } else { Bytes(500) };
            let after = ties.iter().filter(|tie| tie.0 == i).map(|tie| tie.1);
            net.flow(h[from], h[to], size, Span::ZERO).after = after.collect();
        }
        let control = Control::default();
        Fabric::build(&net.blueprint, &control).err().map(|error| error.to_string())
    };
    assert_eq!(refused(&[(1, 0), (2, 1), (3, 0)], false), None);
    let expected = "workload flows: flow 3 starts at h2, where it is not known when flow 1 from h0 to h1 is complete: it \
                   would have to end there or begin there";
    assert_eq!(refused(&[(2, 0)], false).as_deref(), Some(expected));
    let cycle = "workload flows: flows wait for each other: flow 1 after flow 3 after flow 2 after flow 1";
    assert_eq!(refused(&[(1, 0), (2, 1), (0, 2), (3, 2)], false).as_deref(), Some(cycle));
    assert_eq!(
        refused(&[(1, 0)], true).as_deref(),
        Some("workload flows: flow 2 waits for flow 1, which never ends")
    );
    assert_eq!(
        refused(&[(1, 9)], false).as_deref(),
        Some("workload flows: flow 2 waits for a flow that is not there")
    );
}

/// A flow of a random list: source, distance of the destination, size, choices of flows to wait for, start
/// and wait in us.
type Drawn = (usize, usize, u64, Vec<usize>, u64, u64);

const HOSTS: usize = 4;

fn ends(&(source, distance, ..): &Drawn) -> [usize; 2] {
    [source, (source + distance) % HOSTS]
}

/// Flows of which each waits for earlier ones that its source sees.
fn drawn_list(drawn: &[Drawn], sharing: Sharing) -> Net {
    let (mut net, h) = star(HOSTS, r#""go-back-n""#);
    net.blueprint.settings[0].qp = sharing;
    for (flow, of) in drawn.iter().enumerate() {
        let &(_, _, size, ref choices, start, wait) = of;
        let [source, destination] = ends(of);
        let seen: Vec<usize> = (0..flow).filter(|&at| ends(&drawn[at]).contains(&source)).collect();
        let choices = choices.iter().filter(|_| !seen.is_empty());
        let after: BTreeSet<usize> = choices.map(|choice| seen[choice % seen.len()]).collect();
        let spec = net.flow(h[source], h[destination], Bytes(size), Span::us(start));
        (spec.after, spec.wait) = (after.into_iter().collect(), Span::us(wait));
    }
    net
}

/// For each flow of the list: its start, and when it was complete at its receiver and at its sender.
fn times_by_flow(records: &Records, flows: &[FlowSpec]) -> Vec<[u64; 3]> {
    let column = |name| real(records.flows.column(name)).into_iter().map(|us| (us * 1e6).round() as u64);
    let keys = names(records.flows.column("source")).into_iter().zip(whole(records.flows.column("number")));
    let times = column("start_us").zip(column("finish_receiver_us").zip(column("finish_sender_us")));
    let rows: BTreeMap<(String, u64), [u64; 3]> =
        keys.zip(times.map(|(start, (receiver, sender))| [start, receiver, sender])).collect();
    let mut counts = [0; HOSTS];
    let of_flow = |flow: &FlowSpec| {
        // The switch is the first node.
        let host = flow.source.index() - 1;
        counts[host] += 1;
        rows[&(format!("h{host}"), counts[host] - 1)]
    };
    flows.iter().map(of_flow).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn each_flow_starts_when_all_that_it_waits_for_is_complete_at_its_source(
        mut drawn in prop::collection::vec(
            (0..HOSTS, 1..HOSTS, 1..60_000u64, prop::collection::vec(0..100usize, 0..4), 0..60u64, 0..3u64),
            2..40,
        ),
        sharing in prop::sample::select(vec![Sharing::PerFlow, Sharing::PerPair]),
    ) {
        drawn.sort_by_key(|of| of.4);
        let net = drawn_list(&drawn, sharing);
        let Arrivals::List(flows) = &net.blueprint.workloads[0].arrivals else { unreachable!("it is a list") };
        let records = support::run_on_one_thread_and_two(&net);
        prop_assert_eq!(records.outcome.stopped, Stopped::Finished);
        prop_assert_eq!(records.outcome.workloads[0].never_started, 0);
        let times = times_by_flow(&records, flows);
        for (flow, [start, ..]) in flows.iter().zip(&times) {
            let complete = |&before: &usize| {
                times[before][if flows[before].destination == flow.source { 1 } else { 2 }]
            };
            let ready = flow.after.iter().map(complete).max().map_or(0, |ready| ready + flow.wait.0);
            prop_assert_eq!(*start, ready.max(flow.start.0), "{:?}", flow);
        }
    }
}
