//! A hierarchical timing wheel whose buckets are sorted when they are opened.
//!
//! Near events are in 0.512 ns buckets of a wheel of 4.2 us, later ones in 4.2 us buckets of a wheel of 17
//! ms, the rest in a heap. Bitmaps find the next bucket, and a push is a few stores; only the few events of
//! the open buckets are compared. Buckets are opened some events ahead, so that the caller of a pop can see
//! the following events and prefetch their memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ptr::{self, NonNull};

use floodway_units::Time;
use floodway_units::cast::to_usize;

use crate::wheel::{Arena, NONE, Wheel};

/// An event at `time`; `order` determines its place among events of one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// The time.
    pub time: Time,
    /// Its place among events of that instant, and its kind: the caller's encoding.
    pub order: u64,
    /// The object of the event, if the caller needs it in advance; it is compared only if all else is equal.
    pub item: Item,
}

/// What an event refers to: a pointer, which stays one, a number in its place, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item(*mut ());

// SAFETY: it is a value: who follows the pointer answers for what it points to.
#[allow(unsafe_code, reason = "events go from thread to thread with what they refer to")]
unsafe impl Send for Item {}

// SAFETY: as above.
#[allow(unsafe_code, reason = "events go from thread to thread with what they refer to")]
unsafe impl Sync for Item {}

impl Item {
    /// Nothing.
    pub const NONE: Item = Item(ptr::null_mut());

    /// A pointer of the caller's.
    #[inline]
    pub fn of<T>(pointer: NonNull<T>) -> Item {
        Item(pointer.as_ptr().cast())
    }

    /// A number, to which no pointer belongs.
    #[inline]
    pub const fn of_number(number: usize) -> Item {
        Item(ptr::without_provenance_mut(number))
    }

    /// The pointer, if there is one.
    #[inline]
    pub fn pointer<T>(self) -> Option<NonNull<T>> {
        NonNull::new(self.0.cast())
    }

    /// The number.
    #[inline]
    pub fn number(self) -> usize {
        self.0.addr()
    }
}

impl Event {
    /// Both as one number, which is compared without a branch.
    #[inline]
    pub fn key(self) -> u128 {
        u128::from(self.time.0) << 64 | u128::from(self.order)
    }
}

/// Length of a near bucket in picoseconds, as a shift: with 128 hosts a bucket has some 7 events, many of
/// them of one instant. Half a nanosecond takes 7 % fewer instructions per pop than a whole one there, 8 %
/// fewer with 1,024 hosts, and 7 % more with 16.
const NEAR_SHIFT: u32 = 9;
/// Number of near buckets, as a shift.
const NEAR_BITS: u32 = 13;
/// Number of far buckets, as a shift.
const FAR_BITS: u32 = 12;
const NEAR: u64 = 1 << NEAR_BITS;
const FAR: u64 = 1 << FAR_BITS;
/// With more open events than this, new events for the same buckets go to a heap: synchronised senders fill a
/// bucket with thousands.
const MANY: usize = 64;
/// Number of events that are kept open, if as many are pending before the end.
pub const AHEAD: usize = 12;
/// Number of additional events when buckets are opened, because each check costs time (7 % of a pop with 16
/// hosts).
const MORE: usize = 4;
/// Once the list has this many popped events before the open ones, and no fewer than open ones, the open ones
/// are moved to the front.
const GONE: usize = 64;

/// With this many events per bucket, the chunks are no longer in the second-level cache when they are opened.
const CROWDED: usize = 16;
/// Number of buckets before its opening at which prefetching of a bucket's chunks begins: the last chunk
/// first, then those behind it, one each time that a bucket is opened.
const TRAILS: usize = 4;

/// Pending events, popped in order of (time, order).
#[derive(Debug)]
pub struct Queue {
    /// The events of the open buckets in order; those before `next` have been popped.
    open: Vec<Event>,
    next: usize,
    /// Enough open events follow each event before this index, and no late event precedes them: a pop needs
    /// no further check.
    safe: usize,
    /// Events of open buckets that were added when many were open.
    late: BinaryHeap<Reverse<Event>>,
    /// Number of the last open bucket since time zero.
    cursor: u64,
    near: Wheel<{ to_usize(NEAR) }, { to_usize(NEAR) / 64 }>,
    far: Wheel<{ to_usize(FAR) }, { to_usize(FAR) / 64 }>,
    beyond: BinaryHeap<Reverse<Event>>,
    arena: Arena,
    /// Events in the wheels and beyond.
    waiting: usize,
    /// The last near bucket whose chunks are being prefetched.
    scouted: u64,
    /// For it and the buckets before it, the chunk that was prefetched last.
    trails: [u32; TRAILS],
}

