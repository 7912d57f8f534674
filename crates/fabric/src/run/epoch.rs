//! Inspection between epochs: which queue pairs are complete, and whether the run is.
//!
//! At the end of each epoch one thread inspects the whole network: it counts what is done, which ends the run
//! (`parts.rs`), searches for deadlocks once a millisecond, closes queue pairs, and balances free slots and
//! memory between threads.

use floodway_units::Time;

use crate::bounds::deadlock::DeadlockSearch;
use crate::run::network::Network;
use crate::run::ranks::{Census, Share};
use crate::run::world::World;

/// Between two searches for deadlock, in picoseconds.
const SEARCH_EVERY: u64 = 1_000_000_000;

impl World<'_> {
    /// Called at the end of each epoch, at the time `now`; what all processes have counted.
    pub fn at_epoch(&mut self, now: Time) -> Census {
        (self.now, self.order) = (now.0, 0);
        self.runs.own.events.check_numbers();
        if cfg!(debug_assertions) {
            self.debug_check();
        }
        self.runs.close_queue_pairs(&self.facts, &mut self.nodes, self.ranks.as_deref_mut(), now);
        let census = self.census();
        if let Some(ranks) = &mut self.ranks {
            ranks.report_hops(&self.runs, &census);
        }
        if self.runs.own.events.run_time(self.now).is_multiple_of(SEARCH_EVERY) {
            let (packets, now) = (&self.runs.own.packets, self.now);
            let network = Network { facts: &self.facts, nodes: &self.nodes };
            let share = Share::new(self.ranks.as_deref_mut(), self.part.as_deref());
            let skipped = self.runs.own.events.skipped();
            let found = DeadlockSearch { network, packets, share, now, skipped }.find();
            self.runs.own.kept.note_deadlock(found);
        }
        census
    }

    /// What all processes have counted.
    pub fn census(&mut self) -> Census {
        let own =
            self.runs.census(&self.facts, self.runs.own.events.run_time(self.now), |node| self.owns(node));
        match &mut self.ranks {
            Some(ranks) => ranks.census(own),
            None => own,
        }
    }
}
