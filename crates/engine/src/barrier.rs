//! A barrier for threads that synchronise every few microseconds.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;

/// Number of consecutive checks before a waiting thread sleeps. While it sleeps, the system may give its
/// processor to the thread that it waits for. The system then wakes it on an idle processor, so threads that
/// started on one processor do not stay there together.
const SPINS: u32 = 2_000;

/// A barrier: writes of each thread before `wait` are visible to all threads after it.
#[derive(Debug)]
pub struct Barrier {
    threads: usize,
    arrived: AtomicUsize,
    /// Number of completed rounds.
    rounds: AtomicUsize,
    /// Whether a thread has panicked and will never arrive.
    broken: AtomicBool,
    /// Number of threads that sleep, or are about to.
    asleep: AtomicUsize,
    /// Held from the last check until a thread sleeps, and while a thread wakes others.
    sleep_lock: Mutex<()>,
    changed: Condvar,
}

impl Barrier {
    /// A barrier for `threads` threads.
    pub fn new(threads: usize) -> Self {
        let [arrived, rounds, asleep] = std::array::from_fn(|_| AtomicUsize::new(0));
        let (broken, sleep_lock, changed) = (AtomicBool::new(false), Mutex::new(()), Condvar::new());
        Barrier { threads, arrived, rounds, broken, asleep, sleep_lock, changed }
    }

    /// Waits for all threads; returns false if one of them has panicked.
    pub fn wait(&self) -> bool {
        let rounds = self.rounds.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            // Either this thread reads that another is about to sleep, or the other reads that the round is
            // complete.
            self.rounds.store(rounds.wrapping_add(1), Ordering::SeqCst);
            self.wake();
            return !self.broken.load(Ordering::Relaxed);
        }
        for _ in 0..SPINS {
            if self.is_over(rounds) {
                return !self.broken.load(Ordering::Relaxed);
            }
            std::hint::spin_loop();
        }
        self.sleep(rounds)
    }

    /// Whether the round after `rounds` others is complete, or will never be.
    fn is_over(&self, rounds: usize) -> bool {
        self.rounds.load(Ordering::SeqCst) != rounds || self.broken.load(Ordering::SeqCst)
    }

    #[cold]
    fn sleep(&self, rounds: usize) -> bool {
        self.asleep.fetch_add(1, Ordering::SeqCst);
        let guard = self.sleep_lock.lock().unwrap_or_else(PoisonError::into_inner);
        let guard = self.changed.wait_while(guard, |()| !self.is_over(rounds));
        drop(guard.unwrap_or_else(PoisonError::into_inner));
        self.asleep.fetch_sub(1, Ordering::SeqCst);
        !self.broken.load(Ordering::Relaxed)
    }

    /// Wakes sleeping threads. It takes the lock, because a thread between its last check and its sleep would
    /// otherwise miss the signal.
    fn wake(&self) {
        if self.asleep.load(Ordering::SeqCst) > 0 {
            drop(self.sleep_lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.changed.notify_all();
        }
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
            self.0.broken.store(true, Ordering::SeqCst);
            self.0.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::resume_unwind;
    use std::sync::atomic::AtomicU32;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    use floodway_units::Turns;

    use super::*;

    /// The time limit of a test whose threads wait; such a test takes milliseconds.
    const LONGEST: Duration = Duration::from_secs(120);

    /// Runs a test whose threads might wait for one another forever.
    fn ends(test: impl FnOnce() + Send + 'static) {
        let (over, is_over) = channel::<()>();
        let test = thread::spawn(move || {
            let _over = over;
            test();
        });
        let waits = is_over.recv_timeout(LONGEST) == Err(RecvTimeoutError::Timeout);
        assert!(!waits, "the threads wait for one another");
        if let Err(panic) = test.join() {
            resume_unwind(panic);
        }
    }

    #[test]
    fn no_thread_passes_before_all_have_arrived() {
        const ROUNDS: u32 = 2_000;
        ends(|| {
            let barrier = Barrier::new(3);
            let counts = [(); 3].map(|()| AtomicU32::new(0));
            thread::scope(|scope| {
                for own in 0..3 {
                    let (barrier, counts) = (&barrier, &counts);
                    scope.spawn(move || {
                        let _guard = barrier.guard();
                        for round in 1..=ROUNDS {
                            counts[own].store(round, Ordering::Relaxed);
                            assert!(barrier.wait());
                            let all = counts.iter().all(|count| count.load(Ordering::Relaxed) >= round);
                            assert!(all, "a thread has not arrived in round {round}");
                            assert!(barrier.wait());
                        }
                    });
                }
            });
            assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == ROUNDS));
        });
    }

    #[test]
    fn a_thread_that_sleeps_wakes_when_the_last_one_arrives() {
        ends(|| {
            let barrier = Barrier::new(2);
            thread::scope(|scope| {
                let waits = scope.spawn(|| barrier.wait());
                let mut turns = Turns::at_most(1_000_000_000);
                while barrier.asleep.load(Ordering::SeqCst) == 0 && turns.go() {
                    thread::yield_now();
                }
                assert!(barrier.wait());
                assert!(waits.join().expect("it goes on"));
            });
        });
    }

    #[test]
    fn a_panic_releases_the_other_threads() {
        ends(|| {
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
        });
    }
}
