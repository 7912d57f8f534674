use floodway_units::{Span, Time};

/// Length of an epoch: runs are inspected, and end, at its multiples only, so that they end the
/// same way however they are partitioned.
pub const EPOCH: Span = Span::us(100);

/// How far a world came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// To the end of the epoch.
    Reached,
    /// It was told to stop on the way.
    Interrupted,
}

/// What runs in epochs.
pub trait World {
    /// Lets all happen that happens before `end`.
    fn advance(&mut self, end: Time) -> Advance;

    /// Called between epochs; true ends the run.
    fn is_over(&mut self, now: Time) -> bool;
}

/// Runs `world` until it is over, interrupted, or at `limit`; the instant at which it stopped.
pub fn run(world: &mut impl World, limit: Time) -> (Time, Advance) {
    let mut now = Time::ZERO;
    while now < limit {
        let end = end_of_epoch(now, limit);
        if world.advance(end) == Advance::Interrupted {
            return (end, Advance::Interrupted);
        }
        now = end;
        if world.is_over(now) {
            break;
        }
    }
    (now, Advance::Reached)
}

/// End of the epoch that begins at `now`, or within which it lies.
pub(crate) fn end_of_epoch(now: Time, limit: Time) -> Time {
    Time((now.0 / EPOCH.0 + 1).saturating_mul(EPOCH.0)).min(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counts {
        epochs: u64,
        over_after: u64,
    }

    impl World for Counts {
        fn advance(&mut self, _: Time) -> Advance {
            self.epochs += 1;
            Advance::Reached
        }

        fn is_over(&mut self, _: Time) -> bool {
            self.epochs >= self.over_after
        }
    }

    #[test]
    fn a_run_ends_at_an_epoch_or_at_its_limit() {
        let limit = Time::ZERO + Span::us(250);
        assert_eq!(run(&mut Counts { epochs: 0, over_after: 9 }, limit), (limit, Advance::Reached));
        assert_eq!(run(&mut Counts { epochs: 0, over_after: 2 }, limit).0, Time::ZERO + Span::us(200));
    }
}
