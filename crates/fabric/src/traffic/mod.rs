//! Traffic: when flows start, from which source to which destination, and of which size.

pub(crate) mod ctx;
pub(crate) mod flows;
pub(crate) mod programs;
pub(crate) mod triggers;
