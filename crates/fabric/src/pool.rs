//! Pools of elements that nodes own one by one: halves of queue pairs, traffic sources, triggers.
//!
//! ```text
//!   numbers   0 .. 255 | 256 .. 767 | 768 .. 1791 | ...      chunks never move; each is twice as large as the previous one
//! ```
//! An element has one number in the whole network and never moves; events carry its number from node to node.
//! All worker threads share a pool, and each changes only elements of nodes that it owns in the current
//! window. The compiler does not check this rule of the crate:
//!
//! - only events of the node that owns an element change it, and one thread at a time executes the events of
//!   a node;
//! - an element is written before another node learns its number, at least one window later, with a barrier
//!   in between;
//! - nodes of other threads read only elements that are [`Sync`] (paths of queue pairs);
//! - messages for a receiver of another thread are added by that thread between two windows.
//!
//! With debug assertions, a second thread that changes an element in the same window panics ([`race_check`]).

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

/// Elements by number; each thread has a handle of this type to the same elements. Where numbers have a type
/// `I` of their own, operations of every packet take an element [`of`](Pool::of) its number without a check.
pub(crate) struct Pool<T, I = usize>(Arc<Chunks<T>>, PhantomData<I>);

/// The number of an element of a pool, made when the element was added.
pub(crate) trait PoolNumber: Copy {
    fn number(self) -> usize;
}

/// The elements.
struct Chunks<T> {
    /// By chunk: the address of its first element minus as many elements as the chunk holds, so that the
    /// address of element `n` is `n + FIRST` elements after it.
    starts: [AtomicPtr<T>; CHUNKS],
    /// Numbers handed out. Outside of windows every one of them names an element.
    given: AtomicU32,
    /// The memory of the chunks.
    rooms: Mutex<Vec<Vec<MaybeUninit<T>>>>,
    #[cfg(debug_assertions)]
    last_changes: race_check::LastChanges,
}

// SAFETY: who shares a pool promises that threads access different elements, or only read (`Pool::share`).
#[allow(unsafe_code, reason = "threads share what nodes own")]
unsafe impl<T: Send> Send for Chunks<T> {}
#[allow(unsafe_code, reason = "threads share what nodes own")]
unsafe impl<T: Send> Sync for Chunks<T> {}

impl<T, I> Default for Pool<T, I> {
    fn default() -> Self {
        let chunks = Chunks {
            starts: std::array::from_fn(|_| AtomicPtr::default()),
            given: AtomicU32::new(0),
            rooms: Mutex::default(),
            #[cfg(debug_assertions)]
            last_changes: race_check::LastChanges::default(),
        };
        Pool(Arc::new(chunks), PhantomData)
    }
}

impl<T, I> fmt::Debug for Pool<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements", self.len())
    }
}

impl<T, I> FromIterator<T> for Pool<T, I> {
    fn from_iter<E: IntoIterator<Item = T>>(elements: E) -> Self {
        let mut pool = Pool::default();
        for element in elements {
            pool.add(element);
        }
        pool
    }
}

/// The chunk of an element.
#[inline]
fn chunk_of(number: usize) -> usize {
    ((number + FIRST).ilog2() - FIRST_BITS) as usize % CHUNKS
}

impl<T> Chunks<T> {
    /// The address of an element; dangling if its chunk does not exist.
    #[inline]
    fn at(&self, number: usize) -> *mut T {
        self.starts[chunk_of(number)].load(Ordering::Relaxed).wrapping_add(number + FIRST)
    }

    /// Allocates the chunk of an element, if it does not exist.
    fn reach(&self, number: usize) {
        // What a thread writes into a chunk comes after another thread has made it.
        if self.starts[chunk_of(number)].load(Ordering::Acquire).is_null() {
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
        self.starts[chunk].store(start.wrapping_sub(FIRST << chunk), Ordering::Release);
    }
}

#[allow(unsafe_code, reason = "threads share what nodes own")]
impl<T, I> Pool<T, I> {
    /// How many elements there are, including those that a thread is about to add.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.given.load(Ordering::Relaxed) as usize
    }

    /// A handle to the same elements for another thread.
    ///
    /// # Safety
    /// By their handles two threads access no element at one time, unless both only read it; a thread changes
    /// elements of nodes that it owns in the current window.
    pub unsafe fn share(&self) -> Self {
        Pool(Arc::clone(&self.0), PhantomData)
    }

    /// Adds an element; its number.
    pub fn add(&mut self, element: T) -> u32 {
        let number = self.0.given.fetch_add(1, Ordering::Relaxed);
        self.enter(number, element);
        number
    }

    /// Adds an element under a number that the caller has reserved.
    pub fn enter(&mut self, number: u32, element: T) {
        let at = number as usize;
        self.0.reach(at);
        // SAFETY: the chunk exists, and no other thread has this number.
        unsafe { self.0.at(at).write(element) };
        self.0.given.fetch_max(number + 1, Ordering::Release);
    }

