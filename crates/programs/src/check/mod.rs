//! Checks of programs before they run: what can never end, and what is never received.
//!
//! Cycles within a rank, collectives that a rank of their group leaves out, and receives without a message
//! are found by looking ([`calls`], [`messages`]); ranks that wait for each other by a run without a network
//! ([`dry_run`]).

mod calls;
mod dry_run;
mod messages;

use crate::{Graph, Operation, Program};
use floodway_units::cast::narrow;

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
    /// Ranks of a group leave a collective out.
    #[error("{collective}, number {sequence} of {group}, is never called by {missing}")]
    Missed {
        /// The collective.
        collective: String,
        /// Which one of its group it is, from 0.
        sequence: u32,
        /// The group.
        group: String,
        /// The ranks that leave it out.
        missing: String,
    },
    /// A rank calls a collective of its group twice.
    #[error("rank {rank} calls number {sequence} of {group} twice: {first}, and {second}")]
    CalledTwice {
        /// The rank.
        rank: u32,
        /// Which one of its group it is, from 0.
        sequence: u32,
        /// The group.
        group: String,
        /// The first call.
        first: String,
        /// The second one.
        second: String,
    },
    /// Ranks call different collectives.
    #[error("number {sequence} of {group} is {one} at rank {first}, and {other} at rank {second}")]
    Differ {
        /// Which one of its group it is, from 0.
        sequence: u32,
        /// The group.
        group: String,
        /// The first rank, and what it calls.
        first: u32,
        /// What it calls.
        one: String,
        /// Another rank.
        second: u32,
        /// What that calls.
        other: String,
    },
    /// Fewer sends than receives.
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
    /// Fewer sends than receives that are open to several senders or tags.
    #[error("rank {to} receives {receives} messages{which}, and {sends} of them are sent")]
    TooFew {
        /// The receiver.
        to: u32,
        /// Which messages.
        which: String,
        /// How many are sent.
        sends: u64,
        /// How many are received.
        receives: u64,
    },
    /// Computations that no clock of the simulator can count.
    #[error("the computations of rank {rank} take more than 2^64 ps together, which is 213 days")]
    TooLong {
        /// The rank.
        rank: u32,
    },
    /// The ranks wait for each other.
    #[error("ranks wait for each other for ever: {waiting}")]
    Stuck {
        /// Some of the operations that wait.
        waiting: String,
    },
}

/// So many operations, ranks and tags are named.
const NAMED: usize = 4;

impl Program {
    /// Can the program end?
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check(&self) -> Result<(), ProgramError> {
        self.check_cycles()?;
        self.check_times()?;
        self.check_calls()?;
        self.check_receives()?;
        self.dry_run()
    }

    fn check_cycles(&self) -> Result<(), ProgramError> {
        let mut checked = vec![false; self.graphs.len()];
        for (rank, of) in (0..).zip(&self.ranks) {
            if !std::mem::replace(&mut checked[of.graph as usize], true)
                && let Err(cycle) = self.graph_of(rank).order()
            {
                let names: Vec<String> = cycle.iter().map(|&at| self.describe(rank, at)).collect();
                return Err(ProgramError::Cycle { rank, cycle: names.join(", ") });
            }
        }
        Ok(())
    }

    /// Can a clock count the computations of each rank?
    pub(crate) fn check_times(&self) -> Result<(), ProgramError> {
        let time = |rank: &u32| self.compute_time(*rank).0.checked_mul(self.iterations.into());
        let mut checked = vec![false; self.graphs.len()];
        let is_long = |rank: &u32| {
            let graph = self.ranks[*rank as usize].graph as usize;
            !std::mem::replace(&mut checked[graph], true) && time(rank).is_none_or(|time| time == u64::MAX)
        };
        match (0..narrow::<u32>(self.ranks.len())).find(is_long) {
            Some(rank) => Err(ProgramError::TooLong { rank }),
            None => Ok(()),
        }
    }

    /// Tags as their source has them.
    fn tags_in_words(&self, tags: &[u64]) -> String {
        if self.tags.is_empty() {
            return in_words("tag", "tags", tags);
        }
        let names: Vec<String> = tags.iter().map(|&tag| self.tag_name(tag)).collect();
        listed(&names)
    }
}

/// Ranks or tags in words: the first of them, and how many more there are.
fn in_words<T: std::fmt::Display>(one: &str, several: &str, all: &[T]) -> String {
    let kind = if all.len() == 1 { one } else { several };
    format!("{kind} {}", listed(all))
}

/// The first of some, and how many more there are.
fn listed<T: std::fmt::Display>(all: &[T]) -> String {
    let named: Vec<String> = all.iter().take(NAMED).map(ToString::to_string).collect();
    let more = all.len().saturating_sub(NAMED);
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{rest}", named.join(", "))
}

impl Graph {
    /// An order of the operations in which each comes after those that it waits for.
    ///
    /// # Errors
    /// Operations of which each waits for the next one, and the last one for the first.
    pub fn order(&self) -> Result<Vec<u32>, Vec<u32>> {
        let order = self.in_order();
        if order.len() == self.operations.len() { Ok(order) } else { Err(self.cycle(&order)) }
    }

    /// Operations, each behind those that it waits for; those of a cycle, and behind one, are left out.
    fn in_order(&self) -> Vec<u32> {
        let mut unmet: Vec<usize> = self.operations.iter().map(|of| of.all_required().count()).collect();
        let mut order: Vec<u32> =
            (0..narrow::<u32>(unmet.len())).filter(|&at| unmet[at as usize] == 0).collect();
        let mut done = 0;
        while let Some(&at) = order.get(done) {
            done += 1;
            let followers = &self.followers[at as usize];
            for &follower in followers.of_end.iter().chain(&followers.of_start) {
                unmet[follower as usize] -= 1;
                if unmet[follower as usize] == 0 {
                    order.push(follower);
                }
            }
        }
        order
    }

    /// A cycle among the operations that are not in an order, each of which waits for another one of them.
    fn cycle(&self, order: &[u32]) -> Vec<u32> {
        let mut stuck = vec![true; self.operations.len()];
        for &at in order {
            stuck[at as usize] = false;
        }
        let mut at =
            narrow::<u32>(stuck.iter().position(|&stuck| stuck).expect("some operation has no place"));
        let (mut chain, mut place) = (Vec::new(), vec![usize::MAX; stuck.len()]);
        while place[at as usize] == usize::MAX {
            place[at as usize] = chain.len();
            chain.push(at);
            let required = self.operations[at as usize].all_required();
            let waits_for = required.copied().find(|&before| stuck[before as usize]);
            at = waits_for.expect("what can never start waits for another that cannot");
        }
        chain.split_off(place[at as usize])
    }
}

impl Operation {
    fn all_required(&self) -> impl Iterator<Item = &u32> {
        self.requires.iter().chain(&self.requires_start)
    }
}
