//! Histogram of queue lengths of switch ports at regular instants, without an event for any of them.
//!
//! ```text
//!   instants    |    |    |    |    |        a queue of L bytes since the change before:
//!   changes   ──┬────────────────┬──         at the next change the three instants that have
//!               L                            come by then are counted in the bin of L at once
//! ```
//! An instant comes before the changes of its time, or, where events happen in the order in which they were
//! scheduled, as if it were one of them ([`Instants`]).
//!
//! So histograms equal those of simulators that sample by events.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::NEVER;
use floodway_blueprint::network::blueprint::{HistogramSpec, Ties};
use floodway_units::cast::to_usize;

/// Length of a part with counts of its own, in picoseconds: 100 ms, as the blocks that other simulators
/// write.
const PART: u64 = 100_000_000_000;

/// Of one egress port: how many instants found its queues so long.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub struct Histogram {
    /// The next instant, beyond `to` after the last one.
    next: u64,
    to: u64,
    every: u64,
    bin: u64,
    parts: Vec<Part>,
}

/// The counts of one span of time.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
struct Part {
    /// Its last instant may come at this time.
    end: u64,
    /// Its last instant so far.
    last: u64,
    /// Instants by bin.
    counts: Vec<u64>,
}

impl Histogram {
    /// Before the first instant.
    pub fn new(spec: &HistogramSpec) -> Self {
        Histogram {
            next: spec.from.0,
            to: spec.to.0.min(NEVER - 1),
            every: spec.every.0.max(1),
            bin: spec.bin.0.max(1),
            parts: Vec::new(),
        }
    }

    /// The queues have held `queued` bytes since the last call, and what changes them comes after the instant
    /// `until`.
    #[inline]
    pub fn stood(&mut self, until: u64, queued: u64) {
        if self.next <= until {
            self.count(until.min(self.to), queued);
        }
    }

    /// Counts the instants that have come until `until`.
    fn count(&mut self, until: u64, queued: u64) {
        let bin = to_usize(queued / self.bin);
        while self.next <= until {
            let part = part_at(&mut self.parts, self.next);
            let instants = (until.min(part.end) - self.next) / self.every + 1;
            part.last = self.next + (instants - 1) * self.every;
            if part.counts.len() <= bin {
                part.counts.resize(bin + 1, 0);
            }
            part.counts[bin] += instants;
            self.next = part.last.saturating_add(self.every);
        }
    }

    /// The last instant and how many there were.
    pub fn instants(&self) -> (Option<u64>, u64) {
        let counts = self.parts.iter().flat_map(|part| &part.counts);
        (self.parts.last().map(|part| part.last), counts.sum())
    }

    /// The bins that were met: (last instant of their part, lower bound in bytes, instants).
    pub fn rows(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.parts.iter().flat_map(|part| {
            let bins = (0u64..).zip(&part.counts).filter(|&(_, &samples)| samples > 0);
            bins.map(|(i, &samples)| (part.last, i * self.bin, samples))
        })
    }
}

/// The part of an instant that is in the last one or later.
fn part_at(parts: &mut Vec<Part>, instant: u64) -> &mut Part {
    if parts.last().is_none_or(|part| part.end < instant) {
        let end = instant.div_ceil(PART).max(1).saturating_mul(PART);
        parts.push(Part { end, last: instant, counts: Vec::new() });
    }
    let last = parts.len() - 1;
    &mut parts[last]
}

/// Where an instant lies among the events of its time, if these happen in the order in which they were
/// scheduled: as if each were an event that schedules the next. So an arrival comes before it, which was on
/// its way since longer than from one instant to the next, and the end of a shorter transmission after it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Instants {
    /// The next one; never, where none are sampled or events have another order.
    next: u64,
    every: u64,
    /// The number in the order of scheduling that it got.
    number: u64,
}

impl Instants {
    /// Before the first instant, which was scheduled before the run.
    pub fn new(spec: Option<&HistogramSpec>, ties: Ties) -> Self {
        let Some(spec) = spec.filter(|_| ties.is_numbered()) else {
            return Instants { next: NEVER, every: 1, number: 0 };
        };
        Instants { next: spec.from.0, every: spec.every.0.max(1), number: 0 }
    }

    /// The event of number `current` happens at `now`, when `last` was the last number given.
    #[inline]
    pub fn pass(&mut self, now: u64, current: u64, last: u64) {
        if self.next <= now {
            self.skip(now, current, last);
        }
    }

