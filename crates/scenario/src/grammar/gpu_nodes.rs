//! GPU nodes: which hosts are the GPUs of a node, and how these reach each other.

use std::borrow::Cow;

use floodway_mechanisms::slots::{keyword_or_schema, keyword_or_table};
use floodway_units::{Rate, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer};

/// GPU nodes. Hosts are GPUs with a NIC each, in the order of the network, so many of them a node. Hosts and
/// their links are tagged `node-<n>` and `rail-<i>`, their place in the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GpuNodes {
    /// GPUs of a node, from 1 to 1024. Default: that of a rail-optimised network, else 8.
    #[serde(default)]
    pub gpus_per_node: Option<u32>,
    /// GPUs that share a NIC, and so a host of the network; it divides `gpus-per-node`. Default: 1.
    #[serde(default)]
    pub gpus_per_nic: Option<u32>,
    /// The scale-up domain of a node (`NVLink`), which carries messages between its GPUs, or `"none"`: all
    /// messages are packets of the network. Default: that of a published AI cluster, else none.
    #[serde(default)]
    pub scale_up: Option<ScaleUpOrNone>,
}

/// A scale-up domain, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleUpOrNone {
    /// No scale-up domain, whatever the network is.
    None,
    /// As given; keys that are left out have the values of the published cluster.
    Of(ScaleUpKeys),
}

/// A scale-up domain: a message takes `latency` and its bytes over `rate`, in turn at the port of each GPU.
/// It is no part of the network of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[serde(expecting = "a table like { rate = \"3600G\", latency = \"500ns\" }")]
pub struct ScaleUpKeys {
    /// Rate of a GPU's port, the same in both directions. Default: that of a published AI cluster; it must be
    /// given elsewhere.
    pub rate: Option<Rate>,
    /// Time from the start of a message to the arrival of its first byte. Default: that of a published AI
    /// cluster, else 1 us.
    pub latency: Option<Span>,
    /// Nodes that share a domain, at least 1. Default: 1.
    pub nodes: Option<u32>,
}

impl ScaleUpKeys {
    /// Takes missing keys from `other`.
    pub fn or(self, other: ScaleUpKeys) -> ScaleUpKeys {
        ScaleUpKeys {
            rate: self.rate.or(other.rate),
            latency: self.latency.or(other.latency),
            nodes: self.nodes.or(other.nodes),
        }
    }
}

impl<'de> Deserialize<'de> for ScaleUpOrNone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let keys = keyword_or_table("none", deserializer)?;
        Ok(keys.map_or(ScaleUpOrNone::None, ScaleUpOrNone::Of))
    }
}

impl JsonSchema for ScaleUpOrNone {
    fn schema_name() -> Cow<'static, str> {
        "ScaleUpOrNone".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        keyword_or_schema::<ScaleUpKeys>("none", generator)
    }
}
