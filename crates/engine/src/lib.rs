//! Virtual time: a queue of ordered events, runs divided into epochs, and a barrier for threads.
//!
//! An event is a time and an order, both chosen by its creator; together they are unique, so
//! that the order of events is total and owes nothing to the order of insertion. What an event
//! means is the caller's business.

mod barrier;
mod epoch;
mod fetch;
pub mod memory;
pub mod panics;
mod queue;
mod wheel;

pub use barrier::{Barrier, BarrierGuard};
pub use epoch::{Advance, EPOCH, end_of_epoch};
pub use fetch::{fetch, fetch_at, fetch_lines};
pub use queue::{AHEAD, Event, Queue, sink};