    /// Steps over the instants that come before an event.
    #[inline(never)]
    fn skip(&mut self, now: u64, current: u64, last: u64) {
        if self.next < now {
            let steps = (now - self.next).div_ceil(self.every);
            (self.next, self.number) = (self.next.saturating_add(steps.saturating_mul(self.every)), last);
        }
        if self.next == now && self.number < current {
            (self.next, self.number) = (self.next.saturating_add(self.every), last);
        }
    }

    /// The time before which all instants have been met; none where they come before the events of their
    /// time.
    pub fn until(&self) -> Option<u64> {
        (self.next != NEVER).then(|| self.next.saturating_sub(1))
    }
}

/// One of each port of a node where they are kept; a host's never meets an instant.
pub fn histograms(spec: Option<&HistogramSpec>, ports: usize, at_switch: bool) -> Vec<Histogram> {
    let Some(spec) = spec else { return Vec::new() };
    let of = |_| {
        let histogram = Histogram::new(spec);
        if at_switch { histogram } else { Histogram { next: NEVER, ..histogram } }
    };
    (0..ports).map(of).collect()
}

#[cfg(test)]
mod tests {
    use floodway_units::Time;

    use super::*;

    use floodway_units::{Bytes, Span};

    const MS: u64 = 1_000_000_000;

    fn histogram(from: u64, to: u64, every: u64) -> Histogram {
        let spec = HistogramSpec { from: Time(from), to: Time(to), every: Span(every), bin: Bytes(100) };
        Histogram::new(&spec)
    }

    fn rows(histogram: &Histogram) -> Vec<(u64, u64, u64)> {
        histogram.rows().collect()
    }

    #[test]
    fn an_instant_of_a_change_finds_the_queue_before_it() {
        let mut queue = histogram(0, 40, 10);
        queue.stood(10, 0); // 0, 10: empty; then 250 bytes come, and go again at the same instant
        queue.stood(10, 250);
        queue.stood(10, 0); // and 199 come
        queue.stood(29, 199); // 20
        queue.stood(30, 200); // 30
        queue.stood(99, 0); // 40; 50 and later are beyond the end
        assert_eq!(rows(&queue), [(40, 0, 3), (40, 100, 1), (40, 200, 1)]);
        assert_eq!(queue.instants(), (Some(40), 5));
    }

    #[test]
    fn each_100_ms_are_separate_and_end_with_the_instant_at_their_end() {
        let mut queue = histogram(0, NEVER, 50 * MS);
        queue.stood(120 * MS, 0); // 0, 50, 100 ms
        queue.stood(200 * MS, 700); // 150, 200 ms
        queue.stood(260 * MS, 0); // 250 ms
        assert_eq!(rows(&queue), [(100 * MS, 0, 3), (200 * MS, 700, 2), (250 * MS, 0, 1)]);
    }

    #[test]
    fn no_instant_is_counted_before_the_first_and_the_end_of_time_does_not_overflow() {
        let mut queue = histogram(30, NEVER, NEVER / 2);
        queue.stood(29, 500);
        assert_eq!(queue.instants(), (None, 0));
        queue.stood(NEVER - 1, 0);
        queue.stood(NEVER, 0);
        assert_eq!(queue.instants().1, 2);
    }

    #[test]
    fn by_scheduling_order_an_instant_comes_after_what_was_scheduled_before_the_instant_before_it() {
        let spec = HistogramSpec { from: Time(100), to: Time(400), every: Span(100), bin: Bytes(100) };
        let mut instants = Instants::new(Some(&spec), Ties::SchedulingOrder);
        instants.pass(100, 1, 7);
        assert_eq!(instants.until(), Some(199), "the first one comes before the events of its time");
        instants.pass(200, 7, 20);
        assert_eq!(instants.until(), Some(199), "this event was scheduled before 100");
        instants.pass(200, 8, 21);
        assert_eq!(instants.until(), Some(299), "this one after it");
        instants.pass(450, 9, 22);
        assert_eq!(instants.until(), Some(499), "time goes over instants without an event");
    }

    #[test]
    fn where_ties_are_hashed_or_nothing_is_kept_no_instant_is_ordered_among_events() {
        let spec = HistogramSpec { from: Time(0), to: Time(400), every: Span(100), bin: Bytes(100) };
        for mut instants in
            [Instants::new(Some(&spec), Ties::Hashed), Instants::new(None, Ties::SchedulingOrder)]
        {
            instants.pass(NEVER - 1, 1, 1);
            assert_eq!(instants.until(), None);
        }
    }
}
