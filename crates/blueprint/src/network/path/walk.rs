//! Paths of flows, where they follow from the flow alone.
//!
//! Where every router on a flow's path decides by the flow alone, the path is computed once, when its queue
//! pair opens, and packets follow it by hop number. Where links go down, or a router uses more inputs
//! (spray), each hop is looked up.

use floodway_mechanisms::slots::{FlowTuple, Router as _};
use floodway_units::cast::to_usize;
use floodway_units::{NodeId, PortId, fold};
use smallvec::smallvec;

use super::Ports;
use crate::network::blueprint::NicPolicy;
use crate::network::facts::Facts;
use crate::network::routing::{ChangingRoutes, in_force, peer};

impl Facts<'_> {
    /// Egress ports from the first node to the second, where they follow from the flow alone; else empty, as
    /// where routes are `changing`, or where the flow `spreads` its packets over several paths.
    pub fn path(
        &self,
        changing: Option<&ChangingRoutes>,
        (source, destination): (NodeId, NodeId),
        tuple: &FlowTuple,
        (pinned, spreads): (Option<&[PortId]>, bool),
    ) -> Ports {
        if let Some(path) = pinned {
            return Ports::from_slice(path);
        }
        if changing.is_some() || spreads || self.sprays(source) {
            return Ports::new();
        }
        self.walk(source, destination, tuple).unwrap_or_default()
    }

    /// The path that the flow's packets take if every router on it chooses by flow.
    fn walk(&self, source: NodeId, destination: NodeId, tuple: &FlowTuple) -> Option<Ports> {
        let first = self.nic_of(None, (source, destination), tuple)?;
        let mut path: Ports = smallvec![first];
        loop {
            let node = self.routes.node_of(peer(*path.last()?));
            if node == destination {
                return Some(path);
            }
            let candidates = self.routes.candidates(node, destination);
            let choice = match candidates.len() {
                0 => return None,
                1 => 0,
                count => {
                    let router = self.routers[node.index()].as_ref()?;
                    router.by_flow(tuple, count)?
                }
            };
            path.push(candidates[choice]);
        }
    }

    /// The NIC that a host uses for a flow: of those on shortest paths, as its policy says.
    pub fn nic_of(
        &self,
        changing: Option<&ChangingRoutes>,
        (source, destination): (NodeId, NodeId),
        tuple: &FlowTuple,
    ) -> Option<PortId> {
        let candidates = in_force(&self.routes, changing, (source, destination));
        match candidates.len() {
            // Every path is cut: the flow waits at its host for one to come back.
            0 => self.blueprint.ports_of(source).next(),
            1 => Some(candidates[0]),
            _ => self.nic_among(source, tuple.key(), || candidates.iter().copied()),
        }
    }

    /// The NIC of several that a host uses for a flow: by hash, or the first.
    pub fn nic_among<I: Iterator<Item = PortId>>(
        &self,
        source: NodeId,
        key: u64,
        usable: impl Fn() -> I,
    ) -> Option<PortId> {
        if self.blueprint.nodes[source.index()].role.nics() == NicPolicy::ActiveBackup {
            return usable().min();
        }
        let choice = fold(key, u64::from(source.0)).checked_rem(usable().count() as u64)?;
        usable().nth(to_usize(choice))
    }

    /// A path of the kind that the flow takes: its own, or the first of equal cost; of all links where no
    /// path is up.
    pub fn some_path(
        &self,
        changing: Option<&ChangingRoutes>,
        (source, destination): (NodeId, NodeId),
        known: &[PortId],
    ) -> Ports {
        if !known.is_empty() {
            return known.into();
        }
        let path = self.first_path(changing, source, destination);
        path.or_else(|| self.first_path(None, source, destination)).unwrap_or_default()
    }

    fn first_path(
        &self,
        changing: Option<&ChangingRoutes>,
        source: NodeId,
        destination: NodeId,
    ) -> Option<Ports> {
        let (mut path, mut node) = (Ports::new(), source);
        while node != destination {
            let &port = in_force(&self.routes, changing, (node, destination)).first()?;
            path.push(port);
            node = self.routes.node_of(peer(port));
        }
        Some(path)
    }
}
