//! A run without a network: do the ranks wait for each other?
//!
//! Each message arrives at once. Three things may depend on times, and so differ in a network: which message
//! an open receive takes; which of two receives that are posted beside each other takes a message; and which
//! operation a unit takes first, where it waits for other ranks then. A run that stops is therefore
//! repeated with these out of the way: each such receive is met at once, and each such unit is free for all.
//! What stops even so stops in every network.

use std::collections::{BTreeMap, BTreeSet};

use floodway_units::cast::narrow;
use floodway_units::{Span, Time};

use super::{NAMED, ProgramError};
use crate::collective::Plan;
use crate::{Graph, Kind, Message, Output, Program, Walker};

/// A dry run of more messages than this is left to the run itself.
const MOST_MESSAGES: u64 = 2_000_000;

impl Program {
    /// Executes an iteration without a network.
    pub(super) fn dry_run(&self) -> Result<(), ProgramError> {
        if self.most_messages() > MOST_MESSAGES {
            return Ok(());
        }
        let once = Program { iterations: 1, ..self.clone() };
        let Err(stuck) = once.execute() else { return Ok(()) };
        match once.without_choices() {
            Some(relaxed) => relaxed.execute(),
            None => Err(stuck),
        }
    }

    fn most_messages(&self) -> u64 {
        let of = |operation: &crate::Operation| match operation.kind {
            Kind::Collective { plan, .. } => {
                let all = self.seated.all(plan).map(|plan| self.plans[plan as usize].most_messages());
                all.max().unwrap_or_default()
            }
            _ => 1,
        };
        let of_graph = |graph: &Graph| graph.operations.iter().map(of).fold(0, u64::saturating_add);
        let graphs: Vec<u64> = self.graphs.iter().map(of_graph).collect();
        self.ranks.iter().map(|rank| graphs[rank.graph as usize]).fold(0, u64::saturating_add)
    }

    fn execute(&self) -> Result<(), ProgramError> {
        let mut walkers: Vec<Walker> =
            (0..narrow::<u32>(self.ranks.len())).map(|rank| Walker::new(self, rank, Time(0))).collect();
        let mut out = Output::default();
        let mut ready: Vec<u32> = (0..narrow::<u32>(walkers.len())).rev().collect();
        while let Some(rank) = ready.pop() {
            // Only the order of what waits for what matters.
            while let Some(now) = walkers[rank as usize].next_time() {
                walkers[rank as usize].advance(self, now, &mut out);
                for posting in std::mem::take(&mut out.postings) {
                    walkers[posting.to as usize].received(now, rank, posting.message, posting.step);
                    walkers[rank as usize].sent_if_asked(self, now, posting.message);
                    if self.in_turn {
                        walkers[rank as usize].left(now, posting.channel);
                    }
                    ready.push(posting.to);
                }
                out.ended.clear();
            }
        }
        self.all_finished(&walkers)
    }

    fn all_finished(&self, walkers: &[Walker]) -> Result<(), ProgramError> {
        let unfinished = (0..).zip(walkers).filter(|(_, walker)| !walker.is_finished());
        let waiting: Vec<String> = unfinished
            .flat_map(|(rank, walker)| walker.waiting().map(move |(_, operation)| (rank, operation)))
            .take(NAMED)
            .map(|(rank, operation)| format!("rank {rank}: {}", self.describe(rank, operation)))
            .collect();
        if walkers.iter().all(Walker::is_finished) {
            return Ok(());
        }
        Err(ProgramError::Stuck { waiting: waiting.join("; ") })
    }

    /// The program without what times decide; none if they decide nothing.
    fn without_choices(&self) -> Option<Program> {
        let graphs: Vec<Option<Graph>> = self.graphs.iter().map(Graph::without_choices).collect();
        if graphs.iter().all(Option::is_none) {
            return None;
        }
        let graphs = graphs.into_iter().zip(&self.graphs).map(|(free, graph)| free.unwrap_or(graph.clone()));
        Some(Program { graphs: graphs.collect(), ..self.clone() })
    }
}

impl Plan {
    /// The most messages of a rank.
    pub(crate) fn most_messages(&self) -> u64 {
        u64::from(self.shape.slices) * u64::from(self.shape.steps) * u64::from(self.shape.sends)
    }
}

impl Walker {
    /// A message is complete at its sender, unless that does not wait for it.
    fn sent_if_asked(&mut self, program: &Program, now: Time, message: Message) {
        if program.send_completes != crate::SendCompletes::Issued {
            self.sent(now, message);
        }
    }
}

impl Graph {
    /// The graph without what times decide; none if they decide nothing.
    fn without_choices(&self) -> Option<Graph> {
        let waits = |kind: &Kind| matches!(kind, Kind::Recv { .. } | Kind::Collective { .. });
        let units: BTreeSet<u32> = self
            .operations
            .iter()
            .filter(|operation| waits(&operation.kind))
            .filter_map(|operation| operation.unit)
            .collect();
        let beside = self.receives_beside_each_other();
        let mut operations = self.operations.clone();
        for (at, operation) in (0..).zip(&mut operations) {
            operation.unit = operation.unit.filter(|unit| !units.contains(unit));
            if let Kind::Recv { peer, tag } = operation.kind
                && (peer.is_none() || tag.is_none() || beside.contains(&at))
            {
                operation.kind = Kind::Compute { time: Span::ZERO };
            }
        }
        (operations != self.operations).then(|| Graph::new(operations))
    }

    /// Receives of one sender and tag that do not follow each other.
    fn receives_beside_each_other(&self) -> BTreeSet<u32> {
        let mut receives: BTreeMap<(u32, u64), Vec<u32>> = BTreeMap::new();
        for at in self.in_order() {
            if let Kind::Recv { peer: Some(peer), tag: Some(tag) } = self.operations[at as usize].kind {
                receives.entry((peer, tag)).or_default().push(at);
            }
        }
        let in_turn = |all: &[u32]| all.windows(2).all(|two| self.follows(two[1], two[0]));
        receives.into_values().filter(|all| !in_turn(all)).flatten().collect()
    }

    /// Does an operation start after another one has started, in any case?
    fn follows(&self, later: u32, earlier: u32) -> bool {
        let (mut seen, mut left) = (BTreeSet::new(), vec![later]);
        while let Some(at) = left.pop() {
            if at == earlier {
                return true;
            }
            let of = &self.operations[at as usize];
            left.extend(of.requires.iter().chain(&of.requires_start).filter(|&&before| seen.insert(before)));
        }
        false
    }
}
