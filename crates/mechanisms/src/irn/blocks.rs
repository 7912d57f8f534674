//! Blocks of packets that have arrived out of order.

use std::collections::VecDeque;
use std::ops::Range;

/// Blocks in order, apart from each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks(VecDeque<Range<u64>>);

impl Blocks {
    /// The first block.
    pub fn front(&self) -> Option<&Range<u64>> {
        self.0.front()
    }

    /// The same, where packets count from `psn`.
    pub fn counted_from(&self, psn: u64) -> Self {
        Blocks(
            self.0.iter().map(|block| block.start.wrapping_sub(psn)..block.end.wrapping_sub(psn)).collect(),
        )
    }

    pub fn contains(&self, psn: u64) -> bool {
        let at = self.0.partition_point(|block| block.end <= psn);
        self.0.get(at).is_some_and(|block| block.contains(&psn))
    }

    /// Adds a packet and merges blocks that become adjacent.
    pub fn insert(&mut self, psn: u64) {
        let at = self.0.partition_point(|block| block.end < psn);
        let Some(block) = self.0.get_mut(at).filter(|block| block.start <= psn + 1) else {
            self.0.insert(at, psn..psn + 1);
            return;
        };
        block.start = block.start.min(psn);
        block.end = block.end.max(psn + 1);
        let end = block.end;
        if let Some(after) = self.0.get(at + 1).filter(|after| after.start == end) {
            self.0[at].end = after.end;
            self.0.remove(at + 1);
        }
    }

    /// Removes packets before `psn`.
    pub fn discard(&mut self, psn: u64) {
        while let Some(block) = self.0.front_mut() {
            if block.end > psn {
                block.start = block.start.max(psn);
                return;
            }
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(psns: &[u64]) -> Blocks {
        let mut blocks = Blocks::default();
        for &psn in psns {
            blocks.insert(psn);
        }
        blocks
    }

    /// First packet and the one after the last of each block.
    fn ends(psns: &[u64]) -> Vec<(u64, u64)> {
        of(psns).0.into_iter().map(|block| (block.start, block.end)).collect()
    }

    #[test]
    fn packets_that_touch_are_one_block() {
        assert_eq!(ends(&[5, 3]), [(3, 4), (5, 6)]);
        assert_eq!(ends(&[5, 3, 4]), [(3, 6)]);
        assert_eq!(ends(&[3, 4, 4, 3]), [(3, 5)]);
        assert_eq!(ends(&[4, 3, 9, 10, 8, 1]), [(1, 2), (3, 5), (8, 11)]);
    }

    #[test]
    fn what_lies_behind_is_forgotten() {
        let mut blocks = of(&[3, 4, 5, 8]);
        blocks.discard(4);
        assert_eq!(blocks.front(), Some(&(4..6)));
        assert!(!blocks.contains(3) && blocks.contains(5) && blocks.contains(8) && !blocks.contains(6));
        blocks.discard(6);
        assert_eq!(blocks.front(), Some(&(8..9)));
    }
}
