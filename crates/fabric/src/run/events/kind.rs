//! The kinds of events.

use floodway_records::kept::EVENT_KINDS;
use floodway_units::PortId;
use floodway_units::cast::low_u32;

use super::{Events, KIND_SHIFT};

/// What an event is; where ties are hashed, the order in which kinds of one instant and node happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum EventKind {
    /// A link control frame arrives.
    LinkControl,
    /// A packet's last bit has left a switch, and an account waits for that.
    Release,
    /// A port's transmitter is free and something waits.
    Departure,
    /// A packet arrives.
    Arrival,
    /// A packet leaves a switch's pipeline.
    Pipeline,
    /// Packets have crossed a switch from input to output, or others may start to.
    Crossing,
    /// A packet has left a NIC's receive buffer.
    Drain,
    /// A timer of a flow control's sender half.
    FcSender,
    /// A timer of a flow control's receiver half.
    FcReceiver,
    /// A timer of a link retry.
    LinkRetry,
    /// A timer of a congestion point.
    CongestionPoint,
    /// A queue pair's pacing time has come.
    Pacing,
    /// A timer of a queue pair.
    QueuePair,
    /// A timer of a queue pair's receiver.
    Receiver,
    /// A source starts a flow.
    Start,
    /// A link goes down or up, or a fault's pause begins, is refreshed or ends.
    Fault,
}

impl EventKind {
    pub const ALL: [EventKind; EVENT_KINDS] = [
        EventKind::LinkControl,
        EventKind::Release,
        EventKind::Departure,
        EventKind::Arrival,
        EventKind::Pipeline,
        EventKind::Crossing,
        EventKind::Drain,
        EventKind::FcSender,
        EventKind::FcReceiver,
        EventKind::LinkRetry,
        EventKind::CongestionPoint,
        EventKind::Pacing,
        EventKind::QueuePair,
        EventKind::Receiver,
        EventKind::Start,
        EventKind::Fault,
    ];

    /// Its name in statistics.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::LinkControl => "link-control arrival",
            EventKind::Release => "release",
            EventKind::Departure => "departure",
            EventKind::Arrival => "packet arrival",
            EventKind::Pipeline => "pipeline",
            EventKind::Crossing => "crossing",
            EventKind::Drain => "drain",
            EventKind::FcSender | EventKind::FcReceiver => "flow-control timer",
            EventKind::LinkRetry => "link-retry timer",
            EventKind::CongestionPoint => "congestion-point timer",
            EventKind::Pacing => "pacing",
            EventKind::QueuePair | EventKind::Receiver => "queue-pair timer",
            EventKind::Start => "flow start",
            EventKind::Fault => "fault",
        }
    }

    /// Does it belong to a machine with an [`Armed`](super::Armed) timer that a number names?
    pub fn is_timer(self) -> bool {
        (EventKind::FcSender..=EventKind::Pacing).contains(&self)
    }
}

impl Events {
    /// As [`Events::moves`], where events go node by node: ties are hashed there.
    #[inline]
    pub fn moves_hashed(order: u64) -> Option<(EventKind, PortId)> {
        moved(order >> KIND_SHIFT, PortId(low_u32(order)))
    }
}

/// A kind by its number and the port that it names, where it is the arrival or the departure of a packet.
#[inline]
pub(super) fn moved(kind: u64, port: PortId) -> Option<(EventKind, PortId)> {
    if kind == EventKind::Arrival as u64 {
        Some((EventKind::Arrival, port))
    } else {
        (kind == EventKind::Departure as u64).then_some((EventKind::Departure, port))
    }
}
