//! Rounds: windows of a rank's nodes, as far as nothing of other ranks can reach them.
//!
//! A round ends at the earliest step of the whole network, since a link that fails loses what is on it.

use std::sync::atomic::Ordering;

use floodway_engine::Advance;
use floodway_units::Time;

use super::mail::Head;
use crate::run::events::{EventKind, NEVER};
use crate::run::state::Fault;
use crate::run::windows::Windows;
use crate::run::world::World;

/// No step of the whole network.
pub(super) const NO_STEP: (u64, u64) = (NEVER, NEVER);

/// What all ranks do next.
enum Next {
    /// Windows before this time.
    Round(u64),
    /// A step of the whole network.
    Step(u64, u64),
    /// Nothing more before the end.
    End,
}

impl World<'_> {
    /// As [`World::run_until`], together with other ranks.
    pub fn run_rounds(&mut self, end: Time) -> Advance {
        loop {
            let heads = self.exchange_mail();
            let Some(ranks) = &mut self.ranks else { return Advance::Reached };
            if ranks.stopped {
                self.report();
                return Advance::Interrupted;
            }
            match self.next_of(&heads, end.0) {
                Next::Round(until) => {
                    self.run_workers(Time(until));
                    self.reach(until);
                }
                Next::Step(at, order) => {
                    self.take_common_step(at, order);
                    self.reach(at);
                }
                Next::End => {
                    self.reach(end.0);
                    self.report();
                    return Advance::Reached;
                }
            }
        }
    }

    /// Receives what is on links between ranks, when the run is over.
    pub fn exchange_last(&mut self) {
        self.exchange_mail();
    }

    fn reach(&mut self, time: u64) {
        self.now = time;
        if let Some(ranks) = &mut self.ranks {
            ranks.reached = time;
        }
    }

    /// What comes next: the same at all ranks.
    fn next_of(&mut self, heads: &[Head], end: u64) -> Next {
        let (reached, lookahead) =
            self.ranks.as_ref().map_or((0, 0), |ranks| (ranks.reached, ranks.plan.lookahead.0));
        let length = self.run.events.by_node().map_or(1, |windows| windows.length());
        let window = heads.iter().map(|head| head.earliest).min().unwrap_or(NEVER);
        let step = heads.iter().map(|head| head.step).min().unwrap_or(NO_STEP);
        // No event comes before.
        let first = window.saturating_mul(length).max(reached);
        if step.0 < first && step.0 < end {
            return Next::Step(step.0, step.1);
        }
        if first >= end {
            return Next::End;
        }
        // The lookahead is no shorter than a window: whole windows are cheaper than parts.
        let until = first.saturating_add(lookahead) / length * length;
        Next::Round(until.min(end).min(step.0.saturating_add(1)))
    }

    /// This rank's part of what is agreed between rounds.
    pub(super) fn own_head(&mut self) -> Head {
        let earliest = self.runs_mut().filter_map(|run| run.events.by_node()).map(Windows::earliest_of_all);
        let earliest = earliest.min();
        let step = self.run.events.by_node().and_then(|windows| windows.next_step());
        Head {
            earliest: earliest.unwrap_or(NEVER),
            step: step.unwrap_or(NO_STEP),
            stops: self.run.control.stop.load(Ordering::Relaxed),
            is_short_of_memory: self.run.control.short_of_memory.load(Ordering::Relaxed),
        }
    }

    /// What concerns the whole network happens at each rank, as far as its nodes are concerned; what concerns
    /// one node is a step of its rank alone.
    fn take_common_step(&mut self, at: u64, order: u64) {
        let Some(windows) = self.run.events.by_node() else { return };
        if windows.next_step() != Some((at, order)) {
            return;
        }
        windows.pop_step();
        (self.now, self.order) = (at, order);
        let index = self.run.events.decode(order).1;
        let is_first = self.ranks.as_ref().is_none_or(|ranks| ranks.is_first());
        if is_first || matches!(self.faults[index as usize], Fault::Pause { .. }) {
            self.run.kept.counts[EventKind::Fault as usize] += 1;
        }
        self.fault(index);
    }
}
