//! What no run may be faster than, when one stands still for good, what is blocked at its end, and what is true between events.

pub(crate) mod blocked;
pub(crate) mod checks;
pub(crate) mod deadlock;
pub(crate) mod fct_lower_bound;
pub(crate) mod ideal;
