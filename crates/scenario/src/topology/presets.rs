//! Networks of published experiments and of published AI clusters, by name.
//!
//! AI clusters are rail-optimised networks, or two sites of them, and may be smaller than published: `nodes`,
//! `segments` and `pods` take a part of one, whose upper tiers have the oversubscription of the whole. Others
//! have one size.

use std::fmt;
use std::path::Path;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use super::Topology;
use super::fabric::{Fabric, FabricKind, Generator, Names};
use super::network::{Hop, Network, TopologyError};
use super::rail_optimised::Part;
use super::two_dc::TwoDc;
use crate::error::ScenarioError;
use crate::grammar::gpu_nodes::ScaleUpKeys;
use crate::grammar::read::read;
use crate::grammar::tree::Node;
use crate::workload::files::Files;

/// The published networks, in the grammar of scenarios, with their sources.
const PUBLISHED: &str = include_str!("../../data/topologies.toml");
/// The table of published networks that are not presets.
const LEFT_OUT: &str = "left-out";

/// A published network.
#[derive(Clone, Debug, PartialEq)]
pub struct Preset {
    /// Its name in scenarios.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its authors, and its place in the paper or the code.
    pub source: String,
    /// Buffers and thresholds of the source, its numbering of nodes, and values that had to be chosen.
    pub notes: String,
    /// The network in the grammar of scenarios.
    pub topology: Topology,
    /// Of an AI cluster: the scale-up domain of a node.
    pub scale_up: Option<ScaleUpKeys>,
}

/// A published network that is not a preset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// The reason why it is not a preset.
    pub reason: String,
}

/// The name of a published network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PresetName(&'static Preset);

/// A published network: its name, or a part of an AI cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PresetKeys(PartKeys);

/// A part of a published AI cluster. Its upper tiers have the oversubscription of the whole, with as many of
/// the links and switches as its nodes need.
#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartKeys {
    /// The name of the cluster. No default.
    pub name: PresetName,
    /// Number of GPU nodes, at least 1; of each site, where it has several. They are spread evenly over the
    /// segments. Default: as published.
    #[serde(default)]
    pub nodes: Option<usize>,
    /// Number of segments (scalable units, racks) of each pod, at least 1. Default: the fewest that hold the
    /// nodes.
    #[serde(default)]
    pub segments: Option<usize>,
    /// Number of pods, at least 1. Default: the fewest that hold the nodes.
    #[serde(default)]
    pub pods: Option<usize>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    description: String,
    source: String,
    notes: String,
    topology: Topology,
    scale_up: Option<ScaleUpKeys>,
}

type Catalogue = (Vec<Preset>, Vec<LeftOut>);

static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| load().unwrap_or_default());
static NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| presets().iter().map(|preset| preset.name.as_str()).collect());

/// All published networks, in the order of the list.
pub fn presets() -> &'static [Preset] {
    &CATALOGUE.0
}

/// Published networks that are not presets, with reasons.
pub fn left_out() -> &'static [LeftOut] {
    &CATALOGUE.1
}

/// Reads the crate's own list; a test checks it.
fn load() -> Result<Catalogue, ScenarioError> {
    let table = Node::parse("topologies", PUBLISHED)?;
    let mut presets = Vec::new();
    for entry in table.entries().iter().filter(|entry| entry.key != LEFT_OUT) {
        let Entry { description, source, notes, topology, scale_up } = read(&entry.node, &[&entry.key])?;
        presets.push(Preset { name: entry.key.clone(), description, source, notes, topology, scale_up });
    }
    let left_out = table.get(LEFT_OUT).map_or(&[][..], Node::entries);
    let left_out = left_out.iter().map(|entry| LeftOut {
        name: entry.key.clone(),
        reason: entry.node.text().unwrap_or_default().to_owned(),
    });
    Ok((presets, left_out.collect()))
}

impl PresetKeys {
    pub(super) fn build(&self, files: &Files<'_>) -> Result<Network, TopologyError> {
        self.topology()?.build(files)
    }

