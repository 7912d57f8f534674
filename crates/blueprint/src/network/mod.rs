//! The network at rest: blueprint, routes, round-trip times, sizes.

pub mod accounts;
pub mod base_rtt;
pub mod blueprint;
pub mod changes;
mod check;
pub mod facts;
pub mod groups;
mod jobs;
pub mod kinds;
pub mod layout;
pub mod limits;
pub mod machines;
mod names;
pub mod path;
pub mod port_facts;
pub mod routing;
pub mod serial;
pub mod sizing;
mod validate;
