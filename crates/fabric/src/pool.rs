//! Pools of what nodes own one by one: packets, halves of queue pairs, sources of flows.
//!
//! ```text
//!   numbers   0 .. 255 | 256 .. 767 | 768 .. 1791 | ...      a chunk is never moved, and twice as large as the one before
//! ```
//! An element has one number over the whole network, so that it stays where it is while its number goes from node to node:
//! with an event from the sender of a packet to its receiver, with a flow's name from its source to its destination. Threads
//! share a pool, and each works on the elements of the nodes that it visits. That is a rule of this crate, which the
//! compiler does not know:
//!
//! - an element is changed by events of the node that owns it, of which one thread at a time works on each;
//! - it has an owner before its number is known to another node, which is a window later: threads meet in between.
//!
//! Where debug assertions are on, a change by another thread in the same window ends the run ([`turn`]).

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::{Index, IndexMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, ptr, thread};

use floodway_engine::memory;

/// The first chunk has two to this many elements.
const FIRST_BITS: u32 = 8;
const FIRST: usize = 1 << FIRST_BITS;
/// As many chunks as there are numbers for, and some more: a power of two.
const CHUNKS: usize = 32;

/// Elements by their numbers; each of these is a thread's way to them.
pub(crate) struct Pool<T>(Arc<Chunks<T>>);

/// The elements.
struct Chunks<T> {
    /// Of each chunk, where its first element lies less the elements that this chunk has: from there an element lies as many
    /// elements on as its number, plus those of the first chunk, says.
    starts: [AtomicPtr<T>; CHUNKS],
    /// Numbers given. When no thread is at work, all of them are of elements.
    given: AtomicU32,
    /// The memory of the chunks.
    rooms: Mutex<Vec<Vec<MaybeUninit<T>>>>,
    #[cfg(debug_assertions)]
    turns: turn::Turns,
}

// SAFETY: a pool goes with its elements. Several threads that have it reach different elements, by the rule above, or read
// what none of them changes.
#[allow(unsafe_code, reason = "threads share what nodes own")]
unsafe impl<T: Send> Send for Chunks<T> {}
#[allow(unsafe_code, reason = "threads share what nodes own")]
unsafe impl<T: Send> Sync for Chunks<T> {}

impl<T> Clone for Pool<T> {
    /// Another thread's way to the same elements.
    fn clone(&self) -> Self {
        Pool(Arc::clone(&self.0))
    }
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Pool(Arc::new(Chunks {
            starts: std::array::from_fn(|_| AtomicPtr::default()),
            given: AtomicU32::new(0),
            rooms: Mutex::default(),
            #[cfg(debug_assertions)]
            turns: turn::Turns::default(),
        }))
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.len())
    }
}

impl<T> FromIterator<T> for Pool<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let mut pool = Pool::default();
        for element in elements {
            pool.add(element);
        }
        pool
    }
}

/// Its chunk.
#[inline]
fn chunk_of(number: usize) -> usize {
    ((number + FIRST).ilog2() - FIRST_BITS) as usize % CHUNKS
}

impl<T> Chunks<T> {
    /// Where an element lies; nowhere if there is no chunk with its number.
    #[inline]
    fn at(&self, number: usize) -> *mut T {
        self.starts[chunk_of(number)].load(Ordering::Relaxed).wrapping_add(number + FIRST)
    }

    /// Makes room for an element.
    fn reach(&self, number: usize) {
        if self.starts[chunk_of(number)].load(Ordering::Relaxed).is_null() {
            self.grow(chunk_of(number));
        }
    }

    #[cold]
    fn grow(&self, chunk: usize) {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.starts[chunk].load(Ordering::Relaxed).is_null() {
            return;
        }
        let mut elements: Vec<MaybeUninit<T>> = Vec::new();
        memory::reserve(&mut elements, FIRST << chunk);
        memory::advise_vec(&elements);
        let start: *mut T = elements.as_mut_ptr().cast();
        rooms.push(elements);
        self.starts[chunk].store(start.wrapping_sub(FIRST << chunk), Ordering::Relaxed);
    }
}

