//! Fat trees: pods of `ToR` and aggregation switches, and cores above them. `FatTree(k)` has k pods, each of
//! k/2 `ToR` and k/2 aggregation switches, and (k/2)² cores.
//!
//! Aggregation switch i of each pod is linked to the cores (i, j), j from 0 to `cores-per-agg` - 1. Nodes are
//! numbered from 1: hosts h, `ToR` t, aggregation a, cores c; `ToR` and aggregation switches pod by pod,
//! hosts `ToR` by `ToR`, core (i, j) is c(i·`cores-per-agg` + j + 1). The first ports of a switch lead
//! upward. With `homes` `ToR` for each host, that many consecutive `ToR` of a pod share their hosts.

use std::iter::repeat_n;

use floodway_units::{Length, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::fabric::{Fabric, Generator, Names};
use super::network::{Hop, Network, TopologyError, count, groups};

/// Parameters of a fat tree.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FatTree {
    /// Ports of a switch, even, from 2 to 256; the numbers below follow from it where they are not given.
    /// Default: none, and then `pods`, `tors-per-pod`, `aggs-per-pod`, `cores-per-agg` and `hosts-per-tor`
    /// must be given.
    pub k: Option<usize>,
    /// Number of pods, at least 1. Default: k.
    pub pods: Option<usize>,
    /// Number of `ToR` of each pod, at least 1. Default: k/2.
    pub tors_per_pod: Option<usize>,
    /// Number of aggregation switches of each pod, at least 1. Default: k/2.
    pub aggs_per_pod: Option<usize>,
    /// Number of cores above each aggregation switch, at least 1; the total number of cores is `aggs-per-pod`
    /// times this. Default: k/2.
    pub cores_per_agg: Option<usize>,
    /// Number of hosts linked to each `ToR`, at least 1. Default: k/2.
    pub hosts_per_tor: Option<usize>,
    /// Number of `ToR` of its pod to which each host is linked: that many consecutive `ToR` share their
    /// hosts. It must divide `tors-per-pod`. Default: 1.
    pub homes: Option<usize>,
    /// Rate of links whose tier has none of its own. No default.
    pub rate: Option<Rate>,
    /// Delay of links whose tier has none of its own. Not together with `length`.
    pub delay: Option<Span>,
    /// Length of links whose tier has none of its own, at 5 us/km. Not together with `delay`.
    pub length: Option<Length>,
    /// Links between hosts and `ToR`. Default: rate and delay of the topology.
    pub host_tor: Hop,
    /// Links between `ToR` and aggregation switches. Default: rate and delay of the topology.
    pub tor_agg: Hop,
    /// Links between aggregation switches and cores. Default: rate and delay of the topology.
    pub agg_core: Hop,
    /// Number of parallel links between each `ToR` and each aggregation switch of its pod, at least 1.
    /// Default: 1.
    pub parallel_tor_agg: Option<usize>,
    /// Number of parallel links between each aggregation switch and each of its cores, at least 1.
    /// Default: 1.
    pub parallel_agg_core: Option<usize>,
}

/// Numbers of switches and hosts.
struct Shape {
    pods: usize,
    /// In a pod.
    tors: usize,
    /// In a pod.
    aggs: usize,
    /// Above an aggregation switch.
    cores: usize,
    /// At a `ToR`.
    hosts: usize,
    homes: usize,
    /// Parallel links between two switches.
    parallel: Parallel,
    /// Number of pods in the fabrics before this one.
    before: usize,
}

/// Links between two switches, by tier.
struct Parallel {
    tor_agg: usize,
    agg_core: usize,
}

/// Indices of the switches.
#[derive(Default)]
struct Switches {
    tors: Vec<usize>,
    aggs: Vec<usize>,
    cores: Vec<usize>,
}

/// Rates and delays by tier.
struct Tiers {
    agg_core: (Rate, Span),
    tor_agg: (Rate, Span),
    host_tor: (Rate, Span),
}

impl Generator for FatTree {
    fn fabric(&self, names: &mut Names, above: Hop) -> Result<Fabric, TopologyError> {
        let shape = self.shape(names)?;
        let common = Hop { rate: self.rate, delay: self.delay, length: self.length }.or(above);
        let tiers = Tiers {
            agg_core: self.agg_core.tier("agg-core", common)?,
            tor_agg: self.tor_agg.tier("tor-agg", common)?,
            host_tor: self.host_tor.tier("host-tor", common)?,
        };
        let mut network = Network::default();
        network.room_for(shape.links())?;
        let switches = shape.add_nodes(&mut network, names)?;
        shape.add_links(&mut network, &switches, &tiers);
        Ok(Fabric { network, gateways: switches.cores })
    }
}

