//! Draws by the seed, or fixed choices for results that must not depend on it.

use floodway_fabric::sizes::exponential;
use floodway_units::{Rng, Span, stream};

/// Source of the choices of a pattern.
#[derive(Clone, Debug)]
pub enum Chance {
    /// A stream of random numbers.
    Seeded(Box<Rng>),
    /// No stream: choices are made in turn, and gaps have their mean length. Limits and warnings are computed
    /// this way, so that they do not depend on the seed.
    InTurn,
}

impl Chance {
    /// The stream of `purpose` at `key`; choices in turn without a seed.
    pub fn new(seed: Option<u64>, key: u64, purpose: &str) -> Self {
        seed.map_or(Chance::InTurn, |seed| Chance::Seeded(Box::new(stream(seed, key, purpose))))
    }

    /// Is there a seed?
    pub fn is_seeded(&self) -> bool {
        matches!(self, Chance::Seeded(_))
    }

    /// A number from 0 to `choices - 1`, uniformly distributed; in turn, the `turn`-th.
    pub fn pick(&mut self, choices: u64, turn: u64) -> u64 {
        match self {
            Chance::Seeded(rng) => ((u128::from(rng.next_u64()) * u128::from(choices)) >> 64) as u64,
            Chance::InTurn => turn % choices.max(1),
        }
    }

    /// An exponentially distributed time with this mean.
    pub fn gap(&mut self, mean: Span) -> Span {
        match self {
            Chance::Seeded(rng) => Span(exponential(rng, mean.0 as f64)),
            Chance::InTurn => mean,
        }
    }
}
