//! Fabrics: networks that are used alone, or as a site of a larger one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::chain::Chain;
use super::dumbbell::Dumbbell;
use super::explicit::Explicit;
use super::fat_tree::FatTree;
use super::leaf_spine::LeafSpine;
use super::network::{Hop, Network, TopologyError};
use super::presets::PresetKeys;
use super::rail_optimised::RailOptimised;
use super::single_switch::SingleSwitch;

/// The network inside a datacenter. Its DCI switch is linked to the gateways: the cores of a fat tree, the
/// spines of a leaf-spine, the cores or spines of a rail-optimised network, the switch of a single-switch,
/// the last switch of a chain, s2 (the right one) of a dumbbell, the switches tagged `gateway` of an
/// explicit network; of a preset, those of the kind of network that it is.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FabricKind {
    /// Three tiers of switches in pods; the cores are its gateways.
    FatTree(FatTree),
    /// Two tiers of switches, each leaf linked to each spine; the spines are its gateways.
    LeafSpine(LeafSpine),
    /// GPU nodes with a rail switch for each GPU; the cores, or else the spines, are its gateways.
    RailOptimised(RailOptimised),
    /// One switch with hosts; the switch is its gateway.
    SingleSwitch(SingleSwitch),
    /// Switches in a row, with hosts at each; the last switch is its gateway.
    Chain(Chain),
    /// Two switches with hosts at both, and a bottleneck between them; s2 is its gateway.
    Dumbbell(Dumbbell),
    /// Nodes and links, listed one by one; the switches tagged `gateway` are its gateways. Names of nodes
    /// must differ from those of other sites.
    Explicit(Explicit),
    /// A published network of one site, by its name, or a part of a published AI cluster.
    Preset(PresetKeys),
}

/// A network with the switches to which a DCI switch is linked. Links that the generator has to name have no
/// name yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Fabric {
    pub network: Network,
    /// Indices of the gateways.
    pub gateways: Vec<usize>,
}

/// A generator of a fabric.
pub(super) trait Generator {
    /// The fabric. Names of its nodes continue after the existing ones; missing rates and delays are taken
    /// from `above`.
    ///
    /// # Errors
    /// A parameter that gives no valid network.
    fn fabric(&self, names: &mut Names, above: Hop) -> Result<Fabric, TopologyError>;

    /// The fabric as a network of its own.
    ///
    /// # Errors
    /// A parameter that gives no valid network.
    fn build(&self) -> Result<Network, TopologyError> {
        let mut network = self.fabric(&mut Names::default(), Hop::default())?.network;
        network.name_links();
        Ok(network)
    }
}

impl Generator for FabricKind {
    fn fabric(&self, names: &mut Names, above: Hop) -> Result<Fabric, TopologyError> {
        let (kind, fabric) = match self {
            FabricKind::FatTree(fat_tree) => ("fat-tree", fat_tree.fabric(names, above)),
            FabricKind::LeafSpine(leaf_spine) => ("leaf-spine", leaf_spine.fabric(names, above)),
            FabricKind::RailOptimised(rails) => ("rail-optimised", rails.fabric(names, above)),
            FabricKind::SingleSwitch(single) => ("single-switch", single.fabric(names, above)),
            FabricKind::Chain(chain) => ("chain", chain.fabric(names, above)),
            FabricKind::Dumbbell(dumbbell) => ("dumbbell", dumbbell.fabric(names, above)),
            FabricKind::Explicit(explicit) => ("explicit", explicit.fabric(names, above)),
            FabricKind::Preset(preset) => ("preset", preset.fabric(names, above)),
        };
        fabric.map_err(|error| error.below(kind))
    }
}

/// Numbers nodes and their groups from 1, through all fabrics of a network.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(BTreeMap<&'static str, usize>);

impl Names {
    /// The next name of this stem: h1, h2, … .
    pub fn next(&mut self, stem: &'static str) -> String {
        let number = self.0.entry(stem).or_default();
        *number += 1;
        format!("{stem}{number}")
    }

    /// Counts a group of `count` more of this stem; returns the number before.
    pub fn before(&mut self, stem: &'static str, count: usize) -> usize {
        let number = self.0.entry(stem).or_default();
        let before = *number;
        *number = number.saturating_add(count);
        before
    }
}
