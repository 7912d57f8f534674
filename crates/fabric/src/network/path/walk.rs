//! Paths of flows, where they follow from the flow alone.

use floodway_mechanisms::slots::{FlowTuple, Router as _};
use floodway_units::cast::to_usize;
use floodway_units::{NodeId, PortId, fold};
use smallvec::smallvec;

use super::Ports;
use crate::network::blueprint::NicPolicy;
use crate::network::routing::{in_force, peer};
use crate::run::at_node::AtNode;

impl AtNode<'_, '_> {
    /// Egress ports from `source` on, where they follow from the flow alone; else empty.
    pub fn path(
        &self,
        source: NodeId,
        destination: NodeId,
        tuple: &FlowTuple,
        pinned: Option<&[PortId]>,
    ) -> Ports {
        if let Some(path) = pinned {
            return Ports::from_slice(path);
        }
        if self.ctx.run.changing.is_some() || self.ctx.facts.sprays(source) {
            return Ports::new();
        }
        self.walk(source, destination, tuple).unwrap_or_default()
    }

    /// Brings the routes to a destination up to date, where links come and go: before they are looked up.
    #[inline]
    pub fn refresh_routes(&mut self, destination: NodeId) {
        if let Some(changing) = &mut self.ctx.run.changing {
            changing.refresh(destination);
        }
    }

    /// Equal-cost ports of `node` toward the host `destination`, by the routes in force.
    #[inline]
    pub fn candidates(&self, node: NodeId, destination: NodeId) -> &[PortId] {
        in_force(&self.ctx.facts.routes, self.ctx.run.changing.as_deref(), (node, destination))
    }

    /// The path that the flow's packets take if every router on it chooses by flow.
    fn walk(&self, source: NodeId, destination: NodeId, tuple: &FlowTuple) -> Option<Ports> {
        let mut path: Ports = smallvec![self.nic_of(source, destination, tuple)?];
        loop {
            let node = self.ctx.facts.routes.node_of(peer(*path.last()?));
            if node == destination {
                return Some(path);
            }
            let candidates = self.ctx.facts.routes.candidates(node, destination);
            let choice = match candidates.len() {
                0 => return None,
                1 => 0,
                count => {
                    let router = self.ctx.facts.routers[node.index()].as_ref()?;
                    router.by_flow(tuple, count)?
                }
            };
            path.push(candidates[choice]);
        }
    }

    /// The NIC that a host uses for a flow: of those on shortest paths that it has not given up, as its
    /// policy says.
    pub fn nic_of(&self, source: NodeId, destination: NodeId, tuple: &FlowTuple) -> Option<PortId> {
        let candidates = self.candidates(source, destination);
        if self.ctx.run.changing.is_some()
            && source == self.node.id
            && candidates.iter().any(|&port| self.has_failed(port))
            && let Some(port) = self.nic_that_is_up(destination, tuple.key())
        {
            return Some(port);
        }
        match candidates.len() {
            // Every path is cut: the flow waits at its host for one to come back.
            0 => self.ctx.facts.blueprint.ports_of(source).next(),
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
        if self.ctx.facts.blueprint.nodes[source.index()].role.nics() == NicPolicy::ActiveBackup {
            return usable().min();
        }
        let choice = fold(key, u64::from(source.0)).checked_rem(usable().count() as u64)?;
        usable().nth(to_usize(choice))
    }

    /// A path of the kind that the flow takes: its own, or the first of equal cost; of all links where no
    /// path is up.
    pub fn some_path(&self, source: NodeId, destination: NodeId, known: &[PortId]) -> Ports {
        if !known.is_empty() {
            return known.into();
        }
        let path = self.first_path(source, destination, |node| self.candidates(node, destination));
        let all = || {
            self.first_path(source, destination, |node| self.ctx.facts.routes.candidates(node, destination))
        };
        path.or_else(all).unwrap_or_default()
    }

    fn first_path<'a>(
        &self,
        source: NodeId,
        destination: NodeId,
        candidates: impl Fn(NodeId) -> &'a [PortId],
    ) -> Option<Ports> {
        let (mut path, mut node) = (Ports::new(), source);
        while node != destination {
            let &port = candidates(node).first()?;
            path.push(port);
            node = self.ctx.facts.routes.node_of(peer(port));
        }
        Some(path)
    }
}
