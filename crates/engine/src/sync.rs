//! The types that threads share, in one place: those of std, or, for tests that try all orders in which
//! threads may be executed (`make loom`), those of loom.

#[cfg(not(all(loom, test)))]
mod of_std {
    pub use std::hint::spin_loop;
    pub use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
    pub use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

    /// Number of consecutive checks before a waiting thread sleeps. While it sleeps, the system may give its
    /// processor to the thread that it waits for. The system then wakes it on an idle processor, so threads
    /// that started on one processor do not stay there together.
    pub const SPINS: u32 = 2_000;
}

#[cfg(all(loom, test))]
mod of_loom {
    pub use std::sync::PoisonError;

    pub use loom::hint::spin_loop;
    pub use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
    pub use loom::sync::{Condvar, Mutex, MutexGuard};

    /// Further checks are as the first one, and each doubles the number of orders.
    pub const SPINS: u32 = 1;
}

#[cfg(all(loom, test))]
pub(crate) use of_loom::*;
#[cfg(not(all(loom, test)))]
pub(crate) use of_std::*;
