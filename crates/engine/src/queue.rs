//! A hierarchical timing wheel whose buckets are sorted when they are opened.
//!
//! Near events lie in 1.024 ns buckets of a wheel of 8.4 us, later ones in 8.4 us buckets of a wheel
//! of 34 ms, the rest in a heap. Bitmaps find the next bucket. A bucket is a list in one arena, so a
//! push is a few stores; only the few events of the open buckets are ever compared. Buckets are opened some
//! events ahead, so that who pops an event can see what follows and have its memory fetched meanwhile.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use floodway_units::Time;

/// Something that happens at `time`; `order` decides among events of one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// When.
    pub time: Time,
    /// Before which others of that instant, and what: the caller's encoding.
    pub order: u64,
}

impl Event {
    /// Both as one number: compared without a branch.
    #[inline]
    fn key(self) -> u128 {
        u128::from(self.time.0) << 64 | u128::from(self.order)
    }
}

/// Picoseconds of a near bucket, as a shift.
const NEAR_SHIFT: u32 = 10;
/// Near buckets, as a shift.
const NEAR_BITS: u32 = 13;
/// Far buckets, as a shift.
const FAR_BITS: u32 = 12;
const NEAR: u64 = 1 << NEAR_BITS;
const FAR: u64 = 1 << FAR_BITS;
/// Up to here events are inserted one by one; synchronised senders fill a bucket with thousands.
const FEW: usize = 16;
/// With more events open, those that come for the same buckets go to a heap.
const MANY: usize = 64;
/// So many events are kept open, where as many are pending before the end.
pub const AHEAD: usize = 12;
/// End of a list.
const NONE: u32 = u32::MAX;

/// Pending events, popped in order of (time, order).
#[derive(Debug)]
pub struct Queue {
    /// The events of the open buckets in order; those before `next` are gone.
    open: Vec<Event>,
    next: usize,
    /// Events of the open buckets that found many there.
    late: BinaryHeap<Reverse<Event>>,
    /// Number of the last open bucket since time zero.
    cursor: u64,
    near: Wheel,
    far: Wheel,
    beyond: BinaryHeap<Reverse<Event>>,
    arena: Arena,
    len: usize,
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            open: Vec::with_capacity(64),
            next: 0,
            late: BinaryHeap::new(),
            cursor: 0,
            near: Wheel::new(NEAR),
            far: Wheel::new(FAR),
            beyond: BinaryHeap::new(),
            arena: Arena::default(),
            len: 0,
        }
    }
}

impl Queue {
    /// Adds an event, not earlier than the last one popped.
    #[inline]
    pub fn push(&mut self, event: Event) {
        self.len += 1;
        let bucket = event.time.0 >> NEAR_SHIFT;
        if bucket <= self.cursor {
            self.push_open(event);
        } else if bucket - self.cursor < NEAR {
            self.near.put(bucket, event, &mut self.arena);
        } else {
            self.push_far(event);
        }
    }

    /// The next event, if it lies before `end`.
    #[inline]
    pub fn pop_before(&mut self, end: Time) -> Option<Event> {
        if self.open.len() < self.next + AHEAD {
            self.refill(end);
        }
        if !self.late.is_empty() {
            return self.pop_late(end);
        }
        let event = *self.open.get(self.next)?;
        if event.time >= end {
            return None;
        }
        self.next += 1;
        self.len -= 1;
        Some(event)
    }

    /// The event that would be popped after `n` others, where that is known already: a hint, since others may
    /// come between.
    #[inline]
    pub fn peek(&self, n: usize) -> Option<Event> {
        self.open.get(self.next + n).copied()
    }

