//! Requests: a collective as a user asks for it, and its plan for a group of ranks.

use std::sync::Arc;

use floodway_units::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::around::Around;
use super::direct::{Content, Direct, Pairs};
use super::nested::Nested;
use super::pieces::Pieces;
use super::tree::{Broadcast, DoubleTree};
use super::{Plan, Purpose, Steps};
use crate::Message;

/// A collective.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What it computes.
    pub op: Purpose,
    /// How; by default as [`AlgorithmName::default_of`] says.
    pub algorithm: Option<AlgorithmName>,
    /// The whole buffer: the output of an all-gather, the input of all others. In an all-to-all each rank
    /// sends it, one n-th to each rank, itself included.
    pub size: Bytes,
    /// Queue pairs between two ranks, each with its part of every message.
    pub channels: u32,
    /// Largest message; larger ones are cut, and their pieces follow each other.
    pub chunk: Option<Bytes>,
    /// Peers to which a rank of a pairwise exchange sends at once.
    pub window: Option<u32>,
    /// Where a broadcast comes from.
    pub root: u32,
    /// How fast a rank reduces; at once, if absent.
    pub reduce_rate: Option<Rate>,
    /// Ranks of a ring of each level of a hierarchical algorithm, the innermost first.
    pub levels: Vec<u32>,
    /// Of an all-to-all whose messages differ in size.
    pub sizes: Option<Sizes>,
}

/// Sizes of the messages of an all-to-all: by sender, by receiver.
pub type Sizes = Vec<Vec<Bytes>>;

/// An algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlgorithmName {
    /// Each rank sends to the next one; a broadcast goes from rank to rank.
    Ring,
    /// Recursive halving, then doubling, with partners at distance 1, 2, 4, ...; the number of ranks must be
    /// a power of 2.
    HalvingDoubling,
    /// Two complementary binary trees, each with half of the buffer, as in NCCL 2.4.
    DoubleBinaryTree,
    /// To all others at once.
    Direct,
    /// To one other at a time, or to `window` of them: in step i to the rank i places on.
    Pairwise,
    /// A binomial tree from the root.
    BinomialTree,
    /// Rings within rings, by `levels`: reduce-scatter within nodes, all-reduce along rails, all-gather
    /// within nodes.
    Hierarchical,
}

impl AlgorithmName {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::HalvingDoubling => "halving-doubling",
            Self::DoubleBinaryTree => "double-binary-tree",
            Self::Direct => "direct",
            Self::Pairwise => "pairwise",
            Self::BinomialTree => "binomial-tree",
            Self::Hierarchical => "hierarchical",
        }
    }

    /// What executes a collective by default: the ring, and of an all-to-all the pairwise exchange, as NCCL
    /// does for large messages.
    pub fn default_of(op: Purpose) -> Self {
        match op {
            Purpose::AllToAll => Self::Pairwise,
            Purpose::Broadcast | Purpose::AllReduce | Purpose::ReduceScatter | Purpose::AllGather => {
                Self::Ring
            }
        }
    }

    /// The algorithms of a collective.
    pub fn of(op: Purpose) -> &'static [Self] {
        match op {
            Purpose::AllReduce => {
                &[Self::Ring, Self::HalvingDoubling, Self::DoubleBinaryTree, Self::Direct, Self::Hierarchical]
            }
            Purpose::ReduceScatter | Purpose::AllGather => {
                &[Self::Ring, Self::HalvingDoubling, Self::Direct, Self::Hierarchical]
            }
            Purpose::Broadcast => &[Self::Ring, Self::BinomialTree],
            Purpose::AllToAll => &[Self::Pairwise, Self::Direct, Self::Ring],
        }
    }
}

/// The most channels of a collective.
pub(super) const CHANNELS: u32 = 256;

/// A request that cannot be met: the key, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {why}")]
pub struct RequestError {
    /// The key of the request.
    pub key: &'static str,
    /// What was given, and what is allowed.
    pub why: String,
}

fn refuse<T>(key: &'static str, why: impl Into<String>) -> Result<T, RequestError> {
    Err(RequestError { key, why: why.into() })
}

