//! Summary of a scenario that is built but not run.

mod egress;
mod ports;
mod relays;
mod scale_up;
mod text;

use std::collections::BTreeMap;

use floodway_fabric::blueprint::{Arrivals, Role, UNBOUNDED};
use floodway_fabric::routing::Routes;
use floodway_fabric::{Blueprint, RoundTrips};
use floodway_mechanisms::slots::Sizing;
use floodway_programs::collective::CrossNic;
use floodway_units::cast::to_usize;
use floodway_units::{Bytes, NodeId, PortId, Rate, Span, Time};
use serde::Serialize;

use crate::cost::{Cost, cost};
use crate::deadlock;
use crate::paths::{base_rtt, first_path, pairs, path_rate};
use crate::resolved::{Group, groups, hot_hosts};
use crate::scenario::Scenario;

pub use egress::EgressGroup;
pub use ports::PortGroup;
pub use relays::Relays;
pub use scale_up::ScaleUpGroup;

/// Summary of a scenario. Times are in microseconds and rates in Gbit/s where the names say so.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The scenario's name.
    pub name: String,
    /// Its seed.
    pub seed: u64,
    /// Its profile.
    pub profile: Option<&'static str>,
    /// Headers of packets.
    pub wire: floodway_wire::Format,
    /// Payload of a full packet.
    pub mtu_bytes: u64,
    /// The run ends here at the latest.
    pub limit_us: f64,
    /// Nodes by kind.
    pub nodes: Vec<Kind>,
    /// Links by kind, rate and delay, in one direction each where the two differ.
    pub links: Vec<LinkGroup>,
    /// Paths between hosts.
    pub paths: Vec<PathGroup>,
    /// Ingress ports of switches by kind and what they have.
    pub ports: Vec<PortGroup>,
    /// Egress ports of switches by kind and how they detect congestion; without those that do not.
    pub egress: Vec<EgressGroup>,
    /// Shared pools of switches.
    pub pools: Vec<Pool>,
    /// Input-output queued switches.
    pub crossbars: Vec<CrossbarGroup>,
    /// Relays, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relays: Option<Relays>,
    /// Scale-up domains of GPU nodes, if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scale_up: Vec<ScaleUpGroup>,
    /// Traffic.
    pub workloads: Vec<Traffic>,
    /// Estimated cost of a run on one thread.
    pub cost: Cost,
    /// What the numbers assume.
    pub notes: Vec<String>,
    /// Warnings: unusual settings that may be intended.
    pub warnings: Vec<String>,
    /// The resolved settings of every object, if requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resolved: Vec<Group>,
}

/// Nodes of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kind {
    /// Their first tag.
    pub kind: String,
    /// How many.
    pub count: usize,
}

/// Equal links.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkGroup {
    /// Their first tag, or "link".
    pub kind: String,
    /// How many.
    pub count: usize,
    /// Rate.
    pub rate_gbps: f64,
    /// Propagation.
    pub delay_us: f64,
    /// Rate times propagation there and back.
    pub bdp_bytes: u64,
}

/// Paths between hosts, within datacenters or between them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathGroup {
    /// "all", "intra-dc", "inter-dc".
    pub kind: &'static str,
    /// Fewest links.
    pub hops_min: usize,
    /// Most links.
    pub hops_max: usize,
    /// Shortest round trip without queues.
    pub base_rtt_us_min: f64,
    /// Longest round trip without queues.
    pub base_rtt_us_max: f64,
    /// The minimum of lowest rate times round trip.
    pub bdp_bytes_min: u64,
    /// The maximum of lowest rate times round trip.
    pub bdp_bytes_max: u64,
}

/// Switches with a pool of this size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Pool {
    /// The switches' first tag.
    pub kind: String,
    /// How many.
    pub count: usize,
    /// Bytes shared.
    pub pool_bytes: u64,
}

