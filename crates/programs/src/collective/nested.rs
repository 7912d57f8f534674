//! Rings within rings: recursive halving and doubling, and hierarchical algorithms.
//!
//! A rank is a number of one digit for each level, the innermost level first. A reduce-scatter goes from the
//! innermost level outwards: at each level the ranks that differ in its digit alone form a ring, divide what
//! they hold of the buffer into as many parts, and in step s the rank of digit d sends its sum of part
//! d - s - 1 to digit d + 1; after all steps it holds the sum of part d. An all-gather goes inwards in the
//! opposite order, and in step s sends part d - s. An all-reduce is both, one after the other.
//!
//! Levels of two are recursive halving and doubling (Thakur et al. 2005,
//! section 3.4). A level for the GPUs of a node, one for nodes and one for sites is the hierarchical
//! all-reduce.

use super::pieces::{Pieces, share, share_of};
use super::{Algorithm, Step, Transfer};

/// Rings of several levels.
#[derive(Clone, Debug)]
pub(crate) struct Nested {
    /// Ranks of a ring of each level, the innermost first.
    pub levels: Vec<u32>,
    pub pieces: Pieces,
    /// Does it begin with a reduce-scatter?
    pub scatters: bool,
    /// Does it end with an all-gather?
    pub gathers: bool,
}

/// A step of a ring: its level, the step there, and whether what arrives is reduced.
struct InRing {
    level: usize,
    step: u32,
    reduces: bool,
}

impl Nested {
    /// Steps outwards, or inwards.
    fn steps_one_way(&self) -> u32 {
        self.levels.iter().map(|ranks| ranks - 1).sum()
    }

    fn in_ring(&self, step: u32) -> InRing {
        let one_way = self.steps_one_way();
        let reduces = self.scatters && step < one_way;
        let mut left = if self.scatters && !reduces { step - one_way } else { step };
        let count = self.levels.len();
        let mut level = 0;
        for place in 0..count {
            level = if reduces { place } else { count - 1 - place };
            let steps = self.levels[level] - 1;
            if left < steps {
                break;
            }
            left -= steps;
        }
        InRing { level, step: left, reduces }
    }

    /// A rank's digit at a level, and by how much a rank of the next digit is greater.
    fn digit(&self, rank: u32, level: usize) -> (u32, u32) {
        let unit: u32 = self.levels[..level].iter().product();
        (rank / unit % self.levels[level], unit)
    }

    /// What a rank holds of a slice's piece once the levels inside of `level` are done.
    fn held(&self, rank: u32, level: usize, slice: u32) -> (u64, u64) {
        let inner = (0..level).map(|inner| (self.digit(rank, inner).0, self.levels[inner]));
        inner.fold(self.pieces.range(slice), |range, (digit, ranks)| share(range, digit, ranks))
    }

    /// The rank that has a byte when all levels are reduced.
    pub fn owner(&self, byte: u64) -> u32 {
        let (mut range, mut rank) = (self.pieces.range(self.pieces.slice_of(byte)), 0);
        for (level, &ranks) in self.levels.iter().enumerate() {
            let digit = share_of(range, byte, ranks);
            range = share(range, digit, ranks);
            rank += digit * self.digit(0, level).1;
        }
        rank
    }

    /// For each rank that a rank sends to: messages and bytes. At each level it sends all parts of what it
    /// holds but its own, and in an all-gather all but that of the next digit.
    pub fn each_peer(&self, rank: u32, each: &mut impl FnMut(u32, u64, u64)) {
        for (pieces, slice, slices) in self.pieces.kinds() {
            let nested = Nested { pieces, ..self.clone() };
            nested.each_of_slice(rank, slice, &mut |to, messages, bytes| {
                each(to, messages * slices, bytes * slices);
            });
        }
    }

    /// The same of one slice.
    fn each_of_slice(&self, rank: u32, slice: u32, each: &mut impl FnMut(u32, u64, u64)) {
        for (level, &ranks) in self.levels.iter().enumerate().filter(|(_, ranks)| **ranks > 1) {
            let (digit, unit) = self.digit(rank, level);
            let next = (digit + 1) % ranks;
            let kept = [(self.scatters, digit), (self.gathers, next)];
            let (mut messages, mut bytes) = (0, 0);
            let held = self.held(rank, level, slice);
            for (_, part) in kept.iter().filter(|(there, _)| *there) {
                let (begin, end) = share(held, *part, ranks);
                messages += u64::from(ranks - 1);
                bytes += held.1 - held.0 - (end - begin);
            }
            each(rank - digit * unit + next * unit, messages, bytes);
        }
    }

    /// The part that a rank of this digit sends.
    fn part(&self, digit: u32, at: &InRing) -> u32 {
        let ranks = self.levels[at.level];
        (digit + ranks - at.step - u32::from(at.reduces)) % ranks
    }
}

impl Algorithm for Nested {
    fn slices(&self) -> u32 {
        self.pieces.slices
    }

    fn channel(&self, slice: u32) -> u32 {
        self.pieces.channel(slice)
    }

    fn steps(&self, _: u32, _: u32) -> u32 {
        self.steps_one_way() * (u32::from(self.scatters) + u32::from(self.gathers))
    }

    fn opens_after(&self, _: u32, _: u32, step: u32) -> u32 {
        step
    }

    fn step(&self, rank: u32, slice: u32, step: u32, out: &mut Step) {
        let at = self.in_ring(step);
        let (held, ranks) = (self.held(rank, at.level, slice), self.levels[at.level]);
        let (digit, unit) = self.digit(rank, at.level);
        let to = rank - digit * unit + (digit + 1) % ranks * unit;
        let (begin, end) = share(held, self.part(digit, &at), ranks);
        out.sends.push(Transfer::of(to, (slice, step), (begin, begin), end - begin));
        out.receives = 1;
        if at.reduces {
            let before = (digit + ranks - 1) % ranks;
            let (begin, end) = share(held, self.part(before, &at), ranks);
            out.reduce = floodway_units::Bytes(end - begin);
        }
    }
}
