//! The work of a run, and how much of it is done.
//!
//! A run ends at its limit, or earlier, once its workloads are complete. So it is as far as the greater of
//! two shares: that of the simulated time, and that of the work, where all of it is known. Of lists and loops
//! the work is the payload; of a job computations, which count one each, and all other operations, which are
//! as far as the job's payload; of Poisson arrivals the time in which they arrive, and the payload of what
//! has.

use std::sync::atomic::Ordering;

use floodway_blueprint::network::blueprint::{Arrivals, Blueprint, ProgramSpec, UNBOUNDED, WorkloadSpec};
use floodway_programs::Kind;
use floodway_units::cast::whole;

use crate::outcome::Control;
use crate::tally::Totals;

/// The work of a run.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// By workload.
    of: Vec<WorkOf>,
    /// The limit in picoseconds.
    limit: u64,
    /// The run ends at the limit alone.
    at_limit: bool,
}

/// The work of a workload.
#[derive(Clone, Copy, Debug)]
enum WorkOf {
    /// It never ends, and the run does not wait for it.
    Endless,
    /// Payload of flows or messages.
    Bytes(u64),
    /// Flows, of which some never end.
    Flows(u64),
    /// Flows that arrive from one time to another.
    Arriving(u64, u64),
    /// Operations of a job, of these computations, and payload of its messages.
    Job { operations: u64, computations: u64, bytes: u64 },
}

impl Work {
    /// That of a blueprint.
    pub fn new(blueprint: &Blueprint) -> Self {
        let (limit, at_limit) = (blueprint.end.limit.0, blueprint.end.at_limit);
        Work { of: blueprint.workloads.iter().map(WorkOf::new).collect(), limit, at_limit }
    }

    /// Tells the observer of a run how far it is at `now`. `totals` are those of its workloads, with the
    /// payload that stayed within scale-up domains.
    pub fn report(&self, control: &Control, now: u64, totals: &[(&Totals, u64)]) {
        let mut done = Done::default();
        for (of, &(totals, scale_up)) in self.of.iter().zip(totals) {
            done.add(*of, now, totals, scale_up);
        }
        control.bytes.set(done.bytes, done.bytes_total);
        control.operations.set(done.operations, done.operations_total);
        let work = done.share.filter(|_| !self.at_limit).unwrap_or(0.0);
        let time = now as f64 / self.limit.max(1) as f64;
        let millionths = whole(work.max(time) * 1e6);
        control.millionths.fetch_max(millionths.min(1_000_000), Ordering::Relaxed);
        control.by_work.store(work > time, Ordering::Relaxed);
    }
}

impl WorkOf {
    fn new(spec: &WorkloadSpec) -> Self {
        match &spec.arrivals {
            Arrivals::List(flows) => {
                let finite = flows.iter().filter(|flow| flow.size < UNBOUNDED);
                match finite.clone().count() {
                    0 => WorkOf::Endless,
                    n if n < flows.len() => WorkOf::Flows(n as u64),
                    _ => WorkOf::Bytes(finite.map(|flow| flow.size.0).fold(0, u64::saturating_add)),
                }
            }
            Arrivals::Poisson(process) => {
                WorkOf::Arriving(process.from.0, process.until.min(spec.measure.1).0)
            }
            Arrivals::ClosedLoop(loops) => {
                let bytes = loops.iter().map(|of| of.size.0.saturating_mul(of.messages));
                WorkOf::Bytes(bytes.fold(0, u64::saturating_add))
            }
            Arrivals::Program(job) => WorkOf::of_job(job),
        }
    }

    fn of_job(ProgramSpec { program, .. }: &ProgramSpec) -> Self {
        let (mut operations, mut computations, mut bytes) = (0u64, 0u64, 0u64);
        for (rank, of) in (0u32..).zip(&program.ranks) {
            let graph = &program.graphs[of.graph as usize].operations;
            operations += graph.len() as u64;
            computations +=
                graph.iter().filter(|one| matches!(one.kind, Kind::Compute { .. })).count() as u64;
            // A message has a byte at least.
            program.each_peer(rank, |_, _, messages, of| bytes = bytes.saturating_add(of.max(messages)));
        }
        let all = |count: u64| count.saturating_mul(u64::from(program.iterations));
        WorkOf::Job { operations: all(operations), computations: all(computations), bytes: all(bytes) }
    }
}

/// The work that is done.
#[derive(Debug, Default)]
struct Done {
    /// The least of all workloads; none where the run waits for none.
    share: Option<f64>,
    bytes: u64,
    bytes_total: u64,
    operations: u64,
    operations_total: u64,
}

impl Done {
    fn add(&mut self, of: WorkOf, now: u64, totals: &Totals, scale_up: u64) {
        let share = match of {
            WorkOf::Endless => return,
            WorkOf::Bytes(bytes) => {
                self.bytes += totals.delivered.min(bytes);
                self.bytes_total = self.bytes_total.saturating_add(bytes);
                part(totals.delivered, bytes)
            }
            WorkOf::Flows(flows) => part(totals.finished, flows),
            WorkOf::Arriving(from, until) => {
                let arrived = part(now.saturating_sub(from), until.saturating_sub(from));
                if totals.offered == 0 { arrived } else { arrived * part(totals.delivered, totals.offered) }
            }
            WorkOf::Job { operations, computations, bytes } => {
                self.operations += totals.operations.min(operations);
                self.operations_total = self.operations_total.saturating_add(operations);
                let others = (operations - computations) as f64 * part(totals.delivered + scale_up, bytes);
                (totals.computed as f64 + others) / operations.max(1) as f64
            }
        };
        self.share = Some(self.share.map_or(share, |least| least.min(share)));
    }
}

/// A part of a whole, at most all of it; all of nothing.
fn part(done: u64, total: u64) -> f64 {
    if done >= total { 1.0 } else { done as f64 / total as f64 }
}
