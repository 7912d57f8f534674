//! Networks of published experiments, by name.

use std::fmt;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};

use super::Topology;
use super::network::{Network, TopologyError};
use crate::error::ScenarioError;
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

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    description: String,
    source: String,
    notes: String,
    topology: Topology,
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
        let Entry { description, source, notes, topology } = read(&entry.node, &[&entry.key])?;
        presets.push(Preset { name: entry.key.clone(), description, source, notes, topology });
    }
    let left_out = table.get(LEFT_OUT).map_or(&[][..], Node::entries);
    let left_out = left_out.iter().map(|entry| LeftOut {
        name: entry.key.clone(),
        reason: entry.node.text().unwrap_or_default().to_owned(),
    });
    Ok((presets, left_out.collect()))
}

impl PresetName {
    pub(super) fn build(self, files: &Files<'_>) -> Result<Network, TopologyError> {
        self.0.topology.build(files)
    }

    /// The network of this name.
    pub fn preset(self) -> &'static Preset {
        self.0
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
