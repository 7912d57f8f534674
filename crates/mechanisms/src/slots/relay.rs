//! A bump in the wire: a two-port device on a link.

use floodway_units::Time;

use super::FcFrame;

/// A relay's ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Toward its own switch.
    Local,
    /// Toward the far end of the long link.
    Remote,
}

/// What to do with a flow-control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Apply it to the port it came in by.
    Obey,
    /// Send it out of the other port.
    Forward,
    /// Both, in this order.
    ObeyAndForward,
}

/// What a relay does with the flow-control frames that it receives.
pub trait Relay {
    /// A frame has arrived on `from`.
    fn on_frame(&mut self, now: Time, from: Side, frame: FcFrame) -> Disposition;
}
