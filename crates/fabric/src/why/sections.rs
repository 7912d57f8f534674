//! Flows that are followed one after another: the messages of a critical path.
//!
//! A message of a path is posted when the one before it has arrived, is complete or has left, so that one of
//! them is followed at a time. Each begins with nothing known of pauses, as where it alone is followed.

use std::mem;

use floodway_units::NodeId;

use super::origin::Origins;
use super::parts::{FlowRef, Found};
use super::stops::Stops;
use super::trace::Trace;
use crate::run::events::NEVER;

impl Trace {
    /// Are flows followed one after another?
    pub fn is_path(&self) -> bool {
        self.section.until != NEVER
    }

    /// A queue pair is open, which other messages may share.
    pub fn opens(&mut self, slot: u32, pair: (u32, NodeId), shared: bool) {
        if !self.is_path() {
            return;
        }
        if shared {
            self.open_pairs.insert(slot, pair);
        } else {
            // A slot is used again.
            self.open_pairs.remove(&slot);
        }
    }

    /// The completion time of the flow is taken apart: the next one is followed, if there is one.
    pub(super) fn finds(&mut self, found: Found) {
        self.found = Some(found);
        let Some(next) = self.next.pop_front() else { return };
        self.before.extend(self.found.take());
        let shared = self.open_pairs.iter().filter(|&(_, &pair)| next.is_of(pair));
        self.slots = shared.map(|(&slot, _)| slot).collect();
        self.section = next;
        (self.message, self.sender) = (None, None);
        self.flights.clear();
        self.paused.fill(Stops::default());
        self.held.fill(Stops::default());
        self.origins = Origins::default();
    }

    /// Ends a section whose time is over although its flow is not complete.
    fn end_section(&mut self) {
        let (Some(message), Some(mut sender)) = (self.message, self.sender.take()) else { return };
        let until = self.section.until;
        sender.account(until, self);
        let sums = sender.until(until);
        self.finds(Found { message, fct: until - message.start, sums });
    }

    /// A message starts: if it is of the next section, the one before is over.
    pub(super) fn starts_section(&mut self, flow: FlowRef, now: u64) {
        if self.next.front().is_some_and(|next| next.flow == flow)
            && now >= self.section.until
            && self.is_live()
        {
            self.end_section();
        }
    }

    /// It is `now`.
    pub fn pass(&mut self, now: u64) {
        if now > self.section.until && self.is_live() {
            self.end_section();
        }
    }

    /// What was found, in the order of the sections, once the run is over.
    pub(super) fn all_found(&mut self) -> Vec<Found> {
        self.pass(NEVER);
        let mut all = mem::take(&mut self.before);
        all.extend(self.found.take());
        all
    }
}
