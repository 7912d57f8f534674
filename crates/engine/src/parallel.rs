//! Partitions of one world on several threads, with the same result as on one.
//!
//! ```text
//!  epoch  |<------------------------ 100 us ------------------------>|
//!  part 0 |== window ==|== window ==|== window ==| ...               | all are looked at,
//!              \ batch      ^ batch                                  | by one thread
//!  part 1 |== window ===|===/ window ==|== window ==| ...            |
//! ```
//! Conservative: a partition goes as far as no word from another can reach it that it does not have yet: to the least
//! of the others' clocks plus the delay of the cut between them. It never goes back. How far that is in one go depends
//! on the threads; what happens does not, as long as a world lets its events happen in their order, however they came in.

mod seat;
#[cfg(test)]
mod tests;

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Duration;

use floodway_units::Time;

use crate::epoch::{Advance, end_of_epoch};
use crate::lookahead::{Clocks, Lookahead};
use seat::{Seat, Turn, seats};

/// Letters that an inbox holds, by partition: who is some windows ahead need not wait.
const LETTERS: usize = 4;
/// How often a thread that waits looks again at once.
const SPINS: u32 = 200;
/// How often, then, it lets others have the processor.
const YIELDS: u32 = 2_000;
/// How long, from then on, it sleeps between two looks.
const REST: Duration = Duration::from_micros(50);

/// A part of a world, with a queue of events of its own.
///
/// It may be told to advance in any number of steps, and hear of words in any order and long before they
/// arrive: neither may change what it does.
pub trait Partition: Send {
    /// What it has to say to one other partition. Batches are emptied and used again.
    type Batch: Default + Send;

    /// Lets all happen that happens before `end`.
    fn advance(&mut self, end: Time) -> Advance;

    /// What it has to say to partition `to`, if anything. The batch is taken, and an empty one left.
    fn outgoing(&mut self, to: usize) -> Option<&mut Self::Batch>;

    /// Takes in what partition `from` says, and leaves the batch empty. None of it arrives before the end of its last
    /// advance.
    fn receive(&mut self, from: usize, batch: &mut Self::Batch);
}

/// Runs partitions on so many threads until `between` says that it is over, one of them is interrupted, or `limit` is
/// reached: the partitions, the instant at which they stopped, and why.
///
/// `between` looks at all of them at the end of each epoch, in their order, when all that was said has been received;
/// it may change them; true ends the run. Interrupted, they stand at different instants of the epoch that ends at the
/// instant returned, but all that was said has been received. A panic in a partition ends all threads and goes on here.
///
/// This thread is one of `threads`; there are no more of them than partitions.
pub fn run_partitions<P: Partition>(
    partitions: Vec<P>,
    lookahead: &Lookahead,
    threads: usize,
    limit: Time,
    between: impl FnMut(&mut [&mut P], Time) -> bool,
) -> (Vec<P>, Time, Advance) {
    let letters = LETTERS * partitions.len();
    run_with_inboxes(partitions, lookahead, threads, limit, letters, between)
}

fn run_with_inboxes<P: Partition>(
    partitions: Vec<P>,
    lookahead: &Lookahead,
    threads: usize,
    limit: Time,
    letters: usize,
    between: impl FnMut(&mut [&mut P], Time) -> bool,
) -> (Vec<P>, Time, Advance) {
    debug_assert_eq!(partitions.len(), lookahead.partitions(), "each partition has a lookahead");
    let common = Common { clocks: Clocks::new(lookahead), stopped: AtomicBool::new(false) };
    let shares = share_out(seats(partitions, letters), threads);
    let (mut shares, now, how) = thread::scope(|scope| run_epochs(scope, &common, shares, limit, between));
    if how == Advance::Interrupted {
        settle(&mut shares);
    }
    (shares.into_iter().flatten().map(|seat| seat.partition).collect(), now, how)
}

/// What all threads see.
struct Common<'a> {
    clocks: Clocks<'a>,
    /// Nobody goes on.
    stopped: AtomicBool,
}

/// Some seats and the end of their epoch, and back again with how far they came.
type Order<P> = (Vec<Seat<P>>, Time);
type Done<P> = (Vec<Seat<P>>, Advance);

/// A thread besides this one.
struct Worker<'scope, P: Partition> {
    orders: Sender<Order<P>>,
    done: Receiver<Done<P>>,
    thread: ScopedJoinHandle<'scope, ()>,
}