impl Request {
    /// A collective of this size with the defaults of all else.
    pub fn new(op: Purpose, size: Bytes) -> Self {
        Request {
            op,
            algorithm: None,
            size,
            channels: 1,
            chunk: None,
            window: None,
            root: 0,
            reduce_rate: None,
            levels: Vec::new(),
            sizes: None,
        }
    }

    fn algorithm(&self) -> AlgorithmName {
        self.algorithm.unwrap_or(AlgorithmName::default_of(self.op))
    }

    fn check(&self, ranks: u32) -> Result<(), RequestError> {
        let (op, algorithm) = (self.op.name(), self.algorithm());
        if !AlgorithmName::of(self.op).contains(&algorithm) {
            let allowed: Vec<String> =
                AlgorithmName::of(self.op).iter().map(|name| format!("\"{}\"", name.name())).collect();
            let why =
                format!("\"{}\" is no algorithm of {op}; allowed: {}", algorithm.name(), allowed.join(", "));
            return refuse("algorithm", why);
        }
        if ranks < 2 {
            return refuse("ranks", format!("a collective of {ranks} rank: it needs at least 2"));
        }
        if self.size.0 < u64::from(ranks) && self.sizes.is_none() {
            let why = format!("{} is less than a byte for each of {ranks} ranks", self.size);
            return refuse("size", why);
        }
        if !(1..=CHANNELS).contains(&self.channels) {
            return refuse("channels", format!("{} is not a number from 1 to {CHANNELS}", self.channels));
        }
        if self.chunk == Some(Bytes::ZERO) {
            return refuse("chunk", "0B is not allowed; the minimum is 1B");
        }
        if self.reduce_rate == Some(Rate(0)) {
            return refuse("reduce-rate", "0 is not allowed; leave it out for no time at all");
        }
        self.check_own_keys(algorithm, ranks)
    }

    /// Keys that belong to some operations and algorithms only.
    fn check_own_keys(&self, algorithm: AlgorithmName, ranks: u32) -> Result<(), RequestError> {
        let op = self.op;
        if self.window.is_some() && algorithm != AlgorithmName::Pairwise {
            return refuse("window", "it belongs to algorithm = \"pairwise\"");
        }
        if self.window == Some(0) {
            return refuse("window", "0 is not allowed; the minimum is 1");
        }
        if self.root >= ranks || (self.root > 0 && op != Purpose::Broadcast) {
            let why = format!("{} is not allowed; of a broadcast it is from 0 to {}", self.root, ranks - 1);
            return refuse("root", why);
        }
        if algorithm == AlgorithmName::HalvingDoubling && !ranks.is_power_of_two() {
            let why = format!("\"halving-doubling\" needs a power of 2 ranks; there are {ranks}");
            return refuse("algorithm", why);
        }
        match (algorithm == AlgorithmName::Hierarchical, self.levels.is_empty()) {
            (true, true) => {
                return refuse("levels", "\"hierarchical\" needs the ranks of each level, like [8, 16]");
            }
            (false, false) => return refuse("levels", "it belongs to algorithm = \"hierarchical\""),
            _ => {}
        }
        let product = self.levels.iter().try_fold(1_u32, |product, &level| product.checked_mul(level));
        if !self.levels.is_empty() && product != Some(ranks) {
            let why = format!("the product of {:?} is not the number of ranks, {ranks}", self.levels);
            return refuse("levels", why);
        }
        if let Some(sizes) = &self.sizes {
            if op != Purpose::AllToAll || algorithm == AlgorithmName::Ring {
                return refuse("matrix", "it belongs to an all-to-all that is \"pairwise\" or \"direct\"");
            }
            let n = ranks as usize;
            if sizes.len() != n || sizes.iter().any(|row| row.len() != n) {
                return refuse("matrix", format!("it does not have {ranks} rows of {ranks} sizes"));
            }
            // Bandwidths are computed from `size`.
            let total: u128 = sizes.iter().flatten().map(|size| u128::from(size.0)).sum();
            let average = total / u128::from(ranks);
            if average == 0 {
                return refuse("matrix", "no rank sends a byte by it");
            }
            if average != u128::from(self.size.0) {
                let given = self.size;
                let average = Bytes(u64::try_from(average).unwrap_or(u64::MAX));
                let why = format!("{given} is not what a rank sends on average by `matrix`, {average}");
                return refuse("size", why);
            }
        }
        Ok(())
    }

