//! What a flow's sender transmitted over time.

use floodway_records::table::{Table, Values};
use floodway_units::Time;
use floodway_units::cast::to_usize;

/// Most buckets; where more would be needed, pairs become one.
const MOST: usize = 500;
/// Width of a bucket at the start, in picoseconds.
const FIRST_WIDTH: u64 = 1_000_000;

/// Bytes of payload by the time at which they left the NIC, retransmissions included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    start: u64,
    width: u64,
    buckets: Vec<u64>,
}

impl Sent {
    /// Of a flow that starts at `start`.
    pub(super) fn new(start: u64) -> Self {
        Sent { start, width: FIRST_WIDTH, buckets: Vec::new() }
    }

    /// A packet leaves the NIC.
    pub(super) fn add(&mut self, now: u64, bytes: u64) {
        let passed = now.saturating_sub(self.start);
        while passed / self.width >= MOST as u64 {
            self.width *= 2;
            self.buckets = self.buckets.chunks(2).map(|pair| pair.iter().sum()).collect();
        }
        let at = to_usize(passed / self.width);
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, 0);
        }
        self.buckets[at] += bytes;
    }

    /// Bytes in all.
    pub fn bytes(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// One row a bucket: when it begins, how long it is, and bytes.
    pub fn table(&self) -> Table {
        let begins =
            (0..self.buckets.len() as u64).map(|bucket| Time(self.start + bucket * self.width).as_us());
        Table::new(vec![
            ("time_us", Values::F64(begins.collect())),
            ("bucket_us", Values::F64(vec![Time(self.width).as_us(); self.buckets.len()])),
            ("bytes", Values::U64(self.buckets.clone())),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wider_buckets_keep_all_bytes() {
        let mut sent = Sent::new(7);
        for packet in 0..2_000 {
            sent.add(7 + packet * FIRST_WIDTH, 3);
        }
        assert_eq!((sent.width, sent.buckets.len(), sent.bytes()), (4 * FIRST_WIDTH, MOST, 6_000));
        assert!(sent.buckets.iter().all(|&bytes| bytes == 12));
    }
}
