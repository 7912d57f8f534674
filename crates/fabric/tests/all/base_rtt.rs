//! Base round-trip times are those of one packet and its ACK in an empty network, to the picosecond.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use crate::support;
use crate::support::plans::Plan;
use crate::support::{Net, PFC, assert_invariants, port, real};
use floodway_fabric::blueprint::{Acks, Arrivals, Blueprint, Role, Rounding, Ties};
use floodway_fabric::routing::{Routes, peer};
use floodway_fabric::{Control, Fabric, Records, RoundTrips};
use floodway_mechanisms::registry::AnyCongestionPoint;
use floodway_mechanisms::slots::{CongestionPoint, CpAction, Cx, Mark, PacketView, QueueView};
use floodway_units::{Bytes, NodeId, PortId, Rate, Span, Time};
use floodway_wire::Format;
use proptest::prelude::*;

/// Bytes that the first packet of a message has more than the others (RETH), on an Ethernet.
const RETH: u64 = 16;
/// From the start of one flow to that of the next: far more than a round trip.
const APART: Span = Span::us(500);

/// A line of switches, each with a host; random in all that a round trip depends on.
#[derive(Clone, Debug)]
struct Line {
    format: Format,
    rounding: Rounding,
    ties: Ties,
    acks: Acks,
    telemetry: bool,
    /// Of each switch: its buffer, and picoseconds of its pipeline.
    switches: Vec<(usize, u64)>,
    /// Of each link in each direction: nanoseconds; and which rate it has.
    links: Vec<([u64; 2], usize)>,
    /// Relays stand on the last trunk, with this pipeline in picoseconds.
    relays: Option<u64>,
}

const BUFFERS: [&str; 4] = [
    r#"{"static": {"size": "auto"}}"#,
    r#"{"shared": {"pool": "1MB", "reserve": "100KB"}}"#,
    r#"{"ioq": {"voq": "200KB", "output": "20KB", "speed-up": 1.5}}"#,
    r#"{"ioq": {"voq": "200KB"}}"#,
];
const RATES: [u64; 6] = [100, 25, 40, 400, 30, 10];

fn line() -> impl Strategy<Value = Line> {
    let format = prop::sample::select(vec![Format::Ethernet, Format::HpccNs3, Format::SwingNs3]);
    let order = prop::sample::select(vec![
        (Rounding::Picosecond, Ties::Hashed),
        (Rounding::Picosecond, Ties::SchedulingOrder),
        (Rounding::TruncatedNanosecond, Ties::SchedulingOrder),
    ]);
    let acks = prop::sample::select(vec![Acks::Control, Acks::Data, Acks::DataUnpaused]);
    let pipeline = || prop_oneof![Just(0u64), 1u64..3_000_000];
    let switches = prop::collection::vec((0..BUFFERS.len(), pipeline()), 1..5);
    let links = prop::collection::vec((prop::array::uniform2(1u64..20_000), 0..RATES.len()), 10);
    let relays = prop::option::of(pipeline());
    let made = (format, order, acks, any::<bool>(), switches, links, relays);
    made.prop_map(|(format, (rounding, ties), acks, telemetry, switches, links, relays)| Line {
        format,
        rounding,
        ties,
        acks,
        telemetry,
        switches,
        links,
        relays,
    })
}

