//! Requests: a collective as a user asks for it, and its plan for a group of ranks.

use std::sync::Arc;

use floodway_units::{Bytes, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::around::{Around, Round};
use super::direct::{Content, Direct, Pairs};
use super::handed::Handed;
use super::nested::Nested;
use super::one_step::{Direction, OneStep};
use super::pieces::Pieces;
use super::relayed::{Relayed, Relays};
use super::seats::{CrossNic, Nodes, Places, Rings};
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
    /// Do messages from rank to rank leave a node by the NIC of the receiver's rail (NCCL's PXN)?
    pub pxn: bool,
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
    /// The most pieces by default of a message that another GPU passes on. NCCL passes on each piece of
    /// 128 KiB (`NCCL_P2P_NET_CHUNKSIZE`) when it has arrived; that the last one comes late then is a 64th of
    /// its message at most.
    pub const MOST_PASSED_ON: u64 = 64;

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
            pxn: true,
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

    fn direct(&self, ranks: u32) -> Steps {
        Steps::Direct(Direct {
            ranks,
            window: u32::MAX,
            content: Content::Parts {
                pieces: self.pieces(ranks, self.channels),
                scatters: self.op != Purpose::AllGather,
                gathers: self.op != Purpose::ReduceScatter,
            },
        })
    }

    fn all_to_all(&self, ranks: u32, window: u32, relays: Option<&Arc<Relays>>) -> Steps {
        let direct = |pairs| Direct { ranks, window, content: Content::Pairs(pairs) };
        match relays {
            None => Steps::Direct(direct(self.pairs(ranks, self.chunk))),
            Some(relays) => {
                let pairs = self.pairs(ranks, Some(self.passed_on(self.largest_message(ranks))));
                Steps::RelayedDirect(Relayed::new(direct(pairs), Arc::clone(relays)))
            }
        }
    }

    fn pairs(&self, ranks: u32, chunk: Option<Bytes>) -> Pairs {
        let sizes: Option<Arc<[u64]>> =
            self.sizes.as_ref().map(|sizes| sizes.iter().flatten().map(|size| size.0).collect());
        let largest = self.largest_message(ranks);
        let slices = Pieces::new(largest, (1, 1), self.channels, chunk).slices;
        Pairs { size: self.parted(ranks).0, sizes, channels: self.channels, slices }
    }

    /// The largest message of an all-to-all.
    fn largest_message(&self, ranks: u32) -> Bytes {
        let part = Bytes(self.parted(ranks).0.div_ceil(u64::from(ranks)));
        let of_matrix = self.sizes.as_ref().map(|sizes| sizes.iter().flatten().max().copied());
        of_matrix.map_or(part, Option::unwrap_or_default).max(Bytes(1))
    }

    /// The largest piece of messages of so many bytes that other GPUs pass on.
    fn passed_on(&self, largest: Bytes) -> Bytes {
        let of_channel = largest.0 / u64::from(self.channels);
        let by_default = Self::CHUNK.max(Bytes(of_channel.div_ceil(Self::MOST_PASSED_ON)));
        self.chunk.unwrap_or(by_default)
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

    fn one_step(&self, ranks: u32, relays: Option<&Arc<Relays>>) -> Steps {
        let (direction, parts) = match self.op {
            Purpose::SendReceive => (Direction::Next, 1),
            Purpose::Gather => (Direction::To(self.root), ranks),
            _ => (Direction::From(self.root), ranks),
        };
        let size = self.parted(parts);
        let chunk = match relays {
            None => self.chunk,
            Some(_) => Some(self.passed_on(Bytes(size.0.div_ceil(u64::from(parts))))),
        };
        let pieces = Pieces::new(size, (parts, parts), self.channels, chunk);
        let one_step = OneStep { ranks, pieces, direction };
        match relays {
            None => Steps::OneStep(one_step),
            Some(relays) => Steps::RelayedOneStep(Relayed::new(one_step, Arc::clone(relays))),
        }
    }

    fn steps(&self, ranks: u32, places: &Places) -> Steps {
        let (nodes, relays) = (places.nodes.as_ref(), places.relays.as_ref());
        if self.size == Bytes::ZERO && self.op != Purpose::Barrier {
            return Steps::Nothing(Nothing);
        }
        match (self.algorithm(), self.op) {
            (_, Purpose::Gather | Purpose::Scatter | Purpose::SendReceive) => self.one_step(ranks, relays),
            (AlgorithmName::Ring, Purpose::AllToAll) => {
                Steps::Handed(Handed { ranks, pieces: self.pieces(ranks, self.channels) })
            }
            (AlgorithmName::Ring, _) => self.ring(ranks, nodes),
            (AlgorithmName::HalvingDoubling, _) => self.nested(ranks, vec![2; ranks.ilog2() as usize]),
            (AlgorithmName::Hierarchical, _) => {
                self.nested(ranks, self.levels.clone().unwrap_or_else(|| vec![ranks]))
            }
            (AlgorithmName::Direct, Purpose::AllToAll) => self.all_to_all(ranks, u32::MAX, relays),
            (AlgorithmName::Direct, _) => self.direct(ranks),
            (AlgorithmName::Pairwise, _) => self.all_to_all(ranks, self.window.unwrap_or(1), relays),
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
        Self::through(&Arc::new(request.clone()), ranks, &Places::default())
    }

    /// The plan of a request for a group of ranks that are in nodes.
    fn through(request: &Arc<Request>, ranks: u32, places: &Places) -> Result<Self, RequestError> {
        request.check(ranks)?;
        let rings = places.nodes.as_ref().map_or(1, Nodes::rings);
        if u64::from(request.channels) * u64::from(rings) > u64::from(CHANNELS) {
            let why = format!(
                "{} for each of {rings} NICs of a node are more than {CHANNELS} in all",
                request.channels
            );
            return refuse("channels", why);
        }
        let plan = Plan::of(request, request.algorithm().name(), ranks, request.steps(ranks, places));
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

    fn goes_through_nodes(&self) -> bool {
        matches!(self.steps, Steps::Around(_) | Steps::DoubleTree(_))
    }

    /// Is it of messages from rank to rank, which relays may pass on?
    fn may_have_relays(&self) -> bool {
        let content = |direct: &Direct| matches!(direct.content, Content::Pairs(_));
        let fits = match &self.steps {
            Steps::Direct(direct) => content(direct),
            steps => matches!(steps, Steps::OneStep(_)),
        };
        fits && self.request.pxn
    }

    /// Are messages passed on by the NIC of the receiver's rail?
    pub(crate) fn has_relays(&self) -> bool {
        matches!(self.steps, Steps::RelayedDirect(_) | Steps::RelayedOneStep(_))
    }

    /// The rings that go through the nodes of its ranks at once, if any do.
    pub(crate) fn rings(&self) -> Option<u32> {
        match &self.steps {
            Steps::Around(around) if around.rings.is_seated() => Some(around.rings.count()),
            _ => None,
        }
    }

    /// Has it levels by the seats of its ranks?
    fn has_levels_by_seats(&self) -> bool {
        let is_nested = matches!(self.steps, Steps::Nested(_));
        is_nested && self.algorithm == AlgorithmName::Hierarchical.name() && self.request.levels.is_none()
    }

    /// May it differ by where its ranks are?
    pub(crate) fn differs_by_seats(&self) -> bool {
        self.goes_through_nodes() || self.may_have_relays() || self.has_levels_by_seats()
    }

    /// The plan in its place for a group whose ranks are there; none, if it is the same.
    pub(crate) fn seated(&self, places: &Places) -> Result<Option<Plan>, RequestError> {
        if self.has_levels_by_seats() {
            let Some(levels) = &places.levels else {
                let why = "the ranks of a group are not equally many of each node, and nodes of each site, one \
                           node and one site after another: give it, like [8, 16]";
                return refuse("levels", why);
            };
            let request = Request { levels: Some(levels.clone()), ..(*self.request).clone() };
            return Self::through(&Arc::new(request), self.ranks, &Places::default()).map(Some);
        }
        let places = if self.goes_through_nodes() && places.nodes.is_some() {
            Places { nodes: places.nodes.clone(), ..Places::default() }
        } else if self.may_have_relays() && places.relays.is_some() {
            Places { relays: places.relays.clone(), ..Places::default() }
        } else {
            return Ok(None);
        };
        Self::through(&self.request, self.ranks, &places).map(Some)
    }
}
