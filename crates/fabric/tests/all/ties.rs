//! Packets that arrive at one instant: what recurs ends as before, and no port is always first.

use floodway_fabric::Records;
use floodway_fabric::blueprint::UNBOUNDED;
use floodway_programs::collective::{AlgorithmName, Purpose};
use floodway_units::{Bytes, NodeId, Rate, Span};
use floodway_wire::Format;
use proptest::prelude::*;

use crate::support::jobs::{collective, request, spec, star};
use crate::support::{Net, PFC, counter, drops, fct_ps, property, real, run_on_one_thread_and_two, whole};

const G100: Rate = Rate::gbps(100);

/// Ways to lose packets, or to wait, where many packets meet.
const WAYS: [(&str, &str, &[&str]); 4] = [
    (PFC, r#""none""#, &[r#""line-rate""#]),
    (r#"{"pfc": {"xoff": "20KB"}}"#, r#""go-back-n""#, &[r#""dcqcn""#]),
    (r#""lossy""#, r#""irn""#, &[r#""line-rate""#]),
    (r#""lossy""#, r#""go-back-n""#, &[r#""line-rate""#, r#"{"static-window": {"size": "60KB"}}"#]),
];

/// Three hosts at each of two switches, and a link between these, by which all packets of half of them go.
fn two_switches(seed: u64, (flow_control, reliability, stack): (&str, &str, &[&str])) -> (Net, Vec<NodeId>) {
    let mut net = Net::new(Format::Ethernet).reliability(reliability).rate_control(stack);
    net.blueprint.seed = seed;
    let switches = ["s", "t"].map(|name| net.switch(name));
    net.link(switches[0], switches[1], G100, Span::us(2), flow_control);
    let hosts: Vec<NodeId> = (0..6).map(|i| net.host(&format!("h{i}"))).collect();
    for (i, &host) in hosts.iter().enumerate() {
        net.link(host, switches[i / 3], G100, Span::us(1), flow_control);
    }
    if flow_control.contains("lossy") {
        for &switch in &switches {
            net.buffer(switch, r#"{"shared": {"pool": "40KB"}}"#);
        }
    }
    (net, hosts)
}

/// All to one, and to its neighbour, at one instant.
fn collide(net: &mut Net, hosts: &[NodeId], packets: u64, at: Span) {
    for (i, &host) in hosts[..5].iter().enumerate() {
        net.flow(host, hosts[5], Bytes(1000 * packets), at);
        net.flow(host, hosts[(i + 1) % 5], Bytes(700 * packets), at);
    }
}

/// Times to complete, with what was lost and sent again.
fn ends(records: &Records) -> (Vec<Option<u64>>, Vec<u64>) {
    (fct_ps(records), whole(records.flows.column("retransmitted_bytes")))
}

proptest! {
    #![proptest_config(property(24))]

    /// Nothing else in the network names the time either.
    #[test]
    fn a_workload_ends_alike_whenever_it_starts(
        way in 0..WAYS.len(),
        seed in 0..1000u64,
        packets in 1..120u64,
        later in prop_oneof![1..2_000_000u64, Just(84_800)],
    ) {
        let [first, second] = [0, later].map(|shift| {
            let (mut net, hosts) = two_switches(seed, WAYS[way]);
            collide(&mut net, &hosts, packets, Span(shift));
            collide(&mut net, &hosts, packets / 2 + 1, Span(shift + 7_000_001));
            let records = run_on_one_thread_and_two(&net);
            (ends(&records), drops(&records))
        });
        prop_assert_eq!(first, second);
    }

    /// Flows of packets that meet again and again, in a network that is at rest between.
    #[test]
    fn what_happens_again_ends_as_before(
        way in prop::sample::select(vec![0usize, 2, 3]),
        seed in 0..1000u64,
        packets in 1..120u64,
    ) {
        let (mut net, hosts) = two_switches(seed, WAYS[way]);
        let (times, apart) = (4, Span(20_000_000_001));
        for i in 0..times {
            collide(&mut net, &hosts, packets, Span(i * apart.0));
        }
        let (fcts, again) = ends(&net.run());
        // A packet that is lost again and again waits longer each time, and a flow may take more than that.
        prop_assume!(fcts.iter().flatten().all(|&fct| fct < apart.0), "not at rest between");
        let each = fcts.len() / times as usize;
        for i in 1..times as usize {
            prop_assert_eq!(&fcts[..each], &fcts[i * each..][..each], "times {} and 0", i);
            prop_assert_eq!(&again[..each], &again[i * each..][..each]);
        }
    }

    /// Losses of senders whose packets always meet, however many they are and however fast they send.
    #[test]
    fn synchronised_senders_share_the_losses_of_a_port(
        seed in 0..1000u64,
        senders in 2..6usize,
        gbps in 60..=100u64,
    ) {
        let mut net = Net::new(Format::Ethernet);
        net.blueprint.seed = seed;
        let (switch, to) = (net.switch_with("s", r#"{"shared": {"pool": "100KB"}}"#), net.host("to"));
        net.link(switch, to, G100, Span::us(1), r#""lossy""#);
        for i in 0..senders {
            let host = net.host(&format!("h{i}"));
            net.link(host, switch, Rate::gbps(gbps), Span::us(1), r#""lossy""#);
            net.flow(host, to, UNBOUNDED, Span::ZERO);
        }
        let records = net.limit(Span::ms(2)).run();
        let lost = |i| counter(&records, "s", &format!("h{i}-s"), "drops_egress") as f64;
        let mean = drops(&records) as f64 / senders as f64;
        prop_assert!(mean > 1_000.0, "{mean}");
        for i in 0..senders {
            prop_assert!((lost(i) / mean - 1.0).abs() < 0.1, "{} of h{i}, {mean} on average", lost(i));
        }
    }
}

/// Durations of a job's iterations, in picoseconds, as its last rank has them.
fn iterations(records: &Records) -> Vec<u64> {
    let operations = records.operations.as_ref().expect("there is a job");
    let ends = real(operations.column("end_us")).into_iter().map(|us| (us * 1e6).round() as u64);
    let mut last = Vec::new();
    for (iteration, end) in whole(operations.column("iteration")).into_iter().zip(ends) {
        last.resize(last.len().max(iteration as usize + 1), 0);
        last[iteration as usize] = end.max(last[iteration as usize]);
    }
    last.iter().scan(0, |before, &end| Some(end - std::mem::replace(before, end))).collect()
}

#[test]
fn iterations_of_a_job_whose_packets_collide_take_equally_long() {
    for size in [8_000, 50_000, 4_000_000] {
        let (mut net, hosts) = star(8, r#""go-back-n""#);
        let program = collective(&request(Purpose::AllToAll, AlgorithmName::Direct, size), 8, 6);
        net.blueprint.workloads[0].arrivals = spec(program, hosts);
        let took = iterations(&net.run());
        assert_eq!(took.len(), 6);
        assert!(took[2..].iter().all(|&each| each == took[1]), "{size} bytes: {took:?}");
    }
}
