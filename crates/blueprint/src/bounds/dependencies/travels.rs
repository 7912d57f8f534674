//! The paths of a class, as far as they are known before a run.

use std::collections::{BTreeMap, BTreeSet};

use floodway_units::{Class, NodeId, PortId};

use super::MET;
use crate::network::blueprint::{
    Acks, Arrivals, Blueprint, Domains, FlowSpec, PoissonSpec, ProgramSpec, WorkloadSpec,
};
use crate::network::routing::Routes;
use crate::traffic::destinations::DestinationPattern;

/// With more ranks, each rank of a job is supposed to send to all others.
const RANKS: usize = 512;

/// From where packets of a class go to where.
pub(super) struct Travels {
    /// Paths that lists name, as the ports that send.
    pub pinned: Vec<Vec<PortId>>,
    /// By the last switch before receivers (a receiver of several links is its own): one of the receivers,
    /// and the first nodes that senders have a choice at.
    pub toward: BTreeMap<NodeId, (NodeId, BTreeSet<NodeId>)>,
    /// Each may happen; else some are only supposed.
    pub exact: bool,
    /// They are more than are looked at, and were not listed.
    pub beyond: bool,
}

impl Travels {
    pub fn of(blueprint: &Blueprint, routes: &Routes, class: Class) -> Self {
        let travels = Travels { pinned: Vec::new(), toward: BTreeMap::new(), exact: true, beyond: false };
        let mut finder = Finder { blueprint, routes, class, domains: blueprint.domains(), travels };
        blueprint.workloads.iter().for_each(|workload| finder.workload(workload));
        finder.travels
    }

    fn add(&mut self, routes: &Routes, from: NodeId, to: NodeId) {
        let receivers = self.toward.entry(routes.last_before(to)).or_insert_with(|| (to, BTreeSet::new()));
        receivers.1.insert(routes.last_before(from));
    }
}

struct Finder<'a> {
    blueprint: &'a Blueprint,
    routes: &'a Routes,
    class: Class,
    domains: Domains,
    travels: Travels,
}

impl Finder<'_> {
    fn workload(&mut self, workload: &WorkloadSpec) {
        match &workload.arrivals {
            Arrivals::List(flows) => flows.iter().for_each(|flow| self.listed(workload.settings, flow)),
            _ if self.blueprint.settings[workload.settings].class != self.class => {}
            Arrivals::ClosedLoop(loops) => {
                for of in loops {
                    self.pair(workload.settings, of.source, of.destination);
                }
            }
            Arrivals::Poisson(poisson) => self.drawn(workload.settings, poisson),
            Arrivals::Program(spec) => self.job(workload.settings, spec),
        }
    }

    fn listed(&mut self, settings: usize, flow: &FlowSpec) {
        let settings = flow.settings.unwrap_or(settings);
        if self.blueprint.settings[settings].class != self.class {
            return;
        }
        match &flow.path {
            Some(path) => self.travels.pinned.push(path.clone()),
            None => self.travels.add(self.routes, flow.source, flow.destination),
        }
        match &flow.ack_path {
            _ if !self.has_replies(settings) => {}
            Some(path) => self.travels.pinned.push(path.clone()),
            None => self.travels.add(self.routes, flow.destination, flow.source),
        }
    }

    /// Do replies go in the class of their data?
    fn has_replies(&self, settings: usize) -> bool {
        self.blueprint.semantics.acks != Acks::Control
            && self.blueprint.settings[settings].reliability.has_acks()
    }

    fn pair(&mut self, settings: usize, from: NodeId, to: NodeId) {
        self.travels.add(self.routes, from, to);
        if self.has_replies(settings) {
            self.travels.add(self.routes, to, from);
        }
    }

    /// From some hosts to others, each in the name of all that have the same switch.
    fn across(&mut self, settings: usize, from: &[NodeId], to: &[NodeId]) {
        let names = |hosts: &[NodeId]| -> BTreeMap<NodeId, NodeId> {
            hosts.iter().map(|&host| (self.routes.last_before(host), host)).collect()
        };
        let (from, to) = (names(from), names(to));
        // Each sender meets a port on its way to each receiver but itself.
        if from.len().saturating_sub(1).saturating_mul(to.len()) > MET {
            self.travels.beyond = true;
            return;
        }
        for &source in from.values() {
            for &destination in to.values() {
                self.pair(settings, source, destination);
            }
        }
    }

    fn drawn(&mut self, settings: usize, poisson: &PoissonSpec) {
        let receivers: Vec<NodeId> = poisson.receivers().collect();
        let DestinationPattern::Groups { share, groups, home } = &poisson.pattern else {
            return self.across(settings, &poisson.sources, &receivers);
        };
        for group in 0..groups.len() {
            let sources = poisson.sources.iter().copied().filter(|source| home[source.index()] == group);
            let sources: Vec<NodeId> = sources.collect();
            for (other, hosts) in groups.iter().enumerate() {
                if if other == group { *share < 1.0 } else { *share > 0.0 } {
                    self.across(settings, &sources, hosts);
                }
            }
        }
    }

    /// The messages of a job. Where it has very many ranks, each may send to all others.
    fn job(&mut self, settings: usize, spec: &ProgramSpec) {
        if spec.hosts.len() > RANKS {
            self.travels.exact = false;
            return self.across(settings, &spec.hosts, &spec.hosts);
        }
        for (rank, &from) in (0..).zip(&spec.hosts) {
            let mut peers = BTreeSet::new();
            spec.program.each_peer(rank, |_, to, _, _| {
                peers.insert(spec.hosts[to as usize]);
            });
            for to in peers {
                if to != from && !self.domains.join(from, to) {
                    self.pair(settings, from, to);
                }
            }
        }
    }
}
