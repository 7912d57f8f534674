//! Inspection between epochs: which queue pairs are complete, and whether the run is.

use std::mem;
use std::sync::atomic::Ordering;

use floodway_units::Time;

use crate::bounds::deadlock::DeadlockSearch;
use crate::host::queue_pairs::Done;
use crate::network::build::has_bounded;
use crate::records::outcome::{Conservation, Stopped};
use crate::records::tally::Totals;
use crate::run::network::Network;
use crate::run::ranks::{Census, Share};
use crate::run::state::Run;
use crate::run::world::World;
use crate::traffic::triggers::{self, Triggers};

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
        self.run.events.check_numbers();
        if cfg!(debug_assertions) {
            self.debug_check();
        }
        self.close_queue_pairs();
        let census = self.census();
        let peak = self.run.kept.records.peak_in_network.max(census.in_network);
        self.run.kept.records.peak_in_network = peak;
        self.report_flows(&census);
        if self.now.is_multiple_of(SEARCH_EVERY) {
            let (packets, now) = (&self.run.packets, self.now);
            let network = Network { facts: &self.facts, nodes: &self.nodes };
            let share = Share(self.ranks.as_deref_mut());
            let found = DeadlockSearch { network, packets, share, now }.find();
            self.run.kept.note_deadlock(found);
        }
        let end = &self.facts.blueprint.end;
        if end.stop_on_deadlock && !self.run.kept.deadlocks.is_empty() {
            return true;
        }
        !end.at_limit && self.all_measured_done(&census)
    }

    /// Why a run is over.
    pub fn stopped(&mut self, interrupted: bool) -> Stopped {
        let census = self.census();
        if interrupted {
            Stopped::Interrupted
        } else if self.facts.blueprint.end.stop_on_deadlock && !self.run.kept.deadlocks.is_empty() {
            Stopped::Deadlock
        } else if self.all_measured_done(&census) {
            Stopped::Finished
        } else {
            Stopped::Limit
        }
    }

    fn all_measured_done(&self, census: &Census) -> bool {
        let open = |totals: &Totals| totals.measured_open(self.facts.blueprint.end.acknowledged);
        has_bounded(self.facts.blueprint)
            && census.totals.iter().all(|totals| open(totals) == 0)
            && !census.sources_may_measure
            && !self.triggers_may_measure(census)
    }

    fn triggers_may_measure(&self, census: &Census) -> bool {
        let counts = census.waiting.iter().zip(&census.outstanding);
        let mut workloads = self.facts.blueprint.workloads.iter().zip(counts);
        workloads.any(|(spec, (&waiting, &outstanding))| {
            triggers::may_measure(spec, waiting, outstanding, self.now)
        })
    }

    /// What this process has counted.
    pub fn own_census(&self) -> Census {
        let sum = |of: &dyn Fn(&Run<'a>) -> u64| self.runs().map(of).fold(0, u64::wrapping_add);
        let of_triggers = |of: fn(&Triggers) -> &Vec<u64>| {
            let workloads = 0..self.facts.blueprint.workloads.len();
            workloads.map(|i| sum(&|run| of(&run.traffic.triggers)[i])).collect()
        };
        let traffic = &self.run.traffic;
        let is_own = |source: &usize| self.owns(traffic.sources[*source].host(self.facts.blueprint));
        let mut own = (0..traffic.sources.len()).filter(is_own);
        Census {
            totals: self.totals(),
            waiting: of_triggers(|triggers| &triggers.waiting),
            outstanding: of_triggers(|triggers| &triggers.outstanding),
            scale_up: (0..self.facts.blueprint.workloads.len())
                .map(|i| sum(&|run| run.kept.scale_up[i].1))
                .collect(),
            sources_may_measure: own
                .any(|source| traffic.may_measure(self.facts.blueprint, source, self.now)),
            in_network: self.bytes_in_network(),
            flows_done: sum(&|run| run.kept.records.flows_done),
            flows_started: sum(&|run| run.kept.records.flows_started),
            packet_hops: sum(&|run| run.kept.packet_hops),
        }
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

    /// Bytes on links and in queues, as they are accounted for; of one of several processes it wraps.
    fn bytes_in_network(&self) -> u64 {
        let sum =
            |of: fn(&Conservation) -> u64| self.runs().map(|run| of(&run.kept.records.bytes)).sum::<u64>();
        let gone = sum(|bytes| bytes.delivered) + sum(|bytes| bytes.dropped);
        sum(|bytes| bytes.injected).wrapping_sub(gone)
    }

    fn report_flows(&mut self, census: &Census) {
        let control = self.run.control;
        control.flows_done.store(census.flows_done, Ordering::Relaxed);
        control.flows_started.store(census.flows_started, Ordering::Relaxed);
        control.packet_hops.fetch_add(self.hops_elsewhere(census), Ordering::Relaxed);
        let totals: Vec<_> = census.totals.iter().zip(census.scale_up.iter().copied()).collect();
        self.work.report(control, self.now, &totals);
    }

    /// Closes the queue pairs that are complete at their senders and have had nothing in the network for as
    /// long as machines may name them: nothing more can happen to them. Done between epochs, so that the
    /// result does not depend on the order of execution.
    fn close_queue_pairs(&mut self) {
        let mut done: Vec<Done> = Vec::new();
        for run in self.runs_mut() {
            done.append(&mut run.pairs.done);
        }
        self.run.pairs.done = done;
        let silent = self.silent_pairs();
        let mut done = mem::take(&mut self.run.pairs.done);
        done.retain_mut(|done| !self.close_if_over(done, silent.get(&done.slot).copied()));
        self.run.pairs.done = done;
        self.balance();
    }

    /// Closes a queue pair if it is over; whether it is. Where several processes know of it, they have said
    /// whether it is silent.
    fn close_if_over(&mut self, done: &mut Done, silent: Option<bool>) -> bool {
        let (now, empty) = (self.now, silent.unwrap_or_else(|| self.run.pairs.is_silent(done.slot)));
        done.gone = empty.then(|| done.gone.unwrap_or(Time(now)));
        let over = done.gone.is_some_and(|gone| Time(now).since(gone) >= self.facts.naming);
        if over {
            self.close_queue_pair(done.slot);
            self.announce_closed(done.slot);
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
