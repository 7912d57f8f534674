//! What ranks agree on between epochs: queue pairs that are over, and whether the run is.
//!
//! A queue pair that is complete at its sender is closed when no rank has packets of it and its receiver has
//! no timer. Then ranks add up what decides on the end of the run.

use std::sync::atomic::Ordering;

use floodway_mechanisms::slots::NotificationPoint as _;
use rustc_hash::FxHashMap;

use super::census::Census;
use super::{Name, Processes};
use crate::host::queue_pairs::{Done, QueuePairs};
use crate::run::runs::Runs;

impl Processes<'_> {
    /// What all ranks have counted, this one its `own`.
    pub fn census(&mut self, mut own: Census) -> Census {
        let all = self.all_gather(&own);
        for other in self.others() {
            own.absorb(&all[other]);
        }
        own
    }

    /// Of the queue pairs that are complete at their senders, and of which other ranks know: are they silent
    /// everywhere?
    pub fn silent_pairs(&mut self, pairs: &QueuePairs, done: &[Done]) -> FxHashMap<u32, bool> {
        let done = done.iter().map(|done| done.slot);
        let asked: Vec<Name> =
            done.filter(|slot| self.common.contains(slot)).map(|slot| (self.own, slot)).collect();
        let all: Vec<Name> = self.all_gather(&asked).concat();
        let mut silent = FxHashMap::default();
        if !all.is_empty() {
            let answers: Vec<(i32, bool)> = all.iter().map(|&name| self.part_of(pairs, name)).collect();
            let answers = self.all_gather(&answers);
            for (i, &(_, slot)) in all.iter().enumerate().filter(|(_, name)| name.0 == self.own) {
                let packets = answers.iter().fold(0i32, |sum, of| sum.wrapping_add(of[i].0));
                silent.insert(slot, packets == 0 && !answers.iter().any(|of| of[i].1));
            }
        }
        silent
    }

    /// Of a queue pair: packets in the network as this rank has counted them, and whether its receiver is
    /// here and will send something by itself.
    fn part_of(&self, pairs: &QueuePairs, name: Name) -> (i32, bool) {
        let slot = self.slot(name);
        let receives = self.owns(pairs.paths[slot as usize].destination);
        let timer = pairs.receivers[slot as usize].notification.next_timeout();
        (pairs.in_network(slot), receives && timer.is_some())
    }

    /// Notes that a queue pair of this rank is closed, if others know of it.
    pub fn announce_closed(&mut self, slot: u32) {
        if self.common.remove(&slot) {
            self.closed.push(slot);
        }
    }

    /// Reports to the observer of the run the packet-hops of other ranks since the last call.
    pub fn report_hops(&mut self, runs: &Runs<'_>, census: &Census) {
        let own: u64 = runs.iter().map(|run| run.kept.packet_hops).sum();
        let elsewhere = census.packet_hops - own;
        let new = elsewhere - std::mem::replace(&mut self.reported, elsewhere);
        runs.own.control.packet_hops.fetch_add(new, Ordering::Relaxed);
    }
}
