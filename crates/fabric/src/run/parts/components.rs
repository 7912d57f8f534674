//! Which nodes flows of workloads connect.

use floodway_blueprint::network::blueprint::{Arrivals, WorkloadSpec};
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::groups::joined;
use floodway_blueprint::network::routing::{Routes, peer};
use floodway_units::NodeId;
use floodway_units::cast::narrow;
use rustc_hash::FxHashSet;

/// Nodes that are met, over all destinations, before the search gives up: it takes tenths of a second.
const MET: usize = 10_000_000;
/// With more ranks, each rank of a job is supposed to send to all others.
const RANKS: usize = 512;
/// Parts are at most so many, and so many for each node of the network: each has the facts of all in memory.
const MOST: usize = 64;
const OF_NODES: usize = 1 << 16;

/// By node: the part that it is of, where flows of workloads do not connect all. Each part but the last has
/// workloads of `alone` in it, and the last one what is left, if that has workloads, too. None if there
/// would be one part.
pub(super) fn parts_of(facts: &Facts<'_>, alone: &[u32]) -> Option<Vec<u8>> {
    let (blueprint, groups) = (facts.blueprint, &facts.groups);
    let most = MOST.min(OF_NODES / blueprint.nodes.len().max(1));
    if blueprint.workloads.len() < 2 || most < 2 {
        return None;
    }
    let mut search = Search { routes: &facts.routes, left: MET, joins: Vec::new() };
    for node in (0..narrow::<u32>(blueprint.nodes.len())).map(NodeId) {
        search.join(node, groups.first(groups.of(node)).0);
    }
    let firsts: Option<Vec<NodeId>> =
        blueprint.workloads.iter().map(|workload| search.workload(workload)).collect();
    let component = joined(blueprint.nodes.len(), search.joins.into_iter());
    // A workload is in the component of its first host.
    let of_workload: Vec<usize> = firsts?.iter().map(|host| component[host.index()]).collect();
    let mut own: Vec<usize> = alone.iter().map(|&workload| of_workload[workload as usize]).collect();
    own.sort_unstable();
    own.dedup();
    own.truncate(most - 1);
    let are_others = of_workload.iter().any(|of| !own.contains(of));
    let rest = if are_others { own.len() } else { 0 };
    let part = |component: &usize| own.binary_search(component).unwrap_or(rest);
    (own.len() + usize::from(are_others) > 1).then(|| {
        component.iter().map(|component| u8::try_from(part(component)).expect("parts are few")).collect()
    })
}

struct Search<'a> {
    routes: &'a Routes,
    left: usize,
    joins: Vec<[usize; 2]>,
}

impl Search<'_> {
    fn join(&mut self, one: NodeId, other: NodeId) {
        self.joins.push([one.index(), other.index()]);
    }

    /// Joins the hosts of a workload, and what lies between them; its first host. None if the search gives
    /// up, or there is no host.
    fn workload(&mut self, workload: &WorkloadSpec) -> Option<NodeId> {
        let mut pairs: Vec<(NodeId, NodeId)> = Vec::new();
        match &workload.arrivals {
            Arrivals::List(flows) => {
                for flow in flows {
                    pairs.push((flow.source, flow.destination));
                    let paths = flow.path.iter().chain(&flow.ack_path).flatten();
                    for &port in paths {
                        self.join(flow.source, self.routes.node_of(port));
                    }
                }
            }
            Arrivals::ClosedLoop(loops) => pairs.extend(loops.iter().map(|of| (of.source, of.destination))),
            Arrivals::Poisson(poisson) => {
                let receivers: Vec<NodeId> = poisson.receivers().collect();
                self.across(&poisson.sources, &receivers, &mut pairs)?;
            }
            Arrivals::Program(spec) if spec.hosts.len() > RANKS => {
                self.across(&spec.hosts, &spec.hosts, &mut pairs)?;
            }
            Arrivals::Program(spec) => {
                for (rank, &from) in (0..).zip(&spec.hosts) {
                    self.join(spec.hosts[0], from);
                    let mut peers = FxHashSet::default();
                    spec.program.each_peer(rank, |_, to, _, _| {
                        peers.insert(spec.hosts[to as usize]);
                    });
                    pairs.extend(peers.into_iter().filter(|&to| to != from).map(|to| (from, to)));
                }
            }
        }
        let first = pairs.first()?.0;
        for &(from, to) in &pairs {
            self.join(first, from);
            self.join(first, to);
        }
        // Packets there, and replies.
        let back: Vec<(NodeId, NodeId)> = pairs.iter().map(|&(from, to)| (to, from)).collect();
        for mut pairs in [pairs, back] {
            pairs.sort_unstable_by_key(|&(from, to)| (to, from));
            pairs.dedup();
            for to_one in pairs.chunk_by(|one, other| one.1 == other.1) {
                self.toward(to_one[0].1, to_one.iter().map(|&(from, _)| from))?;
            }
        }
        Some(first)
    }

    /// All pairs of these, as far as they are not too many.
    fn across(&mut self, from: &[NodeId], to: &[NodeId], pairs: &mut Vec<(NodeId, NodeId)>) -> Option<()> {
        self.left = self.left.checked_sub(from.len().checked_mul(to.len())?)?;
        let of_sender = |&source: &NodeId| to.iter().map(move |&destination| (source, destination));
        pairs.extend(from.iter().flat_map(of_sender).filter(|(source, destination)| source != destination));
        Some(())
    }

    /// Joins what packets pass on their ways to a host.
    fn toward(&mut self, host: NodeId, from: impl Iterator<Item = NodeId>) -> Option<()> {
        let mut reached: Vec<NodeId> = from.filter(|&sender| sender != host).collect();
        let mut met: FxHashSet<NodeId> = reached.iter().copied().collect();
        while let Some(node) = reached.pop() {
            self.left = self.left.checked_sub(1)?;
            for &port in self.routes.candidates(node, host) {
                let next = self.routes.node_of(peer(port));
                self.join(node, next);
                if next != host && met.insert(next) {
                    reached.push(next);
                }
            }
        }
        Some(())
    }
}
