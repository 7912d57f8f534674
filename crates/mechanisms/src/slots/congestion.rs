//! Congestion points: one machine per egress port, which hears everything that its queues do.

use floodway_units::{Bytes, Class, FlowId, PortId, QueueId, Rate, Rng, Time};

use super::{Cx, DropReason, Gate, PacketView, QueueView};

/// What a congestion point writes into a packet; marks of several machines combine by maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Mark {
    /// Nothing.
    #[default]
    None,
    /// Undetermined congestion encountered (TCD).
    Ue,
    /// Congestion experienced.
    Ce,
}

/// To a flow's source: a CNP with whatever its maker put in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Notice {
    /// The flow.
    pub flow: FlowId,
    /// The mark that it reports.
    pub mark: Mark,
    /// The window to use.
    pub window: Option<Bytes>,
    /// The rate to use.
    pub rate: Option<Rate>,
    /// A weight.
    pub degree: f32,
}

/// One hop, to the neighbour that feeds this port (RCM's CN).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RegionNotice {
    /// Quantised degree of congestion.
    pub degree: u8,
    /// How many of `flows` are named.
    pub count: u8,
    /// The culprits.
    pub flows: [FlowId; 16],
}

/// What a congestion point sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CpAction {
    /// A CNP made here, to the source of the flow it names.
    ToSource(Notice),
    /// One hop upstream, out of the named ingress.
    ToUpstream(PortId, RegionNotice),
}

/// What routing and telemetry may read of a congestion point.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Signals {
    /// Degree of congestion.
    pub degree: f32,
    /// Congested here.
    pub local: bool,
    /// Told by the neighbour downstream.
    pub remote: bool,
}

/// A hook that only one machine of a port may own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Chooses the queue.
    Classify,
    /// Drops on arrival.
    Admit,
    /// Holds queues back.
    Gate,
}

/// What is fixed about an egress port when its congestion points are built.
#[derive(Clone, Copy, Debug)]
pub struct PortInfo {
    /// The port.
    pub port: PortId,
    /// Its rate.
    pub rate: Rate,
    /// The largest frame as buffers hold it.
    pub mtu: Bytes,
}

/// One machine of an egress port.
pub trait CongestionPoint {
    /// The hooks that it needs for itself.
    fn claims(&self) -> &'static [Claim] {
        &[]
    }

    /// Where the packet's flow should wait.
    fn classify(&mut self, _now: Time, p: &PacketView) -> QueueId {
        QueueId { class: p.class, sub: 0 }
    }

    /// Whether to drop the packet, and why.
    fn admit(&mut self, _now: Time, _rng: &mut Rng, _p: &PacketView, _q: &QueueView) -> Option<DropReason> {
        None
    }

    /// May a queue of this port send?
    fn gate(&self, _now: Time, _q: QueueId) -> Gate {
        Gate::Open
    }

    /// A hint for speed: with no more bytes than this in its queue, itself included, a packet passes unheard. `admit`
    /// takes it, `gate` is open, `on_enqueue` and `on_dequeue` mark, say and change nothing, whatever came
    /// before. Asked once; none, by default.
    fn quiet_up_to(&self) -> Option<Bytes> {
        None
    }

    /// The packet has joined the queue; `q` includes it.
    fn on_enqueue(&mut self, _cx: &mut Cx<'_, CpAction>, _p: &PacketView, _q: &QueueView) -> Mark {
        Mark::None
    }

    /// The packet starts on the wire; `q` no longer includes it.
    fn on_dequeue(&mut self, _cx: &mut Cx<'_, CpAction>, _p: &PacketView, _q: &QueueView) -> Mark {
        Mark::None
    }

    /// This queue was paused by its downstream.
    fn on_paused(&mut self, _now: Time, _q: &QueueView) {}

    /// The pause has ended, by frame or by expiry.
    fn on_resumed(&mut self, _now: Time, _q: &QueueView) {}

    /// This switch has paused the upstream of `ingress`.
    fn on_pause_sent(&mut self, _now: Time, _ingress: PortId, _class: Class) {}

    /// The neighbour downstream of this port has sent word.
    fn on_notice(&mut self, _cx: &mut Cx<'_, CpAction>, _n: &RegionNotice) {}

    /// When to call `on_timeout` next.
    fn next_timeout(&self) -> Option<Time> {
        None
    }

    /// The instant that `next_timeout` named has come.
    fn on_timeout(&mut self, _cx: &mut Cx<'_, CpAction>) {}

    /// What others may read.
    fn signals(&self) -> Signals {
        Signals::default()
    }

    /// Is this flow one that the port holds back?
    fn is_culprit(&self, _flow: FlowId) -> bool {
        false
    }
}

/// The most closed of two gates.
pub fn most_closed(a: Gate, b: Gate) -> Gate {
    match (a, b) {
        (Gate::Closed, _) | (_, Gate::Closed) => Gate::Closed,
        (Gate::Until(a), Gate::Until(b)) => Gate::Until(a.max(b)),
        (Gate::Until(end), Gate::Open) | (Gate::Open, Gate::Until(end)) => Gate::Until(end),
        (Gate::Open, Gate::Open) => Gate::Open,
    }
}
