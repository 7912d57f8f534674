//! Series of an egress port over time, in buckets that widen as the run goes on.

use std::mem;

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_engine::memory;
use floodway_units::cast::to_usize;

use crate::network::blueprint::RecordSpec;

/// Width of a bucket at the start, in picoseconds.
const FIRST_WIDTH: u64 = 1_000_000;
/// From this number of buckets on, room is made for all of a series, up to a number of them.
const LONG: usize = 64;
const ROOM: usize = 1024;

/// One bucket of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, BorshSerialize, BorshDeserialize)]
pub(crate) struct Bucket {
    /// Wire bytes whose transmission began.
    pub tx_bytes: u64,
    /// Queued bytes times picoseconds.
    pub queue_area: u128,
    /// Most bytes queued.
    pub queue_max: u64,
    /// Most bytes that the port's ingress held of one class.
    pub buffer_max: u64,
    /// Picoseconds in which a class was paused (summed over classes).
    pub paused: u64,
}

impl Bucket {
    fn merge(&mut self, next: &Bucket) {
        self.tx_bytes += next.tx_bytes;
        self.queue_area += next.queue_area;
        self.queue_max = self.queue_max.max(next.queue_max);
        self.buffer_max = self.buffer_max.max(next.buffer_max);
        self.paused += next.paused;
    }
}

/// The buckets of a port. When more would be needed than are allowed, pairs are merged; so the width at the
/// end depends on the run's length alone.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
#[repr(C, align(64))]
pub(crate) struct Series {
    /// The current bucket: on the one cache line that every packet touches, all but its pauses.
    tx_bytes: u64,
    buffer_max: u64,
    queue_area: u128,
    queue_max: u64,
    /// When it begins and ends.
    begin: u64,
    end: u64,
    /// Since when the queue has the length it has.
    queue_since: u64,
    width: u64,
    paused: u64,
    /// The buckets before it. Each is written once, when it ends: by then it is in no cache.
    buckets: Vec<Bucket>,
    limit: usize,
}

impl Series {
    pub fn new(limit: usize) -> Self {
        Series {
            tx_bytes: 0,
            buffer_max: 0,
            queue_area: 0,
            queue_max: 0,
            begin: 0,
            end: FIRST_WIDTH,
            queue_since: 0,
            width: FIRST_WIDTH,
            paused: 0,
            buckets: Vec::new(),
            limit: limit.max(2),
        }
    }

    /// A frame of `wire` bytes starts on the wire.
    #[inline]
    pub fn sent(&mut self, now: u64, wire: u64) {
        self.roll(now);
        self.tx_bytes += wire;
    }

    /// The queue was empty, and a frame passes it and starts on the wire, all now.
    #[inline]
    pub fn passed(&mut self, now: u64, frame: u64, wire: u64) {
        self.roll(now);
        self.queue_since = now;
        self.queue_max = self.queue_max.max(frame);
        self.tx_bytes += wire;
    }

    /// The queue had `before` bytes until now, and has `after` from now on.
    #[inline]
    pub fn queue(&mut self, now: u64, before: u64, after: u64) {
        self.roll(now);
        if before > 0 {
            if self.queue_since >= self.begin {
                self.queue_area += u128::from(before) * u128::from(now - self.queue_since);
            } else {
                self.stood(now, before);
            }
        }
        self.queue_since = now;
        self.queue_max = self.queue_max.max(after);
    }

    /// The port's ingress holds `held` bytes of a class.
    #[inline]
    pub fn buffer(&mut self, now: u64, held: u64) {
        self.roll(now);
        self.buffer_max = self.buffer_max.max(held);
    }

    /// When the current bucket ends.
    pub fn ends(&self) -> u64 {
        self.end
    }

    /// A class was paused from `from` to `to`, which is now.
    pub fn paused(&mut self, from: u64, to: u64) {
        self.roll(to);
        self.spread(from, to, |bucket, span| bucket.paused += span);
    }

    /// Brings the buckets up to `now`, the end of the run; `queued` bytes wait.
    pub fn finish(&mut self, now: u64, queued: u64) {
        self.queue(now, queued, queued);
        self.end_current();
        // A run that ends within its last bucket keeps that bucket; one at its end has no further one.
        self.buckets.truncate(to_usize(now.div_ceil(self.width).max(1)));
    }

    /// Width of a bucket in picoseconds.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// The buckets, once the run is over.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// The queue has held `queued` bytes since a bucket before the current one.
    #[cold]
    fn stood(&mut self, now: u64, queued: u64) {
        self.spread(self.queue_since, now, |bucket, span| {
            bucket.queue_area += u128::from(queued) * u128::from(span);
            bucket.queue_max = bucket.queue_max.max(queued);
        });
    }

