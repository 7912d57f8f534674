//! A ring of buckets, and the chunks of memory that hold their events.
//!
//! A bucket is a list of chunks of 21 events, in one arena.

use crate::fetch::fetch_lines;
use crate::memory;
use crate::queue::Event;
use floodway_units::cast::{narrow, to_usize};

/// No chunk.
pub(crate) const NONE: u32 = u32::MAX;
/// Number of events of a chunk: eight cache lines, of which a bucket with few events uses one. With 1,024
/// hosts, where a bucket has a hundred events, chunks of five take 11 % more time for a packet-hop, because
/// each refers to the next one.
const CHUNK: usize = 21;
/// Number of cache lines of a chunk.
const LINES: usize = size_of::<Chunk>() / 64;

/// Some events of a bucket, and the reference to further ones.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Chunk {
    /// The chunk that was filled before, or the next free one.
    pub next: u32,
    len: u32,
    events: [Event; CHUNK],
}

impl Chunk {
    /// Its events.
    pub fn events(&self) -> &[Event] {
        &self.events[..self.len as usize]
    }
}

/// Chunks; freed ones are reused.
#[derive(Debug)]
pub(crate) struct Arena {
    chunks: Vec<Chunk>,
    free: u32,
}

impl Default for Arena {
    fn default() -> Self {
        Arena { chunks: Vec::new(), free: NONE }
    }
}

impl Arena {
    /// A chunk with one event, before `next`.
    #[inline]
    fn add(&mut self, event: Event, next: u32) -> u32 {
        let at = self.free;
        let Some(chunk) = self.chunks.get_mut(at as usize) else { return self.grow(event, next) };
        self.free = chunk.next;
        chunk.events[0] = event;
        chunk.next = next;
        chunk.len = 1;
        at
    }

    #[cold]
    fn grow(&mut self, event: Event, next: u32) -> u32 {
        memory::push(&mut self.chunks, Chunk { events: [event; CHUNK], next, len: 1 });
        narrow(self.chunks.len() - 1)
    }

    /// Prefetches a chunk; a hint that may be outdated.
    #[inline]
    pub fn fetch(&self, at: u32) {
        fetch_lines(&self.chunks, at as usize, LINES);
    }

    /// Prefetches the chunk behind one that was prefetched before; returns it. Both are hints.
    #[inline]
    pub fn fetch_next(&self, at: u32) -> u32 {
        let next = self.chunks.get(at as usize).map_or(NONE, |chunk| chunk.next);
        if next != NONE {
            self.fetch(next);
        }
        next
    }

    /// Frees a chunk; returns its contents.
    pub fn free(&mut self, at: u32) -> Chunk {
        let chunk = &mut self.chunks[at as usize];
        let taken = *chunk;
        chunk.next = self.free;
        self.free = at;
        taken
    }

    /// Frees a chunk and adds its events to a list; returns the next chunk.
    #[inline]
    fn empty(&mut self, at: u32, into: &mut Vec<Event>) -> u32 {
        let chunk = &mut self.chunks[at as usize];
        into.extend(chunk.events().iter().copied());
        let next = chunk.next;
        chunk.next = self.free;
        self.free = at;
        next
    }
}

/// A ring of buckets with a bitmap of those that are not empty.
#[derive(Debug)]
pub(crate) struct Wheel<const BUCKETS: usize, const WORDS: usize> {
    /// The last chunk of each.
    heads: Box<[u32; BUCKETS]>,
    /// One bit per bucket.
    full: Box<[u64; WORDS]>,
}

impl<const BUCKETS: usize, const WORDS: usize> Default for Wheel<BUCKETS, WORDS> {
    fn default() -> Self {
        Wheel { heads: Box::new([NONE; BUCKETS]), full: Box::new([0; WORDS]) }
    }
}

impl<const BUCKETS: usize, const WORDS: usize> Wheel<BUCKETS, WORDS> {
    const MASK: u64 = BUCKETS as u64 - 1;

    /// A free place in a bucket's last chunk, if there is one.
    #[inline]
    pub fn place<'a>(&self, bucket: u64, arena: &'a mut Arena) -> Option<&'a mut Event> {
        let head = self.heads[to_usize(bucket & Self::MASK)];
        let chunk = arena.chunks.get_mut(head as usize)?;
        let place = chunk.events.get_mut(chunk.len as usize)?;
        chunk.len += 1;
        Some(place)
    }

    /// Puts an event into a new chunk of a bucket.
    #[inline]
    pub fn add(&mut self, bucket: u64, event: Event, arena: &mut Arena) {
        let slot = to_usize(bucket & Self::MASK);
        self.heads[slot] = arena.add(event, self.heads[slot]);
        self.full[slot / 64] |= 1 << (slot % 64);
    }

    /// Puts an event into a bucket.
    pub fn put(&mut self, bucket: u64, event: Event, arena: &mut Arena) {
        match self.place(bucket, arena) {
            Some(place) => *place = event,
            None => self.add(bucket, event, arena),
        }
    }

    /// Moves the events of a bucket to a list.
    #[inline]
    pub fn take(&mut self, bucket: u64, arena: &mut Arena, into: &mut Vec<Event>) {
        let mut at = self.unlink(bucket);
        while at != NONE {
            at = arena.empty(at, into);
        }
    }

    /// The last chunk of a bucket.
    #[inline]
    pub fn last(&self, bucket: u64) -> u32 {
        self.heads[to_usize(bucket & Self::MASK)]
    }

    /// Empties a bucket; returns its last chunk.
    #[inline]
    pub fn unlink(&mut self, bucket: u64) -> u32 {
        let slot = to_usize(bucket & Self::MASK);
        self.full[slot / 64] &= !(1 << (slot % 64));
        std::mem::replace(&mut self.heads[slot], NONE)
    }

    /// The first full bucket from `from` on, before the wheel wraps.
    #[inline]
    pub fn next_in_turn(&self, from: u64) -> Option<u64> {
        let slot = to_usize(from & Self::MASK);
        if slot == 0 {
            return None;
        }
        let mut at = slot / 64;
        let mut word = self.full[at] & (!0 << (slot % 64));
        while word == 0 {
            at += 1;
            word = *self.full.get(at)?;
        }
        let found = at * 64 + word.trailing_zeros() as usize;
        Some(from + (found - slot) as u64)
    }

    /// The first full bucket in `from..to`, a span of at most one turn of the wheel.
    pub fn next(&self, from: u64, to: u64) -> Option<u64> {
        let to = to.min(from + Self::MASK + 1);
        let mut at = from;
        while at < to {
            let slot = at & Self::MASK;
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
