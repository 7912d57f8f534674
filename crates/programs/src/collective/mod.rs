//! Collectives: which rank of a group sends what to which other one, step by step.
//!
//! A plan has slices, which progress beside each other: one for each channel (ring, pair of trees) and piece
//! of a message. A rank's part of a slice is a sequence of steps. A step sends some transfers, and receives
//! some; it is done when all of these have arrived, and what is to be reduced is reduced. It begins when so
//! many steps before it are done as [`Plan::opens_after`] says.

mod around;
mod direct;
mod handed;
mod nested;
mod one_step;
mod pieces;
mod relayed;
mod request;
mod seats;
mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;

use floodway_units::{Bytes, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use pieces::Pieces;
pub(crate) use pieces::share;
use relayed::{Exchange, Relayed};
pub use request::{AlgorithmName, Request, RequestError, Sizes};
pub(crate) use seats::Places;
pub use seats::{CrossNic, Seat};

/// A collective of a group of ranks, as steps by formula. Ranks are places in the group here.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Number of ranks in the group.
    pub ranks: u32,
    /// What it computes.
    pub purpose: Purpose,
    /// Name of the algorithm.
    pub algorithm: &'static str,
    /// Size of the whole buffer, as nccl-tests count it: all-gather by its output, reduce-scatter by its
    /// input.
    pub size: Bytes,
    /// How fast a rank reduces what has arrived; at once, if absent.
    pub reduce_rate: Option<Rate>,
    /// What was asked for.
    pub(crate) request: Arc<Request>,
    pub(crate) steps: Steps,
    pub(crate) shape: Shape,
}

/// What a collective computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the operations' own names")]
pub enum Purpose {
    AllReduce,
    ReduceScatter,
    AllGather,
    Broadcast,
    AllToAll,
    Reduce,
    Gather,
    Scatter,
    SendReceive,
    Barrier,
}

impl Purpose {
    /// All of them, in their order.
    pub const ALL: [Self; 10] = [
        Self::AllReduce,
        Self::ReduceScatter,
        Self::AllGather,
        Self::Broadcast,
        Self::AllToAll,
        Self::Reduce,
        Self::Gather,
        Self::Scatter,
        Self::SendReceive,
        Self::Barrier,
    ];

    /// Its name, as scenarios and tables have it.
    pub fn name(self) -> &'static str {
        match self {
            Purpose::AllReduce => "all-reduce",
            Purpose::ReduceScatter => "reduce-scatter",
            Purpose::AllGather => "all-gather",
            Purpose::Broadcast => "broadcast",
            Purpose::AllToAll => "all-to-all",
            Purpose::Reduce => "reduce",
            Purpose::Gather => "gather",
            Purpose::Scatter => "scatter",
            Purpose::SendReceive => "send-receive",
            Purpose::Barrier => "barrier",
        }
    }

    /// Has it a root?
    pub fn has_root(self) -> bool {
        matches!(self, Purpose::Broadcast | Purpose::Reduce | Purpose::Gather | Purpose::Scatter)
    }

    /// Does it reduce what arrives?
    pub fn reduces(self) -> bool {
        matches!(self, Purpose::AllReduce | Purpose::ReduceScatter | Purpose::Reduce)
    }
}

/// The steps of an algorithm.
#[derive(Clone, Debug)]
pub(crate) enum Steps {
    Around(around::Around),
    Nested(nested::Nested),
    Direct(direct::Direct),
    Handed(handed::Handed),
    OneStep(one_step::OneStep),
    RelayedDirect(Relayed<direct::Direct>),
    RelayedOneStep(Relayed<one_step::OneStep>),
    Binomial(tree::Binomial),
    DoubleTree(tree::DoubleTree),
    /// Of no bytes: nothing is sent.
    Nothing(Nothing),
}

impl Steps {
    /// The pieces of its slices, where slices whose pieces are equally long send the same; none of others.
    fn pieces(&self) -> Option<Pieces> {
        match self {
            Steps::Direct(direct::Direct { content: direct::Content::Parts { pieces, .. }, .. }) => {
                Some(*pieces)
            }
            Steps::Binomial(of) => Some(of.pieces),
            Steps::DoubleTree(of) if !of.is_seated() => Some(of.pieces),
            _ => None,
        }
    }

    /// The same steps on other pieces, where there are any.
    fn on(&self, pieces: Pieces) -> Steps {
        let mut steps = self.clone();
        match &mut steps {
            Steps::Direct(direct::Direct { content: direct::Content::Parts { pieces: old, .. }, .. }) => {
                *old = pieces;
            }
            Steps::Binomial(of) => of.pieces = pieces,
            Steps::DoubleTree(of) => of.pieces = pieces,
            _ => {}
        }
        steps
    }
}