    /// How many are pending.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none is pending.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn push_open(&mut self, event: Event) {
        if self.open.len() - self.next < MANY {
            insert(&mut self.open, self.next, event);
        } else {
            self.late.push(Reverse(event));
        }
    }

    /// As `pop_before`, where some of the open events are in the heap.
    #[cold]
    fn pop_late(&mut self, end: Time) -> Option<Event> {
        let late = self.late.peek().map(|&Reverse(event)| event);
        let open = self.open.get(self.next).copied();
        let event = late.into_iter().chain(open).min()?;
        if event.time >= end {
            return None;
        }
        if late == Some(event) {
            self.late.pop();
        } else {
            self.next += 1;
        }
        self.len -= 1;
        Some(event)
    }

    /// Opens buckets until enough events are open.
    fn refill(&mut self, end: Time) {
        self.open.drain(..self.next);
        self.next = 0;
        while self.open.len() < AHEAD && self.open_next(end) {}
    }

    fn push_far(&mut self, event: Event) {
        let block = event.time.0 >> (NEAR_SHIFT + NEAR_BITS);
        if block - (self.cursor >> NEAR_BITS) < FAR {
            self.far.put(block, event, &mut self.arena);
        } else {
            self.beyond.push(Reverse(event));
        }
    }

    /// Opens the next bucket that is not empty, if it begins before `end`; false if there is none.
    fn open_next(&mut self, end: Time) -> bool {
        if self.len == self.open.len() + self.late.len() {
            return false;
        }
        let last = (end.0 - 1) >> NEAR_SHIFT;
        loop {
            let block = self.cursor >> NEAR_BITS;
            let block_end = (block + 1) << NEAR_BITS;
            if let Some(bucket) = self.near.next(self.cursor + 1, block_end) {
                if bucket > last {
                    return false;
                }
                self.cursor = bucket;
                self.near.take(bucket, &mut self.arena, &mut self.open);
                return true;
            }
            let Some(block) = self.next_block(block) else { return false };
            if block << NEAR_BITS > last {
                return false;
            }
            let before = self.open.len();
            self.enter(block);
            if self.open.len() > before {
                return true;
            }
        }
    }

    /// The next block after `block` that holds an event, wherever it is kept.
    fn next_block(&self, block: u64) -> Option<u64> {
        let near = self.near.next(self.cursor + 1, self.cursor + NEAR).map(|bucket| bucket >> NEAR_BITS);
        let far = self.far.next(block + 1, block + FAR);
        let beyond = self.beyond.peek().map(|Reverse(e)| e.time.0 >> (NEAR_SHIFT + NEAR_BITS));
        [near, far, beyond].into_iter().flatten().min()
    }

    /// Moves the cursor to the start of `block` and spreads the block's far events over near buckets.
    fn enter(&mut self, block: u64) {
        self.cursor = block << NEAR_BITS;
        while let Some(&Reverse(event)) = self.beyond.peek() {
            let of = event.time.0 >> (NEAR_SHIFT + NEAR_BITS);
            if of - block >= FAR {
                break;
            }
            self.beyond.pop();
            self.far.put(of, event, &mut self.arena);
        }
        let mut at = self.far.unlink(block);
        while at != NONE {
            let (event, next) = self.arena.free(at);
            self.near.put(event.time.0 >> NEAR_SHIFT, event, &mut self.arena);
            at = next;
        }
        self.near.take(self.cursor, &mut self.arena, &mut self.open);
    }
}

/// Inserts into a list of few events that is sorted from `first` on.
#[inline]
fn insert(sorted: &mut Vec<Event>, first: usize, event: Event) {
    sorted.push(event);
    sink_last(&mut sorted[first..]);
}

/// Sorts a few events that are nearly in order.
#[inline]
fn sort_few(events: &mut [Event]) {
    for end in 2..=events.len() {
        sink_last(&mut events[..end]);
    }
}

/// Moves the last event to its place among those before it, which are sorted.
#[inline]
fn sink_last(events: &mut [Event]) {
    let mut at = events.len() - 1;
    let event = events[at];
    while at > 0 && events[at - 1].key() > event.key() {
        events[at] = events[at - 1];
        at -= 1;
    }
    events[at] = event;
}

/// A ring of buckets with a bitmap of those that hold something.
#[derive(Debug)]
struct Wheel {
    heads: Box<[u32]>,
    /// A bit a bucket.
    full: Box<[u64]>,
    mask: u64,
}

impl Wheel {
    fn new(buckets: u64) -> Self {
        Wheel {
            heads: vec![NONE; buckets as usize].into(),
            full: vec![0; (buckets / 64) as usize].into(),
            mask: buckets - 1,
        }
    }

    #[inline]
    fn put(&mut self, bucket: u64, event: Event, arena: &mut Arena) {
        let slot = (bucket & self.mask) as usize;
        self.heads[slot] = arena.add(event, self.heads[slot]);
        self.full[slot / 64] |= 1 << (slot % 64);
    }

    /// Empties a bucket into a sorted list, all of which comes before it.
    #[inline]
    fn take(&mut self, bucket: u64, arena: &mut Arena, into: &mut Vec<Event>) {
        let first = into.len();
        let mut at = self.unlink(bucket);
        while at != NONE {
            let (event, next) = arena.free(at);
            into.push(event);
            at = next;
        }
        let taken = &mut into[first..];
        // The latest was put in last and came out first: turned round they are nearly in order.
        taken.reverse();
        if taken.len() > FEW {
            taken.sort_unstable_by_key(|event| event.key());
        } else {
            sort_few(taken);
        }
    }

