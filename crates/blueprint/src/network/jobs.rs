//! Jobs: are their ranks on hosts that reach each other?

use std::collections::BTreeMap;

use floodway_units::NodeId;

use crate::network::blueprint::{Blueprint, ProgramSpec};
use crate::network::routing::Routes;

/// A host has fewer ranks than this.
const RANKS_OF_HOST: usize = 1 << 8;

impl Blueprint {
    /// Are the ranks of a job on hosts that reach each other?
    ///
    /// # Errors
    /// The first fault found.
    pub(super) fn validate_job(&self, routes: &Routes, spec: &ProgramSpec) -> Result<(), String> {
        let (ranks, hosts) = (spec.program.ranks.len(), spec.hosts.len());
        if ranks != hosts {
            return Err(format!("its program has {ranks} ranks, and {hosts} have a host"));
        }
        if ranks == 0 {
            return Err("it has no rank".into());
        }
        let mut of_host: BTreeMap<NodeId, Vec<u32>> = BTreeMap::new();
        for (rank, &host) in (0..).zip(&spec.hosts) {
            self.host(host)?;
            of_host.entry(host).or_default().push(rank);
        }
        for (&host, ranks) in of_host.iter().filter(|(_, ranks)| ranks.len() > 1) {
            self.validate_ranks_of_host(spec, host, ranks)?;
        }
        let domains = self.domains();
        for (rank, &from) in (0..).zip(&spec.hosts) {
            for to in spec.program.receivers_of(rank) {
                let to = spec.hosts[to as usize];
                if from != to && !domains.join(from, to) {
                    self.reachable(routes, from, to)?;
                }
            }
        }
        Ok(())
    }

    fn validate_ranks_of_host(&self, spec: &ProgramSpec, host: NodeId, ranks: &[u32]) -> Result<(), String> {
        let name = &self.nodes[host.index()].name;
        if ranks.len() >= RANKS_OF_HOST {
            return Err(format!(
                "{} ranks are on {name}; a host has fewer than {RANKS_OF_HOST}",
                ranks.len()
            ));
        }
        if self.scale_up.iter().any(|domain| domain.hosts.contains(&host)) {
            return Ok(());
        }
        for &rank in ranks {
            let peers = spec.program.receivers_of(rank);
            if let Some(other) = ranks.iter().find(|&&other| peers.contains(&other)) {
                return Err(format!(
                    "rank {rank} sends to rank {other}, and both are on {name}, which has no scale-up domain to \
                     carry that"
                ));
            }
        }
        Ok(())
    }
}
