//! What ranks agree on between epochs: queue pairs that are over, and whether the run is.
//!
//! A queue pair that is complete at its sender is closed when no rank has packets of it and its receiver has
//! no timer. Then ranks add up what decides on the end of the run.

use floodway_mechanisms::slots::NotificationPoint as _;
use rustc_hash::FxHashMap;

use super::census::Census;
use super::{Name, Processes};
use crate::run::world::World;

impl World<'_> {
    /// What all ranks have counted.
    pub fn census(&mut self) -> Census {
        let mut own = self.own_census();
        let Some(ranks) = &mut self.ranks else { return own };
        let all = ranks.all_gather(&own);
        for other in ranks.others() {
            own.absorb(&all[other]);
        }
        own
    }

    /// Of the queue pairs that are complete at their senders, and of which other ranks know: are they silent
    /// everywhere?
    pub fn silent_pairs(&mut self) -> FxHashMap<u32, bool> {
        let Some(mut ranks) = self.ranks.take() else { return FxHashMap::default() };
        let done = self.run.pairs.done.iter().map(|done| done.slot);
        let asked: Vec<Name> =
            done.filter(|slot| ranks.common.contains(slot)).map(|slot| (ranks.own, slot)).collect();
        let all: Vec<Name> = ranks.all_gather(&asked).concat();
        let mut silent = FxHashMap::default();
        if !all.is_empty() {
            let answers: Vec<(i32, bool)> = all.iter().map(|&name| self.part_of(&ranks, name)).collect();
            let answers = ranks.all_gather(&answers);
            for (i, &(rank, slot)) in all.iter().enumerate().filter(|(_, name)| name.0 == ranks.own) {
                debug_assert_eq!(rank, ranks.own);
                let packets = answers.iter().fold(0i32, |sum, of| sum.wrapping_add(of[i].0));
                silent.insert(slot, packets == 0 && !answers.iter().any(|of| of[i].1));
            }
        }
        self.ranks = Some(ranks);
        silent
    }

    /// Of a queue pair: packets in the network as this rank has counted them, and whether its receiver is
    /// here and will send something by itself.
    fn part_of(&self, ranks: &Processes<'_>, name: Name) -> (i32, bool) {
        let slot = ranks.slot(name);
        let pairs = &self.run.pairs;
        let receives = ranks.owns(pairs.paths[slot as usize].destination);
        let timer = pairs.receivers[slot as usize].notification.next_timeout();
        (pairs.in_network(slot), receives && timer.is_some())
    }

    /// Notes that a queue pair of this rank is closed, if others know of it.
    pub fn announce_closed(&mut self, slot: u32) {
        if let Some(ranks) = &mut self.ranks
            && ranks.common.remove(&slot)
        {
            ranks.closed.push(slot);
        }
    }

    /// Packet-hops of other ranks since the last call, for the observer of the run.
    pub fn hops_elsewhere(&mut self, census: &Census) -> u64 {
        let own: u64 = self.runs().map(|run| run.kept.packet_hops).sum();
        let Some(ranks) = &mut self.ranks else { return 0 };
        let elsewhere = census.packet_hops - own;
        elsewhere - std::mem::replace(&mut ranks.reported, elsewhere)
    }
}
