//! Ring: each rank sends to the next one; reduce-scatter and all-gather take n - 1 steps each.
//!
//! The buffer is divided into n parts. In step s of a reduce-scatter, rank r sends its sum of part r - s - 1
//! to rank r + 1, so that after n - 1 steps it has the sum of part r. In step s of an all-gather it sends
//! part r - s. An all-reduce is both, one after the other: in each step it sends what it has received in the
//! step before.

use super::pieces::Pieces;
use super::{Algorithm, Step, Transfer};

/// A ring.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    pub ranks: u32,
    pub pieces: Pieces,
    /// Does it begin with a reduce-scatter?
    pub scatters: bool,
    /// Does it end with an all-gather?
    pub gathers: bool,
}

impl Ring {
    /// Steps of the reduce-scatter.
    fn scatter_steps(&self) -> u32 {
        if self.scatters { self.ranks - 1 } else { 0 }
    }

    /// The part that a rank sends in a step.
    fn part(&self, rank: u32, step: u32) -> u32 {
        let back = match step.checked_sub(self.scatter_steps()) {
            Some(gather) => gather,
            None => step + 1,
        };
        (rank + self.ranks - back) % self.ranks
    }
}

impl Algorithm for Ring {
    fn lanes(&self) -> u32 {
        self.pieces.lanes
    }

    fn channel(&self, lane: u32) -> u32 {
        self.pieces.channel(lane)
    }

    fn steps(&self, _: u32, _: u32) -> u32 {
        self.scatter_steps() + if self.gathers { self.ranks - 1 } else { 0 }
    }

    fn opens_after(&self, _: u32, _: u32, step: u32) -> u32 {
        step
    }

    fn step(&self, rank: u32, lane: u32, step: u32, out: &mut Step) {
        let (begin, bytes) = self.pieces.range(self.part(rank, step), lane);
        let to = (rank + 1) % self.ranks;
        out.sends.push(Transfer { to, step, from_to: (begin, begin), bytes });
        out.receives = 1;
        if step < self.scatter_steps() {
            let before = (rank + self.ranks - 1) % self.ranks;
            out.reduce = self.pieces.range(self.part(before, step), lane).1;
        }
    }
}
