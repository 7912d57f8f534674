//! Choices drawn from a list of numbers: a shorter list, or smaller numbers, make a simpler choice, so that
//! proptest finds the simplest case that fails.

use proptest::prelude::*;

/// Numbers from which choices are made; at its end every choice is the first.
pub struct Tape<'a>(std::slice::Iter<'a, u32>);

/// Numbers for at most `most` choices.
pub fn numbers(most: usize) -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(any::<u32>(), 0..=most)
}

impl<'a> Tape<'a> {
    pub fn new(numbers: &'a [u32]) -> Self {
        Tape(numbers.iter())
    }

    /// A number below `end`, 0 if the tape is empty.
    pub fn below(&mut self, end: usize) -> usize {
        self.0.next().map_or(0, |&number| number as usize % end.max(1))
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) + 1 == n
    }

    /// One of `all`, of which there is one at least.
    pub fn pick<'b, T>(&mut self, all: &'b [T]) -> &'b T {
        &all[self.below(all.len())]
    }

    /// One of several words.
    pub fn word<'b>(&mut self, all: &[&'b str]) -> &'b str {
        all[self.below(all.len())]
    }
}