#[allow(unsafe_code, reason = "threads share what nodes own")]
impl<T> Pool<T> {
    /// How many elements there are, those included that a thread is about to add.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.given.load(Ordering::Relaxed) as usize
    }

    /// Adds an element; its number.
    pub fn add(&mut self, element: T) -> u32 {
        let number = self.0.given.fetch_add(1, Ordering::Relaxed);
        self.enter(number, element);
        number
    }

    /// Adds an element whose number is the next one of a row that has been given elsewhere: nobody else enters it.
    pub fn enter(&mut self, number: u32, element: T) {
        let at = number as usize;
        self.0.reach(at);
        // SAFETY: there is room, and nobody else has this number yet.
        unsafe { self.0.at(at).write(element) };
        self.0.given.fetch_max(number + 1, Ordering::Release);
    }

    /// The element with a number, if there is one. Nobody adds elements meanwhile.
    pub fn get(&self, number: usize) -> Option<&T> {
        (number < self.len()).then(|| self.known(number))
    }

    /// The element with a number that was made for it: unchecked in release.
    #[inline]
    pub fn known(&self, number: usize) -> &T {
        debug_assert!(number < self.len(), "{number} is none of {} elements", self.len());
        // SAFETY: numbers are made with the elements that they name, none of which is ever taken away.
        unsafe { &*self.0.at(number) }
    }

    /// Likewise, to be changed.
    #[inline]
    pub fn known_mut(&mut self, number: usize) -> &mut T {
        debug_assert!(number < self.len(), "{number} is none of {} elements", self.len());
        #[cfg(debug_assertions)]
        self.0.turns.check(number);
        // SAFETY: as above, and one thread at a time works on an element.
        unsafe { &mut *self.0.at(number) }
    }

    /// Has the memory of an element fetched.
    #[inline]
    pub fn fetch(&self, number: usize, lines: usize) {
        floodway_engine::fetch_at(self.0.at(number), lines);
    }
}

impl<T> Index<usize> for Pool<T> {
    type Output = T;
    #[inline]
    fn index(&self, number: usize) -> &T {
        assert!(number < self.len(), "{number} is none of {} elements", self.len());
        self.known(number)
    }
}

impl<T> IndexMut<usize> for Pool<T> {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut T {
        assert!(number < self.len(), "{number} is none of {} elements", self.len());
        self.known_mut(number)
    }
}

#[allow(unsafe_code, reason = "threads share what nodes own")]
impl<T> Drop for Chunks<T> {
    fn drop(&mut self) {
        // A run that ends in the middle of an event may have given a number to nothing yet: then the system takes it all.
        if std::mem::needs_drop::<T>() && !thread::panicking() {
            for number in 0..*self.given.get_mut() as usize {
                // SAFETY: all numbers are of elements when no thread is at work, and nobody has the pool any more.
                unsafe { ptr::drop_in_place(self.at(number)) };
            }
        }
    }
}

/// Elements that are lent to several threads, each of which works on its own ones.
pub(crate) struct Lent<'l, T> {
    first: NonNull<T>,
    length: usize,
    of: PhantomData<&'l mut [T]>,
}

// SAFETY: threads that have it reach different elements, by the rule above.
#[allow(unsafe_code, reason = "threads share what nodes own")]
unsafe impl<T: Send> Sync for Lent<'_, T> {}

#[allow(unsafe_code, reason = "threads share what nodes own")]
impl<'l, T> Lent<'l, T> {
    /// All of these.
    pub fn new(elements: &'l mut [T]) -> Self {
        Lent { first: NonNull::from(&mut *elements).cast(), length: elements.len(), of: PhantomData }
    }

