//! Two tiers: every leaf is linked to every spine, hosts to leaves.
//!
//! Nodes are numbered from 1: hosts h, leaves t, spines c; hosts leaf by leaf. The first ports of a leaf lead
//! to the spines in order, then come its hosts. With `homes` leaves for each host, that many consecutive
//! leaves share their hosts, like a pair of `ToR`.

use floodway_units::{Length, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::fabric::{Fabric, Generator, Names};
use super::network::{Hop, Network, TopologyError, count, groups};

/// Parameters of a leaf-spine.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LeafSpine {
    /// Number of spines, at least 1. No default.
    pub spines: usize,
    /// Number of leaves, at least 1. No default.
    pub leaves: usize,
    /// Number of hosts linked to each leaf, at least 1. No default.
    pub hosts: usize,
    /// Rate of links whose tier has none of its own. No default.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Delay of links whose tier has none of its own. Not together with `length`.
    #[serde(default)]
    pub delay: Option<Span>,
    /// Length of links whose tier has none of its own, at 5 us/km. Not together with `delay`.
    #[serde(default)]
    pub length: Option<Length>,
    /// Links between hosts and leaves. Default: rate and delay of the topology.
    #[serde(default)]
    pub host_leaf: Hop,
    /// Links between leaves and spines. Default: rate and delay of the topology.
    #[serde(default)]
    pub leaf_spine: Hop,
    /// Number of parallel links between each leaf and each spine, at least 1. Default: 1.
    #[serde(default)]
    pub parallel: Option<usize>,
    /// Number of leaves to which each host is linked: that many consecutive leaves share their hosts. It must
    /// divide `leaves`. Default: 1.
    #[serde(default)]
    pub homes: Option<usize>,
}

/// Numbers of switches and hosts.
struct Shape {
    spines: usize,
    leaves: usize,
    hosts: usize,
    parallel: usize,
    homes: usize,
    /// Number of leaves in the fabrics before this one.
    before: usize,
}

impl Generator for LeafSpine {
    fn fabric(&self, names: &mut Names, above: Hop) -> Result<Fabric, TopologyError> {
        let shape = self.shape(names)?;
        let common = Hop { rate: self.rate, delay: self.delay, length: self.length }.or(above);
        let leaf_spine = self.leaf_spine.tier("leaf-spine", common)?;
        let host_leaf = self.host_leaf.tier("host-leaf", common)?;
        let mut network = Network::default();
        network.room_for(shape.links())?;
        let [spines, leaves] = shape.add_nodes(&mut network, names)?;
        for (i, &leaf) in leaves.iter().enumerate() {
            for &spine in spines.iter().flat_map(|spine| std::iter::repeat_n(spine, shape.parallel)) {
                network.link([leaf, spine], &["leaf-spine", &shape.tag(i)], leaf_spine);
            }
        }
        for host in 0..shape.hosts() {
            for leaf in shape.leaves_of(host) {
                network.link([host, leaves[leaf]], &["host-leaf", &shape.tag(leaf)], host_leaf);
            }
        }
        Ok(Fabric { network, gateways: spines })
    }
}

impl LeafSpine {
    fn shape(&self, names: &mut Names) -> Result<Shape, TopologyError> {
        let leaves = count("leaves", self.leaves, 1)?;
        let homes = groups("homes", self.homes, leaves, "leaves")?;
        let hosts = count("hosts", self.hosts, 1)?;
        count("hosts", (leaves / homes).saturating_mul(hosts), 1)?;
        Ok(Shape {
            spines: count("spines", self.spines, 1)?,
            leaves,
            hosts,
            parallel: count("parallel", self.parallel.unwrap_or(1), 1)?,
            homes,
            before: names.before("leaf", leaves),
        })
    }
}

impl Shape {
    fn hosts(&self) -> usize {
        self.leaves / self.homes * self.hosts
    }

    fn links(&self) -> usize {
        let uplinks = self.leaves.saturating_mul(self.spines).saturating_mul(self.parallel);
        uplinks.saturating_add(self.hosts() * self.homes)
    }

