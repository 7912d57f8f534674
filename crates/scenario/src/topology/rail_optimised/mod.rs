//! Rail-optimised networks of GPU nodes: GPU i of each node is linked to rail switch i.
//!
//! A segment (a scalable unit) is a group of nodes with rail switches of its own, one for each place in a
//! node (`gpus-per-node`); with fewer `rails`, neighbouring GPUs of a node share a switch, and with `rails =
//! 1` the switch is the `ToR` of a rack. Spines join the rail switches of a pod: each spine is linked to each
//! of them (two tiers). `cores` join the spines of several pods, each linked to each spine (three tiers).
//! With `planes = 2` each GPU's NIC has a port in each of two planes, which have rail switches and spines of
//! their own and meet at the cores only.
//!
//! Nodes are numbered from 1: hosts h, one for each GPU, node by node; rail switches t, pod by pod, segment
//! by segment, plane by plane; spines c, pod by pod, plane by plane; cores g. Hosts and their links are
//! tagged `node-<n>` and `rail-<i>` (the place in the node); hosts also `pod-<p>`, and with several
//! segments `segment-<s>`; switches and links of several planes `plane-<p>`. The first ports of a switch
//! lead up.

mod scaled;
#[cfg(test)]
mod tests;

use floodway_units::cast::whole;
use floodway_units::{Length, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::fabric::{Fabric, Generator, Names};
use super::network::{Hop, Network, TopologyError, count, groups};

pub(super) use scaled::Part;

/// Parameters of a rail-optimised network.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RailOptimised {
    /// Number of nodes of a segment, at least 1. No default.
    pub nodes: usize,
    /// GPUs of a node, each with its NIC, at least 1. Default: 8.
    #[serde(default)]
    pub gpus_per_node: Option<usize>,
    /// Number of rail switches of a segment, in each plane; it must divide `gpus-per-node`. Default:
    /// `gpus-per-node`.
    #[serde(default)]
    pub rails: Option<usize>,
    /// Number of planes, at least 1: each GPU has a link in each. Default: 1.
    #[serde(default)]
    pub planes: Option<usize>,
    /// Number of segments of a pod, at least 1. Default: 1.
    #[serde(default)]
    pub segments: Option<usize>,
    /// Number of pods, at least 1. Default: 1.
    #[serde(default)]
    pub pods: Option<usize>,
    /// Number of spines of a pod, in each plane, at least 1: there must be a path between any two hosts. No
    /// default.
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
    /// Oversubscription of the upper tiers, which sets the rates of their links. Default: none; these have
    /// the rates that are given.
    #[serde(default)]
    pub oversubscription: Oversubscription,
}

/// Rate of a switch's links downward over that of its links upward, by tier: 2 leaves each host half of its
/// rate when all send upward, and below 1 there is more above than below. Rates are rounded to 1 Mbit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Oversubscription {
    /// Of rail switches, above 0. Not together with `rail-spine.rate`. Default: by the rates of the links.
    pub rail_switch: Option<f64>,
    /// Of spines, above 0. Not together with `spine-core.rate`. Default: by the rates of the links.
    pub spine: Option<f64>,
}

/// Numbers of switches and hosts.
#[derive(Clone, Copy)]
struct Shape {
    nodes: usize,
    gpus: usize,
    rails: usize,
    planes: usize,
    segments: usize,
    pods: usize,
    spines: usize,
    cores: usize,
    parallel: usize,
}

/// Rate and delay of the links of each tier.
struct Tiers {
    gpu_rail: (Rate, Span),
    rail_spine: (Rate, Span),
    /// None without cores.
    spine_core: Option<(Rate, Span)>,
}

/// Numbers of nodes, segments and pods in the networks before this one.
struct Before {
    nodes: usize,
    segments: usize,
    pods: usize,
}

impl Generator for RailOptimised {
    fn fabric(&self, names: &mut Names, above: Hop) -> Result<Fabric, TopologyError> {
        let shape = self.shape()?;
        let tiers = self.tiers(&shape, above)?;
        let mut network = Network::default();
        network.room_for(shape.links())?;
        shape.add_hosts(&mut network, names)?;
        let rails = shape.add_rails(&mut network, names)?;
        let spines = shape.add_spines(&mut network, names)?;
        let cores = (0..shape.cores)
            .map(|_| network.switch(names.next("g"), &["core"]))
            .collect::<Result<Vec<_>, _>>()?;
        shape.add_links(&mut network, &rails, &spines, &cores, &tiers);
        let gateways = if cores.is_empty() { spines } else { cores };
        Ok(Fabric { network, gateways })
    }
}

