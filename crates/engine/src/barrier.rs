//! A barrier for threads that synchronise every few microseconds.

use std::thread;

use crate::sync::{AtomicBool, AtomicUsize, Condvar, Mutex, Ordering, PoisonError, SPINS, fence, spin_loop};

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
            self.rounds.store(rounds.wrapping_add(1), Ordering::Release);
            self.wake();
            return !self.broken.load(Ordering::Relaxed);
        }
        for _ in 0..SPINS {
            if self.is_over(rounds) {
                return !self.broken.load(Ordering::Relaxed);
            }
            spin_loop();
        }
        self.sleep(rounds)
    }

    /// Whether the round after `rounds` others is complete, or will never be.
    fn is_over(&self, rounds: usize) -> bool {
        self.rounds.load(Ordering::Acquire) != rounds || self.broken.load(Ordering::Acquire)
    }

    #[cold]
    fn sleep(&self, rounds: usize) -> bool {
        self.asleep.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let mut guard = self.sleep_lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.is_over(rounds) {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        drop(guard);
        self.asleep.fetch_sub(1, Ordering::Relaxed);
        !self.broken.load(Ordering::Relaxed)
    }

    /// Wakes sleeping threads. It takes the lock, because a thread between its last check and its sleep would
    /// otherwise miss the signal.
    fn wake(&self) {
        // Either this thread reads that another is about to sleep, or the other, behind its own fence, reads
        // why it need not.
        fence(Ordering::SeqCst);
        if self.asleep.load(Ordering::Relaxed) > 0 {
            drop(self.sleep_lock.lock().unwrap_or_else(PoisonError::into_inner));
            self.changed.notify_all();
        }
    }

    /// A thread will never arrive: the others are not to wait for it.
    fn break_up(&self) {
        self.broken.store(true, Ordering::Release);
        self.wake();
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
            self.0.break_up();
        }
    }
}

#[cfg(all(test, not(loom)))]
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

/// In all orders in which loom can execute the threads, with all values that their loads may read.
#[cfg(all(test, loom))]
#[allow(unsafe_code, reason = "loom checks who has access")]
mod loom_tests {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread::spawn;

    use super::*;
    use crate::exchange::loom_tests::in_all_orders;

    /// Each thread writes what all others read after the barrier.
    fn all_see_what_was_written_before(threads: usize, rounds: u32) {
        let barrier = Arc::new(Barrier::new(threads));
        let cells: Arc<Vec<_>> = Arc::new((0..threads).map(|_| UnsafeCell::new(0)).collect());
        let work = move |own: usize| {
            for round in 1..=rounds {
                // SAFETY: none reads it before all have arrived; loom checks that.
                cells[own].with_mut(|cell| unsafe { *cell = round });
                assert!(barrier.wait());
                for cell in cells.iter() {
                    // SAFETY: none writes it before all have arrived again; loom checks that.
                    assert_eq!(cell.with(|cell| unsafe { *cell }), round);
                }
                assert!(barrier.wait());
            }
        };
        let others: Vec<_> = (1..threads)
            .map(|own| {
                let work = work.clone();
                spawn(move || work(own))
            })
            .collect();
        work(0);
        others.into_iter().for_each(|other| other.join().expect("it ends"));
    }

    #[test]
    fn two_threads_see_what_the_other_wrote_before() {
        in_all_orders(3, || all_see_what_was_written_before(2, 2));
    }

    #[test]
    fn three_threads_see_what_the_others_wrote_before() {
        in_all_orders(1, || all_see_what_was_written_before(3, 1));
    }

    #[test]
    fn a_thread_that_never_arrives_releases_the_other() {
        in_all_orders(3, || {
            let barrier = Arc::new(Barrier::new(2));
            let waits = spawn({
                let barrier = Arc::clone(&barrier);
                move || barrier.wait()
            });
            barrier.break_up();
            assert!(!waits.join().expect("it goes on"));
        });
    }
}
