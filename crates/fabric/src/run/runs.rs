//! A run as each of its threads has it.

use std::mem;
use std::sync::atomic::Ordering;

use floodway_blueprint::network::facts::Facts;
use floodway_records::tally::Totals;
use floodway_units::{NodeId, PortId, Time};
use rustc_hash::FxHashMap;

use crate::host::queue_pairs::Done;
use crate::link::arena::PacketRef;
use crate::run::node::Node;
use crate::run::ranks::{Census, Processes};
use crate::run::state::Run;
use crate::run::worker_pool::WorkerPool;
use crate::traffic::triggers::Triggers;

/// The run as each thread of this process has it.
pub(crate) struct Runs<'a> {
    /// This thread's.
    pub own: Run<'a>,
    /// Those of the threads that help it.
    pub others: Vec<Run<'a>>,
    pub pool: Option<WorkerPool>,
}

impl<'a> Runs<'a> {
    /// On one thread.
    pub fn new(own: Run<'a>) -> Self {
        Runs { own, others: Vec::new(), pool: None }
    }

    /// This thread's first.
    pub fn iter(&self) -> impl Iterator<Item = &Run<'a>> + Clone {
        std::iter::once(&self.own).chain(&self.others)
    }

    /// The same, mutable.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Run<'a>> {
        std::iter::once(&mut self.own).chain(&mut self.others)
    }

    /// Packet-hops of all threads.
    pub fn hops(&self) -> u64 {
        self.iter().map(|run| run.kept.packet_hops).sum()
    }

    /// Reports progress to the observer of the run.
    pub fn report(&mut self, now: u64) {
        self.own.control.time.fetch_max(now, Ordering::Relaxed);
        self.iter_mut().for_each(Run::report);
    }

    /// What this process has counted by `now`, a time of the run, whose nodes are those that it `owns`.
    pub fn census(&self, facts: &Facts<'_>, now: u64, owns: impl Fn(NodeId) -> bool) -> Census {
        let blueprint = facts.blueprint;
        let sum = |of: &dyn Fn(&Run<'a>) -> u64| self.iter().map(of).fold(0, u64::wrapping_add);
        let of_triggers = |of: fn(&Triggers) -> &Vec<u64>| {
            (0..blueprint.workloads.len()).map(|i| sum(&|run| of(&run.traffic.triggers)[i])).collect()
        };
        let traffic = &self.own.traffic;
        let is_own = |source: &usize| owns(traffic.sources[*source].host(blueprint));
        let mut sources = (0..traffic.sources.len()).filter(is_own);
        Census {
            totals: self.totals(),
            waiting: of_triggers(|triggers| &triggers.waiting),
            outstanding: of_triggers(|triggers| &triggers.outstanding),
            scale_up: (0..blueprint.workloads.len()).map(|i| sum(&|run| run.kept.scale_up[i].1)).collect(),
            sources_may_measure: sources.any(|source| traffic.may_measure(blueprint, source, now)),
            flows_done: sum(&|run| run.kept.records.flows_done),
            flows_started: sum(&|run| run.kept.records.flows_started),
            packet_hops: sum(&|run| run.kept.packet_hops),
        }
    }

    /// By workload.
    fn totals(&self) -> Vec<Totals> {
        let mut totals = self.own.kept.records.totals.clone();
        for other in &self.others {
            let more = &other.kept.records.totals;
            totals.iter_mut().zip(more).for_each(|(totals, more)| totals.absorb(more));
        }
        totals
    }

    /// Closes the queue pairs that are complete at their senders and have had nothing in the network for as
    /// long as machines may name them: nothing more can happen to them. Done between epochs, so that the
    /// result does not depend on the order of execution.
    pub fn close_queue_pairs(
        &mut self,
        facts: &Facts<'_>,
        nodes: &mut [Node],
        mut ranks: Option<&mut Processes<'_>>,
        now: Time,
    ) {
        let mut done: Vec<Done> = Vec::new();
        for run in self.iter_mut() {
            done.append(&mut run.pairs.done);
        }
        let Run { pairs, kept, .. } = &mut self.own;
        let silent = match &mut ranks {
            Some(ranks) => ranks.silent_pairs(pairs, &done),
            None => FxHashMap::default(),
        };
        done.retain_mut(|done| {
            let slot = done.slot;
            let empty = silent.get(&slot).copied().unwrap_or_else(|| pairs.is_silent(slot));
            done.gone = empty.then(|| done.gone.unwrap_or(now));
            let over = done.gone.is_some_and(|gone| now.since(gone) >= facts.naming);
            if over {
                pairs.close(slot, nodes, &mut kept.records);
                if let Some(ranks) = &mut ranks {
                    ranks.announce_closed(slot);
                }
            }
            !over
        });
        pairs.done = done;
        self.balance();
    }

    /// Balances free slots and places between threads: the thread of a sender takes them, that of a receiver
    /// gets them.
    fn balance(&mut self) {
        let share = self.own.pairs.free_slots.len() / (self.others.len() + 1);
        for other in &mut self.others {
            let slots = &mut self.own.pairs.free_slots;
            let missing = share.saturating_sub(other.pairs.free_slots.len());
            other.pairs.free_slots.extend(slots.drain(slots.len() - missing..));
            self.own.packets.balance(&mut other.packets);
        }
    }

    /// Merges the records of all threads, when the run is over; the packets on links, with the ports that
    /// sent them.
    pub fn merge(&mut self) -> Vec<(PortId, PacketRef)> {
        let pending: Vec<_> = self.iter_mut().flat_map(|run| run.events.drain_arrivals()).collect();
        for other in mem::take(&mut self.others) {
            self.own.kept.absorb(other.kept);
            self.own.traffic.triggers.absorb(&other.traffic.triggers);
        }
        pending.into_iter().filter(|&(_, packet_ref)| !self.own.packets.is_lost(packet_ref)).collect()
    }
}
