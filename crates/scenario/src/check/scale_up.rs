//! Scale-up domains of GPU nodes.

use floodway_units::NodeId;
use serde::Serialize;

use super::counted;
use crate::grammar::gpu_nodes::ScaleUpOrNone;
use crate::scenario::Scenario;
use crate::topology::cluster_of;

/// Equal scale-up domains.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScaleUpGroup {
    /// What gives them: the name of a published cluster, or the key "gpu-nodes".
    pub from: String,
    /// How many.
    pub count: usize,
    /// Hosts of each.
    pub hosts: usize,
    /// Rate of a GPU's port.
    pub rate_gbps: f64,
    /// From the first byte's start to its arrival.
    pub latency_us: f64,
}

/// The domains of a scenario.
pub(super) fn groups(scenario: &Scenario) -> Vec<ScaleUpGroup> {
    let own = scenario.document().gpu_nodes.and_then(|keys| keys.scale_up);
    let clusters = scenario.document().topology.clusters();
    let nodes = &scenario.blueprint().nodes;
    let from = |host: NodeId| {
        let cluster = cluster_of(&clusters, &nodes[host.index()].tags).filter(|_| own.is_none());
        cluster.map_or("gpu-nodes", |preset| &preset.name).to_owned()
    };
    let domains = scenario.blueprint().scale_up.iter();
    let keys = domains.map(|of| (from(of.hosts[0]), of.hosts.len(), of.rate, of.latency));
    let group = |((from, hosts, rate, latency), count): ((String, usize, _, _), usize)| {
        let (rate, latency): (floodway_units::Rate, floodway_units::Span) = (rate, latency);
        ScaleUpGroup { from, count, hosts, rate_gbps: rate.as_gbps(), latency_us: latency.as_us() }
    };
    counted(keys).into_iter().map(group).collect()
}

/// What a network of GPU nodes without scale-up domains means, unless a warning says it.
pub(super) fn without(scenario: &Scenario) -> Option<String> {
    let blueprint = scenario.blueprint();
    let own = scenario.document().gpu_nodes.and_then(|keys| keys.scale_up);
    let in_nodes = |tags: &[String]| tags.iter().any(|tag| tag.starts_with("node-"));
    let there = blueprint.nodes.iter().any(|node| in_nodes(&node.tags));
    if !blueprint.scale_up.is_empty() || !there || scenario.built().warned_of_no_scale_up {
        return None;
    }
    let why = if own == Some(ScaleUpOrNone::None) { " (gpu-nodes.scale-up = \"none\")" } else { "" };
    Some(format!(
        "GPU nodes have no scale-up domain (NVLink){why}: messages within a node are packets of the network"
    ))
}
