//! Parallel windows: the owners of nodes, and how threads synchronise.
//!
//! ```text
//!  window     |<-------- length -------->|         |<-------- length -------->|
//!  thread 0    node 0   node 3   node 4   | barrier | node 0   node 1   node 3  | barrier
//!  thread 1    node 1   node 2            | barrier | node 2   node 5           | barrier
//!                                       mailboxes are exchanged
//! ```
//! Each group of nodes has an owner, the thread that executes its events. An event for a node of another
//! thread never falls into the window in which it is created, so it goes through a mailbox that the owner
//! empties after the barrier. What happens at a node does not depend on its owner.
//!
//! The first owners follow from the topology, so that nodes that exchange many packets share a thread. After
//! every 200,000 events, threads with more work than the mean give nodes away. If a window has few events,
//! one thread executes the windows of all.
//!
//! At a barrier all threads publish their earliest window with an event, receive their mail, and enter the
//! earliest of these windows. So windows without events cost nothing.
//!
//! What threads share, beside facts, which do not change:
//!
//! | what | where | rule |
//! |---|---|---|
//! | nodes | `SharedSlice` (`pool.rs`) | only the owner of a node accesses it, by the `OwnElements` of its worker |
//! | packets | an arena per thread over common memory (`link/arena.rs`) | only the node where a packet is, or to which it is on its way |
//! | halves of queue pairs, traffic sources, triggers | pools (`pool.rs`) | only events of the node that owns an element |
//! | paths of queue pairs | a pool | written when the queue pair opens, a window before another node reads them |
//! | packets of a queue pair that were lost or created on its path | atomic counters | sums commute |
//! | messages posted on an open queue pair | mailboxes | the receiver's thread adds them at the barrier, outside of any event |
//! | faults | the coordinating thread | a window ends at the time of a fault, and all threads wait |
//!
//! Routes with failing links, and ideals, are not shared: each `Run` computes its own, with the same result.
//!
//! The compiler does not check these rules. With debug assertions, as in every test, a second thread that
//! changes an element of a pool or a packet in one window, or accesses a node, panics (`pool::race_check`: of
//! packets and elements it detects only writes). Tests compare random networks with random owners with one
//! thread, byte for byte (`tests/all/threads.rs`), and `make loom` executes the barrier and the exchange in
//! all orders of their threads.

use std::mem;
use std::ops::RangeInclusive;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, Scope, ScopedJoinHandle};

use floodway_engine::memory::Exhausted;
use floodway_engine::{Event, Exchange, panics};

use crate::host::queue_pairs::Posted;

use floodway_blueprint::network::groups::Groups;

use crate::pool::race_check;
use crate::run::node::Node;
use crate::run::threads::assignment;
use crate::run::worker::{Visits, Worker};

mod coordinator;

/// Approximate number of events between two assignments of nodes to threads, at which all threads end and
/// start again.
const SAME_OWNERS: u64 = 200_000;
/// The windows between them, at least and at most.
const WINDOWS: RangeInclusive<u64> = 16..=512;
/// With fewer events per window and thread, a barrier costs more than parallel execution gains.
const MIN_EVENTS: u64 = 100;
/// Published instead of one plus the number of a window: the run stops.
const STOP: u64 = 0;

/// The worker threads of a run.
pub(crate) struct WorkerPool {
    threads: usize,
    /// All threads execute every window, however few events it has.
    forced: bool,
    /// One process alone executes the run: a request to stop takes effect at once.
    alone: bool,
    /// By group of nodes: its owner; no thread, where that is another process.
    owners: Arc<[u8]>,
    /// By group: its events, an exponential average over assignments.
    costs: Vec<u64>,
    /// Events and windows of the last call.
    last: (u64, u64),
    /// Windows of earlier calls.
    before: u64,
    /// Of one plus each thread's earliest window with an event, and of what threads send to one another.
    exchange: Exchange<Mailbox>,
}

/// What one thread sends to another.
#[derive(Default)]
struct Mailbox {
    events: Vec<(u32, Event)>,
    posted: Vec<Posted>,
}

impl WorkerPool {
    fn new(threads: usize, (forced, alone): (bool, bool), owners: Vec<u8>) -> Self {
        WorkerPool {
            threads,
            forced,
            alone,
            costs: vec![0; owners.len()],
            owners: owners.into(),
            last: (0, 0),
            before: 0,
            exchange: Exchange::new(threads),
        }
    }

    /// A thread publishes its earliest window with an event, and fills its mailboxes.
    fn publish(&self, round: u64, thread: usize, worker: &mut Worker<'_, '_>, end: u64) {
        let run = &mut *worker.run;
        let asked = self.alone && thread == 0 && run.control.stop.load(Ordering::Relaxed);
        let stopped = asked || run.is_cut();
        let Some(windows) = run.events.by_node() else { return };
        let earliest = if stopped { STOP } else { windows.earliest_window(end).saturating_add(1) };
        let posted = &mut run.pairs.posted;
        self.exchange.publish(round, thread, earliest, |to, mailbox| {
            windows.swap_outbox(to, &mut mailbox.events);
            mem::swap(&mut posted[to], &mut mailbox.posted);
        });
    }

