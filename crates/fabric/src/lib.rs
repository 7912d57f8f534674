//! The simulated network: packets, links, ports, switches and hosts, which drive mechanisms inside an engine.
//!
//! A [`Blueprint`] of plain values goes in, [`Records`] of columns come out. No mechanism's name appears
//! here: what a queue, a port or a queue pair does beyond moving packets is asked of its slot.

#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "numbers of tests are small"))]

mod bounds;
mod column;
mod error;
mod host;
mod link;
mod network;
mod pool;
mod records;
mod run;
mod switch;
#[cfg(test)]
mod testing;
mod traffic;
mod why;

pub use bounds::dependencies::{BufferCycle, Dependencies};
pub use error::BuildError;
pub use floodway_engine::{RankLost, Transport, allocator, memory, panics, transport};
pub use network::accounts::{Account, Accounts};
pub use network::base_rtt::RoundTrips;
pub use network::blueprint::Blueprint;
pub use network::sizing::Need;
pub use network::{blueprint, footprint, routing};
pub use records::outcome::{Amount, Control, Outcome, Records};
pub use records::table::{Column, Table, Values};
pub use records::{outcome, table};
pub use run::fabric::{Fabric, Traced};
pub use run::ranks::RankPlan;
pub use run::threads::{ThreadPlan, Threads};
pub use traffic::{dependencies, destinations, sizes};
pub use why::{Cause, CriticalPath, FlowRef, Part, PathPart, PathStep, PathTarget, Sent, Why};