    /// An element, which is this thread's while it is at work.
    #[inline]
    #[expect(clippy::mut_from_ref, reason = "threads share what nodes own")]
    pub fn own(&self, index: usize) -> &mut T {
        assert!(index < self.length, "{index} is none of {} elements", self.length);
        // SAFETY: it is one of the elements, which are there for as long as they are lent, and no other thread reaches it.
        unsafe { self.first.add(index).as_mut() }
    }

    /// Has the memory of an element fetched.
    #[inline]
    pub fn fetch(&self, index: usize, lines: usize) {
        floodway_engine::fetch_at(self.first.as_ptr().wrapping_add(index), lines);
    }
}

/// Whose turn it is: where debug assertions are on, a thread that changes what another one has changed in the same window is
/// found.
#[cfg(debug_assertions)]
pub(crate) mod turn {
    use std::cell::Cell;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::{CHUNKS, FIRST, chunk_of};

    thread_local! {
        static TURN: Cell<u64> = const { Cell::new(0) };
    }

    /// From now on this thread is at work in this window; none when it is alone.
    pub fn begin(thread: usize, window: Option<u64>) {
        TURN.set(window.map_or(0, |window| (window + 1) << 16 | thread as u64));
    }

    /// An element, or a packet, is changed; `last` is the turn in which it was changed last.
    pub fn check(last: &AtomicU64, name: impl std::fmt::Debug) {
        let turn = TURN.get();
        if turn != 0 {
            let last = last.swap(turn, Ordering::Relaxed);
            let alone = last >> 16 != turn >> 16 || last == turn;
            assert!(alone, "two threads change {name:?} in one window");
        }
    }

    /// By element: the turn in which it was changed last.
    #[derive(Default)]
    pub struct Turns([OnceLock<Box<[AtomicU64]>>; CHUNKS]);

    impl Turns {
        pub fn check(&self, number: usize) {
            let chunk = chunk_of(number);
            let turns =
                self.0[chunk].get_or_init(|| (0..FIRST << chunk).map(|_| AtomicU64::new(0)).collect());
            check(&turns[number + FIRST - (FIRST << chunk)], number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[test]
    fn elements_stay_where_they_are_and_live_as_long_as_the_pool() {
        let counted = Rc::new(());
        let mut pool: Pool<(usize, Rc<()>)> = (0..3).map(|i| (i, Rc::clone(&counted))).collect();
        let first = &raw const pool[0];
        for i in 3..5_000 {
            assert_eq!(pool.add((i, Rc::clone(&counted))), i as u32);
        }
        assert!(ptr::eq(first, &raw const pool[0]));
        assert!((0..5_000).all(|i| pool[i].0 == i));
        pool[4_000].0 = 7;
        let other = pool.clone();
        drop(pool);
        assert_eq!((other[4_000].0, Rc::strong_count(&counted)), (7, 5_001));
        drop(other);
        assert_eq!(Rc::strong_count(&counted), 1);
    }

    #[test]
    #[should_panic(expected = "3 is none of 3 elements")]
    fn a_number_without_an_element_is_found() {
        let _ = (0..3).collect::<Pool<u8>>()[3];
    }

    #[test]
    fn threads_add_elements_beside_one_another() {
        let pool: Pool<u32> = Pool::default();
        let mut ways = [pool.clone(), pool.clone()];
        thread::scope(|scope| {
            for way in &mut ways {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        let number = way.add(0);
                        way[number as usize] = number;
                    }
                });
            }
        });
        assert_eq!(pool.len(), 20_000);
        assert!((0..20_000).all(|number| pool[number as usize] == number));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "two threads change 1 in one window")]
    fn a_change_by_two_threads_in_a_window_is_found() {
        let mut pool: Pool<u32> = (0..3).collect();
        turn::begin(0, Some(5));
        pool[1] += 1;
        pool[1] += 1;
        turn::begin(1, Some(6));
        pool[1] += 1;
        turn::begin(0, Some(6));
        pool[1] += 1;
    }
}
