//! What threads tell one another between two windows: their earliest window with an event, and what one sends
//! to another.
//!
//! ```text
//!  thread 0   window | publish 0 | barrier | receive 0 | window | publish 1 | barrier | receive 1 | window ...
//!  thread 1   window | publish 0    | barrier |   receive 0  | window | publish 1 | barrier | receive 1 ...
//! ```
//! There are two sets of mailboxes, which rounds take by turns: a thread may publish for the next round while
//! another still receives for this one, but not for the round after that, before which it waits for all.

use crate::barrier::{Barrier, BarrierGuard};
use crate::sync::{AtomicU64, Mutex, MutexGuard, Ordering, PoisonError};

/// Mailboxes `M` between threads, and a barrier.
#[derive(Debug)]
pub struct Exchange<M> {
    threads: usize,
    barrier: Barrier,
    /// By thread, alternating: its earliest window.
    earliest: [Vec<AtomicU64>; 2],
    /// By sender and receiver, alternating.
    mailboxes: [Vec<Mutex<M>>; 2],
}

impl<M: Default> Exchange<M> {
    /// Between so many threads.
    pub fn new(threads: usize) -> Self {
        let earliest = || (0..threads).map(|_| AtomicU64::new(0)).collect();
        let mailboxes = || (0..threads * threads).map(|_| Mutex::new(M::default())).collect();
        Exchange {
            threads,
            barrier: Barrier::new(threads),
            earliest: [earliest(), earliest()],
            mailboxes: [mailboxes(), mailboxes()],
        }
    }
}

impl<M> Exchange<M> {
    /// A guard: if the thread that holds it panics, the others stop waiting.
    pub fn guard(&self) -> BarrierGuard<'_> {
        self.barrier.guard()
    }

    /// Waits until all threads have published; false if one of them has panicked.
    pub fn wait(&self) -> bool {
        self.barrier.wait()
    }

    /// In a round, a thread publishes its earliest window, and fills its mailbox for each other thread.
    pub fn publish(&self, round: u64, thread: usize, earliest: u64, mut fill: impl FnMut(usize, &mut M)) {
        // What orders this before the loads of others is the barrier.
        self.earliest[parity(round)][thread].store(earliest, Ordering::Relaxed);
        for to in (0..self.threads).filter(|&to| to != thread) {
            fill(to, &mut self.mailbox(round, thread, to));
        }
    }

    /// In the same round, when all have published, a thread empties the mailboxes for it; the least of the
    /// windows that were published.
    pub fn receive(&self, round: u64, thread: usize, mut empty: impl FnMut(&mut M)) -> u64 {
        for from in (0..self.threads).filter(|&from| from != thread) {
            empty(&mut self.mailbox(round, from, thread));
        }
        let earliest = self.earliest[parity(round)].iter().map(|window| window.load(Ordering::Relaxed));
        earliest.min().unwrap_or(0)
    }

    fn mailbox(&self, round: u64, from: usize, to: usize) -> MutexGuard<'_, M> {
        let mailbox = &self.mailboxes[parity(round)][from * self.threads + to];
        mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which of two sets a round takes.
fn parity(round: u64) -> usize {
    usize::from(!round.is_multiple_of(2))
}

/// In all orders in which loom can execute the threads, with all values that their loads may read.
#[cfg(all(test, loom))]
#[allow(unsafe_code, reason = "loom checks who has access")]
pub(crate) mod loom_tests {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread::spawn;

    use super::*;

    /// Executes a test in all orders of its threads with so many preemptions at most.
    pub(crate) fn in_all_orders(preemptions: usize, test: impl Fn() + Send + Sync + 'static) {
        let mut model = loom::model::Builder::new();
        model.preemption_bound = Some(preemptions);
        model.check(test);
    }

    /// Executes a test's two threads.
    fn on_two_threads(work: impl Fn(usize) + Clone + 'static) {
        let other = spawn({
            let work = work.clone();
            move || work(1)
        });
        work(0);
        other.join().expect("it ends");
    }

    #[test]
    fn each_thread_gets_what_the_other_sent_in_the_round_and_both_see_the_same_windows() {
        in_all_orders(2, || {
            let exchange = Arc::new(Exchange::<Vec<u64>>::new(2));
            on_two_threads(move |own| {
                let (me, other) = (own as u64, 1 - own as u64);
                for round in 0..3 {
                    // The threads are the earliest by turns.
                    let earliest = 10 * round + (me + round) % 2;
                    exchange.publish(round, own, earliest, |_, mailbox| mailbox.push(2 * round + me));
                    assert!(exchange.wait());
                    let mut sent = Vec::new();
                    let least = exchange.receive(round, own, |mailbox| sent.append(mailbox));
                    assert_eq!((least, sent), (10 * round, vec![2 * round + other]));
                }
            });
        });
    }

    /// As nodes do, whose owners change between windows.
    #[test]
    fn what_one_thread_wrote_in_a_window_another_writes_in_the_next() {
        in_all_orders(2, || {
            let exchange = Arc::new(Exchange::<()>::new(2));
            let nodes = Arc::new([0u64, 1].map(UnsafeCell::new));
            on_two_threads(move |own| {
                for round in 0..3 {
                    exchange.publish(round, own, 0, |_, ()| ());
                    assert!(exchange.wait());
                    exchange.receive(round, own, |()| ());
                    let node = (own + parity(round)) % 2;
                    // SAFETY: each node has one owner in a window; loom checks that.
                    nodes[node].with_mut(|events| unsafe {
                        assert_eq!(*events, 10 * round + node as u64);
                        *events += 10;
                    });
                }
            });
        });
    }

    /// A packet's memory goes with the event in a mailbox, and comes back.
    #[test]
    fn what_a_message_names_is_the_receivers() {
        in_all_orders(2, || {
            let exchange = Arc::new(Exchange::<Option<usize>>::new(2));
            let packet = Arc::new(UnsafeCell::new(0));
            on_two_threads(move |own| {
                let mut mine = (own == 0).then_some(0);
                for round in 0..3 {
                    if mine.is_some() {
                        // SAFETY: the one who has its name has the packet; loom checks that.
                        packet.with_mut(|hops| unsafe { *hops += 1 });
                    }
                    exchange.publish(round, own, 0, |_, mailbox| *mailbox = mine.take());
                    assert!(exchange.wait());
                    exchange.receive(round, own, |mailbox| mine = mailbox.take());
                    assert_eq!(mine.is_some(), own as u64 != round % 2);
                    if mine.is_some() {
                        // SAFETY: as above.
                        assert_eq!(packet.with(|hops| unsafe { *hops }), round + 1);
                    }
                }
            });
        });
    }
}
