//! A frame on the wire, divided among buckets of time.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::cast::saturated;

/// A frame on the wire, from its first bit to its last one.
#[derive(Clone, Copy, Debug, Default, BorshSerialize, BorshDeserialize)]
pub struct Transmission {
    /// When its first bit is sent.
    pub begin: u64,
    /// When its last bit is sent.
    pub end: u64,
    /// Wire bytes.
    pub bytes: u64,
}

impl Transmission {
    /// Bytes whose transmission has begun before `at`.
    ///
    /// A byte across the end of a bucket is the earlier bucket's. So frames that follow one another, over a
    /// bucket that whole bytes fill, make exactly what the rate allows, however they are cut.
    pub(crate) fn sent_by(&self, at: u64) -> u64 {
        self.share(at).map_or(self.bytes, |(part, whole)| saturated(part.div_ceil(whole)))
    }

    /// Bytes whose transmission has ended at `at`.
    pub(crate) fn sent_whole_by(&self, at: u64) -> u64 {
        self.share(at).map_or(self.bytes, |(part, whole)| saturated(part / whole))
    }

    /// The bytes at `at` as a fraction; none once all of them are sent.
    fn share(&self, at: u64) -> Option<(u128, u128)> {
        let part = || u128::from(self.bytes) * u128::from(at.saturating_sub(self.begin));
        (at < self.end).then(|| (part(), u128::from((self.end - self.begin).max(1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_across_an_instant_has_begun_and_not_ended() {
        let frame = Transmission { begin: 100, end: 200, bytes: 10 };
        let by = |at| (frame.sent_by(at), frame.sent_whole_by(at));
        assert_eq!([by(99), by(100), by(101), by(110), by(111)], [(0, 0), (0, 0), (1, 0), (1, 1), (2, 1)]);
        assert_eq!([by(199), by(200), by(201)], [(10, 9), (10, 10), (10, 10)]);
        let at_once = Transmission { begin: 100, end: 100, bytes: 10 };
        assert_eq!((at_once.sent_by(99), at_once.sent_by(100)), (0, 10));
    }
}
