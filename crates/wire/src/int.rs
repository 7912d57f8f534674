//! In-band telemetry in data packets, and in the replies that give it back: a count and five records, as much
//! as HPCC's header has.
//!
//! ```text
//! count 2 | five times: rate 4 bits, time 24 bits, sent 20 bits, queue 16 bits
//! ```
//! The fields of a record and their widths are those of HPCC's paper (Li et al. 2019, Fig. 7); the codes of
//! rates and what is counted in are ours. Records that were not written are zeros.

use floodway_units::{Bytes, Rate, Time};

/// Records in a packet.
const RECORDS: usize = 5;
/// Bytes in a packet.
pub const LENGTH: usize = 2 + 8 * RECORDS;

/// Rates in Gbit/s whose codes are 1, 2, and so on; others have 0.
const RATES: [u64; 9] = [10, 25, 40, 50, 100, 200, 400, 800, 1600];
/// A time counts nanoseconds.
const PICOSECONDS: u64 = 1000;
/// What was sent counts in these bytes.
const SENT_UNIT: u64 = 128;
/// A queue counts in these bytes.
const QUEUE_UNIT: u64 = 80;

/// What the egress ports on the way have written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    count: u16,
    records: [u64; RECORDS],
}

impl Stack {
    /// The next port writes: its link's rate, when the packet starts on the wire, bytes sent before it, bytes
    /// left behind in the queues. The sixth port and those behind it are counted only.
    pub fn push(&mut self, rate: Rate, time: Time, sent: u64, queue: Bytes) {
        if let Some(record) = self.records.get_mut(usize::from(self.count)) {
            *record = code(rate) << 60
                | ((time.0 / PICOSECONDS) & 0xFF_FFFF) << 36
                | ((sent / SENT_UNIT) & 0xF_FFFF) << 16
                | (queue.0 / QUEUE_UNIT).min(0xFFFF);
        }
        self.count = self.count.saturating_add(1);
    }

    /// As a packet carries it.
    pub fn bytes(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let (count, records) = bytes.split_at_mut(2);
        count.copy_from_slice(&self.count.to_be_bytes());
        for (place, record) in records.chunks_exact_mut(8).zip(self.records) {
            place.copy_from_slice(&record.to_be_bytes());
        }
        bytes
    }
}

fn code(rate: Rate) -> u64 {
    RATES.iter().position(|&gbps| rate == Rate::gbps(gbps)).map_or(0, |at| at as u64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_its_fields_at_whole_hexadecimal_digits() {
        let mut stack = Stack::default();
        stack.push(
            Rate::gbps(100),
            Time(0x12_3456 * 1000 + 999),
            0x7_89AB * 128 + 127,
            Bytes(0xCDEF * 80 + 79),
        );
        let bytes = stack.bytes();
        assert_eq!(bytes[..10], [0, 1, 0x51, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]);
        assert_eq!(bytes[10..], [0; 32]);
    }

    #[test]
    fn times_and_bytes_sent_begin_again_and_queues_stop_at_the_largest() {
        let mut stack = Stack::default();
        stack.push(Rate(1), Time(0x0100_0002 * 1000), 0x10_0003 * 128, Bytes(u64::MAX));
        assert_eq!(stack.bytes()[2..10], [0, 0, 0, 0x20, 0, 0x03, 0xFF, 0xFF]);
    }

    #[test]
    fn of_a_long_path_five_records_are_kept_and_all_are_counted() {
        let mut stack = Stack::default();
        for _ in 0..7 {
            stack.push(Rate::gbps(1600), Time::ZERO, 0, Bytes::ZERO);
        }
        let bytes = stack.bytes();
        assert_eq!((bytes[..2].to_vec(), bytes.len()), (vec![0, 7], 42));
        assert!(bytes[2..].chunks(8).all(|record| record == [0x90, 0, 0, 0, 0, 0, 0, 0]));
    }
}
