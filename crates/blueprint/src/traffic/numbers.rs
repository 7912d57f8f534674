//! Numbers of flows and messages among those of their workload's source: they follow the order in which the
//! scenario lists them, not that in which the run starts them, so that no other traffic changes an id or a
//! path.

use floodway_units::NodeId;
use rustc_hash::FxHashMap;

use crate::network::blueprint::{Arrivals, Blueprint, FlowSpec, LoopSpec, Sharing, WorkloadSpec};
use crate::traffic::begin::PairKey;

/// What distinguishes a flow from others of its workload's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its number; that of the first message, of a loop.
    pub number: u64,
    /// Decides its source port, where the list names none; the same for all that share a queue pair.
    pub entropy: u64,
}

/// By workload, the label of each flow of its list or of each of its loops; none where flows arrive at
/// random.
pub fn labels(blueprint: &Blueprint) -> Vec<Vec<Label>> {
    let of = |(workload, spec): (u32, &WorkloadSpec)| match &spec.arrivals {
        Arrivals::List(flows) => of_flows(blueprint, workload, spec.settings, flows),
        Arrivals::ClosedLoop(loops) => of_loops(loops),
        Arrivals::Poisson(_) | Arrivals::Program(_) => Vec::new(),
    };
    (0..).zip(&blueprint.workloads).map(of).collect()
}

/// A queue pair hashes as the first flow that the list has on it.
fn of_flows(blueprint: &Blueprint, workload: u32, settings: usize, flows: &[FlowSpec]) -> Vec<Label> {
    let mut counts: FxHashMap<NodeId, u64> = FxHashMap::default();
    let mut pairs: FxHashMap<PairKey, u64> = FxHashMap::default();
    let label = |flow: &FlowSpec| {
        let count = counts.entry(flow.source).or_default();
        let number = *count;
        *count += 1;
        let settings = flow.settings.unwrap_or(settings);
        let entropy = match blueprint.settings[settings].qp {
            Sharing::PerFlow => number,
            Sharing::PerPair => *pairs.entry(PairKey::of(workload, settings, flow)).or_insert(number),
        };
        Label { number, entropy }
    };
    flows.iter().map(label).collect()
}

/// Each loop's messages are numbered behind all of the loops before it, whichever are posted first.
fn of_loops(loops: &[LoopSpec]) -> Vec<Label> {
    let mut counts: FxHashMap<NodeId, Label> = FxHashMap::default();
    let label = |spec: &LoopSpec| {
        let next = counts.entry(spec.source).or_insert(Label { number: 0, entropy: 0 });
        let label = *next;
        next.number = next.number.saturating_add(spec.messages);
        next.entropy += 1;
        label
    };
    loops.iter().map(label).collect()
}
