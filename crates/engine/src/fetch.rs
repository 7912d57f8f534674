//! Prefetching of memory into the caches.

/// Prefetches the cache line of an element; an index beyond the last element prefetches other memory.
#[inline]
pub fn fetch<T>(of: &[T], index: usize) {
    fetch_lines(of, index, 1);
}

/// Prefetches the first cache lines of an element; an index beyond the last element prefetches other memory.
#[inline]
pub fn fetch_lines<T>(of: &[T], index: usize, lines: usize) {
    fetch_at(of.as_ptr().wrapping_add(index), lines);
}

/// Prefetches the first cache lines at an address, which need not be valid.
#[inline]
pub fn fetch_at<T>(at: *const T, lines: usize) {
    (0..lines).for_each(|line| touch(at.cast::<u8>().wrapping_add(64 * line)));
}

/// Prefetches a cache line.
#[inline]
#[allow(unsafe_code, reason = "a prefetch is a hint; measured in docs/performance.md")]
fn touch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch neither reads nor writes, and no address causes a fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
