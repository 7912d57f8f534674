//! Groups of nodes that are executed in one common order.
//!
//! A group is processed as one node, with the events of its nodes in their common order. So short cables
//! within a rack do not shorten the windows. Hosts of a scale-up domain are a group, too.
//!
//! Where all nodes are one group, or a feature needs it ([`in_one_order`]), the events of all nodes have one
//! order, and the run has one thread. A run that follows a flow for `floodway why` has one order, too.

use floodway_mechanisms::registry::{CongestionPointParams, ReactionParams};
use floodway_mechanisms::slots::Need;
use floodway_programs::SendCompletes;
use floodway_units::cast::narrow;
use floodway_units::{NodeId, Span};

use crate::network::blueprint::{Arrivals, Blueprint, Draws, LinkSpec, WorkloadSpec};

/// A window is at most as long as this many full packets take on the fastest link, so that the working set of
/// a node stays in the caches.
const PACKETS: u64 = 64;
/// Nodes that a shorter link connects form a group: shorter windows would have next to no events.
pub const SHORTEST: Span = Span::ns(20);

/// Groups of nodes. The events of a group are executed in one order; those of different groups are
/// independent within a window, since nothing reaches another group in less. A node is a group of its own
/// unless a link with a delay below [`SHORTEST`], or a scale-up domain, connects it to another one.
#[derive(Debug)]
pub struct Groups {
    /// By node: its group.
    of: Vec<u32>,
    /// By group: its first node, and whether it has others.
    first: Vec<(NodeId, bool)>,
    /// Length of a window; none if all nodes are one group.
    window: Option<Span>,
}

impl Groups {
    /// The groups of a network.
    pub fn new(blueprint: &Blueprint) -> Self {
        let short = blueprint.links.iter().filter(|link| link.shortest_delay() < SHORTEST);
        // A rank hands what it sends in its domain to the other one itself.
        let domains = blueprint.scale_up.iter().flat_map(|domain| domain.hosts.windows(2));
        let joins = short.map(LinkSpec::nodes).chain(domains.map(|two| [two[0].index(), two[1].index()]));
        let of: Vec<u32> = joined(blueprint.nodes.len(), joins).into_iter().map(narrow).collect();
        let count = of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut first = vec![(NodeId(u32::MAX), false); count];
        for (node, &group) in (0..).map(NodeId).zip(&of) {
            let group = &mut first[group as usize];
            *group = if group.0 == NodeId(u32::MAX) { (node, false) } else { (group.0, true) };
        }
        // The time of the smallest frame could be added. Without it windows end where epochs do.
        let between =
            blueprint.links.iter().map(LinkSpec::shortest_delay).filter(|&delay| delay >= SHORTEST).min();
        let rates = blueprint.links.iter().flat_map(|link| link.directions.each_ref().map(|of| of.rate));
        let full = blueprint.wire.data_with(blueprint.mtu, true, blueprint.telemetry()).wire;
        let most = rates.max().map(|rate| Span(rate.time_to_send(full).0 * PACKETS));
        let window = between.zip(most).map(|(between, most)| between.min(most));
        Groups { of, first, window: window.filter(|_| count > 1 && in_one_order(blueprint).is_none()) }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.first.len()
    }

    /// Length of a window; none if the events of all nodes have one common order.
    pub fn window(&self) -> Option<Span> {
        self.window
    }

    /// A node's group.
    #[inline]
    pub fn of(&self, node: NodeId) -> u32 {
        self.of[node.index()]
    }

    /// A group's first node, and whether it has others.
    #[inline]
    pub fn first(&self, group: u32) -> (NodeId, bool) {
        self.first[group as usize]
    }
}

/// Why the events of all nodes have one common order, if something other than the links requires it.
pub fn in_one_order(blueprint: &Blueprint) -> Option<String> {
    let why = if blueprint.semantics.ties.is_numbered() {
        "ties go by the order in which events are scheduled, which is one for the whole network"
    } else if blueprint.semantics.draws == Draws::HpccNs3 {
        "all marks are drawn from one stream"
    } else if blueprint.records.capture.is_some() {
        "frames are captured in one order"
    } else if let Some(workload) = completes_at_receivers(blueprint) {
        return Some(format!(
            "sends of {workload} are complete when they have arrived, which no packet tells their senders"
        ));
    } else {
        let name = wants_one_order(blueprint)?;
        return Some(format!(
            "machines of {name:?} are called in the order of time, which is one for the whole network"
        ));
    };
    Some(why.to_owned())
}

/// A job whose sends are complete when they have arrived.
fn completes_at_receivers(blueprint: &Blueprint) -> Option<&str> {
    let of = |workload: &&WorkloadSpec| match &workload.arrivals {
        Arrivals::Program(spec) => spec.program.send_completes == SendCompletes::Received,
        _ => false,
    };
    blueprint.workloads.iter().find(of).map(|workload| workload.name.as_str())
}

/// A mechanism of the run whose machines have to be called in the order of time.
fn wants_one_order(blueprint: &Blueprint) -> Option<&'static str> {
    let layers = blueprint.settings.iter().flat_map(|settings| &settings.rate_control);
    let mut layers = layers.filter(|layer| layer.needs().contains(&Need::OneOrder)).map(ReactionParams::name);
    let points = blueprint.links.iter().flat_map(|link| &link.ends).flat_map(|end| &end.congestion_points);
    let points = points.filter(|point| point.needs().contains(&Need::OneOrder));
    layers.next().or_else(|| points.map(CongestionPointParams::name).next())
}

/// By node, the number of its connected component over these links, in the order of first nodes.
pub fn joined(nodes: usize, links: impl Iterator<Item = [usize; 2]>) -> Vec<usize> {
    let mut parent: Vec<usize> = (0..nodes).collect();
    for [a, b] in links {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a.max(b)] = a.min(b);
    }
    let (mut number, mut next) = (vec![usize::MAX; nodes], 0);
    for node in 0..nodes {
        let root = root(&mut parent, node);
        if number[root] == usize::MAX {
            number[root] = next;
            next += 1;
        }
        number[node] = number[root];
    }
    number
}

fn root(parent: &mut [usize], mut node: usize) -> usize {
    while parent[node] != node {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    node
}
