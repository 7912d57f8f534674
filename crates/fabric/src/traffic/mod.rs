//! Traffic: when flows start, from which source to which destination, and of which size.

pub(crate) mod ctx;
pub mod dependencies;
pub mod destinations;
pub(crate) mod flows;
pub(crate) mod hooks;
pub(crate) mod numbers;
pub(crate) mod programs;
pub mod sizes;
pub(crate) mod triggers;
