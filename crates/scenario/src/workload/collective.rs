//! Collective operations: those of NCCL and of nccl-tests, and the barrier.
//!
//! Ranks (GPUs) are placed on hosts in the order of the network, `gpus-per-nic` of them on each host. A
//! message of a collective is sent when what it depends on has arrived; all messages from one rank to another
//! on a channel are messages of one queue pair. Within a scale-up domain of `gpu-nodes` they are no packets.

use floodway_programs::collective::{AlgorithmName, CrossNic, Purpose};
use floodway_units::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grammar::forms::Many;
use crate::grammar::selector::Selector;

/// A collective operation of ranks, once or repeatedly, as nccl-tests run it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Collective {
    /// What it computes.
    pub op: Purpose,
    /// Size of the whole buffer, as nccl-tests count it: all-gather and gather by their output, all others by
    /// the input of a rank. Several sizes follow one another: `["1MB", "8MB", "64MB"]`. Where it is less than
    /// a byte for each rank, each part is a byte; of `0B` nothing is sent. Default: `0B` of a barrier, which
    /// sends the least that there is; none of others.
    #[serde(default)]
    pub size: Option<Many<Bytes>>,
    /// The algorithm. Default: `ring`; of what each rank sends to others (`all-to-all`, `gather`, `scatter`,
    /// `send-receive`) `direct`, of a barrier `double-binary-tree`.
    #[serde(default)]
    pub algorithm: Option<AlgorithmName>,
    /// Hosts of the ranks, in the order of the network. Default: all.
    #[serde(default = "Selector::all")]
    pub ranks: Selector,
    /// A file with the host of each rank, one in a line, in the order of ranks; `#` begins a comment. Not
    /// together with `ranks` or `placement`.
    #[serde(default)]
    pub rank_file: Option<String>,
    /// Number of ranks, the first of those. Default: all.
    #[serde(default)]
    pub count: Option<usize>,
    /// Order of the ranks. Default: `node-first`.
    #[serde(default)]
    pub placement: Placement,
    /// Which ranks execute the collective together. Default: `all`.
    #[serde(default)]
    pub groups: Groups,
    /// Queue pairs between two ranks, each with its part of every message (NCCL's channels), from 1 to 256;
    /// of rings and trees through several GPU nodes, so many for each NIC. Default: 1.
    #[serde(default)]
    pub channels: Option<u32>,
    /// Of rings through several GPU nodes: by which NIC a ring leaves a node, the one by which it came
    /// (`same`, `NCCL_CROSS_NIC=0` with PXN), the next one and back in the node behind (`alternate`, as NCCL
    /// since 2.20), or the next one in each node (`next`), through the spine. Default: `alternate`.
    #[serde(default)]
    pub cross_nic: CrossNic,
    /// Of `direct` and `pairwise` all-to-alls, `gather`, `scatter` and `send-receive` between GPU nodes that
    /// have a scale-up domain and several NICs: whether a GPU hands a message to the GPU of its node whose
    /// NIC has the receiver's place, which sends it on, so that it stays on its rail (NCCL's PXN, unless
    /// `NCCL_PXN_DISABLE=1`). Without, each GPU sends by its own NIC, and messages change rails through the
    /// spine. Default: `true`.
    #[serde(default)]
    pub pxn: Option<bool>,
    /// Largest message; larger ones are cut, and their pieces are sent one after another. Default: 128
    /// KiB, or a 4096th if that is more, of what goes along a ring to or from a root and of
    /// `double-binary-tree`; all else is not cut.
    #[serde(default)]
    pub chunk: Option<Bytes>,
    /// Of `pairwise`: number of ranks to which a rank sends at once, at least 1. Default: 1.
    #[serde(default)]
    pub window: Option<u32>,
    /// Of a broadcast and a scatter, the place of its source in the group; of a reduce and a gather, that of
    /// its destination. Default: 0.
    #[serde(default)]
    pub root: Option<u32>,
    /// Of all-reduce, reduce-scatter and reduce: how fast a rank adds what has arrived to what it has, before
    /// it sends the sum on. Default: at once.
    #[serde(default)]
    pub reduce_rate: Option<Rate>,
    /// Of `hierarchical`: ranks of a ring of each level, the innermost first; their product is the number of
    /// ranks of a group. Default: GPUs of a node, nodes of a site, sites.
    #[serde(default)]
    pub levels: Option<Vec<u32>>,
    /// Of an all-to-all whose messages differ: size by sender and receiver, a row for each rank of a group.
    /// `size` is then what a rank sends in all on average, for the bandwidth in the results. Default: equal
    /// parts of `size`.
    #[serde(default)]
    pub matrix: Option<Vec<Vec<Bytes>>>,
    /// How often it is executed, from 1 to 4096; each rank begins again when it is done. Default: 1.
    #[serde(default)]
    pub repeat: Option<u32>,
    /// Whether each message has a row in the table of flows. Default: if there are at most a million.
    #[serde(default)]
    pub flows: Option<bool>,
}

/// Order of ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Node by node, in each GPU by GPU, as the network lists its hosts.
    #[default]
    NodeFirst,
    /// GPU by GPU: the first GPU of each node, then the second of each, and so on.
    RailFirst,
    /// Node by node, of the sites in turn: a node of the first site, one of the second, and so on.
    SitesInTurn,
}

/// Which ranks form a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Groups {
    /// All ranks.
    #[default]
    All,
    /// The ranks of a node.
    Node,
    /// The ranks with the same place in their nodes.
    Rail,
    /// The ranks of a site.
    Site,
}
