//! Units of the simulation: time, rates, sizes, identifiers and random streams.
//!
//! Every quantity is an exact integer in one fixed unit (picoseconds, bit/s, bytes), so that no result
//! depends on unintended rounding. All texts use one grammar (`"10us"`, `"400G"`, `"288KB"`, `"80km"`); see
//! [`text`].

#![cfg_attr(test, allow(clippy::cast_possible_truncation, reason = "numbers of tests are small"))]

mod bytes;
pub mod cast;
mod ids;
pub mod mrg32k3a;
mod names;
mod random;
mod rate;
mod tally;
pub mod text;
mod time;
mod turns;

pub use bytes::{Bytes, Length};
pub use ids::{Class, FlowId, LinkId, NodeId, PortId, QueueId};
pub use names::nearest;
pub use random::{Rng, fold, mix, name_key, stream, uniform};
pub use rate::{Quanta, Rate};
pub use tally::Tally;
pub use text::UnitError;
pub use time::{Span, Time, Until, relative_to};
pub use turns::Turns;
