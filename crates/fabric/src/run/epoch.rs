//! Inspection between epochs: which queue pairs are complete, and whether the run is.
//!
//! At the end of each epoch one thread inspects the whole network: it ends the run if that is over, searches
//! for deadlocks once a millisecond, closes queue pairs, and balances free slots and memory between threads.
//! When the run is over it merges the records of all threads.

use floodway_units::Time;

use crate::bounds::deadlock::DeadlockSearch;
use crate::records::outcome::Stopped;
use crate::run::network::Network;
use crate::run::ranks::{Census, Share};
use crate::run::world::World;

/// Between two searches for deadlock, in picoseconds.
const SEARCH_EVERY: u64 = 1_000_000_000;

impl World<'_> {
    /// Called at the end of each epoch, at the time `now`; true ends the run.
    pub fn at_epoch(&mut self, now: Time) -> bool {
        (self.now, self.order) = (now.0, 0);
        self.runs.own.events.check_numbers();
        if cfg!(debug_assertions) {
            self.debug_check();
        }
        self.runs.close_queue_pairs(&self.facts, &mut self.nodes, self.ranks.as_deref_mut(), now);
        let census = self.census();
        let run_time = self.runs.own.events.run_time(self.now);
        census.report(self.runs.own.control, &self.work, run_time);
        if let Some(ranks) = &mut self.ranks {
            ranks.report_hops(&self.runs, &census);
        }
        if run_time.is_multiple_of(SEARCH_EVERY) {
            let (packets, now) = (&self.runs.own.packets, self.now);
            let network = Network { facts: &self.facts, nodes: &self.nodes };
            let share = Share(self.ranks.as_deref_mut());
            let skipped = self.runs.own.events.skipped();
            let found = DeadlockSearch { network, packets, share, now, skipped }.find();
            self.runs.own.kept.note_deadlock(found);
        }
        let end = &self.facts.blueprint.end;
        if end.stop_on_deadlock && !self.runs.own.kept.deadlocks.is_empty() {
            return true;
        }
        !end.at_limit && census.is_all_measured_done(self.facts.blueprint, run_time)
    }

    /// Why a run is over.
    pub fn stopped(&mut self, interrupted: bool) -> Stopped {
        let census = self.census();
        if interrupted {
            Stopped::Interrupted
        } else if self.facts.blueprint.end.stop_on_deadlock && !self.runs.own.kept.deadlocks.is_empty() {
            Stopped::Deadlock
        } else if census.is_all_measured_done(self.facts.blueprint, self.runs.own.events.run_time(self.now)) {
            Stopped::Finished
        } else {
            Stopped::Limit
        }
    }

    /// What all processes have counted.
    fn census(&mut self) -> Census {
        let own =
            self.runs.census(&self.facts, self.runs.own.events.run_time(self.now), |node| self.owns(node));
        match &mut self.ranks {
            Some(ranks) => ranks.census(own),
            None => own,
        }
    }
}
