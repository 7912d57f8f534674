//! The coordinating thread: starts workers, hands events to their owners, executes windows up to the next
//! global step.

use floodway_blueprint::network::facts::Facts;
use floodway_units::Time;
use floodway_units::cast::narrow;

use super::WorkerPool;
use crate::pool::SharedSlice;
use crate::run::node::Node;
use crate::run::ranks::Processes;
use crate::run::runs::Runs;
use crate::run::state::Run;
use crate::run::threads::ThreadPlan;
use crate::run::windows::Drained;
use crate::run::worker::Worker;
use crate::run::world::World;

impl Runs<'_> {
    /// Has windows executed on the threads of a plan from now on, if nodes are executed one by one; before
    /// the run begins.
    pub fn start_workers(
        &mut self,
        facts: &Facts<'_>,
        (ranks, part): (Option<&Processes<'_>>, Option<&[bool]>),
        thread_plan: &ThreadPlan,
    ) {
        let threads = thread_plan.threads();
        let owned = ranks.map(Processes::owned).or_else(|| part.map(<[bool]>::to_vec));
        let events: Option<Vec<_>> =
            (1..threads).map(|thread| self.own.events.of_thread(narrow(thread))).collect();
        let events = events.filter(|events| !events.is_empty() || owned.is_some());
        let Some(events) = events else { return };
        self.own.pairs.opened = ranks.is_some().then(Vec::new);
        // SAFETY: what a run changes belongs to nodes whose events it executes, and it has the events of the
        // groups that its thread owns. The coordinator touches others' only between two windows.
        #[allow(unsafe_code, reason = "threads share what nodes own")]
        let shared = |events| unsafe { self.own.share(facts.blueprint, events) };
        self.others = events.into_iter().map(shared).collect();
        for run in self.iter_mut() {
            run.pairs.posted.resize_with(threads + 1, Vec::new);
        }
        let how = (thread_plan.forced(), ranks.is_none());
        let pool = WorkerPool::new(threads, how, owners(facts, owned.as_deref(), thread_plan));
        self.redistribute(&pool);
        self.pool = Some(pool);
    }

    /// Moves all pending events to the owners of their nodes.
    fn redistribute(&mut self, pool: &WorkerPool) {
        let window = self.own.events.by_node().map_or(0, |windows| windows.window());
        let mut pending = Vec::new();
        for windows in self.iter_mut().filter_map(|run| run.events.by_node()) {
            pending.push(windows.drain());
            windows.set_owners(&pool.owners, pool.threads, window);
        }
        let mut all: Vec<_> = self.iter_mut().filter_map(|run| run.events.by_node()).collect();
        for Drained { events, steps } in pending {
            for (group, event) in events {
                // What is pending before the run begins at a node elsewhere is so there as well.
                if let Some(windows) = all.get_mut(pool.owner(group)) {
                    windows.send(group, event);
                }
            }
            for (at, order) in steps {
                all[0].push_step(at, order);
            }
        }
    }
}

/// By group: the thread that owns it, or, where that is another process or part, the number after the last
/// thread's.
fn owners(facts: &Facts<'_>, owned: Option<&[bool]>, thread_plan: &ThreadPlan) -> Vec<u8> {
    let owners = thread_plan.owners(facts.blueprint, owned);
    let elsewhere = narrow::<u8>(thread_plan.threads());
    let owner = |group| {
        let node = facts.groups.first(group).0.index();
        if owned.is_none_or(|owned| owned[node]) { owners[node] } else { elsewhere }
    };
    (0..narrow::<u32>(facts.groups.count())).map(owner).collect()
}

impl World<'_> {
    /// Executes all windows before `end`, or before the next step of the whole network.
    pub fn run_workers(&mut self, end: Time) {
        let Some(mut pool) = self.runs.pool.take() else { return };
        let step = self.runs.own.events.by_node().and_then(|windows| windows.next_step());
        let end = step.map_or(end.0, |(at, _)| end.0.min(at + 1));
        while !self.is_stopped()
            && !self.runs.iter().any(Run::is_cut)
            && let Some(windows) = pool.run_some_windows(&self.facts, &mut self.nodes, &mut self.runs, end)
        {
            pool.before += windows;
            // All nodes have come so far: who stops the run finds them there.
            let reached = self.runs.own.events.by_node().map(|own| own.reached(end));
            self.now = reached.filter(|_| windows > 0).unwrap_or(self.now).max(self.now);
            if pool.threads > 1 && pool.rebalance(&mut self.nodes, &self.facts.groups, windows) {
                self.runs.redistribute(&pool);
            }
        }
        if !self.is_stopped() {
            self.now = end;
        }
        self.runs.pool = Some(pool);
    }
}

impl WorkerPool {
    /// Executes the next windows before `end`, as many as owners stay the same; returns their number.
    fn run_some_windows<'a>(
        &self,
        facts: &Facts<'a>,
        nodes: &mut [Node],
        runs: &mut Runs<'a>,
        end: u64,
    ) -> Option<u64> {
        let nodes = SharedSlice::new(nodes);
        // SAFETY: each thread has a run of its own, all of which have the owners of this pool since
        // `redistribute`; and they enter windows together, the earliest that one of them has published.
        #[allow(unsafe_code, reason = "threads share what nodes own")]
        let worker = |run| unsafe { Worker::new(facts, &nodes, run) };
        let mut workers: Vec<Worker<'_, '_>> = runs.iter_mut().map(worker).collect();
        let all = workers.iter_mut().filter_map(|worker| worker.run.events.by_node());
        let end = all.filter_map(|windows| windows.stretch(self.same_owners(), end)).min()?;
        let windows = if self.is_parallel() {
            self.run_parallel(&mut workers, end)
        } else {
            self.run_serial(&mut workers, end)
        };
        Some(windows)
    }
}
