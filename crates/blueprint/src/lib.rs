//! What is to be simulated: the plain values that go into a simulation, and what follows from them alone.
//!
//! A [`Blueprint`] is the one input of a run. From it follow, before anything moves: whether it can be built,
//! routes, paths, round-trip times, shares of buffers, numbers of ports and queues, groups of nodes, changes
//! at known times, ideal completion times, and where deadlocks are possible. Facts do not change while a
//! network runs, but for delays of links ([`Facts`](network::facts::Facts)); of routes that failures change,
//! each thread has its own. The columns that nodes own are here, too, since their indices are the layout's
//! ([`mod@column`]).

#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "numbers of tests are small"))]

pub mod bounds;
pub mod column;
pub mod error;
pub mod network;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod traffic;

pub use error::BuildError;
pub use network::blueprint::Blueprint;

/// Never, in picoseconds.
pub const NEVER: u64 = u64::MAX;