impl Default for Queue {
    fn default() -> Self {
        Queue {
            open: Vec::with_capacity(2 * GONE),
            next: 0,
            safe: 0,
            late: BinaryHeap::new(),
            cursor: 0,
            near: Wheel::default(),
            far: Wheel::default(),
            beyond: BinaryHeap::new(),
            arena: Arena::default(),
            waiting: 0,
            scouted: 0,
            trails: [NONE; TRAILS],
        }
    }
}

impl Queue {
    /// Adds an event, not earlier than the last one popped.
    // The event is passed in parts, which stay in registers: a whole one would be stored and loaded again.
    #[inline(never)]
    pub fn push(&mut self, time: Time, order: u64, item: Item) {
        let bucket = time.0 >> NEAR_SHIFT;
        // For an open bucket this is a huge number.
        if bucket.wrapping_sub(self.cursor + 1) < NEAR - 1 {
            self.waiting += 1;
            if let Some(place) = self.near.place(bucket, &mut self.arena) {
                (place.time, place.order, place.item) = (time, order, item);
            } else {
                self.push_anew(time, order, item);
            }
        } else {
            self.push_open_or_far(time, order, item);
        }
    }

    /// Adds an event of a near bucket whose last chunk is full or missing.
    #[inline(never)]
    fn push_anew(&mut self, time: Time, order: u64, item: Item) {
        self.near.add(time.0 >> NEAR_SHIFT, Event { time, order, item }, &mut self.arena);
    }

    /// As [`Queue::pop_before`], from the window where there is one.
    #[cfg(test)]
    fn next_before(&mut self, end: Time) -> Option<Event> {
        match self.window() {
            Some(&[event, ..]) if event.time < end => {
                self.advance();
                Some(event)
            }
            _ => self.pop_before(end),
        }
    }

    /// The next event, if it is before `end`.
    #[inline]
    pub fn pop_before(&mut self, end: Time) -> Option<Event> {
        if self.next >= self.safe {
            self.look_further(end);
            if !self.late.is_empty() {
                return self.pop_late(end);
            }
        }
        let event = *self.open.get(self.next)?;
        if event.time >= end {
            return None;
        }
        self.next += 1;
        Some(event)
    }

    /// The time of the next event, if there is one. Earlier ones may still be added.
    pub fn next_time(&mut self) -> Option<Time> {
        if self.next >= self.safe {
            self.look_further(Time::NEVER);
        }
        let late = self.late.peek().map(|&Reverse(event)| event);
        self.open.get(self.next).copied().into_iter().chain(late).min().map(|event| event.time)
    }

    /// The next event and those that follow it if no others are added, if that many are open.
    #[inline]
    pub fn window(&self) -> Option<&[Event; AHEAD]> {
        if self.next >= self.safe {
            return None;
        }
        self.open.get(self.next..)?.first_chunk()
    }

