//! Random small networks with every mechanism, for properties that hold of any.

use floodway_fabric::ThreadPlan;
use floodway_fabric::blueprint::{
    AllowanceSpec, Arrivals, Blueprint, ErrorRates, HistogramSpec, LinkSpec, LoopSpec, Next, NicPolicy,
    PoissonSpec, ReceiveSpec, RelayPorts, Role, ShareSpec, Sharing,
};
use floodway_fabric::destinations::DestinationPattern;
use floodway_fabric::sizes::Sizes;
use floodway_mechanisms::registry::NotificationParams;
use floodway_units::{Bytes, NodeId, PortId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

use super::{Net, POINTS, may_stand, params};

const G100: Rate = Rate::gbps(100);

/// What is drawn of a network.
#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub switches: usize,
    /// Links between switches beyond those of a tree: (from, to), both modulo their number.
    pub more: Vec<(usize, usize)>,
    /// By switch: its hosts.
    pub hosts: Vec<usize>,
    pub delays: Vec<u64>,
    pub flow_control: usize,
    pub transport: usize,
    pub point: usize,
    pub chance: usize,
    pub routing: usize,
    pub classes: bool,
    pub traffic: usize,
    pub relay: bool,
    pub pipeline: bool,
    /// Buffers are too small for what is on its way.
    pub tight: bool,
    /// Switches are input-output queued.
    pub crossbar: bool,
    /// By node: the group that it is to be in.
    pub groups: Vec<usize>,
    pub parts: usize,
    pub threads: usize,
    /// PFC, and the buffer of a switch is one pool that all its ports share.
    pub pooled: bool,
    /// Every other host drains slower than its link: one of three rates, 0 for none.
    pub slow: usize,
    /// Some hosts have two NICs, whose links fail: 1 to give them up at once, 2 later, 3 never; 0 for none.
    /// Above these, the same where each packet selects one, and so on.
    pub nics: usize,
}

/// As plans, with hosts that drain slower than their links, and with several NICs.
pub fn host_plans() -> impl Strategy<Value = Plan> {
    (plans(), 0..4usize, 0..10usize).prop_map(|(plan, slow, nics)| Plan { slow, nics, ..plan })
}

pub fn plans() -> impl Strategy<Value = Plan> {
    let network = (
        any::<u64>(),
        2..6usize,
        prop::collection::vec((0..6usize, 0..6usize), 0..3),
        prop::collection::vec(1..3usize, 6),
        prop::collection::vec(200..3_000u64, 24),
    );
    let choices = (0..FLOW_CONTROLS.len(), 0..TRANSPORTS.len(), 0..POINTS.len(), 0..5usize, 0..3usize);
    let more =
        (any::<bool>(), 0..4usize, prop::bool::weighted(0.3), any::<[bool; 2]>(), prop::bool::weighted(0.3));
    let cut = (prop::collection::vec(0..4usize, 40), 2..5usize, 1..4usize);
    (network, choices, more, cut).prop_map(|(network, choices, others, cut)| {
        let (seed, switches, more, hosts, delays) = network;
        let (flow_control, transport, point, chance, routing) = choices;
        let (classes, traffic, relay, [pipeline, tight], crossbar) = others;
        let (groups, parts, threads) = cut;
        Plan {
            seed,
            switches,
            more,
            hosts,
            delays,
            flow_control,
            transport,
            point,
            chance,
            routing,
            classes,
            traffic,
            relay,
            pipeline,
            tight,
            crossbar,
            groups,
            parts,
            threads,
            pooled: false,
            slow: 0,
            nics: 0,
        }
    })
}

pub const FLOW_CONTROLS: [&str; 7] = [
    r#"{"pfc": {"xoff": "20KB"}}"#,
    r#"{"pfc": {"xoff": "20KB", "pause": "on-off"}}"#,
    r#"{"bifrost": {"slot": "1500ns"}}"#,
    r#""cbfc""#,
    r#"{"cbfc": {"mode": "infiniband"}}"#,
    r#"{"pfc": {"xoff": "15KB", "watchdog": {"after": "50us", "restore": "50us", "action": "drop"}}}"#,
    r#""lossy""#,
];

