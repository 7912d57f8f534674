//! Direct: each rank exchanges messages with all others, so many peers at a time.
//!
//! In step s of a phase, rank r sends to rank r + s + 1 and receives from rank r - s - 1. In a
//! reduce-scatter it sends the part of the receiver, in an all-gather its own one; an all-reduce is both,
//! and its second phase begins when all of the first one is reduced. In an all-to-all each pair of ranks has
//! a message of its own.

use std::sync::Arc;

use floodway_units::Bytes;

use super::pieces::{Pieces, share, share_of};
use super::relayed::{Exchange, Targets};
use super::{Algorithm, Step, Transfer};

/// Messages to all others.
#[derive(Clone, Debug)]
pub(crate) struct Direct {
    pub ranks: u32,
    /// Peers at once.
    pub window: u32,
    pub content: Content,
}

/// What is exchanged.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// Parts of one buffer, reduced, gathered, or both.
    Parts { pieces: Pieces, scatters: bool, gathers: bool },
    /// A message for each pair of ranks.
    Pairs(Pairs),
}

/// Messages of an all-to-all, each with a piece for every slice.
#[derive(Clone, Debug)]
pub(crate) struct Pairs {
    /// Payload that each rank has for all, in equal parts; and where that differs, from each rank to each
    /// other, sender by sender.
    pub size: u64,
    pub sizes: Option<Arc<[u64]>>,
    pub channels: u32,
    pub slices: u32,
}

impl Pairs {
    /// Where the message of two ranks begins, and ends.
    fn message(&self, ranks: u32, (from, to): (u32, u32)) -> (u64, u64) {
        match &self.sizes {
            Some(sizes) => (0, sizes[(from * ranks + to) as usize]),
            None => share((0, self.size), to, ranks),
        }
    }

    /// A slice's piece of the message of two ranks.
    fn piece(&self, ranks: u32, ends: (u32, u32), slice: u32) -> u64 {
        let (begin, end) = share(self.message(ranks, ends), slice, self.slices);
        end - begin
    }
}

impl Direct {
    /// The rank that has a byte of the common buffer when it is reduced.
    pub fn owner(&self, byte: u64) -> u32 {
        match &self.content {
            Content::Parts { pieces, .. } => share_of(pieces.range(pieces.slice_of(byte)), byte, self.ranks),
            Content::Pairs(_) => 0,
        }
    }

    /// Steps of a phase.
    fn phase(&self) -> u32 {
        self.ranks - 1
    }
}

/// An all-to-all: other contents are no messages from one rank to another.
impl Exchange for Direct {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn targets(&self, from: u32) -> Targets {
        match &self.content {
            Content::Parts { .. } => Targets::Nobody,
            Content::Pairs(_) => Targets::All { first: from + 1 },
        }
    }

    fn message(&self, from: u32, to: u32, slice: u32) -> Option<Transfer> {
        let Content::Pairs(pairs) = &self.content else { return None };
        let bytes = pairs.piece(self.ranks, (from, to), slice);
        let step = (to + self.ranks - from - 1) % self.ranks;
        (bytes > 0).then(|| Transfer::of(to, (slice, step), (u64::from(to), u64::from(from)), bytes))
    }

    fn bytes(&self, from: u32, to: u32) -> u64 {
        let Content::Pairs(pairs) = &self.content else { return 0 };
        let (begin, end) = pairs.message(self.ranks, (from, to));
        end - begin
    }
}

impl Algorithm for Direct {
    fn slices(&self) -> u32 {
        match &self.content {
            Content::Parts { pieces, .. } => pieces.slices,
            Content::Pairs(pairs) => pairs.slices,
        }
    }

    fn channel(&self, slice: u32) -> u32 {
        match &self.content {
            Content::Parts { pieces, .. } => pieces.channel(slice),
            Content::Pairs(pairs) => slice % pairs.channels,
        }
    }

    fn steps(&self, _: u32, _: u32) -> u32 {
        match &self.content {
            Content::Parts { scatters: true, gathers: true, .. } => 2 * self.phase(),
            _ => self.phase(),
        }
    }

    fn opens_after(&self, _: u32, _: u32, step: u32) -> u32 {
        let first = step / self.phase() * self.phase();
        first.max((step + 1).saturating_sub(self.window))
    }

    fn waits_for_sends(&self, _: u32) -> bool {
        self.window < self.phase()
    }

    fn step(&self, rank: u32, slice: u32, step: u32, out: &mut Step) {
        let distance = step % self.phase() + 1;
        let to = (rank + distance) % self.ranks;
        let from = (rank + self.ranks - distance) % self.ranks;
        match &self.content {
            Content::Parts { pieces, scatters, .. } => {
                let reduces = *scatters && step < self.phase();
                let range = pieces.range(slice);
                let (begin, end) = share(range, if reduces { to } else { rank }, self.ranks);
                out.sends.push(Transfer::of(to, (slice, step), (begin, begin), end - begin));
                out.receives = 1;
                if reduces {
                    let (begin, end) = share(range, rank, self.ranks);
                    out.reduce = Bytes(end - begin);
                }
            }
            Content::Pairs(pairs) => {
                out.sends.extend(self.message(rank, to, slice));
                out.receives = u32::from(pairs.piece(self.ranks, (from, rank), slice) > 0);
            }
        }
    }
}