    /// A thread empties the mailboxes sent to it and enters the next window; false if that is not before
    /// `end`, or the run stops.
    fn receive(&self, round: u64, thread: usize, worker: &mut Worker<'_, '_>, end: u64) -> bool {
        let run = &mut *worker.run;
        let Some(windows) = run.events.by_node() else { return false };
        let pairs = &mut run.pairs;
        let earliest = self.exchange.receive(round, thread, |mailbox| {
            windows.receive(&mut mailbox.events);
            pairs.receive(&mut mailbox.posted);
        });
        earliest != STOP && windows.begin(earliest - 1, end)
    }

    /// Executes a thread's part of all windows before `end`; how many there were.
    fn run_windows(&self, thread: usize, worker: &mut Worker<'_, '_>, end: u64) -> u64 {
        let _guard = self.exchange.guard();
        let (mut visits, mut windows) = (Visits::default(), 0);
        let mut last = None;
        loop {
            self.publish(windows, thread, worker, end);
            if !self.exchange.wait() || !self.receive(windows, thread, worker, end) {
                return windows;
            }
            let window = worker.run.events.by_node().map(|windows| windows.window());
            debug_assert!(last < window, "each window comes once");
            last = window;
            windows += 1;
            race_check::within(thread, self.before + windows, || worker.window(&mut visits, windows));
        }
    }

    /// As [`Self::run_windows`], with panics as values where the calling thread has them so.
    fn run_guarded(
        &self,
        thread: usize,
        worker: &mut Worker<'_, '_>,
        end: u64,
        guarded: bool,
    ) -> thread::Result<u64> {
        if guarded {
            panics::guarded(|| self.run_windows(thread, worker, end))
        } else {
            Ok(self.run_windows(thread, worker, end))
        }
    }

    /// Executes all windows before `end`, each worker on a thread of its own; how many there were.
    fn run_parallel(&self, workers: &mut [Worker<'_, '_>], end: u64) -> u64 {
        let Some((own, others)) = workers.split_first_mut() else { return 0 };
        let guarded = panics::is_guarded();
        thread::scope(|scope| {
            // Where a thread cannot be started, those that have been are not to wait for it.
            let _guard = self.exchange.guard();
            let handles: Vec<_> = (1..)
                .zip(others)
                .map(|(i, worker)| spawned(scope, move || self.run_guarded(i, worker, end, guarded)))
                .collect();
            let windows = self.run_windows(0, own, end);
            for handle in handles {
                // Where it began is known on its own thread alone, so that catches it.
                if let Err(panic) = handle.join().and_then(|done| done) {
                    resume_unwind(panic);
                }
            }
            windows
        })
    }

    /// Executes all windows before `end`, all workers on the calling thread; how many there were.
    fn run_serial(&self, workers: &mut [Worker<'_, '_>], end: u64) -> u64 {
        let (mut visits, mut windows) = (Visits::default(), 0);
        loop {
            for (thread, worker) in workers.iter_mut().enumerate() {
                self.publish(0, thread, worker, end);
            }
            let mut goes = true;
            for (thread, worker) in workers.iter_mut().enumerate() {
                // All of them compute the same next window: either every worker enters it, or none.
                goes &= self.receive(0, thread, worker, end);
            }
            if !goes {
                return windows;
            }
            windows += 1;
            for worker in workers.iter_mut() {
                worker.window(&mut visits, windows);
            }
        }
    }

    /// The thread that owns a group of this process.
    pub fn owner(&self, group: u32) -> usize {
        usize::from(self.owners[group as usize])
    }

    /// For how many windows owners stay the same now, judging by the last call.
    fn same_owners(&self) -> u64 {
        let (events, windows) = self.last;
        (SAME_OWNERS * windows / events.max(1)).clamp(*WINDOWS.start(), *WINDOWS.end())
    }

    /// Is parallel execution worth its barriers, judging by the last call?
    fn is_parallel(&self) -> bool {
        let (events, windows) = self.last;
        self.threads > 1 && (self.forced || events >= MIN_EVENTS * self.threads as u64 * windows)
    }

    /// Updates the costs of groups after so many windows; true if some have another owner now.
    fn rebalance(&mut self, nodes: &mut [Node], groups: &Groups, windows: u64) -> bool {
        self.costs.iter_mut().for_each(|cost| *cost /= 2);
        let mut events = 0;
        for node in nodes {
            let work = mem::take(&mut node.work);
            events += work;
            self.costs[groups.of(node.id) as usize] += work;
        }
        let mut loads = vec![0; self.threads];
        for (cost, owner) in self.costs.iter().zip(&*self.owners) {
            if let Some(load) = loads.get_mut(usize::from(*owner)) {
                *load += cost;
            }
        }
        self.last = (events, windows);
        let mut owners = self.owners.to_vec();
        let moved = assignment::rebalance(&mut owners, &self.costs, &mut loads);
        if moved {
            self.owners = owners.into();
        }
        moved
    }
}

/// A thread for `work`; without memory for its stack the run ends.
fn spawned<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> ScopedJoinHandle<'scope, T> {
    thread::Builder::new().spawn_scoped(scope, work).unwrap_or_else(|_| Exhausted { bytes: 0 }.end())
}
