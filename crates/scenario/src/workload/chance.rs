//! Draws by the seed, or none where a thing must not depend on it.

use floodway_fabric::sizes::exponential;
use floodway_units::{Rng, Span, stream};

/// What makes the choices of a pattern.
#[derive(Clone, Debug)]
pub enum Chance {
    /// A stream of random numbers.
    Seeded(Box<Rng>),
    /// Nothing: choices are made in turn, gaps are as long as their mean. Limits and warnings come of this, so
    /// that they are the same whatever the seed.
    InTurn,
}

impl Chance {
    /// The stream of `purpose` at `key`; in turn where there is no seed.
    pub fn new(seed: Option<u64>, key: u64, purpose: &str) -> Self {
        seed.map_or(Chance::InTurn, |seed| Chance::Seeded(Box::new(stream(seed, key, purpose))))
    }

    /// A number from 0 to `choices - 1`, each as likely as any other; the `turn`-th in turn.
    pub fn pick(&mut self, choices: u64, turn: u64) -> u64 {
        match self {
            Chance::Seeded(rng) => ((u128::from(rng.next_u64()) * u128::from(choices)) >> 64) as u64,
            Chance::InTurn => turn % choices.max(1),
        }
    }

    /// An exponential time of this mean.
    pub fn gap(&mut self, mean: Span) -> Span {
        match self {
            Chance::Seeded(rng) => Span(exponential(rng, mean.0 as f64)),
            Chance::InTurn => mean,
        }
    }
}
