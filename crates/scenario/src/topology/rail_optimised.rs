//! Rail-optimised networks of GPU nodes: GPU i of each node is linked to rail switch i.
//!
//! A pod has a rail switch for each place in a node (`gpus-per-node`), to which the GPUs in that place of all
//! nodes of the pod are linked. Spines join the rail switches: with `pods = 1` each spine is linked to each
//! rail switch (two tiers), else each pod has `spines` of its own, and `cores` join the spines of all pods
//! (three tiers).
//!
//! Nodes are numbered from 1: hosts h, one for each GPU, node by node; rail switches t, pod by pod; spines c;
//! cores g. Hosts are tagged `node-<n>` and `rail-<i>`. The first ports of a switch lead upward.

use floodway_units::{Length, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::fabric::{Fabric, Generator, Names};
use super::network::{Hop, Network, TopologyError, count};

/// Parameters of a rail-optimised network.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RailOptimised {
    /// Number of nodes of a pod, at least 1. No default.
    pub nodes: usize,
    /// GPUs of a node, each with its NIC, and rail switches of a pod, at least 1. Default: 8.
    #[serde(default)]
    pub gpus_per_node: Option<usize>,
    /// Number of pods, at least 1. Default: 1.
    #[serde(default)]
    pub pods: Option<usize>,
    /// Number of spines of a pod, at least 1. No default.
    pub spines: usize,
    /// Number of cores that join the pods, each linked to each spine; at least 1 with several pods. Default:
    /// 0.
    #[serde(default)]
    pub cores: Option<usize>,
    /// Rate of links whose tier has none of its own. No default.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Delay of links whose tier has none of its own. Not together with `length`.
    #[serde(default)]
    pub delay: Option<Span>,
    /// Length of links whose tier has none of its own, at 5 us/km. Not together with `delay`.
    #[serde(default)]
    pub length: Option<Length>,
    /// Links between GPUs and rail switches. Default: rate and delay of the topology.
    #[serde(default)]
    pub gpu_rail: Hop,
    /// Links between rail switches and spines. Default: rate and delay of the topology.
    #[serde(default)]
    pub rail_spine: Hop,
    /// Links between spines and cores. Default: rate and delay of the topology.
    #[serde(default)]
    pub spine_core: Hop,
    /// Number of parallel links between each rail switch and each spine, at least 1. Default: 1.
    #[serde(default)]
    pub parallel: Option<usize>,
}

/// Numbers of switches and hosts.
struct Shape {
    nodes: usize,
    gpus: usize,
    pods: usize,
    spines: usize,
    cores: usize,
    parallel: usize,
    /// Number of nodes, and of pods, in the networks before this one.
    before: usize,
    pods_before: usize,
}

impl Generator for RailOptimised {
    fn fabric(&self, names: &mut Names, above: Hop) -> Result<Fabric, TopologyError> {
        let shape = self.shape(names)?;
        let common = Hop { rate: self.rate, delay: self.delay, length: self.length }.or(above);
        let gpu_rail = self.gpu_rail.tier("gpu-rail", common)?;
        let rail_spine = self.rail_spine.tier("rail-spine", common)?;
        let spine_core = self.spine_core.tier("spine-core", common)?;
        let mut network = Network::default();
        network.room_for(shape.links())?;
        shape.add_hosts(&mut network, names)?;
        let mut switches = |stem, tag, count: usize| {
            (0..count).map(|_| network.switch(names.next(stem), &[tag])).collect::<Result<Vec<_>, _>>()
        };
        let rails = switches("t", "rail-switch", shape.pods * shape.gpus)?;
        let spines = switches("c", "spine", shape.pods * shape.spines)?;
        let cores = switches("g", "core", shape.cores)?;
        for &spine in &spines {
            for &core in &cores {
                network.link([spine, core], &["spine-core"], spine_core);
            }
        }
        for (i, &rail) in rails.iter().enumerate() {
            let pod = i / shape.gpus;
            let of_pod = &spines[pod * shape.spines..(pod + 1) * shape.spines];
            for &spine in of_pod.iter().flat_map(|spine| std::iter::repeat_n(spine, shape.parallel)) {
                network.link([rail, spine], &["rail-spine"], rail_spine);
            }
        }
        for host in 0..shape.hosts() {
            let pod = host / (shape.nodes * shape.gpus);
            let rail = rails[pod * shape.gpus + host % shape.gpus];
            network.link([host, rail], &["gpu-rail"], gpu_rail);
        }
        let gateways = if cores.is_empty() { spines } else { cores };
        Ok(Fabric { network, gateways })
    }
}

