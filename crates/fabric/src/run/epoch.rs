//! Inspection between epochs: which queue pairs are complete, and whether the run is.

use std::mem;
use std::sync::atomic::Ordering;

use floodway_units::Time;

use crate::host::queue_pairs::Done;
use crate::network::build::has_bounded;
use crate::records::outcome::{Conservation, Stopped};
use crate::records::tally::Totals;
use crate::run::state::Run;
use crate::run::world::World;
use crate::traffic::triggers;

/// Between two searches for deadlock, in picoseconds.
const SEARCH_EVERY: u64 = 1_000_000_000;

impl<'a> World<'a> {
    /// The run as each thread has it, this one first.
    pub fn runs(&self) -> impl Iterator<Item = &Run<'a>> + Clone {
        std::iter::once(&self.run).chain(&self.other_runs)
    }

    /// The same, mutable.
    pub fn runs_mut(&mut self) -> impl Iterator<Item = &mut Run<'a>> {
        std::iter::once(&mut self.run).chain(&mut self.other_runs)
    }

    /// Called at the end of each epoch, at the time `now`; true ends the run.
    pub fn at_epoch(&mut self, now: Time) -> bool {
        (self.now, self.order) = (now.0, 0);
        if cfg!(debug_assertions) {
            self.debug_check();
        }
        self.close_queue_pairs();
        let peak = self.run.kept.records.peak_in_network.max(self.in_network());
        self.run.kept.records.peak_in_network = peak;
        self.report_flows();
        if self.now.is_multiple_of(SEARCH_EVERY) {
            self.search_deadlock();
        }
        let end = &self.facts.blueprint.end;
        if end.stop_on_deadlock && !self.run.kept.deadlocks.is_empty() {
            return true;
        }
        !end.at_limit && self.all_measured_done()
    }

    /// Why a run is over.
    pub fn stopped(&self, interrupted: bool) -> Stopped {
        if interrupted {
            Stopped::Interrupted
        } else if self.facts.blueprint.end.stop_on_deadlock && !self.run.kept.deadlocks.is_empty() {
            Stopped::Deadlock
        } else if self.all_measured_done() {
            Stopped::Finished
        } else {
            Stopped::Limit
        }
    }

    fn all_measured_done(&self) -> bool {
        let open = |totals: &Totals| totals.measured_open(self.facts.blueprint.end.acknowledged);
        has_bounded(self.facts.blueprint)
            && self.totals().iter().all(|totals| open(totals) == 0)
            && !(0..self.run.traffic.sources.len()).any(|source| self.may_measure(source, self.now))
            && !self.triggers_may_measure()
    }

    fn triggers_may_measure(&self) -> bool {
        let sum = |of: &dyn Fn(&Run<'a>) -> u64| self.runs().map(of).fold(0, u64::wrapping_add);
        self.facts.blueprint.workloads.iter().enumerate().any(|(i, spec)| {
            let waiting = sum(&|run| run.traffic.triggers.waiting[i]);
            let outstanding = sum(&|run| run.traffic.triggers.outstanding[i]);
            triggers::may_measure(spec, waiting, outstanding, self.now)
        })
    }

    /// By workload.
    fn totals(&self) -> Vec<Totals> {
        let mut totals = self.run.kept.records.totals.clone();
        for other in &self.other_runs {
            let more = &other.kept.records.totals;
            totals.iter_mut().zip(more).for_each(|(totals, more)| totals.absorb(more));
        }
        totals
    }

    /// Bytes on links and in queues, as they are accounted for.
    fn in_network(&self) -> u64 {
        let sum =
            |of: fn(&Conservation) -> u64| self.runs().map(|run| of(&run.kept.records.bytes)).sum::<u64>();
        sum(|bytes| bytes.injected) - sum(|bytes| bytes.delivered) - sum(|bytes| bytes.dropped)
    }

    fn report_flows(&self) {
        let control = self.run.control;
        let done = self.runs().map(|run| run.kept.records.flows_done).sum();
        let started = self.runs().map(|run| run.kept.records.flows_started).sum();
        control.flows_done.store(done, Ordering::Relaxed);
        control.flows_started.store(started, Ordering::Relaxed);
    }

    /// Closes the queue pairs that are complete at their senders and have had nothing in the network for as
    /// long as machines may name them: nothing more can happen to them. Done between epochs, so that the
    /// result does not depend on the order of execution.
    fn close_queue_pairs(&mut self) {
        let mut done: Vec<Done> = Vec::new();
        for run in self.runs_mut() {
            done.append(&mut run.pairs.done);
        }
        done.retain_mut(|done| !self.close_if_over(done));
        self.run.pairs.done = done;
        self.balance();
    }

    /// Closes a queue pair if it is over; whether it is.
    fn close_if_over(&mut self, done: &mut Done) -> bool {
        let (now, empty) = (self.now, self.run.pairs.is_silent(done.slot));
        done.gone = empty.then(|| done.gone.unwrap_or(Time(now)));
        let over = done.gone.is_some_and(|gone| Time(now).since(gone) >= self.facts.naming);
        if over {
            self.close_queue_pair(done.slot);
        }
        over
    }

    /// Balances free slots and places between threads: the thread of a sender takes them, that of a receiver
    /// gets them.
    fn balance(&mut self) {
        let share = self.run.pairs.free_slots.len() / (self.other_runs.len() + 1);
        for other in &mut self.other_runs {
            let slots = &mut self.run.pairs.free_slots;
            let missing = share.saturating_sub(other.pairs.free_slots.len());
            other.pairs.free_slots.extend(slots.drain(slots.len() - missing..));
            self.run.packets.balance(&mut other.packets);
        }
    }

    /// Merges the records of all threads, when the run is over.
    pub fn merge_workers(&mut self) {
        let pending: Vec<_> = self.runs_mut().flat_map(|run| run.events.drain_arrivals()).collect();
        self.on_links =
            pending.into_iter().filter(|&(_, packet_ref)| !self.run.packets.is_lost(packet_ref)).collect();
        for other in mem::take(&mut self.other_runs) {
            self.run.kept.absorb(other.kept);
            self.run.traffic.triggers.absorb(&other.traffic.triggers);
        }
    }
}