    /// Calls `add` with each bucket that `from..to` touches, and how long.
    fn spread(&mut self, from: u64, to: u64, add: impl Fn(&mut Bucket, u64)) {
        let mut at = from;
        while at < to {
            let index = to_usize(at / self.width);
            let end = ((index as u64 + 1) * self.width).min(to);
            if let Some(bucket) = self.buckets.get_mut(index) {
                add(bucket, end - at);
            } else {
                let mut more = Bucket::default();
                add(&mut more, end - at);
                self.add_to_current(&more);
            }
            at = end;
        }
    }

    fn add_to_current(&mut self, more: &Bucket) {
        self.tx_bytes += more.tx_bytes;
        self.queue_area += more.queue_area;
        self.queue_max = self.queue_max.max(more.queue_max);
        self.buffer_max = self.buffer_max.max(more.buffer_max);
        self.paused += more.paused;
    }

    /// The current bucket is over, and the next one is empty.
    fn end_current(&mut self) {
        // Series that have become long mostly become as long as they may: they are not moved again and again.
        let number = self.buckets.len();
        if number == self.buckets.capacity() && number >= LONG {
            memory::reserve(&mut self.buckets, self.limit.min(ROOM).saturating_sub(number).max(1));
        }
        let ended = Bucket {
            tx_bytes: mem::take(&mut self.tx_bytes),
            queue_area: mem::take(&mut self.queue_area),
            queue_max: mem::take(&mut self.queue_max),
            buffer_max: mem::take(&mut self.buffer_max),
            paused: mem::take(&mut self.paused),
        };
        memory::push(&mut self.buckets, ended);
    }

    #[inline]
    fn roll(&mut self, now: u64) {
        if now >= self.end {
            self.roll_to(now);
        }
    }

    #[cold]
    fn roll_to(&mut self, now: u64) {
        // Mostly the next bucket is the current one, and nothing has to be divided.
        if now < self.end + self.width && self.buckets.len() + 1 < self.limit {
            self.end_current();
            (self.begin, self.end) = (self.end, self.end + self.width);
            return;
        }
        while to_usize(now / self.width) >= self.limit {
            self.widen();
        }
        let at = to_usize(now / self.width);
        if at > self.buckets.len() {
            self.end_current();
            let more = at - self.buckets.len();
            memory::reserve(&mut self.buckets, more);
            self.buckets.resize(at, Bucket::default());
        }
        self.begin = at as u64 * self.width;
        self.end = self.begin + self.width;
    }

    fn widen(&mut self) {
        self.width *= 2;
        let pairs = self.buckets.len() / 2;
        // One that is left over is in the same wider bucket as the current one.
        if self.buckets.len() % 2 == 1
            && let Some(last) = self.buckets.pop()
        {
            self.add_to_current(&last);
        }
        for i in 0..pairs {
            let (mut merged, next) = (self.buckets[2 * i], self.buckets[2 * i + 1]);
            merged.merge(&next);
            self.buckets[i] = merged;
        }
        self.buckets.truncate(pairs);
    }
}

/// At most this many buckets for a port that is not watched.
const COARSE: usize = 100;

/// The series of a port, requested or not.
pub(crate) fn of_port(records: &RecordSpec, watched: bool) -> Series {
    Series::new(if watched { records.buckets } else { records.buckets.min(COARSE) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    #[test]
    fn what_is_put_in_stays_in_however_wide_the_buckets_become() {
        let mut series = Series::new(4);
        series.queue(0, 0, 100);
        for i in 0..40 {
            series.sent(i * US, 10);
        }
        series.queue(20 * US, 100, 0);
        series.paused(3 * US, 39 * US);
        series.finish(40 * US, 0);
        assert_eq!(series.width(), 16 * US);
        let sum = |f: fn(&Bucket) -> u128| series.buckets().iter().map(f).sum::<u128>();
        assert_eq!(sum(|b| b.tx_bytes.into()), 400);
        assert_eq!(sum(|b| b.queue_area), u128::from(100 * 20 * US));
        assert_eq!(sum(|b| b.paused.into()), u128::from(36 * US));
        let paused: Vec<_> = series.buckets().iter().map(|b| b.paused / US).collect();
        assert_eq!(paused, [13, 16, 7]);
        assert_eq!(series.buckets().iter().map(|b| b.queue_max).collect::<Vec<_>>(), [100, 100, 0]);
    }

    #[test]
    fn a_run_that_ends_with_a_bucket_has_no_empty_one_behind() {
        let mut series = Series::new(10);
        series.finish(5 * US, 0);
        assert_eq!(series.buckets().len(), 5);
    }
}