impl RailOptimised {
    fn shape(&self, names: &mut Names) -> Result<Shape, TopologyError> {
        let nodes = count("nodes", self.nodes, 1)?;
        let gpus = count("gpus-per-node", self.gpus_per_node.unwrap_or(8), 1)?;
        let pods = count("pods", self.pods.unwrap_or(1), 1)?;
        let spines = count("spines", self.spines, 1)?;
        let cores = count("cores", self.cores.unwrap_or(0), usize::from(pods > 1))?;
        count("nodes", pods.saturating_mul(nodes).saturating_mul(gpus), 1)?;
        let parallel = count("parallel", self.parallel.unwrap_or(1), 1)?;
        let (before, pods_before) = (names.before("node", pods * nodes), names.before("pod", pods));
        Ok(Shape { nodes, gpus, pods, spines, cores, parallel, before, pods_before })
    }
}

impl Shape {
    fn hosts(&self) -> usize {
        self.pods * self.nodes * self.gpus
    }

    fn links(&self) -> usize {
        let rails = self.pods * self.gpus;
        let up = rails.saturating_mul(self.spines).saturating_mul(self.parallel);
        let cores = (self.pods * self.spines).saturating_mul(self.cores);
        self.hosts().saturating_add(up).saturating_add(cores)
    }

    fn add_hosts(&self, network: &mut Network, names: &mut Names) -> Result<(), TopologyError> {
        for host in 0..self.hosts() {
            let node = format!("node-{}", self.before + host / self.gpus + 1);
            let rail = format!("rail-{}", host % self.gpus + 1);
            let pod = format!("pod-{}", self.pods_before + host / (self.nodes * self.gpus) + 1);
            network.host(names.next("h"), &["host", &node, &rail, &pod])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::ports;
    use super::*;

    fn rails(nodes: usize, pods: usize, spines: usize, cores: usize) -> RailOptimised {
        let (rate, delay) = (Some(Rate::gbps(400)), Some(Span::ns(500)));
        let (pods, cores) = (Some(pods), Some(cores));
        RailOptimised {
            nodes,
            gpus_per_node: Some(4),
            pods,
            spines,
            cores,
            rate,
            delay,
            ..Default::default()
        }
    }

    #[test]
    fn each_gpu_is_linked_to_its_rail() {
        let network = rails(3, 1, 2, 0).build().expect("it is a network");
        assert_eq!(network.nodes.iter().filter(|node| node.is_host).count(), 12);
        assert_eq!(ports(&network, "t2"), ["t2-c1", "t2-c2", "h2-t2", "h6-t2", "h10-t2"]);
        assert_eq!(network.nodes[5].tags, ["host", "node-2", "rail-2", "pod-1"]);
        let of_rail = [network.find("h1"), network.find("h5")].map(|node| node.expect("it is there"));
        assert_eq!(network.shortest_paths(of_rail[0], of_rail[1]), 1);
        assert_eq!(network.distances(of_rail[0])[of_rail[1]], 2);
    }

    #[test]
    fn pods_meet_at_the_cores() {
        let network = rails(2, 2, 2, 3).build().expect("it is a network");
        assert_eq!(ports(&network, "c3"), ["c3-g1", "c3-g2", "c3-g3", "t5-c3", "t6-c3", "t7-c3", "t8-c3"]);
        let ends = [network.find("h1"), network.find("h9")].map(|node| node.expect("it is there"));
        assert_eq!(network.shortest_paths(ends[0], ends[1]), 2 * 3 * 2);
    }

    #[test]
    fn several_pods_need_spines_and_cores() {
        let why = |of: RailOptimised| of.build().expect_err("it is refused").message;
        assert!(why(rails(2, 2, 0, 0)).contains("0 is not a number from 1"));
        assert!(why(rails(2, 2, 1, 0)).contains("0 is not a number from 1"));
    }
}
