//! Rounds: windows of a rank's nodes, as far as nothing of other ranks can reach them.
//!
//! A round ends at the earliest step of the whole network, since a link that fails loses what is on it.

use floodway_engine::Advance;
use floodway_units::Time;

use super::Processes;
use super::mail::Head;
use crate::run::events::{EventKind, NEVER};
use crate::run::state::Fault;
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
            let Some(ranks) = &mut self.ranks else { return Advance::Reached };
            let heads = ranks.exchange_mail(&self.facts, &mut self.nodes, &mut self.runs);
            if ranks.stopped {
                return Advance::Interrupted;
            }
            let length = self.runs.own.events.by_node().map_or(1, |windows| windows.length());
            let next = ranks.next_of(&heads, length, end.0);
            self.now = match next {
                Next::Round(until) => {
                    self.run_workers(Time(until));
                    until
                }
                Next::Step(at, order) => {
                    self.take_common_step(at, order);
                    at
                }
                Next::End => end.0,
            };
            if let Some(ranks) = &mut self.ranks {
                ranks.reached = self.now;
            }
            if matches!(next, Next::End) {
                return Advance::Reached;
            }
        }
    }

    /// What concerns the whole network happens at each rank, as far as its nodes are concerned; what concerns
    /// one node is a step of its rank alone.
    fn take_common_step(&mut self, at: u64, order: u64) {
        let Some(windows) = self.runs.own.events.by_node() else { return };
        if windows.next_step() != Some((at, order)) {
            return;
        }
        windows.pop_step();
        (self.now, self.order) = (at, order);
        let index = self.runs.own.events.decode(order).1;
        let is_first = self.ranks.as_ref().is_none_or(|ranks| ranks.is_first());
        if is_first || matches!(self.faults[index as usize], Fault::Pause { .. }) {
            self.runs.own.kept.counts[EventKind::Fault as usize] += 1;
        }
        self.faults[index as usize].happens(self, index);
    }
}

impl Processes<'_> {
    /// What comes next, where windows have this length: the same at all ranks.
    fn next_of(&self, heads: &[Head], length: u64, end: u64) -> Next {
        let window = heads.iter().map(|head| head.earliest).min().unwrap_or(NEVER);
        let step = heads.iter().map(|head| head.step).min().unwrap_or(NO_STEP);
        // No event comes before.
        let first = window.saturating_mul(length).max(self.reached);
        if step.0 < first && step.0 < end {
            return Next::Step(step.0, step.1);
        }
        if first >= end {
            return Next::End;
        }
        // The lookahead is no shorter than a window: whole windows are cheaper than parts.
        let until = first.saturating_add(self.plan.lookahead.0) / length * length;
        Next::Round(until.min(end).min(step.0.saturating_add(1)))
    }
}
