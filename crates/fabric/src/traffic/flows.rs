//! Flows: their sources, and the queue pairs that carry them.

pub(crate) mod start;

use std::sync::Arc;

use floodway_blueprint::network::blueprint::{Arrivals, Blueprint, FlowSpec, PoissonSpec};
use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::traffic::numbers::{Label, labels};
use floodway_blueprint::traffic::sizes::exponential;
use floodway_units::cast::narrow;
use floodway_units::{NodeId, Rng, fold, name_key, stream};

use crate::host::listed::Listed;
use crate::pool::Pool;
use crate::run::events::NEVER;
use crate::traffic::programs::Programs;
use crate::traffic::triggers::Triggers;

/// What starts flows, as a thread has it.
pub(crate) struct Traffic {
    /// Each is of one host, but where ties go by scheduling order.
    pub sources: Pool<Source>,
    /// Starts that wait for completions; their events are numbered behind the sources.
    pub triggers: Triggers,
    /// Ranks of jobs and lists; triggers are what their events name.
    pub programs: Programs,
    /// By workload: what each flow of its list, or each of its loops, is numbered.
    pub labels: Arc<[Vec<Label>]>,
    /// Where turns go by the list: the ranks of its flows.
    pub listed: Arc<Listed>,
}

/// What starts flows, one after another.
#[derive(Debug)]
pub(crate) enum Source {
    /// Flows of a list that wait for no other, by their indices: those of one host, or all of them where ties
    /// go by scheduling order, in which flows of one instant start as they are listed.
    List { workload: u32, flows: Box<[u32]>, next: usize },
    /// A Poisson process at one host.
    Poisson { workload: u32, node: NodeId, rng: Rng, number: u64, next: u64 },
}

impl Source {
    /// The host that starts its flows; of a list as a whole, its first flow's.
    pub fn host(&self, blueprint: &Blueprint) -> NodeId {
        match self {
            &Source::Poisson { node, .. } => node,
            Source::List { workload, flows, .. } => blueprint.flows_of(*workload)[flows[0] as usize].source,
        }
    }
}

impl Traffic {
    /// Nothing has started.
    pub fn new(facts: &Facts<'_>, listed: Arc<Listed>) -> Self {
        let (blueprint, lists) = (facts.blueprint, &facts.lists);
        let programs = Programs::new(blueprint, lists);
        Traffic {
            sources: build_sources(blueprint),
            triggers: Triggers::new(blueprint, lists, &programs),
            programs,
            labels: labels(blueprint).into(),
            listed,
        }
    }

    /// The same, for another thread.
    ///
    /// # Safety
    /// As [`Pool::share`].
    #[allow(unsafe_code, reason = "threads share what nodes own")]
    pub unsafe fn share(&self) -> Self {
        // SAFETY: by the caller.
        let (sources, triggers, programs) =
            unsafe { (self.sources.share(), self.triggers.share(), self.programs.share()) };
        Traffic {
            sources,
            triggers,
            programs,
            labels: Arc::clone(&self.labels),
            listed: Arc::clone(&self.listed),
        }
    }

    /// The id of events of a rank.
    pub fn rank_event(&self, rank: u32) -> u32 {
        narrow::<u32>(self.sources.len()) + self.triggers.of_rank(rank)
    }

    /// When a source starts its next flow, by the clock of the run, if it does.
    pub fn next_start(&self, blueprint: &Blueprint, source: usize) -> Option<u64> {
        match &self.sources[source] {
            Source::List { workload, flows, next } => {
                let flow = *flows.get(*next)?;
                Some(blueprint.flows_of(*workload)[flow as usize].start.0)
            }
            Source::Poisson { next, .. } => (*next != NEVER).then_some(*next),
        }
    }
}

fn build_sources(blueprint: &Blueprint) -> Pool<Source> {
    let mut sources = Vec::new();
    for (i, workload) in blueprint.workloads.iter().enumerate() {
        let workload_index = narrow(i);
        match &workload.arrivals {
            Arrivals::List(flows) => {
                let as_listed = blueprint.semantics.ties.is_numbered();
                sources.extend(of_list(workload_index, flows, as_listed));
            }
            // Triggers post the messages of a loop, and ranks of a job begin by themselves.
            Arrivals::ClosedLoop(_) | Arrivals::Program(_) => {}
            Arrivals::Poisson(poisson) => {
                for &node in &poisson.sources {
                    let host = name_key(&blueprint.nodes[node.index()].name);
                    let key = fold(name_key(&workload.name), host);
                    let mut rng = stream(blueprint.seed, key, "arrivals");
                    let next = following(poisson, &mut rng, poisson.from.0);
                    sources.push(Source::Poisson { workload: workload_index, node, rng, number: 0, next });
                }
            }
        }
    }
    sources.into_iter().collect()
}

/// The sources of a list: one a host, in the order of hosts, or `as_listed` a single one.
pub(crate) fn of_list(workload: u32, flows: &[FlowSpec], as_listed: bool) -> Vec<Source> {
    let starts = |flow: &FlowSpec| flow.after.is_empty();
    let mut untied: Vec<u32> = (0..).zip(flows).filter(|(_, flow)| starts(flow)).map(|(i, _)| i).collect();
    let host = |flow: &u32| flows[*flow as usize].source;
    if !as_listed {
        untied.sort_by_key(host);
    }
    let same = |a: &u32, b: &u32| as_listed || host(a) == host(b);
    untied.chunk_by(same).map(|flows| Source::List { workload, flows: flows.into(), next: 0 }).collect()
}

/// When a Poisson source starts the flow after one at `last`.
pub(crate) fn following(poisson: &PoissonSpec, rng: &mut Rng, last: u64) -> u64 {
    let next = last.saturating_add(exponential(rng, poisson.mean_gap.0 as f64));
    if next < poisson.until.0 { next } else { NEVER }
}
