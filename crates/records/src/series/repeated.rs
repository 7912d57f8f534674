//! A series over what is repeated: a period is measured once, in pieces that are cut where its repetitions
//! cross the ends of buckets, and added as often as it is repeated.
//!
//! ```text
//!   buckets         |-----------|-----------|-----------|-----------|      of the whole run
//!   period                 [===c====]
//!   repetitions                     [===c====][===c====]                   `c` is where any of them is cut
//! ```
//! No cut and no end of a period is the end of a bucket of the least width (`run/recurrence.rs` sees to that
//! by the instants that it chooses), so that a queue that stands at a cut has stood in the bucket before.

use std::mem;
use std::sync::Arc;

use super::{Bucket, Series};
use crate::transmission::Transmission;

/// What is measured of a series.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Where pieces end, the last one with the period.
    cuts: Arc<[u64]>,
    begin: u64,
    /// The series as it was when the period began: its buckets and, apart, the current one.
    buckets: Vec<Bucket>,
    current: Bucket,
    span: (u64, u64),
    across: Transmission,
}

impl Measured {
    /// The piece of an instant, and when it ends; one more is behind the period.
    pub fn place(&self, at: u64) -> (usize, u64) {
        let index = self.cuts.partition_point(|&cut| cut <= at);
        (index, self.cuts.get(index).copied().unwrap_or(u64::MAX))
    }

    /// When a piece begins.
    fn begin_of(&self, piece: usize) -> u64 {
        piece.checked_sub(1).map_or(self.begin, |before| self.cuts[before])
    }
}

/// How often a period is repeated, of which length.
#[derive(Clone, Copy, Debug)]
pub struct Repeats {
    /// How often.
    pub times: u64,
    /// How long each repetition takes.
    pub period: u64,
}

