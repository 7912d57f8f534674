//! Virtual time: a queue of ordered events, runs cut into epochs, and partitions on threads.
//!
//! An event is a time and an order, both chosen by whoever makes it; together they are unique, so
//! that the order of events is total and owes nothing to the order of insertion. What an event
//! means is the caller's business.

mod epoch;
mod fetch;
mod lookahead;
pub mod memory;
mod parallel;
mod queue;
mod wheel;

pub use epoch::{Advance, EPOCH};
pub use fetch::{fetch, fetch_lines};
pub use lookahead::{Lookahead, NoDelay};
pub use parallel::{Partition, run_partitions};
pub use queue::{AHEAD, Event, Queue, sink};
