//! Ranks of jobs: walkers that execute programs, and the messages that they send.
//!
//! A rank belongs to its host: only events of that host change it. What happens there goes into the rank's
//! walker, with its time, and an event of the host advances the walker at that time. So a rank learns of
//! others only by messages that arrive at its host, and the order in which events of one instant are executed
//! does not matter to it.

mod messages;
mod scale_up;

use std::sync::Arc;

use floodway_programs::collective::Step;
use floodway_programs::{Output, Walker};
use floodway_units::NodeId;

use crate::network::blueprint::{Arrivals, Blueprint, ProgramSpec};
use crate::pool::Pool;
use crate::run::events::NEVER;

use scale_up::ScaleUpPort;

/// The ranks of all jobs, numbered job by job.
#[derive(Clone, Default)]
pub(crate) struct Programs {
    ranks: Pool<RankState>,
    /// By rank.
    places: Arc<[Place]>,
    /// By workload: its first rank.
    first: Arc<[u32]>,
    out: Output,
    step: Step,
}

/// What never changes of a rank.
#[derive(Clone, Copy, Debug)]
struct Place {
    workload: u32,
    host: NodeId,
    /// Which of the ranks of its host it is.
    local: u8,
    /// The scale-up domain of its host, in the blueprint's list.
    domain: Option<u32>,
}

/// A rank of a job.
#[derive(Debug)]
struct RankState {
    walker: Walker,
    /// When the next event advances it.
    armed: u64,
    port: ScaleUpPort,
}

/// A host has fewer ranks than this.
pub(crate) const RANKS_OF_HOST: usize = 1 << 8;

impl Programs {
    /// The ranks of a blueprint.
    pub fn new(blueprint: &Blueprint) -> Self {
        let (mut places, mut first) = (Vec::new(), Vec::new());
        let mut ranks = Vec::new();
        let mut of_host = vec![0u8; blueprint.nodes.len()];
        let domains = blueprint.domains();
        for (workload, spec) in (0..).zip(&blueprint.workloads) {
            first.push(places.len() as u32);
            let Arrivals::Program(spec) = &spec.arrivals else { continue };
            for (rank, &host) in (0..).zip(&spec.hosts) {
                let local = &mut of_host[host.index()];
                places.push(Place { workload, host, local: *local, domain: domains.of(host) });
                *local = local.wrapping_add(1);
                ranks.push(RankState {
                    walker: Walker::new(&spec.program, rank, spec.start),
                    armed: NEVER,
                    port: ScaleUpPort::default(),
                });
            }
        }
        let ranks = ranks.into_iter().collect();
        Programs { ranks, places: places.into(), first: first.into(), ..Programs::default() }
    }

    /// The host of a rank.
    pub fn host(&self, rank: u32) -> NodeId {
        self.places[rank as usize].host
    }

    /// Number of a rank of a workload among all ranks.
    fn id(&self, workload: u32, rank: u32) -> u32 {
        self.first[workload as usize] + rank
    }

    /// Workload of a rank, and its number there.
    pub fn in_workload(&self, id: u32) -> (u32, u32) {
        let workload = self.places[id as usize].workload;
        (workload, id - self.first[workload as usize])
    }

    /// The walkers of a workload's ranks, when the run is over.
    pub fn walkers(&self, workload: u32, ranks: usize) -> impl Iterator<Item = &Walker> {
        (0..ranks).map(move |rank| &self.ranks[self.first[workload as usize] as usize + rank].walker)
    }
}

/// The job of a workload.
pub(crate) fn job(blueprint: &Blueprint, workload: u32) -> &ProgramSpec {
    match &blueprint.workloads[workload as usize].arrivals {
        Arrivals::Program(spec) => spec,
        _ => unreachable!("the rank was made for a job"),
    }
}
