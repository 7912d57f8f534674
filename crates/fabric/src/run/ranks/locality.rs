//! Which queue pairs concern other ranks.
//!
//! One is local where every shortest path between its hosts stays in a rank, and no machine may name other
//! flows.

use floodway_blueprint::network::facts::Facts;
use floodway_blueprint::network::routing::peer;
use floodway_units::NodeId;
use rustc_hash::FxHashSet;

use super::Processes;
use crate::host::queue_pairs::Opening;

impl Processes<'_> {
    /// Do all nodes that may see a packet of a queue pair, or its name, belong to this rank? If that is not
    /// certain, it is announced to all ranks.
    pub(super) fn is_local(&mut self, facts: &Facts<'_>, opening: &Opening) -> bool {
        let (source, destination) = (opening.info.source, opening.info.destination);
        if facts.changes || facts.names_flows || !self.owns(source) || !self.owns(destination) {
            return false;
        }
        let ports = opening.ports.iter().chain(&opening.ack_ports);
        if !ports.into_iter().all(|&port| self.owns(facts.node_of(port))) {
            return false;
        }
        // What lies between depends on the first switches alone, where each end has one.
        let first = |from, to| match facts.routes.candidates(from, to) {
            &[port] => Some(facts.node_of(peer(port))),
            _ => None,
        };
        let Some(key) = first(source, destination).zip(first(destination, source)) else {
            return self.stays(facts, source, destination) && self.stays(facts, destination, source);
        };
        if let Some(&known) = self.local.get(&key) {
            return known;
        }
        let local = self.stays(facts, source, destination) && self.stays(facts, destination, source);
        self.local.insert(key, local);
        local
    }

    /// Do all shortest paths stay in this rank?
    fn stays(&self, facts: &Facts<'_>, source: NodeId, destination: NodeId) -> bool {
        let (mut seen, mut next) = (FxHashSet::default(), vec![source]);
        while let Some(node) = next.pop() {
            if !self.owns(node) {
                return false;
            }
            if node == destination || !seen.insert(node) {
                continue;
            }
            let ports = facts.routes.candidates(node, destination).iter();
            next.extend(ports.map(|&port| facts.node_of(peer(port))));
        }
        true
    }
}
