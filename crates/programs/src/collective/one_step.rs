//! One step: gather to a root, scatter from it, and send and receive round all ranks, as nccl-tests have
//! them: all messages of a rank at once.

use floodway_units::cast::narrow;

use super::pieces::{Pieces, share_of};
use super::relayed::{Exchange, Targets};
use super::{Algorithm, Step, Transfer};

/// Which messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// The part of each rank to the root.
    To(u32),
    /// The part of each rank from the root.
    From(u32),
    /// The buffer of each rank to the next one.
    Next,
}

/// Messages of one step.
#[derive(Clone, Debug)]
pub(crate) struct OneStep {
    pub ranks: u32,
    pub pieces: Pieces,
    pub direction: Direction,
}

impl OneStep {
    /// The rank whose part a byte is in.
    pub fn owner(&self, byte: u64) -> u32 {
        share_of((0, self.pieces.size()), byte, self.ranks)
    }

    /// The piece of the message of two ranks that is in a slice: where it begins, and ends.
    fn piece(&self, from: u32, to: u32, slice: u32) -> (u64, u64) {
        match self.direction {
            Direction::To(_) => self.pieces.of_part((from, self.ranks), slice),
            Direction::From(_) => self.pieces.of_part((to, self.ranks), slice),
            Direction::Next => self.pieces.range(slice),
        }
    }
}

impl Exchange for OneStep {
    fn ranks(&self) -> u32 {
        self.ranks
    }

    fn targets(&self, from: u32) -> Targets {
        match self.direction {
            Direction::To(root) if from != root => Targets::One(root),
            Direction::From(root) if from == root => Targets::All { first: 0 },
            Direction::To(_) | Direction::From(_) => Targets::Nobody,
            Direction::Next => Targets::One((from + 1) % self.ranks),
        }
    }

    fn message(&self, from: u32, to: u32, slice: u32) -> Option<Transfer> {
        let (begin, end) = self.piece(from, to, slice);
        let from_to = match self.direction {
            Direction::To(_) | Direction::From(_) => (begin, begin),
            Direction::Next => (u64::from(to), u64::from(from)),
        };
        // A part of fewer bytes than there are slices has none in some of them.
        (end > begin).then(|| Transfer::of(to, (slice, 0), from_to, end - begin))
    }

    fn bytes(&self, from: u32, to: u32) -> u64 {
        match self.direction {
            Direction::To(_) => self.pieces.part((from, self.ranks)),
            Direction::From(_) => self.pieces.part((to, self.ranks)),
            Direction::Next => self.pieces.size(),
        }
    }
}

impl Algorithm for OneStep {
    fn slices(&self) -> u32 {
        self.pieces.slices
    }

    fn channel(&self, slice: u32) -> u32 {
        self.pieces.channel(slice)
    }

    fn steps(&self, _: u32, _: u32) -> u32 {
        1
    }

    fn opens_after(&self, _: u32, _: u32, _: u32) -> u32 {
        0
    }

    fn step(&self, rank: u32, slice: u32, _: u32, out: &mut Step) {
        let n = self.ranks;
        let others = (0..n).filter(|&other| other != rank);
        let message = |from, to| self.message(from, to, slice);
        match self.targets(rank) {
            Targets::Nobody => {}
            Targets::One(to) => out.sends.extend(message(rank, to)),
            Targets::All { .. } => out.sends.extend(others.clone().filter_map(|to| message(rank, to))),
        }
        out.receives = match self.direction {
            Direction::To(root) if rank == root => {
                narrow(others.filter(|&from| message(from, rank).is_some()).count())
            }
            Direction::From(root) if rank != root => u32::from(message(root, rank).is_some()),
            Direction::To(_) | Direction::From(_) => 0,
            Direction::Next => u32::from(message((rank + n - 1) % n, rank).is_some()),
        };
    }

    fn most_sends(&self) -> u32 {
        match self.direction {
            Direction::From(_) => self.ranks - 1,
            Direction::To(_) | Direction::Next => 1,
        }
    }
}