    /// Pops the first event of the window.
    #[inline]
    pub fn advance(&mut self) {
        self.next += 1;
    }

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.waiting + self.late.len() + self.open.len() - self.next
    }

    /// Whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an event of an open bucket, or a far one.
    #[inline(never)]
    fn push_open_or_far(&mut self, time: Time, order: u64, item: Item) {
        let event = Event { time, order, item };
        if time.0 >> NEAR_SHIFT > self.cursor {
            self.waiting += 1;
            self.push_far(event);
            return;
        }
        if self.open.len() - self.next < MANY {
            insert(&mut self.open, self.next, event);
        } else {
            self.late.push(Reverse(event));
        }
        self.measure();
    }

    /// Computes the index before which pops need no further check.
    #[inline]
    fn measure(&mut self) {
        self.safe = if self.late.is_empty() { (self.open.len() + 1).saturating_sub(AHEAD) } else { 0 };
    }

    /// Opens buckets until enough events are open.
    #[inline(never)]
    fn look_further(&mut self, end: Time) {
        if self.next >= GONE && 2 * self.next >= self.open.len() {
            self.open.drain(..self.next);
            self.next = 0;
        }
        if self.late.is_empty() && end > Time::ZERO {
            let last = (end.0 - 1) >> NEAR_SHIFT;
            while self.waiting > 0 && self.open.len() - self.next < AHEAD + MORE && self.open_next(last) {}
        }
        self.measure();
    }

    /// As `pop_before`, if some of the open events are in the heap.
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
        Some(event)
    }

    fn push_far(&mut self, event: Event) {
        let block = event.time.0 >> (NEAR_SHIFT + NEAR_BITS);
        if block - (self.cursor >> NEAR_BITS) < FAR {
            self.far.put(block, event, &mut self.arena);
        } else {
            self.beyond.push(Reverse(event));
        }
    }

    /// Opens the next bucket that is not empty, if it is not behind `last`; otherwise returns false.
    #[inline]
    fn open_next(&mut self, last: u64) -> bool {
        let Some(bucket) = self.near.next_in_turn(self.cursor + 1) else { return self.open_block(last) };
        if bucket > last {
            return false;
        }
        self.cursor = bucket;
        if self.open_bucket() > CROWDED {
            self.scout();
        }
        true
    }

    /// Prefetches the chunks of the next buckets.
    #[inline(never)]
    fn scout(&mut self) {
        for trail in &mut self.trails {
            *trail = self.arena.fetch_next(*trail);
        }
        for _ in 0..2 {
            let from = self.scouted.max(self.cursor) + 1;
            if from > self.cursor + TRAILS as u64 {
                return;
            }
            let Some(bucket) = self.near.next_in_turn(from) else { return };
            self.scouted = bucket;
            let last = self.near.last(bucket);
            self.arena.fetch(last);
            let [_, a, b, c] = self.trails;
            self.trails = [a, b, c, last];
        }
    }

    /// Advances to the next block with an event, if it does not begin behind `last`.
    #[inline(never)]
    fn open_block(&mut self, last: u64) -> bool {
        let next = self.next_block(self.cursor >> NEAR_BITS);
        let Some(block) = next.filter(|block| block << NEAR_BITS <= last) else { return false };
        self.enter(block);
        true
    }

    /// The next block after `block` with an event, in any of the structures.
    fn next_block(&self, block: u64) -> Option<u64> {
        let near = self.near.next(self.cursor + 1, self.cursor + NEAR).map(|bucket| bucket >> NEAR_BITS);
        let far = self.far.next(block + 1, block + FAR);
        let beyond = self.beyond.peek().map(|Reverse(e)| e.time.0 >> (NEAR_SHIFT + NEAR_BITS));
        [near, far, beyond].into_iter().flatten().min()
    }

    /// Moves the cursor to the start of `block` and distributes the block's far events over near buckets.
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
            let chunk = self.arena.free(at);
            for &event in chunk.events() {
                self.near.put(event.time.0 >> NEAR_SHIFT, event, &mut self.arena);
            }
            at = chunk.next;
        }
        self.open_bucket();
    }

    /// Opens the bucket at the cursor, whose events all follow the open ones; returns their number.
    #[inline]
    fn open_bucket(&mut self) -> usize {
        let first = self.open.len();
        self.near.take(self.cursor, &mut self.arena, &mut self.open);
        let opened = &mut self.open[first..];
        let count = opened.len();
        self.waiting -= count;
        // With few hosts, two of three buckets have at most two events.
        match opened {
            [] | [_] => {}
            [a, b] if a.key() <= b.key() => {}
            [a, b] => std::mem::swap(a, b),
            _ => opened.sort_unstable_by_key(|event| event.key()),
        }
        count
    }
}

/// Inserts into a list that is sorted from `first` on; most events belong near its end.
#[inline]
fn insert(sorted: &mut Vec<Event>, first: usize, event: Event) {
    sorted.push(event);
    sink(&mut sorted[first..]);
}

/// Moves the last event to its place among the events before it, which are sorted.
#[inline]
pub fn sink(events: &mut [Event]) {
    let Some(&event) = events.last() else { return };
    let mut at = events.len() - 1;
    while at > 0 && events[at - 1].key() > event.key() {
        events[at] = events[at - 1];
        at -= 1;
    }
    events[at] = event;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use floodway_units::Turns;

    use super::*;

    /// Delays of every size: the open bucket, the near wheel, the far wheel, the heap.
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
            let add = |queue: &mut Queue, model: &mut BinaryHeap<Reverse<Event>>, time, order: u64| {
                let item = Item::of_number(to_usize(!order));
                queue.push(Time(time), order, item);
                model.push(Reverse(Event { time: Time(time), order, item }));
            };
            for (i, &time) in first.iter().enumerate() {
                add(&mut queue, &mut model, time, i as u64);
            }
            let mut later = later.into_iter().enumerate();
            let mut end = step;
            let mut turns = Turns::at_most(100_000_000);
            while turns.go() && !model.is_empty() {
                let mut turns = Turns::at_most(10_000);
                while turns.go() && let Some(event) = queue.next_before(Time(end)) {
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
            queue.push(Time(i * 700), i, Item::NONE);
        }
        for expected in 0..1_000u64 {
            let Some(seen) = queue.window().copied() else {
                assert_eq!(queue.pop_before(Time::NEVER).map(|event| event.order), Some(expected));
                continue;
            };
            assert!(seen.iter().zip(expected..).all(|(seen, expected)| seen.order == expected));
            queue.advance();
        }
        assert!(queue.is_empty());
    }

    #[test]
    fn a_burst_into_open_buckets_comes_out_in_order() {
        let mut queue = Queue::default();
        for i in 0..20 {
            queue.push(Time(1_000 + i), i, Item::NONE);
        }
        let first = queue.pop_before(Time::NEVER).expect("twenty are pending");
        // All in one open bucket, in random order.
        for i in 0..5_000u64 {
            queue.push(Time(1_000 + i * 7_919 % 13), 100 + i, Item::NONE);
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