/// Where repetitions of a period from `begin` on cross the ends of buckets, and where it ends; buckets are
/// those of the run, whose clock is ahead by `skipped`.
pub fn cuts_of(begin: u64, length: u64, times: u64, (width, skipped): (u64, u64)) -> Arc<[u64]> {
    let end = begin + (times + 1) * length;
    let ends = ((begin + skipped) / width + 1..).map(|bucket| bucket * width - skipped);
    let ends = ends.take_while(|&at| at < end);
    let mut cuts: Vec<u64> = ends.map(|at| begin + (at - begin) % length).chain([begin + length]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts.into()
}

impl Series {
    /// How wide the buckets of a run are that lasts until `end` at least.
    pub fn width_at(&self, end: u64) -> u64 {
        let mut width = self.width;
        while (end + self.skipped) / width >= self.limit as u64 {
            width *= 2;
        }
        width
    }

    /// From now on a period is measured, whose pieces end at `cuts`; `queued` bytes wait, and pauses that are
    /// in force have been added.
    pub fn measure(&mut self, now: u64, queued: u64, cuts: &Arc<[u64]>) {
        self.stand(now, queued);
        let measured = Measured {
            cuts: Arc::clone(cuts),
            begin: now,
            buckets: mem::take(&mut self.buckets),
            current: self.take_current(),
            span: (self.begin, self.end),
            across: mem::take(&mut self.across),
        };
        (self.begin, self.end) = (now, cuts[0]);
        self.measured = Some(Box::new(measured));
    }

    /// The period is over: what was measured is added, and again as often as it is repeated.
    pub fn repeat(&mut self, now: u64, queued: u64, repeats: Repeats) {
        self.stand(now, queued);
        // What is behind the period is added by and by.
        self.take_current();
        let Some(measured) = self.measured.take() else { return };
        let begins: Vec<u64> = (0..self.buckets.len()).map(|piece| measured.begin_of(piece)).collect();
        let pieces = mem::replace(&mut self.buckets, measured.buckets);
        let sending = mem::replace(&mut self.across, measured.across);
        (self.begin, self.end) = measured.span;
        self.add_to_current(&measured.current);
        for time in 0..=repeats.times {
            let later = time * repeats.period;
            if time > 0 {
                self.sends_on(sending, now, later - repeats.period);
            }
            for (begin, piece) in begins.iter().zip(&pieces) {
                self.roll(begin + later);
                self.add_to_current(piece);
            }
        }
        let skipped = repeats.times * repeats.period;
        self.sends_on(sending, now, skipped);
        // What comes next is as if all had been earlier.
        self.roll(now + skipped);
        self.skipped += skipped;
        self.begin = self.begin.saturating_sub(skipped);
        self.end -= skipped;
        self.across.begin = self.across.begin.saturating_sub(skipped);
        self.across.end = self.across.end.saturating_sub(skipped);
    }

    /// The frame that is on the wire at `now` goes on, by so much later.
    fn sends_on(&mut self, frame: Transmission, now: u64, later: u64) {
        if frame.end <= now {
            return;
        }
        let frame = Transmission { begin: frame.begin + later, end: frame.end + later, ..frame };
        self.roll(now + later);
        self.tx_bytes += frame.sent_by(self.end) - frame.sent_by(now + later);
        if frame.end > self.end {
            self.across = frame;
        }
    }

    /// Brings the queue, which has held `queued` bytes, and pauses up to `now`.
    fn stand(&mut self, now: u64, queued: u64) {
        self.roll(now);
        if queued > 0 {
            self.queue(now, queued, 0);
        }
        (self.queue_since, self.paused_until) = (now, now);
    }

    /// The current piece becomes the one of `now`, which is later.
    pub(super) fn begin_measured(&mut self, now: u64) {
        self.end_current();
        let Some(measured) = &self.measured else { return };
        let (index, end) = measured.place(now);
        (self.begin, self.end) = (measured.begin_of(index), end);
        self.buckets.resize(index, Bucket::default());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NS: u64 = 1_000;
    /// A period, in which nothing happens at a whole microsecond.
    const PERIOD: u64 = 23_917_003;

    /// What happens to a port: when in a period, how long the next frame takes, the queue behind it, what is
    /// held, and for how long it has been paused.
    type Happening = (u64, u64, u64, u64, u64);

    /// What happens in some periods from `from` on, by the time that has passed before.
    fn go(series: &mut Series, happenings: &[Happening], queued: &mut u64, from: u64) {
        for &(at, serial, queue, held, paused) in happenings {
            let now = from + at;
            series.queue(now, *queued, queue);
            *queued = queue;
            series.buffer(now, held);
            series.paused(now.saturating_sub(paused).max(from), now);
            series.sent(now, now + serial, serial / 80);
        }
    }

    proptest! {
        #[test]
        fn a_period_that_is_repeated_leaves_what_as_many_of_it_would(
            gaps in prop::collection::vec((1..900u64, 1..2_000u64, 0..9_000u64, 0..9_000u64, 0..400u64), 1..40),
            times in 0..40u64,
            after in 1..3u64,
            limit in 2..60usize,
        ) {
            // Frames of the port do not overlap, and the last one may reach into the next period.
            let (mut at, mut happenings) = (37 * NS, Vec::new());
            for (gap, serial, queue, held, paused) in gaps {
                happenings.push((at, serial * NS, queue, held, paused * NS));
                at += (gap + serial) * NS;
            }
            happenings.retain(|&(at, serial, ..)| at + serial < PERIOD + 30 * NS && at < PERIOD);
            let begin = 3 * PERIOD;
            let whole = |period: u64| (begin + period * PERIOD).is_multiple_of(super::super::FIRST_WIDTH);
            prop_assume!(!(0..times + 2).any(whole));
            let (mut all, mut queued) = (Series::new(limit), 0);
            for period in 0..4 + times + after {
                go(&mut all, &happenings, &mut queued, period * PERIOD);
            }
            let end = (4 + times + after) * PERIOD;
            all.finish(end, queued, 0);

            let (mut some, mut queued) = (Series::new(limit), 0);
            for period in 0..3 {
                go(&mut some, &happenings, &mut queued, period * PERIOD);
            }
            let width = some.width_at(begin + (times + 1) * PERIOD);
            some.measure(begin, queued, &cuts_of(begin, PERIOD, times, (width, 0)));
            go(&mut some, &happenings, &mut queued, begin);
            some.repeat(begin + PERIOD, queued, Repeats { times, period: PERIOD });
            for period in 4..4 + after {
                go(&mut some, &happenings, &mut queued, period * PERIOD);
            }
            some.finish(end - times * PERIOD, queued, 0);
            prop_assert_eq!(all.width(), some.width());
            prop_assert_eq!(all.buckets(), some.buckets());
        }
    }
}
