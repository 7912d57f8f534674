//! Flows: their sources, and the queue pairs that carry them.

mod start;

use std::sync::Arc;

use floodway_units::cast::narrow;
use floodway_units::{Bytes, NodeId, PortId, Rng, fold, name_key, stream};

use crate::host::listed::Listed;
use crate::network::blueprint::{Arrivals, Blueprint, FlowSpec, PoissonSpec};
use crate::network::facts::Facts;
use crate::pool::Pool;
use crate::run::events::NEVER;
use crate::traffic::numbers::{Label, labels};
use crate::traffic::programs::Programs;
use crate::traffic::sizes::exponential;
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

/// What is known of a flow when it starts.
pub(crate) struct Begin {
    pub workload: u32,
    pub settings: usize,
    pub source: NodeId,
    pub destination: NodeId,
    pub size: Bytes,
    pub number: u64,
    /// Of a job's message: the round of its sender's program, and by how much its number is larger in the
    /// run, of which parts were skipped.
    pub round: u16,
    pub later: u64,
    /// Decides its source port, where none is named.
    pub entropy: u64,
    pub ports: (Option<u16>, Option<u16>),
    pub pinned: (Option<Vec<PortId>>, Option<Vec<PortId>>),
    /// Who waits for it.
    pub hook: u32,
    pub carrier: Carrier,
    /// The rank of its queue pair at its NIC, where that goes by the list.
    pub rank: Option<u32>,
}

/// Which queue pair carries a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// One of its own, or one that flows like it share, as its settings say.
    AsSet,
    /// That of this loop of its workload.
    Loop(usize),
    /// That of these ranks of a job, on a channel.
    Ranks { from: u32, to: u32, channel: u32 },
}

/// Flows with the same key share a queue pair.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum PairKey {
    Loop(u32, usize),
    /// Of ranks of a job, on a channel.
    Ranks {
        workload: u32,
        from: u32,
        to: u32,
        channel: u32,
    },
    Pair {
        workload: u32,
        settings: usize,
        ends: (NodeId, NodeId),
        ports: (Option<u16>, Option<u16>),
        pinned: (Option<Vec<PortId>>, Option<Vec<PortId>>),
    },
}

impl PairKey {
    /// Of a flow of a list with these settings, which share queue pairs.
    pub fn of(workload: u32, settings: usize, flow: &FlowSpec) -> Self {
        PairKey::Pair {
            workload,
            settings,
            ends: (flow.source, flow.destination),
            ports: (flow.source_port, flow.destination_port),
            pinned: (flow.path.clone(), flow.ack_path.clone()),
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