/// Equal input-output queued switches.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CrossbarGroup {
    /// The switches' first tag.
    pub kind: String,
    /// How many.
    pub count: usize,
    /// Room of each virtual output queue: one for each input, output and class.
    pub voq_bytes: u64,
    /// Room of each output queue: one for each output and class.
    pub output_bytes: u64,
    /// How much faster than the switch's fastest link packets cross.
    pub speed_up: f64,
}

/// Rings that go through GPU nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Rings {
    /// How many there are at once: one for each NIC of the node with fewest.
    pub count: u32,
    /// By which NIC they leave a node.
    pub cross_nic: CrossNic,
}

impl Rings {
    /// What they are, in words.
    fn text(self) -> String {
        let rings = if self.count == 1 { "a ring".to_owned() } else { format!("{} rings", self.count) };
        let how = match self.cross_nic {
            CrossNic::Next if self.count > 1 => ", from rail to rail",
            _ => "",
        };
        format!("{rings} through the nodes, one for each NIC{how} (cross-nic = {:?})", self.cross_nic.name())
    }
}

/// A workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Traffic {
    /// Its name.
    pub name: String,
    /// Class of its flows.
    pub class: u8,
    /// Flows of a list; none of Poisson arrivals.
    pub flows: Option<usize>,
    /// Bytes of a list, but of flows without end; the mean of a flow times flows expected of Poisson arrivals
    /// that end.
    pub offered_bytes: Option<f64>,
    /// Offered payload of Poisson arrivals.
    pub offered_gbps: Option<f64>,
    /// Of a job: its ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<usize>,
    /// Of hierarchical collectives: ranks of a ring of each level, the innermost first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<u32>,
    /// Of rings through several GPU nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rings: Option<Rings>,
    /// Of messages from rank to rank: do some leave a GPU node by the NIC of another GPU (`pxn`)?
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub pxn: bool,
    /// Hosts that a hot spot is at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hot_hosts: Vec<String>,
    /// Flows that start from here on are measured.
    pub measure_from_us: f64,
    /// Flows that start from here on are not; none without end.
    pub measure_to_us: Option<f64>,
}

/// Builds the summary of a scenario; `resolved` adds the settings of every object.
pub fn check(scenario: &Scenario, resolved: bool) -> Report {
    let blueprint = scenario.blueprint();
    let routes = scenario.routes();
    Report {
        name: scenario.name().to_owned(),
        seed: blueprint.seed,
        profile: scenario.built().profile.as_ref().map(|profile| profile.name),
        wire: blueprint.wire,
        mtu_bytes: blueprint.mtu.0,
        limit_us: blueprint.end.limit.as_us(),
        nodes: nodes(blueprint),
        links: links(blueprint),
        paths: paths(blueprint, routes),
        ports: ports::groups(blueprint),
        egress: egress::groups(blueprint),
        pools: pools(blueprint),
        crossbars: crossbars(blueprint),
        relays: Relays::of(scenario.built(), &scenario.document().defaults.slots()),
        scale_up: scale_up::groups(scenario),
        workloads: traffics(scenario),
        cost: cost(scenario, 1),
        notes: unproven(scenario)
            .chain(deadlock::unknown(scenario.dependencies()))
            .chain(scale_up::without(scenario))
            .collect(),
        warnings: scenario.warnings().to_vec(),
        resolved: if resolved { groups(scenario.built(), scenario.document()) } else { Vec::new() },
    }
}

impl Report {
    /// For programs.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// For people.
    pub fn text(&self) -> String {
        text::render(self)
    }
}

/// The first tag, or a word in its place.
fn kind_of(tags: &[String], otherwise: &str) -> String {
    tags.first().map_or_else(|| otherwise.to_owned(), Clone::clone)
}

/// Counts equal keys, in the order in which they first come.
fn counted<K: Ord + Clone>(keys: impl Iterator<Item = K>) -> Vec<(K, usize)> {
    let mut counts: Vec<(K, usize)> = Vec::new();
    let mut places: BTreeMap<K, usize> = BTreeMap::new();
    for key in keys {
        if let Some(&place) = places.get(&key) {
            counts[place].1 += 1;
        } else {
            places.insert(key.clone(), counts.len());
            counts.push((key, 1));
        }
    }
    counts
}

