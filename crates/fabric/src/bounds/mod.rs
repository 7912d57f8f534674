//! Bounds and checks of a run: ideal completion times where links change, deadlocks, ports blocked at the
//! end, invariants between events.

pub(crate) mod blocked;
pub(crate) mod checks;
pub(crate) mod deadlock;
pub(crate) mod over_time;