/// Neighbours by number share a thread.
fn share_out<P: Partition>(mut seats: Vec<Seat<P>>, threads: usize) -> Vec<Vec<Seat<P>>> {
    let (partitions, threads) = (seats.len(), threads.clamp(1, seats.len().max(1)));
    let mut shares: Vec<_> =
        (0..threads).rev().map(|thread| seats.split_off(partitions * thread / threads)).collect();
    shares.reverse();
    shares
}

fn run_epochs<'scope, P: Partition + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    common: &'scope Common<'_>,
    mut shares: Vec<Vec<Seat<P>>>,
    limit: Time,
    mut between: impl FnMut(&mut [&mut P], Time) -> bool,
) -> (Vec<Vec<Seat<P>>>, Time, Advance) {
    let mut workers: Vec<_> = shares.iter().skip(1).map(|_| hire(scope, common)).collect();
    let mut now = Time::ZERO;
    while now < limit {
        let end = end_of_epoch(now, limit);
        let how = run_epoch(&mut workers, common, &mut shares, end);
        now = end;
        if how == Advance::Interrupted {
            return (shares, now, how);
        }
        let mut all: Vec<&mut P> = shares.iter_mut().flatten().map(|seat| &mut seat.partition).collect();
        if between(&mut all, now) {
            break;
        }
        shares.iter_mut().flatten().for_each(Seat::reopen);
    }
    (shares, now, Advance::Reached)
}

/// Starts a thread that works on what it is given until nobody gives it anything.
fn hire<'scope, P: Partition + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    common: &'scope Common<'_>,
) -> Worker<'scope, P> {
    let (orders, received) = channel::<Order<P>>();
    let (sender, done) = channel();
    let thread = scope.spawn(move || {
        for (mut seats, end) in received {
            let how = work(&mut seats, common, end);
            if sender.send((seats, how)).is_err() {
                return;
            }
        }
    });
    Worker { orders, done, thread }
}

/// Has each thread work on its share until the end of the epoch.
fn run_epoch<P: Partition>(
    workers: &mut Vec<Worker<'_, P>>,
    common: &Common<'_>,
    shares: &mut [Vec<Seat<P>>],
    end: Time,
) -> Advance {
    let Some((own, others)) = shares.split_first_mut() else { return Advance::Reached };
    for (worker, share) in workers.iter().zip(others.iter_mut()) {
        // A thread that is gone has panicked: that shows when its share is asked back.
        let _ = worker.orders.send((std::mem::take(share), end));
    }
    let mut how = work(own, common, end);
    for (i, share) in others.iter_mut().enumerate() {
        let Ok((seats, its)) = workers[i].done.recv() else {
            let Err(panic) = workers.swap_remove(i).thread.join() else { return Advance::Interrupted };
            resume_unwind(panic);
        };
        *share = seats;
        if its == Advance::Interrupted {
            how = its;
        }
    }
    how
}

/// Gives each of the seats a turn, again and again, until all partitions, also those of other threads, are at `end`.
fn work<P: Partition>(seats: &mut [Seat<P>], common: &Common<'_>, end: Time) -> Advance {
    let _guard = StopOnPanic(&common.stopped);
    let mut patience = Patience::default();
    while !common.stopped.load(Ordering::Relaxed) {
        let mut moved = false;
        for seat in seats.iter_mut() {
            match seat.turn(&common.clocks, end) {
                Turn::Moved => moved = true,
                Turn::Waits => {}
                Turn::Interrupted => common.stopped.store(true, Ordering::Relaxed),
            }
        }
        if moved {
            patience = Patience::default();
        } else if common.clocks.all_at(end) {
            seats.iter_mut().for_each(Seat::take_in);
            return Advance::Reached;
        } else {
            patience.wait();
        }
    }
    Advance::Interrupted
}

/// Hands over what an interruption left with the senders.
fn settle<P: Partition>(shares: &mut [Vec<Seat<P>>]) {
    let mut all = false;
    while !all {
        all = shares.iter_mut().flatten().all(Seat::hand_over);
        shares.iter_mut().flatten().for_each(Seat::take_in);
    }
}

/// Has the other threads stop waiting for one that panics.
struct StopOnPanic<'a>(&'a AtomicBool);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Waits a little longer each time, so that a thread that waits does not keep others from what it waits for.
#[derive(Default)]
struct Patience(u32);

impl Patience {
    fn wait(&mut self) {
        self.0 += 1;
        match self.0 {
            ..SPINS => std::hint::spin_loop(),
            SPINS..YIELDS => thread::yield_now(),
            YIELDS.. => thread::sleep(REST),
        }
    }
}
