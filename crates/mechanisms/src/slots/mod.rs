//! The slots: traits of mechanisms, with their inputs, views and answers.
//!
//! The simulator notifies a mechanism of events by method calls with the time and plain values. It answers in
//! three ways only: a decision about the current packet is the return value; a message to another machine is
//! pushed into `cx.out`; the time of its next call is polled by `next_timeout`. It never reads an event, a
//! queue's contents, a topology or another mechanism.

#[macro_use]
mod hooks;

mod auto_or;
mod cells;
#[macro_use]
mod choice;
#[macro_use]
mod congestion;
#[macro_use]
mod discipline;
mod examples;
#[macro_use]
mod flow_control;
mod granter;
#[macro_use]
mod host;
#[macro_use]
mod link_retry;
mod messages;
mod relay;
mod report;
#[macro_use]
mod switch;

pub use auto_or::{OfPath, OrAuto, Sizing, Timeout, keyword_or, keyword_or_schema, keyword_or_table};
pub use cells::{WorstFrame, cycle_held, in_cells};
pub use choice::{
    Buffer, Detection, FlowControl, Notification, Reaction, Reliability, Repeats, Routing, Scheduling,
    SwitchShare,
};
pub use congestion::{
    Cnp, CongestionNotification, CongestionPoint, CpAction, Demands, FastPath, FlowFilter, Mark, PortEvent,
    PortInfo, PortMessage, SignalKind, Signals, most_closed,
};
pub use discipline::{Discipline, Meter, Queueing, Turn};
pub use flow_control::{FcFrame, FcReceiver, FcSender, Gate, IngressView, LinkInfo, PauseMode};
pub use granter::{Grant, Granter, HostInfo};
pub(crate) use host::counted_update;
pub use host::{
    AckView, Allowance, ControlMessage, IntHop, LossView, NotificationPoint, Observes, Products, QpInfo,
    ReactionPoint, Reply, Segment, TICKS, TransportReceiver, TransportSender,
};
pub use link_retry::{LinkRetry, RetryInfo, RetryReceiver, RetrySender, RetrySet};
pub use messages::{Messages, message_of};
pub use relay::{Disposition, Relay};
pub use report::{Backlog, Cut, Header, Query, Report, Reported, Room, Sample};
pub use switch::{
    Admission, Admit, BufferPlan, CrossbarPlan, Crossing, DropReason, FlowTuple, OutputPlan, PoolSize,
    PoolView, PortView, ReadyView, Router, Scheduler, SwitchInfo,
};

use floodway_units::{Bytes, Class, FlowId, PortId, Rate, Rng, Span, Time};

/// Given to every event handler.
pub struct Cx<'a, A> {
    /// The instant of the event.
    pub now: Time,
    /// The stream of this machine's node and purpose.
    pub rng: &'a mut Rng,
    /// Messages to others.
    pub out: &'a mut Outbox<A>,
}

impl<A> Cx<'_, A> {
    /// Sends `message` to its destination.
    #[inline]
    pub fn push(&mut self, message: A) {
        self.out.0.push(message);
    }
}

/// Messages to others; owned and reused by the fabric, so that a push does not allocate after warm-up.
#[derive(Debug)]
pub struct Outbox<A>(pub Vec<A>);

impl<A> Default for Outbox<A> {
    fn default() -> Self {
        Outbox(Vec::new())
    }
}

/// Properties of the current packet that a mechanism may read.
#[derive(Clone, Copy, Debug)]
pub struct PacketView {
    /// The flow it belongs to.
    pub flow: FlowId,
    /// Its own class, whatever queue it waits in.
    pub class: Class,
    /// Bytes as buffers hold it (the frame without preamble and gap).
    pub frame: Bytes,
    /// Bytes as the link carries it.
    pub wire: Bytes,
    /// May be marked CE rather than dropped.
    pub ecn_capable: bool,
    /// It answers data: an ACK or NAK that queues among data.
    pub is_reply: bool,
    /// It waits in a queue that may lose it, or comes from one at an earlier switch (CASL's isolation).
    pub isolated: bool,
    /// The most severe mark that it has got so far.
    pub mark: Mark,
    /// A hash of the flow's addresses and ports, the same at every switch.
    pub flow_hash: u64,
    /// Address of its sender: for data the flow's sender.
    pub source: u32,
    /// Address of its receiver.
    pub destination: u32,
    /// The port through which it arrived.
    pub ingress: PortId,
}

/// Properties of an egress queue that a mechanism may read.
#[derive(Clone, Copy, Debug)]
pub struct QueueView {
    /// The egress port.
    pub port: PortId,
    /// The class of the queue.
    pub class: Class,
    /// Index of the queue in its class, from 0 on.
    pub sub: u8,
    /// Bytes waiting in the queue.
    pub len: Bytes,
    /// Bytes waiting in the class's first queue.
    pub first: Bytes,
    /// Bytes of its class that came in by the packet's ingress and must still cross to this port: the input
    /// queue of an input-output queued switch; zero in others.
    pub voq: Bytes,
    /// The port's rate.
    pub rate: Rate,
    /// Paused by the downstream.
    pub paused: bool,
    /// Base round-trip time of the packet's flow.
    pub base_rtt: Span,
}

/// A parameter that a mechanism cannot work with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// The parameter, as it is spelled in a scenario.
    pub key: &'static str,
    /// The error and the allowed values.
    pub message: String,
}

impl ParamError {
    /// An error at `key`.
    pub fn new(key: &'static str, message: impl Into<String>) -> Self {
        ParamError { key, message: message.into() }
    }
}

/// A requirement of a mechanism, checked when a scenario is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// In-band telemetry stamped along the path.
    Int,
    /// The time of sending in data packets, which replies return.
    Timestamps,
    /// The largest base round-trip time and bandwidth-delay product of all pairs of hosts.
    Largest,
    /// Sizes of the paths' queues: [`QpInfo::full_rtt`], and of all pairs of hosts where `Largest` is needed
    /// too.
    Queues,
    /// Acknowledgements: a reliability other than none.
    Acks,
    /// A congestion point that marks packets.
    Marks,
    /// A congestion point that sends windows.
    Windows,
    /// Calls of all its machines in the order of time, on one thread: they share state.
    OneOrder,
    /// Messages between rate control and receiver: replies take the data's path in reverse, where a flow's
    /// path is fixed. A data packet carries either a message or telemetry.
    Messages,
}
