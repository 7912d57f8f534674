//! The simulated network: packets, links, ports, switches and hosts, which drive mechanisms inside an engine.
//!
//! A [`Blueprint`] of plain values goes in, [`Records`] of columns come out. No mechanism's name appears
//! here: what a queue, a port or a queue pair does beyond moving packets is asked of its slot.

#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "numbers of tests are small"))]

mod bounds;
mod build;
mod host;
mod link;
mod pool;
mod run;
mod switch;
mod tables;
#[cfg(test)]
mod testing;
mod traffic;
mod why;

pub use build::footprint;
pub use floodway_blueprint::bounds::dependencies::{BufferCycle, Dependencies};
pub use floodway_blueprint::network::accounts::{Account, Accounts};
pub use floodway_blueprint::network::base_rtt::RoundTrips;
pub use floodway_blueprint::network::sizing::Need;
pub use floodway_blueprint::network::{blueprint, routing};
pub use floodway_blueprint::traffic::{dependencies, destinations, sizes};
pub use floodway_blueprint::{Blueprint, BuildError};
pub use floodway_engine::{RankLost, Transport, allocator, memory, panics, transport};
pub use floodway_records::outcome::{Amount, Control, Outcome, Records};
pub use floodway_records::table::{Column, Table, Values};
pub use floodway_records::{outcome, table};
pub use run::fabric::{Fabric, Traced};
pub use run::ranks::RankPlan;
pub use run::threads::{ThreadPlan, Threads};
pub use why::{Cause, CriticalPath, FlowRef, Part, PathPart, PathStep, PathTarget, Sent, Why};