    /// Adds hosts, spines, leaves; returns spines and leaves.
    fn add_nodes(&self, network: &mut Network, names: &mut Names) -> Result<[Vec<usize>; 2], TopologyError> {
        for host in 0..self.hosts() {
            let leaves: Vec<String> = self.leaves_of(host).map(|leaf| self.tag(leaf)).collect();
            let tags: Vec<&str> = std::iter::once("host").chain(leaves.iter().map(String::as_str)).collect();
            network.host(names.next("h"), &tags)?;
        }
        let spines = (0..self.spines).map(|_| network.switch(names.next("c"), &["spine"]));
        let spines = spines.collect::<Result<_, _>>()?;
        let leaves = (0..self.leaves).map(|leaf| network.switch(names.next("t"), &["leaf", &self.tag(leaf)]));
        Ok([spines, leaves.collect::<Result<_, _>>()?])
    }

    fn leaves_of(&self, host: usize) -> std::ops::Range<usize> {
        let first = host / self.hosts * self.homes;
        first..first + self.homes
    }

    fn tag(&self, leaf: usize) -> String {
        format!("leaf-{}", self.before + leaf + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::ports;
    use super::*;

    fn leaf_spine(spines: usize, leaves: usize, hosts: usize) -> LeafSpine {
        let (rate, delay) = (Some(Rate::gbps(100)), Some(Span::us(1)));
        LeafSpine { spines, leaves, hosts, rate, delay, ..LeafSpine::default() }
    }

    #[test]
    fn leaves_have_their_spines_first_and_then_their_hosts() {
        let network = leaf_spine(3, 2, 2).build().expect("it is a leaf-spine");
        assert_eq!(network.names(), ["h1", "h2", "h3", "h4", "c1", "c2", "c3", "t1", "t2"]);
        assert_eq!(ports(&network, "t2"), ["t2-c1", "t2-c2", "t2-c3", "h3-t2", "h4-t2"]);
        assert_eq!(ports(&network, "c3"), ["t1-c3", "t2-c3"]);
        assert_eq!(network.nodes[2].tags, ["host", "leaf-2"]);
        assert_eq!(network.links.len(), 3 * 2 + 4);
        let across = [network.find("h1"), network.find("h3")].map(|node| node.expect("it is there"));
        assert_eq!(network.shortest_paths(across[0], across[1]), 3);
    }

    #[test]
    fn parallel_links_multiply_the_paths() {
        let parallel = LeafSpine { parallel: Some(2), ..leaf_spine(2, 2, 1) };
        let network = parallel.build().expect("it is a leaf-spine");
        assert_eq!(ports(&network, "t1"), ["t1-c1#1", "t1-c1#2", "t1-c2#1", "t1-c2#2", "h1-t1"]);
        assert_eq!(network.shortest_paths(0, 1), 2 * 2 * 2);
    }

    #[test]
    fn leaves_that_share_their_hosts_follow_one_another() {
        let pairs = LeafSpine { homes: Some(2), ..leaf_spine(2, 4, 3) };
        let network = pairs.build().expect("it is a leaf-spine");
        assert_eq!(network.nodes.iter().filter(|node| node.is_host).count(), 6);
        assert_eq!(ports(&network, "h4"), ["h4-t3", "h4-t4"]);
        assert_eq!(ports(&network, "t4"), ["t4-c1", "t4-c2", "h4-t4", "h5-t4", "h6-t4"]);
        assert_eq!(network.nodes[5].tags, ["host", "leaf-3", "leaf-4"]);
        // Two leaves on the one side, two spines, two leaves on the other.
        assert_eq!(network.shortest_paths(0, 5), 8);
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        let error = |of: LeafSpine| {
            let error = of.build().unwrap_err();
            (error.path.join("."), error.message)
        };
        let (key, message) = error(LeafSpine { homes: Some(2), ..leaf_spine(1, 3, 1) });
        assert_eq!(
            (key.as_str(), message.as_str()),
            ("homes", "3 leaves cannot be divided into groups of 2")
        );
        assert_eq!(error(leaf_spine(0, 1, 1)).0, "spines");
        assert_eq!(error(leaf_spine(1, 1 << 11, 1 << 10)).0, "hosts");
        assert_eq!(error(leaf_spine(1 << 11, 1 << 10, 1)).1, "it has more than 1048576 links");
        let bare = LeafSpine { rate: None, ..leaf_spine(1, 1, 1) };
        assert_eq!(error(bare).1, "the key \"rate\" is missing");
        let both = Hop { delay: Some(Span::us(1)), length: Some(Length(5)), rate: None };
        assert_eq!(error(LeafSpine { leaf_spine: both, ..leaf_spine(1, 1, 1) }).0, "leaf-spine.length");
    }
}
