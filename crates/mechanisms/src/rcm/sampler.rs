//! CRD: detects congestion of one queue by samples, as a congestion point of QCN does (section 3.2, eq. 1).

use floodway_units::cast::whole;
use floodway_units::{Bytes, Rng, uniform};

/// Degrees are quantised to 6 bits.
pub(super) const MOST: u8 = 63;

/// Bytes from one sample to the next, by the degree's upper three bits (IEEE 802.1Qau).
const INTERVALS: [u64; 8] = [150_000, 75_000, 50_000, 37_500, 30_000, 25_000, 21_500, 18_500];

/// Number of samples in a row without congestion that end it.
const CALM: u8 = 2;

/// Computes degrees from queue lengths.
#[derive(Clone, Copy, Debug)]
pub(super) struct Law {
    /// Qeq, bytes.
    pub equilibrium: u64,
    /// wq.
    pub weight: u64,
}

impl Law {
    /// Fb of a queue of `len` bytes that had `before`: positive where it is congested.
    pub fn degree(&self, len: u64, before: u64) -> i64 {
        let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX / 8);
        // Eq. 1: Fb = Qoff + wq · Qdelta.
        (signed(len) - signed(self.equilibrium)) + signed(self.weight) * (signed(len) - signed(before))
    }

    /// Fb in 6 bits, where 63 means Qeq · (2 wq + 1) and more.
    #[expect(clippy::cast_possible_truncation, reason = "at most `MOST`")]
    pub fn quantised(&self, degree: i64) -> u8 {
        let most = self.equilibrium * (2 * self.weight + 1);
        let degree = u64::try_from(degree).unwrap_or(0).min(most);
        (degree * u64::from(MOST) / most) as u8
    }
}

/// The samples of one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Sampler {
    /// Bytes that came in since the last sample, and the number after which the next one is due.
    since: u64,
    due: u64,
    /// The length at the last sample.
    before: u64,
    degree: u8,
    /// Samples in a row without congestion.
    calm: u8,
    local: bool,
}

/// The result of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sample {
    /// The degree, quantised; 0 as well where Fb > 0 is less than a 63rd.
    pub degree: u8,
    /// Congestion has begun with it.
    pub began: bool,
    pub ended: bool,
}

impl Sampler {
    /// `frame` bytes have joined the queue, which has `len` now.
    pub fn pass(&mut self, law: &Law, rng: &mut Rng, frame: Bytes, len: Bytes) -> Option<Sample> {
        if self.due == 0 {
            self.due = INTERVALS[0];
        }
        self.since += frame.0;
        if self.since < self.due {
            return None;
        }
        let found = law.degree(len.0, self.before);
        let was_local = self.local;
        (self.before, self.since, self.degree) = (len.0, 0, law.quantised(found));
        self.calm = if found > 0 { 0 } else { self.calm.saturating_add(1) };
        self.local = found > 0 || self.local && self.calm < CALM;
        // Section 3.2: the interval of samples depends on the degree.
        self.due = whole(INTERVALS[usize::from(self.degree / 8)] as f64 * (0.85 + 0.3 * uniform(rng)));
        Some(Sample { degree: self.degree, began: self.local && !was_local, ended: was_local && !self.local })
    }

    /// The queue is empty, which ends congestion. Was it congested?
    pub fn empty(&mut self) -> bool {
        (self.before, self.degree, self.calm) = (0, 0, CALM);
        std::mem::take(&mut self.local)
    }

    /// The degree of the last sample.
    pub fn degree(&self) -> u8 {
        self.degree
    }

