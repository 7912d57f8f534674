//! Bounds that follow from a blueprint: ideal completion times, and where deadlocks are possible.

pub mod cycle;
pub mod dependencies;
mod fct_lower_bound;
pub mod ideal;
