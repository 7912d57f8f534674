//! Programs: what every rank of a job does, and what it waits for.

use std::collections::BTreeSet;

use floodway_units::cast::narrow;
use floodway_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Message;
use crate::build::Seated;
use crate::collective::{Plan, Step};
use crate::rounds::Rounds;

/// The operations of all ranks of a job.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Graphs of operations. Ranks whose graphs differ only in peers and groups share one.
    pub graphs: Vec<Graph>,
    /// By rank.
    pub ranks: Vec<Rank>,
    /// Groups of ranks that take part in collectives, each in the order of its places.
    pub groups: Vec<Vec<u32>>,
    /// Plans of collectives that operations refer to.
    pub plans: Vec<Plan>,
    /// Names that operations refer to.
    pub names: Vec<String>,
    /// By tag of the program: what its source calls it; empty where tags are the source's own.
    pub tags: Vec<String>,
    /// How often each rank executes its graph, from 1: a rank begins again when all of it is complete there.
    pub iterations: u32,
    /// When a send is complete.
    pub send_completes: SendCompletes,
    /// Which operation a free unit takes.
    pub order: Order,
    /// Do messages of a rank on a channel leave one after another, also to different receivers? Else all
    /// that are posted share the NIC.
    pub in_turn: bool,
    /// Plans by where the ranks of groups are, once that is known.
    pub seated: Seated,
}

/// A rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rank {
    /// Its graph.
    pub graph: u32,
    /// Ranks that its sends and receives refer to.
    pub peers: Box<[u32]>,
    /// Groups that its collectives refer to, and its place in each of them.
    pub groups: Box<[(u32, u32)]>,
}

/// A directed acyclic graph of operations.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Its operations; an index into this list names one.
    pub operations: Vec<Operation>,
    /// By operation: those that wait for its end, and those that wait for its start.
    pub(crate) followers: Vec<Followers>,
    /// By (slot of a group, number of the collective in that group): the operation.
    pub(crate) calls: Vec<((u32, u32), u32)>,
    /// The number of units that its operations name.
    pub(crate) units: u32,
    /// Its part that repeats itself, if one is known.
    pub(crate) rounds: Option<Rounds>,
}

/// Operations that wait for one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Followers {
    pub of_end: Box<[u32]>,
    pub of_start: Box<[u32]>,
}

/// What a rank does, once all that it requires is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What it does.
    pub kind: Kind,
    /// Operations of the graph that must be complete before it starts.
    pub requires: Vec<u32>,
    /// Operations of the graph that must have started before it starts (GOAL's `irequires`).
    pub requires_start: Vec<u32>,
    /// A unit that it occupies from its start to its end, with no other operation at the same time: a CPU of
    /// GOAL, a stream of a GPU.
    pub unit: Option<u32>,
    /// Its name, in [`Program::names`].
    pub name: u32,
}

impl Operation {
    /// How many operations it waits for.
    pub(crate) fn waits_for(&self) -> u32 {
        narrow(self.requires.len() + self.requires_start.len())
    }
}

/// The kinds of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A message to another rank.
    Send {
        /// The receiver, in [`Rank::peers`].
        peer: u32,
        /// Payload.
        bytes: Bytes,
        /// What the receive must name.
        tag: u64,
        /// The queue pair to that receiver.
        channel: u32,
    },
    /// A message from another rank. Sizes are not compared.
    Recv {
        /// The sender, in [`Rank::peers`]; any, if absent.
        peer: Option<u32>,
        /// The tag; any, if absent.
        tag: Option<u64>,
    },
    /// Work of the rank alone.
    Compute {
        /// How long it takes.
        time: Span,
    },
    /// A rank's part of a collective.
    Collective {
        /// In [`Program::plans`].
        plan: u32,
        /// In [`Rank::groups`].
        group: u32,
        /// Which collective of that group it is, by a number that all its ranks use.
        sequence: u32,
    },
}

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// The receiver.
    pub to: u32,
    /// Of a collective: the receiver's slice and step to which it belongs, as one number.
    pub step: u32,
}

/// What each rank of a program sends and receives, all iterations together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// By rank: messages that it sends.
    pub messages: Vec<u64>,
    /// By rank: their payload, in bytes.
    pub sent: Vec<u64>,
    /// By rank: payload that it receives, in bytes.
    pub received: Vec<u64>,
}

impl Traffic {
    fn add(&mut self, (from, to): (u32, u32), messages: u64, bytes: u64) {
        self.messages[from as usize] += messages;
        self.sent[from as usize] += bytes;
        self.received[to as usize] += bytes;
    }
}

