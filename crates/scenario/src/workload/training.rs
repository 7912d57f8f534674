//! Training iterations of transformers, from a model's description.
//!
//! Ranks are laid out tensor first, then expert, data and pipeline. For each micro-batch and layer there are
//! two all-reduces forward and two backward over the tensor-parallel ranks, of the activations (micro-batch ·
//! sequence · hidden · 2 bytes), and with experts two all-to-alls each way of as much for each expert of a
//! token; stages of the pipeline send each other activations in the order of 1F1B; gradients are reduced over
//! the data-parallel ranks in buckets, beside the backward pass of the last micro-batch.
//!
//! Compute times are not measured: each layer takes its floating-point operations over an assumed rate, or
//! the time that is given.

use floodway_programs::collective::{AlgorithmName, CrossNic};
use floodway_units::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::collective::Placement;
use super::models::ModelKeys;
use crate::grammar::forms::whole;
use crate::grammar::selector::Selector;

/// Iterations of a training job.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Training {
    /// The model: the name of a published one, or a table.
    pub model: ModelKeys,
    /// Layers that are simulated, as many in each stage of the pipeline; each has the time and the bytes of a
    /// layer of the whole model. An iteration is that of these layers alone, and results say so. Default: all
    /// layers of the model.
    #[serde(default, deserialize_with = "layers")]
    pub layers: Option<u32>,
    /// Ranks over which each layer is split (tensor parallel). Default: 1.
    #[serde(default, deserialize_with = "degree")]
    pub tensor: Option<u32>,
    /// Stages of the pipeline; where they do not divide the layers, the first ones have one more. Default:
    /// 1.
    #[serde(default, deserialize_with = "degree")]
    pub pipeline: Option<u32>,
    /// Replicas of the model (data parallel). Default: 1.
    #[serde(default, deserialize_with = "degree")]
    pub data: Option<u32>,
    /// Ranks over which experts are spread; it divides the model's experts, where these are known. The
    /// product of the four degrees is the number of ranks. Default: 1.
    #[serde(default, deserialize_with = "degree")]
    pub expert: Option<u32>,
    /// Sequences of a micro-batch. Default: 1.
    #[serde(default)]
    pub micro_batch: Option<u64>,
    /// Micro-batches of an iteration, for each replica. Default: 1.
    #[serde(default, deserialize_with = "degree")]
    pub micro_batches: Option<u32>,
    /// Micro-batches that are simulated, at least as many as the pipeline has stages; the last of them is
    /// followed by the reduction of gradients. An iteration is that of these alone, and results say so.
    /// Default: all of `micro-batches`.
    #[serde(default)]
    pub simulated_micro_batches: Option<u32>,
    /// Tokens of a sequence. Default: the model's.
    #[serde(default)]
    pub sequence: Option<u64>,
    /// Assumed floating-point operations a second of a GPU, from which a layer's time follows: `4e14`. Either
    /// this or `forward`.
    #[serde(default)]
    pub flops: Option<f64>,
    /// Time of a layer's forward pass of a micro-batch. Either this or `flops`.
    #[serde(default)]
    pub forward: Option<Span>,
    /// Time of a layer's backward pass of a micro-batch. Default: twice `forward`.
    #[serde(default)]
    pub backward: Option<Span>,
    /// How gradients are reduced. Default: `reduce-scatter`.
    #[serde(default)]
    pub gradients: Gradients,
    /// Most bytes of a bucket of gradients; at least one layer is in each. Default: 40 MB.
    #[serde(default)]
    pub bucket: Option<Bytes>,
    /// The algorithm of collectives, where it is one of the operation; the levels of `hierarchical` are those
    /// of the ranks. Default: as of `collective`.
    #[serde(default)]
    pub algorithm: Option<AlgorithmName>,
    /// Queue pairs between two ranks, from 1 to 256. Default: 1.
    #[serde(default)]
    pub channels: Option<u32>,
    /// Of rings through several GPU nodes: by which NIC a ring leaves a node, the one by which it came
    /// (`same`, `NCCL_CROSS_NIC=0` with PXN), the next one and back in the node behind (`alternate`, as NCCL
    /// since 2.20), or the next one in each node (`next`), through the spine. Default: `alternate`.
    #[serde(default)]
    pub cross_nic: CrossNic,
    /// Of the experts' all-to-alls: whether messages leave a GPU node by the NIC of the receiver's rail
    /// (NCCL's PXN), as `pxn` of `collective` says. Default: `true`.
    #[serde(default)]
    pub pxn: Option<bool>,
    /// Number of iterations, from 1 to 4096. Default: 1.
    #[serde(default)]
    pub iterations: Option<u32>,
    /// Hosts of the ranks, in the order of the network. Default: all.
    #[serde(default = "Selector::all")]
    pub ranks: Selector,
    /// A file with the host of each rank, one in a line, in the order of ranks; `#` begins a comment. Not
    /// together with `ranks` or `placement`.
    #[serde(default)]
    pub rank_file: Option<String>,
    /// Order of the ranks. Default: `node-first`.
    #[serde(default)]
    pub placement: Placement,
    /// Whether each message has a row in the table of flows. Default: if there are at most a million.
    #[serde(default)]
    pub flows: Option<bool>,
}

fn layers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    whole("a whole number from 1 to the model's layers", deserializer).map(Some)
}

fn degree<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    whole("a whole number of at least 1", deserializer).map(Some)
}

/// How gradients are reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Gradients {
    /// Each rank gets its share of the sums, and shares its part of the new parameters by an all-gather.
    #[default]
    ReduceScatter,
    /// Each rank gets all sums.
    AllReduce,
}
