//! Ranks of queue pairs: names that are never reused, of queue pairs whose slots are.

use floodway_blueprint::network::limits::RANK_BITS;
use floodway_engine::panics::Outgrown;
use floodway_units::cast::narrow;

/// No slot: the queue pair is closed.
const CLOSED: u32 = u32::MAX;
/// No slot yet: the queue pair is still to be opened.
const RESERVED: u32 = u32::MAX - 1;
/// Maximum number of ranks from the first that is open to the last: their lowest bits tell them apart.
const MOST: usize = 1 << RANK_BITS;
/// Closed ones at the front are dropped once they are this many, and half of all: so dropping costs O(1)
/// each.
const DROPPED: usize = 64;

/// The slots of queue pairs that are numbered in the order in which they were opened, behind those whose
/// numbers were reserved.
#[derive(Debug, Default)]
pub(crate) struct Ranks {
    /// Rank of the first in `slots`.
    first: u32,
    slots: Vec<u32>,
    /// Closed ones at the front of `slots`.
    closed: usize,
}

impl Ranks {
    /// The rank that the next one gets.
    pub fn next(&self) -> u32 {
        self.first.wrapping_add(narrow::<u32>(self.slots.len()))
    }

    /// The first `count` numbers are kept for queue pairs that are opened in any order; none is open yet.
    pub fn reserve(&mut self, count: u32) {
        self.slots = vec![RESERVED; count as usize];
    }

    /// Opens a queue pair with a reserved rank, or with the next one.
    pub fn open(&mut self, rank: u32, slot: u32) {
        let at = rank.wrapping_sub(self.first) as usize;
        if at >= MOST {
            Outgrown::end(format!(
                "a NIC has opened {MOST} queue pairs since one that is still open, which is the maximum: start fewer \
                 flows, or end that one earlier"
            ));
        }
        if at == self.slots.len() {
            self.slots.push(slot);
        } else {
            self.slots[at] = slot;
        }
    }

    /// The slots of all queue pairs that are open.
    pub fn slots(&self) -> impl Iterator<Item = u32> {
        self.slots.iter().copied().filter(|&slot| slot < RESERVED)
    }

    /// The slot of a queue pair that is open; of its rank, the lowest bits are enough.
    #[inline]
    pub fn get(&self, rank: u32) -> Option<u32> {
        let at = rank.wrapping_sub(self.first) & ((1 << RANK_BITS) - 1);
        self.slots.get(at as usize).copied().filter(|&slot| slot < RESERVED)
    }

    /// A queue pair is closed; its rank is not given again.
    pub fn close(&mut self, rank: u32) {
        let at = (rank.wrapping_sub(self.first) & ((1 << RANK_BITS) - 1)) as usize;
        if let Some(slot) = self.slots.get_mut(at) {
            *slot = CLOSED;
        }
        while self.slots.get(self.closed) == Some(&CLOSED) {
            self.closed += 1;
        }
        if self.closed >= DROPPED && self.closed * 2 >= self.slots.len() {
            self.slots.drain(..self.closed);
            self.first = self.first.wrapping_add(narrow::<u32>(self.closed));
            self.closed = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use floodway_engine::panics::guarded;

    use super::*;

    #[test]
    fn ranks_go_on_while_the_front_is_dropped() {
        let mut ranks = Ranks::default();
        for rank in 0..10_000u32 {
            assert_eq!(ranks.next(), rank);
            ranks.open(rank, rank + 7);
            if rank >= 5 {
                ranks.close(rank - 5);
                assert_eq!(ranks.get(rank - 5), None);
            }
            assert_eq!(ranks.get(rank), Some(rank + 7));
            assert_eq!(ranks.get(rank.saturating_sub(4)), Some(rank.saturating_sub(4) + 7));
        }
        assert!(ranks.slots.len() <= 2 * DROPPED, "{} are kept", ranks.slots.len());
        assert_eq!(ranks.get(10_000), None, "nobody has it yet");
    }

    #[test]
    fn the_lowest_bits_of_a_rank_find_a_queue_pair_beyond_them() {
        let first = (1 << RANK_BITS) - 2;
        let mut ranks = Ranks { first, ..Ranks::default() };
        (0..4).for_each(|slot| ranks.open(first + slot, slot));
        assert_eq!(ranks.next(), first + 4);
        let low = |rank: u32| rank & ((1 << RANK_BITS) - 1);
        let found: Vec<_> = (0..4).map(|n| ranks.get(low(first + n))).collect();
        assert_eq!(found, (0..4).map(Some).collect::<Vec<_>>());
        assert_eq!((low(first + 3), ranks.get(first + 3)), (1, Some(3)));
    }

    #[test]
    fn a_rank_whose_lowest_bits_are_those_of_an_open_one_ends_the_run() {
        let mut ranks = Ranks { slots: vec![CLOSED; MOST - 2], ..Ranks::default() };
        ranks.slots[0] = 7;
        let last = ranks.next();
        (0..2).for_each(|more| ranks.open(last + more, more));
        assert_eq!((ranks.get(0), ranks.get(last + 1)), (Some(7), Some(1)));
        let ended = guarded(|| ranks.open(last + 2, 2)).expect_err("it has the lowest bits of the first");
        let Outgrown { message } = ended.downcast_ref().expect("it says so");
        assert!(message.starts_with("a NIC has opened 16777216 queue pairs since one that is still open"));
    }

    #[test]
    fn one_that_stays_open_keeps_its_rank_among_closed_ones() {
        let mut ranks = Ranks::default();
        (0..300).for_each(|slot| ranks.open(slot, slot));
        (0..300).filter(|&rank| rank != 150).for_each(|rank| ranks.close(rank));
        assert_eq!((ranks.get(150), ranks.get(149), ranks.next()), (Some(150), None, 300));
    }

    #[test]
    fn reserved_ranks_open_in_any_order_and_others_follow_them() {
        let mut ranks = Ranks::default();
        ranks.reserve(3);
        assert_eq!((ranks.get(0), ranks.next()), (None, 3));
        for (rank, slot) in [(2, 10), (3, 11), (0, 12)] {
            ranks.open(rank, slot);
        }
        assert_eq!([0, 1, 2, 3].map(|rank| ranks.get(rank)), [Some(12), None, Some(10), Some(11)]);
        ranks.close(0);
        assert_eq!(ranks.slots().collect::<Vec<_>>(), [10, 11]);
        ranks.open(1, 13);
        assert_eq!((ranks.get(1), ranks.next()), (Some(13), 4));
    }
}
