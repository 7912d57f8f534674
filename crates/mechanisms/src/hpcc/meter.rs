//! Utilisation of the links of a path, from one acknowledgement's records to the next.

use floodway_units::Rate;
use floodway_units::cast::whole;

use super::telemetry::{Reader, Record};
use crate::slots::IntHop;

/// The parameters of the measurement, and the state of each hop.
#[derive(Debug)]
pub(super) struct Meter {
    reader: Reader,
    /// T in ticks.
    base: u64,
    /// The NIC's rate in bit/s.
    line: f64,
    /// Queued bytes that count as a utilisation of 1 where a link is as fast as the NIC.
    drain: f64,
    /// U, smoothed over T.
    overall: f64,
    pub(super) hops: Vec<Hop>,
}

/// A hop of the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    record: Record,
    /// Its own U, smoothed over T.
    pub(super) utilisation: f64,
    /// Its own reference rate.
    pub(super) reference: Rate,
    /// Its own additive steps since the last multiplicative one.
    pub(super) stage: u32,
    /// Whether the current acknowledgement has a sample of it.
    pub(super) sampled: bool,
}

/// A hop's utilisation since its last record, and the ticks between the two.
struct Sample {
    utilisation: f64,
    elapsed: u64,
}

impl Meter {
    /// For a base round trip of `base` picoseconds.
    pub(super) fn new(reader: Reader, base: u64, line: Rate, drain: f64) -> Self {
        let base = reader.ticks(base).max(1);
        Meter { reader, base, line: line.0 as f64, drain, overall: 1.0, hops: Vec::new() }
    }

    /// Its state, where the bytes that the ports of its path have sent count from `sent`; `None` where they
    /// are not known, or wrap.
    pub(super) fn counted_from(&self, sent: &[u64]) -> Option<String> {
        let hops = self.hops.iter().enumerate().map(|(at, hop)| {
            let &Hop { record, utilisation, reference, stage, sampled } = hop;
            let record = self.reader.counted_from(record, *sent.get(at)?)?;
            Some((record, utilisation, reference, stage, sampled))
        });
        Some(format!("overall: {:?} hops: {:?}", self.overall, hops.collect::<Option<Vec<_>>>()?))
    }

    pub(super) fn has_room_for(&self, int: &[IntHop]) -> bool {
        self.reader.has_room_for(int.len())
    }

    /// Stores the records for comparison with the next ones.
    pub(super) fn store(&mut self, int: &[IntHop]) {
        if self.has_room_for(int) {
            self.hops.clear();
            for hop in int {
                self.add(hop);
            }
        }
    }

    fn add(&mut self, hop: &IntHop) {
        let record = self.reader.read(hop);
        let reference = Rate(whole(self.line));
        self.hops.push(Hop { record, utilisation: 1.0, reference, stage: 0, sampled: false });
    }

    /// U including the busiest hop's sample; `None` if no hop has a sample.
    pub(super) fn measure(&mut self, int: &[IntHop], skip_empty: bool) -> Option<f64> {
        // Algorithm 1, lines 1 and 2: MeasureInflight, u = 0.
        let mut busiest = Sample { utilisation: 0.0, elapsed: 0 };
        let mut any = false;
        // Algorithm 1, line 3: each link of the path.
        for (at, hop) in int.iter().enumerate() {
            let Some(sample) = self.sample(at, hop, skip_empty) else { continue };
            any = true;
            // Algorithm 1, lines 6 and 7: u and τ of the busiest link.
            if sample.utilisation > busiest.utilisation {
                busiest = sample;
            }
        }
        if any {
            self.overall = self.smoothed(self.overall, &busiest);
        }
        // Algorithm 1, line 10: U.
        any.then_some(self.overall)
    }

    /// Updates each hop's own U and whether it has a sample; returns whether any has.
    pub(super) fn measure_each(&mut self, int: &[IntHop], skip_empty: bool) -> bool {
        let mut any = false;
        for (at, hop) in int.iter().enumerate() {
            let sample = self.sample(at, hop, skip_empty);
            let before = self.hops[at].utilisation;
            let utilisation = sample.as_ref().map_or(before, |sample| self.smoothed(before, sample));
            self.hops[at].utilisation = utilisation;
            self.hops[at].sampled = sample.is_some();
            any |= sample.is_some();
        }
        any
    }

    /// U = (1 - τ/T) · U + τ/T · u, with τ capped at T. The order of operations is the simulator's.
    fn smoothed(&self, before: f64, sample: &Sample) -> f64 {
        // Algorithm 1, line 8: τ, at most T.
        let elapsed = sample.elapsed.min(self.base);
        // Algorithm 1, line 9: U = (1 - τ / T) · U + τ / T · u.
        (before * (self.base - elapsed) as f64 + sample.utilisation * elapsed as f64) / self.base as f64
    }

    /// The sample of hop `at` since its last record, which the new one replaces. `None` for a hop that is
    /// new, whose clock has not advanced, or that is skipped for its empty queue.
    fn sample(&mut self, at: usize, hop: &IntHop, skip_empty: bool) -> Option<Sample> {
        let Some(before) = self.hops.get(at).map(|known| known.record) else {
            self.add(hop);
            return None;
        };
        let now = self.reader.read(hop);
        let elapsed = self.reader.elapsed(now, before);
        if elapsed == 0 || skip_empty && now.queue == 0 {
            return None;
        }
        // Algorithm 1, line 27: L = ack.L.
        self.hops[at].record = now;
        // u = qlen / (B · T) + txRate / B, in the simulator's order of operations.
        let duration = elapsed as f64 * self.reader.seconds();
        // Algorithm 1, line 4: txRate.
        let tx_rate = (self.reader.sent(now, before).0.saturating_mul(8)) as f64 / duration;
        let rate = now.rate.0 as f64;
        // Algorithm 1, line 5: the smaller of both queues, and the link's utilisation by it.
        let queue = now.queue.min(before.queue) as f64;
        // Eq. 1: bytes in flight on the link, qlen + txRate · T.
        // Eq. 2: bytes in flight over B · T, which is qlen / (B · T) + txRate / B.
        let utilisation = tx_rate / rate + queue * self.line / rate / self.drain;
        Some(Sample { utilisation, elapsed })
    }
}
