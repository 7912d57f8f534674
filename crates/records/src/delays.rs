//! Packet delays, counted by size to two digits, as `HdrHistogram` counts them.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_blueprint::network::blueprint::Blueprint;
use floodway_units::cast::{narrow, to_usize};

use crate::table::{Table, Values};

/// Significant bits of a delay: two decimal digits.
const BITS: u32 = 8;
/// Buckets of an octave; the first octave has twice as many.
const HALF: u64 = 1 << (BITS - 1);
/// A longer delay is counted as this one: over an hour.
const LONGEST_NS: u64 = 1 << 42;
/// Buckets of a component.
const BUCKETS: usize = bucket(LONGEST_NS) + 1;

/// Components of a packet's delay, as the table names them.
const COMPONENTS: [&str; 4] = ["total", "serialisation-propagation", "queueing", "paused"];

/// Packets by delay, for each workload and component. Four delays of each packet are counted, so that a count
/// is no more than an addition: that takes some 60 instructions a packet, where histograms took about 250 by
/// a profile.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub struct Delays {
    /// One component's buckets after another's.
    counts: Vec<u64>,
}

/// The bucket of a delay.
#[inline]
const fn bucket(ns: u64) -> usize {
    let shift = u64::BITS - BITS - (ns | (2 * HALF - 1)).leading_zeros();
    to_usize((shift as u64 * HALF) + (ns >> shift))
}

/// The lowest and the highest delay of a bucket.
fn bounds(bucket: u64) -> (u64, u64) {
    let shift = (bucket / HALF).saturating_sub(1);
    let low = (bucket - shift * HALF) << shift;
    (low, low + (1 << shift) - 1)
}

impl Delays {
    /// None yet.
    pub fn new(workloads: usize) -> Self {
        Delays { counts: vec![0; workloads * COMPONENTS.len() * BUCKETS] }
    }

    /// Memory of the counts for this number of workloads.
    pub fn bytes(workloads: usize) -> u64 {
        (workloads * COMPONENTS.len() * BUCKETS * size_of::<u64>()) as u64
    }

    /// A packet's delays by component, in picoseconds.
    #[inline]
    pub fn count(&mut self, workload: u32, parts: [u64; COMPONENTS.len()]) {
        let first = workload as usize * COMPONENTS.len() * BUCKETS;
        let counts = &mut self.counts[first..first + COMPONENTS.len() * BUCKETS];
        for (component, part) in parts.into_iter().enumerate() {
            counts[component * BUCKETS + bucket((part / 1000).min(LONGEST_NS))] += 1;
        }
    }

    /// All counts.
    pub fn counts_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        self.counts.iter_mut()
    }

    /// Adds what another thread has counted.
    pub fn absorb(&mut self, other: &Delays) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
    }

    /// What was counted: workload, component, the lowest and the highest delay of the bucket in nanoseconds,
    /// and its packets.
    fn rows(&self) -> impl Iterator<Item = (u32, u32, (u64, u64), u64)> {
        let filled = self.counts.iter().enumerate().filter(|&(_, &packets)| packets > 0);
        filled.map(|(at, &packets)| {
            let (part, bucket) = (at / BUCKETS, at % BUCKETS);
            let (workload, component) = (part / COMPONENTS.len(), part % COMPONENTS.len());
            (narrow::<u32>(workload), narrow::<u32>(component), bounds(bucket as u64), packets)
        })
    }

    /// The table of packet delays.
    pub fn table(&self, blueprint: &Blueprint) -> Table {
        let (mut workload, mut component) = (Vec::new(), Vec::new());
        let (mut low, mut high, mut packets) = (Vec::new(), Vec::new(), Vec::new());
        for (of, part, bounds, count) in self.rows() {
            workload.push(of);
            component.push(part);
            low.push(bounds.0);
            high.push(bounds.1);
            packets.push(count);
        }
        Table::new(vec![
            ("workload", Values::Text { codes: workload, dictionary: blueprint.workload_names() }),
            (
                "component",
                Values::Text {
                    codes: component,
                    dictionary: COMPONENTS.iter().map(ToString::to_string).collect(),
                },
            ),
            ("bucket_low_ns", Values::U64(low)),
            ("bucket_high_ns", Values::U64(high)),
            ("packets", Values::U64(packets)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_follow_one_another_without_gaps() {
        assert_eq!(bounds(0), (0, 0));
        for at in 1..BUCKETS as u64 {
            assert_eq!(bounds(at).0, bounds(at - 1).1 + 1);
        }
        assert_eq!(bucket(LONGEST_NS), BUCKETS - 1);
    }

    proptest! {
        #[test]
        fn buckets_are_those_of_hdr_histogram(
            small in prop::collection::vec(0..5_000u64, 0..40),
            large in prop::collection::vec((0..43u32, any::<u64>()), 0..40),
        ) {
            let mut theirs = Histogram::<u64>::new_with_bounds(1, LONGEST_NS, 2).expect("in order");
            let mut ours = Delays::new(2);
            let spread = large.into_iter().map(|(bits, value)| value & ((1 << bits) - 1));
            for ns in small.into_iter().chain(spread) {
                theirs.saturating_record(ns);
                ours.count(1, [0, 0, ns * 1000 + 999, 0]);
            }
            let expected: Vec<_> = theirs
                .iter_recorded()
                .map(|value| {
                    let at = value.value_iterated_to();
                    let bounds = (theirs.lowest_equivalent(at), theirs.highest_equivalent(at));
                    (1, 2, bounds, value.count_at_value())
                })
                .collect();
            let counted: Vec<_> = ours.rows().filter(|row| row.1 == 2).collect();
            prop_assert_eq!(counted, expected);
        }
    }
}