    /// The element with a number, if there is one; not while threads add elements.
    pub fn get(&self, number: usize) -> Option<&T> {
        // SAFETY: there is such an element.
        (number < self.len()).then(|| unsafe { self.element(number) })
    }

    /// The element with a number.
    ///
    /// # Safety
    /// There is one.
    #[inline]
    unsafe fn element(&self, number: usize) -> &T {
        // SAFETY: an element is never taken away. Who shares the pool has promised that no other thread
        // changes this one.
        unsafe { &*self.0.at(number) }
    }

    /// The same, mutable.
    ///
    /// # Safety
    /// As above.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    unsafe fn element_mut(&mut self, number: usize) -> &mut T {
        #[cfg(debug_assertions)]
        self.0.last_changes.check::<T>(number);
        // SAFETY: as above, and nor does another thread read it.
        unsafe { &mut *self.0.at(number) }
    }

    /// Prefetches the first cache lines of an element.
    #[inline]
    pub fn fetch(&self, number: usize, lines: usize) {
        floodway_engine::fetch_at(self.0.at(number), lines);
    }
}

#[allow(unsafe_code, reason = "measured in docs/performance.md")]
impl<T, I: PoolNumber> Pool<T, I> {
    /// The element of a number that was made for it: unchecked in release.
    #[inline]
    pub fn of(&self, number: I) -> &T {
        let number = number.number();
        debug_assert!(number < self.len(), "index {number} is beyond {} elements", self.len());
        // SAFETY: a number is made with the element that it names. Its type can be made of any integer: the
        // crate promises to make it of slots of queue pairs alone. Debug assertions check each access.
        unsafe { self.element(number) }
    }

    /// The same, mutable.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn of_mut(&mut self, number: I) -> &mut T {
        let number = number.number();
        debug_assert!(number < self.len(), "index {number} is beyond {} elements", self.len());
        // SAFETY: as above.
        unsafe { self.element_mut(number) }
    }
}

#[allow(unsafe_code, reason = "threads share what nodes own")]
impl<T, I> Index<usize> for Pool<T, I> {
    type Output = T;
    #[inline]
    fn index(&self, number: usize) -> &T {
        assert!(number < self.len(), "index {number} is beyond {} elements", self.len());
        // SAFETY: there is such an element.
        unsafe { self.element(number) }
    }
}

#[allow(unsafe_code, reason = "threads share what nodes own")]
impl<T, I> IndexMut<usize> for Pool<T, I> {
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    fn index_mut(&mut self, number: usize) -> &mut T {
        assert!(number < self.len(), "index {number} is beyond {} elements", self.len());
        // SAFETY: there is such an element.
        unsafe { self.element_mut(number) }
    }
}

#[allow(unsafe_code, reason = "threads share what nodes own")]
impl<T> Drop for Chunks<T> {
    fn drop(&mut self) {
        // After a panic in the middle of an event a number may name nothing yet: then the memory is leaked.
        if std::mem::needs_drop::<T>() && !thread::panicking() {
            for number in 0..*self.given.get_mut() as usize {
                // SAFETY: outside of windows every number names an element, and this is the last handle.
                unsafe { ptr::drop_in_place(self.at(number)) };
            }
        }
    }
}

/// A slice whose elements several threads access, each its own ones.
pub(crate) struct SharedSlice<'l, T> {
    first: NonNull<T>,
    length: usize,
    of: PhantomData<&'l mut [T]>,
    #[cfg(debug_assertions)]
    last_accesses: race_check::LastChanges,
}

// SAFETY: by the rule above, threads access different elements.
#[allow(unsafe_code, reason = "threads share what nodes own")]
unsafe impl<T: Send> Sync for SharedSlice<'_, T> {}

#[allow(unsafe_code, reason = "threads share what nodes own")]
impl<'l, T> SharedSlice<'l, T> {
    /// Shares these elements.
    pub fn new(elements: &'l mut [T]) -> Self {
        SharedSlice {
            first: NonNull::from(&mut *elements).cast(),
            length: elements.len(),
            of: PhantomData,
            #[cfg(debug_assertions)]
            last_accesses: race_check::LastChanges::default(),
        }
    }

    /// What one thread accesses of it.
    ///
    /// # Safety
    /// By what this returns, the thread accesses only elements that it owns in the current window, and no
    /// other thread, nor another of these, accesses them in that window.
    pub unsafe fn of_thread(&self) -> OwnElements<'_, T> {
        OwnElements(self)
    }
}

/// The elements of a slice that one thread owns, of which it borrows one at a time.
pub(crate) struct OwnElements<'s, T>(&'s SharedSlice<'s, T>);

