//! A column of the network's state: one element a port, a port class, a queue, a queue pair.
//!
//! What belongs to nodes is built as one column, node by node, and then dealt out: each node owns its part,
//! and all of them lie together in memory.
//!
//! The indices of a part's elements are of a type of their own, which only the layout of the network makes.
//! `part[index]` is checked. Operations of every packet take an element [`of`](Part::of) its index, which is
//! checked only with debug assertions, as in every test: checking all of them takes an eighth more
//! instructions per packet-hop, and about a fifteenth more time (docs/performance.md).
//!
//! `make miri` runs the tests of columns, pools and the arena in Rust's interpreter.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut, Range};
use std::ptr::NonNull;
use std::sync::Arc;
use std::{fmt, slice};

use floodway_engine::memory;

/// Elements by the ids that were made for them.
#[derive(Debug)]
pub struct Column<T>(Vec<T>);

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column(Vec::new())
    }
}

impl<T> Column<T> {
    /// Room for `elements`, on huge pages where they fill some: beyond a few megabytes every other access
    /// would wait for the address to be translated, too (docs/performance.md).
    fn with_room(elements: usize) -> Self {
        let mut column = Vec::new();
        memory::reserve(&mut column, elements);
        memory::advise_vec(&column);
        Column(column)
    }

    /// Adds an element; its index is the length before.
    #[inline]
    pub fn push(&mut self, element: T) {
        if self.0.len() == self.0.capacity() {
            self.grow();
        }
        self.0.push(element);
    }

    #[cold]
    fn grow(&mut self) {
        let more = self.0.len().max(16);
        memory::reserve(&mut self.0, more);
        memory::advise_vec(&self.0);
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(elements: Vec<T>) -> Self {
        elements.into_iter().collect()
    }
}

impl<T> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        let elements = elements.into_iter();
        let mut column = Column::with_room(elements.size_hint().0);
        elements.for_each(|element| column.push(element));
        column
    }
}

impl<T> Deref for Column<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Column<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> Index<Range<usize>> for Column<T> {
    type Output = [T];
    #[inline]
    fn index(&self, range: Range<usize>) -> &[T] {
        &self.0[range]
    }
}

impl<T> Index<usize> for Column<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: usize) -> &T {
        &self.0[index]
    }
}

impl<T> IndexMut<usize> for Column<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.0[index]
    }
}

mod sealed {
    /// What only this crate has.
    pub trait Sealed {}
}
pub(crate) use sealed::Sealed;

/// The index of an element among those of its kind that a node has; only `network::layout` makes some.
pub trait LocalIndex: Copy + Sealed {
    /// Its place among those of the node.
    fn index(self) -> usize;
}

impl<T> Column<T> {
    /// Deals the elements out, to each owner as many as `lengths` says, in order.
    ///
    /// # Panics
    /// They are more or fewer than that.
    #[allow(unsafe_code, reason = "measured in docs/performance.md")]
    pub fn deal<I>(mut self, lengths: impl Iterator<Item = usize>) -> Vec<Part<T, I>> {
        let (mut next, mut left) = (NonNull::from(self.0.as_mut_slice()).cast::<T>(), self.0.len());
        let all = Arc::new(All(self.0));
        let part = |length: usize| {
            left = left.checked_sub(length).expect("each element has an owner");
            let first = next;
            // SAFETY: so many elements are left from there on; behind the last one it is the end.
            next = unsafe { next.add(length) };
            Part { first, length, _all: Arc::clone(&all), _indices: PhantomData }
        };
        let parts = lengths.map(part).collect();
        assert_eq!(left, 0, "each element has an owner");
        parts
    }
}

/// A dealt column as a whole, which owns the memory and the elements; they are not accessed through it.
struct All<T>(#[expect(dead_code, reason = "it is kept until the last part is gone")] Vec<T>);

/// A node's part of a column, with indices of the type `I`.
pub struct Part<T, I> {
    first: NonNull<T>,
    length: usize,
    _all: Arc<All<T>>,
    _indices: PhantomData<I>,
}

// SAFETY: a part is the only one through which its elements are reached, so it goes with them; the last part
// that is dropped, wherever that is, drops the elements of all.
#[allow(unsafe_code, reason = "a part is as its elements are")]
unsafe impl<T: Send, I> Send for Part<T, I> {}

impl<T, I> Default for Part<T, I> {
    fn default() -> Self {
        Part { first: NonNull::dangling(), length: 0, _all: Arc::new(All(Vec::new())), _indices: PhantomData }
    }
}

impl<T: fmt::Debug, I> fmt::Debug for Part<T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

#[allow(unsafe_code, reason = "measured in docs/performance.md")]
impl<T, I> Deref for Part<T, I> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: the part's elements lie there for as long as it keeps them, and no other part reaches them.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.length) }
    }
}

