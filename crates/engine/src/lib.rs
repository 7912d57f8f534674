//! Virtual time: a queue of ordered events, runs cut into epochs, and threads that meet.
//!
//! An event is a time and an order, both chosen by whoever makes it; together they are unique, so
//! that the order of events is total and owes nothing to the order of insertion. What an event
//! means is the caller's business.

mod epoch;
mod fetch;
mod meeting;
pub mod memory;
mod queue;
mod wheel;

pub use epoch::{Advance, EPOCH, end_of_epoch};
pub use fetch::{fetch, fetch_at, fetch_lines};
pub use meeting::{Attending, Meeting};
pub use queue::{AHEAD, Event, Queue, sink};
