//! RCM with adaptive routing, in networks of several paths: which flows may move, and that nothing loops or
//! is reordered without it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::support::{Net, assert_invariants, drops, finished, names, whole};
use floodway_fabric::{Control, Fabric, Records};
use floodway_mechanisms::registry::AnyRouter;
use floodway_mechanisms::sar;
use floodway_mechanisms::slots::{PacketView, PortView, Router, Routing, SwitchInfo};
use floodway_units::{Bytes, Class, FlowId, NodeId, PortId, Rate, Rng, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

const G100: Rate = Rate::gbps(100);
const PFC: &str = r#"{"pfc": {"xoff": "70KB", "resume-offset": "2KB"}}"#;
const BUFFERS: [&str; 2] = [r#""ioq""#, r#"{"shared": {"pool": "4MB"}}"#];
/// Regions come and go more often than by default.
const RCM: &str = r#"{"rcm": {"severe": 8, "cam-depth": 4, "equilibrium": "8KB"}}"#;
const SPINES: usize = 3;
const LEAVES: usize = 3;
const HOSTS: usize = 4;

/// Flows by sender, receiver, kilobytes and start in us.
type Flows = Vec<(usize, usize, u64, u64)>;

/// Leaves and spines with RCM at every port.
struct LeafSpine {
    net: Net,
    hosts: Vec<NodeId>,
    leaves: Vec<NodeId>,
}

fn leaf_spine(buffer: &str, routing: &str) -> LeafSpine {
    // Each packet is sent once, and taken in whatever order it comes.
    let mut net = Net::new(Format::Ethernet).reliability(r#""none""#);
    let spines: Vec<NodeId> = (0..SPINES).map(|i| net.switch_with(&format!("c{i}"), buffer)).collect();
    let leaves: Vec<NodeId> = (0..LEAVES).map(|i| net.switch_with(&format!("t{i}"), buffer)).collect();
    let mut hosts = Vec::new();
    for &leaf in &leaves {
        for &spine in &spines {
            let link = net.link(leaf, spine, G100, Span::us(1), PFC);
            net.congestion_point(link, leaf, RCM);
            net.congestion_point(link, spine, RCM);
        }
        for _ in 0..HOSTS {
            let host = net.host(&format!("h{}", hosts.len()));
            let link = net.link(host, leaf, G100, Span::us(1), PFC);
            net.congestion_point(link, leaf, RCM);
            hosts.push(host);
        }
        net.routing(leaf, routing);
    }
    LeafSpine { net, hosts, leaves }
}

impl LeafSpine {
    fn send(&mut self, flows: &Flows) -> &mut Self {
        let mut flows = flows.clone();
        flows.sort_by_key(|flow| flow.3);
        for (from, to, kilobytes, start) in flows {
            let (from, to) = (from % self.hosts.len(), to % self.hosts.len());
            if from != to {
                self.net.flow(self.hosts[from], self.hosts[to], Bytes::kb(kilobytes), Span::us(start));
            }
        }
        self
    }
}

/// Links that the data of all flows crosses, if every packet takes a shortest way.
fn shortest(records: &Records) -> u64 {
    let leaf = |host: &String| host[1..].parse::<usize>().expect("h and a number") / HOSTS;
    let (from, to) = (names(records.flows.column("source")), names(records.flows.column("destination")));
    let hops = from.iter().zip(&to).map(|(from, to)| if leaf(from) == leaf(to) { 2 } else { 4 });
    hops.zip(whole(records.flows.column("packets"))).map(|(hops, packets)| hops * packets).sum()
}

/// Links that data has crossed.
fn crossed(records: &Records) -> u64 {
    let counters = &records.counters;
    let (classes, packets) = (whole(counters.column("class")), whole(counters.column("rx_packets")));
    classes
        .iter()
        .zip(packets)
        .filter(|(class, _)| **class == u64::from(Class::DATA.0))
        .map(|(_, packets)| packets)
        .sum()
}

/// What a switch was seen to do.
#[derive(Debug, Default)]
struct Seen {
    moved: usize,
    /// Harmful flows, or flows of which something waited, that moved all the same; must stay empty.
    wrong: Vec<FlowId>,
}

/// Adaptive routing, watched.
struct Watched {
    router: sar::Router,
    /// Where each flow was last.
    at: HashMap<FlowId, PortId>,
    usual: Option<PortId>,
    seen: Arc<Mutex<Seen>>,
}

impl Watched {
    fn took(&mut self, p: &PacketView, port: PortId, before: Option<&PortView>) {
        let last = self.at.insert(p.flow, port);
        if last.is_some_and(|last| last != port) && !p.is_reply {
            let mut seen = self.seen.lock().expect("nobody panics");
            seen.moved += 1;
            if before.is_none_or(|view| view.harmful || view.holds_flow || Some(view.port) != last) {
                seen.wrong.push(p.flow);
            }
        }
    }
}

impl Router for Watched {
    fn reads_ports(&self) -> bool {
        true
    }

    fn usual_port(&mut self, p: &PacketView, ports: &[PortId]) -> Option<usize> {
        let usual = self.router.usual_port(p, ports);
        self.usual = usual.map(|choice| ports[choice]);
        usual
    }

    fn stays(&self, p: &PacketView, at: &PortView) -> bool {
        self.router.stays(p, at)
    }

    fn route(&mut self, now: Time, rng: &mut Rng, p: &PacketView, candidates: &[PortView]) -> usize {
        // Who stays is not asked for a way: where it is now is its usual one.
        let usual = self.usual.expect("it was asked before");
        self.at.insert(p.flow, usual);
        let choice = self.router.route(now, rng, p, candidates);
        let before = candidates.iter().find(|view| view.port == usual);
        self.took(p, candidates[choice].port, before);
        choice
    }
}

fn watched(seen: &Arc<Mutex<Seen>>) -> AnyRouter {
    let router = sar::Params::default().build(&SwitchInfo { key: 7, hash_seed: None }).expect("valid");
    AnyRouter::Custom(Box::new(Watched { router, at: HashMap::new(), usual: None, seen: Arc::clone(seen) }))
}

/// Senders of two leaves that meet at one host, beside flows of others.
fn flows() -> impl Strategy<Value = Flows> {
    let flow = (0..LEAVES * HOSTS, 0..LEAVES * HOSTS, 1u64..400, 0u64..60);
    let incast = (0..HOSTS, 2..HOSTS + 1)
        .prop_map(|(to, senders)| (0..senders).map(|i| (HOSTS + i, to, 300, i as u64)).collect::<Flows>());
    (incast, prop::collection::vec(flow, 1..14)).prop_map(|(mut all, more)| {
        all.extend(more);
        all
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_harmful_flow_moves_and_every_packet_takes_a_shortest_path(flows in flows(), shared in any::<bool>()) {
        let mut fabric = leaf_spine(BUFFERS[usize::from(shared)], r#""sar""#);
        fabric.send(&flows);
        let control = Control::default();
        let mut built = Fabric::build(&fabric.net.blueprint, &control).expect("it is sound");
        let seen = Arc::new(Mutex::new(Seen::default()));
        for &leaf in &fabric.leaves {
            built.set_router(leaf, || watched(&seen));
        }
        let records = built.run();
        assert_invariants(&records);
        prop_assert!(finished(&records).iter().all(|done| *done));
        prop_assert_eq!(drops(&records), 0);
        prop_assert!(records.outcome.lossless.is_held());
        let seen = seen.lock().expect("nobody panics");
        prop_assert!(seen.wrong.is_empty(), "{:?}", *seen);
        prop_assert_eq!(whole(records.counters.column("moves")).iter().sum::<u64>(), seen.moved as u64);
        prop_assert_eq!(crossed(&records), shortest(&records));
    }

    #[test]
    fn without_adaptive_routing_nothing_is_reordered(flows in flows(), shared in any::<bool>()) {
        let mut fabric = leaf_spine(BUFFERS[usize::from(shared)], r#""ecmp""#);
        let records = fabric.send(&flows).net.run();
        prop_assert!(finished(&records).iter().all(|done| *done));
        let late: u64 = whole(records.flows.column("out_of_order_packets")).iter().sum();
        prop_assert_eq!((late, drops(&records)), (0, 0));
    }
}

/// Four large flows of one leaf have three paths: where two of them meet they are to blame, and stay; small
/// ones of other hosts' leave.
#[test]
fn flows_that_congest_nothing_leave_the_region() {
    let mut moved = 0;
    for more in 0..6 {
        let mut fabric = leaf_spine(BUFFERS[0], r#""sar""#);
        let large = (0..HOSTS).map(|i| (i, HOSTS + i, 2_000 + more, 0));
        let small = (0..80).map(|i| (i % HOSTS, 2 * HOSTS + i / HOSTS % HOSTS, 2, 40 + 3 * i as u64));
        fabric.send(&large.chain(small).collect());
        let control = Control::default();
        let mut built = Fabric::build(&fabric.net.blueprint, &control).expect("it is sound");
        let seen = Arc::new(Mutex::new(Seen::default()));
        built.set_router(fabric.leaves[0], || watched(&seen));
        assert_invariants(&built.run());
        moved += seen.lock().expect("nobody panics").moved;
    }
    assert!(moved > 0);
}

/// What crosses alone when its flow becomes a harmful flow, or stops being one, is followed by what comes
/// later.
#[test]
fn in_a_long_incast_nothing_is_reordered() {
    for (seed, buffer) in (0..6).flat_map(|seed| BUFFERS.map(|buffer| (seed, buffer))) {
        let mut fabric = leaf_spine(buffer, r#""ecmp""#);
        fabric.net.blueprint.seed = seed;
        let incast = (0..HOSTS).map(|i| (HOSTS + i, 0, 4_000, 0));
        let others = (0..HOSTS).map(|i| (HOSTS + i, 2 * HOSTS + i, 4_000, 0));
        let records = fabric.send(&incast.chain(others).collect()).net.run();
        let late: u64 = whole(records.flows.column("out_of_order_packets")).iter().sum();
        assert_eq!((late, drops(&records)), (0, 0), "seed {seed}, {buffer}");
    }
}
