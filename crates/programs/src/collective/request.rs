//! Requests: a collective as a user asks for it, and its plan for a group of ranks.

use std::sync::Arc;

use floodway_units::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::around::{Around, Round};
use super::direct::{Content, Direct, Pairs};
use super::handed::Handed;
use super::nested::Nested;
use super::one_step::{Exchange, OneStep};
use super::pieces::Pieces;
use super::seats::{CrossNic, Nodes, Rings};
use super::tree::{Binomial, DoubleTree, Through};
use super::{Nothing, Plan, Purpose, Steps};
use crate::Message;

/// A collective.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// What it computes.
    pub op: Purpose,
    /// How; by default as [`AlgorithmName::default_of`] says.
    pub algorithm: Option<AlgorithmName>,
    /// The whole buffer: the output of an all-gather and a gather, the input of all others. In an all-to-all
    /// each rank sends it, one n-th to each rank, itself included. Where it is less than a byte for each
    /// part, each part is a byte; of nothing, nothing is sent, as in NCCL.
    pub size: Bytes,
    /// Queue pairs between two ranks, each with its part of every message; of rings and trees through nodes,
    /// so many for each NIC.
    pub channels: u32,
    /// Largest message; larger ones are cut, and their pieces follow each other. By default what goes along a
    /// chain or a tree is cut by [`Request::CHUNK`], and nothing else.
    pub chunk: Option<Bytes>,
    /// Peers to which a rank of a pairwise exchange sends at once.
    pub window: Option<u32>,
    /// Where a broadcast and a scatter come from, and a reduce and a gather go to.
    pub root: u32,
    /// How fast a rank reduces; at once, if absent.
    pub reduce_rate: Option<Rate>,
    /// Ranks of a ring of each level of a hierarchical algorithm, the innermost first; by the seats of the
    /// ranks, if absent.
    pub levels: Option<Vec<u32>>,
    /// Of an all-to-all whose messages differ in size.
    pub sizes: Option<Sizes>,
    /// By which NIC rings leave a node.
    pub cross_nic: CrossNic,
}

/// Sizes of the messages of an all-to-all: by sender, by receiver.
pub type Sizes = Vec<Vec<Bytes>>;