#[allow(unsafe_code, reason = "threads share what nodes own")]
impl<T> OwnElements<'_, T> {
    /// An element that the thread owns in the current window.
    #[inline]
    #[cfg_attr(debug_assertions, track_caller)]
    pub fn element(&mut self, index: usize) -> &mut T {
        assert!(index < self.0.length, "index {index} is beyond {} elements", self.0.length);
        #[cfg(debug_assertions)]
        self.0.last_accesses.check::<T>(index);
        // SAFETY: the index is within the borrowed slice. Who made this has promised that nothing else
        // accesses the element in this window, which debug assertions check above; and this borrows it only
        // as long as itself.
        unsafe { self.0.first.add(index).as_mut() }
    }

    /// Prefetches the first cache lines of an element.
    #[inline]
    pub fn fetch(&self, index: usize, lines: usize) {
        floodway_engine::fetch_at(self.0.first.as_ptr().wrapping_add(index), lines);
    }
}

/// Finds data races, with debug assertions: two threads that change one element in the same window. For a
/// node, any access counts as a change.
#[cfg(debug_assertions)]
pub(crate) mod race_check {
    use std::any::type_name;
    use std::cell::Cell;
    use std::fmt::Debug;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::{CHUNKS, FIRST, chunk_of};

    thread_local! {
        /// Window and thread; 0 outside of parallel windows.
        static CURRENT: Cell<u64> = const { Cell::new(0) };
    }

    /// Executes a thread's part of a window, in which all that it changes is noted.
    pub fn within<T>(thread: usize, window: u64, events: impl FnOnce() -> T) -> T {
        CURRENT.set((window + 1) << 16 | thread as u64);
        let result = events();
        CURRENT.set(0);
        result
    }

    /// An element or a packet is changed; `last` holds window and thread of its last change.
    ///
    /// # Panics
    /// Another thread has changed it in this window.
    #[track_caller]
    pub fn check<T>(last: &AtomicU64, number: impl Debug) {
        let current = CURRENT.get();
        if current != 0 {
            let last = last.swap(current, Ordering::Relaxed);
            let alone = last >> 16 != current >> 16 || last == current;
            let [first, second] = [last, current].map(|change| change & 0xffff);
            let (what, window) = (type_name::<T>(), (current >> 16) - 1);
            assert!(alone, "threads {first} and {second} both change {what} {number:?} in window {window}");
        }
    }

    /// By element: window and thread of its last change.
    #[derive(Default)]
    pub struct LastChanges([OnceLock<Box<[AtomicU64]>>; CHUNKS]);

    impl LastChanges {
        #[track_caller]
        pub fn check<T>(&self, number: usize) {
            let chunk = chunk_of(number);
            let changes =
                self.0[chunk].get_or_init(|| (0..FIRST << chunk).map(|_| AtomicU64::new(0)).collect());
            check::<T>(&changes[number + FIRST - (FIRST << chunk)], number);
        }
    }
}

/// Without debug assertions nothing is checked.
#[cfg(not(debug_assertions))]
pub(crate) mod race_check {
    /// Executes a thread's part of a window.
    pub fn within<T>(_thread: usize, _window: u64, events: impl FnOnce() -> T) -> T {
        events()
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
        // SAFETY: there is one thread.
        #[allow(unsafe_code, reason = "threads share what nodes own")]
        let other = unsafe { pool.share() };
        drop(pool);
        assert_eq!((other[4_000].0, Rc::strong_count(&counted)), (7, 5_001));
        drop(other);
        assert_eq!(Rc::strong_count(&counted), 1);
    }

    #[test]
    #[should_panic(expected = "index 3 is beyond 3 elements")]
    fn a_number_without_an_element_is_found() {
        let _ = (0..3).collect::<Pool<u8>>()[3];
    }

    #[test]
    fn threads_add_elements_beside_one_another() {
        let pool: Pool<u32> = Pool::default();
        // SAFETY: each thread accesses the elements that it adds.
        #[allow(unsafe_code, reason = "threads share what nodes own")]
        let mut copies = unsafe { [pool.share(), pool.share()] };
        thread::scope(|scope| {
            for copy in &mut copies {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        let number = copy.add(0);
                        copy[number as usize] = number;
                    }
                });
            }
        });
        assert_eq!(pool.len(), 20_000);
        assert!((0..20_000).all(|number| pool[number as usize] == number));
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "threads 1 and 0 both change u32 1 in window 6")]
    fn a_change_by_two_threads_in_a_window_is_found() {
        let mut pool: Pool<u32> = (0..3).collect();
        race_check::within(0, 5, || {
            pool[1] += 1;
            pool[1] += 1;
        });
        race_check::within(1, 6, || {
            pool[1] += 1;
        });
        race_check::within(0, 6, || {
            pool[1] += 1;
        });
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "threads 0 and 1 both change u32 2 in window 5")]
    fn an_access_to_a_node_of_another_thread_is_found() {
        let mut nodes = [0u32; 3];
        let nodes = SharedSlice::new(&mut nodes);
        // SAFETY: the threads of this test are one.
        #[allow(unsafe_code, reason = "threads share what nodes own")]
        let [mut first, mut second] = unsafe { [nodes.of_thread(), nodes.of_thread()] };
        race_check::within(0, 5, || {
            *first.element(2) += 1;
        });
        race_check::within(1, 5, || {
            *second.element(2) += 1;
        });
    }
}
