//! Virtual time: a queue of ordered events, runs divided into epochs, and a barrier for threads.
//!
//! An event has a time and an order, both chosen by its creator. Together they are unique, so the order of
//! events is total and independent of the order of insertion. The caller defines the meaning of an event.

#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "numbers of tests are small"))]

pub mod allocator;
mod barrier;
mod epoch;
mod exchange;
mod fetch;
pub mod memory;
pub mod panics;
mod queue;
mod sync;
pub mod transport;
mod wheel;

pub use barrier::{Barrier, BarrierGuard};
pub use epoch::{Advance, EPOCH, end_of_epoch};
pub use exchange::Exchange;
pub use fetch::{fetch, fetch_at, fetch_lines};
pub use queue::{AHEAD, Event, Item, Queue, sink};
pub use transport::{RankLost, Transport};