    /// The local flag: congestion was detected, and has not ended.
    pub fn is_local(&self) -> bool {
        self.local
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::{Turns, stream};

    use super::*;

    const LAW: Law = Law { equilibrium: 20_000, weight: 2 };

    #[test]
    fn degrees_by_hand() {
        // At the equilibrium and at rest; 10 KB above it; falling; at what fills the 6 bits.
        assert_eq!(LAW.degree(20_000, 20_000), 0);
        assert_eq!((LAW.degree(30_000, 30_000), LAW.quantised(10_000)), (10_000, 6));
        assert_eq!((LAW.degree(30_000, 20_000), LAW.quantised(30_000)), (30_000, 18));
        assert_eq!((LAW.degree(30_000, 40_000), LAW.quantised(-10_000)), (-10_000, 0));
        assert_eq!((LAW.degree(100_000, 90_000), LAW.quantised(100_000)), (100_000, 63));
        assert_eq!((LAW.quantised(5_000_000), LAW.quantised(1_587), LAW.quantised(1_588)), (63, 0, 1));
        // A queue that grows is congested before it has reached the equilibrium.
        assert_eq!(LAW.degree(10_000, 0), 10_000);
    }

    /// Eq. 1: a queue of 40 KB that grew by 10 KB has Fb = 20 KB + wq · 10 KB, and 63 means Qeq · (2 wq + 1):
    /// 60, 100, 140 and 180 KB.
    #[test]
    fn every_weight_scales_the_growth_and_the_largest_degree() {
        for (weight, degree, most) in
            [(1, 30_000, 60_000), (2, 40_000, 100_000), (3, 50_000, 140_000), (4, 60_000, 180_000)]
        {
            let law = Law { weight, ..LAW };
            assert_eq!(law.degree(40_000, 30_000), degree, "wq = {weight}");
            assert_eq!(law.degree(40_000, 50_000), 40_000 - degree, "wq = {weight}");
            for quantum in 1..=63 {
                // The least degree of each of the 63 steps.
                let least: i64 = (most * quantum + 62) / 63;
                let found = [least - 1, least].map(|degree| i64::from(law.quantised(degree)));
                assert_eq!(found, [quantum - 1, quantum], "wq = {weight}");
            }
            assert_eq!((law.quantised(most), law.quantised(i64::MAX)), (63, 63));
        }
    }

    #[test]
    fn the_interval_is_that_of_the_upper_three_bits_of_the_degree() {
        let mut rng = stream(1, 1, "test");
        for (bits, interval) in INTERVALS.into_iter().enumerate() {
            // A queue at rest, with the least and the largest degree of these bits.
            for degree in [8 * bits as u64, 8 * bits as u64 + 7] {
                let len = LAW.equilibrium + (100_000 * degree).div_ceil(63);
                let mut sampler = Sampler { due: 1, before: len, ..Sampler::default() };
                let sample = sampler.pass(&LAW, &mut rng, Bytes(1), Bytes(len)).expect("it is due");
                assert_eq!(u64::from(sample.degree), degree);
                let allowed = interval * 85 / 100..=interval * 115 / 100;
                assert!(allowed.contains(&sampler.due), "{} after {degree}", sampler.due);
            }
        }
    }

    #[test]
    fn a_length_beyond_64_bits_with_a_sign_is_the_most() {
        assert_eq!(LAW.quantised(LAW.degree(u64::MAX, 0)), MOST);
        assert_eq!(LAW.quantised(LAW.degree(u64::MAX, u64::MAX)), MOST);
    }

    #[test]
    fn samples_come_the_sooner_the_graver_it_is() {
        let mut rng = stream(1, 1, "test");
        let mut sampler = Sampler::default();
        let mut gaps = Vec::new();
        let mut passed = 0;
        for len in std::iter::repeat_n(Bytes(90_000), 1_000) {
            passed += 1_000;
            if sampler.pass(&LAW, &mut rng, Bytes(1_000), len).is_some() {
                gaps.push(std::mem::take(&mut passed));
            }
        }
        assert_eq!(gaps[0], 150_000, "nothing was known");
        // Then Fb = 70 + 180 KB is the most; later Qdelta is gone: Fb = 70 KB, q = 44.
        assert!((15_725..22_275).contains(&gaps[1]), "{gaps:?}");
        assert!(gaps[2..].iter().all(|gap| (21_250..29_750).contains(gap)), "{gaps:?}");
        let mean = gaps[2..].iter().sum::<u64>() as f64 / (gaps.len() - 2) as f64;
        assert!((mean / 25_500.0 - 1.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn two_calm_samples_in_a_row_end_congestion() {
        let mut rng = stream(1, 1, "test");
        let mut sampler = Sampler::default();
        let mut at = |len: u64| {
            let found = (0..1_000).find_map(|_| sampler.pass(&LAW, &mut rng, Bytes(1_000), Bytes(len)));
            let sample = found.expect("a sample comes after 172,500 B at the latest");
            (sample.began, sample.ended)
        };
        let found = [0, 40_000, 10_000, 40_000, 10_000, 10_000, 10_000].map(&mut at);
        let (none, began, ended) = ((false, false), (true, false), (false, true));
        assert_eq!(found, [none, began, none, none, none, ended, none]);
    }

    #[test]
    fn a_queue_that_rests_at_the_equilibrium_is_calm() {
        let mut rng = stream(1, 1, "test");
        let mut sampler = Sampler::default();
        let mut at = |len: u64| {
            let found = (0..1_000).find_map(|_| sampler.pass(&LAW, &mut rng, Bytes(1_000), Bytes(len)));
            let sample = found.expect("a sample comes after 172,500 B at the latest");
            (sample.began, sample.ended)
        };
        let (none, began, ended) = ((false, false), (true, false), (false, true));
        // It has grown to there, then it rests; a byte more is congestion.
        assert_eq!([20_000, 20_000, 20_000, 20_000].map(&mut at), [began, none, ended, none]);
        assert_eq!([20_001, 20_001].map(&mut at), [began, none]);
    }

    #[test]
    fn an_empty_queue_is_not_congested() {
        let mut rng = stream(1, 1, "test");
        let mut sampler = Sampler::default();
        let mut turns = Turns::at_most(1_000);
        while turns.go() && sampler.pass(&LAW, &mut rng, Bytes(1_000), Bytes(90_000)).is_none() {}
        assert!(sampler.is_local() && sampler.degree() == 63);
        assert!(sampler.empty() && !sampler.empty());
        assert!(!sampler.is_local() && sampler.degree() == 0);
    }
}