impl Line {
    /// The network, and its hosts.
    fn net(&self) -> (Net, Vec<NodeId>) {
        let rate_control = if self.telemetry { r#""hpcc""# } else { r#""line-rate""# };
        let mut net = Net::new(self.format).reliability(r#""go-back-n""#).rate_control(&[rate_control]);
        let semantics = &mut net.blueprint.semantics;
        (semantics.rounding, semantics.ties, semantics.acks) = (self.rounding, self.ties, self.acks);
        let mut links = self.links.iter();
        let mut connect = |net: &mut Net, a, b| {
            let &([there, back], rate) = links.next().expect("there are enough");
            let link = net.link(a, b, Rate::gbps(RATES[rate]), Span::ns(1), PFC);
            net.delays(link, Span::ns(there), Span::ns(back));
        };
        let (mut switches, mut hosts): (Vec<NodeId>, Vec<NodeId>) = (Vec::new(), Vec::new());
        for (i, &(buffer, pipeline)) in self.switches.iter().enumerate() {
            let switch = net.switch_with(&format!("s{i}"), BUFFERS[buffer]);
            net.pipeline(switch, Span(pipeline));
            let host = net.host(&format!("h{i}"));
            connect(&mut net, host, switch);
            let is_last = i + 1 == self.switches.len();
            match (switches.last(), self.relays) {
                (Some(&before), Some(pipeline)) if is_last => {
                    Plan::add_relays(&mut net, before, switch, Span::us(30));
                    let relays =
                        net.blueprint.nodes.iter().filter(|node| ["ra", "rb"].contains(&&*node.name));
                    let relays: Vec<NodeId> = relays.map(|node| NodeId(node.rank)).collect();
                    for relay in relays {
                        net.pipeline(relay, Span(pipeline));
                    }
                }
                (Some(&before), _) => connect(&mut net, before, switch),
                (None, _) => connect_spare(&mut net, switch, &mut hosts),
            }
            switches.push(switch);
            hosts.push(host);
        }
        (net, hosts)
    }

    /// Bytes of a message of one packet that is as long as a full one behind the first.
    fn behind_the_first(&self, mtu: u64) -> u64 {
        mtu - if self.format == Format::Ethernet { RETH } else { 0 }
    }
}

/// A second host at the first switch, so that two are there even if it is the only one.
fn connect_spare(net: &mut Net, switch: NodeId, hosts: &mut Vec<NodeId>) {
    let host = net.host("h");
    net.link(host, switch, Rate::gbps(50), Span::ns(123), PFC);
    hosts.push(host);
}

/// Notes the base round-trip times that mechanisms see, by flow: each has a time of its own.
struct Noted(Arc<Mutex<BTreeMap<u64, Vec<Span>>>>);

impl CongestionPoint for Noted {
    fn on_enqueue(&mut self, cx: &mut Cx<'_, CpAction>, p: &PacketView, q: &QueueView) -> Mark {
        if !p.is_reply {
            self.0.lock().expect("nobody panics").entry(cx.now.0 / APART.0).or_default().push(q.base_rtt);
        }
        Mark::None
    }
}

/// Runs the flows; what the mechanisms of each saw, and its measured round trip, in picoseconds.
fn run(blueprint: &Blueprint) -> (Vec<Span>, Vec<u64>) {
    let control = Control::default();
    let mut fabric = Fabric::build(blueprint, &control).unwrap_or_else(|error| panic!("{error}"));
    let noted = Arc::new(Mutex::new(BTreeMap::new()));
    for (i, link) in blueprint.links.iter().enumerate() {
        for (end, spec) in link.ends.iter().enumerate() {
            if matches!(blueprint.nodes[spec.node.index()].role, Role::Switch(_)) {
                let point = AnyCongestionPoint::Custom(Box::new(Noted(Arc::clone(&noted))));
                fabric.add_congestion_point(port(i, end), point).expect("it claims nothing");
            }
        }
    }
    let records = fabric.run();
    assert_invariants(&records);
    let noted = noted.lock().expect("nobody panics");
    let one = |spans: &Vec<Span>| {
        assert!(spans.iter().all(|span| *span == spans[0]), "{spans:?}");
        spans[0]
    };
    (noted.values().map(one).collect(), round_trips(&records))
}

fn round_trips(records: &Records) -> Vec<u64> {
    let column = |name| real(records.flows.column(name));
    let ends = column("finish_sender_us").into_iter().zip(column("start_us"));
    ends.map(|(finish, start)| ((finish - start) * 1e6).round() as u64).collect()
}

fn path(routes: &Routes, from: NodeId, to: NodeId) -> Vec<PortId> {
    let (mut at, mut path) = (from, Vec::new());
    for _ in 0..32 {
        if at == to {
            return path;
        }
        let port = routes.candidates(at, to)[0];
        path.push(port);
        at = routes.node_of(peer(port));
    }
    panic!("{from:?} does not lead to {to:?}")
}

/// Sends a packet of `size` bytes between any two hosts, one after another: what mechanisms see, and what it
/// takes.
fn send_alone(net: &mut Net, hosts: &[NodeId], size: u64) -> (Vec<u64>, Vec<u64>) {
    net.blueprint.workloads[0].arrivals = Arrivals::List(Vec::new());
    let mut start = Span::ZERO;
    for (a, b) in pairs(hosts) {
        net.flow(a, b, Bytes(size), start);
        start += APART;
    }
    net.blueprint.end.limit = Time::ZERO + start;
    net.blueprint.end.acknowledged = true;
    let (noted, measured) = run(&net.blueprint);
    (noted.into_iter().map(|span| span.0).collect(), measured)
}

fn pairs(hosts: &[NodeId]) -> impl Iterator<Item = (NodeId, NodeId)> {
    hosts.iter().flat_map(|&a| hosts.iter().map(move |&b| (a, b))).filter(|(a, b)| a != b)
}

/// What `floodway check` shows.
fn shown(blueprint: &Blueprint, hosts: &[NodeId]) -> Vec<u64> {
    let (routes, trips) = (Routes::new(blueprint), RoundTrips::new(blueprint));
    let trip = |(a, b)| {
        let path = path(&routes, a, b);
        trips.along(path.iter().copied(), path.iter().rev().map(|&port| peer(port))).0
    };
    pairs(hosts).map(trip).collect()
}

proptest! {
    #![proptest_config(support::property(150))]
    #[test]
    fn a_base_rtt_is_the_time_of_one_packet_and_its_ack_alone(line in line()) {
        let (mut net, hosts) = line.net();
        let mtu = net.blueprint.mtu.0;
        let shown = shown(&net.blueprint, &hosts);
        prop_assert_eq!(send_alone(&mut net, &hosts, mtu).1, shown);
        // Mechanisms see the time of the packets behind the first.
        let (noted, measured) = send_alone(&mut net, &hosts, line.behind_the_first(mtu));
        prop_assert_eq!(measured, noted);
    }
}