/// When a send is complete at its sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SendCompletes {
    /// When its last byte is acknowledged, as a verb is; where nothing is acknowledged, when it has left.
    #[default]
    Acknowledged,
    /// At once, as GOAL's eager messages are.
    Issued,
    /// When its last byte has arrived, as in ASTRA-sim, where a rank's part of a collective is complete when
    /// all has arrived there. The sender could not know of an arrival before a packet comes back; so all
    /// events of the run have one order.
    Received,
}

/// Which of the operations that are ready a free unit takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The one that was ready first; of those of one instant the first of the graph.
    #[default]
    FirstReady,
    /// The first of the graph.
    Listed,
}

impl Program {
    /// The graph of a rank.
    pub fn graph_of(&self, rank: u32) -> &Graph {
        &self.graphs[self.ranks[rank as usize].graph as usize]
    }

    /// An operation of a rank.
    pub fn operation_of(&self, rank: u32, operation: u32) -> &Operation {
        &self.graph_of(rank).operations[operation as usize]
    }

    /// A rank's group in a slot, and its place there.
    pub fn group_of(&self, rank: u32, slot: u32) -> (u32, u32) {
        self.ranks[rank as usize].groups[slot as usize]
    }

    /// The plan of a collective of a group.
    pub fn plan(&self, plan: u32, group: u32) -> &Plan {
        &self.plans[self.seated.plan(plan, group) as usize]
    }

    /// A rank's part of the collective `sequence` of a group.
    pub(crate) fn call_of(&self, rank: u32, group: u32, sequence: u32) -> Option<u32> {
        let groups = &self.ranks[rank as usize].groups;
        let slot = narrow::<u32>(groups.iter().position(|&(at, _)| at == group)?);
        self.graph_of(rank).call(slot, sequence)
    }

    /// An operation of a rank in words, for errors and reports.
    pub fn describe(&self, rank: u32, operation: u32) -> String {
        let operation = self.operation_of(rank, operation);
        let peer_of = |peer: u32| self.ranks[rank as usize].peers[peer as usize];
        let what = match operation.kind {
            Kind::Send { peer, bytes, tag, .. } => {
                format!("send of {bytes} to {} {}", peer_of(peer), self.tag_name(tag))
            }
            Kind::Recv { peer, tag } => {
                let from = peer.map_or("any rank".into(), |peer| peer_of(peer).to_string());
                let tag = tag.map_or("any tag".into(), |tag| self.tag_name(tag));
                format!("recv from {from} {tag}")
            }
            Kind::Compute { time } => format!("compute for {time}"),
            Kind::Collective { plan, group, .. } => {
                let plan = self.plan(plan, self.group_of(rank, group).0);
                format!("{} of {} ({})", plan.purpose.name(), plan.size, plan.algorithm)
            }
        };
        match self.names.get(operation.name as usize) {
            Some(name) if !name.is_empty() => format!("{name} ({what})"),
            _ => what,
        }
    }

    /// A tag as its source has it.
    pub(crate) fn tag_name(&self, tag: u64) -> String {
        let known = usize::try_from(tag).ok().and_then(|tag| self.tags.get(tag));
        known.map_or_else(|| format!("tag {tag}"), Clone::clone)
    }

    /// The ranks to which a rank sends.
    pub fn receivers_of(&self, from: u32) -> BTreeSet<u32> {
        let mut receivers = BTreeSet::new();
        self.each_peer(from, |_, to, _, _| {
            receivers.insert(to);
        });
        receivers
    }

    /// What each rank sends and receives.
    pub fn traffic(&self) -> Traffic {
        let none = || vec![0; self.ranks.len()];
        let mut traffic = Traffic { messages: none(), sent: none(), received: none() };
        for from in 0..narrow::<u32>(self.ranks.len()) {
            self.each_peer(from, |_, to, messages, bytes| traffic.add((from, to), messages, bytes));
        }
        let iterations = u64::from(self.iterations);
        let all = [&mut traffic.messages, &mut traffic.sent, &mut traffic.received];
        for count in all.into_iter().flatten() {
            *count = count.saturating_mul(iterations);
        }
        traffic
    }

    /// For each operation of a rank and rank that it sends to, in an iteration: the operation, the receiver,
    /// the number of messages and their bytes.
    pub fn each_peer(&self, from: u32, mut each: impl FnMut(u32, u32, u64, u64)) {
        for (index, operation) in (0..).zip(&self.graph_of(from).operations) {
            match operation.kind {
                Kind::Send { peer, bytes, .. } => {
                    each(index, self.ranks[from as usize].peers[peer as usize], 1, bytes.0);
                }
                Kind::Collective { plan, group, .. } => {
                    let (group, me) = self.group_of(from, group);
                    let plan = self.plan(plan, group);
                    let members = &self.groups[group as usize];
                    plan.each_peer(me, |to, messages, bytes| {
                        each(index, members[to as usize], messages, bytes);
                    });
                }
                Kind::Recv { .. } | Kind::Compute { .. } => {}
            }
        }
    }

