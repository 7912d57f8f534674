//! Two datacenters: a fabric each, a DCI switch at the cores of each, and long links between the two.
//!
//! The DCI switches are x1 (A) and x2 (B); their first ports are the long links, then come the cores in
//! order. Numbers of B's nodes follow on A's. SWING's and Bifrost's networks are settings of it.

use floodway_units::{Length, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::fat_tree::{Fabric, FatTree};
use super::network::{Hop, Network, TopologyError, count};

/// Parameters of two datacenters.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TwoDc {
    /// The fabric of both datacenters.
    #[serde(default)]
    pub fabric: Option<FabricKind>,
    /// The fabric of A, where it is not `fabric`.
    #[serde(default)]
    pub fabric_a: Option<FabricKind>,
    /// The fabric of B, where it is not `fabric`.
    #[serde(default)]
    pub fabric_b: Option<FabricKind>,
    /// Rate of links inside datacenters that say none.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Delay of links inside datacenters that say none. Not together with `length`.
    #[serde(default)]
    pub delay: Option<Span>,
    /// Length of links inside datacenters that say none. Not together with `delay`.
    #[serde(default)]
    pub length: Option<Length>,
    /// Links between cores and DCI switches.
    #[serde(default)]
    pub core_dci: Hop,
    /// Links between the DCI switches.
    pub long_link: LongLink,
}

/// What is inside a datacenter.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FabricKind {
    /// A fat tree.
    FatTree(FatTree),
}

/// The links between the datacenters.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LongLink {
    /// Rate of each.
    pub rate: Rate,
    /// Delay. Not together with `length`.
    #[serde(default)]
    pub delay: Option<Span>,
    /// Length. Not together with `delay`.
    #[serde(default)]
    pub length: Option<Length>,
    /// How many, side by side. Default: 1.
    #[serde(default = "one")]
    pub count: usize,
}

fn one() -> usize {
    1
}

impl TwoDc {
    pub(super) fn build(&self) -> Result<Network, TopologyError> {
        let trees =
            [self.tree("fabric-a", self.fabric_a.as_ref())?, self.tree("fabric-b", self.fabric_b.as_ref())?];
        let mut network = Network::default();
        let mut fabrics = [
            Fabric { dc: Some("dc-a"), ..Fabric::default() },
            Fabric { dc: Some("dc-b"), ..Fabric::default() },
        ];
        Self::add_nodes(&mut network, &trees, &mut fabrics)?;
        let dcis = [network.switch("x1", &["dci", "dc-a"])?, network.switch("x2", &["dci", "dc-b"])?];
        self.add_links(&mut network, &trees, &fabrics, dcis)?;
        network.name_links();
        Ok(network)
    }

    /// The fabric of one datacenter, and the key that gave it.
    fn tree<'a>(
        &'a self,
        key: &'static str,
        own: Option<&'a FabricKind>,
    ) -> Result<(&'static str, &'a FatTree), TopologyError> {
        let key = if own.is_some() { key } else { "fabric" };
        match own.or(self.fabric.as_ref()) {
            Some(FabricKind::FatTree(tree)) => Ok((key, tree)),
            None => Err(TopologyError::new("", "the key \"fabric\" is missing")),
        }
    }

    /// Hosts of A and B, their cores, then the pods of A and B: the order of SWING's simulator.
    fn add_nodes(
        network: &mut Network,
        trees: &[(&str, &FatTree); 2],
        fabrics: &mut [Fabric; 2],
    ) -> Result<(), TopologyError> {
        for step in [FatTree::add_hosts, FatTree::add_cores, FatTree::add_pods] {
            for dc in 0..2 {
                let (key, tree) = trees[dc];
                if dc == 1 {
                    let a = &fabrics[0];
                    fabrics[1].before = [a.hosts.len(), a.tors.len(), a.cores.len(), trees[0].1.k];
                }
                step(tree, network, &mut fabrics[dc]).map_err(|error| error.below("fat-tree").below(key))?;
            }
        }
        Ok(())
    }

    fn add_links(
        &self,
        network: &mut Network,
        trees: &[(&str, &FatTree); 2],
        fabrics: &[Fabric; 2],
        dcis: [usize; 2],
    ) -> Result<(), TopologyError> {
        let LongLink { rate, delay, length, count: parallel } = self.long_link;
        let long = Hop { rate: Some(rate), delay, length };
        let long = long.resolve().map_err(|error| error.below("long-link"))?;
        let parallel = count("count", parallel, 1).map_err(|error| error.below("long-link"))?;
        for _ in 0..parallel {
            network.link(dcis, &["long-haul"], long);
        }
        let inside = Hop { rate: self.rate, delay: self.delay, length: self.length };
        let core_dci =
            self.core_dci.or(inside).resolve().map_err(|error| {
                if self.core_dci == Hop::default() { error } else { error.below("core-dci") }
            })?;
        for (dc, fabric) in fabrics.iter().enumerate() {
            for &core in &fabric.cores {
                network.link([core, dcis[dc]], &["core-dci", fabric.dc.unwrap_or_default()], core_dci);
            }
            let (key, tree) = trees[dc];
            tree.add_links(network, fabric, inside).map_err(|error| error.below("fat-tree").below(key))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swing() -> Network {
        let tree = FatTree { k: 4, ..FatTree::default() };
        TwoDc {
            fabric: Some(FabricKind::FatTree(tree)),
            fabric_a: None,
            fabric_b: None,
            rate: Some(Rate::gbps(100)),
            delay: Some(Span::us(1)),
            length: None,
            core_dci: Hop::default(),
            long_link: LongLink {
                rate: Rate::gbps(400),
                delay: None,
                length: Some(Length(80_000)),
                count: 1,
            },
        }
        .build()
        .expect("it is a network")
    }

    #[test]
    fn swings_network_has_its_nodes_in_creation_order() {
        let network = swing();
        let names = network.names();
        assert_eq!(names.len(), 32 + 40 + 2);
        assert_eq!((names[0].as_str(), names[31].as_str()), ("h1", "h32"));
        // c1-c4 (s1-s4), c5-c8 (s21-s24), a1-a8 (s5-s12), t1-t8 (s13-s20), a9-…, t9-…, x1, x2.
        let at = |name: &str| network.find(name).expect("it is there");
        assert_eq!(
            [at("c1"), at("c5"), at("a1"), at("t1"), at("a9"), at("t9"), at("x1")],
            [32, 36, 40, 48, 56, 64, 72]
        );
        assert_eq!(network.nodes[at("h17")].tags, ["host", "dc-b", "pod-5"]);
    }

    #[test]
    fn dci_switches_have_the_long_link_first_and_then_the_cores() {
        let network = swing();
        let ports = |name: &str| -> Vec<String> {
            let node = network.find(name).expect("it is there");
            let links = network.links.iter().filter(|link| link.ends.contains(&node));
            links.map(|link| link.name.clone()).collect()
        };
        assert_eq!(ports("x1"), ["x1-x2", "c1-x1", "c2-x1", "c3-x1", "c4-x1"]);
        assert_eq!(ports("x2"), ["x1-x2", "c5-x2", "c6-x2", "c7-x2", "c8-x2"]);
        assert_eq!(ports("t9"), ["t9-a9", "t9-a10", "h17-t9", "h18-t9"]);
        let long = network.links.iter().find(|link| link.name == "x1-x2").expect("it is there");
        assert_eq!((long.rate, long.delay), (Rate::gbps(400), Span::us(400)));
        assert_eq!(network.links.len(), 1 + 2 * (4 + 48));
    }
}
