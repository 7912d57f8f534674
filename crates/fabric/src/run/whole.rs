//! All partitions of a network as one, between epochs: which queue pairs are over, whether the run is.

use std::sync::atomic::Ordering;

use floodway_units::{PortId, Time};

use crate::host::queue_pairs::Done;
use crate::network::build::has_bounded;
use crate::records::outcome::{Conservation, Deadlock, Stopped};
use crate::records::tally::Totals;
use crate::run::world::World;
use crate::traffic::triggers;

/// Between two searches for deadlock, in picoseconds.
const SEARCH_EVERY: u64 = 1_000_000_000;

/// What is seen of a network between epochs.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub deadlocks: Vec<Deadlock>,
    /// Most bytes that were on links and in queues.
    pub peak_in_network: u64,
}

/// All partitions between two epochs, when nothing is on its way from one to another but packets on links.
pub(crate) struct Whole<'w, 'p, 'a> {
    worlds: &'w mut [&'p mut World<'a>],
    pub seen: &'w mut Seen,
}

impl<'w, 'p, 'a> Whole<'w, 'p, 'a> {
    /// These partitions, of which there is at least one, at the time `now`.
    pub fn new(worlds: &'w mut [&'p mut World<'a>], seen: &'w mut Seen, now: Time) -> Self {
        for world in worlds.iter_mut() {
            (world.now, world.order) = (now.0, 0);
        }
        Whole { worlds, seen }
    }

    /// One of them: all know what never changes.
    pub fn first(&self) -> &World<'a> {
        self.worlds[0]
    }

    /// The partition of a port's node.
    pub fn at(&self, port: PortId) -> &World<'a> {
        let first = self.first();
        self.worlds[first.run.border.cut().owner(first.facts.node_of(port))]
    }

    /// Called at the end of each epoch; true ends the run.
    pub fn at_epoch(&mut self) -> bool {
        if cfg!(debug_assertions) {
            self.worlds.iter_mut().for_each(|world| world.debug_check());
        }
        self.close_queue_pairs();
        self.seen.peak_in_network = self.seen.peak_in_network.max(self.in_network());
        self.report();
        if self.first().now.is_multiple_of(SEARCH_EVERY) {
            self.search_deadlock();
        }
        let end = &self.first().facts.blueprint.end;
        if end.stop_on_deadlock && !self.seen.deadlocks.is_empty() {
            return true;
        }
        !end.at_limit && self.all_measured_done()
    }

    /// Why a run is over.
    pub fn stopped(&self, interrupted: bool) -> Stopped {
        if interrupted {
            Stopped::Interrupted
        } else if self.first().facts.blueprint.end.stop_on_deadlock && !self.seen.deadlocks.is_empty() {
            Stopped::Deadlock
        } else if self.all_measured_done() {
            Stopped::Finished
        } else {
            Stopped::Limit
        }
    }

    fn all_measured_done(&self) -> bool {
        let first = self.first();
        has_bounded(first.facts.blueprint)
            && self
                .totals()
                .iter()
                .all(|totals| totals.measured_open(first.facts.blueprint.end.acknowledged) == 0)
            && !self.worlds.iter().any(|world| {
                (0..world.run.traffic.sources.len()).any(|source| world.may_measure(source, world.now))
            })
            && !self.triggers_may_measure()
    }

    fn triggers_may_measure(&self) -> bool {
        let sum = |of: &dyn Fn(&World<'a>) -> u64| {
            self.worlds.iter().map(|world| of(world)).fold(0, u64::wrapping_add)
        };
        let workloads = self.first().facts.blueprint.workloads.iter().enumerate();
        workloads.into_iter().any(|(i, spec)| {
            let waiting = sum(&|world| world.run.traffic.triggers.waiting[i]);
            let outstanding = sum(&|world| world.run.traffic.triggers.outstanding[i]);
            triggers::may_measure(spec, waiting, outstanding, self.first().now)
        })
    }

    /// By workload.
    fn totals(&self) -> Vec<Totals> {
        let mut totals = self.first().run.kept.records.totals.clone();
        for other in &self.worlds[1..] {
            totals
                .iter_mut()
                .zip(&other.run.kept.records.totals)
                .for_each(|(totals, more)| totals.absorb(more));
        }
        totals
    }

    /// Bytes on links and in queues, by the books.
    fn in_network(&self) -> u64 {
        let sum = |of: fn(&Conservation) -> u64| {
            self.worlds.iter().map(|world| of(&world.run.kept.records.bytes)).sum::<u64>()
        };
        sum(|bytes| bytes.injected) - sum(|bytes| bytes.delivered) - sum(|bytes| bytes.dropped)
    }

    fn report(&self) {
        let control = self.first().run.control;
        let done = self.worlds.iter().map(|world| world.run.kept.records.flows_done).sum();
        let started = self.worlds.iter().map(|world| world.run.kept.records.flows_started).sum();
        control.flows_done.store(done, Ordering::Relaxed);
        control.flows_started.store(started, Ordering::Relaxed);
    }

    /// Closes the queue pairs that are complete at their senders and have had nothing in the network for as long as
    /// machines may name them: nothing more can happen to them. Done between epochs, so that it is no matter who looks
    /// when.
    fn close_queue_pairs(&mut self) {
        for part in 0..self.worlds.len() {
            let mut done = std::mem::take(&mut self.worlds[part].run.pairs.done);
            done.retain_mut(|done| !self.close_if_over(part, done));
            self.worlds[part].run.pairs.done = done;
        }
    }

    /// Closes a queue pair that was opened in partition `part`, if it is over; whether it is.
    fn close_if_over(&mut self, part: usize, done: &mut Done) -> bool {
        let slot = done.slot;
        let here = |world: &World<'a>| world.run.border.slot_of(part, slot);
        let counted = self.worlds.iter().filter_map(|world| Some(world.in_network(here(world)?)));
        let (now, empty) = (self.first().now, counted.fold(0, i32::wrapping_add) == 0);
        done.gone = empty.then(|| done.gone.unwrap_or(Time(now)));
        let over = done.gone.is_some_and(|gone| Time(now).since(gone) >= self.first().facts.remembers);
        if over {
            for world in self.worlds.iter_mut() {
                if let Some(slot) = here(world) {
                    world.close_queue_pair(slot);
                }
            }
        }
        over
    }
}