impl RailOptimised {
    fn shape(&self) -> Result<Shape, TopologyError> {
        let one = |key, given: Option<usize>| count(key, given.unwrap_or(1), 1);
        let nodes = count("nodes", self.nodes, 1)?;
        let gpus = count("gpus-per-node", self.gpus_per_node.unwrap_or(8), 1)?;
        let rails = groups("rails", Some(self.rails.unwrap_or(gpus)), gpus, "GPUs of a node")?;
        let (planes, segments) = (one("planes", self.planes)?, one("segments", self.segments)?);
        let pods = one("pods", self.pods)?;
        let spines = count("spines", self.spines, 1).map_err(|error| {
            let why = "without spines no path leads from one rail to another";
            TopologyError { message: format!("{}; {why}", error.message), ..error }
        })?;
        let cores = count("cores", self.cores.unwrap_or(0), usize::from(pods > 1))?;
        let parallel = one("parallel", self.parallel)?;
        let shape = Shape { nodes, gpus, rails, planes, segments, pods, spines, cores, parallel };
        count("nodes", shape.hosts(), 1)?;
        Ok(shape)
    }

    fn tiers(&self, shape: &Shape, above: Hop) -> Result<Tiers, TopologyError> {
        let common = Hop { rate: self.rate, delay: self.delay, length: self.length }.or(above);
        let gpu_rail = self.gpu_rail.tier("gpu-rail", common)?;
        let Oversubscription { rail_switch, spine } = self.oversubscription;
        let downward = gpu_rail.0.0 as f64 * shape.gpus_of_rail() as f64;
        let upward = shape.spines * shape.parallel;
        let rail_spine = Upward { tier: "rail-spine", hop: self.rail_spine, links: upward, downward }
            .resolve("rail-switch", rail_switch, common)?;
        if shape.cores == 0 {
            if spine.is_some() {
                let why = "there are no links above the spines; with cores = 1 or more there are";
                return Err(TopologyError::new("spine", why).below("oversubscription"));
            }
            return Ok(Tiers { gpu_rail, rail_spine, spine_core: None });
        }
        let downward = rail_spine.0.0 as f64 * (shape.rails_of_plane() * shape.parallel) as f64;
        let spine_core = Upward { tier: "spine-core", hop: self.spine_core, links: shape.cores, downward }
            .resolve("spine", spine, common)?;
        Ok(Tiers { gpu_rail, rail_spine, spine_core: Some(spine_core) })
    }
}

/// The links of a switch that lead upward.
struct Upward {
    tier: &'static str,
    hop: Hop,
    links: usize,
    /// Rate of all its links that lead downward, in bit/s.
    downward: f64,
}

impl Upward {
    /// Their rate and delay; `ratio` is their oversubscription, where it is given.
    fn resolve(self, key: &str, ratio: Option<f64>, common: Hop) -> Result<(Rate, Span), TopologyError> {
        let Upward { tier, hop, links, downward } = self;
        let Some(ratio) = ratio else { return hop.tier(tier, common) };
        let refuse = |why: String| Err(TopologyError::new(key, why).below("oversubscription"));
        if hop.rate.is_some() {
            return refuse(format!("give either this or {tier}.rate, not both"));
        }
        if !(ratio.is_finite() && ratio > 0.0) {
            return refuse(format!("{ratio} is not a number above 0"));
        }
        let mbps = (downward / (ratio * links as f64) / 1e6).round();
        if !(1.0..=1e9).contains(&mbps) {
            return refuse(format!("with {ratio} a link of {tier} would have {mbps} Mbit/s"));
        }
        Hop { rate: Some(Rate::mbps(whole(mbps))), ..hop }.tier(tier, common)
    }
}

impl Shape {
    fn hosts(&self) -> usize {
        [self.pods, self.segments, self.nodes, self.gpus].into_iter().fold(1, usize::saturating_mul)
    }

    /// GPUs at a rail switch.
    fn gpus_of_rail(&self) -> usize {
        self.nodes.saturating_mul(self.gpus / self.rails)
    }

    /// Rail switches of a plane of a pod.
    fn rails_of_plane(&self) -> usize {
        self.segments.saturating_mul(self.rails)
    }

