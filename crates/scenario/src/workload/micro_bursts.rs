//! Micro-bursts: a sender at line rate for microseconds, then idle for a longer time.

use floodway_units::{Bytes, Rate, Span, Time};
use floodway_wire::Format;
use schemars::JsonSchema;
use serde::Deserialize;

use super::chance::Chance;
use super::poisson::on_the_wire;
use crate::grammar::selector::Selector;

/// Each sender sends bursts at line rate for `length`. The i-th sender sends to the i-th receiver; after the
/// last receiver, the count starts again at the first. RCM's experiments disturb an incast with such a burst
/// of 20 us.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MicroBursts {
    /// Hosts that send. Default: all.
    #[serde(default = "Selector::all")]
    pub from: Selector,
    /// Hosts that receive.
    pub to: Selector,
    /// Time for which a burst occupies the sender's NIC. A burst is one flow of the largest payload whose
    /// packets, headers and gaps included, leave within this time: 231 packets of 1000 B in 20 us at 100G.
    /// Shorter than `every`.
    pub length: Span,
    /// Time from one burst of a sender to its next, until the workload's `until`. Default: one burst each, at
    /// the workload's `start`.
    #[serde(default)]
    pub every: Option<Span>,
    /// Whether `every` is the time between two bursts, or its mean. Default: `fixed`.
    #[serde(default)]
    pub spacing: Spacing,
    /// Rate from which the size of a burst is computed, at most the sender's. Default: that of the sender's
    /// NIC, of the slowest one where it has several.
    #[serde(default)]
    pub rate: Option<Rate>,
    /// Whether all senders burst at the same instants, the first one at the workload's `start`. Default:
    /// false, each sender's first burst comes at a time within the first `every` that the seed draws.
    #[serde(default)]
    pub synchronised: bool,
}

/// Distribution of the times between the bursts of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Constant.
    #[default]
    Fixed,
    /// Exponential, drawn by the seed; bursts may overlap.
    Exponential,
}

/// The largest payload whose packets `rate` sends within `length`; none if not even one byte fits.
pub fn payload(rate: Rate, length: Span, format: Format, mtu: Bytes) -> Option<Bytes> {
    let most = rate.bytes_in(length).0;
    let fits = |payload: u64| on_the_wire(Bytes(payload), format, mtu) <= most;
    let (mut fitting, mut beyond) = (0, most + 1);
    while fitting + 1 < beyond {
        let middle = fitting + (beyond - fitting) / 2;
        if fits(middle) { fitting = middle } else { beyond = middle }
    }
    (fitting > 0).then_some(Bytes(fitting))
}

/// Start times of the bursts of one sender.
pub fn starts(
    (start, until): (Time, Time),
    every: Span,
    spacing: Spacing,
    synchronised: bool,
    chance: &mut Chance,
) -> Vec<Time> {
    // Each sender has a burst, even if the end is early.
    let room = every.0.min(until.since(start).0);
    let phase = if synchronised { 0 } else { chance.pick(room, 0) };
    let mut next = Time(start.0.saturating_add(phase));
    let mut starts = Vec::new();
    while next < until {
        starts.push(next);
        let gap = if spacing == Spacing::Fixed { every } else { chance.gap(every) };
        next = Time(next.0.saturating_add(gap.0));
    }
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    const MTU: Bytes = Bytes(1000);

    #[test]
    fn a_burst_is_what_the_nic_sends_in_its_length() {
        let size = |gbps, length, format| payload(Rate::gbps(gbps), length, format, MTU);
        // 20 us at 100G are 250,000 B on the wire. The first packet takes 1000 + 78 + 20, the others 1082:
        // 231 packets take 249,958, and the 42 that are left are less than the smallest frame.
        assert_eq!(size(100, Span::us(20), Format::Ethernet), Some(Bytes(231_000)));
        // 250,000 / 1048 = 238.5: 238 packets take 249,424, and 576 are left for a last one of 528.
        assert_eq!(size(100, Span::us(20), Format::HpccNs3), Some(Bytes(238_528)));
        // 100 ns are 1250 B: one packet of 1098, and one of 152 with 70 B of payload.
        assert_eq!(size(100, Span::ns(100), Format::Ethernet), Some(Bytes(1_070)));
        // A packet of 1 B is 1 + 78 + 20 = 99 B on the wire, which take 7.92 ns.
        assert_eq!(size(100, Span(7_919), Format::Ethernet), None);
        assert_eq!(size(100, Span(7_920), Format::Ethernet), Some(Bytes(1)));
    }

    #[test]
    fn bursts_come_in_step_or_at_phases_and_stop_before_until() {
        let (start, until) = (Time(1_000), Time(4_000));
        let times = |seed, synchronised| {
            let mut chance = Chance::new(seed, 1, "test");
            starts((start, until), Span(1_000), Spacing::Fixed, synchronised, &mut chance)
        };
        for seed in [None, Some(1)] {
            assert_eq!(times(seed, true), [Time(1_000), Time(2_000), Time(3_000)]);
        }
        for seed in 0..50 {
            let drawn = times(Some(seed), false);
            assert!(drawn[0] >= start && drawn[0] < Time(2_000) && drawn.len() == 3, "{drawn:?}");
            assert!(drawn.windows(2).all(|pair| pair[1].since(pair[0]) == Span(1_000)));
        }
        let mut chance = Chance::new(Some(1), 1, "test");
        let short = starts((start, Time(1_001)), Span(1_000), Spacing::Fixed, false, &mut chance);
        assert_eq!(short, [start]);
    }

    #[test]
    fn exponential_gaps_have_their_mean() {
        let mut chance = Chance::new(Some(5), 1, "test");
        let (every, periods) = (Span::us(10), 20_000);
        let window = (Time::ZERO, Time::ZERO + every * periods);
        let times = starts(window, every, Spacing::Exponential, false, &mut chance);
        // A Poisson process after the first burst, which the phase delays by half a period on average.
        let expected = periods as f64;
        assert!((times.len() as f64 - expected).abs() < 5.0 * expected.sqrt(), "{}", times.len());
        assert!(times.is_sorted() && times.iter().all(|&time| time < window.1));
    }
}
