//! Sites with long links between them: the fabric of each site, its DCI switches at the gateways of the
//! fabric, and the long links between DCI switches.
//!
//! Nodes have this order: the hosts of all sites, the gateways of all sites, the other switches of all sites,
//! the DCI switches x1, x2, … site by site. Links: the long ones, then site by site those between gateways
//! and DCI switches and those of the fabric. So the first ports of a DCI switch are its long links, followed
//! by the gateways in order. This is the order of SWING's simulator.

use floodway_units::{Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

use super::fabric::{Fabric, FabricKind, Generator, Names};
use super::network::{Hop, Link, Network, Node, TopologyError};

/// The DCI switches at which a site's long links end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dci {
    /// One DCI switch of the site for all.
    #[default]
    Shared,
    /// A separate DCI switch for each, which is linked to all gateways of the site.
    PerLink,
}

/// A site.
pub(super) struct Site<'a> {
    /// Its name: its nodes and links are tagged `dc-<name>`.
    pub name: String,
    pub fabric: &'a FabricKind,
    /// The keys that lead to the fabric.
    pub fabric_keys: Vec<String>,
    /// Rate and delay of links without their own.
    pub common: Hop,
    /// Links between gateways and DCI switches.
    pub core_dci: Hop,
    /// The keys that lead to them.
    pub core_dci_keys: Vec<String>,
}

/// A long link.
pub(super) struct Long {
    /// Its sites, the earlier first.
    pub between: [usize; 2],
    pub line: (Rate, Span),
    /// Tags in addition to `long-haul` and `long-<site>-<site>`.
    pub tags: Vec<String>,
}

/// The network of sites and long links.
pub(super) fn join(sites: &[Site<'_>], long: &[Long], dci: Dci) -> Result<Network, TopologyError> {
    let mut names = Names::default();
    let mut network = Network::default();
    let fabrics = sites.iter().map(|site| site.build(&mut names)).collect::<Result<Vec<_>, _>>()?;
    let links = fabrics.iter().map(|fabric| fabric.network.links.len());
    network.room_for(links.sum::<usize>().saturating_add(long.len()))?;
    let placed = add_nodes(&mut network, sites, &fabrics)?;
    let dcis = Dcis::add(&mut network, &mut names, sites, long, dci)?;
    for (link, ends) in long.iter().zip(&dcis.of_long) {
        let [a, b] = link.between.map(|site| sites[site].name.as_str());
        let pair = format!("long-{a}-{b}");
        let own = link.tags.iter().map(String::as_str);
        let tags: Vec<&str> = ["long-haul", pair.as_str()].into_iter().chain(own).collect();
        network.link(*ends, &tags, link.line);
    }
    for (i, (site, fabric)) in sites.iter().zip(fabrics).enumerate() {
        site.add_links(&mut network, fabric, &placed[i], &dcis.of_site[i])?;
    }
    network.name_links();
    Ok(network)
}

/// Copies the nodes of all fabrics; returns their new indices by site.
fn add_nodes(
    network: &mut Network,
    sites: &[Site<'_>],
    fabrics: &[Fabric],
) -> Result<Vec<Vec<usize>>, TopologyError> {
    let mut placed: Vec<Vec<usize>> =
        fabrics.iter().map(|fabric| vec![usize::MAX; fabric.network.nodes.len()]).collect();
    for step in [Fabric::hosts, Fabric::gateways, Fabric::others] {
        for ((site, fabric), placed) in sites.iter().zip(fabrics).zip(&mut placed) {
            for i in step(fabric) {
                let node = &fabric.network.nodes[i];
                let added = Node { tags: site.tags(&node.tags), ..node.clone() };
                placed[i] = network.add(added).map_err(|error| site.at_fabric(error))?;
            }
        }
    }
    Ok(placed)
}

impl Fabric {
    fn hosts(&self) -> Vec<usize> {
        (0..self.network.nodes.len()).filter(|&i| self.network.nodes[i].is_host).collect()
    }

    fn gateways(&self) -> Vec<usize> {
        self.gateways.clone()
    }

    fn others(&self) -> Vec<usize> {
        let mut others: Vec<bool> = self.network.nodes.iter().map(|node| !node.is_host).collect();
        for &gateway in &self.gateways {
            others[gateway] = false;
        }
        (0..others.len()).filter(|&i| others[i]).collect()
    }
}

impl Site<'_> {
    fn build(&self, names: &mut Names) -> Result<Fabric, TopologyError> {
        let fabric = self.fabric.fabric(names, self.common).map_err(|error| self.at_fabric(error))?;
        if fabric.gateways.is_empty() {
            let message = "no switch is tagged \"gateway\": to those the DCI switch is linked";
            return Err(self.at_fabric(TopologyError::new("explicit", message)));
        }
        Ok(fabric)
    }

    fn at_fabric(&self, error: TopologyError) -> TopologyError {
        error.below_all(&self.fabric_keys)
    }

    /// These tags with that of the site inserted after the first.
    fn tags(&self, tags: &[String]) -> Vec<String> {
        let mut tags = tags.to_vec();
        tags.insert(tags.len().min(1), self.tag());
        tags
    }

    fn tag(&self) -> String {
        format!("dc-{}", self.name)
    }

    fn add_links(
        &self,
        network: &mut Network,
        fabric: Fabric,
        placed: &[usize],
        dcis: &[usize],
    ) -> Result<(), TopologyError> {
        let core_dci = self.core_dci.resolve().map_err(|error| error.below_all(&self.core_dci_keys))?;
        network.room_for(dcis.len().saturating_mul(fabric.gateways.len()))?;
        for &dci in dcis {
            for &gateway in &fabric.gateways {
                network.link([placed[gateway], dci], &["core-dci", &self.tag()], core_dci);
            }
        }
        for link in fabric.network.links {
            let (tags, ends) = (self.tags(&link.tags), link.ends.map(|end| placed[end]));
            network.links.push(Link { tags, ends, ..link });
        }
        Ok(())
    }
}

/// The DCI switches.
struct Dcis {
    of_site: Vec<Vec<usize>>,
    /// The two at the ends of each long link.
    of_long: Vec<[usize; 2]>,
}

impl Dcis {
    /// Adds them site by site; where each long link has its own, in the order of the long links.
    fn add(
        network: &mut Network,
        names: &mut Names,
        sites: &[Site<'_>],
        long: &[Long],
        dci: Dci,
    ) -> Result<Dcis, TopologyError> {
        let mut dcis = Dcis { of_site: vec![Vec::new(); sites.len()], of_long: vec![[0; 2]; long.len()] };
        for (i, (site, own)) in sites.iter().zip(&mut dcis.of_site).enumerate() {
            let mut add = || network.switch(names.next("x"), &["dci", &site.tag()]);
            if dci == Dci::Shared {
                own.push(add()?);
            }
            for (link, ends) in long.iter().zip(&mut dcis.of_long) {
                let Some(end) = link.between.iter().position(|&of| of == i) else { continue };
                if dci == Dci::PerLink {
                    own.push(add()?);
                }
                ends[end] = own[own.len() - 1];
            }
        }
        Ok(dcis)
    }
}
