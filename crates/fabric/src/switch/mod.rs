//! Switches: forwarding, buffer, congestion points, egress disciplines, crossbar.

pub(crate) mod buffer;
pub(crate) mod congestion;
pub(crate) mod crossbar;
pub(crate) mod device;
pub(crate) mod discipline;
pub(crate) mod forward;
pub(crate) mod own_scheduler;
pub(crate) mod route;
pub(crate) mod sending;
pub(crate) mod signals;
pub(crate) mod telemetry;
pub(crate) mod views;