    /// Planes of all pods.
    fn all_planes(&self) -> usize {
        self.pods.saturating_mul(self.planes)
    }

    fn links(&self) -> usize {
        let of_rail = self.spines.saturating_mul(self.parallel);
        let upward = self.rails_of_plane().saturating_mul(of_rail);
        let of_cores = self.spines.saturating_mul(self.cores);
        let above = self.all_planes().saturating_mul(upward.saturating_add(of_cores));
        self.hosts().saturating_mul(self.planes).saturating_add(above)
    }

    fn add_hosts(&self, network: &mut Network, names: &mut Names) -> Result<(), TopologyError> {
        let nodes_of_pod = self.nodes * self.segments;
        let before = Before {
            nodes: names.before("node", self.pods * nodes_of_pod),
            segments: names.before("segment", self.pods * self.segments),
            pods: names.before("pod", self.pods),
        };
        for host in 0..self.hosts() {
            let at = host / self.gpus;
            let mut tags = vec![
                "host".to_owned(),
                format!("node-{}", before.nodes + at + 1),
                format!("rail-{}", host % self.gpus + 1),
            ];
            if self.segments > 1 {
                tags.push(format!("segment-{}", before.segments + at / self.nodes + 1));
            }
            tags.push(format!("pod-{}", before.pods + at / nodes_of_pod + 1));
            let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
            network.host(names.next("h"), &tags)?;
        }
        Ok(())
    }

    /// The rail switches: by pod, segment, plane, place.
    fn add_rails(&self, network: &mut Network, names: &mut Names) -> Result<Vec<usize>, TopologyError> {
        let all = self.all_planes() * self.rails_of_plane();
        (0..all)
            .map(|i| {
                let plane = self.plane_tag(i / self.rails % self.planes);
                let tags: Vec<&str> = std::iter::once("rail-switch").chain(plane.as_deref()).collect();
                network.switch(names.next("t"), &tags)
            })
            .collect()
    }

    /// The spines: by pod, plane.
    fn add_spines(&self, network: &mut Network, names: &mut Names) -> Result<Vec<usize>, TopologyError> {
        (0..self.all_planes() * self.spines)
            .map(|i| {
                let plane = self.plane_tag(i / self.spines % self.planes);
                let tags: Vec<&str> = std::iter::once("spine").chain(plane.as_deref()).collect();
                network.switch(names.next("c"), &tags)
            })
            .collect()
    }

    /// From the top down, so that the first ports of a switch lead upward. Hosts are the first nodes.
    fn add_links(
        &self,
        network: &mut Network,
        rails: &[usize],
        spines: &[usize],
        cores: &[usize],
        tiers: &Tiers,
    ) {
        for (i, &spine) in spines.iter().enumerate() {
            let Some(spine_core) = tiers.spine_core else { break };
            for &core in cores {
                self.link(network, [spine, core], "spine-core", i / self.spines % self.planes, spine_core);
            }
        }
        for (i, &rail) in rails.iter().enumerate() {
            let plane = i / self.rails % self.planes;
            let pod = i / (self.rails * self.planes * self.segments);
            let above = &spines[(pod * self.planes + plane) * self.spines..][..self.spines];
            for &spine in above.iter().flat_map(|spine| std::iter::repeat_n(spine, self.parallel)) {
                self.link(network, [rail, spine], "rail-spine", plane, tiers.rail_spine);
            }
        }
        for host in 0..self.hosts() {
            let segment = host / (self.gpus * self.nodes);
            let place = host % self.gpus / (self.gpus / self.rails);
            for plane in 0..self.planes {
                let rail = rails[(segment * self.planes + plane) * self.rails + place];
                self.link(network, [host, rail], "gpu-rail", plane, tiers.gpu_rail);
            }
        }
        network.tag_links_of_hosts();
    }

    fn link(&self, network: &mut Network, ends: [usize; 2], tier: &str, plane: usize, hop: (Rate, Span)) {
        let plane = self.plane_tag(plane);
        let tags: Vec<&str> = std::iter::once(tier).chain(plane.as_deref()).collect();
        network.link(ends, &tags, hop);
    }

    /// The tag of a plane, where there are several.
    fn plane_tag(&self, plane: usize) -> Option<String> {
        (self.planes > 1).then(|| format!("plane-{}", plane + 1))
    }
}
