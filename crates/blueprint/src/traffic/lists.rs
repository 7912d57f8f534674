//! Lists of flows that wait for others, as programs of their hosts' ranks.
//!
//! ```text
//!   flow f: A -> B                rank of A: send f ──► (its end, once it is acknowledged)
//!   flow g: B -> C, after = f     rank of B: recv f ──► send g
//! ```
//! A rank is a host. A send is not a message of a queue pair of two ranks: it starts a flow of the list, with
//! its own settings, number and hooks, after its `wait` and not before its `start`. Flows that wait for none,
//! and for which none wait, are not in the program.
//!
//! A list without `after` has no ranks: sources start its flows.

use std::collections::{BTreeMap, BTreeSet};

use floodway_programs::{Graph, Kind, Message, Operation, Program, Rank};
use floodway_units::NodeId;
use floodway_units::cast::{narrow, to_usize};
use rustc_hash::FxHashMap;

use crate::network::blueprint::{Arrivals, Blueprint, FlowSpec};
use crate::traffic::hooks::{AWAITED, NO_HOOK};

/// The programs of all lists.
#[derive(Debug, Default)]
pub struct Lists {
    /// By workload; none where no flow waits for another one.
    of: Vec<Option<ListProgram>>,
    /// By hook, from [`AWAITED`] on.
    awaited: Vec<Awaited>,
}

/// The program of a list.
#[derive(Debug, Default)]
pub struct ListProgram {
    /// Its operations.
    pub program: Program,
    /// By rank.
    pub hosts: Vec<NodeId>,
    /// Flows that wait for others, in the order of the list.
    pub waiting: Vec<usize>,
    /// By flow for which others wait: its hook.
    hooks: FxHashMap<usize, u32>,
}

/// A flow for which others wait.
#[derive(Clone, Copy, Debug)]
pub struct Awaited {
    /// Its list.
    pub workload: u32,
    /// The ranks of its hosts.
    pub from: u32,
    /// See `from`.
    pub to: u32,
    /// Its send.
    pub message: Message,
    /// Where its completion matters.
    pub at_sender: bool,
    /// See `at_sender`.
    pub at_receiver: bool,
}

impl Lists {
    /// Those of a blueprint.
    pub fn new(blueprint: &Blueprint) -> Self {
        let mut lists = Lists::default();
        for (workload, spec) in (0..).zip(&blueprint.workloads) {
            let list = match &spec.arrivals {
                Arrivals::List(flows) if flows.iter().any(|flow| !flow.after.is_empty()) => {
                    Some(Builder::new(flows).build(workload, &mut lists.awaited))
                }
                _ => None,
            };
            lists.of.push(list);
        }
        lists
    }

    /// The program of a workload's list, if flows of it wait for others.
    pub fn of(&self, workload: u32) -> Option<&ListProgram> {
        self.of[workload as usize].as_ref()
    }

    /// The hook of a flow of a list.
    pub fn hook_of(&self, workload: u32, flow: usize) -> u32 {
        self.of(workload).and_then(|list| list.hooks.get(&flow)).copied().unwrap_or(NO_HOOK)
    }

    /// The flow of a hook.
    pub fn awaited(&self, hook: u32) -> Awaited {
        self.awaited[(hook - AWAITED) as usize]
    }
}

impl ListProgram {
    /// The flow that a rank issues by a message, and its place among those that wait: sources start those
    /// that do not.
    pub fn flow_of(&self, rank: u32, message: Message) -> (usize, usize) {
        match self.program.operation_of(rank, message.operation).kind {
            Kind::Send { tag, .. } => {
                (to_usize(tag), self.waiting.partition_point(|&flow| flow < to_usize(tag)))
            }
            _ => unreachable!("a list has no collectives"),
        }
    }
}

/// Makes the program of a list.
struct Builder<'a> {
    flows: &'a [FlowSpec],
    hosts: Vec<NodeId>,
    ranks: FxHashMap<NodeId, u32>,
    /// By rank.
    graphs: Vec<Vec<Operation>>,
    peers: Vec<Vec<u32>>,
    /// Ranks, and the place of the second among the peers of the first.
    peer_of: FxHashMap<(u32, u32), u32>,
    /// By flow: its send, at the rank of its source.
    sends: FxHashMap<usize, u32>,
    /// By flow: its receive, at the rank of its destination.
    receives: BTreeMap<usize, u32>,
    /// Flows that others at their source wait for.
    acknowledged: BTreeSet<usize>,
}

