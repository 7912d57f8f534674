//! A bump in the wire: a two-port device that a flow control puts at each end of its link.

use floodway_units::Span;

/// A device at each end of a link, its *local* port toward the switch or host at that end by a short cable, its
/// *remote* port at the link. It has ordinary queues and halves of flow control at both; what is its own is what
/// it does with the pauses that it receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relay {
    /// One-way delay of the cable between the device and its switch.
    pub cable: Span,
    /// What becomes of a pause that arrives on the local port.
    pub from_local: Disposition,
    /// What becomes of a pause that arrives on the remote port.
    pub from_remote: Disposition,
}

/// What a relay does with a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disposition {
    /// Apply it to the port that it came in by, as every port does.
    #[default]
    Obey,
    /// Send it out of the other port.
    Forward,
    /// Both, in this order.
    ObeyAndForward,
}

impl Disposition {
    /// Is it applied to the port that it came in by?
    pub fn obeys(self) -> bool {
        self != Disposition::Forward
    }

    /// Does it go on to the other port?
    pub fn forwards(self) -> bool {
        self != Disposition::Obey
    }
}
