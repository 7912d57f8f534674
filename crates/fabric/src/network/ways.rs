//! Ways of queue pairs: what is fixed once one is open, and what switches read of it.

use floodway_mechanisms::slots::{FlowTuple, Router as _};
use floodway_units::{NodeId, PortId, Span, fold};
use floodway_wire::Telemetry;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::network::facts::Facts;
use crate::network::layout::Local;
use crate::network::routing::{in_force, peer};
use crate::run::at_node::AtNode;

/// Egress ports in a row.
pub(crate) type Path = SmallVec<[PortId; 8]>;
/// No port.
const NONE: Local = Local::NONE;
/// Ports of a path that are kept in place.
const NEAR: usize = 8;

/// The egress ports of a queue pair's data and of its replies, where they follow from the flow alone. Both ways through
/// a fat-tree are one cache line, so that one is read to find where a packet leaves, not two behind one another.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Hops {
    /// The first of them, of data and of replies.
    near: [[Local; NEAR]; 2],
    /// All, where those of one are more.
    far: Option<Box<[Vec<Local>; 2]>>,
}

impl Hops {
    /// Of these ports of the network, each as its node calls it.
    pub fn new(facts: &Facts<'_>, data: &Path, replies: &Path) -> Self {
        let local = |path: &Path, hop: usize| path.get(hop).map_or(NONE, |&port| facts.local(port));
        let near = [data, replies].map(|path| std::array::from_fn(|hop| local(path, hop)));
        let far = data.len().max(replies.len()) > NEAR;
        let all = |path: &Path| (0..path.len()).map(|hop| local(path, hop)).collect();
        Hops { near, far: far.then(|| Box::new([data, replies].map(all))) }
    }
}

/// What is fixed of a queue pair. Whoever its packets pass may read it; what changes is its ends' own.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Way {
    pub hops: Hops,
    pub hash: u64,
    pub base_rtt: Span,
    pub source: NodeId,
    pub destination: NodeId,
    pub workload: u32,
    pub class: u8,
    pub telemetry: Telemetry,
    /// Its reliability answers.
    pub has_acks: bool,
    pub tuple: FlowTuple,
    /// The sender's NIC, and its rank there, which no two queue pairs of a run share.
    pub nic: Local,
    pub rank: u32,
    /// Which flow of its workload's source opened it.
    pub number: u32,
}

/// What results call a flow; one of several that share a queue pair is named as the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FlowName {
    workload: u32,
    source: u32,
    number: u32,
}

/// Flows in the order in which they are met.
#[derive(Debug, Default)]
pub(crate) struct FlowNames {
    codes: FxHashMap<FlowName, u32>,
    /// What results call them.
    pub words: Vec<String>,
}

impl FlowNames {
    /// The place of a flow in `words`.
    pub fn code(&mut self, facts: &Facts<'_>, flow: FlowName) -> u32 {
        let next = self.words.len() as u32;
        let code = *self.codes.entry(flow).or_insert(next);
        if code == next {
            self.words.push(facts.flow_word(flow));
        }
        code
    }
}

impl Way {
    /// The egress port after `hop` others of its data or of its replies, if it is known from the start.
    #[inline]
    pub fn port(&self, reply: bool, hop: usize) -> Option<Local> {
        let ports = &self.hops.near[usize::from(reply)];
        match ports.get(hop) {
            Some(&port) => (port != NONE).then_some(port),
            None => self.far_end(reply, hop),
        }
    }

    /// What results call the flow that opened it.
    pub fn name(&self) -> FlowName {
        FlowName { workload: self.workload, source: self.source.0, number: self.number }
    }

    #[cold]
    fn far_end(&self, reply: bool, hop: usize) -> Option<Local> {
        self.hops.far.as_ref()?[usize::from(reply)].get(hop).copied()
    }
}

