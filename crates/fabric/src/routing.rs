//! Shortest paths by hop count, and the equal-cost ports that lead along them.

use std::collections::VecDeque;

use floodway_units::{NodeId, PortId};
use rustc_hash::FxHashMap;

use crate::blueprint::{Blueprint, Role};

/// No route.
const NONE: u32 = u32::MAX;

/// Equal-cost ports from every node to every host. Hosts do not forward.
///
/// Hosts with a single link to a switch share that switch's table. Ports are ordered by the visit of
/// their far ends in a breadth-first search from the destination, neighbours by rank.
#[derive(Clone, Debug)]
pub struct Routes {
    /// Of each node: its ports.
    ports: Vec<Vec<PortId>>,
    /// Of each port: the node it is at.
    node_of: Vec<NodeId>,
    /// Of each node: is it a host?
    is_host: Vec<bool>,
    /// Of each node, where it is a host: the table it is found in, and the last switch's port to it.
    destinations: Vec<Option<Destination>>,
    /// By (table, node): index of a set.
    next: Vec<u32>,
    /// Distinct sets of equal-cost ports.
    sets: Vec<Box<[PortId]>>,
}

#[derive(Clone, Copy, Debug)]
struct Destination {
    table: u32,
    /// The node that the search began from, and its port to the host; none if that is the host itself.
    last: Option<(NodeId, PortId)>,
}

impl Routes {
    /// Routes over the links for which `is_up` holds.
    pub fn new(blueprint: &Blueprint, is_up: impl Fn(usize) -> bool) -> Self {
        let nodes = blueprint.nodes.len();
        let mut routes = Routes {
            ports: vec![Vec::new(); nodes],
            node_of: Vec::with_capacity(2 * blueprint.links.len()),
            is_host: blueprint.nodes.iter().map(|node| matches!(node.role, Role::Host { .. })).collect(),
            destinations: vec![None; nodes],
            next: Vec::new(),
            sets: vec![Box::default()],
        };
        for (i, link) in blueprint.links.iter().enumerate() {
            for (end, spec) in link.ends.iter().enumerate() {
                routes.node_of.push(spec.node);
                if is_up(i) {
                    routes.ports[spec.node.index()].push(PortId((2 * i + end) as u32));
                }
            }
        }
        let ranks: Vec<u32> = blueprint.nodes.iter().map(|node| node.rank).collect();
        for ports in &mut routes.ports {
            ports.sort_by_key(|&port| (ranks[routes.node_of[peer(port).index()].index()], port));
        }
        routes.fill();
        routes
    }

    /// Equal-cost ports of `node` toward the host `destination`; empty if there is no way.
    #[inline]
    pub fn candidates(&self, node: NodeId, destination: NodeId) -> &[PortId] {
        let Some(to) = &self.destinations[destination.index()] else { return &[] };
        if let Some((last, port)) = &to.last
            && *last == node
        {
            return std::slice::from_ref(port);
        }
        let set = self.next[to.table as usize * self.ports.len() + node.index()];
        if set == NONE { &[] } else { &self.sets[set as usize] }
    }

    /// The node at which `port` is.
    #[inline]
    pub fn node_of(&self, port: PortId) -> NodeId {
        self.node_of[port.index()]
    }

    /// Is it a host?
    pub fn is_host(&self, node: NodeId) -> bool {
        self.is_host[node.index()]
    }

    fn fill(&mut self) {
        let mut interned = FxHashMap::default();
        let mut tables: FxHashMap<NodeId, u32> = FxHashMap::default();
        for host in 0..self.ports.len() {
            if !self.is_host[host] {
                continue;
            }
            let root = match self.ports[host][..] {
                [only] if !self.is_host(self.node_of(peer(only))) => self.node_of(peer(only)),
                _ => NodeId(host as u32),
            };
            let last = (root.index() != host).then(|| (root, peer(self.ports[host][0])));
            let tables_so_far = tables.len() as u32;
            let table = *tables.entry(root).or_insert(tables_so_far);
            if table == tables_so_far {
                self.search(root, &mut interned);
            }
            self.destinations[host] = Some(Destination { table, last });
        }
    }

    /// Appends the table of `root`: of each node, the ports one hop nearer to it.
    fn search(&mut self, root: NodeId, interned: &mut FxHashMap<Box<[PortId]>, u32>) {
        let nodes = self.ports.len();
        let mut distance = vec![NONE; nodes];
        let mut toward: Vec<Vec<PortId>> = vec![Vec::new(); nodes];
        distance[root.index()] = 0;
        let mut visit = VecDeque::from([root]);
        while let Some(node) = visit.pop_front() {
            if self.is_host(node) && node != root {
                continue;
            }
            for &port in &self.ports[node.index()] {
                let neighbour = self.node_of(peer(port));
                let one_more = distance[node.index()] + 1;
                if distance[neighbour.index()] == NONE {
                    distance[neighbour.index()] = one_more;
                    visit.push_back(neighbour);
                }
                if distance[neighbour.index()] == one_more {
                    toward[neighbour.index()].push(peer(port));
                }
            }
        }
        for ports in toward {
            let set = if ports.is_empty() {
                NONE
            } else {
                let sets = &mut self.sets;
                *interned.entry(ports.into()).or_insert_with_key(|ports| {
                    sets.push(ports.clone());
                    sets.len() as u32 - 1
                })
            };
            self.next.push(set);
        }
    }
}

/// The other end of a port's link.
#[inline]
pub fn peer(port: PortId) -> PortId {
    PortId(port.0 ^ 1)
}
