//! Cyclic buffer dependency: found, named, and distinguished from a mere tree of pauses.

use std::collections::BTreeSet;

use crate::support;
use crate::support::{
    Net, counter, everything, finished, names, params, property, real, run_on_one_thread_and_two, whole,
};
use floodway_fabric::blueprint::{Arrivals, UNBOUNDED};
use floodway_fabric::outcome::Stopped;
use floodway_fabric::routing::{Routes, peer};
use floodway_fabric::{BufferCycle, Control, Dependencies, Fabric, Records, ThreadPlan, Threads};
use floodway_units::{Bytes, Class, NodeId, PortId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

const G100: Rate = Rate::gbps(100);
const PFC: &str = r#"{"pfc": {"xoff": "20KB"}}"#;

/// Three switches in a ring with a host each; every host sends two switches further, clockwise.
fn ring(pause: &str, size: Bytes) -> Net {
    let pfc = format!(r#"{{"pfc": {{"xoff": "20KB", "pause": "{pause}"}}}}"#);
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(8));
    let switches = ["s1", "s2", "s3"].map(|name| net.switch(name));
    let hosts = ["h1", "h2", "h3"].map(|name| net.host(name));
    for i in 0..3 {
        net.link(switches[i], switches[(i + 1) % 3], G100, Span::us(1), &pfc);
    }
    for i in 0..3 {
        net.link(hosts[i], switches[i], G100, Span::us(1), &pfc);
    }
    for i in 0..3 {
        let (next, to) = ((i + 1) % 3, (i + 2) % 3);
        let path = net.path(&[hosts[i], switches[i], switches[next], switches[to], hosts[to]]);
        net.flow(hosts[i], hosts[to], size, Span::ZERO).path = Some(path);
    }
    net
}

const RING: [&str; 3] = ["s1 (s1-s2)", "s2 (s2-s3)", "s3 (s3-s1)"];

#[test]
fn a_ring_whose_flows_go_two_hops_clockwise_locks_and_the_run_stops_there() {
    for pause in ["timer", "on-off"] {
        let mut net = ring(pause, Bytes::mb(50));
        net.blueprint.end.stop_on_deadlock = true;
        let records = net.run();
        assert_eq!(records.outcome.stopped, Stopped::Deadlock, "{pause}");
        let [deadlock] = &records.outcome.deadlocks[..] else {
            panic!("one deadlock: {:?}", records.outcome.deadlocks)
        };
        assert_eq!(deadlock.ports, RING);
        // Suspected after a millisecond of pause, which cannot have begun at 0.
        assert_eq!(records.outcome.simulated_us, 2_000.0);
        assert!(records.outcome.lossless.is_held());
    }
}

/// It is not when it was found, however late the flows start that close it.
#[test]
fn a_deadlock_has_stood_since_the_last_pause_of_its_cycle() {
    for late in [0, 300, 1_500] {
        let mut net = ring("on-off", Bytes::mb(50));
        net.blueprint.records.pauses = Some(10_000);
        let Arrivals::List(flows) = &mut net.blueprint.workloads[0].arrivals else { unreachable!("a list") };
        flows[2].start = Time::ZERO + Span::us(late);
        let records = run_on_one_thread_and_two(&net);
        let pauses = records.pauses.as_ref().expect("they were asked for");
        let (links, times) = (names(pauses.column("link")), real(pauses.column("time_ns")));
        let in_ring = |link: &str| ["s1-s2", "s2-s3", "s3-s1"].contains(&link);
        let last = links.iter().zip(times).filter(|(link, _)| in_ring(link)).map(|(_, ns)| ns / 1e3);
        let last = last.fold(0.0, f64::max);
        assert_eq!(records.outcome.deadlocks[0].time_us, last);
        assert!((late as f64..late as f64 + 50.0).contains(&last), "{last} with a flow at {late}");
    }
}

#[test]
fn a_run_that_goes_on_reports_the_same_deadlock_once_and_never_finishes() {
    for pause in ["timer", "on-off"] {
        let records = ring(pause, Bytes::mb(50)).run();
        assert_eq!(records.outcome.stopped, Stopped::Limit);
        assert_eq!(records.outcome.deadlocks.len(), 1, "{:?}", records.outcome.deadlocks);
        assert_eq!(records.outcome.deadlocks[0].ports, RING);
        assert!(records.outcome.blocked.is_empty(), "what they wait for is held at the other end");
        assert_eq!(finished(&records), [false; 3]);
        assert_eq!(records.outcome.simulated_us, 8_000.0);
    }
}

#[test]
fn a_ring_whose_switches_are_on_threads_of_their_own_locks_alike() {
    let mut net = ring("timer", Bytes::mb(50));
    net.blueprint.end.stop_on_deadlock = true;
    let control = Control::default();
    let thread_plan = ThreadPlan::of_run(&net.blueprint, Threads::Forced(3), 3);
    assert_eq!(thread_plan.threads(), 3);
    let records = Fabric::build(&net.blueprint, &control).expect("it is sound").on(&thread_plan).run();
    assert_eq!(records.outcome.deadlocks[0].ports, RING);
    assert_eq!(everything(&net.run()), everything(&records));
}

#[test]
fn a_ring_without_a_full_turn_of_flows_does_not_lock() {
    for pause in ["timer", "on-off"] {
        let mut net = ring(pause, Bytes::mb(5));
        let Arrivals::List(flows) = &mut net.blueprint.workloads[0].arrivals else { unreachable!("a list") };
        flows.pop();
        let records = net.run();
        assert_eq!(records.outcome.stopped, Stopped::Finished);
        assert!(records.outcome.deadlocks.is_empty());
    }
}

/// `a` sends to a host that pauses the last switch for ever, and to one that does not.
fn storm(pause: &str, watchdog: &str) -> Records {
    let pfc = format!(r#"{{"pfc": {{"xoff": "20KB", "pause": "{pause}"}}}}"#);
    let last = format!(r#"{{"pfc": {{"xoff": "20KB", "pause": "{pause}"{watchdog}}}}}"#);
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(8));
    let [a, broken, well] = ["a", "broken", "well"].map(|name| net.host(name));
    let [s, t] = ["s", "t"].map(|name| net.switch(name));
    net.link(a, s, G100, Span::us(1), &pfc);
    net.link(s, t, G100, Span::us(1), &pfc);
    let storm = net.link(t, broken, G100, Span::us(1), &last);
    net.link(t, well, G100, Span::us(1), &pfc);
    net.pauses(storm, broken, Span::ZERO, Time::NEVER);
    net.flow(a, broken, Bytes::mb(1), Span::us(10));
    net.flow(a, well, Bytes::mb(1), Span::us(10));
    net.run()
}

#[test]
fn without_a_watchdog_a_host_that_pauses_for_ever_holds_up_its_neighbours_flow_too() {
    for pause in ["timer", "on-off"] {
        let records = storm(pause, "");
        assert_eq!(finished(&records), [false, false], "{pause}");
        assert!(counter(&records, "a", "a-s", "pfc_rx") > 0, "the pauses reach the sender");
        assert!(records.outcome.deadlocks.is_empty(), "a tree of pauses: {:?}", records.outcome.deadlocks);
        assert!(records.outcome.lossless.is_held());
    }
}

#[test]
fn a_watchdog_that_drops_frees_the_neighbour_and_gives_up_the_packets_of_the_paused_one() {
    for pause in ["timer", "on-off"] {
        let records = storm(pause, r#", "watchdog": {"after": "2ms", "action": "drop"}"#);
        assert_eq!(finished(&records), [false, true], "{pause}");
        assert_eq!(whole(records.flows.column("delivered_bytes"))[0], 0);
        let dropped = counter(&records, "t", "s-t", "drops_watchdog");
        assert_eq!(dropped, 1000, "all of the flow, by the port that it came in");
        // A drop that was asked for is no breach of losslessness.
        assert!(records.outcome.lossless.is_held());
    }
}

#[test]
fn a_watchdog_that_forwards_delivers_everything() {
    for pause in ["timer", "on-off"] {
        let records = storm(pause, r#", "watchdog": {"after": "2ms", "action": "forward"}"#);
        assert_eq!(finished(&records), [true, true], "{pause}");
        assert_eq!(counter(&records, "t", "s-t", "drops_watchdog"), 0);
        let finish = support::real(records.flows.column("finish_receiver_us"));
        assert!(finish.iter().all(|&us| us > 2_000.0 && us < 2_300.0), "{finish:?}");
    }
}

#[test]
fn a_slow_drain_that_is_paused_all_the_time_is_no_deadlock() {
    // Four senders into one slow port keep their pauses for many milliseconds.
    let pfc = PFC;
    let mut net = Net::new(Format::Ethernet).limit(Span::ms(8)).until_limit();
    let (s, t, b) = (net.switch("s"), net.switch("t"), net.host("b"));
    net.link(s, t, G100, Span::us(1), pfc);
    net.link(t, b, Rate::mbps(10), Span::us(1), pfc);
    for i in 0..4 {
        let host = net.host(&format!("h{i}"));
        net.link(host, s, G100, Span::us(1), pfc);
        net.flow(host, b, UNBOUNDED, Span::ZERO);
    }
    let records = net.run();
    let paused = support::real(records.counters.column("paused_us"));
    assert!(paused.iter().filter(|&&us| us > 4_000.0).count() >= 5, "{paused:?}");
    assert!(records.outcome.deadlocks.is_empty());
}

#[test]
fn a_ring_that_drains_however_slowly_is_no_deadlock() {
    // The ring's full turn of flows, too small to keep a buffer above its threshold by themselves, and flows
    // that leave the ring after one hop by a slow link. Pauses last for milliseconds, and all around the ring
    // each waits for the next; yet the slow links go on, and each pause ends.
    let mut net = ring("timer", Bytes::kb(5)).limit(Span::ms(2_000));
    let Arrivals::List(flows) = &mut net.blueprint.workloads[0].arrivals else { unreachable!("a list") };
    let mut later = std::mem::take(flows);
    for i in 0..3 {
        let (switch, next) = (NodeId(i), NodeId((i + 1) % 3));
        let (from, slow) = (net.host(&format!("from{i}")), net.host(&format!("slow{i}")));
        net.link(from, switch, G100, Span::us(1), PFC);
        net.link(next, slow, Rate::mbps(5), Span::us(1), PFC);
        net.flow(from, slow, Bytes::kb(200), Span::ZERO);
    }
    for flow in &mut later {
        flow.start = Time::ZERO + Span::us(50);
    }
    let Arrivals::List(flows) = &mut net.blueprint.workloads[0].arrivals else { unreachable!("a list") };
    flows.extend(later);
    let records = net.run();
    assert_eq!(records.outcome.stopped, Stopped::Finished);
    let paused = support::real(records.counters.column("paused_us"));
    assert!(paused.iter().filter(|&&us| us > 10_000.0).count() >= 6, "{paused:?}");
    assert!(records.outcome.deadlocks.is_empty(), "{:?}", records.outcome.deadlocks);
}

/// Switches that are joined in pairs, each with a host, and flows along paths of their own.
#[derive(Clone, Debug)]
struct Wandering {
    /// Is each pair joined?
    joined: Vec<bool>,
    /// Of each flow: the order in which it would go through the switches, and through how many.
    flows: Vec<(Vec<usize>, usize)>,
}

const SWITCHES: usize = 5;

fn wanderings() -> impl Strategy<Value = Wandering> {
    let joined = prop::collection::vec(prop::bool::weighted(0.7), SWITCHES * (SWITCHES - 1) / 2);
    let order = Just((0..SWITCHES).collect::<Vec<_>>()).prop_shuffle();
    let flows = prop::collection::vec((order, 2..=SWITCHES), 3..12);
    (joined, flows).prop_map(|(joined, flows)| Wandering { joined, flows })
}

impl Wandering {
    /// The network, with the flows whose paths exist.
    fn net(&self) -> Net {
        let mut net = Net::new(Format::Ethernet).limit(Span::ms(4));
        let switches: Vec<NodeId> = (0..SWITCHES).map(|i| net.switch(&format!("s{i}"))).collect();
        let hosts: Vec<NodeId> = (0..SWITCHES).map(|i| net.host(&format!("h{i}"))).collect();
        let pairs = (0..SWITCHES).flat_map(|a| (a + 1..SWITCHES).map(move |b| (a, b)));
        let mut links = BTreeSet::new();
        for (a, b) in pairs.zip(&self.joined).filter_map(|(pair, joined)| joined.then_some(pair)) {
            net.link(switches[a], switches[b], G100, Span::us(1), PFC);
            links.extend([(a, b), (b, a)]);
        }
        for i in 0..SWITCHES {
            net.link(hosts[i], switches[i], G100, Span::us(1), PFC);
        }
        // One that meets no other: a list is not empty.
        let beside = net.host("beside");
        net.link(beside, switches[0], G100, Span::us(1), PFC);
        net.flow(hosts[0], beside, Bytes(1000), Span::ZERO);
        for (order, length) in &self.flows {
            let over = &order[..*length];
            if over.windows(2).all(|hop| links.contains(&(hop[0], hop[1]))) {
                let (from, to) = (hosts[over[0]], hosts[over[length - 1]]);
                let nodes: Vec<NodeId> =
                    [from].into_iter().chain(over.iter().map(|&i| switches[i])).chain([to]).collect();
                let path = net.path(&nodes);
                net.flow(from, to, Bytes::mb(1), Span::ZERO).path = Some(path);
            }
        }
        net
    }
}

fn dependencies(net: &Net) -> Dependencies {
    net.blueprint.buffer_dependencies(&Routes::new(&net.blueprint))
}

proptest! {
    #![proptest_config(property(40))]

    /// What Dally and Seitz prove: no deadlock without a cycle. And each port of the cycle that is named
    /// leads to where the next one is.
    #[test]
    fn only_paths_that_make_a_cycle_of_buffers_deadlock(wandering in wanderings()) {
        let net = wandering.net();
        let dependencies = dependencies(&net);
        let locked = !net.run().outcome.deadlocks.is_empty();
        prop_assert!(!locked || matches!(dependencies, Dependencies::Cyclic(_)), "{:?}", dependencies);
        if let Dependencies::Cyclic(BufferCycle { class, ports }) = dependencies {
            prop_assert_eq!(class, Class::DATA);
            let at = |port: PortId| net.blueprint.links[port.index() / 2].ends[port.index() % 2].node;
            for (port, next) in ports.iter().zip(ports.iter().cycle().skip(1)) {
                prop_assert_eq!(at(peer(*port)), at(*next));
            }
        }
    }
}

#[test]
fn flows_that_go_two_hops_around_a_ring_are_known_to_lock_before_the_run() {
    let net = ring("timer", Bytes::mb(1));
    let Dependencies::Cyclic(cycle) = dependencies(&net) else { panic!("there is a cycle") };
    let names: Vec<String> = cycle.ports.iter().map(|&port| net.blueprint.port_name(port)).collect();
    assert_eq!(names, RING);
    let mut open = ring("timer", Bytes::mb(1));
    let Arrivals::List(flows) = &mut open.blueprint.workloads[0].arrivals else { unreachable!("a list") };
    flows.pop();
    assert_eq!(dependencies(&open), Dependencies::Acyclic);
}

/// A link of the ring that may lose packets stops none.
#[test]
fn a_cycle_with_a_lossy_link_is_none() {
    let mut net = ring("timer", Bytes::mb(1));
    for direction in &mut net.blueprint.links[1].directions {
        direction.flow_control = vec![(Class::DATA, params(r#""lossy""#))];
    }
    assert_eq!(dependencies(&net), Dependencies::Acyclic);
}

/// Each class has buffers of its own.
#[test]
fn a_cycle_of_two_classes_is_none() {
    let mut net = ring("timer", Bytes::mb(1));
    net.second_class();
    let Arrivals::List(flows) = &mut net.blueprint.workloads[0].arrivals else { unreachable!("a list") };
    flows[2].settings = Some(1);
    assert_eq!(dependencies(&net), Dependencies::Acyclic);
}
