//! Queue pairs of jobs that are at their end: nothing happens to them any more.
//!
//! They would stay open until the end of the run. What they have kept of their last messages would then come
//! from another time than what follows.

use floodway_blueprint::network::blueprint::{Arrivals, Turns};
use floodway_units::cast::narrow;

use super::Moment;
use crate::run::node::Node;

impl Moment<'_, '_> {
    /// Closes the queue pairs of jobs that are at their end, where nothing of them is in the network, no
    /// timer is armed, and no machine names flows later.
    pub(super) fn close_what_is_over(&mut self) {
        let blueprint = self.facts.blueprint;
        let programs = &self.runs.own.traffic.programs;
        let is_over = |(workload, arrivals): (u32, &Arrivals)| {
            matches!(arrivals, Arrivals::Program(_)) && programs.are_finished(workload)
        };
        let arrivals = blueprint.workloads.iter().map(|workload| &workload.arrivals);
        let over: Vec<bool> = (0..).zip(arrivals).map(is_over).collect();
        let has_granters = self.nodes.iter().filter_map(Node::host).any(|host| host.granter.is_some());
        let may_be_named = self.facts.names_flows || has_granters;
        if may_be_named || blueprint.semantics.turns != Turns::Ring || !over.contains(&true) {
            return;
        }
        let run = &mut self.runs.own;
        for slot in 0..narrow::<u32>(run.pairs.paths.len()) {
            let workload = run.pairs.paths[slot as usize].workload as usize;
            if over[workload] && run.pairs.is_open(slot as usize) && run.pairs.is_at_rest(slot) {
                let source = run.pairs.paths[slot as usize].source;
                if let Some(host) = self.nodes[source.index()].host_mut() {
                    host.pairs.by_key.retain(|_, of| *of != slot);
                }
                run.pairs.close(slot, self.nodes, &mut run.kept.records);
            }
        }
    }
}
