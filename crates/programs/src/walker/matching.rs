//! Matching of receives with messages, by sender and tag, in order.
//!
//! A message takes the first receive that fits it, and a receive the first message. Messages of a later
//! iteration of their sender wait until the receiver is there.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use super::recurrence::Count;

/// Iteration, sender and tag.
type Key = (u32, u32, u64);

/// Receives and messages that wait for each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Matching {
    /// Receives of the current iteration that name sender and tag, with their places in the order of posting.
    posted: BTreeMap<Key, VecDeque<(u64, u32)>>,
    /// Those that do not name both.
    open: Vec<Open>,
    /// Messages, with their places in the order of arrival.
    arrived: BTreeMap<Key, VecDeque<u64>>,
    next: u64,
}

/// A receive that fits several senders or tags.
#[derive(Clone, Copy, Debug)]
struct Open {
    place: u64,
    from: Option<u32>,
    tag: Option<u64>,
    operation: u32,
}

impl Open {
    fn fits(&self, (_, from, tag): Key) -> bool {
        self.from.is_none_or(|own| own == from) && self.tag.is_none_or(|own| own == tag)
    }
}

impl Matching {
    /// A receive of an iteration: the sender of the message that was there for it, if one was.
    pub fn post(
        &mut self,
        iteration: u32,
        from: Option<u32>,
        tag: Option<u64>,
        operation: u32,
    ) -> Option<u32> {
        let open = Open { place: self.place(), from, tag, operation };
        let key = match (from, tag) {
            (Some(from), Some(tag)) => {
                Some((iteration, from, tag)).filter(|key| self.arrived.contains_key(key))
            }
            _ => self.first_arrived(iteration, &open),
        };
        if let Some(key) = key {
            take(&mut self.arrived, key);
            return Some(key.1);
        }
        match (from, tag) {
            (Some(from), Some(tag)) => {
                let key = (iteration, from, tag);
                self.posted.entry(key).or_default().push_back((open.place, operation));
            }
            _ => self.open.push(open),
        }
        None
    }

    /// A message: the receive that was there for it, if one was.
    pub fn arrive(&mut self, iteration: u32, from: u32, tag: u64) -> Option<u32> {
        let key = (iteration, from, tag);
        let exact = self.posted.get(&key).and_then(|waiting| waiting.front()).map(|&(place, _)| place);
        let open = self.open.iter().position(|open| open.fits(key));
        match (exact, open) {
            (Some(exact), Some(open)) if exact < self.open[open].place => {
                take(&mut self.posted, key).map(|(_, operation)| operation)
            }
            (_, Some(open)) => Some(self.open.remove(open).operation),
            (Some(_), None) => take(&mut self.posted, key).map(|(_, operation)| operation),
            (None, None) => {
                let place = self.place();
                self.arrived.entry(key).or_default().push_back(place);
                None
            }
        }
    }

    /// Appends its state; `own` counts operations of the rank.
    pub(super) fn write_state(&self, count: Count<'_>, own: impl Fn(u32) -> i64, out: &mut String) {
        let Matching { posted, open, arrived, next } = self;
        // Places are only compared.
        let place = |place: u64| next.wrapping_sub(place);
        let counted =
            |&(iteration, from, tag): &Key| (count.iteration(iteration), from, count.tag(from, tag));
        let mut write = |what: std::fmt::Arguments<'_>| out.write_fmt(what).expect("a text takes all");
        for (key, waiting) in posted {
            let waiting = waiting.iter().map(|&(at, operation)| (place(at), own(operation)));
            write(format_args!("{:?} {:?} ", counted(key), waiting.collect::<Vec<_>>()));
        }
        for &Open { place: at, from, tag, operation } in open {
            write(format_args!("{:?} ", (place(at), from, tag, own(operation))));
        }
        for (key, places) in arrived {
            let places = places.iter().map(|&at| place(at));
            write(format_args!("{:?} {:?} ", counted(key), places.collect::<Vec<_>>()));
        }
    }

    fn first_arrived(&self, iteration: u32, open: &Open) -> Option<Key> {
        let fits = self.arrived.iter().filter(|&(&key, _)| key.0 == iteration && open.fits(key));
        fits.min_by_key(|(_, places)| places.front().copied()).map(|(&key, _)| key)
    }

    fn place(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}

/// Takes the first of a key's queue.
fn take<T>(queues: &mut BTreeMap<Key, VecDeque<T>>, key: Key) -> Option<T> {
    let queue = queues.get_mut(&key)?;
    let first = queue.pop_front();
    if queue.is_empty() {
        queues.remove(&key);
    }
    first
}
