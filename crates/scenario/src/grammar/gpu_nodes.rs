//! GPU nodes: which hosts are the GPUs of a node, and how these reach each other.

use floodway_units::{Rate, Span};
use schemars::JsonSchema;
use serde::Deserialize;

/// GPU nodes. Hosts are GPUs with a NIC each, in the order of the network, so many of them a node. Hosts and
/// their links are tagged `node-<n>` and `rail-<i>`, their place in the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GpuNodes {
    /// GPUs of a node, from 1 to 1024. Default: that of a rail-optimised network, else 8.
    #[serde(default)]
    pub gpus_per_node: Option<u32>,
    /// GPUs that share a NIC, and so a host of the network; it divides `gpus-per-node`. Default: 1.
    #[serde(default)]
    pub gpus_per_nic: Option<u32>,
    /// The scale-up domain of a node (`NVLink`), which carries messages between its GPUs. Default: none; all
    /// messages are packets of the network.
    #[serde(default)]
    pub scale_up: Option<ScaleUpKeys>,
}

/// A scale-up domain: a message takes `latency` and its bytes over `rate`, in turn at the port of each GPU.
/// It is no part of the network of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScaleUpKeys {
    /// Rate of a GPU's port, the same in both directions. No default.
    pub rate: Rate,
    /// Time from the start of a message to the arrival of its first byte. Default: 1 us.
    #[serde(default)]
    pub latency: Option<Span>,
    /// Nodes that share a domain, at least 1. Default: 1.
    #[serde(default)]
    pub nodes: Option<u32>,
}
