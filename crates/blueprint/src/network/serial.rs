//! Serialisation times of frames on a link.

use std::sync::Arc;

use floodway_units::cast::to_usize;
use floodway_units::{Bytes, Rate, Span};

use crate::network::blueprint::Rounding;

/// Serialisation at one rate.
#[derive(Clone, Debug)]
pub struct Serial {
    /// Picoseconds a byte, where that is whole; else 0.
    ps_per_byte: u64,
    rate: Rate,
    rounding: Rounding,
    /// By size, where durations are cut to nanoseconds.
    truncated: Option<Arc<[u64]>>,
}

impl Serial {
    /// At this rate, with durations rounded so.
    pub fn new(rate: Rate, rounding: Rounding) -> Self {
        let truncated = match rounding {
            Rounding::Picosecond => None,
            Rounding::TruncatedNanosecond | Rounding::CutNanosecond => {
                Some((0..=u64::from(u16::MAX)).map(|bytes| whole_ns(bytes, rate, rounding)).collect())
            }
        };
        Serial { ps_per_byte: rate.ps_per_byte().unwrap_or(0), rate, rounding, truncated }
    }

    /// Picoseconds a byte, where that is all that counts; else 0.
    #[inline]
    pub fn simple(&self) -> u16 {
        if self.truncated.is_some() { 0 } else { u16::try_from(self.ps_per_byte).unwrap_or(0) }
    }

    /// Picoseconds that `wire` bytes take.
    #[inline]
    pub fn time(&self, wire: u64) -> u64 {
        let known = self.truncated.as_ref().and_then(|table| table.get(to_usize(wire)));
        known.map_or_else(|| self.computed(wire), |ns| ns.saturating_mul(1000))
    }

    /// The same, where no table has it.
    #[inline(never)]
    fn computed(&self, wire: u64) -> u64 {
        if self.truncated.is_some() {
            whole_ns(wire, self.rate, self.rounding).saturating_mul(1000)
        } else if self.ps_per_byte != 0 {
            wire * self.ps_per_byte
        } else {
            self.rate.time_to_send(Bytes(wire)).0
        }
    }

    /// As [`Serial::time`], as a span.
    #[inline]
    pub fn span(&self, wire: Bytes) -> Span {
        Span(self.time(wire.0))
    }
}

/// Picoseconds from the start of a packet of `wire` bytes to the next one of a queue pair that is paced at
/// `rate`.
#[inline]
pub fn pacing_gap(rate: Rate, wire: u64, rounding: Rounding) -> u64 {
    match rounding {
        Rounding::Picosecond => rate.time_to_send(Bytes(wire)).0,
        Rounding::TruncatedNanosecond | Rounding::CutNanosecond => {
            whole_ns(wire, rate, rounding).saturating_mul(1000)
        }
    }
}

/// Nanoseconds of `bytes` as ns-3 computes them: seconds in double, in 64.64 fixed point, cut to whole
/// nanoseconds. SWING's version rounds to the fixed point, and an exact nanosecond comes out one lower where
/// the fixed number lies below it. HPCC's version cuts there, too, so that every exact nanosecond does.
#[expect(clippy::cast_possible_truncation, reason = "the fraction is cut, as there")]
pub fn whole_ns(bytes: u64, rate: Rate, rounding: Rounding) -> u64 {
    let seconds = bytes as f64 * 8.0 / rate.0 as f64;
    let half = if rounding == Rounding::CutNanosecond { 0.0 } else { 0.5 };
    let fixed = (seconds * 18_446_744_073_709_551_616.0 + half) as u128;
    u64::try_from(fixed.saturating_mul(1_000_000_000) >> 64).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ethernet_rates_are_exact_and_others_round_up() {
        let exact = Serial::new(Rate::gbps(100), Rounding::Picosecond);
        assert_eq!(exact.time(1098), 87_840);
        assert_eq!(Serial::new(Rate::gbps(30), Rounding::Picosecond).time(1), 267);
    }

    /// The sizes that SWING's authors' simulator is known to send a nanosecond early.
    #[test]
    fn truncation_follows_the_fixed_point_arithmetic_of_ns3() {
        let early = |gbps: u64, step: u64| {
            (step..=1500)
                .step_by(step as usize)
                .filter(|&bytes| {
                    whole_ns(bytes, Rate::gbps(gbps), Rounding::TruncatedNanosecond) < bytes * 8 / gbps
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(
            early(100, 25),
            [
                25, 75, 125, 200, 250, 300, 325, 375, 425, 500, 550, 600, 625, 675, 725, 800, 850, 900, 975,
                1025, 1075, 1100, 1150, 1200, 1275, 1325, 1375, 1400, 1450, 1500
            ]
        );
        assert_eq!(
            early(400, 50),
            [100, 150, 300, 450, 500, 650, 800, 850, 950, 1000, 1150, 1200, 1300, 1350, 1500]
        );
        for (gbps, bytes, ns) in
            [(100, 1500, 119), (100, 52, 4), (100, 24, 1), (400, 1500, 29), (400, 52, 1), (400, 24, 0)]
        {
            assert_eq!(whole_ns(bytes, Rate::gbps(gbps), Rounding::TruncatedNanosecond), ns);
        }
    }

    /// HPCC's simulator: a flow of 594 B under TIMELY takes 51 ns at each of its links, not 52.
    #[test]
    fn older_ns3_makes_every_exact_nanosecond_one_less() {
        let cut = |bytes, gbps| whole_ns(bytes, Rate::gbps(gbps), Rounding::CutNanosecond);
        let slow = pacing_gap(Rate(1_000), 1_048, Rounding::CutNanosecond);
        assert_eq!(slow, 8_384_000_000_000, "gaps beyond 4 s are whole");
        assert_eq!([cut(650, 100), cut(625, 100), cut(60, 40), cut(60, 20)], [51, 49, 11, 23]);
        assert_eq!(
            [cut(1048, 100), cut(1048, 400), cut(1090, 400), cut(88, 100), cut(0, 100)],
            [83, 20, 21, 7, 0]
        );
    }
}