impl<'a> Builder<'a> {
    fn new(flows: &'a [FlowSpec]) -> Self {
        Builder {
            flows,
            hosts: Vec::new(),
            ranks: FxHashMap::default(),
            graphs: Vec::new(),
            peers: Vec::new(),
            peer_of: FxHashMap::default(),
            sends: FxHashMap::default(),
            receives: BTreeMap::new(),
            acknowledged: BTreeSet::new(),
        }
    }

    fn build(mut self, workload: u32, awaited: &mut Vec<Awaited>) -> ListProgram {
        let flows = self.flows;
        let waiting: Vec<usize> = (0..flows.len()).filter(|&flow| !flows[flow].after.is_empty()).collect();
        let mut is_in = vec![false; flows.len()];
        for &flow in &waiting {
            is_in[flow] = true;
            flows[flow].after.iter().for_each(|&before| is_in[before] = true);
        }
        (0..flows.len()).filter(|&flow| is_in[flow]).for_each(|flow| self.add_send(flow));
        for &flow in &waiting {
            self.add_requirements(flow);
        }
        let hooks = self.add_awaited(workload, awaited);
        let graphs = self.graphs.into_iter().map(Graph::new).collect();
        let ranks = (0..).zip(self.peers);
        let ranks = ranks.map(|(graph, peers)| Rank { graph, peers: peers.into(), groups: Box::default() });
        let program = Program { graphs, ranks: ranks.collect(), iterations: 1, ..Program::default() };
        ListProgram { program, hosts: self.hosts, waiting, hooks }
    }

    fn rank(&mut self, host: NodeId) -> u32 {
        let Builder { hosts, graphs, peers, .. } = self;
        *self.ranks.entry(host).or_insert_with(|| {
            hosts.push(host);
            graphs.push(Vec::new());
            peers.push(Vec::new());
            narrow::<u32>(hosts.len()) - 1
        })
    }

    fn peer(&mut self, rank: u32, other: u32) -> u32 {
        let peers = &mut self.peers[rank as usize];
        *self.peer_of.entry((rank, other)).or_insert_with(|| {
            peers.push(other);
            narrow::<u32>(peers.len()) - 1
        })
    }

    fn add(&mut self, rank: u32, kind: Kind) -> u32 {
        let graph = &mut self.graphs[rank as usize];
        graph.push(Operation { kind, requires: Vec::new(), requires_start: Vec::new(), unit: None, name: 0 });
        narrow::<u32>(graph.len()) - 1
    }

    fn add_send(&mut self, flow: usize) {
        let flows = self.flows;
        let spec = &flows[flow];
        let (from, to) = (self.rank(spec.source), self.rank(spec.destination));
        let peer = self.peer(from, to);
        let kind = Kind::Send { peer, bytes: spec.size, tag: flow as u64, channel: 0 };
        let send = self.add(from, kind);
        self.sends.insert(flow, send);
    }

    /// What a flow waits for, at the rank of its source.
    fn add_requirements(&mut self, flow: usize) {
        let flows = self.flows;
        let FlowSpec { source, after, .. } = &flows[flow];
        let rank = self.rank(*source);
        let requires: Vec<u32> = after.iter().map(|&before| self.completion(rank, before)).collect();
        self.graphs[rank as usize][self.sends[&flow] as usize].requires = requires;
    }

    /// The operation of a rank at the end of which a flow is complete there: its receive if it ends there,
    /// else its send.
    fn completion(&mut self, rank: u32, flow: usize) -> u32 {
        let FlowSpec { source, destination, .. } = self.flows[flow];
        if self.rank(destination) != rank {
            self.acknowledged.insert(flow);
            return self.sends[&flow];
        }
        if let Some(&receive) = self.receives.get(&flow) {
            return receive;
        }
        let from = self.rank(source);
        let peer = self.peer(rank, from);
        let receive = self.add(rank, Kind::Recv { peer: Some(peer), tag: Some(flow as u64) });
        self.receives.insert(flow, receive);
        receive
    }

    /// Gives each flow for which others wait a hook.
    fn add_awaited(&mut self, workload: u32, awaited: &mut Vec<Awaited>) -> FxHashMap<usize, u32> {
        let mut hooks = FxHashMap::default();
        let all: BTreeSet<usize> = self.receives.keys().chain(&self.acknowledged).copied().collect();
        for flow in all {
            let FlowSpec { source, destination, .. } = self.flows[flow];
            let (from, to) = (self.rank(source), self.rank(destination));
            let message = Message { iteration: 0, operation: self.sends[&flow], transfer: 0 };
            hooks.insert(flow, AWAITED | narrow::<u32>(awaited.len()));
            let at_sender = self.acknowledged.contains(&flow);
            let at_receiver = self.receives.contains_key(&flow);
            awaited.push(Awaited { workload, from, to, message, at_sender, at_receiver });
        }
        hooks
    }
}
