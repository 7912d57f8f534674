//! Threads that meet again and again.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// How often a thread that waits looks again at once.
const SPINS: u32 = 2_000;
/// How often, then, it lets others have the processor.
const YIELDS: u32 = 4_000;
/// How long, from then on, it sleeps between two looks.
const REST: Duration = Duration::from_micros(50);

/// Where threads wait for one another: what each did before it came is seen by all who go on.
#[derive(Debug)]
pub struct Meeting {
    threads: usize,
    here: AtomicUsize,
    /// Meetings so far.
    times: AtomicUsize,
    /// Somebody will never come.
    broken: AtomicBool,
}

impl Meeting {
    /// Of so many threads.
    pub fn new(threads: usize) -> Self {
        let (here, times) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Meeting { threads, here, times, broken: AtomicBool::new(false) }
    }

    /// Waits until all are here; false if somebody will never come.
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

    /// While a thread that takes part has this, its panic ends the waiting of the others.
    pub fn attend(&self) -> Attending<'_> {
        Attending(self)
    }
}

/// A thread takes part.
#[derive(Debug)]
pub struct Attending<'m>(&'m Meeting);

impl Drop for Attending<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}

/// Waits a little longer each time, so that a thread that waits does not keep others from what it waits for.
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
    fn nobody_goes_on_before_all_have_come() {
        const ROUNDS: u32 = 2_000;
        let meeting = Meeting::new(3);
        let counts = [(); 3].map(|()| AtomicU32::new(0));
        thread::scope(|scope| {
            for own in 0..3 {
                let (meeting, counts) = (&meeting, &counts);
                scope.spawn(move || {
                    for round in 1..=ROUNDS {
                        counts[own].store(round, Ordering::Relaxed);
                        assert!(meeting.wait());
                        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) >= round));
                        assert!(meeting.wait());
                    }
                });
            }
        });
        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == ROUNDS));
    }

    #[test]
    fn who_panics_is_not_waited_for() {
        let meeting = Meeting::new(2);
        thread::scope(|scope| {
            let panics = scope.spawn(|| {
                let _attending = meeting.attend();
                std::panic::resume_unwind(Box::new("ends"));
            });
            let waits = scope.spawn(|| meeting.wait());
            assert!(panics.join().is_err());
            assert!(!waits.join().expect("it goes on"));
        });
    }
}
