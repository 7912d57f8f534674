//! Mechanisms written in Python: classes as mechanisms of the registry, and their objects as machines.
//!
//! Each call takes the interpreter's lock and then reads the object's decision. The first exception ends the
//! run and is passed to the caller that started it. Objects may share any state, so such a run has one thread
//! and one order of events (`Need::OneOrder`).

mod calls;
mod class;
mod congestion_point;
mod rate_control;
mod views;

pub use calls::{Fault, watched};
pub use class::parse_unit;
pub use congestion_point::register_congestion_point;
pub use rate_control::register_rate_control;
pub use views::{Ack, Cnp, Flow, Hop, Loss, Packet, Port, Queue, Sent};
