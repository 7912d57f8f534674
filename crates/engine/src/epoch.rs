//! Epochs: the parts of a run between which it is inspected.
//!
//! A run ends only between epochs: at its limit, when all measured flows have finished, or on a deadlock if
//! the scenario requests that. An interrupt ends the current epoch early.

use floodway_units::{Span, Time};

/// Length of an epoch: runs are inspected, and end, only at its multiples, so that they end in the same way
/// on any number of threads.
pub const EPOCH: Span = Span::us(100);

/// How far a world has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// To the end of the epoch.
    Reached,
    /// It was interrupted.
    Interrupted,
}

/// End of the epoch that begins at `now` or contains it.
pub fn end_of_epoch(now: Time, limit: Time) -> Time {
    Time((now.0 / EPOCH.0 + 1).saturating_mul(EPOCH.0)).min(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_ends_at_a_multiple_of_its_length_or_at_the_limit() {
        let at = |us| Time::ZERO + Span::us(us);
        let ends = [0, 99, 100, 200].map(|now| end_of_epoch(at(now), at(250)));
        assert_eq!(ends, [at(100), at(100), at(200), at(250)]);
    }
}