/// The steps of one algorithm for a group of ranks.
pub(crate) trait Algorithm {
    /// Number of slices.
    fn slices(&self) -> u32;
    /// The channel of a slice.
    fn channel(&self, slice: u32) -> u32;
    /// Number of steps of a rank in a slice.
    fn steps(&self, rank: u32, slice: u32) -> u32;
    /// The most steps of any rank and slice, or more: by default those of the first rank.
    fn most_steps(&self) -> u32 {
        self.steps(0, 0)
    }
    /// How many of the steps before it must be done before a step begins; it never falls from step to step.
    fn opens_after(&self, rank: u32, slice: u32, step: u32) -> u32;
    /// The step, into `out`, which is empty.
    fn step(&self, rank: u32, slice: u32, step: u32, out: &mut Step);
    /// Is a step of a slice done only when its sends are complete, too?
    fn waits_for_sends(&self, _slice: u32) -> bool {
        false
    }
    /// The most transfers that any step of any rank sends.
    fn most_sends(&self) -> u32 {
        1
    }
}

/// A collective of no bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nothing;

impl Algorithm for Nothing {
    fn slices(&self) -> u32 {
        0
    }

    fn channel(&self, _: u32) -> u32 {
        0
    }

    fn steps(&self, _: u32, _: u32) -> u32 {
        0
    }

    fn opens_after(&self, _: u32, _: u32, _: u32) -> u32 {
        0
    }

    fn step(&self, _: u32, _: u32, _: u32, _: &mut Step) {}
}

/// A step of a rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// What it sends, in order.
    pub sends: Vec<Transfer>,
    /// How many transfers arrive in it.
    pub receives: u32,
    /// Of each of them, the bytes that are reduced with what the rank has; 0 if they replace it.
    pub reduce: Bytes,
}

/// A message of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The receiver.
    pub to: u32,
    /// The receiver's slice and step.
    pub at: (u32, u32),
    /// Where the bytes begin in the sender's buffer, and in the receiver's; of an all-to-all, the ranks to
    /// and from which they go in the end.
    pub from_to: (u64, u64),
    /// Its size.
    pub bytes: Bytes,
}

impl Transfer {
    fn of(to: u32, at: (u32, u32), from_to: (u64, u64), bytes: u64) -> Self {
        Transfer { to, at, from_to, bytes: Bytes(bytes) }
    }
}

/// Bounds of a plan's slices, by which transfers are numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub slices: u32,
    /// The most steps of any rank and slice.
    pub steps: u32,
    /// The most transfers that a step sends.
    pub sends: u32,
}

macro_rules! of_algorithm {
    ($of:expr, $steps:ident => $value:expr) => {
        match $of {
            Steps::Around($steps) => $value,
            Steps::Nested($steps) => $value,
            Steps::Direct($steps) => $value,
            Steps::Handed($steps) => $value,
            Steps::OneStep($steps) => $value,
            Steps::RelayedDirect($steps) => $value,
            Steps::RelayedOneStep($steps) => $value,
            Steps::Binomial($steps) => $value,
            Steps::DoubleTree($steps) => $value,
            Steps::Nothing($steps) => $value,
        }
    };
}

impl Plan {
    /// A plan of `steps` for a request of a group of so many ranks.
    pub(crate) fn of(request: &Arc<Request>, algorithm: &'static str, ranks: u32, steps: Steps) -> Self {
        let shape = of_algorithm!(&steps, steps => Shape {
            slices: steps.slices(),
            steps: steps.most_steps(),
            sends: steps.most_sends(),
        });
        Plan {
            ranks,
            purpose: request.op,
            algorithm,
            size: request.size,
            reduce_rate: request.reduce_rate,
            request: Arc::clone(request),
            steps,
            shape,
        }
    }

    /// Ranks of a ring of each level, the innermost first; none of an algorithm that is no ring.
    pub fn levels(&self) -> &[u32] {
        match &self.steps {
            Steps::Nested(nested) => &nested.levels,
            _ => &[],
        }
    }

    /// Number of slices.
    pub fn slices(&self) -> u32 {
        self.shape.slices
    }

    /// The channel of a slice.
    pub fn channel(&self, slice: u32) -> u32 {
        of_algorithm!(&self.steps, steps => steps.channel(slice))
    }

    /// Number of channels: slices take turns between them, those of two trees in pairs.
    pub fn channels(&self) -> u32 {
        let slices = self.slices().min(2 * request::CHANNELS);
        (0..slices).map(|slice| self.channel(slice) + 1).max().unwrap_or_default()
    }

    /// Number of steps of a rank in a slice.
    pub fn steps(&self, rank: u32, slice: u32) -> u32 {
        of_algorithm!(&self.steps, steps => steps.steps(rank, slice))
    }

    /// How many steps of a rank in a slice must be done before a step begins.
    pub fn opens_after(&self, rank: u32, slice: u32, step: u32) -> u32 {
        of_algorithm!(&self.steps, steps => steps.opens_after(rank, slice, step))
    }

    /// Is a step of a slice done only when its sends are complete, too?
    pub fn waits_for_sends(&self, slice: u32) -> bool {
        of_algorithm!(&self.steps, steps => steps.waits_for_sends(slice))
    }