/// Of a pooled network: a threshold that falls as the switch's buffer fills.
const POOLED: &str = r#"{"pfc": {"xoff": {"alpha": 0.5}}}"#;

/// Reliability and rate control. Where a port marks UE, DCQCN holds its rate.
pub const TRANSPORTS: [(&str, &[&str]); 9] = [
    (r#""go-back-n""#, &[r#"{"dcqcn": {"ue": "hold"}}"#]),
    (r#""go-back-n""#, &[r#""hpcc""#]),
    (r#""irn""#, &[r#"{"dcqcn": {"ue": "hold"}}"#]),
    (r#""go-back-n""#, &[r#""timely""#]),
    (r#""go-back-n""#, &[r#""dctcp""#]),
    (r#""irn""#, &[r#""line-rate""#]),
    (r#""none""#, &[r#""line-rate""#]),
    (r#""go-back-n""#, &[r#"{"static-window": {"size": "20KB"}}"#]),
    (r#""go-back-n""#, &[r#"{"dcqcn": {"ue": "hold"}}"#, r#""mercury""#]),
];

impl Plan {
    /// Its network, with flows that wait for credits of their receivers, which all ports limit.
    pub fn net_with_credits(&self) -> Net {
        let mut net = self.net();
        for settings in &mut net.blueprint.settings {
            settings.rate_control = vec![params(r#""expresspass""#)];
            settings.notification = NotificationParams::asked_by(&settings.rate_control);
        }
        for end in net.blueprint.links.iter_mut().flat_map(|link| &mut link.ends) {
            end.congestion_points.push(params(r#""expresspass""#));
        }
        net
    }

    /// The flow control of its links.
    pub fn control(&self) -> &'static str {
        if self.pooled { POOLED } else { FLOW_CONTROLS[self.flow_control] }
    }

    pub fn net(&self) -> Net {
        let (reliability, rate_control) = TRANSPORTS[self.transport];
        let mut net = Net::new(Format::Ethernet).reliability(reliability).rate_control(rate_control);
        let settings = &mut net.blueprint.settings[0];
        settings.notification = NotificationParams::asked_by(&settings.rate_control);
        net.blueprint.seed = self.seed;
        net = net.limit(Span::us(350));
        let control = self.control();
        let buffer = match (control, self.tight) {
            _ if self.pooled => r#"{"shared": {"pool": "60KB"}}"#,
            (_, false) if self.crossbar => r#"{"ioq": {"voq": "1MB", "output": "9KB", "speed-up": 1.5}}"#,
            (control, true) if self.crossbar && control.contains("pfc") => r#"{"ioq": {"voq": "22KB"}}"#,
            (r#""lossy""#, _) => r#"{"shared": {"pool": "60KB"}}"#,
            (control, true) if control.contains("pfc") => r#"{"static": {"size": "22KB"}}"#,
            _ => r#"{"static": {"size": "auto"}}"#,
        };
        let switches: Vec<NodeId> =
            (0..self.switches).map(|i| net.switch_with(&format!("s{i}"), buffer)).collect();
        // Bifrost is for links that are longer than a switch takes to react.
        let more = if control.contains("bifrost") { 2_000 } else { 0 };
        let mut delays = self.delays.iter().cycle().map(|&ns| Span::ns(ns + more));
        let mut delay = || delays.next().expect("there are some");
        let mut hosts = Vec::new();
        for (i, &switch) in switches.iter().enumerate() {
            for j in 0..self.hosts[i] {
                let host = net.host(&format!("h{i}{j}"));
                net.link(host, switch, G100, delay(), control);
                hosts.push(host);
            }
        }
        for (i, &host) in hosts.iter().enumerate().take(3).filter(|_| self.nics > 0) {
            net.link(host, switches[(i + 1) % self.switches], G100, delay(), control);
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
            Self::add_relays(&mut net, switches[0], switches[self.switches - 1], delay());
        }
        self.choose(&mut net, &switches, &hosts);
        self.choose_nics(&mut net, &hosts);
        self.send(&mut net, &hosts);
        net
    }

    /// A long link with relays at both ends.
    pub fn add_relays(net: &mut Net, a: NodeId, b: NodeId, delay: Span) {
        let pfc = r#"{"pfc": {"xoff": "20KB"}}"#;
        let relays = ["ra", "rb"].map(|name| net.switch(name));
        let cables = [
            net.link(a, relays[0], G100, Span::ns(50), pfc),
            net.link(b, relays[1], G100, Span::ns(50), pfc),
        ];
        let long = net.link(relays[0], relays[1], G100, delay, r#""swing""#);
        for (end, (relay, cable)) in relays.into_iter().zip(cables).enumerate() {
            let ports = RelayPorts { local: super::port(cable, 1), remote: super::port(long, end) };
            let Role::Switch(spec) = &mut net.blueprint.nodes[relay.index()].role else {
                panic!("it is one")
            };
            spec.relay = Some(ports);
        }
    }

    fn choose(&self, net: &mut Net, switches: &[NodeId], hosts: &[NodeId]) {
        for &switch in switches {
            if self.routing > 0 {
                net.routing(switch, [r#""spray""#, r#""sar""#][self.routing - 1]);
            }
            if self.pipeline {
                net.pipeline(switch, Span::ns(300));
            }
        }
        for link in &mut net.blueprint.links {
            for end in &mut link.ends {
                if switches.contains(&end.node) {
                    let buffer = if self.crossbar { "ioq" } else { "" };
                    let control = self.control();
                    let fitting = POINTS[self.point].iter().filter(|point| may_stand(point, control, buffer));
                    end.congestion_points = fitting.map(|point| params(point)).collect();
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
            net.blueprint.links[last].detection = Span::us(if self.pipeline { 4 } else { 0 });
            net.blueprint.links[last].convergence = Span::us(if self.classes { 7 } else { 0 });
            let links = net.blueprint.links.iter_mut().step_by(3);
            for direction in links.flat_map(|link| &mut link.directions) {
                let (Span(delay), at) = (direction.delay, Time::ZERO + Span::us(50));
                direction.switchovers = vec![(at, Span(delay / 2 + 1)), (at + Span::us(30), Span(delay * 2))];
            }
            net.pauses(0, hosts[0], Span::us(30), Time::ZERO + Span::us(60));
        }
        if self.relay && self.chance >= 2 {
            let at = |us| Time::ZERO + Span::us(us);
            let periods =
                [vec![(at(20), at(70))], if self.classes { vec![(at(60), at(100))] } else { vec![] }];
            let relays = net.blueprint.nodes.iter_mut().filter(|node| node.role.relay().is_some());
            for (relay, periods) in relays.zip(periods) {
                let Role::Switch(spec) = &mut relay.role else { panic!("it is one") };
                spec.bypass = periods;
            }
        }
        if self.classes {
            net.second_class();
            net.scheduler(r#""deficit-round-robin""#);
        }
        net.blueprint.records.pauses = Some(200);
        net.blueprint.records.signals = Some(200);
        net.blueprint.records.allowances = Some(AllowanceSpec { workloads: vec![0, 1], rows: 200 });
        let ports = (0..2 * net.blueprint.links.len() as u32).map(PortId).collect();
        net.blueprint.records.shares = Some(ShareSpec { ports, bucket: Span::us(3), rows: 200 });
        if self.pipeline {
            net.blueprint.records.queue_histogram = Some(HistogramSpec {
                from: Time::ZERO,
                to: Time::NEVER,
                every: Span::us(1),
                bin: Bytes(1000),
            });
        }
    }

    /// How hosts take in what they receive, and what they do when a link of theirs fails.
    fn choose_nics(&self, net: &mut Net, hosts: &[NodeId]) {
        let auto = r#"{"static": {"size": "auto"}}"#;
        let small = self.control().contains("pfc") && self.tight;
        let buffer = if small { r#"{"static": {"size": "22KB"}}"# } else { auto };
        let drain = self.slow.checked_sub(1).map(|slow| Rate::gbps([15, 60, 99][slow]));
        let at = |us| Time::ZERO + Span::us(us);
        let downs = [vec![(at(40), at(120))], vec![(at(90), at(100)), (at(110), at(160))]];
        for link in &mut net.blueprint.links {
            for end in &mut link.ends {
                let Some(host) = hosts.iter().position(|&host| host == end.node) else { continue };
                let drain = drain.filter(|_| host % 2 == self.seed as usize % 2);
                end.receive = drain.map(|drain| ReceiveSpec { drain, buffer: params(buffer) });
                if self.nics > 0 && host < 3 {
                    end.failover = [Some(Span::ZERO), Some(Span::us(7)), None][(self.nics - 1) % 3];
                }
            }
        }
        if let Some(policy) = self.nics.checked_sub(1) {
            let policy = [NicPolicy::PerQp, NicPolicy::Spray, NicPolicy::ActiveBackup][policy / 3];
            for &host in hosts.iter().take(3) {
                let Role::Host { nics, .. } = &mut net.blueprint.nodes[host.index()].role else {
                    panic!("it is one")
                };
                *nics = policy;
            }
            let is_of = |link: &LinkSpec, host: NodeId| link.ends.iter().any(|end| end.node == host);
            let own: Vec<usize> = (0..net.blueprint.links.len())
                .filter(|&link| is_of(&net.blueprint.links[link], hosts[0]))
                .collect();
            for (&link, down) in own.iter().zip(downs) {
                net.blueprint.links[link].down = down;
            }
        }
    }

    fn send(&self, net: &mut Net, hosts: &[NodeId]) {
        let host = |i: usize| hosts[i % hosts.len()];
        if self.traffic == 1 && self.transport != 6 {
            net.blueprint.settings[0].qp = Sharing::PerPair;
        }
        for i in 0..hosts.len() {
            net.flow(host(i), host(i + 1), Bytes(150_000 + 7_000 * i as u64), Span::us(i as u64 % 3));
            net.flow(host(i), host(0), Bytes(30_000), Span::us(i as u64 % 5)).destination =
                host(hosts.len() - 1 - i % 2);
        }
        let Arrivals::List(flows) = &mut net.blueprint.workloads[0].arrivals else { panic!("a list") };
        flows.retain(|flow| flow.source != flow.destination);
        flows.sort_by_key(|flow| flow.start);
        if self.traffic == 2 {
            let first = flows[0].clone();
            let mut answer = first.clone();
            (answer.source, answer.destination, answer.after) = (first.destination, first.source, vec![0]);
            (answer.start, answer.wait) = (flows[flows.len() - 1].start, Span::us(2));
            flows.push(answer);
        }
        let poisson = net.workload("poisson");
        net.blueprint.workloads[poisson].arrivals = Arrivals::Poisson(PoissonSpec {
            sources: hosts.to_vec(),
            destinations: hosts.to_vec(),
            pattern: DestinationPattern::Uniform,
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
            net.blueprint.workloads[loops].arrivals = Arrivals::ClosedLoop(Self::loops(hosts));
        }
    }

    /// One loop that goes on as it is sent, and a pair of which each answers the other.
    fn loops(hosts: &[NodeId]) -> Vec<LoopSpec> {
        let (a, b) = (hosts[0], hosts[hosts.len() - 1]);
        let of = |source, destination, depth, next| LoopSpec {
            source,
            destination,
            size: Bytes(4_000),
            messages: 20,
            depth,
            start: Time::ZERO + Span::us(1),
            next,
        };
        vec![of(a, b, 2, Next::Sent), of(b, a, 0, Next::Arrived(2)), of(a, b, 1, Next::Arrived(1))]
    }

    /// Threads, and which nodes each visits at first.
    pub fn thread_plan(&self, blueprint: &Blueprint) -> ThreadPlan {
        let owners = (0..blueprint.nodes.len()).map(|node| (self.groups[node] % self.parts) as u8);
        ThreadPlan::with_owners(blueprint, &owners.collect::<Vec<_>>(), self.threads > 1)
    }
}
