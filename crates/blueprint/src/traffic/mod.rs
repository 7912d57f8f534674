//! Traffic as it is known before a run: destinations and sizes of flows, their numbers, and which wait for
//! which.

pub mod begin;
pub mod dependencies;
pub mod destinations;
pub mod hooks;
pub mod lists;
pub mod numbers;
pub mod sizes;
