//! Scale-up domains: those of the scenario's GPU nodes, and of published AI clusters.

use floodway_fabric::blueprint::ScaleUp;
use floodway_units::cast::narrow;
use floodway_units::{NodeId, Rate, Span};

use super::jobs::RankAt;
use super::map::Map;
use super::{Builder, workload_path};
use crate::grammar::gpu_nodes::{ScaleUpKeys, ScaleUpOrNone};
use crate::topology::{Network, Node, cluster_of};
use crate::workload::Workload;

/// A time of a scale-up domain that is not given.
const LATENCY: Span = Span::us(1);

impl Builder<'_> {
    /// Whether the scenario says that there are no scale-up domains.
    fn forgoes_scale_up(&self) -> bool {
        self.document.gpu_nodes.and_then(|keys| keys.scale_up) == Some(ScaleUpOrNone::None)
    }

    /// By node, the keys of a host's scale-up domain: the scenario's, before those of the published cluster
    /// that the host belongs to, or of the topology's file.
    pub(super) fn scale_up_keys(&self, network: &Network) -> Vec<Option<ScaleUpKeys>> {
        let own = self.document.gpu_nodes.and_then(|keys| keys.scale_up);
        let clusters = self.document.topology.clusters();
        let keys = |node: &Node| {
            if !node.is_host {
                return None;
            }
            let published = cluster_of(&clusters, &node.tags).and_then(|preset| preset.scale_up);
            let published = published.or(network.scale_up);
            match own {
                Some(ScaleUpOrNone::None) => None,
                Some(ScaleUpOrNone::Of(keys)) => Some(keys.or(published.unwrap_or_default())),
                None => published,
            }
        };
        network.nodes.iter().map(keys).collect()
    }

    /// The scale-up domains of the network by the keys of its nodes; GPU nodes are checked in any case.
    pub(super) fn scale_up(&mut self, network: &Network, keys: &[Option<ScaleUpKeys>]) -> Vec<ScaleUp> {
        let Some(first) = keys.iter().flatten().next() else { return Vec::new() };
        let Some(gpus) = self.gpus(network) else { return Vec::new() };
        let path = |key| ["gpu-nodes", "scale-up", key];
        let mut rates = keys.iter().flatten().map(|keys| keys.rate);
        let nodes = first.nodes.unwrap_or(1);
        if rates.clone().any(|rate| rate == Some(Rate(0))) {
            self.fault(&path("rate"), "0 is not allowed; write a rate above 0");
        } else if rates.any(|rate| rate.is_none()) {
            let why = "the key \"rate\" is missing: write the rate of a GPU's port, like \"3600G\"";
            self.fault(&["gpu-nodes", "scale-up"], why);
        } else if nodes == 0 {
            self.fault(&path("nodes"), "0 is not allowed; the minimum is 1");
        } else {
            let size = nodes.saturating_mul(gpus.hosts_per_node());
            if self.check_nodes(&gpus, size, &path("nodes"), network).is_some() {
                let hosts: Vec<usize> =
                    (0..network.nodes.len()).filter(|&node| network.nodes[node].is_host).collect();
                return hosts.chunks(size as usize).filter_map(|hosts| domain(hosts, keys)).collect();
            }
        }
        Vec::new()
    }

    /// Says that ranks of a node have no scale-up domain, unless the scenario does.
    pub(super) fn warn_of_no_scale_up(
        &mut self,
        (workload, table): (&Workload, &str),
        ranks: &[RankAt],
        map: &Map<'_>,
    ) {
        let without = ranks.iter().filter(|rank| map.scale_up[rank.host].is_none());
        let mut nodes: Vec<u32> = without.map(|rank| rank.node).collect();
        nodes.sort_unstable();
        let shared = nodes.windows(2).any(|pair| pair[0] == pair[1]);
        if shared && !self.forgoes_scale_up() {
            let why = "its ranks share nodes, which have no scale-up domain (NVLink): messages within a node are packets \
                       of the network. \"gpu-nodes.scale-up\" gives nodes one, or says with \"none\" that they have \
                       none";
            self.warn_at(&workload_path(workload, table), why);
            self.warned_of_no_scale_up = true;
        }
    }
}

/// A domain of these hosts, if they have one.
fn domain(hosts: &[usize], keys: &[Option<ScaleUpKeys>]) -> Option<ScaleUp> {
    let ScaleUpKeys { rate, latency, .. } = keys[*hosts.first()?]?;
    Some(ScaleUp {
        hosts: hosts.iter().map(|&host| NodeId(narrow(host))).collect(),
        rate: rate?,
        latency: latency.unwrap_or(LATENCY),
    })
}
