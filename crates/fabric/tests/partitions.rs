//! However a network is cut into partitions, and on however many threads they run, what is kept is the same to the byte.
#![allow(missing_docs, reason = "tests")]

mod support;

use floodway_fabric::blueprint::{
    Arrivals, ErrorRates, HistogramSpec, LoopSpec, Next, PoissonSpec, RelayPorts, Role, Sharing, Ties,
};
use floodway_fabric::sizes::Sizes;
use floodway_fabric::spread::Spread;
use floodway_fabric::{Blueprint, Control, Fabric, Partitioning};
use floodway_units::{Bytes, NodeId, PortId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;
use support::{Net, assert_invariants, everything, params, sum};

/// All that is kept of a run in these partitions.
fn run(blueprint: &Blueprint, parts: &Partitioning) -> String {
    let control = Control::default();
    let fabric = Fabric::build_parts(blueprint, &control, parts).unwrap_or_else(|error| panic!("{error}"));
    let records = fabric.run();
    assert_invariants(&records);
    everything(&records)
}

fn whole(blueprint: &Blueprint) -> String {
    let control = Control::default();
    everything(&Fabric::build(blueprint, &control).unwrap_or_else(|error| panic!("{error}")).run())
}

/// Where two texts part, with what is around.
fn difference(a: &str, b: &str) -> String {
    let at = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let name = a[..at].rfind("name: ").map_or("", |from| &a[from..at.min(from + 60)]);
    let around = |text: &str| text[at.saturating_sub(60)..text.len().min(at + 60)].to_owned();
    format!("{name}\n{}\n{}", around(a), around(b))
}

fn assert_same(blueprint: &Blueprint, parts: &Partitioning) {
    let (one, many) = (whole(blueprint), run(blueprint, parts));
    assert!(one == many, "{parts:?}\n{}", difference(&one, &many));
}

const G100: Rate = Rate::gbps(100);

/// What is drawn of a network.
#[derive(Clone, Debug)]
struct Plan {
    seed: u64,
    switches: usize,
    /// Links between switches beyond those of a tree: (from, to), both modulo their number.
    more: Vec<(usize, usize)>,
    /// By switch: its hosts.
    hosts: Vec<usize>,
    delays: Vec<u64>,
    flow_control: usize,
    transport: usize,
    point: usize,
    chance: usize,
    routing: usize,
    classes: bool,
    traffic: usize,
    relay: bool,
    pipeline: bool,
    /// By node: the group that it is to be in.
    groups: Vec<usize>,
    parts: usize,
    threads: usize,
}

fn plans() -> impl Strategy<Value = Plan> {
    let network = (
        any::<u64>(),
        2..6usize,
        prop::collection::vec((0..6usize, 0..6usize), 0..3),
        prop::collection::vec(1..3usize, 6),
        prop::collection::vec(200..3_000u64, 24),
    );
    let choices = (0..FLOW_CONTROLS.len(), 0..TRANSPORTS.len(), 0..POINTS.len(), 0..5usize, 0..2usize);
    let more = (any::<bool>(), 0..4usize, prop::bool::weighted(0.3), prop::bool::weighted(0.2));
    let cut = (prop::collection::vec(0..4usize, 40), 2..5usize, 1..4usize);
    (network, choices, more, cut).prop_map(|(network, choices, others, cut)| {
        let (seed, switches, more, hosts, delays) = network;
        let (flow_control, transport, point, chance, routing) = choices;
        let (classes, traffic, relay, pipeline) = others;
        let (groups, parts, threads) = cut;
        Plan {
            seed, switches, more, hosts, delays, flow_control, transport, point, chance, routing, classes,
            traffic, relay, pipeline, groups, parts, threads,
        }
    })
}

const FLOW_CONTROLS: [&str; 7] = [
    r#"{"pfc": {"xoff": "20KB"}}"#,
    r#"{"pfc": {"xoff": "20KB", "pause": "on-off"}}"#,
    r#""bifrost""#,
    r#""cbfc""#,
    r#"{"cbfc": {"mode": "infiniband"}}"#,
    r#"{"pfc": {"xoff": "15KB", "watchdog": {"after": "50us", "restore": "50us", "action": "drop"}}}"#,
    r#""lossy""#,
];

/// Reliability and rate control.
const TRANSPORTS: [(&str, &str); 8] = [
    (r#""go-back-n""#, r#""dcqcn""#),
    (r#""go-back-n""#, r#""hpcc""#),
    (r#""irn""#, r#""dcqcn""#),
    (r#""go-back-n""#, r#""timely""#),
    (r#""go-back-n""#, r#""dctcp""#),
    (r#""irn""#, r#""line-rate""#),
    (r#""none""#, r#""line-rate""#),
    (r#""go-back-n""#, r#"{"static-window": {"size": "20KB"}}"#),
];

const POINTS: [Option<&str>; 3] = [
    None,
    Some(r#"{"red": {"kmin": "5KB", "kmax": "40KB", "pmax": 0.2}}"#),
    Some(r#"{"proxy-cnp": {"kmin": "5KB", "kmax": "40KB", "interval": "5us"}}"#),
];

impl Plan {
    fn net(&self) -> Net {
        let (reliability, rate_control) = TRANSPORTS[self.transport];
        let mut net = Net::new(Format::Ethernet).reliability(reliability).rate_control(&[rate_control]);
        let settings = &mut net.blueprint.settings[0];
        settings.notification = floodway_mechanisms::registry::NotificationParams::asked_by(&settings.rate_control);
        net.blueprint.seed = self.seed;
        net = net.limit(Span::us(350));
        let control = FLOW_CONTROLS[self.flow_control];
        let buffer = if control == r#""lossy""# { r#"{"shared": {"pool": "60KB"}}"# } else { r#"{"static": {"size": "auto"}}"# };
        let switches: Vec<NodeId> =
            (0..self.switches).map(|i| net.switch_with(&format!("s{i}"), buffer)).collect();
        let mut delays = self.delays.iter().cycle().map(|&ns| Span::ns(ns));
        let mut delay = || delays.next().expect("there are some");
        let mut hosts = Vec::new();
        for (i, &switch) in switches.iter().enumerate() {
            for j in 0..self.hosts[i] {
                let host = net.host(&format!("h{i}{j}"));
                net.link(host, switch, G100, delay(), control);
                hosts.push(host);
            }
        }
        for i in 1..self.switches {
            net.link(switches[i / 2], switches[i], G100, delay(), control);
        }
        for &(a, b) in &self.more {
            let (a, b) = (a % self.switches, b % self.switches);
            if a != b {
                net.link(switches[a], switches[b], G100, delay(), control);
            }
        }
        if self.relay {
            self.add_relays(&mut net, switches[0], switches[self.switches - 1], delay());
        }
        self.choose(&mut net, &switches, &hosts);
        self.send(&mut net, &hosts);
        net
    }

    /// A long link with relays at both ends.
    fn add_relays(&self, net: &mut Net, a: NodeId, b: NodeId, delay: Span) {
        let pfc = r#"{"pfc": {"xoff": "20KB"}}"#;
        let relays = ["ra", "rb"].map(|name| net.switch(name));
        let cables = [net.link(a, relays[0], G100, Span::ns(50), pfc), net.link(b, relays[1], G100, Span::ns(50), pfc)];
        let long = net.link(relays[0], relays[1], G100, delay, r#""swing""#);
        for (end, (relay, cable)) in relays.into_iter().zip(cables).enumerate() {
            let ports = RelayPorts { local: support::port(cable, 1), remote: support::port(long, end) };
            let Role::Switch(spec) = &mut net.blueprint.nodes[relay.index()].role else { panic!("it is one") };
            spec.relay = Some(ports);
        }
    }

    fn choose(&self, net: &mut Net, switches: &[NodeId], hosts: &[NodeId]) {
        for &switch in switches {
            if self.routing == 1 {
                net.routing(switch, r#""spray""#);
            }
            if self.pipeline {
                net.pipeline(switch, Span::ns(300));
            }
        }
        for link in &mut net.blueprint.links {
            for end in &mut link.ends {
                if switches.contains(&end.node) {
                    end.congestion_points = POINTS[self.point].iter().map(|point| params(point)).collect();
                }
            }
        }
        let errors = ErrorRates { data: 0.002, control: 0.002, link_control: 0.002 };
        for (i, link) in net.blueprint.links.iter_mut().enumerate() {
            for direction in &mut link.directions {
                if self.chance & 1 > 0 && i % 2 == 0 {
                    direction.jitter = Span::ns(300);
                }
                if self.chance & 2 > 0 && i % 3 == 0 {
                    direction.errors = errors;
                }
            }
        }
        if self.chance == 4 {
            let last = net.blueprint.links.len() - 1;
            net.blueprint.links[last].down = vec![(Time::ZERO + Span::us(40), Time::ZERO + Span::us(90))];
            net.pauses(0, hosts[0], Span::us(30), Time::ZERO + Span::us(60));
        }
        if self.classes {
            net.second_class();
            net.scheduler(r#""deficit-round-robin""#);
        }
        net.blueprint.records.pauses = Some(200);
        if self.pipeline {
            net.blueprint.records.queue_histogram = Some(HistogramSpec {
                from: Time::ZERO,
                to: Time::NEVER,
                every: Span::us(1),
                bin: Bytes(1000),
            });
        }
    }

    fn send(&self, net: &mut Net, hosts: &[NodeId]) {
        let host = |i: usize| hosts[i % hosts.len()];
        if self.traffic == 1 && self.transport != 6 {
            net.blueprint.settings[0].qp = Sharing::PerPair;
        }
        for i in 0..hosts.len() {
            net.flow(host(i), host(i + 1), Bytes(150_000 + 7_000 * i as u64), Span::us(i as u64 % 3));
            net.flow(host(i), host(0), Bytes(30_000), Span::us(i as u64 % 5)).destination = host(hosts.len() - 1 - i % 2);
        }
        let Arrivals::List(flows) = &mut net.blueprint.workloads[0].arrivals else { panic!("a list") };
        flows.retain(|flow| flow.source != flow.destination);
        flows.sort_by_key(|flow| flow.start);
        if self.traffic == 2 {
            let first = flows[0].clone();
            let mut answer = first.clone();
            (answer.source, answer.destination, answer.after) = (first.destination, first.source, vec![0]);
            answer.wait = Span::us(2);
            flows.push(answer);
        }
        let poisson = net.workload("poisson");
        net.blueprint.workloads[poisson].arrivals = Arrivals::Poisson(PoissonSpec {
            sources: hosts.to_vec(),
            destinations: hosts.to_vec(),
            spread: Spread::Uniform,
            sizes: Sizes::new(&[(100.0, 0.0), (5_000.0, 50.0), (50_000.0, 100.0)]).expect("it is one"),
            mean_gap: Span::us(12),
            from: Time::ZERO,
            until: Time::ZERO + Span::us(120),
        });
        if self.classes {
            net.blueprint.workloads[poisson].settings = 1;
        }
        if self.traffic == 3 {
            let loops = net.workload("loops");
            net.blueprint.workloads[loops].arrivals = Arrivals::ClosedLoop(self.loops(hosts));
        }
    }

    /// One loop that goes on as it is sent, and a pair of which each answers the other.
    fn loops(&self, hosts: &[NodeId]) -> Vec<LoopSpec> {
        let (a, b) = (hosts[0], hosts[hosts.len() - 1]);
        let of = |source, destination, ahead, next| LoopSpec {
            source,
            destination,
            size: Bytes(4_000),
            messages: 20,
            ahead,
            start: Time::ZERO + Span::us(1),
            next,
        };
        vec![of(a, b, 2, Next::Sent), of(b, a, 0, Next::Arrived(2)), of(a, b, 1, Next::Arrived(1))]
    }

    fn partitioning(&self, blueprint: &Blueprint) -> Partitioning {
        let mut groups = vec![Vec::new(); self.parts];
        for node in 0..blueprint.nodes.len() {
            // Some follow their neighbours.
            if let Some(group) = groups.get_mut(self.groups[node]) {
                group.push(NodeId(node as u32));
            }
        }
        let given = Partitioning::of_groups(blueprint, &groups);
        given.unwrap_or_else(|_| Partitioning::automatic(blueprint, self.parts)).on(self.threads)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_network_in_any_partitions_keeps_the_same_bytes(plan in plans()) {
        let net = plan.net();
        let parts = plan.partitioning(&net.blueprint);
        assert_same(&net.blueprint, &parts);
    }
}