    fn pieces(&self, parts: u32) -> Pieces {
        Pieces::new(self.size, (parts, parts), self.channels, self.chunk)
    }

    fn nested(&self, ranks: u32, levels: Vec<u32>) -> Steps {
        // The innermost level has the largest messages: it divides the whole buffer.
        let largest = levels.iter().copied().find(|&level| level > 1).unwrap_or(ranks);
        Steps::Nested(Nested {
            levels,
            pieces: Pieces::new(self.size, (largest, ranks), self.channels, self.chunk),
            scatters: self.op != Purpose::AllGather,
            gathers: self.op != Purpose::ReduceScatter,
        })
    }

    fn direct(&self, ranks: u32, window: u32) -> Steps {
        let content = if self.op == Purpose::AllToAll {
            Content::Pairs(self.pairs(ranks))
        } else {
            Content::Parts {
                pieces: self.pieces(ranks),
                scatters: self.op != Purpose::AllGather,
                gathers: self.op != Purpose::ReduceScatter,
            }
        };
        Steps::Direct(Direct { ranks, window, content })
    }

    fn pairs(&self, ranks: u32) -> Pairs {
        let sizes: Option<Arc<[u64]>> =
            self.sizes.as_ref().map(|sizes| sizes.iter().flatten().map(|size| size.0).collect());
        let part = self.size.0.div_ceil(u64::from(ranks));
        let largest = sizes.as_ref().map_or(part, |sizes| sizes.iter().copied().max().unwrap_or_default());
        let largest = Bytes(largest.max(1));
        let slices = Pieces::new(largest, (1, 1), self.channels, self.chunk).slices;
        Pairs { size: self.size.0, sizes, channels: self.channels, slices }
    }

    fn steps(&self, ranks: u32) -> Steps {
        match self.algorithm() {
            AlgorithmName::Ring if self.op == Purpose::Broadcast => self.broadcast(ranks, true),
            AlgorithmName::Ring if self.op == Purpose::AllToAll => {
                Steps::Around(Around { ranks, pieces: self.pieces(ranks) })
            }
            AlgorithmName::Ring => self.nested(ranks, vec![ranks]),
            AlgorithmName::HalvingDoubling => self.nested(ranks, vec![2; ranks.ilog2() as usize]),
            AlgorithmName::Hierarchical => self.nested(ranks, self.levels.clone()),
            AlgorithmName::Direct => self.direct(ranks, u32::MAX),
            AlgorithmName::Pairwise => self.direct(ranks, self.window.unwrap_or(1)),
            AlgorithmName::BinomialTree => self.broadcast(ranks, false),
            AlgorithmName::DoubleBinaryTree => {
                let mut pieces = self.pieces(2);
                pieces.slices = pieces.slices.saturating_mul(2);
                Steps::DoubleTree(DoubleTree { ranks, pieces })
            }
        }
    }

    fn broadcast(&self, ranks: u32, chain: bool) -> Steps {
        Steps::Broadcast(Broadcast { ranks, root: self.root, pieces: self.pieces(1), chain })
    }
}

impl Plan {
    /// The plan of a request for a group of ranks.
    ///
    /// # Errors
    /// The request cannot be met, by its key.
    pub fn new(request: &Request, ranks: u32) -> Result<Self, RequestError> {
        request.check(ranks)?;
        let names = (request.op, request.algorithm().name());
        let of_group = (ranks, request.size);
        let plan = Plan::of(names, of_group, request.reduce_rate, request.steps(ranks));
        let shape = plan.shape;
        let transfers = u128::from(shape.slices) * u128::from(shape.steps) * u128::from(shape.sends);
        if transfers > u128::from(Message::TRANSFERS) {
            let why = format!(
                "that makes up to {transfers} messages of a rank; the maximum is {}: choose larger chunks",
                Message::TRANSFERS
            );
            return refuse("chunk", why);
        }
        Ok(plan)
    }
}
