//! How far a partition may run ahead of those whose words reach it.

use std::sync::atomic::{AtomicU64, Ordering};

use floodway_units::{Span, Time};
use thiserror::Error;

/// A cut that takes no time: its two sides would have to go event by event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the cut from partition {from} to partition {to} has no delay: it must be longer than 0 ps")]
pub struct NoDelay {
    /// The partition that sends.
    pub from: usize,
    /// The one that hears.
    pub to: usize,
}

/// Where words go from one partition to another, and how long they take at least.
///
/// A word may also go to a partition to which there is no cut, if it takes at least as long as by
/// some way over cuts.
#[derive(Clone, Debug)]
pub struct Lookahead {
    /// By partition: the others from which a cut leads to it, and the delay.
    incoming: Vec<Vec<(usize, Span)>>,
}

impl Lookahead {
    /// So many partitions, between which there is no cut yet.
    pub fn new(partitions: usize) -> Self {
        Lookahead { incoming: vec![Vec::new(); partitions] }
    }

    /// Words go from `from` to `to` and take `delay` or longer. The shortest of several cuts counts;
    /// within a partition there is none.
    pub fn cut(&mut self, from: usize, to: usize, delay: Span) -> Result<(), NoDelay> {
        if delay == Span::ZERO {
            return Err(NoDelay { from, to });
        }
        if from == to {
            return Ok(());
        }
        let cuts = &mut self.incoming[to];
        match cuts.iter_mut().find(|(other, _)| *other == from) {
            Some((_, shortest)) => *shortest = delay.min(*shortest),
            None => cuts.push((from, delay)),
        }
        Ok(())
    }

    /// How many partitions there are.
    pub fn partitions(&self) -> usize {
        self.incoming.len()
    }
}

/// How far each partition has come, for the others to read.
///
/// A clock is stored (Release) after all that its partition's earlier events have to say was put into
/// the others' inboxes, and read (Acquire) before the reader looks into its own. So what arrives before
/// the reader's horizon is in its inbox by then. That holds for words over several cuts, too: if k reads j's
/// clock, j had read i's before, and what happens before is transitive.
#[derive(Debug)]
pub(crate) struct Clocks<'a> {
    lookahead: &'a Lookahead,
    reached: Box<[Clock]>,
}

/// On cache lines of its own: two, since processors fetch them in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Clock(AtomicU64);

impl<'a> Clocks<'a> {
    pub fn new(lookahead: &'a Lookahead) -> Self {
        Clocks { lookahead, reached: (0..lookahead.partitions()).map(|_| Clock::default()).collect() }
    }

    /// Tells the others that `partition` has come to `time`, and that all was handed over.
    pub fn publish(&self, partition: usize, time: Time) {
        self.reached[partition].0.store(time.0, Ordering::Release);
    }

    /// How far `partition` may go, at most to `end`: no word that it has not been given arrives before.
    pub fn horizon(&self, partition: usize, end: Time) -> Time {
        let cuts = &self.lookahead.incoming[partition];
        let arrival = |&(from, delay): &(usize, Span)| self.of(from).saturating_add(delay.0);
        Time(cuts.iter().map(arrival).fold(end.0, u64::min))
    }

    /// Have all come to `end`?
    pub fn all_at(&self, end: Time) -> bool {
        (0..self.reached.len()).all(|partition| self.of(partition) >= end.0)
    }

    fn of(&self, partition: usize) -> u64 {
        self.reached[partition].0.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_horizon_is_the_nearest_of_the_cuts_that_lead_here() {
        let mut lookahead = Lookahead::new(3);
        for (from, to, us) in [(0, 2, 7), (0, 2, 5), (0, 2, 9), (1, 2, 3), (2, 2, 1)] {
            lookahead.cut(from, to, Span::us(us)).expect("it has a delay");
        }
        let clocks = Clocks::new(&lookahead);
        let end = Time::ZERO + Span::us(100);
        assert_eq!(clocks.horizon(2, end), Time::ZERO + Span::us(3));
        clocks.publish(1, Time::ZERO + Span::us(50));
        assert_eq!(clocks.horizon(2, end), Time::ZERO + Span::us(5));
        clocks.publish(0, Time::NEVER);
        assert_eq!(clocks.horizon(2, end), Time::ZERO + Span::us(53));
        assert_eq!(clocks.horizon(0, end), end);
    }

    #[test]
    fn a_cut_without_delay_is_named() {
        let error = Lookahead::new(3).cut(1, 2, Span::ZERO).expect_err("it has none");
        let expected = "the cut from partition 1 to partition 2 has no delay: it must be longer than 0 ps";
        assert_eq!(error.to_string(), expected);
    }
}
