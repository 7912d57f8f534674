//! Mechanisms written in Python: classes as mechanisms of the registry, and their objects as machines.

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