    /// Is an operation of a rank a computation?
    pub fn computes(&self, rank: u32, operation: u32) -> bool {
        matches!(self.operation_of(rank, operation).kind, Kind::Compute { .. })
    }

    /// What a rank computes in an iteration, one after another.
    pub fn compute_time(&self, rank: u32) -> Span {
        let time = |operation: &Operation| match operation.kind {
            Kind::Compute { time } => time.0,
            _ => 0,
        };
        Span(self.graph_of(rank).operations.iter().map(time).fold(0, u64::saturating_add))
    }

    /// The channel of a message of a rank.
    pub fn channel_of(&self, from: u32, message: Message) -> u32 {
        match self.operation_of(from, message.operation).kind {
            Kind::Send { channel, .. } => channel,
            Kind::Collective { plan, group, .. } => {
                let plan = self.plan(plan, self.group_of(from, group).0);
                plan.channel(plan.place(message.transfer).0)
            }
            Kind::Recv { .. } | Kind::Compute { .. } => 0,
        }
    }

    /// How many channels the messages of an operation use at most.
    pub fn channels_of(&self, rank: u32, operation: u32) -> u32 {
        match self.operation_of(rank, operation).kind {
            Kind::Send { channel, .. } => channel + 1,
            Kind::Collective { plan, group, .. } => self.plan(plan, self.group_of(rank, group).0).channels(),
            Kind::Recv { .. } | Kind::Compute { .. } => 0,
        }
    }

    /// Where a message of `from` goes; `step` is memory.
    pub fn arrival(&self, from: u32, message: Message, step: &mut Step) -> Arrival {
        let to = match self.operation_of(from, message.operation).kind {
            Kind::Collective { plan, group, .. } => {
                let (group, me) = self.group_of(from, group);
                let plan = self.plan(plan, group);
                let (slice, at, place) = plan.place(message.transfer);
                plan.step(me, slice, at, step);
                let transfer = step.sends[place as usize];
                let to = self.groups[group as usize][transfer.to as usize];
                return Arrival { to, step: plan.cell(transfer.at) };
            }
            Kind::Send { peer, .. } | Kind::Recv { peer: Some(peer), .. } => {
                self.ranks[from as usize].peers[peer as usize]
            }
            Kind::Recv { peer: None, .. } | Kind::Compute { .. } => from,
        };
        Arrival { to, step: 0 }
    }

    /// The rank to which a message of `from` goes, and its payload; `step` is memory.
    pub fn posting_of(&self, from: u32, message: Message, step: &mut Step) -> (u32, Bytes) {
        let to = self.arrival(from, message, step).to;
        match self.operation_of(from, message.operation).kind {
            Kind::Collective { plan, group, .. } => {
                let (_, _, place) = self.plan(plan, self.group_of(from, group).0).place(message.transfer);
                (to, step.sends[place as usize].bytes)
            }
            Kind::Send { bytes, .. } => (to, bytes),
            Kind::Recv { .. } | Kind::Compute { .. } => (to, Bytes(0)),
        }
    }
}

impl Graph {
    /// The graph of operations, of which each names earlier or later ones that it requires.
    ///
    /// # Panics
    /// If an operation requires one that is not there; readers check that and name its line.
    pub fn new(operations: Vec<Operation>) -> Self {
        let mut ends = vec![Vec::new(); operations.len()];
        let mut starts = vec![Vec::new(); operations.len()];
        let mut calls = Vec::new();
        for (index, operation) in (0..).zip(&operations) {
            operation.requires.iter().for_each(|&before| ends[before as usize].push(index));
            operation.requires_start.iter().for_each(|&before| starts[before as usize].push(index));
            if let Kind::Collective { group, sequence, .. } = operation.kind {
                calls.push(((group, sequence), index));
            }
        }
        calls.sort_unstable();
        let units = operations.iter().filter_map(|operation| operation.unit).max().map_or(0, |unit| unit + 1);
        let followers = ends.into_iter().zip(starts);
        let followers =
            followers.map(|(ends, starts)| Followers { of_end: ends.into(), of_start: starts.into() });
        Graph { followers: followers.collect(), operations, calls, units, rounds: None }
    }

    /// Its part that repeats itself, if one is known.
    pub fn rounds(&self) -> Option<Rounds> {
        self.rounds
    }

    /// The operation that takes part in the collective `sequence` of the group in a slot.
    pub(crate) fn call(&self, slot: u32, sequence: u32) -> Option<u32> {
        let at = self.calls.binary_search_by_key(&(slot, sequence), |&(call, _)| call).ok()?;
        Some(self.calls[at].1)
    }
}