impl Facts<'_> {
    /// Every port that packets may take: of the flow's own path, or of all paths that routing offers while all links are
    /// up. They take others only where one of these goes down.
    pub fn possible_ports(&self, source: NodeId, destination: NodeId, known: &[PortId]) -> Vec<PortId> {
        if !known.is_empty() {
            return known.to_vec();
        }
        let (mut nodes, mut ports) = (vec![source], Vec::new());
        while let Some(node) = nodes.pop() {
            for &port in if node == destination { &[] } else { self.routes.candidates(node, destination) } {
                if !ports.contains(&port) {
                    ports.push(port);
                    nodes.push(self.routes.node_of(peer(port)));
                }
            }
        }
        ports
    }

    /// A flow's id, as in the table of flows.
    fn flow_word(&self, flow: FlowName) -> String {
        let workload = &self.blueprint.workloads[flow.workload as usize].name;
        format!("{workload}:{}:{}", self.blueprint.nodes[flow.source as usize].name, flow.number)
    }
}

impl AtNode<'_, '_> {
    /// Egress ports from `source` on, where they follow from the flow alone; else empty.
    pub fn path(
        &self,
        source: NodeId,
        destination: NodeId,
        tuple: &FlowTuple,
        pinned: Option<&[PortId]>,
    ) -> Path {
        if let Some(path) = pinned {
            return Path::from_slice(path);
        }
        if self.run.changing.is_some() {
            return Path::new();
        }
        self.walk(source, destination, tuple).unwrap_or_default()
    }

    /// Brings the routes to a destination up to date, where links come and go: before they are looked up.
    #[inline]
    pub fn refresh_routes(&mut self, destination: NodeId) {
        if let Some(changing) = &mut self.run.changing {
            changing.refresh(destination);
        }
    }

    /// Equal-cost ports of `node` toward the host `destination`, by the routes in force.
    #[inline]
    pub fn candidates(&self, node: NodeId, destination: NodeId) -> &[PortId] {
        in_force(&self.facts.routes, self.run.changing.as_deref(), (node, destination))
    }

    /// The path that the flow's packets take if every router on it chooses by flow.
    fn walk(&self, source: NodeId, destination: NodeId, tuple: &FlowTuple) -> Option<Path> {
        let mut path: Path = smallvec![self.nic_of(source, destination, tuple)?];
        loop {
            let node = self.facts.routes.node_of(peer(*path.last()?));
            if node == destination {
                return Some(path);
            }
            let candidates = self.facts.routes.candidates(node, destination);
            let choice = match candidates.len() {
                0 => return None,
                1 => 0,
                ways => {
                    let router = self.facts.routers[node.index()].as_ref()?;
                    router.by_flow(tuple, ways)?
                }
            };
            path.push(candidates[choice]);
        }
    }

    /// The NIC that a host uses for a flow: by hash where it has several on shortest paths.
    pub fn nic_of(&self, source: NodeId, destination: NodeId, tuple: &FlowTuple) -> Option<PortId> {
        let candidates = self.candidates(source, destination);
        match candidates.len() {
            // Every way is cut: the flow waits at its host for one to come back.
            0 => self.facts.blueprint.ports_of(source).next(),
            1 => Some(candidates[0]),
            ways => Some(candidates[(fold(tuple.key(), u64::from(source.0)) % ways as u64) as usize]),
        }
    }

    /// A path of the kind that the flow takes: its own, or the first of equal cost; of all links where no way is up.
    pub fn some_path(&self, source: NodeId, destination: NodeId, known: &[PortId]) -> Vec<PortId> {
        if !known.is_empty() {
            return known.to_vec();
        }
        let path = self.first_path(source, destination, |node| self.candidates(node, destination));
        let all =
            || self.first_path(source, destination, |node| self.facts.routes.candidates(node, destination));
        path.or_else(all).unwrap_or_default()
    }

    fn first_path<'a>(
        &self,
        source: NodeId,
        destination: NodeId,
        candidates: impl Fn(NodeId) -> &'a [PortId],
    ) -> Option<Vec<PortId>> {
        let (mut path, mut node) = (Vec::new(), source);
        while node != destination {
            let &port = candidates(node).first()?;
            path.push(port);
            node = self.facts.routes.node_of(peer(port));
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_two_cache_lines() {
        assert_eq!(size_of::<Way>(), 128);
    }
}