fn nodes(blueprint: &Blueprint) -> Vec<Kind> {
    let kinds = blueprint.nodes.iter().map(|node| kind_of(&node.tags, "node"));
    counted(kinds).into_iter().map(|(kind, count)| Kind { kind, count }).collect()
}

fn links(blueprint: &Blueprint) -> Vec<LinkGroup> {
    let keys = blueprint.links.iter().flat_map(|link| {
        let kind = kind_of(&link.tags, "link");
        let [there, back] = link.directions.each_ref().map(|direction| (direction.rate, direction.delay));
        let directions = if there == back { vec![there] } else { vec![there, back] };
        let round = there.1 + back.1;
        directions.into_iter().map(move |(rate, delay)| (kind.clone(), rate, delay, round))
    });
    let group = |((kind, rate, delay, round), count): ((String, Rate, Span, Span), usize)| LinkGroup {
        kind,
        count,
        rate_gbps: rate.as_gbps(),
        delay_us: delay.as_us(),
        bdp_bytes: rate.bytes_covering(round).0,
    };
    counted(keys).into_iter().map(group).collect()
}

fn paths(blueprint: &Blueprint, routes: &Routes) -> Vec<PathGroup> {
    let dc = |node: NodeId| {
        let tags = &blueprint.nodes[node.index()].tags;
        tags.iter().find(|tag| tag.starts_with("dc-")).cloned()
    };
    let trips = RoundTrips::new(blueprint);
    let mut groups: BTreeMap<&'static str, PathGroup> = BTreeMap::new();
    for (from, to) in pairs(blueprint) {
        let kind = match (dc(from), dc(to)) {
            (Some(one), Some(other)) if one == other => "intra-dc",
            (Some(_), Some(_)) => "inter-dc",
            _ => "all",
        };
        if let Some(path) = first_path(routes, from, to) {
            let one = path_group(&trips, blueprint, kind, &path);
            groups.entry(kind).and_modify(|group| group.widen(&one)).or_insert(one);
        }
    }
    groups.into_values().rev().collect()
}

fn path_group(trips: &RoundTrips, blueprint: &Blueprint, kind: &'static str, path: &[PortId]) -> PathGroup {
    let rtt = base_rtt(trips, path);
    let bdp = path_rate(blueprint, path).bytes_covering(rtt).0;
    PathGroup {
        kind,
        hops_min: path.len(),
        hops_max: path.len(),
        base_rtt_us_min: rtt.as_us(),
        base_rtt_us_max: rtt.as_us(),
        bdp_bytes_min: bdp,
        bdp_bytes_max: bdp,
    }
}

impl PathGroup {
    fn widen(&mut self, other: &PathGroup) {
        self.hops_min = self.hops_min.min(other.hops_min);
        self.hops_max = self.hops_max.max(other.hops_max);
        self.base_rtt_us_min = self.base_rtt_us_min.min(other.base_rtt_us_min);
        self.base_rtt_us_max = self.base_rtt_us_max.max(other.base_rtt_us_max);
        self.bdp_bytes_min = self.bdp_bytes_min.min(other.bdp_bytes_min);
        self.bdp_bytes_max = self.bdp_bytes_max.max(other.bdp_bytes_max);
    }
}

fn pools(blueprint: &Blueprint) -> Vec<Pool> {
    let switches = (0u32..).zip(&blueprint.nodes).filter(|(_, node)| matches!(node.role, Role::Switch(_)));
    let accounts = blueprint.accounts();
    let keys = switches.filter_map(|(i, node)| {
        let pool: Bytes = accounts.pool(NodeId(i)).ok()??;
        Some((kind_of(&node.tags, "switch"), pool.0))
    });
    let pool = |((kind, pool_bytes), count)| Pool { kind, count, pool_bytes };
    counted(keys).into_iter().map(pool).collect()
}

