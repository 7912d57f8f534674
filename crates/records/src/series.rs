//! Series of an egress port over time, in buckets that widen as the run goes on.
//!
//! Every port keeps one, of bounded size; those of watched ports and of the busiest ones are written.

pub mod repeated;

use std::{iter, mem};

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::blueprint::RecordSpec;
use floodway_engine::memory;
use floodway_units::cast::to_usize;

use crate::transmission::Transmission;

use repeated::Measured;

/// Width of a bucket at the start, in picoseconds.
pub const FIRST_WIDTH: u64 = 1_000_000;
/// From this number of buckets on, room is made for all of a series, up to a number of them.
const LONG: usize = 64;
const ROOM: usize = 1024;

/// One bucket of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct Bucket {
    /// Wire bytes that were transmitted in it.
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
pub struct Series {
    /// The current bucket: on the one cache line that every packet touches, all but its pauses.
    tx_bytes: u64,
    buffer_max: u64,
    queue_area: u128,
    queue_max: u64,
    /// When it begins and ends: all buckets are as wide.
    begin: u64,
    end: u64,
    /// Since when the queue has the length it has.
    queue_since: u64,
    paused: u64,
    /// The last frame whose transmission went on when the bucket in which it began had ended. What buckets
    /// until `end` have of it is in them.
    across: Transmission,
    /// The buckets before it. Each is written once, when it ends: by then it is in no cache.
    buckets: Vec<Bucket>,
    limit: usize,
    width: u64,
    /// By how much what was skipped has moved the buckets: they begin so much later in the run than here.
    skipped: u64,
    /// Pauses before this are in their buckets.
    paused_until: u64,
    /// While what is to be repeated is measured.
    #[borsh(skip)]
    measured: Option<Box<Measured>>,
}

impl Series {
    /// Of at most so many buckets.
    pub fn new(limit: usize) -> Self {
        Series {
            tx_bytes: 0,
            buffer_max: 0,
            queue_area: 0,
            queue_max: 0,
            begin: 0,
            end: FIRST_WIDTH,
            queue_since: 0,
            paused: 0,
            across: Transmission::default(),
            buckets: Vec::new(),
            limit: limit.max(2),
            width: FIRST_WIDTH,
            skipped: 0,
            paused_until: 0,
            measured: None,
        }
    }

    /// A frame of `wire` bytes is on the wire from now until `until`, before which no other one begins.
    #[inline]
    pub fn sent(&mut self, now: u64, until: u64, wire: u64) {
        self.roll(now);
        if until <= self.end {
            self.tx_bytes += wire;
        } else {
            self.sent_across(Transmission { begin: now, end: until, bytes: wire });
        }
    }

    /// The queue was empty, and a frame of `frame` bytes passes it now.
    #[inline]
    pub fn passed(&mut self, now: u64, frame: u64) {
        self.roll(now);
        self.queue_since = now;
        self.queue_max = self.queue_max.max(frame);
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
        self.spread(from.max(self.paused_until), to, |bucket, begin, end| bucket.paused += end - begin);
    }

    /// Brings the buckets up to `now`, the end of the run; `queued` bytes wait, and `unsent` bytes are left
    /// of the frame on the wire.
    pub fn finish(&mut self, now: u64, queued: u64, unsent: u64) {
        self.queue(now, queued, queued);
        let unsent = if self.across.end > now {
            self.across.sent_by(self.end) - self.across.sent_whole_by(now)
        } else {
            unsent
        };
        self.take_back(unsent);
        self.end_current();
        // A run that ends within its last bucket keeps that bucket; one at its end has no further one.
        self.buckets.truncate(to_usize((now + self.skipped).div_ceil(self.width).max(1)));
    }

