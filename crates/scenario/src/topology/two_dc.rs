//! Two datacenters: a fabric each, a DCI switch at the gateways of each, and long links between the two.
//!
//! The DCI switches are x1 (A) and x2 (B); their first ports are the long links, followed by the gateways in
//! order. B's node numbers continue after A's. SWING's and Bifrost's networks are instances of it; `multi-dc`
//! has more than two sites.

use floodway_units::{Length, Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::fabric::FabricKind;
use super::network::{Hop, Network, TopologyError, count};
use super::sites::{Dci, Long, Site, join};

/// Parameters of two datacenters.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TwoDc {
    /// The fabric of both datacenters. No default, unless both have their own.
    #[serde(default)]
    pub fabric: Option<FabricKind>,
    /// The fabric of A. Default: `fabric`.
    #[serde(default)]
    pub fabric_a: Option<FabricKind>,
    /// The fabric of B. Default: `fabric`.
    #[serde(default)]
    pub fabric_b: Option<FabricKind>,
    /// Rate of links inside datacenters that have none of their own. No default.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Delay of links inside datacenters that have none of their own. Not together with `length`.
    #[serde(default)]
    pub delay: Option<Span>,
    /// Length of links inside datacenters that have none of their own, at 5 us/km. Not together with `delay`.
    #[serde(default)]
    pub length: Option<Length>,
    /// Links between the gateways of a fabric (the cores of a fat tree) and the DCI switch. Default: rate and
    /// delay of links inside datacenters.
    #[serde(default)]
    pub core_dci: Hop,
    /// Links between the DCI switches, tagged `long-haul` and `long-a-b`.
    pub long_link: LongLink,
}

/// The links between the datacenters.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LongLink {
    /// Rate of each. No default.
    pub rate: Rate,
    /// Delay. Not together with `length`; one of the two must be given.
    #[serde(default)]
    pub delay: Option<Span>,
    /// Length, at 5 us/km. Not together with `delay`; one of the two must be given.
    #[serde(default)]
    pub length: Option<Length>,
    /// Number of parallel links, at least 1. Default: 1.
    #[serde(default = "one")]
    pub count: usize,
}

fn one() -> usize {
    1
}

impl TwoDc {
    pub(super) fn build(&self) -> Result<Network, TopologyError> {
        let sites = [
            self.site("a", "fabric-a", self.fabric_a.as_ref())?,
            self.site("b", "fabric-b", self.fabric_b.as_ref())?,
        ];
        let long = self.long_links().map_err(|error| error.below("long-link"))?;
        join(&sites, &long, Dci::Shared)
    }

    /// The fabric of each site, by its name.
    pub(super) fn fabrics(&self) -> Vec<(String, &FabricKind)> {
        let sites = [("a", self.fabric_a.as_ref()), ("b", self.fabric_b.as_ref())];
        let fabric = |own: Option<_>| own.or(self.fabric.as_ref());
        sites.into_iter().filter_map(|(name, own)| Some((name.to_owned(), fabric(own)?))).collect()
    }

    fn site<'a>(
        &'a self,
        name: &str,
        key: &str,
        own: Option<&'a FabricKind>,
    ) -> Result<Site<'a>, TopologyError> {
        let Some(fabric) = own.or(self.fabric.as_ref()) else {
            return Err(TopologyError::new("", "the key \"fabric\" is missing"));
        };
        let common = Hop { rate: self.rate, delay: self.delay, length: self.length };
        let says_core_dci = self.core_dci != Hop::default();
        Ok(Site {
            name: name.to_owned(),
            fabric,
            fabric_keys: vec![if own.is_some() { key } else { "fabric" }.to_owned()],
            common,
            core_dci: self.core_dci.or(common),
            core_dci_keys: says_core_dci.then(|| "core-dci".to_owned()).into_iter().collect(),
        })
    }

    fn long_links(&self) -> Result<Vec<Long>, TopologyError> {
        let LongLink { rate, delay, length, count: parallel } = self.long_link;
        let line = Hop { rate: Some(rate), delay, length }.resolve()?;
        let links = 0..count("count", parallel, 1)?;
        Ok(links.map(|_| Long { between: [0, 1], line, tags: Vec::new() }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::FatTree;

    fn swing() -> Network {
        let tree = FatTree { k: Some(4), ..FatTree::default() };
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
