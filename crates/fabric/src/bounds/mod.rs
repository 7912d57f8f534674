//! Bounds and checks of a run: ideal completion times, deadlocks and where they are possible, ports blocked
//! at the end, invariants between events, and a clock that stands still.

pub(crate) mod blocked;
pub(crate) mod checks;
pub(crate) mod cycle;
pub(crate) mod deadlock;
pub(crate) mod dependencies;
pub(crate) mod fct_lower_bound;
pub(crate) mod ideal;
pub(crate) mod standstill;
