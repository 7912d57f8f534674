//! Networks: nodes and links with names and tags, from generators, by the name of a published one, or listed
//! one by one.
//!
//! A link is named `<a>-<b>` after its ends, parallel ones `<a>-<b>#1`, `#2`, … . The ports of a node have
//! the order of its links in the list.

mod chain;
mod dumbbell;
mod explicit;
mod fabric;
mod fat_tree;
pub mod hpcc;
mod leaf_spine;
mod long_links;
mod matrix;
mod multi_dc;
mod network;
mod presets;
mod rail_optimised;
mod relays;
mod single_switch;
mod sites;
#[cfg(test)]
mod tests;
mod two_dc;

use floodway_mechanisms::registry::head;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::workload::files::Files;
use fabric::Generator as _;

pub use chain::{Chain, Hosts};
pub use dumbbell::Dumbbell;
pub use explicit::{Explicit, Listed, ListedLink, TaggedNode};
pub use fabric::FabricKind;
pub use fat_tree::FatTree;
pub use hpcc::Hpcc;
pub use leaf_spine::LeafSpine;
pub use long_links::{Distance, ListedLong, LongLinks, LongTable};
pub use matrix::{Blank, Quantity};
pub use multi_dc::{MultiDc, SiteKeys, Sites};
pub use network::{Hop, Link, Network, Node, TopologyError, numbered};
pub use presets::{LeftOut, PartKeys, Preset, PresetKeys, PresetName, left_out, presets};
pub use rail_optimised::{Oversubscription, RailOptimised};
pub use relays::{RELAY_TAGS, RelayAt};
pub use single_switch::SingleSwitch;
pub use sites::Dci;
pub use two_dc::{LongLink, TwoDc};

/// The network.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// Nodes and links, listed one by one.
    Explicit(Explicit),
    /// One switch with hosts.
    SingleSwitch(SingleSwitch),
    /// Switches in a row, with hosts at each.
    Chain(Chain),
    /// Two switches with hosts at both, and a bottleneck between them.
    Dumbbell(Dumbbell),
    /// Two tiers of switches, each leaf linked to each spine.
    LeafSpine(LeafSpine),
    /// Three tiers of switches in pods.
    FatTree(FatTree),
    /// GPU nodes with a rail switch for each GPU of a node.
    RailOptimised(RailOptimised),
    /// Two fabrics joined by long links.
    TwoDc(Box<TwoDc>),
    /// Any number of fabrics joined by long links.
    MultiDc(Box<MultiDc>),
    /// The topology file of an HPCC simulation.
    Hpcc(Hpcc),
    /// The network of a published experiment or AI cluster, by its name, or a part of such a cluster.
    Preset(PresetKeys),
}

/// The module comments of the generators, by the name of each.
pub fn heads() -> Vec<(&'static str, String)> {
    let sources = [
        ("explicit", include_str!("explicit.rs")),
        ("single-switch", include_str!("single_switch.rs")),
        ("chain", include_str!("chain.rs")),
        ("dumbbell", include_str!("dumbbell.rs")),
        ("leaf-spine", include_str!("leaf_spine.rs")),
        ("fat-tree", include_str!("fat_tree.rs")),
        ("rail-optimised", include_str!("rail_optimised/mod.rs")),
        ("two-dc", include_str!("two_dc.rs")),
        ("multi-dc", include_str!("multi_dc.rs")),
        ("hpcc", include_str!("hpcc.rs")),
    ];
    sources.into_iter().map(|(name, source)| (name, head(source))).collect()
}

impl Topology {
    /// Its nodes and links; `files` reads the files that it names.
    ///
    /// # Errors
    /// A parameter that gives no valid network, with its path below `topology`.
    pub fn build(&self, files: &Files<'_>) -> Result<Network, TopologyError> {
        let (kind, network) = match self {
            Topology::Explicit(explicit) => ("explicit", explicit.build()),
            Topology::SingleSwitch(single) => ("single-switch", single.build()),
            Topology::Chain(chain) => ("chain", chain.build()),
            Topology::Dumbbell(dumbbell) => ("dumbbell", dumbbell.build()),
            Topology::LeafSpine(leaf_spine) => ("leaf-spine", leaf_spine.build()),
            Topology::FatTree(fat_tree) => ("fat-tree", fat_tree.build()),
            Topology::RailOptimised(rails) => ("rail-optimised", rails.build()),
            Topology::TwoDc(two_dc) => ("two-dc", two_dc.build()),
            Topology::MultiDc(multi_dc) => ("multi-dc", multi_dc.build()),
            Topology::Hpcc(hpcc) => ("hpcc", hpcc.build(files)),
            Topology::Preset(preset) => ("preset", preset.build(files)),
        };
        network.and_then(|network| network.check().map(|()| network)).map_err(|error| error.below(kind))
    }

    /// The published AI clusters in it, each with the tag of the site whose network it is; none of a network
    /// without sites of its own.
    pub fn clusters(&self) -> Vec<(Option<String>, &'static Preset)> {
        let of_site = |(name, fabric): (String, &FabricKind)| match fabric {
            FabricKind::Preset(keys) => Some((Some(format!("dc-{name}")), keys.preset())),
            _ => None,
        };
        let all: Vec<_> = match self {
            Topology::Preset(keys) => vec![(None, keys.preset())],
            Topology::TwoDc(two_dc) => two_dc.fabrics().into_iter().filter_map(of_site).collect(),
            Topology::MultiDc(multi_dc) => multi_dc.fabrics().into_iter().filter_map(of_site).collect(),
            _ => Vec::new(),
        };
        all.into_iter().filter(|(_, preset)| preset.is_cluster()).collect()
    }
}

/// Of the published AI clusters of a topology, the one that a node with these tags belongs to.
pub fn cluster_of(
    clusters: &[(Option<String>, &'static Preset)],
    tags: &[String],
) -> Option<&'static Preset> {
    let here = |site: &Option<String>| site.as_ref().is_none_or(|site| tags.contains(site));
    clusters.iter().find(|(site, _)| here(site)).map(|(_, preset)| *preset)
}