    /// Writes a step into `out`.
    pub fn step(&self, rank: u32, slice: u32, step: u32, out: &mut Step) {
        out.sends.clear();
        (out.receives, out.reduce) = (0, Bytes(0));
        of_algorithm!(&self.steps, steps => steps.step(rank, slice, step, out));
    }

    /// For each rank that a rank sends to: the number of messages and their bytes, in all slices and steps.
    pub fn each_peer(&self, rank: u32, mut each: impl FnMut(u32, u64, u64)) {
        let mut peers: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
        let mut add = |to, messages, bytes| {
            let sum = peers.entry(to).or_default();
            (sum.0, sum.1) = (sum.0 + messages, sum.1 + bytes);
        };
        match (&self.steps, self.steps.pieces()) {
            (Steps::Around(around), _) => around.each_peer(rank, &mut add),
            (Steps::Nested(nested), _) => nested.each_peer(rank, &mut add),
            (Steps::Handed(handed), _) => handed.each_peer(rank, &mut add),
            (Steps::OneStep(one), _) => one.each_peer(rank, &mut add),
            (Steps::RelayedDirect(relayed), _) => relayed.each_peer(rank, &mut add),
            (Steps::RelayedOneStep(relayed), _) => relayed.each_peer(rank, &mut add),
            (Steps::Direct(direct), None) => direct.each_peer(rank, &mut add),
            (_, Some(pieces)) => self.each_of_kinds(pieces, rank, &mut add),
            (_, None) => self.each_of_slices(rank, &mut add),
        }
        for (to, (messages, bytes)) in peers {
            each(to, messages, bytes);
        }
    }

    /// What one slice of each kind sends, as often as there are such slices.
    fn each_of_kinds(&self, pieces: Pieces, rank: u32, each: &mut impl FnMut(u32, u64, u64)) {
        let mut memory = Step::default();
        for (alike, turn, slices) in pieces.kinds() {
            let plan = Plan { steps: self.steps.on(alike), ..self.clone() };
            for step in 0..plan.steps(rank, turn) {
                plan.step(rank, turn, step, &mut memory);
                for transfer in &memory.sends {
                    each(transfer.to, slices, transfer.bytes.0 * slices);
                }
            }
        }
    }

    fn each_of_slices(&self, rank: u32, each: &mut impl FnMut(u32, u64, u64)) {
        let mut memory = Step::default();
        for slice in 0..self.slices() {
            for step in 0..self.steps(rank, slice) {
                self.step(rank, slice, step, &mut memory);
                memory.sends.iter().for_each(|transfer| each(transfer.to, 1, transfer.bytes.0));
            }
        }
    }

    /// The time to reduce so many bytes.
    pub fn reduce_time(&self, bytes: Bytes) -> Span {
        self.reduce_rate.map_or(Span::ZERO, |rate| rate.time_to_send(bytes))
    }

    /// The number of a transfer among those of a rank.
    pub(crate) fn number(&self, slice: u32, step: u32, place: u32) -> u32 {
        (slice * self.shape.steps + step) * self.shape.sends + place
    }

    /// A slice and step as one number.
    pub(crate) fn cell(&self, (slice, step): (u32, u32)) -> u32 {
        slice * self.shape.steps + step
    }

    /// The slice and step of a [`cell`](Self::cell).
    pub(crate) fn of_cell(&self, cell: u32) -> (u32, u32) {
        (cell / self.shape.steps, cell % self.shape.steps)
    }

    /// Slice, step and place of a transfer by its number among those of a rank.
    pub fn place(&self, number: u32) -> (u32, u32, u32) {
        let (rest, place) = (number / self.shape.sends, number % self.shape.sends);
        (rest / self.shape.steps, rest % self.shape.steps, place)
    }

    /// The rank that has a byte of the buffer at the end of a reduce-scatter, or at the start of an
    /// all-gather.
    pub fn owner(&self, byte: u64) -> u32 {
        match &self.steps {
            Steps::Around(around) => around.owner(byte),
            Steps::Nested(nested) => nested.owner(byte),
            Steps::Direct(direct) => direct.owner(byte),
            Steps::OneStep(one) => one.owner(byte),
            Steps::RelayedOneStep(relayed) => relayed.of.owner(byte),
            Steps::Handed(_)
            | Steps::RelayedDirect(_)
            | Steps::Binomial(_)
            | Steps::DoubleTree(_)
            | Steps::Nothing(_) => 0,
        }
    }

    /// Bus bandwidth over algorithm bandwidth, as nccl-tests define it.
    pub fn bus_factor(&self) -> f64 {
        let n = f64::from(self.ranks);
        match self.purpose {
            Purpose::AllReduce => 2.0 * (n - 1.0) / n,
            Purpose::ReduceScatter
            | Purpose::AllGather
            | Purpose::AllToAll
            | Purpose::Gather
            | Purpose::Scatter => (n - 1.0) / n,
            Purpose::Broadcast | Purpose::Reduce | Purpose::SendReceive | Purpose::Barrier => 1.0,
        }
    }
}