/// An algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AlgorithmName {
    /// Each rank sends to the next one; a broadcast and a reduce go from rank to rank, in chunks. Through
    /// nodes there is a ring for each NIC.
    Ring,
    /// Recursive halving, then doubling, with partners at distance 1, 2, 4, ...; the number of ranks must be
    /// a power of 2.
    HalvingDoubling,
    /// Two complementary binary trees, each with half of the buffer, as in NCCL 2.4. Through nodes there are
    /// two for each NIC.
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

    /// What executes a collective by default: the ring, as NCCL does for large messages; what each rank sends
    /// to others, to all at once, as NCCL does; and a barrier, which `PyTorch` makes an all-reduce of one
    /// element, by the trees that NCCL takes for small messages.
    pub fn default_of(op: Purpose) -> Self {
        match op {
            Purpose::AllToAll | Purpose::Gather | Purpose::Scatter | Purpose::SendReceive => Self::Direct,
            Purpose::Barrier => Self::DoubleBinaryTree,
            Purpose::Broadcast
            | Purpose::Reduce
            | Purpose::AllReduce
            | Purpose::ReduceScatter
            | Purpose::AllGather => Self::Ring,
        }
    }

    /// The algorithms of a collective.
    pub fn of(op: Purpose) -> &'static [Self] {
        match op {
            Purpose::AllReduce | Purpose::Barrier => {
                &[Self::Ring, Self::HalvingDoubling, Self::DoubleBinaryTree, Self::Direct, Self::Hierarchical]
            }
            Purpose::ReduceScatter | Purpose::AllGather => {
                &[Self::Ring, Self::HalvingDoubling, Self::Direct, Self::Hierarchical]
            }
            Purpose::Broadcast => &[Self::Ring, Self::BinomialTree],
            Purpose::Reduce => &[Self::Ring],
            Purpose::AllToAll => &[Self::Direct, Self::Pairwise, Self::Ring],
            Purpose::Gather | Purpose::Scatter | Purpose::SendReceive => &[Self::Direct],
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
    /// What goes along a chain or a tree is cut into messages of this size by default, or larger ones of a
    /// buffer of more than [`MOST_CHUNKS`](Self::MOST_CHUNKS) of them: the least that NCCL's larger chunks
    /// come down to where a tree is deep (`NCCL_BUFFSIZE` 4 MiB in 8 steps, halved to 128 KiB).
    pub const CHUNK: Bytes = Bytes(128 << 10);
    /// The most pieces of a channel by default.
    pub const MOST_CHUNKS: u64 = 4096;

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
            levels: None,
            sizes: None,
            cross_nic: CrossNic::default(),
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
        if self.root >= ranks || (self.root > 0 && !op.has_root()) {
            let why = format!(
                "{} is not allowed; of a broadcast, reduce, gather or scatter it is from 0 to {}",
                self.root,
                ranks - 1
            );
            return refuse("root", why);
        }
        if algorithm == AlgorithmName::HalvingDoubling && !ranks.is_power_of_two() {
            let why = format!("\"halving-doubling\" needs a power of 2 ranks; there are {ranks}");
            return refuse("algorithm", why);
        }
        if let Some(levels) = &self.levels {
            if algorithm != AlgorithmName::Hierarchical {
                return refuse("levels", "it belongs to algorithm = \"hierarchical\"");
            }
            if levels.is_empty() {
                return refuse("levels", "\"hierarchical\" needs the ranks of each level, like [8, 16]");
            }
            let product = levels.iter().try_fold(1_u32, |product, &level| product.checked_mul(level));
            if product != Some(ranks) {
                let why = format!("the product of {levels:?} is not the number of ranks, {ranks}");
                return refuse("levels", why);
            }
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

    /// What is sent of the buffer in parts: at least a byte each.
    fn parted(&self, parts: u32) -> Bytes {
        self.size.max(Bytes(parts.into()))
    }

    /// The buffer in messages of so many parts, for so many channels.
    fn pieces(&self, parts: u32, channels: u32) -> Pieces {
        Pieces::new(self.parted(parts), (parts, parts), channels, self.chunk)
    }

    /// The same for what goes along a chain or tree in chunks.
    fn chunks(&self, parts: u32, channels: u32) -> Pieces {
        let of_channel = self.size.0 / (u64::from(parts) * u64::from(channels));
        let by_default = Self::CHUNK.max(Bytes(of_channel.div_ceil(Self::MOST_CHUNKS)));
        Pieces::new(self.parted(parts), (parts, parts), channels, Some(self.chunk.unwrap_or(by_default)))
    }

    fn nested(&self, ranks: u32, levels: Vec<u32>) -> Steps {
        // The innermost level has the largest messages: it divides the whole buffer.
        let largest = levels.iter().copied().find(|&level| level > 1).unwrap_or(ranks);
        Steps::Nested(Nested {
            levels,
            pieces: Pieces::new(self.parted(ranks), (largest, ranks), self.channels, self.chunk),
            scatters: self.op != Purpose::AllGather,
            gathers: self.op != Purpose::ReduceScatter,
        })
    }

    fn direct(&self, ranks: u32, window: u32) -> Steps {
        let content = if self.op == Purpose::AllToAll {
            Content::Pairs(self.pairs(ranks))
        } else {
            Content::Parts {
                pieces: self.pieces(ranks, self.channels),
                scatters: self.op != Purpose::AllGather,
                gathers: self.op != Purpose::ReduceScatter,
            }
        };
        Steps::Direct(Direct { ranks, window, content })
    }

    fn pairs(&self, ranks: u32) -> Pairs {
        let sizes: Option<Arc<[u64]>> =
            self.sizes.as_ref().map(|sizes| sizes.iter().flatten().map(|size| size.0).collect());
        let size = self.parted(ranks).0;
        let part = size.div_ceil(u64::from(ranks));
        let largest = sizes.as_ref().map_or(part, |sizes| sizes.iter().copied().max().unwrap_or_default());
        let largest = Bytes(largest.max(1));
        let slices = Pieces::new(largest, (1, 1), self.channels, self.chunk).slices;
        Pairs { size, sizes, channels: self.channels, slices }
    }

    fn ring(&self, ranks: u32, nodes: Option<&Nodes>) -> Steps {
        let rings = nodes.map_or_else(|| Rings::plain(ranks), |nodes| Rings::through(nodes, self.cross_nic));
        let channels = self.channels * rings.count();
        let (round, pieces) = match self.op {
            Purpose::Broadcast => (Round::From(self.root), self.chunks(1, channels)),
            Purpose::Reduce => (Round::To(self.root), self.chunks(1, channels)),
            op => {
                let (scatters, gathers) = (op != Purpose::AllGather, op != Purpose::ReduceScatter);
                (Round::Parts { scatters, gathers }, self.pieces(ranks, channels))
            }
        };
        Steps::Around(Around { rings: Arc::new(rings), pieces, round })
    }

    fn double_tree(&self, ranks: u32, nodes: Option<&Nodes>) -> Steps {
        let through = nodes.map_or_else(|| Arc::from([]), |nodes| Through::nodes(nodes, ranks));
        let channels = self.channels * nodes.map_or(1, Nodes::rings);
        let mut pieces = self.chunks(2, channels);
        pieces.slices = pieces.slices.saturating_mul(2);
        Steps::DoubleTree(DoubleTree { ranks, pieces, through })
    }

    fn one_step(&self, ranks: u32) -> Steps {
        let (exchange, pieces) = match self.op {
            Purpose::SendReceive => {
                (Exchange::Next, Pieces::new(self.size, (1, 1), self.channels, self.chunk))
            }
            Purpose::Gather => (Exchange::To(self.root), self.pieces(ranks, self.channels)),
            _ => (Exchange::From(self.root), self.pieces(ranks, self.channels)),
        };
        Steps::OneStep(OneStep { ranks, pieces, exchange })
    }

    fn steps(&self, ranks: u32, nodes: Option<&Nodes>) -> Steps {
        if self.size == Bytes::ZERO && self.op != Purpose::Barrier {
            return Steps::Nothing(Nothing);
        }
        match (self.algorithm(), self.op) {
            (_, Purpose::Gather | Purpose::Scatter | Purpose::SendReceive) => self.one_step(ranks),
            (AlgorithmName::Ring, Purpose::AllToAll) => {
                Steps::Handed(Handed { ranks, pieces: self.pieces(ranks, self.channels) })
            }
            (AlgorithmName::Ring, _) => self.ring(ranks, nodes),
            (AlgorithmName::HalvingDoubling, _) => self.nested(ranks, vec![2; ranks.ilog2() as usize]),
            (AlgorithmName::Hierarchical, _) => {
                self.nested(ranks, self.levels.clone().unwrap_or_else(|| vec![ranks]))
            }
            (AlgorithmName::Direct, _) => self.direct(ranks, u32::MAX),
            (AlgorithmName::Pairwise, _) => self.direct(ranks, self.window.unwrap_or(1)),
            (AlgorithmName::BinomialTree, _) => {
                let pieces = Pieces::new(self.size, (1, 1), self.channels, self.chunk);
                Steps::Binomial(Binomial { ranks, root: self.root, pieces })
            }
            (AlgorithmName::DoubleBinaryTree, _) => self.double_tree(ranks, nodes),
        }
    }
}

impl Plan {
    /// The plan of a request for a group of ranks.
    ///
    /// # Errors
    /// The request cannot be met, by its key.
    pub fn new(request: &Request, ranks: u32) -> Result<Self, RequestError> {
        Self::through(&Arc::new(request.clone()), ranks, None)
    }

    /// The plan of a request for a group of ranks that are in nodes.
    pub(crate) fn through(
        request: &Arc<Request>,
        ranks: u32,
        nodes: Option<&Nodes>,
    ) -> Result<Self, RequestError> {
        request.check(ranks)?;
        let rings = nodes.map_or(1, Nodes::rings);
        if u64::from(request.channels) * u64::from(rings) > u64::from(CHANNELS) {
            let why = format!(
                "{} for each of {rings} NICs of a node are more than {CHANNELS} in all",
                request.channels
            );
            return refuse("channels", why);
        }
        let plan = Plan::of(request, request.algorithm().name(), ranks, request.steps(ranks, nodes));
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

    /// Does it differ where ranks are in nodes?
    pub(crate) fn goes_through_nodes(&self) -> bool {
        matches!(self.steps, Steps::Around(_) | Steps::DoubleTree(_))
    }

    /// The rings that go through the nodes of its ranks at once, if any do.
    pub(crate) fn rings(&self) -> Option<u32> {
        match &self.steps {
            Steps::Around(around) if around.rings.is_seated() => Some(around.rings.count()),
            _ => None,
        }
    }

    /// Has it levels by the seats of its ranks?
    pub(crate) fn has_levels_by_seats(&self) -> bool {
        let is_nested = matches!(self.steps, Steps::Nested(_));
        is_nested && self.algorithm == AlgorithmName::Hierarchical.name() && self.request.levels.is_none()
    }

    /// The plan in its place for a group whose ranks are in these nodes, and of these levels, if they are;
    /// none, if it is the same.
    pub(crate) fn seated(
        &self,
        nodes: Option<&Nodes>,
        levels: Option<&[u32]>,
    ) -> Result<Option<Plan>, RequestError> {
        if self.has_levels_by_seats() {
            let Some(levels) = levels else {
                let why = "the ranks of a group are not equally many of each node, and nodes of each site, one \
                           node and one site after another: give it, like [8, 16]";
                return refuse("levels", why);
            };
            let request = Request { levels: Some(levels.to_vec()), ..(*self.request).clone() };
            return Self::through(&Arc::new(request), self.ranks, None).map(Some);
        }
        match nodes.filter(|_| self.goes_through_nodes()) {
            Some(nodes) => Self::through(&self.request, self.ranks, Some(nodes)).map(Some),
            None => Ok(None),
        }
    }
}
