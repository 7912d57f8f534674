use crate::cast::{saturated, whole};
use borsh::{BorshDeserialize, BorshSerialize};
use std::fmt;
use std::ops::{Add, Div, Mul};

use crate::{Bytes, Span, text};

/// A data rate in bit/s.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize,
)]
pub struct Rate(pub u64);

/// A pause time in quanta of 512 bit times of the link that carries it (802.1Qbb, Annex 31B).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quanta(pub u16);

impl Rate {
    /// No limit.
    pub const MAX: Rate = Rate(u64::MAX);

    /// `n` times 10^9 bit/s.
    pub const fn gbps(n: u64) -> Rate {
        Rate(n * 1_000_000_000)
    }

    /// `n` times 10^6 bit/s.
    pub const fn mbps(n: u64) -> Rate {
        Rate(n * 1_000_000)
    }

    /// Time to send `bytes` at this rate, rounded up to a picosecond; the longest span if the time exceeds
    /// it.
    pub fn time_to_send(self, bytes: Bytes) -> Span {
        let bits = u128::from(bytes.0) * 8_000_000_000_000;
        Span(u64::try_from(bits.div_ceil(u128::from(self.0))).unwrap_or(u64::MAX))
    }

    /// Whole bytes that fit into `span` at this rate, rounded down.
    pub fn bytes_in(self, span: Span) -> Bytes {
        let bits = u128::from(self.0) * u128::from(span.0);
        Bytes(saturated(bits / 8_000_000_000_000))
    }

    /// As [`Rate::bytes_in`], with the seconds of ns-3: cut to a 64.64 fixed-point number, then converted to
    /// double. A whole number of bytes mostly becomes one less.
    pub fn bytes_in_ns3_seconds(self, span: Span) -> Bytes {
        let fixed = (u128::from(span.0) << 64) / 1_000_000_000_000;
        let seconds = fixed as f64 / 18_446_744_073_709_551_616.0;
        Bytes(whole(seconds * self.0 as f64 / 8.0))
    }

    /// Whole bytes that cover `span` at this rate, rounded up.
    pub fn bytes_covering(self, span: Span) -> Bytes {
        let bits = u128::from(self.0) * u128::from(span.0);
        Bytes(saturated(bits.div_ceil(8_000_000_000_000)))
    }

    /// Picoseconds per byte, where that is a whole number (every Ethernet rate from 1G to 1.6T).
    pub fn ps_per_byte(self) -> Option<u64> {
        (8_000_000_000_000 % self.0 == 0).then(|| 8_000_000_000_000 / self.0)
    }

    /// This rate in Gbit/s.
    pub fn as_gbps(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Quanta {
    /// The longest pause of one frame.
    pub const MAX: Quanta = Quanta(u16::MAX);

    /// Length of this pause on a link of `rate` (512 bit times per quantum), rounded up.
    pub fn span(self, rate: Rate) -> Span {
        rate.time_to_send(Bytes(u64::from(self.0) * 64))
    }
}

impl Add for Rate {
    type Output = Rate;
    fn add(self, other: Rate) -> Rate {
        Rate(self.0.saturating_add(other.0))
    }
}

impl Mul<u64> for Rate {
    type Output = Rate;
    fn mul(self, n: u64) -> Rate {
        Rate(self.0 * n)
    }
}

impl Div<u64> for Rate {
    type Output = Rate;
    fn div(self, n: u64) -> Rate {
        Rate(self.0 / n)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text::with_unit(self.0, text::RATE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_bytes_come_out_one_less_by_the_seconds_of_ns3() {
        let bytes = |ns| Rate::gbps(100).bytes_in_ns3_seconds(Span::ns(ns)).0;
        assert_eq!([4_238, 8_476, 12_714].map(bytes), [52_974, 105_949, 158_924]);
        assert_eq!(bytes(816_981), 10_212_262);
    }

    #[test]
    fn ethernet_rates_have_whole_picoseconds_a_byte() {
        for (gbps, ps) in [(1, 8_000), (10, 800), (25, 320), (40, 200), (100, 80), (400, 20), (1_600, 5)] {
            assert_eq!(Rate::gbps(gbps).ps_per_byte(), Some(ps));
        }
        assert_eq!(Rate::gbps(30).ps_per_byte(), None);
    }

    #[test]
    fn time_to_send_rounds_up_and_bytes_in_rounds_down() {
        assert_eq!(Rate::gbps(30).time_to_send(Bytes(1)), Span(267));
        assert_eq!(Rate(1).time_to_send(Bytes(1 << 50)), Span(u64::MAX));
        assert_eq!(Rate::gbps(30).bytes_in(Span(533)), Bytes(1));
        assert_eq!(Rate::gbps(30).bytes_in(Span(534)), Bytes(2));
    }

    #[test]
    fn the_longest_pause_at_400g_is_84_us() {
        assert_eq!(Quanta::MAX.span(Rate::gbps(400)), Span(83_884_800));
    }
}
