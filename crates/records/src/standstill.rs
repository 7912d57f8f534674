//! A check of debug builds, as in every test: a clock that stands still, since the events of one instant have
//! no end.

/// More events than the largest network of a test has at one instant.
const MOST: u32 = 1_000_000;

/// Counts the events of the instant that a run has reached.
#[derive(Debug, Default)]
pub struct Standstill {
    /// The instant.
    pub now: u64,
    /// Its events so far.
    pub events: u32,
}

impl Standstill {
    /// An event at `now`.
    ///
    /// # Panics
    /// They have no end: a timer that is armed again for the instant of its event would end no run.
    #[inline]
    pub fn count(&mut self, now: u64) {
        if now != self.now {
            *self = Standstill { now, events: 0 };
        }
        self.events += 1;
        assert!(self.events <= MOST, "more than {MOST} events at {now} ps: the clock stands still");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instant_is_counted_by_itself() {
        let mut standstill = Standstill::default();
        for now in [0, 1, 1_000] {
            (0..MOST).for_each(|_| standstill.count(now));
        }
    }

    #[test]
    #[should_panic(expected = "the clock stands still")]
    fn an_instant_whose_events_have_no_end_fails() {
        let mut standstill = Standstill::default();
        (0..=MOST).for_each(|_| standstill.count(7));
    }
}
