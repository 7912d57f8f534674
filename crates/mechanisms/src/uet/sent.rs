//! What a sender waits for: packets by number, and in the order in which they started.

use std::collections::VecDeque;
use std::ops::Range;

use floodway_units::Time;
use floodway_units::cast::to_usize;

/// A packet that was sent and has neither been reported nor counted as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sent {
    pub size: u64,
    pub at: Time,
    pub is_request: bool,
    /// The timer of all packets is for it, too, if it comes first.
    pub is_timed: bool,
}

/// Such packets: a ring from the first one on.
#[derive(Clone, Debug, Default)]
pub(super) struct Outstanding {
    first: u64,
    packets: VecDeque<Option<Sent>>,
    /// Starts and numbers of those that are timed, in that order; of others there may be some that were once.
    by_time: VecDeque<(Time, u64)>,
    /// How many are timed.
    timed: usize,
}

impl Outstanding {
    pub fn get(&self, number: u64) -> Option<&Sent> {
        self.packets.get(self.place(number)?)?.as_ref()
    }

    /// A packet of `size` bytes that starts is waited for, in place of what was before with its number.
    pub fn insert(&mut self, number: u64, size: u64, at: Time, is_request: bool) {
        let sent = Sent { size, at, is_request, is_timed: true };
        if self.packets.is_empty() {
            self.first = number;
        }
        if number == self.first + self.packets.len() as u64 {
            self.packets.push_back(Some(sent));
        } else {
            self.replace(number, sent);
        }
        self.timed += 1;
        if self.by_time.back().is_none_or(|last| *last < (at, number)) {
            self.by_time.push_back((at, number));
        } else {
            let before = self.by_time.partition_point(|other| *other < (at, number));
            self.by_time.insert(before, (at, number));
        }
    }

    /// The same of a packet that is not the next one after all others.
    #[inline(never)]
    fn replace(&mut self, number: u64, sent: Sent) {
        // A request that was lost may have a number before them.
        while number < self.first {
            self.packets.push_front(None);
            self.first -= 1;
        }
        let place = to_usize(number - self.first);
        if place >= self.packets.len() {
            self.packets.resize(place + 1, None);
        }
        let before = self.packets[place].replace(sent);
        self.timed -= usize::from(before.is_some_and(|before| before.is_timed));
    }

    /// A packet is no longer waited for.
    pub fn remove(&mut self, number: u64) -> Option<Sent> {
        let place = self.place(number)?;
        let sent = self.packets.get_mut(place)?.take()?;
        self.timed -= usize::from(sent.is_timed);
        while let Some(None) = self.packets.front() {
            self.packets.pop_front();
            self.first += 1;
        }
        Some(sent)
    }

    /// A packet is waited for without the timer.
    pub fn untime(&mut self, number: u64) {
        let place = self.place(number);
        let sent = place.and_then(|place| self.packets.get_mut(place)?.as_mut());
        if let Some(sent) = sent.filter(|sent| sent.is_timed) {
            sent.is_timed = false;
            self.timed -= 1;
        }
    }

    /// The timed packet that started first.
    pub fn first_timed(&mut self) -> Option<(Time, u64)> {
        while let Some(&(at, number)) = self.by_time.front() {
            if self.get(number).is_some_and(|sent| sent.is_timed && sent.at == at) {
                return Some((at, number));
            }
            self.by_time.pop_front();
        }
        None
    }

    /// Are all without the timer?
    pub fn is_untimed(&self) -> bool {
        self.timed == 0
    }

    /// The first packet, if its number is below `end`.
    pub fn first_before(&self, end: u64) -> Option<u64> {
        (!self.packets.is_empty() && self.first < end).then_some(self.first)
    }

    /// Those with numbers in `range`.
    pub fn range(&self, range: Range<u64>) -> impl Iterator<Item = (u64, Sent)> + '_ {
        let (from, to) = (range.start.max(self.first), range.end.min(self.first + self.packets.len() as u64));
        (from..to).filter_map(|number| Some((number, *self.get(number)?)))
    }

    fn place(&self, number: u64) -> Option<usize> {
        number.checked_sub(self.first).map(to_usize)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Insert { number: u64, later: u64 },
        Remove(u64),
        Untime(u64),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (0u64..40, 0u64..3).prop_map(|(number, later)| Step::Insert { number, later }),
            (0u64..40).prop_map(Step::Remove),
            (0u64..40).prop_map(Step::Untime),
        ];
        proptest::collection::vec(step, 1..200)
    }

    proptest! {
        #[test]
        fn they_are_a_map_by_number_and_a_set_by_time(steps in steps()) {
            let (mut packets, mut now) = (Outstanding::default(), 0);
            let (mut map, mut by_time) = (BTreeMap::new(), BTreeSet::new());
            for step in steps {
                match step {
                    Step::Insert { number, later } => {
                        now += later;
                        let sent = Sent { size: number, at: Time(now), is_request: false, is_timed: true };
                        packets.insert(number, sent.size, sent.at, sent.is_request);
                        if let Some(Sent { at, .. }) = map.insert(number, sent) {
                            by_time.remove(&(at, number));
                        }
                        by_time.insert((sent.at, number));
                    }
                    Step::Remove(number) => {
                        let removed = map.remove(&number);
                        prop_assert_eq!(packets.remove(number), removed);
                        removed.map(|sent| by_time.remove(&(sent.at, number)));
                    }
                    Step::Untime(number) => {
                        packets.untime(number);
                        if let Some(sent) = map.get_mut(&number) {
                            sent.is_timed = false;
                            by_time.remove(&(sent.at, number));
                        }
                    }
                }
                prop_assert_eq!(packets.is_untimed(), by_time.is_empty());
                prop_assert_eq!(packets.first_timed(), by_time.first().copied());
                prop_assert_eq!(packets.first_before(20), map.range(..20).next().map(|(number, _)| *number));
                let within: Vec<(u64, Sent)> = map.range(5..30).map(|(number, sent)| (*number, *sent)).collect();
                prop_assert_eq!(packets.range(5..30).collect::<Vec<_>>(), within);
            }
        }
    }
}
