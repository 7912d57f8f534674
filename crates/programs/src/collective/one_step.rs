//! One step: gather to a root, scatter from it, and send and receive round all ranks, as nccl-tests have
//! them: all messages of a rank at once.

use super::pieces::{Pieces, share_of};
use super::{Algorithm, Step, Transfer};

/// Which messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exchange {
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
    pub exchange: Exchange,
}

impl OneStep {
    /// The rank whose part a byte is in.
    pub fn owner(&self, byte: u64) -> u32 {
        share_of((0, self.pieces.size()), byte, self.ranks)
    }

    fn part(&self, rank: u32, slice: u32) -> (u64, u64) {
        self.pieces.of_part((rank, self.ranks), slice)
    }

    /// For each rank that a rank sends to: messages and bytes.
    pub fn each_peer(&self, rank: u32, each: &mut impl FnMut(u32, u64, u64)) {
        let slices = u64::from(self.pieces.slices);
        let part = |of: u32| {
            let bytes = self.pieces.part((of, self.ranks));
            (bytes.min(slices), bytes)
        };
        match self.exchange {
            Exchange::To(root) if rank != root => {
                let (messages, bytes) = part(rank);
                each(root, messages, bytes);
            }
            Exchange::From(root) if rank == root => {
                for to in (0..self.ranks).filter(|&to| to != root) {
                    let (messages, bytes) = part(to);
                    each(to, messages, bytes);
                }
            }
            Exchange::To(_) | Exchange::From(_) => {}
            Exchange::Next => each((rank + 1) % self.ranks, slices, self.pieces.size()),
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

    fn step(&self, rank: u32, slice: u32, step: u32, out: &mut Step) {
        let (n, at) = (self.ranks, (slice, step));
        // A part of fewer bytes than there are slices has none in some of them.
        let has_bytes = |rank| {
            let (begin, end) = self.part(rank, slice);
            end > begin
        };
        let to = |to, of| {
            let (begin, end) = self.part(of, slice);
            Transfer::of(to, at, (begin, begin), end - begin)
        };
        match self.exchange {
            Exchange::To(root) if rank == root => {
                let from = (0..n).filter(|&from| from != root && has_bytes(from));
                out.receives = floodway_units::cast::narrow(from.count());
            }
            Exchange::To(root) => out.sends.extend(Some(to(root, rank)).filter(|_| has_bytes(rank))),
            Exchange::From(root) if rank == root => {
                let others = (0..n).filter(|&other| other != root && has_bytes(other));
                out.sends.extend(others.map(|other| to(other, other)));
            }
            Exchange::From(_) => out.receives = u32::from(has_bytes(rank)),
            Exchange::Next => {
                let (next, (begin, end)) = ((rank + 1) % n, self.pieces.range(slice));
                out.sends.push(Transfer::of(next, at, (u64::from(next), u64::from(rank)), end - begin));
                out.receives = 1;
            }
        }
    }

    fn most_sends(&self) -> u32 {
        match self.exchange {
            Exchange::From(_) => self.ranks - 1,
            Exchange::To(_) | Exchange::Next => 1,
        }
    }
}
