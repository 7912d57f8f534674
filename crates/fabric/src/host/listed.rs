//! Turns by the list of flows, as a NIC of SWING's simulator takes them (its `PfcHostPort`).
//!
//! All queue pairs of a host stand in the ring from the start of the run, in the order in which their flows
//! are listed, whichever start first. One timer wakes the NIC. It is set when the NIC looks for something to
//! send, finds nothing, and has no timer running: for the least pacing time of all queue pairs with something
//! left, if that lies ahead. A queue pair that has not started counts with time 0, and one that waits for its
//! window or is paused with its own: while any such time is in the past, packets whose time comes wait until
//! something else makes the NIC look. The timer is never moved.

mod wake;

use floodway_blueprint::network::blueprint::{Arrivals, Blueprint, FlowSpec, Sharing, Turns};
use floodway_blueprint::traffic::begin::PairKey;
use floodway_units::NodeId;
use rustc_hash::FxHashMap;

/// Positions of the flows of lists in the turns of their senders; empty where turns do not go by the list.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// By workload and flow of its list.
    ranks: Vec<Vec<u32>>,
    /// By node: the number of queue pairs for listed flows.
    counts: Vec<u32>,
}

impl Listed {
    pub fn new(blueprint: &Blueprint) -> Self {
        if blueprint.semantics.turns != Turns::Listed {
            return Listed::default();
        }
        let mut listed = Listed { ranks: Vec::new(), counts: vec![0; blueprint.nodes.len()] };
        for (i, workload) in (0..).zip(&blueprint.workloads) {
            let ranks = match &workload.arrivals {
                Arrivals::List(flows) => listed.add(blueprint, (i, workload.settings), flows),
                Arrivals::Poisson(_) | Arrivals::ClosedLoop(_) | Arrivals::Program(_) => Vec::new(),
            };
            listed.ranks.push(ranks);
        }
        listed
    }

    /// The ranks of a list's flows; those of one queue pair have the rank of the first one that is written.
    fn add(&mut self, blueprint: &Blueprint, of: (u32, usize), flows: &[FlowSpec]) -> Vec<u32> {
        let (workload, settings) = of;
        let mut order: Vec<usize> = (0..flows.len()).collect();
        order.sort_by_key(|&flow| flows[flow].place);
        let mut shared: FxHashMap<PairKey, u32> = FxHashMap::default();
        let mut ranks = vec![0; flows.len()];
        for flow in order {
            let spec = &flows[flow];
            let settings = spec.settings.unwrap_or(settings);
            let next = &mut self.counts[spec.source.index()];
            let mut take = || {
                *next += 1;
                *next - 1
            };
            ranks[flow] = match blueprint.settings[settings].qp {
                Sharing::PerFlow => take(),
                Sharing::PerPair => *shared.entry(PairKey::of(workload, settings, spec)).or_insert_with(take),
            };
        }
        ranks
    }

    /// The rank of a listed flow's queue pair.
    pub fn rank(&self, workload: u32, flow: usize) -> Option<u32> {
        self.ranks.get(workload as usize).map(|ranks| ranks[flow])
    }

    /// How many ranks a host's NICs keep for listed flows.
    pub fn count(&self, node: NodeId) -> u32 {
        self.counts.get(node.index()).copied().unwrap_or(0)
    }
}
