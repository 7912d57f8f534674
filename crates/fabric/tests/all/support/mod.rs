//! Small networks for tests, built by hand.
#![allow(missing_docs, reason = "not a public interface")]

pub mod breaks;
pub mod jobs;
pub mod plans;
pub mod ranks;

use ranks::run_in_ranks;

use std::panic::{AssertUnwindSafe, catch_unwind};

use floodway_blueprint::testing;
pub use floodway_blueprint::testing::params;
use floodway_fabric::blueprint::{Arrivals, Blueprint, FlowSettings, FlowSpec, NodeSpec, PauseFault, Role};
use floodway_fabric::panics::Misused;
use floodway_fabric::table::NONE;
use floodway_fabric::{Control, Fabric, RankPlan, Records, Table, ThreadPlan, Threads, Values};
use floodway_mechanisms::registry::{FlowControlParams, ReactionParams, ReliabilityParams};
use floodway_units::{Bytes, Class, NodeId, PortId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::test_runner::Config as ProptestConfig;

/// So many cases of a property where `FLOODWAY_LONG` is set (`make test-long`), a quarter of them elsewhere.
pub fn long_property(cases: u32) -> ProptestConfig {
    property(if std::env::var_os("FLOODWAY_LONG").is_some() { cases } else { cases / 4 })
}

/// So many cases of a property; a failing one is not written into a file.
pub fn property(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

pub const PFC: &str = r#"{"pfc": {"xoff": "100KB"}}"#;

/// Congestion points that act on the short queues of small networks, and none.
pub const POINTS: [Option<&str>; 8] = [
    None,
    Some(r#"{"red": {"kmin": "5KB", "kmax": "40KB", "pmax": 0.2}}"#),
    Some(r#"{"proxy-cnp": {"kmin": "5KB", "kmax": "40KB", "interval": "5us"}}"#),
    Some(r#"{"mercury": {"threshold": "5KB", "period": "2us", "cnp-interval": "5us"}}"#),
    Some(r#"{"tcd": {"max-ton": "5us", "red": {"kmin": "5KB", "kmax": "40KB", "pmax": 0.2}}}"#),
    Some(r#"{"pacc": {"qref": "5KB", "period": "9us"}}"#),
    Some(r#"{"rcm": {"equilibrium": "3KB", "cam-depth": 8, "expire": "20us"}}"#),
    Some(CASL),
];

/// CASL that changes its mind within tens of microseconds, and drops many packets.
pub const CASL: &str = r#"{"casl": {
    "kmin": "3KB", "kmax": "15KB", "gain": 0.25, "label-above": 0.1, "release-below": 0.02, "forget-after": "40us",
    "capacity": "30KB", "drop-most": 0.5
}}"#;

/// Can this congestion point stand where packets go out by such a flow control, at a switch with such a
/// buffer?
pub fn may_stand(point: &str, flow_control: &str, buffer: &str) -> bool {
    let tolerates = flow_control.contains("pfc") || flow_control.contains("lossy");
    !point.contains("casl") || tolerates && !buffer.contains("ioq")
}

/// Puts a mechanism at all ports, of hosts too, but not at relays.
pub fn at_all_ports(blueprint: &mut Blueprint, point: &str) {
    let is_relay = |role: &Role| matches!(role, Role::Switch(switch) if switch.relay.is_some());
    let relays: Vec<bool> = blueprint.nodes.iter().map(|node| is_relay(&node.role)).collect();
    for end in blueprint.links.iter_mut().flat_map(|link| &mut link.ends) {
        if !relays[end.node.index()] {
            end.congestion_points = vec![params(point)];
        }
    }
}

/// A network in the making.
pub struct Net {
    pub blueprint: Blueprint,
}

impl Net {
    /// No node yet; `format` decides headers, full packets carry 1000 bytes, flows go without ACKs.
    pub fn new(format: Format) -> Self {
        let mut blueprint = testing::blueprint(Vec::new(), Vec::new());
        blueprint.wire = format;
        let settings = testing::settings(&[r#""line-rate""#]);
        let none = params(r#""none""#);
        blueprint.settings =
            vec![FlowSettings { reliability: none, notification: params(r#""none""#), ..settings }];
        blueprint.workloads = vec![testing::list(Vec::new())];
        blueprint.end.limit = Time::ZERO + Span::ms(100);
        Net { blueprint }
    }

    pub fn reliability(mut self, json: &str) -> Self {
        self.blueprint.settings[0].reliability = params::<ReliabilityParams>(json);
        self
    }

    pub fn rate_control(mut self, json: &[&str]) -> Self {
        self.blueprint.settings[0].rate_control =
            json.iter().map(|layer| params::<ReactionParams>(layer)).collect();
        self
    }

    pub fn limit(mut self, limit: Span) -> Self {
        self.blueprint.end.limit = Time::ZERO + limit;
        self
    }

    fn add(&mut self, mut node: NodeSpec) -> NodeId {
        node.rank = self.blueprint.nodes.len() as u32;
        let id = NodeId(node.rank);
        self.blueprint.nodes.push(node);
        id
    }

    pub fn host(&mut self, name: &str) -> NodeId {
        let mut host = testing::host(name);
        if let Role::Host { address, .. } = &mut host.role {
            *address = self.blueprint.nodes.len() as u32 + 1;
        }
        self.add(host)
    }

    /// A switch whose ports have the buffer that their flow control asks for.
    pub fn switch(&mut self, name: &str) -> NodeId {
        self.switch_with(name, r#"{"static": {"size": "auto"}}"#)
    }

    pub fn switch_with(&mut self, name: &str, buffer: &str) -> NodeId {
        self.add(testing::switch_with(name, buffer))
    }

    /// A link with the same flow control in both directions; its number.
    pub fn link(&mut self, a: NodeId, b: NodeId, rate: Rate, delay: Span, flow_control: &str) -> usize {
        let name = |node: NodeId| &self.blueprint.nodes[node.index()].name;
        let mut link = testing::link(&format!("{}-{}", name(a), name(b)), [a.0, b.0], 100);
        for direction in &mut link.directions {
            (direction.rate, direction.delay) = (rate, delay);
            direction.flow_control = vec![(Class::DATA, params::<FlowControlParams>(flow_control))];
        }
        self.blueprint.links.push(link);
        self.blueprint.links.len() - 1
    }

    /// A flow of the first workload.
    pub fn flow(&mut self, source: NodeId, destination: NodeId, size: Bytes, start: Span) -> &mut FlowSpec {
        self.flow_of(0, source, destination, size, start)
    }

    pub fn flow_of(
        &mut self,
        workload: usize,
        source: NodeId,
        destination: NodeId,
        size: Bytes,
        start: Span,
    ) -> &mut FlowSpec {
        let Arrivals::List(flows) = &mut self.blueprint.workloads[workload].arrivals else {
            panic!("the workload is a list")
        };
        let flow = testing::flow(flows.len(), [source.0, destination.0], size);
        flows.push(FlowSpec { start: Time::ZERO + start, ..flow });
        flows.last_mut().expect("just pushed")
    }

    /// A second list of flows.
    pub fn workload(&mut self, name: &str) -> usize {
        let mut workload = self.blueprint.workloads[0].clone();
        workload.name = name.into();
        workload.arrivals = Arrivals::List(Vec::new());
        self.blueprint.workloads.push(workload);
        self.blueprint.workloads.len() - 1
    }

    pub fn run(&self) -> Records {
        run(&self.blueprint)
    }
}

/// Runs a blueprint; broken invariants fail the test.
pub fn run(blueprint: &Blueprint) -> Records {
    let control = Control::default();
    let records = Fabric::build(blueprint, &control).unwrap_or_else(|error| panic!("{error}")).run();
    assert_invariants(&records);
    records
}

/// The message with which a run on so many threads refuses an answer of a mechanism from outside the tree.
pub fn refused(net: &Net, threads: usize) -> String {
    let control = Control::default();
    let fabric = Fabric::build(&net.blueprint, &control).expect("it is sound");
    let plan = ThreadPlan::of_run(&net.blueprint, Threads::Forced(threads), threads);
    let ended = catch_unwind(AssertUnwindSafe(|| drop(fabric.on(&plan).run()))).expect_err("it is refused");
    ended.downcast_ref::<Misused>().expect("no panic").message.clone()
}

/// Runs a network on one thread, whose invariants hold, and on two threads and in two ranks, which record the
/// same.
pub fn run_on_one_thread_and_two(net: &Net) -> Records {
    let control = Control::default();
    let build = || Fabric::build(&net.blueprint, &control).expect("it is sound");
    let records = build().run();
    assert_invariants(&records);
    let threads = ThreadPlan::of_run(&net.blueprint, Threads::Forced(2), 2);
    let same = everything(&records) == everything(&build().on(&threads).run());
    assert!(same, "two threads keep the same");
    if let Ok(plan) = RankPlan::of_run(&net.blueprint, 2) {
        let ranked = run_in_ranks(&net.blueprint, &plan, |fabric, _| fabric);
        let (one, two) = (everything(&records), everything(&ranked));
        assert!(one == two, "two ranks\n{}", difference(&one, &two));
    }
    records
}

/// Where two texts part, with what is around.
pub fn difference(a: &str, b: &str) -> String {
    let at = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    let name = a[..at].rfind("name: ").map_or("", |from| &a[from..at.min(from + 60)]);
    let around = |text: &str| text[at.saturating_sub(60)..text.len().min(at + 60)].to_owned();
    format!("{name}\n{}\n{}", around(a), around(b))
}

pub fn assert_invariants(records: &Records) {
    use floodway_fabric::outcome::Verdict::Holds;
    let invariants = &records.outcome.invariants;
    assert_eq!(invariants.conservation, Holds);
    assert_eq!(invariants.destinations, Holds);
    assert_eq!(invariants.buffers, Holds);
    assert_eq!(invariants.slowdown, Holds);
}

/// A column of real numbers.
pub fn real(values: Option<&Values>) -> Vec<f64> {
    match values {
        Some(Values::F64(values)) => values.clone(),
        other => panic!("no real numbers: {other:?}"),
    }
}

/// A column of whole numbers.
pub fn whole(values: Option<&Values>) -> Vec<u64> {
    match values {
        Some(Values::U64(values)) => values.clone(),
        other => panic!("no whole numbers: {other:?}"),
    }
}

/// Completion times of all flows in picoseconds, in order of their start; none for an unfinished one.
pub fn fct_ps(records: &Records) -> Vec<Option<u64>> {
    real(records.flows.column("fct_us"))
        .into_iter()
        .map(|us| (!us.is_nan()).then(|| (us * 1e6).round() as u64))
        .collect()
}

/// The sum of a counter over all ports and classes.
pub fn sum(records: &Records, counter: &str) -> u64 {
    whole(records.counters.column(counter)).iter().sum()
}

/// The port by which `link` leaves its `end`.
pub fn port(link: usize, end: usize) -> PortId {
    PortId((2 * link + end) as u32)
}

/// The end of `link` at which `node` is.
fn end_at(blueprint: &Blueprint, link: usize, node: NodeId) -> usize {
    usize::from(blueprint.links[link].ends[1].node == node)
}

impl Net {
    /// Paces `link` differently in its two directions: `there` from its first end to its second.
    pub fn delays(&mut self, link: usize, there: Span, back: Span) {
        self.blueprint.links[link].directions[0].delay = there;
        self.blueprint.links[link].directions[1].delay = back;
    }

    /// A buffer of its own for what arrives at `node` by `link`.
    pub fn port_buffer(&mut self, link: usize, node: NodeId, buffer: &str) {
        let end = end_at(&self.blueprint, link, node);
        self.blueprint.links[link].ends[end].buffer = Some(params(buffer));
    }

    /// Another flow control for what arrives at `node` by `link`.
    pub fn ingress_control(&mut self, link: usize, node: NodeId, flow_control: &str) {
        let end = end_at(&self.blueprint, link, node);
        let control = &mut self.blueprint.links[link].directions[1 - end].flow_control;
        *control = vec![(Class::DATA, params(flow_control))];
    }

    /// `node` pauses the data class of its upstream on `link`.
    pub fn pauses(&mut self, link: usize, node: NodeId, from: Span, to: Time) {
        let end = end_at(&self.blueprint, link, node);
        let fault = PauseFault { class: Class::DATA, from: Time::ZERO + from, to };
        self.blueprint.links[link].ends[end].pauses.push(fault);
    }

    /// A congestion point where `node` sends on `link`.
    pub fn congestion_point(&mut self, link: usize, node: NodeId, point: &str) {
        let end = end_at(&self.blueprint, link, node);
        self.blueprint.links[link].ends[end].congestion_points.push(params(point));
    }

    /// Another buffer of `switch`.
    pub fn buffer(&mut self, switch: NodeId, buffer: &str) {
        match &mut self.blueprint.nodes[switch.index()].role {
            Role::Switch(spec) => spec.buffer = params(buffer),
            Role::Host { .. } => panic!("a host has no buffer"),
        }
    }

    /// Another choice among equal-cost ports of `switch`.
    pub fn routing(&mut self, switch: NodeId, routing: &str) {
        match &mut self.blueprint.nodes[switch.index()].role {
            Role::Switch(spec) => spec.routing = params(routing),
            Role::Host { .. } => panic!("a host does not route"),
        }
    }

    /// Packets take this long from arrival to their queue at `switch`.
    pub fn pipeline(&mut self, switch: NodeId, span: Span) {
        match &mut self.blueprint.nodes[switch.index()].role {
            Role::Switch(spec) => spec.pipeline = span,
            Role::Host { .. } => panic!("a host has no pipeline"),
        }
    }

    /// The buffers of `switch` are allocated in cells of this size.
    pub fn cell(&mut self, switch: NodeId, cell: Bytes) {
        match &mut self.blueprint.nodes[switch.index()].role {
            Role::Switch(spec) => spec.cell = cell,
            Role::Host { .. } => panic!("a host has no cells"),
        }
    }

    /// The settings `settings` but for the payload of full packets.
    pub fn with_payload(&mut self, settings: usize, payload: Bytes) -> usize {
        let of = FlowSettings {
            payload: Some(payload.min(self.blueprint.mtu)),
            ..self.blueprint.settings[settings].clone()
        };
        self.blueprint.settings.push(of);
        self.blueprint.settings.len() - 1
    }

    /// Class 4 beside class 3: settings 1 are those of class 3 but for it, and links treat both alike.
    pub fn second_class(&mut self) {
        let settings = FlowSettings { class: Class(4), ..self.blueprint.settings[0].clone() };
        self.blueprint.settings.push(settings);
        for direction in self.blueprint.links.iter_mut().flat_map(|link| &mut link.directions) {
            let control = direction.flow_control[0].1.clone();
            direction.flow_control.push((Class(4), control));
        }
    }

    /// Every port's order of queues.
    pub fn scheduler(&mut self, scheduler: &str) {
        for end in self.blueprint.links.iter_mut().flat_map(|link| &mut link.ends) {
            end.scheduler = params(scheduler);
        }
    }

    /// Egress ports along these nodes.
    pub fn path(&self, nodes: &[NodeId]) -> Vec<PortId> {
        nodes.windows(2).map(|hop| self.hop(hop[0], hop[1])).collect()
    }

    fn hop(&self, from: NodeId, to: NodeId) -> PortId {
        let links = self.blueprint.links.iter().enumerate();
        let mut ports = links.flat_map(|(i, link)| {
            (0..2)
                .filter(move |&end| link.ends[end].node == from && link.ends[1 - end].node == to)
                .map(move |end| port(i, end))
        });
        ports.next().unwrap_or_else(|| panic!("no link leads from {from:?} to {to:?}"))
    }

    /// Runs to the limit even if all flows finish before.
    pub fn until_limit(mut self) -> Self {
        self.blueprint.end.at_limit = true;
        self
    }
}

/// A column of names.
pub fn names(values: Option<&Values>) -> Vec<String> {
    match values {
        Some(Values::Text { codes, dictionary }) => {
            codes.iter().map(|&code| dictionary[code as usize].clone()).collect()
        }
        other => panic!("no names: {other:?}"),
    }
}

/// A column of names, of which some are not there.
pub fn texts(table: &Table, column: &str) -> Vec<Option<String>> {
    let Some(Values::Text { codes, dictionary }) = table.column(column) else { panic!("{column} is text") };
    codes.iter().map(|&code| (code != NONE).then(|| dictionary[code as usize].clone())).collect()
}

/// A counter of the port at which `node` is on `link`, over all classes.
pub fn counter(records: &Records, node: &str, link: &str, counter: &str) -> u64 {
    let (nodes, links) = (names(records.counters.column("node")), names(records.counters.column("link")));
    let values = whole(records.counters.column(counter));
    let rows = (0..values.len()).filter(|&row| nodes[row] == node && links[row] == link);
    let rows: Vec<usize> = rows.collect();
    assert!(!rows.is_empty(), "{node} is not on {link}");
    rows.into_iter().map(|row| values[row]).sum()
}

/// Packets dropped for any reason.
pub fn drops(records: &Records) -> u64 {
    records.outcome.drops.iter().map(|(_, packets)| packets).sum()
}

/// Packets dropped for `reason`.
pub fn drops_by(records: &Records, reason: &str) -> u64 {
    let found = records.outcome.drops.iter().find(|(name, _)| *name == reason);
    found.unwrap_or_else(|| panic!("no reason is called {reason}")).1
}

/// Whether each flow finished, in order of their start.
pub fn finished(records: &Records) -> Vec<bool> {
    fct_ps(records).into_iter().map(|fct| fct.is_some()).collect()
}

/// All that a run kept, as text: equal for equal bytes, though "none" is NaN.
pub fn everything(records: &Records) -> String {
    format!("{records:?}")
}
