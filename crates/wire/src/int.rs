//! In-band telemetry in data packets, and in the replies that return it: a count and five records, the number
//! of HPCC's header.
//!
//! ```text
//! count 2 | five times: rate 4 bits, time 24 bits, sent 20 bits, queue 16 bits
//! ```
//! The fields of a record and their widths are those of HPCC's paper (Li et al. 2019, Fig. 7); the codes of
//! rates and the units of the other fields are floodway's own. Unused records are zeros.

use floodway_units::{Bytes, Rate, Time};

/// Number of records in a packet.
const RECORDS: usize = 5;
/// Number of bytes in a packet.
pub const LENGTH: usize = 2 + 8 * RECORDS;

/// Rates in Gbit/s with the codes 1, 2, and so on; other rates have 0.
const RATES: [u64; 9] = [10, 25, 40, 50, 100, 200, 400, 800, 1600];
/// Picoseconds per unit of time: the unit is a nanosecond.
const PICOSECONDS: u64 = 1000;
/// Unit of the bytes sent, in bytes.
const SENT_UNIT: u64 = 128;
/// Unit of a queue, in bytes.
const QUEUE_UNIT: u64 = 80;

/// The records that the egress ports on the path have written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stack {
    count: u16,
    records: [u64; RECORDS],
}

impl Stack {
    /// Adds the record of the next port: its link's rate, the time when the packet starts on the wire, the
    /// bytes sent before it, the bytes left in the queues. The sixth port and later ones are only counted.
    pub fn push(&mut self, rate: Rate, time: Time, sent: u64, queue: Bytes) {
        if let Some(record) = self.records.get_mut(usize::from(self.count)) {
            *record = code(rate) << 60
                | ((time.0 / PICOSECONDS) & 0xFF_FFFF) << 36
                | ((sent / SENT_UNIT) & 0xF_FFFF) << 16
                | (queue.0 / QUEUE_UNIT).min(0xFFFF);
        }
        self.count = self.count.saturating_add(1);
    }

    /// The bytes in the packet.
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
