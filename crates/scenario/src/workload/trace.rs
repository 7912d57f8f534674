//! Traces and schedules of jobs that other programs have written: GOAL, Chakra, `SimAI`, htsim.
//!
//! A rank of the file is a rank (GPU) here, placed on hosts as those of a `collective` are. What a format
//! means exactly, and what of it is not used, is said by warnings when the scenario is read.

use floodway_programs::collective::{AlgorithmName, CrossNic};
use floodway_units::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::collective::Placement;
use crate::grammar::forms::Many;
use crate::grammar::selector::Selector;

/// A job from a file.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Trace {
    /// The format of the files.
    pub format: TraceFormat,
    /// The file; of Chakra's traces a folder with a file `NAME.<rank>.et` for each rank, or a list of these.
    /// Files that gzip has compressed are read, too.
    /// Paths are relative to the scenario's folder; `${NAME}` is replaced by an environment variable.
    pub files: Many<String>,
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
    /// Of Chakra and `SimAI`: the algorithm of collectives, where it is one of the operation; the
    /// levels of `hierarchical` are those of the ranks. Default: as of `collective`.
    #[serde(default)]
    pub algorithm: Option<AlgorithmName>,
    /// Of Chakra: each collective is executed as so many, one after another, each with its share of the
    /// bytes (ASTRA-sim's `preferred-dataset-splits`), from 1 to 4096. Default: 1.
    #[serde(default)]
    pub splits: Option<u32>,
    /// Of Chakra and `SimAI`: queue pairs between two ranks of a collective, from 1 to 256. Default: 1.
    #[serde(default)]
    pub channels: Option<u32>,
    /// Of Chakra and `SimAI`, of rings through several GPU nodes: by which NIC a ring leaves a node, the one
    /// by which it came (`same`, `NCCL_CROSS_NIC=0` with PXN), the next one and back in the node behind
    /// (`alternate`, as NCCL since 2.20), or the next one in each node (`next`), through the spine. Default:
    /// `alternate`.
    #[serde(default)]
    pub cross_nic: CrossNic,
    /// Of Chakra and `SimAI`, of collectives that send messages from rank to rank: whether these leave a GPU
    /// node by the NIC of the receiver's rail (NCCL's PXN), as `pxn` of `collective` says. Default: `true` of
    /// Chakra; `false` of `SimAI`, as its `AS_PXN_ENABLE`.
    #[serde(default)]
    pub pxn: Option<bool>,
    /// Of Chakra: operations a second of a GPU, for computations that state a number of operations and no
    /// duration. No default: such a computation without it is an error.
    #[serde(default)]
    pub flops: Option<f64>,
    /// Of Chakra: the sizes of the dimensions that `involved_dim` names, the first one counting ranks
    /// fastest; their product is the number of ranks: `[4, 2]`. No default: a collective over some dimensions
    /// without it is an error.
    #[serde(default)]
    pub dims: Vec<u32>,
    /// Of Chakra: the rate of memory, for loads and stores that state `tensor_size` and no duration. No
    /// default: such a node without it is an error.
    #[serde(default)]
    pub memory_rate: Option<Rate>,
    /// Of Chakra: what such a load or store takes besides its bytes over `memory-rate`. Default: 0.
    #[serde(default)]
    pub memory_latency: Option<Span>,
    /// When a send is complete at its sender. Default: as in the programs that read the format: GOAL's at
    /// once, Chakra's when it has arrived, all others when it is acknowledged.
    #[serde(default)]
    pub send_completes: Option<floodway_programs::SendCompletes>,
    /// Whether each message has a row in the table of flows. Default: if there are at most a million.
    #[serde(default)]
    pub flows: Option<bool>,
}

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceFormat {
    /// GOAL schedules (`LogGOPSim`, ATLAHS), as text and in their binary form.
    Goal,
    /// Execution traces of Chakra (`MLCommons`, ASTRA-sim).
    Chakra,
    /// Workloads of `SimAI`, as AICB writes them.
    Simai,
    /// Connection matrices of htsim (`.cm`).
    Htsim,
}

impl TraceFormat {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Goal, Self::Chakra, Self::Simai, Self::Htsim];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Goal => "goal",
            Self::Chakra => "chakra",
            Self::Simai => "simai",
            Self::Htsim => "htsim",
        }
    }

    /// What a file of it is.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Goal => "a GOAL schedule",
            Self::Chakra => "an execution trace of Chakra",
            Self::Simai => "a workload of SimAI",
            Self::Htsim => "a connection matrix of htsim",
        }
    }

    /// What a file of it contains, in words.
    pub(crate) fn content(self) -> &'static str {
        match self {
            Self::Goal => "a GOAL schedule as text, which begins with num_ranks",
            Self::Chakra => "an execution trace of Chakra, of at least its metadata",
            Self::Simai => "a workload of SimAI, which begins with HYBRID_TRANSFORMER_FWD_IN_BCKWD",
            Self::Htsim => "a connection matrix of htsim, which begins with Nodes",
        }
    }
}
