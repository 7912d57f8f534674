//! How far jobs came.

use floodway_blueprint::network::blueprint::{Arrivals, Blueprint, ProgramSpec};
use floodway_records::outcome::JobTotals;
use floodway_units::cast::narrow;

use crate::run::ranks::Progress;
use crate::traffic::programs::Programs;

/// So many operations that wait are named in the outcome of a job.
const NAMED: usize = 8;

/// The jobs of a run that is over.
pub(crate) struct Jobs<'w> {
    pub blueprint: &'w Blueprint,
    pub programs: &'w Programs,
    /// What other processes say of their ranks.
    pub elsewhere: &'w [Progress],
    /// By workload: messages within scale-up domains, and their bytes.
    pub scale_up: &'w [(u64, u64)],
}

impl Jobs<'_> {
    /// How far each job came.
    pub fn totals(&self) -> Vec<JobTotals> {
        let workloads = (0..).zip(&self.blueprint.workloads);
        let jobs = workloads.filter_map(|(index, workload)| match &workload.arrivals {
            Arrivals::Program(spec) => Some((index, spec)),
            _ => None,
        });
        jobs.map(|(workload, spec)| self.totals_of(workload, spec)).collect()
    }

    /// Which operations of a rank wait, and whether it is at its end.
    fn progress_of(&self, id: u32) -> (bool, Vec<(u32, u32)>) {
        let elsewhere = self.elsewhere.iter().find(|progress| progress.0 == id).cloned();
        let (_, finished, waiting) = elsewhere.unwrap_or_else(|| self.programs.progress(id));
        (finished, waiting)
    }

    fn totals_of(&self, workload: u32, spec: &ProgramSpec) -> JobTotals {
        let id = |rank| self.programs.id(workload, rank);
        let ranks = (0..narrow::<u32>(spec.hosts.len())).map(|rank| (rank, self.progress_of(id(rank))));
        let ranks: Vec<_> = ranks.collect();
        let waiting = ranks.iter().flat_map(|(rank, (_, waiting))| {
            waiting.iter().map(|&(iteration, operation)| (*rank, iteration, operation))
        });
        let name = |(rank, iteration, operation): (u32, u32, u32)| {
            let what = spec.program.describe(rank, operation);
            format!("rank {rank}, iteration {iteration}: {what}")
        };
        JobTotals {
            workload: self.blueprint.workloads[workload as usize].name.clone(),
            ranks: spec.hosts.len() as u64,
            finished: ranks.iter().filter(|(_, (finished, _))| *finished).count() as u64,
            iterations: spec.program.iterations,
            micro_batches: spec.program.rounds(),
            scale_up_messages: self.scale_up[workload as usize].0,
            scale_up_bytes: self.scale_up[workload as usize].1,
            waiting: waiting.take(NAMED).map(name).collect(),
        }
    }
}