    /// The last `unsent` bytes have not been sent whole. They are in the current bucket, or one is in the
    /// earlier one in which it began.
    fn take_back(&mut self, mut unsent: u64) {
        let before = self.buckets.iter_mut().rev().map(|bucket| &mut bucket.tx_bytes);
        for sent in iter::once(&mut self.tx_bytes).chain(before) {
            let part = unsent.min(*sent);
            *sent -= part;
            unsent -= part;
            if unsent == 0 {
                return;
            }
        }
    }

    /// Width of a bucket in picoseconds.
    pub fn width(&self) -> u64 {
        self.width
    }

    /// The buckets, once the run is over.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// A frame is on the wire for longer than the current bucket.
    #[cold]
    fn sent_across(&mut self, frame: Transmission) {
        self.across = frame;
        self.tx_bytes += frame.sent_by(self.end);
    }

    /// Adds what was sent of the frame across buckets since `from`, when a bucket ended, until the current
    /// one ends.
    fn send_on(&mut self, from: u64) {
        let (frame, until) = (self.across, self.across.end.min(self.end));
        self.spread(from, until, |bucket, begin, end| {
            bucket.tx_bytes += frame.sent_by(end) - frame.sent_by(begin);
        });
    }

    /// The queue has held `queued` bytes since a bucket before the current one.
    #[cold]
    fn stood(&mut self, now: u64, queued: u64) {
        self.spread(self.queue_since, now, |bucket, begin, end| {
            bucket.queue_area += u128::from(queued) * u128::from(end - begin);
            bucket.queue_max = bucket.queue_max.max(queued);
        });
    }

    /// Calls `add` with each bucket that `from..to` touches, and the part of the time that is in it.
    fn spread(&mut self, from: u64, to: u64, add: impl Fn(&mut Bucket, u64, u64)) {
        let mut at = from;
        while at < to {
            let (index, end) = self.place(at);
            let end = end.min(to);
            if let Some(bucket) = self.buckets.get_mut(index) {
                add(bucket, at, end);
            } else {
                let mut more = Bucket::default();
                add(&mut more, at, end);
                self.add_to_current(&more);
            }
            at = end;
        }
    }

    /// The index of the bucket of an instant, and when it ends.
    fn place(&self, at: u64) -> (usize, u64) {
        if let Some(measured) = &self.measured {
            return measured.place(at);
        }
        let index = (at + self.skipped) / self.width;
        (to_usize(index), (index + 1) * self.width - self.skipped)
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
        let ended = self.take_current();
        memory::push(&mut self.buckets, ended);
    }

    /// What is in the current bucket, which is empty then.
    fn take_current(&mut self) -> Bucket {
        Bucket {
            tx_bytes: mem::take(&mut self.tx_bytes),
            queue_area: mem::take(&mut self.queue_area),
            queue_max: mem::take(&mut self.queue_max),
            buffer_max: mem::take(&mut self.buffer_max),
            paused: mem::take(&mut self.paused),
        }
    }

    #[inline]
    fn roll(&mut self, now: u64) {
        if now >= self.end {
            self.roll_to(now);
        }
    }

    #[cold]
    fn roll_to(&mut self, now: u64) {
        let ended = self.end;
        self.begin_bucket_of(now);
        if self.across.end > ended {
            self.send_on(ended);
        }
    }

    /// The current bucket becomes the one of `now`, which is later.
    fn begin_bucket_of(&mut self, now: u64) {
        if self.measured.is_some() {
            return self.begin_measured(now);
        }
        let (mut width, skipped) = (self.width, self.skipped);
        // Mostly the next bucket is the current one, and nothing has to be divided.
        if now < self.end + width && self.buckets.len() + 1 < self.limit {
            self.end_current();
            (self.begin, self.end) = (self.end, self.end + width);
            return;
        }
        while to_usize((now + skipped) / width) >= self.limit {
            self.merge_pairs();
            width *= 2;
        }
        self.width = width;
        let at = to_usize((now + skipped) / width);
        if at > self.buckets.len() {
            self.end_current();
            let more = at - self.buckets.len();
            memory::reserve(&mut self.buckets, more);
            self.buckets.resize(at, Bucket::default());
        }
        self.begin = (at as u64 * width).saturating_sub(skipped);
        self.end = (at as u64 + 1) * width - skipped;
    }