impl FatTree {
    fn shape(&self, names: &mut Names) -> Result<Shape, TopologyError> {
        let half = self.half()?;
        let number =
            |key: &str, given: Option<usize>, default: usize| count(key, given.unwrap_or(default), 1);
        let pods = number("pods", self.pods, 2 * half)?;
        let tors = number("tors-per-pod", self.tors_per_pod, half)?;
        let hosts = number("hosts-per-tor", self.hosts_per_tor, half)?;
        let homes = groups("homes", self.homes, tors, "ToR of a pod")?;
        let all_hosts = pods.saturating_mul(tors / homes).saturating_mul(hosts);
        count("hosts-per-tor", all_hosts, 1)?;
        Ok(Shape {
            pods,
            tors,
            aggs: number("aggs-per-pod", self.aggs_per_pod, half)?,
            cores: number("cores-per-agg", self.cores_per_agg, half)?,
            hosts,
            homes,
            parallel: Parallel {
                tor_agg: number("parallel-tor-agg", self.parallel_tor_agg, 1)?,
                agg_core: number("parallel-agg-core", self.parallel_agg_core, 1)?,
            },
            before: names.before("pod", pods),
        })
    }

    /// k/2; 0 where k is missing and all numbers that depend on it are given.
    fn half(&self) -> Result<usize, TopologyError> {
        match self.k {
            Some(k) if k < 2 || k % 2 == 1 || k > 256 => {
                Err(TopologyError::new("k", format!("{k} is not an even number from 2 to 256")))
            }
            Some(k) => Ok(k / 2),
            None => self.nothing_is_missing().map(|()| 0),
        }
    }

    fn nothing_is_missing(&self) -> Result<(), TopologyError> {
        let numbers = [
            ("pods", self.pods),
            ("tors-per-pod", self.tors_per_pod),
            ("aggs-per-pod", self.aggs_per_pod),
            ("cores-per-agg", self.cores_per_agg),
            ("hosts-per-tor", self.hosts_per_tor),
        ];
        let missing: Vec<&str> =
            numbers.iter().filter(|(_, number)| number.is_none()).map(|(key, _)| *key).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let message = format!("the key \"k\" is missing; without it also give {}", missing.join(", "));
        Err(TopologyError::new("", message))
    }
}

impl Shape {
    fn links(&self) -> usize {
        let (tors, cores) = (
            self.tors.saturating_mul(self.parallel.tor_agg),
            self.cores.saturating_mul(self.parallel.agg_core),
        );
        let up = tors.saturating_add(cores).saturating_mul(self.aggs);
        let of_pod = self.tors.saturating_mul(self.hosts).saturating_add(up);
        self.pods.saturating_mul(of_pod)
    }

    /// Hosts of a pod.
    fn hosts_of_pod(&self) -> usize {
        self.tors / self.homes * self.hosts
    }

    fn pod(&self, pod: usize) -> String {
        format!("pod-{}", self.before + pod + 1)
    }

    /// Hosts, cores, all aggregation switches, all `ToR`.
    fn add_nodes(&self, network: &mut Network, names: &mut Names) -> Result<Switches, TopologyError> {
        for host in 0..self.pods * self.hosts_of_pod() {
            network.host(names.next("h"), &["host", &self.pod(host / self.hosts_of_pod())])?;
        }
        let mut switches = Switches::default();
        for _ in 0..self.aggs.saturating_mul(self.cores) {
            switches.cores.push(network.switch(names.next("c"), &["core"])?);
        }
        for agg in 0..self.pods.saturating_mul(self.aggs) {
            let tags = ["agg", &self.pod(agg / self.aggs)];
            switches.aggs.push(network.switch(names.next("a"), &tags)?);
        }
        for tor in 0..self.pods.saturating_mul(self.tors) {
            let tags = ["tor", &self.pod(tor / self.tors)];
            switches.tors.push(network.switch(names.next("t"), &tags)?);
        }
        Ok(switches)
    }