    /// The published network of which it is all, or a part.
    pub fn preset(&self) -> &'static Preset {
        self.0.name.0
    }

    /// The network, or the part of it, in the grammar of scenarios.
    fn topology(&self) -> Result<Topology, TopologyError> {
        let PartKeys { name: PresetName(preset), nodes, segments, pods } = self.0;
        preset.topology.part(Part { nodes, segments, pods }).unwrap_or_else(|| {
            let given = [("nodes", nodes), ("segments", segments), ("pods", pods)];
            let key = given.iter().find(|(_, given)| given.is_some()).map_or("", |(key, _)| key);
            let clusters: Vec<_> =
                presets().iter().filter(|preset| preset.is_cluster()).map(|preset| &*preset.name).collect();
            let why = format!(
                "{} has one size; those of which parts can be taken: {}",
                preset.name,
                clusters.join(", ")
            );
            Err(TopologyError::new(key, why))
        })
    }
}

impl Generator for PresetKeys {
    fn fabric(&self, names: &mut Names, above: Hop) -> Result<Fabric, TopologyError> {
        let fabric = match self.topology()? {
            Topology::Explicit(of) => FabricKind::Explicit(of),
            Topology::SingleSwitch(of) => FabricKind::SingleSwitch(of),
            Topology::Chain(of) => FabricKind::Chain(of),
            Topology::Dumbbell(of) => FabricKind::Dumbbell(of),
            Topology::LeafSpine(of) => FabricKind::LeafSpine(of),
            Topology::FatTree(of) => FabricKind::FatTree(of),
            Topology::RailOptimised(of) => FabricKind::RailOptimised(of),
            Topology::TwoDc(_) | Topology::MultiDc(_) | Topology::Hpcc(_) | Topology::Preset(_) => {
                let name = &self.0.name.0.name;
                let why = format!("{name} has sites of its own, and cannot be one site of several");
                return Err(TopologyError::new("", why));
            }
        };
        fabric.fabric(names, above)
    }
}

impl Preset {
    /// Whether it is an AI cluster, of which a part can be taken.
    pub fn is_cluster(&self) -> bool {
        self.topology.part(Part { nodes: Some(1), ..Part::default() }).is_some()
    }

    /// Its nodes and links at full size.
    ///
    /// # Errors
    /// None for networks of the list, which tests build.
    pub fn network(&self) -> Result<Network, TopologyError> {
        self.topology.build(&Files { folder: Path::new(""), tables: None })
    }
}

impl Topology {
    /// A part of it; none where it has one size and is not wanted whole.
    fn part(&self, part: Part) -> Option<Result<Topology, TopologyError>> {
        match self {
            _ if part == Part::default() => Some(Ok(self.clone())),
            Topology::RailOptimised(rails) => Some(rails.scaled(part).map(Topology::RailOptimised)),
            Topology::TwoDc(two_dc) => match &two_dc.fabric {
                Some(FabricKind::RailOptimised(rails)) => Some(rails.scaled(part).map(|rails| {
                    let fabric = Some(FabricKind::RailOptimised(rails));
                    Topology::TwoDc(Box::new(TwoDc { fabric, ..(**two_dc).clone() }))
                })),
                _ => None,
            },
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for PresetKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KeysVisitor)
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = PresetKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        NameVisitor.expecting(f)
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<PresetKeys, E> {
        let name = NameVisitor.visit_str(name)?;
        Ok(PresetKeys(PartKeys { name, nodes: None, segments: None, pods: None }))
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<PresetKeys, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(table)).map(PresetKeys)
    }
}

impl JsonSchema for PresetKeys {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PresetKeys".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (name, part) = (generator.subschema_for::<PresetName>(), generator.subschema_for::<PartKeys>());
        json_schema!({ "anyOf": [name, part] })
    }
}

impl<'de> Deserialize<'de> for PresetName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameVisitor)
    }
}

struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = PresetName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a published network")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<PresetName, E> {
        if let Some(preset) = presets().iter().find(|preset| preset.name == name) {
            return Ok(PresetName(preset));
        }
        match left_out().iter().find(|left_out| left_out.name == name) {
            Some(left_out) => {
                Err(E::custom(format_args!("{name:?} is known, but not a preset: {}", left_out.reason)))
            }
            None => Err(E::unknown_variant(name, &NAMES)),
        }
    }
}

impl JsonSchema for PresetName {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PresetName".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": *NAMES })
    }
}

#[cfg(test)]
mod tests;
