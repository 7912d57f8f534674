//! Checks of programs before they run: what can never end.
//!
//! Cycles within a rank, and sends and receives without a counterpart, are found by looking. A dry run then
//! executes all ranks without a network, each message arriving at once: where no receive is open to several
//! messages, what an operation waits for does not depend on times, and a program that stops there stops in
//! every network.

use std::collections::BTreeMap;

use floodway_units::Time;

use crate::collective::{Plan, Step};
use crate::{Graph, Kind, Message, Output, Program, Walker};

/// A program that cannot end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// Operations of a rank wait for each other.
    #[error("operations of rank {rank} wait for each other: {cycle}")]
    Cycle {
        /// The rank.
        rank: u32,
        /// The operations, each of which waits for the next one.
        cycle: String,
    },
    /// Computations that no clock of the simulator can count.
    #[error("the computations of rank {rank} take more than 2^64 ps together, which is 213 days")]
    TooLong {
        /// The rank.
        rank: u32,
    },
    /// More sends than receives, or fewer.
    #[error("rank {from} sends {sends} messages with {tag} to rank {to}, which receives {receives} of them")]
    Unmatched {
        /// The sender.
        from: u32,
        /// The receiver.
        to: u32,
        /// Their tag, as their source has it.
        tag: String,
        /// How many are sent.
        sends: u64,
        /// How many are received.
        receives: u64,
    },
    /// The ranks wait for each other.
    #[error("ranks wait for each other for ever: {waiting}")]
    Stuck {
        /// Some of the operations that wait.
        waiting: String,
    },
}

/// So many operations are named.
const NAMED: usize = 4;
/// A dry run of more messages than this is left to the run itself.
const MOST_MESSAGES: u64 = 2_000_000;

impl Program {
    /// Can the program end?
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check(&self) -> Result<(), ProgramError> {
        let mut checked = vec![false; self.graphs.len()];
        for (rank, of) in (0..).zip(&self.ranks) {
            if !std::mem::replace(&mut checked[of.graph as usize], true)
                && let Some(cycle) = self.graph_of(rank).cycle()
            {
                let names: Vec<String> = cycle.iter().map(|&at| self.describe(rank, at)).collect();
                return Err(ProgramError::Cycle { rank, cycle: names.join(", ") });
            }
        }
        self.check_times()?;
        if self.has_open_receives() {
            return Ok(());
        }
        self.check_matches()?;
        self.dry_run()
    }

    fn check_times(&self) -> Result<(), ProgramError> {
        let time = |rank: &u32| self.compute_time(*rank).0.checked_mul(self.iterations.into());
        let is_long = |rank: &u32| time(rank).is_none_or(|time| time == u64::MAX);
        match (0..self.ranks.len() as u32).find(is_long) {
            Some(rank) => Err(ProgramError::TooLong { rank }),
            None => Ok(()),
        }
    }

    /// Is a receive open to several senders or tags?
    fn has_open_receives(&self) -> bool {
        let is_open =
            |kind: &Kind| matches!(kind, Kind::Recv { peer, tag } if peer.is_none() || tag.is_none());
        self.graphs.iter().flat_map(|graph| &graph.operations).any(|operation| is_open(&operation.kind))
    }

    fn check_matches(&self) -> Result<(), ProgramError> {
        let mut counts: BTreeMap<(u32, u32, u64), (u64, u64)> = BTreeMap::new();
        for (rank, of) in (0..).zip(&self.ranks) {
            for operation in &self.graph_of(rank).operations {
                match operation.kind {
                    Kind::Send { peer, tag, .. } => {
                        counts.entry((rank, of.peers[peer as usize], tag)).or_default().0 += 1;
                    }
                    Kind::Recv { peer: Some(peer), tag: Some(tag) } => {
                        counts.entry((of.peers[peer as usize], rank, tag)).or_default().1 += 1;
                    }
                    _ => {}
                }
            }
        }
        let unmatched = counts.into_iter().find(|(_, (sends, receives))| sends < receives);
        match unmatched {
            Some(((from, to, tag), (sends, receives))) => {
                Err(ProgramError::Unmatched { from, to, tag: self.tag_name(tag), sends, receives })
            }
            None => Ok(()),
        }
    }

    /// Executes an iteration without a network.
    fn dry_run(&self) -> Result<(), ProgramError> {
        let mut count = 0_u64;
        let mut step = Step::default();
        for (rank, _) in (0..).zip(&self.ranks) {
            for operation in &self.graph_of(rank).operations {
                count += match operation.kind {
                    Kind::Collective { plan, .. } => Plan::most_messages(&self.plans[plan as usize]),
                    _ => 1,
                };
            }
        }
        if count > MOST_MESSAGES {
            return Ok(());
        }
        let once = Program { iterations: 1, ..self.clone() };
        let mut walkers: Vec<Walker> =
            (0..self.ranks.len() as u32).map(|rank| Walker::new(&once, rank, Time(0))).collect();
        let mut out = Output::default();
        let mut ready: Vec<u32> = (0..walkers.len() as u32).rev().collect();
        while let Some(rank) = ready.pop() {
            // Computations end at once: only the order of what waits for what matters.
            while let Some(now) = walkers[rank as usize].next_time() {
                walkers[rank as usize].advance(&once, now, &mut out);
                for posting in std::mem::take(&mut out.postings) {
                    let to = once.receiver_of(rank, posting.message, &mut step);
                    walkers[to as usize].received(now, rank, posting.message);
                    walkers[rank as usize].sent_if_asked(&once, now, posting.message);
                    if once.in_turn {
                        walkers[rank as usize].left(now, posting.channel);
                    }
                    ready.push(to);
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
    /// Operations of which each waits for the next one, and the last one for the first.
    fn cycle(&self) -> Option<Vec<u32>> {
        let count = self.operations.len();
        let mut unmet: Vec<usize> =
            self.operations.iter().map(|of| of.requires.len() + of.requires_start.len()).collect();
        let mut ready: Vec<usize> = (0..count).filter(|&at| unmet[at] == 0).collect();
        let mut done = 0;
        while let Some(at) = ready.pop() {
            done += 1;
            let followers = &self.followers[at];
            for &follower in followers.of_end.iter().chain(&followers.of_start) {
                unmet[follower as usize] -= 1;
                if unmet[follower as usize] == 0 {
                    ready.push(follower as usize);
                }
            }
        }
        if done == count {
            return None;
        }
        let mut at = (0..count).find(|&at| unmet[at] > 0)? as u32;
        let (mut chain, mut place) = (Vec::new(), vec![usize::MAX; count]);
        while place[at as usize] == usize::MAX {
            place[at as usize] = chain.len();
            chain.push(at);
            let of = &self.operations[at as usize];
            let before = of.requires.iter().chain(&of.requires_start);
            at = before.copied().find(|&before| unmet[before as usize] > 0)?;
        }
        Some(chain.split_off(place[at as usize]))
    }
}