    /// Pairs of buckets become one each.
    fn merge_pairs(&mut self) {
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
pub fn of_port(records: &RecordSpec, watched: bool) -> Series {
    Series::new(if watched { records.buckets } else { records.buckets.min(COARSE) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const US: u64 = 1_000_000;

    #[test]
    fn what_is_put_in_stays_in_however_wide_the_buckets_become() {
        let mut series = Series::new(4);
        series.queue(0, 0, 100);
        for i in 0..40 {
            series.sent(i * US, i * US + 1, 10);
        }
        series.queue(20 * US, 100, 0);
        series.paused(3 * US, 39 * US);
        series.finish(40 * US, 0, 0);
        assert_eq!(series.width(), 16 * US);
        let sum = |f: fn(&Bucket) -> u128| series.buckets().iter().map(f).sum::<u128>();
        assert_eq!(sum(|b| b.tx_bytes.into()), 400);
        assert_eq!(sum(|b| b.queue_area), u128::from(100 * 20 * US));
        assert_eq!(sum(|b| b.paused.into()), u128::from(36 * US));
        let paused: Vec<_> = series.buckets().iter().map(|b| b.paused / US).collect();
        assert_eq!(paused, [13, 16, 7]);
        assert_eq!(series.buckets().iter().map(|b| b.queue_max).collect::<Vec<_>>(), [100, 100, 0]);
    }

    proptest! {
        /// Frames behind one another and with gaps, by buckets of any number, with other calls between.
        #[test]
        fn frames_are_divided_by_their_time_on_the_wire(
            frames in prop::collection::vec((0..400u64, 1..30_000u64), 1..80),
            ps_per_byte in prop::sample::select(vec![10u64, 20, 80, 800, 8_000]),
            limit in 2..40usize,
            cut in 0.0..=1.0f64,
        ) {
            let mut series = Series::new(limit);
            let mut sent: Vec<Transmission> = Vec::new();
            let mut now = 0;
            for (gap, bytes) in frames {
                let begin = now + gap * 1_000;
                now = begin + bytes * ps_per_byte;
                sent.push(Transmission { begin, end: now, bytes });
            }
            // The run ends somewhere; no frame begins later.
            let end = sent[sent.len() / 2].begin + ((now as f64) * cut) as u64;
            sent.retain(|frame| frame.begin < end);
            for frame in &sent {
                series.buffer(frame.begin, 7);
                series.sent(frame.begin, frame.end, frame.bytes);
                series.buffer(frame.begin.midpoint(frame.end.min(end)), 7);
            }
            let left = sent.last().map_or(0, |frame| frame.end.saturating_sub(end));
            series.finish(end, 0, left.div_ceil(ps_per_byte));
            let width = series.width();
            let by = |at: u64| sent.iter().map(|frame| frame.sent_by(at)).sum::<u64>();
            let whole: u64 = sent.iter().map(|frame| frame.sent_whole_by(end)).sum();
            for (number, bucket) in series.buckets().iter().enumerate() {
                let (from, to) = (number as u64 * width, (number as u64 + 1) * width);
                prop_assert!(bucket.tx_bytes * ps_per_byte <= to.min(end) - from, "{bucket:?}");
                // A byte is in the bucket in which it began, if it was sent whole when the run ended.
                prop_assert_eq!(bucket.tx_bytes, by(to).min(whole) - by(from).min(whole));
            }
            let all: u64 = series.buckets().iter().map(|bucket| bucket.tx_bytes).sum();
            prop_assert_eq!(all, whole);
        }
    }

    #[test]
    fn a_run_that_ends_with_a_bucket_has_no_empty_one_behind() {
        let mut series = Series::new(10);
        series.finish(5 * US, 0, 0);
        assert_eq!(series.buckets().len(), 5);
    }
}
