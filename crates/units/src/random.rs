//! Random streams: one per (seed, node, purpose), so that a new consumer changes no other draws.

use crate::cast::whole;
use rand_core::{Rng as _, SeedableRng};

use crate::mrg32k3a::{FirstDraws, Mrg32k3a};

/// A stream of random numbers: from the pinned generator of every stream, or with the draws of ns-3.
#[derive(Clone, Debug, PartialEq)]
pub enum Rng {
    /// Xoshiro256++.
    Xoshiro(rand_xoshiro::Xoshiro256PlusPlus),
    /// The first draw of one stream after another.
    FirstDraws(Box<FirstDraws>),
    /// One stream of ns-3's generator.
    Ns3(Box<Mrg32k3a>),
}

impl Rng {
    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        match self {
            Rng::Xoshiro(rng) => rng.next_u64(),
            Rng::FirstDraws(draws) => whole(draws.draw() * 18_446_744_073_709_551_616.0),
            Rng::Ns3(generator) => whole(generator.next_f64() * 18_446_744_073_709_551_616.0),
        }
    }

    /// Skips a draw that another simulator makes from this stream; no effect on floodway's own streams.
    pub fn skip(&mut self) {
        if let Rng::FirstDraws(draws) = self {
            draws.skip();
        }
    }
}

/// SplitMix64's finaliser: a bijection of 64 bits with full avalanche.
#[inline]
pub const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Folds `value` into `key`; the result depends on the order of folds.
#[inline]
pub const fn fold(key: u64, value: u64) -> u64 {
    mix(key ^ value)
}

/// A key for a name, the same in every run and on every platform (FNV-1a, then mixed).
pub fn name_key(name: &str) -> u64 {
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    mix(hash)
}

/// The stream of `purpose` for the object of `key` (a node, a link direction, a workload's source).
pub fn stream(seed: u64, key: u64, purpose: &str) -> Rng {
    let state = fold(fold(mix(seed), key), name_key(purpose));
    Rng::Xoshiro(rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(state))
}

/// A uniform number in [0, 1), in steps of 2^-53.
pub fn uniform(rng: &mut Rng) -> f64 {
    match rng {
        Rng::Xoshiro(rng) => (rng.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64),
        Rng::FirstDraws(draws) => draws.draw(),
        Rng::Ns3(generator) => generator.next_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_pinned_and_differ_by_seed_key_and_purpose() {
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
        let first = |seed, key, purpose| stream(seed, key, purpose).next_u64();
        let all = [first(1, 1, "a"), first(2, 1, "a"), first(1, 2, "a"), first(1, 1, "b")];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b));
        }
        assert_eq!(first(1, 1, "a"), first(1, 1, "a"));
    }
}
