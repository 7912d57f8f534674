//! Networks: nodes and links with names and tags, from generators or listed one by one.
//!
//! A link is named `<a>-<b>` after its ends, parallel ones `<a>-<b>#1`, `#2`, … . The ports of a node are in
//! the order of its links in the list.

mod chain;
mod dumbbell;
mod explicit;
mod fat_tree;
mod network;
mod two_dc;

use schemars::JsonSchema;
use serde::Deserialize;

pub use chain::Chain;
pub use dumbbell::Dumbbell;
pub use explicit::Explicit;
pub use fat_tree::FatTree;
pub use network::{Hop, Link, Network, Node, TopologyError};
pub use two_dc::TwoDc;

/// Which network.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// Nodes and links, one by one.
    Explicit(Explicit),
    /// Switches in a row, with hosts at each.
    Chain(Chain),
    /// Two switches with hosts at both, and a bottleneck between them.
    Dumbbell(Dumbbell),
    /// Three tiers of switches in pods.
    FatTree(FatTree),
    /// Two fabrics joined by long links.
    TwoDc(Box<TwoDc>),
}

impl Topology {
    /// Its nodes and links.
    ///
    /// # Errors
    /// A parameter that makes no network, with its path below `topology`.
    pub fn build(&self) -> Result<Network, TopologyError> {
        let (kind, network) = match self {
            Topology::Explicit(explicit) => ("explicit", explicit.build()),
            Topology::Chain(chain) => ("chain", chain.build()),
            Topology::Dumbbell(dumbbell) => ("dumbbell", dumbbell.build()),
            Topology::FatTree(fat_tree) => ("fat-tree", fat_tree.build()),
            Topology::TwoDc(two_dc) => ("two-dc", two_dc.build()),
        };
        network.and_then(|network| network.check().map(|()| network)).map_err(|error| error.below(kind))
    }
}
