//! The network at rest: blueprint, routes, round-trip times, sizes.

pub(crate) mod accounts;
pub(crate) mod base_rtt;
pub mod blueprint;
pub(crate) mod build;
pub(crate) mod changes;
pub(crate) mod facts;
pub mod footprint;
pub(crate) mod layout;
pub(crate) mod names;
pub(crate) mod path;
pub(crate) mod port_facts;
pub mod routing;
pub(crate) mod sizing;
