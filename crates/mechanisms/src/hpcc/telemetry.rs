//! Telemetry records as a host reads them: exact, or as HPCC's simulator codes them in 64 bits.

use floodway_units::{Bytes, Rate, Time};

use crate::slots::IntHop;

/// Maximum number of hops in the coded form.
const CODED_HOPS: usize = 5;

/// How records are read; times are counted in ticks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    /// Picoseconds of a tick.
    tick: u64,
    /// Bytes of a unit of bytes sent, and of a queue.
    units: (u64, u64),
    /// Where the counters of the coded form wrap; exact ones never do.
    wraps: Option<Wraps>,
}

/// The first values that do not fit.
#[derive(Clone, Copy, Debug)]
struct Wraps {
    /// Nanoseconds.
    time: u64,
    /// Units sent.
    sent: u64,
    /// Units queued.
    queue: u64,
}

/// The stored part of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    time: u64,
    /// In units.
    sent: u64,
    /// Queue that the packet left behind, in bytes.
    pub(super) queue: u64,
    /// The link's rate.
    pub(super) rate: Rate,
}

impl Reader {
    /// Records as the ports wrote them, with times in ticks of `tick` picoseconds.
    pub(super) fn exact(tick: u64) -> Self {
        Reader { tick, units: (1, 1), wraps: None }
    }

    /// Records in 64 bits: 24 of nanoseconds, 20 of `multi` times 128 bytes, 17 of `multi` times 80 bytes.
    pub(super) fn coded(multi: u32) -> Self {
        let multi = u64::from(multi);
        let wraps = Wraps { time: 1 << 24, sent: 1 << 20, queue: 1 << 17 };
        Reader { tick: 1_000, units: (128 * multi, 80 * multi), wraps: Some(wraps) }
    }

    /// Whether the form has room for this many hops.
    pub(super) fn has_room_for(&self, hops: usize) -> bool {
        self.wraps.is_none() || hops <= CODED_HOPS
    }

    /// Seconds of a tick.
    pub(super) fn seconds(&self) -> f64 {
        if self.tick == 1 { 1e-12 } else { 1e-9 }
    }

    /// Whole ticks of `picoseconds`.
    pub(super) fn ticks(&self, picoseconds: u64) -> u64 {
        picoseconds / self.tick
    }

    #[inline]
    pub(super) fn read(&self, hop: &IntHop) -> Record {
        let (time, sent, queue) =
            (self.ticks(hop.time.0), hop.tx_bytes / self.units.0, hop.queue.0 / self.units.1);
        let (time, sent, queue) = match self.wraps {
            Some(wraps) => (time % wraps.time, sent % wraps.sent, queue % wraps.queue),
            None => (time, sent, queue),
        };
        Record { time, sent, queue: queue * self.units.1, rate: hop.rate }
    }

    /// A record's time, bytes sent counted from `sent`, queue and rate; `None` where counters wrap.
    pub(super) fn counted_from(&self, record: Record, sent: u64) -> Option<(Time, u64, u64, Rate)> {
        let Record { time, sent: bytes, queue, rate } = record;
        self.wraps.is_none().then(|| (Time(time * self.tick), bytes.wrapping_sub(sent), queue, rate))
    }

    /// Ticks from `before` to `now`; `None` if an exact record is older.
    #[inline]
    pub(super) fn elapsed(&self, now: Record, before: Record) -> u64 {
        difference(now.time, before.time, self.wraps.map_or(0, |wraps| wraps.time))
    }

    /// Bytes that the port has sent from `before` to `now`.
    #[inline]
    pub(super) fn sent(&self, now: Record, before: Record) -> Bytes {
        let units = difference(now.sent, before.sent, self.wraps.map_or(0, |wraps| wraps.sent));
        Bytes(units * self.units.0)
    }
}

/// `now - before` of a counter that wraps at `wrap`, or never if that is 0.
fn difference(now: u64, before: u64, wrap: u64) -> u64 {
    now.checked_sub(before).unwrap_or_else(|| (now + wrap).saturating_sub(before))
}

#[cfg(test)]
mod tests {
    use floodway_units::Span;

    use super::*;

    fn hop(time_ns: u64, tx_bytes: u64, queue: u64) -> IntHop {
        IntHop { rate: Rate::gbps(100), time: Time::ZERO + Span::ns(time_ns), tx_bytes, queue: Bytes(queue) }
    }

    /// Ticks and bytes between two records, and the queue of the second.
    fn between(reader: Reader, before: IntHop, now: IntHop) -> (u64, u64, u64) {
        let (before, now) = (reader.read(&before), reader.read(&now));
        (reader.elapsed(now, before), reader.sent(now, before).0, now.queue)
    }

    #[test]
    fn exact_records_are_as_the_port_wrote_them() {
        let (before, now) = (hop(10, 1_000, 7), hop(20_000_000, 5_000_000_001, 123_456_789));
        assert_eq!(between(Reader::exact(1_000), before, now), (19_999_990, 4_999_999_001, 123_456_789));
        assert_eq!(between(Reader::exact(1), before, now), (19_999_990_000, 4_999_999_001, 123_456_789));
        // An older record comes after a newer one where packets overtake each other.
        assert_eq!(between(Reader::exact(1), now, before), (0, 0, 7));
    }

    #[test]
    fn coded_records_are_in_whole_units() {
        // multi = 4: 512 B and 320 B. 1000 -> 1, 3590 -> 7: six units of 512; 959 -> two of 320.
        assert_eq!(between(Reader::coded(4), hop(0, 1_000, 0), hop(100, 3_590, 959)), (100, 3_072, 640));
        // multi = 1: 128 B and 80 B. 1000 -> 7, 3590 -> 28; 959 -> 11.
        assert_eq!(between(Reader::coded(1), hop(0, 1_000, 0), hop(100, 3_590, 959)), (100, 21 * 128, 880));
    }

    #[test]
    fn coded_time_wraps_after_16_777_216_ns() {
        let wrap = 1 << 24;
        assert_eq!(between(Reader::coded(1), hop(wrap - 10, 0, 0), hop(wrap + 25, 0, 0)).0, 35);
        assert_eq!(between(Reader::coded(1), hop(0, 0, 0), hop(wrap + 25, 0, 0)).0, 25);
        // A picosecond before the wrap is the last nanosecond.
        let before = IntHop { time: Time(wrap * 1_000 - 1), ..hop(0, 0, 0) };
        assert_eq!(between(Reader::coded(1), before, hop(wrap, 0, 0)).0, 1);
    }

    #[test]
    fn coded_bytes_and_queues_wrap_at_their_width() {
        let wrap = 128 * 4 * (1 << 20);
        let before = hop(0, wrap - 1_024, 0);
        assert_eq!(between(Reader::coded(4), before, hop(1, wrap + 512, 0)).1, 1_536);
        // 80 · 4 · 2^17 = 41.9 MB of queue read as nothing.
        assert_eq!(between(Reader::coded(4), before, hop(1, 0, 320 * ((1 << 17) + 3))).2, 960);
    }

    #[test]
    fn the_coded_form_has_room_for_five_hops() {
        assert!(Reader::coded(1).has_room_for(5) && !Reader::coded(1).has_room_for(6));
        assert!(Reader::exact(1).has_room_for(60));
    }
}