#[allow(unsafe_code, reason = "measured in docs/performance.md")]
impl<T, I> DerefMut for Part<T, I> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above.
        unsafe { slice::from_raw_parts_mut(self.first.as_ptr(), self.length) }
    }
}

impl<T, I> Index<Range<usize>> for Part<T, I> {
    type Output = [T];
    #[inline]
    fn index(&self, range: Range<usize>) -> &[T] {
        &self.deref()[range]
    }
}

impl<T, I> Index<usize> for Part<T, I> {
    type Output = T;
    #[inline]
    fn index(&self, index: usize) -> &T {
        &self.deref()[index]
    }
}

impl<T, I> IndexMut<usize> for Part<T, I> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.deref_mut()[index]
    }
}

impl<T, I: LocalIndex> Index<I> for Part<T, I> {
    type Output = T;
    #[inline]
    fn index(&self, index: I) -> &T {
        &self.deref()[index.index()]
    }
}

impl<T, I: LocalIndex> IndexMut<I> for Part<T, I> {
    #[inline]
    fn index_mut(&mut self, index: I) -> &mut T {
        &mut self.deref_mut()[index.index()]
    }
}

#[allow(unsafe_code, reason = "measured in docs/performance.md")]
impl<T, I: LocalIndex> Part<T, I> {
    /// The element of an index that was made for this node: unchecked in release.
    #[inline]
    pub fn of(&self, index: I) -> &T {
        let index = index.index();
        debug_assert!(index < self.length, "{index} is not an index of {} elements", self.length);
        // SAFETY: `network::layout` makes each index from the number of a port and of one of its classes or
        // queues, and a node's part has an element for each of these. The types do not say of which node a
        // port is, nor that a class or a queue is in use: the fabric, whose nodes alone have parts, promises
        // both, and that it never looks at `Local::NONE`. Debug assertions check each access.
        unsafe { self.get_unchecked(index) }
    }

    /// The same, mutable.
    #[inline]
    pub fn of_mut(&mut self, index: I) -> &mut T {
        let index = index.index();
        debug_assert!(index < self.length, "{index} is not an index of {} elements", self.length);
        // SAFETY: as above.
        unsafe { self.get_unchecked_mut(index) }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    #[derive(Clone, Copy)]
    struct Nth(usize);

    impl Sealed for Nth {}

    impl LocalIndex for Nth {
        fn index(self) -> usize {
            self.0
        }
    }

    #[test]
    fn parts_are_apart_and_elements_live_as_long_as_the_last_of_them() {
        let counted = Rc::new(());
        let column: Column<(usize, Rc<()>)> = (0..10).map(|i| (i, Rc::clone(&counted))).collect();
        let mut parts: Vec<Part<_, Nth>> = column.deal([3, 0, 7].into_iter());
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [3, 0, 7]);
        for part in &mut parts {
            part.iter_mut().for_each(|element| element.0 += 100);
        }
        parts[2].of_mut(Nth(6)).0 = 1;
        assert_eq!((parts[0].of(Nth(2)).0, parts[0][Nth(2)].0), (102, 102));
        let last = parts.pop().expect("there are three");
        drop(parts);
        assert_eq!(
            last.iter().map(|element| element.0).collect::<Vec<_>>(),
            [103, 104, 105, 106, 107, 108, 1]
        );
        assert_eq!(Rc::strong_count(&counted), 11);
        drop(last);
        assert_eq!(Rc::strong_count(&counted), 1);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "3 is not an index of 3 elements")]
    fn an_index_of_another_node_is_found() {
        let parts: Vec<Part<u8, Nth>> = (0..7).collect::<Column<u8>>().deal([3, 4].into_iter());
        parts[0].of(Nth(3));
    }

    #[test]
    #[should_panic(expected = "each element has an owner")]
    fn an_element_without_an_owner_is_found() {
        (0..3).collect::<Column<u8>>().deal::<Nth>([1, 1].into_iter());
    }
}
