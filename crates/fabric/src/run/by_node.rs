//! Execution of a run node by node, window by window.
//!
//! The node with the earliest pending event is first, and executes all its events of the window at once. So
//! its state stays in the caches, and sorting compares few events. Windows without events are skipped. Events
//! more than two windows ahead are in one queue for all nodes.
//!
//! Property tests over random networks with every mechanism compare the records with those of one order of
//! all events, and of windows of any shorter length: they are the same to the byte.

use floodway_engine::Advance;
use floodway_units::Time;

use crate::pool::SharedSlice;
use crate::run::windows::Next;
use crate::run::worker::{REPORTED, Visits, Worker};
use crate::run::world::World;

/// In debug builds, every n-th window is followed by a check of all cached values.
const CHECKED: u64 = 7;

impl World<'_> {
    /// As [`World::run_until`], node by node.
    pub fn run_by_node(&mut self, end: Time) -> Advance {
        let (mut visits, mut windows_done) = (Visits::default(), 0u64);
        while !self.is_stopped() {
            if self.runs.pool.is_some() {
                self.run_workers(end);
                if self.is_stopped() {
                    break;
                }
            }
            let Some(windows) = self.runs.own.events.by_node() else { break };
            match windows.next(end.0) {
                Next::Visits(stop) => {
                    let nodes = SharedSlice::new(&mut self.nodes);
                    // SAFETY: there is no other worker: it owns all nodes.
                    #[allow(unsafe_code, reason = "threads share what nodes own")]
                    let mut worker = unsafe { Worker::new(&self.facts, &nodes, &mut self.runs.own) };
                    worker.visit_all(&mut visits);
                    // All nodes have come so far: who stops the run finds them there.
                    self.now = stop;
                    windows_done += 1;
                    if cfg!(debug_assertions) && windows_done.is_multiple_of(CHECKED) {
                        self.debug_check();
                    }
                }
                Next::Step(at, order) => {
                    (self.now, self.order) = (at, order);
                    self.take_step();
                }
                Next::End => return Advance::Reached,
            }
            if windows_done.is_multiple_of(REPORTED) {
                self.runs.report(self.now);
            }
        }
        Advance::Interrupted
    }
}
