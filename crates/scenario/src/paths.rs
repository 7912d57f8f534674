//! Round trips between hosts, for limits and summaries.

use std::collections::BTreeMap;

use floodway_fabric::blueprint::Role;
use floodway_fabric::routing::{Routes, peer};
use floodway_fabric::{Blueprint, RoundTrips};
use floodway_units::{NodeId, PortId, Rate, Span};

/// The first of the equal-cost paths, as egress ports; none where no path leads there.
pub fn first_path(routes: &Routes, from: NodeId, to: NodeId) -> Option<Vec<PortId>> {
    let mut path = Vec::new();
    let mut at = from;
    while at != to {
        let &port = routes.candidates(at, to).first()?;
        path.push(port);
        at = routes.node_of(peer(port));
    }
    Some(path)
}

/// Round trip without queues of a message's first packet, full, along a path, and of its ACK on the way back.
pub fn base_rtt(trips: &RoundTrips, path: &[PortId]) -> Span {
    trips.along(path.iter().copied(), path.iter().rev().map(|&port| peer(port)))
}

/// Rate and longest propagation of what a port sends.
fn direction(blueprint: &Blueprint, port: PortId) -> (Rate, Span) {
    let direction = &blueprint.links[port.index() / 2].directions[port.index() % 2];
    (direction.rate, direction.longest_delay())
}

/// Lowest rate along a path.
pub fn path_rate(blueprint: &Blueprint, path: &[PortId]) -> Rate {
    path.iter().map(|&port| direction(blueprint, port).0).min().unwrap_or(Rate::MAX)
}

/// Pairs of hosts whose paths represent those of all pairs: from at most 64 hosts, spread evenly, to every
/// representative.
pub fn pairs(blueprint: &Blueprint) -> Vec<(NodeId, NodeId)> {
    let nodes = (0u32..).zip(&blueprint.nodes);
    let hosts = nodes.filter(|(_, node)| matches!(node.role, Role::Host { .. })).map(|(i, _)| NodeId(i));
    let hosts = representatives(blueprint, hosts);
    across(&hosts, &hosts)
}

/// Likewise, from some hosts to others.
pub fn pairs_between(blueprint: &Blueprint, from: &[NodeId], to: &[NodeId]) -> Vec<(NodeId, NodeId)> {
    let [sources, destinations] = [from, to].map(|hosts| representatives(blueprint, hosts.iter().copied()));
    across(&sources, &destinations)
}

fn across(sources: &[NodeId], destinations: &[NodeId]) -> Vec<(NodeId, NodeId)> {
    let spread = sources.iter().step_by(sources.len().div_ceil(64).max(1));
    let pairs = spread.flat_map(|&from| destinations.iter().map(move |&to| (from, to)));
    pairs.filter(|(from, to)| from != to).collect()
}

/// A NIC: the node at the far end, rate and delay of both directions.
type Nic = (NodeId, [(Rate, Span); 2]);

/// Representatives of hosts: of those at the same switch by links of the same rates and delays, two.
fn representatives(blueprint: &Blueprint, hosts: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
    let mut alike: BTreeMap<Vec<Nic>, usize> = BTreeMap::new();
    let mut chosen = Vec::new();
    let mut nics: Vec<Vec<PortId>> = vec![Vec::new(); blueprint.nodes.len()];
    for (i, link) in (0u32..).zip(&blueprint.links) {
        for (end, spec) in (0u32..).zip(&link.ends) {
            nics[spec.node.index()].push(PortId(2 * i + end));
        }
    }
    for host in hosts {
        let link = |&port: &PortId| {
            let far = blueprint.links[port.index() / 2].ends[1 - port.index() % 2].node;
            (far, [direction(blueprint, port), direction(blueprint, peer(port))])
        };
        let seen = alike.entry(nics[host.index()].iter().map(link).collect()).or_default();
        *seen += 1;
        if *seen <= 2 {
            chosen.push(host);
        }
    }
    chosen
}
