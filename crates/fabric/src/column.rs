//! A column of the network's state: one element a port, a lane, a queue, a switch.
//!
//! Whoever reads or writes an element names it by an id that the fabric itself made for this column, and columns
//! never shrink. So an index is checked where debug assertions are on, as in every test, and nowhere else: the
//! checks were an eighth of all instructions of a packet-hop (docs/performance.md).

use std::ops::{Deref, DerefMut, Index, IndexMut, Range};

use floodway_engine::memory;

/// Elements by the ids that were made for them.
#[derive(Debug)]
pub(crate) struct Column<T>(Vec<T>);

impl<T> Default for Column<T> {
    fn default() -> Self {
        Column(Vec::new())
    }
}

/// From so many bytes on a column asks for huge pages.
const LARGE: usize = 1 << 21;

impl<T> Column<T> {
    /// Room for `elements`, on huge pages where they fill some: beyond a few megabytes every other access would wait
    /// for the address to be translated, too (docs/performance.md).
    fn with_room(elements: usize) -> Self {
        let mut column = Vec::new();
        memory::reserve(&mut column, elements);
        advise(&column);
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
        advise(&self.0);
    }

    /// Puts an element into its place, which may be the next one.
    pub fn put(&mut self, index: usize, element: T) {
        match self.0.get_mut(index) {
            Some(old) => *old = element,
            None => self.push(element),
        }
    }
}

/// Asks for huge pages for what a vector has room for.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "measured in docs/performance.md")]
fn advise<T>(elements: &Vec<T>) {
    let bytes = elements.capacity() * size_of::<T>();
    if bytes < LARGE {
        return;
    }
    let page = 4096;
    let first = elements.as_ptr().addr().next_multiple_of(page);
    let end = (elements.as_ptr().addr() + bytes) / page * page;
    let start = elements.as_ptr().with_addr(first).cast_mut();
    // SAFETY: the advice changes no contents, and the pages lie within the vector's own memory. Where it is refused
    // nothing is lost but time.
    unsafe { libc::madvise(start.cast(), end - first, libc::MADV_HUGEPAGE) };
}

#[cfg(not(target_os = "linux"))]
fn advise<T>(_: &Vec<T>) {}

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

#[allow(unsafe_code, reason = "measured in docs/performance.md")]
impl<T> Index<usize> for Column<T> {
    type Output = T;
    #[inline]
    fn index(&self, index: usize) -> &T {
        debug_assert!(index < self.0.len(), "{index} is not an index of {} elements", self.0.len());
        // SAFETY: ids are made with the element that they name, and no element is ever taken away.
        unsafe { self.0.get_unchecked(index) }
    }
}

#[allow(unsafe_code, reason = "measured in docs/performance.md")]
impl<T> IndexMut<usize> for Column<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        debug_assert!(index < self.0.len(), "{index} is not an index of {} elements", self.0.len());
        // SAFETY: as above.
        unsafe { self.0.get_unchecked_mut(index) }
    }
}
