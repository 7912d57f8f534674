//! The clock of a run, which is ahead of the simulation's by what was skipped.
//!
//! Events, ports and machines go by the clock of the simulation. What the blueprint names (starts of flows
//! and jobs, faults, what is measured) and what is recorded at once go by that of the run.

use floodway_engine::{Event, Item, Queue};
use floodway_units::Time;
use floodway_units::cast::low_u32;

use super::{EventKind, Events, NEVER, Pending};
use crate::run::windows::Drained;

impl Events {
    /// By how much the clock of the run is ahead.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The time of the run.
    pub fn run_time(&self, now: u64) -> u64 {
        now.saturating_add(self.skipped)
    }

    /// When a time of the run comes by the clock of the simulation.
    pub fn simulated(&self, at: u64) -> u64 {
        if at == NEVER { NEVER } else { at.saturating_sub(self.skipped) }
    }

    /// The clock of the run goes ahead by so much more. What is `fixed` in the run, of these kinds and
    /// objects, comes so much earlier in the simulation.
    pub fn skip(&mut self, ps: u64, fixed: impl Fn(EventKind, u32) -> bool) {
        self.skipped += ps;
        let (kind_shift, id_mask) = (self.kind_shift, self.id_mask);
        let moved = |event: Event| {
            let kind = EventKind::ALL[(event.order >> kind_shift & 15) as usize];
            let earlier = if fixed(kind, low_u32(event.order) & id_mask) { ps } else { 0 };
            Event { time: Time(event.time.0 - earlier), ..event }
        };
        match &mut self.pending {
            Pending::InOneOrder(queue) => {
                let all: Vec<Event> = std::iter::from_fn(|| queue.pop_before(Time::NEVER)).collect();
                *queue = Queue::default();
                for event in all.into_iter().map(moved) {
                    queue.push(event.time, event.order, event.item);
                }
            }
            Pending::ByNode(windows) => {
                let Drained { events, steps } = windows.drain();
                for (group, event) in events {
                    windows.push(group, moved(event));
                }
                for (at, order) in steps {
                    let step = moved(Event { time: Time(at), order, item: Item::NONE });
                    windows.push_step(step.time.0, order);
                }
            }
        }
    }
}
