//! The kinds of events.

/// What an event is; where ties are hashed, the order in which kinds of one instant and node happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum What {
    /// A link control frame arrives.
    LinkControl,
    /// A packet's last bit has left a switch, and somebody waits for that.
    Release,
    /// A port's transmitter is free and something waits.
    Departure,
    /// A packet arrives.
    Arrival,
    /// A packet leaves a switch's pipeline.
    Pipeline,
    /// Packets have crossed a switch from input to output, or others may start to.
    Crossing,
    /// A timer of a flow control's sender half.
    FcSender,
    /// A timer of a flow control's receiver half.
    FcReceiver,
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

impl What {
    pub const ALL: [What; 14] = [
        What::LinkControl,
        What::Release,
        What::Departure,
        What::Arrival,
        What::Pipeline,
        What::Crossing,
        What::FcSender,
        What::FcReceiver,
        What::CongestionPoint,
        What::Pacing,
        What::QueuePair,
        What::Receiver,
        What::Start,
        What::Fault,
    ];

    /// Its name in statistics.
    pub fn name(self) -> &'static str {
        match self {
            What::LinkControl => "link-control arrival",
            What::Release => "release",
            What::Departure => "departure",
            What::Arrival => "packet arrival",
            What::Pipeline => "pipeline",
            What::Crossing => "crossing",
            What::FcSender | What::FcReceiver => "flow-control timer",
            What::CongestionPoint => "congestion-point timer",
            What::Pacing => "pacing",
            What::QueuePair | What::Receiver => "queue-pair timer",
            What::Start => "flow start",
            What::Fault => "fault",
        }
    }

    /// Does it belong to a machine with an [`Armed`](super::Armed) timer that a number names?
    pub fn is_timer(self) -> bool {
        (What::FcSender..=What::Pacing).contains(&self)
    }
}
