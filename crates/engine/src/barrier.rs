//! A spinning barrier for threads that synchronise every few microseconds.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Checks in a row before a waiting thread yields the processor.
const SPINS: u32 = 2_000;
/// Checks, including yields, before it sleeps.
const YIELDS: u32 = 4_000;
/// Sleep between two checks after that.
const REST: Duration = Duration::from_micros(50);

/// A barrier: writes of each thread before `wait` are visible to all threads after it.
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    here: AtomicUsize,
    /// Rounds completed.
    times: AtomicUsize,
    /// A thread has panicked and will never arrive.
    broken: AtomicBool,
}

impl Barrier {
    /// A barrier for `threads` threads.
    pub fn new(threads: usize) -> Self {
        let (here, times) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Barrier { threads, here, times, broken: AtomicBool::new(false) }
    }

    /// Waits for all threads; returns false if one of them has panicked.
    pub fn wait(&self) -> bool {
        let times = self.times.load(Ordering::Acquire);
        if self.here.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.here.store(0, Ordering::Relaxed);
            self.times.store(times.wrapping_add(1), Ordering::Release);
            return !self.broken.load(Ordering::Relaxed);
        }
        let mut patience = Patience::default();
        while self.times.load(Ordering::Acquire) == times {
            if self.broken.load(Ordering::Relaxed) {
                return false;
            }
            patience.wait();
        }
        true
    }

    /// A guard: if the thread that holds it panics, the others stop waiting.
    pub fn guard(&self) -> BarrierGuard<'_> {
        BarrierGuard(self)
    }
}

/// Releases the waiting threads when its own thread panics.
#[derive(Debug)]
pub struct BarrierGuard<'m>(&'m Barrier);

impl Drop for BarrierGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}

/// Backs off in steps, so that a waiting thread does not take the processor from the one it waits for.
#[derive(Default)]
struct Patience(u32);

impl Patience {
    fn wait(&mut self) {
        self.0 = self.0.saturating_add(1);
        match self.0 {
            ..SPINS => std::hint::spin_loop(),
            SPINS..YIELDS => thread::yield_now(),
            YIELDS.. => thread::sleep(REST),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn no_thread_passes_before_all_have_arrived() {
        const ROUNDS: u32 = 2_000;
        let barrier = Barrier::new(3);
        let counts = [(); 3].map(|()| AtomicU32::new(0));
        thread::scope(|scope| {
            for own in 0..3 {
                let (barrier, counts) = (&barrier, &counts);
                scope.spawn(move || {
                    for round in 1..=ROUNDS {
                        counts[own].store(round, Ordering::Relaxed);
                        assert!(barrier.wait());
                        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) >= round));
                        assert!(barrier.wait());
                    }
                });
            }
        });
        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == ROUNDS));
    }

    #[test]
    fn a_panic_releases_the_other_threads() {
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            let panics = scope.spawn(|| {
                let _guard = barrier.guard();
                std::panic::resume_unwind(Box::new("ends"));
            });
            let waits = scope.spawn(|| barrier.wait());
            assert!(panics.join().is_err());
            assert!(!waits.join().expect("it goes on"));
        });
    }
}
