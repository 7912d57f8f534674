//! Paths of queue pairs: what is fixed once one is open, and what switches read of it.

mod info;
mod walk;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_mechanisms::registry::ReactionParams;
use floodway_mechanisms::slots::{FlowTuple, QpInfo};
use floodway_units::cast::narrow;
use floodway_units::{NodeId, PortId, Span};
use floodway_wire::Telemetry;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::network::facts::Facts;
use crate::network::layout::Local;
use crate::network::routing::peer;

/// Egress ports in a row.
pub type Ports = SmallVec<[PortId; 8]>;

/// No port.
const NONE: Local = Local::NONE;

/// Ports of a path that are kept in place.
const NEAR: usize = 8;

/// The egress ports of a queue pair's data and of its replies, where they follow from the flow alone. Both
/// directions through a fat-tree fit one cache line, so that finding the port of a packet reads one line, not
/// two in a row.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Hops {
    /// The first of them, of data and of replies.
    near: [[Local; NEAR]; 2],
    /// All, where those of one are more.
    far: Option<Box<[Vec<Local>; 2]>>,
}

impl Hops {
    /// Of these ports of the network, each as its node calls it.
    fn new(facts: &Facts<'_>, data: &[PortId], replies: &[PortId]) -> Self {
        let local = |path: &[PortId], hop: usize| path.get(hop).map_or(NONE, |&port| facts.local(port));
        let near = [data, replies].map(|path| std::array::from_fn(|hop| local(path, hop)));
        let far = data.len().max(replies.len()) > NEAR;
        let all = |path: &[PortId]| (0..path.len()).map(|hop| local(path, hop)).collect();
        Hops { near, far: far.then(|| Box::new([data, replies].map(all))) }
    }
}

/// What is fixed of a queue pair. Every node on its path may read it; what changes belongs to its ends.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Path {
    /// Where it leads, as far as that is known.
    pub hops: Hops,
    /// Key of its addresses and ports, which switches hash.
    pub hash: u64,
    /// Base round-trip time.
    pub base_rtt: Span,
    /// The host that sends.
    pub source: NodeId,
    /// The host that receives.
    pub destination: NodeId,
    /// Its workload in the blueprint.
    pub workload: u32,
    /// Of its data, among the classes in use.
    pub class: u8,
    /// What its packets carry for the rate control.
    pub telemetry: Telemetry,
    /// Its reliability answers.
    pub has_acks: bool,
    /// Its sender reads CNPs from the flags of replies.
    pub reads_flags: bool,
    /// Addresses and ports.
    pub tuple: FlowTuple,
    /// The sender's NIC, and its rank there, which no two queue pairs of a run share.
    pub nic: Local,
    /// See `nic`.
    pub rank: u32,
    /// Which flow of its workload's source opened it.
    pub number: u64,
}

/// What a queue pair's path is made from, beside its ends and its base round-trip time.
pub struct Laid<'p> {
    /// Which of the blueprint's settings it has.
    pub settings: usize,
    /// The ports of its data and of its replies, where they follow from the flow alone.
    pub ports: &'p [PortId],
    /// See `ports`.
    pub ack_ports: &'p [PortId],
    /// Addresses and ports.
    pub tuple: FlowTuple,
    /// The sender's NIC, and its rank there.
    pub nic: Local,
    /// See `nic`.
    pub rank: u32,
}

/// What results call a flow; one of several that share a queue pair is named as the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, BorshSerialize, BorshDeserialize)]
pub struct FlowName {
    workload: u32,
    source: u32,
    number: u64,
}

/// Flows in the order in which they are met.
#[derive(Debug, Default)]
pub struct FlowNames {
    codes: FxHashMap<FlowName, u32>,
    /// What results call them.
    pub words: Vec<String>,
}

impl FlowNames {
    /// The place of a flow in `words`.
    pub fn code(&mut self, facts: &Facts<'_>, flow: FlowName) -> u32 {
        let next = narrow::<u32>(self.words.len());
        let code = *self.codes.entry(flow).or_insert(next);
        if code == next {
            self.words.push(facts.flow_word(flow));
        }
        code
    }
}

impl Path {
    /// That of a queue pair as its machines are told of it.
    pub fn new(facts: &Facts<'_>, info: &QpInfo, laid: &Laid<'_>) -> Self {
        let settings = &facts.blueprint.settings[laid.settings];
        Path {
            hops: Hops::new(facts, laid.ports, laid.ack_ports),
            hash: laid.tuple.key(),
            base_rtt: info.base_rtt,
            source: info.source,
            destination: info.destination,
            workload: info.workload,
            class: facts.layout.dense(settings.class),
            telemetry: settings.telemetry(),
            has_acks: settings.reliability.has_acks(),
            reads_flags: settings.rate_control.iter().any(ReactionParams::reads_flags),
            tuple: laid.tuple,
            nic: laid.nic,
            rank: laid.rank,
            number: info.number,
        }
    }

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
    #[inline]
    pub fn name(&self) -> FlowName {
        FlowName { workload: self.workload, source: self.source.0, number: self.number }
    }

    /// Its packets, or replies to them, leave by another port from now on.
    #[cfg(any(test, feature = "testing"))]
    pub fn divert(&mut self, reply: bool, hop: usize, port: Local) {
        self.hops.near[usize::from(reply)][hop] = port;
    }

    #[cold]
    fn far_end(&self, reply: bool, hop: usize) -> Option<Local> {
        self.hops.far.as_ref()?[usize::from(reply)].get(hop).copied()
    }
}

impl Facts<'_> {
    /// Every port that packets may take: of the flow's own path, or of all paths that routing offers while
    /// all links are up. They take others only where one of these goes down.
    pub fn possible_ports(&self, source: NodeId, destination: NodeId, known: &[PortId]) -> Ports {
        if !known.is_empty() {
            return known.into();
        }
        let mut nodes: SmallVec<[NodeId; 8]> = smallvec![source];
        let mut ports = Ports::new();
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
    pub fn flow_word(&self, flow: FlowName) -> String {
        let workload = &self.blueprint.workloads[flow.workload as usize].name;
        format!("{workload}:{}:{}", self.blueprint.nodes[flow.source as usize].name, flow.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_two_cache_lines() {
        assert_eq!(size_of::<Path>(), 128);
    }
}
