//! The coordinating thread: starts workers, hands events to their owners, executes windows up to the next
//! global step.

use floodway_units::Time;
use floodway_units::cast::narrow;

use super::WorkerPool;
use crate::pool::SharedSlice;
use crate::run::state::Run;
use crate::run::threads::ThreadPlan;
use crate::run::windows::Drained;
use crate::run::worker::Worker;
use crate::run::world::World;

impl World<'_> {
    /// Executes windows on the threads of a plan from now on, if nodes are executed one by one; before the
    /// run begins.
    pub fn start_workers(&mut self, thread_plan: &ThreadPlan) {
        let threads = thread_plan.threads();
        let events: Option<Vec<_>> =
            (1..threads).map(|thread| self.run.events.of_thread(narrow(thread))).collect();
        let events = events.filter(|events| !events.is_empty() || self.ranks.is_some());
        let Some(events) = events else { return };
        let blueprint = self.facts.blueprint;
        self.run.pairs.opened = self.ranks.is_some().then(Vec::new);
        self.other_runs = events.into_iter().map(|events| self.run.share(blueprint, events)).collect();
        for run in self.runs_mut() {
            run.pairs.posted.resize_with(threads + 1, Vec::new);
        }
        let owners = self.owners(thread_plan);
        let how = (thread_plan.forced(), self.ranks.is_none());
        let worker_pool = WorkerPool::new(threads, how, owners);
        self.redistribute(&worker_pool);
        self.worker_pool = Some(worker_pool);
    }

    /// By group: the thread that owns it, or, where that is another process, the number after the last
    /// thread's.
    fn owners(&self, thread_plan: &ThreadPlan) -> Vec<u8> {
        let owned = self.ranks.as_ref().map(|ranks| ranks.owned());
        let owners = thread_plan.owners(self.facts.blueprint, owned.as_deref());
        let elsewhere = narrow::<u8>(thread_plan.threads());
        let owner = |group| {
            let node = self.facts.groups.first(group).0;
            if self.owns(node) { owners[node.index()] } else { elsewhere }
        };
        (0..narrow::<u32>(self.facts.groups.count())).map(owner).collect()
    }

    /// Moves all pending events to the owners of their nodes.
    fn redistribute(&mut self, worker_pool: &WorkerPool) {
        let window = self.run.events.by_node().map_or(0, |windows| windows.window());
        let mut pending = Vec::new();
        for windows in self.runs_mut().filter_map(|run| run.events.by_node()) {
            pending.push(windows.drain());
            windows.set_owners(&worker_pool.owners, worker_pool.threads, window);
        }
        let mut all: Vec<_> = self.runs_mut().filter_map(|run| run.events.by_node()).collect();
        for Drained { events, steps } in pending {
            for (group, event) in events {
                // What is pending before the run begins at a node elsewhere is so there as well.
                if let Some(windows) = all.get_mut(worker_pool.owner(group)) {
                    windows.send(group, event);
                }
            }
            for (at, order) in steps {
                all[0].push_step(at, order);
            }
        }
    }

    /// Executes all windows before `end`, or before the next step of the whole network.
    pub fn run_workers(&mut self, end: Time) {
        let Some(mut worker_pool) = self.worker_pool.take() else { return };
        let step = self.run.events.by_node().and_then(|windows| windows.next_step());
        let end = step.map_or(end.0, |(at, _)| end.0.min(at + 1));
        while !self.is_stopped()
            && !self.runs().any(Run::is_cut)
            && let Some(windows) = self.run_some_windows(&worker_pool, end)
        {
            worker_pool.before += windows;
            // All nodes have come so far: who stops the run finds them there.
            let reached = self.run.events.by_node().map(|own| own.reached(end));
            self.now = reached.filter(|_| windows > 0).unwrap_or(self.now).max(self.now);
            if worker_pool.threads > 1 && worker_pool.rebalance(&mut self.nodes, &self.facts.groups, windows)
            {
                self.redistribute(&worker_pool);
            }
        }
        if !self.is_stopped() {
            self.now = end;
        }
        self.worker_pool = Some(worker_pool);
    }

    /// Executes the next windows before `end`, as many as owners stay the same; returns their number.
    fn run_some_windows(&mut self, worker_pool: &WorkerPool, end: u64) -> Option<u64> {
        let nodes = SharedSlice::new(&mut self.nodes);
        let (facts, nodes) = (&self.facts, &nodes);
        let runs = std::iter::once(&mut self.run).chain(&mut self.other_runs);
        // SAFETY: each thread has a run of its own, all of which have the owners of this pool since
        // `redistribute`; and they enter windows together, the earliest that one of them has published.
        #[allow(unsafe_code, reason = "threads share what nodes own")]
        let worker = |run| unsafe { Worker::new(facts, nodes, run) };
        let mut workers: Vec<Worker<'_, '_>> = runs.map(worker).collect();
        let all = workers.iter_mut().filter_map(|worker| worker.run.events.by_node());
        let end = all.filter_map(|windows| windows.stretch(worker_pool.same_owners(), end)).min()?;
        let windows = if worker_pool.is_parallel() {
            worker_pool.run_parallel(&mut workers, end)
        } else {
            worker_pool.run_serial(&mut workers, end)
        };
        Some(windows)
    }
}
