//! All-to-all by neighbours: each message is handed round the ring, as ASTRA-sim's ring all-to-all does.
//!
//! The messages to the rank d places on take d steps, one place each; d goes from 1 to n - 1, so that there
//! are n (n - 1) / 2 steps.

use super::pieces::Pieces;
use super::{Algorithm, Step, Transfer};

/// Messages handed round a ring.
#[derive(Clone, Debug)]
pub(crate) struct Handed {
    pub ranks: u32,
    pub pieces: Pieces,
}

impl Handed {
    /// How far the messages of a step go in all, and how far they have come.
    fn hop(step: u32) -> (u32, u32) {
        let (mut distance, mut left) = (1, step);
        while left >= distance {
            left -= distance;
            distance += 1;
        }
        (distance, left)
    }

    /// Messages and bytes to the next rank: in each step a message of each slice, all together a part.
    pub fn each_peer(&self, rank: u32, each: &mut impl FnMut(u32, u64, u64)) {
        let (to, slices) = ((rank + 1) % self.ranks, u64::from(self.pieces.slices));
        for step in 0..self.steps(rank, 0) {
            each(to, slices, self.pieces.part((self.last(rank, step), self.ranks)));
        }
    }

    /// The rank to which the messages of a step go in the end.
    fn last(&self, rank: u32, step: u32) -> u32 {
        let (distance, come) = Self::hop(step);
        (rank + self.ranks - come + distance) % self.ranks
    }
}

impl Algorithm for Handed {
    fn slices(&self) -> u32 {
        self.pieces.slices
    }

    fn channel(&self, slice: u32) -> u32 {
        self.pieces.channel(slice)
    }

    fn steps(&self, _: u32, _: u32) -> u32 {
        let ranks = u64::from(self.ranks);
        u32::try_from(ranks * (ranks - 1) / 2).unwrap_or(u32::MAX)
    }

    fn opens_after(&self, _: u32, _: u32, step: u32) -> u32 {
        step
    }

    fn step(&self, rank: u32, slice: u32, step: u32, out: &mut Step) {
        let (_, come) = Self::hop(step);
        let first = (rank + self.ranks - come) % self.ranks;
        let last = self.last(rank, step);
        let (begin, end) = self.pieces.of_part((last, self.ranks), slice);
        let to = (rank + 1) % self.ranks;
        out.sends.push(Transfer::of(to, (slice, step), (u64::from(last), u64::from(first)), end - begin));
        out.receives = 1;
    }
}
