//! What processes that execute one run together need of one another: to exchange bytes, all with all.
//!
//! Each process is a rank. A rank that ends, for whatever reason, ends the exchange of all others with an
//! error. [`in_process`] connects threads of one process in this way.

use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{fmt, mem};

/// The other processes of a run.
pub trait Transport: Send + Sync {
    /// The number of this process, from 0.
    fn rank(&self) -> usize;

    /// How many processes there are.
    fn ranks(&self) -> usize;

    /// Sends each rank the bytes that `outgoing` has for it, and receives from each what it has sent here;
    /// all ranks call it alike. Nothing is sent from a rank to itself.
    ///
    /// # Errors
    /// A rank has ended.
    fn exchange(&self, outgoing: &[Vec<u8>], incoming: &mut [Vec<u8>]) -> Result<(), RankLost>;
}

/// Another process of the run has ended before the run did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankLost {
    /// What is known of it, in one line.
    pub message: String,
}

impl RankLost {
    /// Ends the run. This is not a bug of the simulator: nothing is reported here; the code that catches it
    /// reports it.
    #[cold]
    pub fn end(self) -> ! {
        resume_unwind(Box::new(self))
    }
}

impl fmt::Display for RankLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A rank that is a thread of this process. When it is dropped, the others end at their next exchange.
#[derive(Debug)]
pub struct InProcess {
    rank: usize,
    ranks: usize,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Ranks that have come to the present meeting, and how many meetings there were.
    arrived: usize,
    meetings: u64,
    /// A rank that has ended.
    ended: Option<usize>,
    /// By sender and receiver.
    mail: Vec<Vec<u8>>,
}

/// So many ranks, for a thread each.
pub fn in_process(ranks: usize) -> Vec<InProcess> {
    let mail = vec![Vec::new(); ranks * ranks];
    let state = Mutex::new(State { arrived: 0, meetings: 0, ended: None, mail });
    let shared = Arc::new(Shared { state, changed: Condvar::new() });
    (0..ranks).map(|rank| InProcess { rank, ranks, shared: Arc::clone(&shared) }).collect()
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all ranks have come here.
    fn meet<'s>(
        &'s self,
        mut state: MutexGuard<'s, State>,
        ranks: usize,
    ) -> Result<MutexGuard<'s, State>, RankLost> {
        state.arrived += 1;
        let meeting = state.meetings;
        if state.arrived == ranks {
            (state.arrived, state.meetings) = (0, meeting + 1);
            self.changed.notify_all();
        }
        while state.meetings == meeting {
            if let Some(rank) = state.ended {
                return Err(RankLost { message: format!("rank {rank} has ended before the run did") });
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(state)
    }
}

impl Transport for InProcess {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.ranks
    }

    fn exchange(&self, outgoing: &[Vec<u8>], incoming: &mut [Vec<u8>]) -> Result<(), RankLost> {
        let (rank, ranks) = (self.rank, self.ranks);
        let mut state = self.shared.lock();
        for to in (0..ranks).filter(|&to| to != rank) {
            state.mail[rank * ranks + to].clone_from(&outgoing[to]);
        }
        let mut state = self.shared.meet(state, ranks)?;
        for from in (0..ranks).filter(|&from| from != rank) {
            mem::swap(&mut state.mail[from * ranks + rank], &mut incoming[from]);
        }
        self.shared.meet(state, ranks).map(drop)
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.shared.lock().ended.get_or_insert(self.rank);
        self.shared.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// What each rank receives from each, in rounds of growing messages.
    fn exchanged(ranks: usize, rounds: usize) -> Vec<Vec<String>> {
        let work = |own: InProcess| {
            let (mut incoming, mut received) = (vec![Vec::new(); ranks], vec![String::new(); ranks]);
            for round in 0..rounds {
                let text = |to| format!("{}>{to}:{round};", own.rank()).into_bytes();
                let outgoing: Vec<Vec<u8>> = (0..ranks).map(text).collect();
                own.exchange(&outgoing, &mut incoming).expect("all are there");
                for (text, bytes) in received.iter_mut().zip(&incoming) {
                    text.push_str(std::str::from_utf8(bytes).expect("it was sent as text"));
                }
            }
            received
        };
        thread::scope(|scope| {
            let all: Vec<_> =
                in_process(ranks).into_iter().map(|own| scope.spawn(move || work(own))).collect();
            all.into_iter().map(|rank| rank.join().expect("it does not panic")).collect()
        })
    }

    #[test]
    fn each_rank_receives_what_each_other_has_sent_to_it() {
        for (to, received) in exchanged(3, 4).into_iter().enumerate() {
            for (from, text) in received.into_iter().enumerate() {
                let sent = [0, 1, 2, 3].map(|round| format!("{from}>{to}:{round};")).concat();
                assert_eq!(text, if from == to { String::new() } else { sent });
            }
        }
    }

    #[test]
    fn a_rank_that_ends_is_an_error_of_all_others() {
        let mut ranks = in_process(3);
        drop(ranks.remove(1));
        for rank in ranks {
            let lost = rank.exchange(&vec![Vec::new(); 3], &mut vec![Vec::new(); 3]).expect_err("1 is gone");
            assert_eq!(lost.to_string(), "rank 1 has ended before the run did");
        }
    }
}
