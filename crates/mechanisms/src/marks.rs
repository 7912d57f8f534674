//! Marks of packets in a sliding window: a ring of words, since packets before the window are not queried
//! again, and a set that only grows would keep a word for every 64 packets of a flow.

use std::collections::VecDeque;

/// Which packets from `base` on are marked; all before it are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// Marks of the packets from `start` on, 64 a word; packets beyond the end are not marked.
    words: VecDeque<u64>,
    /// A multiple of 64, at most `base`.
    start: u64,
    /// The first packet that is not marked.
    base: u64,
    /// How many are marked, with all before `base`.
    count: u64,
}

impl Marks {
    /// The first packet that is not marked.
    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// The first packet that is not marked, and those behind it that are, where packets count from `psn`.
    pub(crate) fn counted_from(&self, psn: u64) -> (u64, Vec<u64>) {
        let end = self.start + 64 * self.words.len() as u64;
        let marked = (self.base..end).filter(|&at| self.has(at)).map(|at| at.wrapping_sub(psn));
        (self.base.wrapping_sub(psn), marked.collect())
    }

    /// How many packets behind `base` are marked.
    pub(crate) fn above(&self) -> u64 {
        self.count - self.base
    }

    /// The marks behind `base` of 64 packets, of which the first is `psn`: its bit is the lowest.
    pub(crate) fn bits_above(&self, psn: u64) -> u64 {
        let from = psn.max(self.base);
        let low = self.word(from) >> (from % 64);
        let high = if from.is_multiple_of(64) { 0 } else { self.word(from + 63) << (64 - from % 64) };
        (low | high).checked_shl(u32::try_from(from - psn).unwrap_or(u32::MAX)).unwrap_or(0)
    }

    /// Whether this packet is marked.
    pub(crate) fn has(&self, psn: u64) -> bool {
        psn < self.base || self.word(psn) & bit(psn) != 0
    }

    /// Marks a packet; returns whether it was unmarked.
    pub(crate) fn add(&mut self, psn: u64) -> bool {
        if self.has(psn) {
            return false;
        }
        let at = ((psn - self.start) / 64) as usize;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        self.words[at] |= bit(psn);
        self.count += 1;
        if psn == self.base {
            self.slide(self.first_unmarked(psn + 1));
        }
        true
    }

    /// The first packet from `psn` on, which is not before the window, that is not marked.
    pub(crate) fn first_unmarked(&self, mut psn: u64) -> u64 {
        loop {
            let unmarked = !self.word(psn) & (!0 << (psn % 64));
            psn -= psn % 64;
            if unmarked != 0 {
                return psn + u64::from(unmarked.trailing_zeros());
            }
            psn += 64;
        }
    }

    fn word(&self, psn: u64) -> u64 {
        self.words.get(((psn - self.start) / 64) as usize).copied().unwrap_or(0)
    }

    fn slide(&mut self, base: u64) {
        self.base = base;
        while self.start + 64 <= base {
            self.start += 64;
            self.words.pop_front();
        }
        // What is left of the first word lies partly before the window, all of which is marked.
        if let Some(first) = self.words.front_mut() {
            *first |= !(!0 << (base - self.start));
        }
    }
}

fn bit(psn: u64) -> u64 {
    1 << (psn % 64)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn they_are_a_set_whose_beginning_is_forgotten(
            steps in proptest::collection::vec(0u64..300, 1..200), bound in 1u64..300,
        ) {
            let mut marks = Marks::default();
            let mut model = BTreeSet::new();
            for psn in steps.into_iter().map(|psn| psn % bound) {
                prop_assert_eq!(marks.add(psn), model.insert(psn));
                let base = (0..=300).find(|psn| !model.contains(psn)).expect("300 is never marked");
                prop_assert_eq!(marks.base(), base);
                let above = model.iter().filter(|psn| **psn > base);
                prop_assert_eq!(marks.above(), above.clone().count() as u64);
                for from in [0, base / 2, base, base + 1, base + 64, base + 100] {
                    let bits = above.clone().filter(|psn| (from..from + 64).contains(psn));
                    let bits = bits.fold(0, |bits, psn| bits | 1 << (psn - from));
                    prop_assert_eq!(marks.bits_above(from), bits);
                }
                let after = base.max(psn);
                let unmarked = (after..=300).find(|psn| !model.contains(psn)).expect("300 is never marked");
                prop_assert_eq!(marks.first_unmarked(after), unmarked);
            }
            for psn in 0..400 {
                prop_assert_eq!(marks.has(psn), model.contains(&psn));
            }
        }
    }
}