    /// Empties a bucket; the place of its first event.
    #[inline]
    fn unlink(&mut self, bucket: u64) -> u32 {
        let slot = (bucket & self.mask) as usize;
        self.full[slot / 64] &= !(1 << (slot % 64));
        std::mem::replace(&mut self.heads[slot], NONE)
    }

    /// The first full bucket in `from..to`, a span of at most one turn of the wheel.
    fn next(&self, from: u64, to: u64) -> Option<u64> {
        let to = to.min(from + self.mask + 1);
        let mut at = from;
        while at < to {
            let slot = at & self.mask;
            let word = self.full[(slot / 64) as usize] >> (slot % 64);
            if word != 0 {
                let found = at + u64::from(word.trailing_zeros());
                return (found < to).then_some(found);
            }
            at += 64 - slot % 64;
        }
        None
    }
}

/// Lists of events; freed places are used again.
#[derive(Debug)]
struct Arena {
    places: Vec<(Event, u32)>,
    free: u32,
}

impl Default for Arena {
    fn default() -> Self {
        Arena { places: Vec::new(), free: NONE }
    }
}

impl Arena {
    #[inline]
    fn add(&mut self, event: Event, next: u32) -> u32 {
        if self.free == NONE {
            self.places.push((event, next));
            return (self.places.len() - 1) as u32;
        }
        let at = self.free;
        let place = &mut self.places[at as usize];
        self.free = place.1;
        *place = (event, next);
        at
    }

    #[inline]
    fn free(&mut self, at: u32) -> (Event, u32) {
        let place = &mut self.places[at as usize];
        let taken = *place;
        place.1 = self.free;
        self.free = at;
        taken
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Delays of every size: the open bucket, the near wheel, the far one, beyond it.
    fn delay() -> impl Strategy<Value = u64> {
        prop_oneof![0..2_000u64, 0..9_000_000u64, 0..40_000_000_000u64, 0..400_000_000_000u64]
    }

    proptest! {
        #[test]
        fn events_come_out_in_order_whenever_they_were_pushed(
            first in prop::collection::vec(delay(), 1..50),
            later in prop::collection::vec((delay(), 0..4u64), 0..300),
            step in 1..50_000_000_000u64,
        ) {
            let mut queue = Queue::default();
            let mut model = BinaryHeap::new();
            let add = |queue: &mut Queue, model: &mut BinaryHeap<Reverse<Event>>, time, order| {
                queue.push(Event { time: Time(time), order });
                model.push(Reverse(Event { time: Time(time), order }));
            };
            for (i, &time) in first.iter().enumerate() {
                add(&mut queue, &mut model, time, i as u64);
            }
            let mut later = later.into_iter().enumerate();
            let mut end = step;
            while !model.is_empty() {
                while let Some(event) = queue.pop_before(Time(end)) {
                    prop_assert_eq!(Some(Reverse(event)), model.pop());
                    if let Some((i, (delay, order))) = later.next() {
                        add(&mut queue, &mut model, event.time.0 + delay, order << 32 | (i as u64 + 100));
                    }
                }
                prop_assert!(model.peek().is_none_or(|Reverse(e)| e.time.0 >= end));
                // Between epochs events may be added at once, long before the next pending one.
                if let Some((i, (delay, order))) = later.next() {
                    add(&mut queue, &mut model, end + delay, order << 32 | (i as u64 + 100));
                }
                end += step;
            }
            prop_assert!(queue.is_empty());
        }
    }

    #[test]
    fn what_is_popped_is_what_was_seen_ahead() {
        let mut queue = Queue::default();
        for i in 0..1_000u64 {
            queue.push(Event { time: Time(i * 700), order: i });
        }
        while let Some(event) = queue.pop_before(Time::NEVER) {
            let seen = (0..AHEAD).map_while(|n| queue.peek(n).map(|event| event.order));
            let expected = (event.order + 1..1_000).take(AHEAD);
            assert!(seen.zip(expected).all(|(seen, expected)| seen == expected));
            assert!(queue.peek(0).is_some() || queue.is_empty());
        }
    }

    #[test]
    fn a_burst_into_open_buckets_comes_out_in_order() {
        let mut queue = Queue::default();
        for i in 0..20 {
            queue.push(Event { time: Time(1_000 + i), order: i });
        }
        let first = queue.pop_before(Time::NEVER).expect("twenty are pending");
        // All in one bucket, which is open; in no order.
        for i in 0..5_000u64 {
            queue.push(Event { time: Time(1_000 + i * 7_919 % 13), order: 100 + i });
        }
        let mut last = first;
        for _ in 0..5_019 {
            let event = queue.pop_before(Time::NEVER).expect("they are pending");
            assert!(last < event || last == first);
            last = event;
        }
        assert!(queue.is_empty());
    }
}