    /// From the top down, so that the first ports of a switch lead upward. Hosts are the first nodes.
    fn add_links(&self, network: &mut Network, switches: &Switches, tiers: &Tiers) {
        for (i, &agg) in switches.aggs.iter().enumerate() {
            let cores = &switches.cores[i % self.aggs * self.cores..][..self.cores];
            for &core in cores.iter().flat_map(|core| repeat_n(core, self.parallel.agg_core)) {
                network.link([agg, core], &["agg-core", &self.pod(i / self.aggs)], tiers.agg_core);
            }
        }
        for (i, &tor) in switches.tors.iter().enumerate() {
            let aggs = &switches.aggs[i / self.tors * self.aggs..][..self.aggs];
            for &agg in aggs.iter().flat_map(|agg| repeat_n(agg, self.parallel.tor_agg)) {
                network.link([tor, agg], &["tor-agg", &self.pod(i / self.tors)], tiers.tor_agg);
            }
        }
        for host in 0..self.pods * self.hosts_of_pod() {
            let pod = self.pod(host / self.hosts_of_pod());
            for &tor in &switches.tors[host / self.hosts * self.homes..][..self.homes] {
                network.link([host, tor], &["host-tor", &pod], tiers.host_tor);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::ports;
    use super::*;

    fn fat_tree(k: usize) -> Network {
        let hop = (Some(Rate::gbps(100)), Some(Span::us(1)));
        FatTree { k: Some(k), rate: hop.0, delay: hop.1, ..FatTree::default() }
            .build()
            .expect("it is a fat tree")
    }

    #[test]
    fn it_has_the_nodes_and_links_of_the_formula() {
        for k in [2, 4, 8] {
            let network = fat_tree(k);
            let hosts = network.nodes.iter().filter(|node| node.is_host).count();
            assert_eq!(hosts, k * k * k / 4);
            assert_eq!(network.nodes.len() - hosts, k * k + k * k / 4);
            assert_eq!(network.links.len(), 3 * k * k * k / 4);
            network.check().expect("it hangs together");
        }
    }

    #[test]
    fn cores_one_and_two_go_to_the_first_aggregation_switch_of_each_pod() {
        let network = fat_tree(4);
        let linked = |name: &str| network.links.iter().any(|link| link.name == name);
        for pod in 0..4 {
            let (first, second) = (2 * pod + 1, 2 * pod + 2);
            assert!(linked(&format!("a{first}-c1")) && linked(&format!("a{first}-c2")));
            assert!(linked(&format!("a{second}-c3")) && linked(&format!("a{second}-c4")));
            assert!(linked(&format!("t{first}-a{second}")) && linked(&format!("t{second}-a{first}")));
        }
        assert!(linked("h1-t1") && linked("h2-t1") && linked("h16-t8"));
    }

    #[test]
    fn odd_k_and_missing_rates_are_refused() {
        let error = |tree: FatTree| tree.build().unwrap_err().message;
        assert!(error(FatTree { k: Some(5), ..FatTree::default() }).contains("even"));
        assert!(error(FatTree { k: Some(4), ..FatTree::default() }).contains("\"rate\" is missing"));
        let both = FatTree {
            k: Some(4),
            rate: Some(Rate::gbps(1)),
            delay: Some(Span::us(1)),
            length: Some(Length(5)),
            ..FatTree::default()
        };
        assert!(error(both).contains("not both"));
    }

    fn general() -> FatTree {
        FatTree {
            pods: Some(2),
            tors_per_pod: Some(4),
            aggs_per_pod: Some(3),
            cores_per_agg: Some(1),
            hosts_per_tor: Some(2),
            rate: Some(Rate::gbps(100)),
            delay: Some(Span::us(1)),
            ..FatTree::default()
        }
    }

    #[test]
    fn every_number_may_be_given() {
        let network = general().build().expect("it is a fat tree");
        let of = |letter: &str| network.nodes.iter().filter(|node| node.name.starts_with(letter)).count();
        assert_eq!((of("h"), of("t"), of("a"), of("c")), (16, 8, 6, 3));
        assert_eq!(ports(&network, "t5"), ["t5-a4", "t5-a5", "t5-a6", "h9-t5", "h10-t5"]);
        assert_eq!(ports(&network, "a4"), ["a4-c1", "t5-a4", "t6-a4", "t7-a4", "t8-a4"]);
        assert_eq!(ports(&network, "c3"), ["a3-c3", "a6-c3"]);
        assert_eq!(network.shortest_paths(0, 15), 3);
    }

    #[test]
    fn parallel_links_multiply_the_paths_of_each_tier() {
        let parallel = FatTree { parallel_tor_agg: Some(2), parallel_agg_core: Some(3), ..general() };
        let network = parallel.build().expect("it is a fat tree");
        assert_eq!(network.links.len(), 8 * 2 + 8 * 3 * 2 + 6 * 3);
        // Two links up, three to and from the core of each of three aggregation switches, two down.
        assert_eq!(network.shortest_paths(0, 15), 3 * 2 * 3 * 3 * 2);
        let none = FatTree { parallel_agg_core: Some(0), ..general() };
        assert_eq!(none.build().unwrap_err().path, ["parallel-agg-core"]);
    }

    #[test]
    fn hosts_may_have_several_tor_of_their_pod() {
        let network = FatTree { homes: Some(2), ..general() }.build().expect("it is a fat tree");
        assert_eq!(network.nodes.iter().filter(|node| node.is_host).count(), 8);
        assert_eq!(ports(&network, "h5"), ["h5-t5", "h5-t6"]);
        assert_eq!(ports(&network, "t6"), ["t6-a4", "t6-a5", "t6-a6", "h5-t6", "h6-t6"]);
        assert_eq!(network.nodes[4].tags, ["host", "pod-2"]);
        // Two ToR, three aggregation switches with a core each, two ToR.
        assert_eq!(network.shortest_paths(0, 4), 12);
    }

    #[test]
    fn what_is_missing_without_k_is_named() {
        let error = |tree: FatTree| {
            let error = tree.build().unwrap_err();
            (error.path.join("."), error.message)
        };
        let some = FatTree { pods: None, hosts_per_tor: None, ..general() };
        let due = "the key \"k\" is missing; without it also give pods, hosts-per-tor";
        assert_eq!(error(some), (String::new(), due.to_owned()));
        let due = "4 ToR of a pod cannot be divided into groups of 3";
        assert_eq!(error(FatTree { homes: Some(3), ..general() }), ("homes".into(), due.into()));
        assert_eq!(error(FatTree { pods: Some(0), ..general() }).0, "pods");
        let most = FatTree { aggs_per_pod: Some(1 << 19), ..general() };
        assert_eq!(error(most).1, "it has more than 1048576 links");
    }
}
