//! The allocator of a process that simulates: a request that fails is served from a reserve.
//!
//! Code that cannot handle a failed request would end the process without a word. So the first such request
//! gives up the reserve, and is repeated. The runs of the process then end at their next check
//! ([`ran_out`]), and free their memory; the next run takes a reserve again ([`keep_reserve`]). A request
//! that is larger than the reserve ends the process, with a message and exit code 1.
//!
//! The reserve is address space alone: as long as nothing is written there, it takes no memory.

#![allow(unsafe_code, reason = "an allocator is")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// What runs may take between a request that fails and the check at which they end, on all threads together.
const RESERVE: usize = 64 << 20;

/// The reserve; null where there is none.
static KEPT: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
/// Whether a request has failed since there was a reserve.
static RAN_OUT: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// Whether the code that requests memory now handles a failure.
    static HANDLED: Cell<bool> = const { Cell::new(false) };
}

/// The allocator: the system's, with a reserve.
#[derive(Clone, Copy, Debug)]
pub struct Allocator;

/// Whether memory has run out, so that every run of this process must end.
#[inline]
pub fn ran_out() -> bool {
    RAN_OUT.load(Ordering::Relaxed)
}

/// Takes a reserve, if there is none; before a run. Where there is no memory for one, the run goes without.
pub fn keep_reserve() {
    if !KEPT.load(Ordering::Acquire).is_null() {
        return;
    }
    // SAFETY: the size is not zero.
    let reserve = unsafe { System.alloc(layout()) };
    if reserve.is_null() {
        return;
    }
    let none = ptr::null_mut();
    if KEPT.compare_exchange(none, reserve, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
        RAN_OUT.store(false, Ordering::Relaxed);
    } else {
        // SAFETY: another thread has taken one; this one comes from the line above.
        unsafe { System.dealloc(reserve, layout()) };
    }
}

/// Makes a request whose failure the caller handles: the reserve is not touched.
pub fn handled<T>(request: impl FnOnce() -> T) -> T {
    let before = HANDLED.replace(true);
    let done = request();
    HANDLED.set(before);
    done
}

fn layout() -> Layout {
    Layout::new::<[u8; RESERVE]>()
}

/// Gives up the reserve.
fn give_up_reserve() {
    let reserve = KEPT.swap(ptr::null_mut(), Ordering::AcqRel);
    if !reserve.is_null() {
        // SAFETY: it was allocated with this layout, and nobody else has it any more.
        unsafe { System.dealloc(reserve, layout()) };
    }
}

/// A request has failed: the same again, without the reserve.
#[cold]
fn again(bytes: usize, request: impl Fn() -> *mut u8) -> *mut u8 {
    if HANDLED.get() {
        return ptr::null_mut();
    }
    RAN_OUT.store(true, Ordering::Relaxed);
    give_up_reserve();
    let memory = request();
    if memory.is_null() {
        end(bytes);
    }
    memory
}

/// Ends the process, without allocating.
fn end(bytes: usize) -> ! {
    use std::io::Write as _;

    let message =
        "nothing of the run is kept; fewer flows, records or threads, or a smaller network, need less";
    let megabytes = bytes.div_ceil(1_000_000);
    let mut out = std::io::stderr().lock();
    let _ = writeln!(out, "error: memory ran out: {megabytes} MB more could not be allocated; {message}");
    exit()
}

/// Ends the process at once: what runs at a normal exit may need memory.
#[cfg(unix)]
fn exit() -> ! {
    // SAFETY: it does not return, and calls nothing of this process.
    unsafe { libc::_exit(1) }
}

/// Ends the process at once: what runs at a normal exit may need memory.
#[cfg(not(unix))]
fn exit() -> ! {
    std::process::abort()
}

// SAFETY: all memory is that of the system's allocator, with the caller's layouts.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are those of the system's allocator.
        let request = || unsafe { System.alloc(layout) };
        let memory = request();
        if memory.is_null() { again(layout.size(), request) } else { memory }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        let request = || unsafe { System.alloc_zeroed(layout) };
        let memory = request();
        if memory.is_null() { again(layout.size(), request) } else { memory }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above; a request that fails leaves the memory as it was.
        let request = || unsafe { System.realloc(memory, layout, size) };
        let moved = request();
        if moved.is_null() { again(size, request) } else { moved }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_fails_is_served_from_the_reserve_and_all_runs_hear_of_it() {
        let served = ptr::NonNull::<u8>::dangling().as_ptr();
        let request = || if KEPT.load(Ordering::Relaxed).is_null() { served } else { ptr::null_mut() };
        keep_reserve();
        let reserve = KEPT.load(Ordering::Relaxed);
        assert!(!reserve.is_null() && !ran_out());
        keep_reserve();
        assert_eq!(KEPT.load(Ordering::Relaxed), reserve, "there is one already");
        assert!(handled(|| again(8, request)).is_null() && !ran_out(), "the caller handles it");
        assert_eq!(again(8, request), served);
        assert!(ran_out() && KEPT.load(Ordering::Relaxed).is_null());
        keep_reserve();
        assert!(!ran_out(), "the next run has one again");
        give_up_reserve();
    }
}
