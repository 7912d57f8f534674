//! FatTree(k): k pods, each of k/2 `ToR` and k/2 aggregation switches, and (k/2)² cores.
//!
//! Core (i, j) is linked to aggregation switch i of each pod, i and j from 0 to k/2 - 1. Nodes are numbered
//! from 1: hosts h, `ToR` t, aggregation a, cores c; `ToR` and aggregation switches pod by pod, hosts `ToR` by
//! `ToR`, core (i, j) is c(i·k/2 + j + 1).

use floodway_units::{Length, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::network::{Hop, Network, TopologyError, count};

/// Parameters of a fat tree.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FatTree {
    /// Ports of a switch, even.
    pub k: usize,
    /// Hosts of each `ToR`. Default: k/2.
    pub hosts_per_tor: Option<usize>,
    /// Rate of links whose tier says none.
    pub rate: Option<Rate>,
    /// Delay of links whose tier says none. Not together with `length`.
    pub delay: Option<Span>,
    /// Length of links whose tier says none. Not together with `delay`.
    pub length: Option<Length>,
    /// Links between hosts and `ToR`.
    pub host_tor: Hop,
    /// Links between `ToR` and aggregation.
    pub tor_agg: Hop,
    /// Links between aggregation and cores.
    pub agg_core: Hop,
}

/// Which of the nodes of a network a fabric is, and what comes before its own numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Fabric {
    /// Tag of its datacenter, where it is in one.
    pub dc: Option<&'static str>,
    /// Hosts, `ToR`, cores and pods of the fabrics before.
    pub before: [usize; 4],
    pub hosts: Vec<usize>,
    pub tors: Vec<usize>,
    pub aggs: Vec<usize>,
    pub cores: Vec<usize>,
}

impl FatTree {
    pub(super) fn build(&self) -> Result<Network, TopologyError> {
        let mut network = Network::default();
        let mut fabric = Fabric::default();
        self.add_hosts(&mut network, &mut fabric)?;
        self.add_cores(&mut network, &mut fabric)?;
        self.add_pods(&mut network, &mut fabric)?;
        self.add_links(&mut network, &fabric, Hop::default())?;
        network.name_links();
        Ok(network)
    }

    fn half(&self) -> Result<usize, TopologyError> {
        if self.k < 2 || self.k % 2 == 1 || self.k > 256 {
            return Err(TopologyError::new("k", format!("{} is not an even number from 2 to 256", self.k)));
        }
        Ok(self.k / 2)
    }

    fn hosts_per_tor(&self) -> Result<usize, TopologyError> {
        let half = self.half()?;
        self.hosts_per_tor.map_or(Ok(half), |hosts| count("hosts-per-tor", hosts, 1))
    }

    pub(super) fn add_hosts(&self, network: &mut Network, fabric: &mut Fabric) -> Result<(), TopologyError> {
        let (half, per_tor) = (self.half()?, self.hosts_per_tor()?);
        let total = count("hosts-per-tor", self.k * half * per_tor, 1)?;
        for host in 0..total {
            let tags = fabric.tags("host", Some(host / (half * per_tor)));
            let name = format!("h{}", fabric.before[0] + host + 1);
            fabric.hosts.push(network.host(name, &words(&tags))?);
        }
        Ok(())
    }

    pub(super) fn add_cores(&self, network: &mut Network, fabric: &mut Fabric) -> Result<(), TopologyError> {
        let half = self.half()?;
        for core in 0..half * half {
            let name = format!("c{}", fabric.before[2] + core + 1);
            fabric.cores.push(network.switch(name, &words(&fabric.tags("core", None)))?);
        }
        Ok(())
    }

    /// All aggregation switches, then all `ToR`.
    pub(super) fn add_pods(&self, network: &mut Network, fabric: &mut Fabric) -> Result<(), TopologyError> {
        let half = self.half()?;
        for (letter, kind) in [("a", "agg"), ("t", "tor")] {
            for i in 0..self.k * half {
                let name = format!("{letter}{}", fabric.before[1] + i + 1);
                let node = network.switch(name, &words(&fabric.tags(kind, Some(i / half))))?;
                if kind == "agg" { fabric.aggs.push(node) } else { fabric.tors.push(node) }
            }
        }
        Ok(())
    }

    /// From the top down, so that the first ports of a switch lead upward.
    pub(super) fn add_links(
        &self,
        network: &mut Network,
        fabric: &Fabric,
        above: Hop,
    ) -> Result<(), TopologyError> {
        let (half, per_tor) = (self.half()?, self.hosts_per_tor()?);
        let common = Hop { rate: self.rate, delay: self.delay, length: self.length }.or(above);
        let tier = |hop: Hop, key: &str| {
            hop.or(common)
                .resolve()
                .map_err(|error| if hop == Hop::default() { error } else { error.below(key) })
        };
        let agg_core = tier(self.agg_core, "agg-core")?;
        let tor_agg = tier(self.tor_agg, "tor-agg")?;
        let host_tor = tier(self.host_tor, "host-tor")?;
        for (i, &agg) in fabric.aggs.iter().enumerate() {
            for j in 0..half {
                let core = fabric.cores[i % half * half + j];
                network.link([agg, core], &words(&fabric.tags("agg-core", Some(i / half))), agg_core);
            }
        }
        for (i, &tor) in fabric.tors.iter().enumerate() {
            for &agg in &fabric.aggs[i / half * half..][..half] {
                network.link([tor, agg], &words(&fabric.tags("tor-agg", Some(i / half))), tor_agg);
            }
        }
        for (i, &host) in fabric.hosts.iter().enumerate() {
            let tor = i / per_tor;
            network.link(
                [host, fabric.tors[tor]],
                &words(&fabric.tags("host-tor", Some(tor / half))),
                host_tor,
            );
        }
        Ok(())
    }
}

impl Fabric {
    fn tags(&self, kind: &str, pod: Option<usize>) -> Vec<String> {
        let mut tags = vec![kind.to_owned()];
        tags.extend(self.dc.map(str::to_owned));
        tags.extend(pod.map(|pod| format!("pod-{}", self.before[3] + pod + 1)));
        tags
    }
}

fn words(tags: &[String]) -> Vec<&str> {
    tags.iter().map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fat_tree(k: usize) -> Network {
        let hop = (Some(Rate::gbps(100)), Some(Span::us(1)));
        FatTree { k, rate: hop.0, delay: hop.1, ..FatTree::default() }.build().expect("it is a fat tree")
    }

    #[test]
    fn it_has_as_many_nodes_and_links_as_the_formula_says() {
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
        assert!(error(FatTree { k: 5, ..FatTree::default() }).contains("even"));
        assert!(error(FatTree { k: 4, ..FatTree::default() }).contains("\"rate\" is missing"));
        let both = FatTree {
            k: 4,
            rate: Some(Rate::gbps(1)),
            delay: Some(Span::us(1)),
            length: Some(Length(5)),
            ..FatTree::default()
        };
        assert!(error(both).contains("not both"));
    }
}