fn crossbars(blueprint: &Blueprint) -> Vec<CrossbarGroup> {
    let keys = blueprint.nodes.iter().filter_map(|node| {
        let Role::Switch(switch) = &node.role else { return None };
        let plan = switch.buffer.plan();
        let (Some(crossbar), Some(Sizing::Fixed(voq))) = (plan.crossbar, plan.own) else { return None };
        Some((kind_of(&node.tags, "switch"), voq.0, crossbar.output.0, crossbar.speed_up.to_bits()))
    });
    let group = |((kind, voq_bytes, output_bytes, speed_up), count)| CrossbarGroup {
        kind,
        count,
        voq_bytes,
        output_bytes,
        speed_up: f64::from_bits(speed_up),
    };
    counted(keys).into_iter().map(group).collect()
}

/// The traffic of each workload.
pub fn traffics(scenario: &Scenario) -> Vec<Traffic> {
    let blueprint = scenario.blueprint();
    blueprint.workloads.iter().map(|workload| traffic(blueprint, workload)).collect()
}

fn traffic(blueprint: &Blueprint, workload: &floodway_fabric::blueprint::WorkloadSpec) -> Traffic {
    let (from, to) = workload.measure;
    let mut traffic = Traffic {
        name: workload.name.clone(),
        class: blueprint.settings[workload.settings].class.0,
        flows: None,
        offered_bytes: None,
        offered_gbps: None,
        ranks: None,
        levels: Vec::new(),
        rings: None,
        pxn: false,
        hot_hosts: hot_hosts(blueprint, workload),
        measure_from_us: from.as_us(),
        measure_to_us: (to < Time::NEVER).then(|| to.as_us()),
    };
    match &workload.arrivals {
        Arrivals::List(flows) => {
            traffic.flows = Some(flows.len());
            let bounded = flows.iter().filter(|flow| flow.size < UNBOUNDED);
            traffic.offered_bytes = Some(bounded.map(|flow| flow.size.0 as f64).sum());
        }
        Arrivals::ClosedLoop(loops) => {
            let messages: u64 = loops.iter().map(|of| of.messages).sum();
            traffic.flows = Some(to_usize(messages));
            let bytes = loops.iter().map(|of| of.size.0 as f64 * of.messages as f64);
            traffic.offered_bytes = Some(bytes.sum());
        }
        Arrivals::Program(job) => {
            let (messages, bytes) = job.offered(&blueprint.domains());
            traffic.flows = Some(to_usize(messages));
            traffic.offered_bytes = Some(bytes as f64);
            traffic.ranks = Some(job.program.ranks.len());
            traffic.levels = job.program.levels();
            traffic.pxn = job.program.has_relays();
            traffic.rings = job.program.rings().map(|(count, cross_nic)| Rings { count, cross_nic });
        }
        Arrivals::Poisson(poisson) => {
            let rate = poisson.sizes.mean() * poisson.sources.len() as f64 / poisson.mean_gap.as_secs();
            traffic.offered_gbps = Some(rate * 8.0 / 1e9);
            let span = poisson.until.since(poisson.from).as_secs();
            traffic.offered_bytes = (poisson.until < Time::NEVER).then_some(rate * span);
        }
    }
    traffic
}

/// Why sizes do not promise that lossless classes lose nothing, where no warning says so.
fn unproven(scenario: &Scenario) -> impl Iterator<Item = String> {
    let is_new = |why: &str| !scenario.warnings().iter().any(|warning| warning.contains(why));
    scenario.blueprint().unproven().into_iter().filter(move |each| is_new(&each.why)).map(|each| {
        let more = if each.ports > 1 { format!(" and {} more", each.ports - 1) } else { String::new() };
        format!(
            "sizes do not promise that lossless classes lose nothing: {} ({}{more})",
            each.why, each.place
        )
    })
}
