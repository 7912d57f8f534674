//! A bump in the wire: a two-port device that a flow control puts at each end of its link.

use floodway_units::Span;

/// A device at each end of a link, its *local* port toward the switch or host at that end by a short cable,
/// its *remote* port at the link. It has ordinary queues and halves of flow control at both; it differs from
/// a switch only in its handling of the pauses that it receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relay {
    /// One-way delay of the cable between the device and its switch.
    pub cable: Span,
    /// Handling of a pause that arrives on the local port.
    pub from_local: Disposition,
    /// Handling of a pause that arrives on the remote port.
    pub from_remote: Disposition,
}

/// A relay's handling of a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disposition {
    /// Apply it to the port through which it arrived, as every port does.
    #[default]
    Obey,
    /// Send it out of the other port.
    Forward,
    /// Both, in this order.
    ObeyAndForward,
}

impl Disposition {
    /// Is it applied to the port through which it arrived?
    pub fn obeys(self) -> bool {
        self != Disposition::Forward
    }

    /// Is it forwarded to the other port?
    pub fn forwards(self) -> bool {
        self != Disposition::Obey
    }
}
