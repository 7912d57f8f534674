//! What no run may be faster than, and when one stands still for good.

pub(crate) mod deadlock;
pub(crate) mod floor;
pub(crate) mod ideal;
