//! Traffic: when flows start, from where to where, and of which size.

pub mod dependencies;
pub mod destinations;
pub(crate) mod flows;
pub(crate) mod numbers;
pub mod sizes;
pub(crate) mod triggers;
