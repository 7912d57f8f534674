//! Round-robin bitmap: a set of small numbers that finds the next member after another, cyclically.
//!
//! It has several levels, so that the next member is found in O(1), however many there are.

/// Members of `0..capacity` in a bitmap of several levels: each bit of a level says whether a word of the
/// level below holds any.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundRobinBitmap {
    levels: Vec<Vec<u64>>,
    len: usize,
}

impl RoundRobinBitmap {
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn insert(&mut self, member: u32) {
        self.grow(member);
        let mut at = member as usize;
        for (depth, level) in self.levels.iter_mut().enumerate() {
            let bit = 1 << (at % 64);
            let before = level[at / 64];
            if depth == 0 {
                self.len += usize::from(before & bit == 0);
            }
            level[at / 64] = before | bit;
            if before != 0 {
                return;
            }
            at /= 64;
        }
    }

    pub fn remove(&mut self, member: u32) {
        let mut at = member as usize;
        for (depth, level) in self.levels.iter_mut().enumerate() {
            let Some(word) = level.get_mut(at / 64) else { return };
            if depth == 0 {
                self.len -= usize::from(*word & 1 << (at % 64) != 0);
            }
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The first member after `last`, or from the beginning.
    #[expect(clippy::cast_possible_truncation, reason = "members are numbers of 32 bits")]
    pub fn next_after(&self, last: u32) -> Option<u32> {
        if self.len == 0 {
            return None;
        }
        self.first_from(last as usize + 1).or_else(|| self.first_from(0)).map(|member| member as u32)
    }

    /// All of them, in order.
    pub fn members(&self) -> impl Iterator<Item = u32> {
        std::iter::successors(self.first_from(0), |last| self.first_from(last + 1))
            .map(floodway_units::cast::narrow)
    }

    /// The first member that is at least `from`.
    fn first_from(&self, from: usize) -> Option<usize> {
        let mut at = from;
        for depth in 0..self.levels.len() {
            let word = self.levels[depth].get(at / 64).copied().unwrap_or(0) & (!0 << (at % 64));
            if word != 0 {
                return Some(self.descend(depth, at / 64 * 64 + word.trailing_zeros() as usize));
            }
            at = at / 64 + 1;
        }
        None
    }

    fn descend(&self, depth: usize, at: usize) -> usize {
        (0..depth).rev().fold(at, |at, level| at * 64 + self.levels[level][at].trailing_zeros() as usize)
    }

    fn grow(&mut self, member: u32) {
        let mut words = member as usize / 64 + 1;
        for depth in 0.. {
            if depth == self.levels.len() {
                // A new top says which words of the level below are not empty.
                let below = depth.checked_sub(1).map(|below| &self.levels[below]);
                let mut top = vec![0u64; words];
                for (i, _) in below.into_iter().flatten().enumerate().filter(|(_, word)| **word != 0) {
                    top[i / 64] |= 1 << (i % 64);
                }
                self.levels.push(top);
            }
            if self.levels[depth].len() < words {
                self.levels[depth].resize(words, 0);
            }
            words = self.levels[depth].len();
            if words == 1 {
                return;
            }
            words = words.div_ceil(64);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_goes_round_its_members_in_order(
            steps in prop::collection::vec((any::<bool>(), 0..9_000u32, 0..9_000u32), 1..200)
        ) {
            let mut bitmap = RoundRobinBitmap::default();
            let mut model = BTreeSet::new();
            for (add, member, last) in steps {
                if add {
                    bitmap.insert(member);
                    model.insert(member);
                } else {
                    bitmap.remove(member);
                    model.remove(&member);
                }
                let expected = model.range(last + 1..).next().or_else(|| model.first()).copied();
                prop_assert_eq!(bitmap.next_after(last), expected);
                prop_assert_eq!(bitmap.len(), model.len());
            }
        }
    }
}
