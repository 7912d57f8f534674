//! A column of the network's state: one element a port, a lane, a queue, a switch.
//!
//! Whoever reads or writes an element names it by an id that the fabric itself made for this column, and columns
//! never shrink. So an index is checked where debug assertions are on, as in every test, and nowhere else: the
//! checks were a fifth of all instructions of a packet-hop (docs/performance.md).

use std::ops::{Deref, DerefMut, Index, IndexMut, Range};

/// Elements by the ids that were made for them.
#[derive(Debug)]
pub(crate) struct Column<T>(Vec<T>);

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column(Vec::new())
    }
}

impl<T> Column<T> {
    /// Adds an element; its index is the length before.
    pub fn push(&mut self, element: T) {
        self.0.push(element);
    }

    /// Puts an element into its place, which may be the next one.
    pub fn put(&mut self, index: usize, element: T) {
        match self.0.get_mut(index) {
            Some(old) => *old = element,
            None => self.0.push(element),
        }
    }
}

impl<T> From<Vec<T>> for Column<T> {
    fn from(elements: Vec<T>) -> Self {
        Column(elements)
    }
}

impl<T> FromIterator<T> for Column<T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Column(elements.into_iter().collect())
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

#[allow(unsafe_code, reason = "measured in docs/performance.md")]
impl<T> Index<usize> for Column<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, index: usize) -> &T {
        debug_assert!(index < self.0.len(), "{index} is not an index of {} elements", self.0.len());
        // SAFETY: ids are made with the element that they name, and no element is ever taken away.
        unsafe { self.0.get_unchecked(index) }
    }
}

#[allow(unsafe_code, reason = "measured in docs/performance.md")]
impl<T> IndexMut<usize> for Column<T> {
    #[inline(always)]
    fn index_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.0.len(), "{index} is not an index of {} elements", self.0.len());
        // SAFETY: as above.
        unsafe { self.0.get_unchecked_mut(index) }
    }
}
