//! Congestion points: one machine per egress port, called for every event of its queues.

use borsh::{BorshDeserialize, BorshSerialize};
use floodway_units::{Bytes, Class, FlowId, PortId, Rate, Span, Time};

use super::{Cx, Discipline, Gate, PacketView, QueueView};

/// The mark that a congestion point sets in a packet; marks of several machines combine by maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default, BorshSerialize, BorshDeserialize)]
pub enum Mark {
    /// Nothing.
    #[default]
    None,
    /// Undetermined congestion encountered (TCD).
    Ue,
    /// Congestion experienced.
    Ce,
}

/// The signals of a congestion point, to senders and others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalKind {
    /// Packets marked CE, which receivers report.
    Marks,
    /// Packets marked UE, which receivers report.
    Undetermined,
    /// CNPs of its own.
    Cnps,
    /// Windows in them.
    Windows,
    /// How congested its port is ([`Signals`]), which routers read.
    Degrees,
}

/// A congestion notification packet to the source of a flow, with the values that its maker has set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cnp {
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

impl Cnp {
    /// A CNP that reports `mark` to the source of `flow`, and nothing else.
    pub fn of(flow: FlowId, mark: Mark) -> Self {
        Cnp { flow, mark, window: None, rate: None, degree: 0.0 }
    }
}

/// A congestion notification to the neighbour upstream, one hop (RCM's CN).
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub struct CongestionNotification {
    /// The class whose queues it is about.
    pub class: Class,
    /// Quantised degree of congestion; 0 means that the congestion has ended.
    pub degree: u8,
    /// How many of `flows` are named.
    pub count: u8,
    /// The harmful flows named.
    pub flows: [FlowId; 16],
}

impl CongestionNotification {
    /// Names `flows`; if there are too many, the first of them.
    pub fn new(class: Class, degree: u8, named: impl Iterator<Item = FlowId>) -> Self {
        let mut cn = CongestionNotification { class, degree, count: 0, flows: [FlowId(u32::MAX); 16] };
        for (place, flow) in cn.flows.iter_mut().zip(named) {
            *place = flow;
            cn.count += 1;
        }
        cn
    }

    /// The harmful flows named.
    pub fn named(&self) -> &[FlowId] {
        &self.flows[..usize::from(self.count)]
    }
}

/// One hop, to the neighbour that feeds this port, a switch or a host: a set of flows as a bitmap, which only
/// the two machines can read (BFC's Bloom filter).
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct FlowFilter {
    /// The class of its flows.
    pub class: Class,
    /// Bytes of the bitmap, from 1 to [`FlowFilter::LARGEST`]: the frame that carries it is longer by this
    /// number.
    pub bytes: u8,
    /// The bits, the lowest first.
    pub bits: [u64; 16],
}

impl FlowFilter {
    /// Bytes of the largest bitmap.
    pub const LARGEST: u8 = 128;

    /// An empty set.
    pub fn empty(class: Class, bytes: u8) -> Self {
        FlowFilter { class, bytes, bits: [0; 16] }
    }

    /// Is no bit set?
    pub fn is_empty(&self) -> bool {
        self.bits.iter().all(|word| *word == 0)
    }
}

/// From the machines of a port to those of a port of the same switch, without delay. The machines define the
/// meaning of the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortMessage {
    /// A class of data.
    pub class: Class,
    /// A flow, as [`PacketView::flow_hash`] names it, or a hash of it.
    pub flow: u64,
    /// A number about the flow.
    pub number: i64,
}

/// Messages and requests of a congestion point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CpAction {
    /// A CNP made here, to the source of the flow it names.
    ToSource(Cnp),
    /// One hop upstream, out of the named ingress.
    ToUpstream(PortId, CongestionNotification),
    /// One hop upstream, out of the named ingress, to a host, too.
    FilterUpstream(PortId, FlowFilter),
    /// To the machines of the named port of this switch, which may be the port itself: they are called at
    /// once.
    ToPort(PortId, PortMessage),
    /// To the port itself, from its discipline: flows of a class should wait in other queues than before. The
    /// port calls [`Discipline::classify`] again for every packet that waits, and a flow's packets keep their
    /// order.
    Resort(Class),
}

/// Signals of a congestion point that routing and telemetry may read.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Signals {
    /// Degree of congestion.
    pub degree: f32,
    /// Congested here.
    pub local: bool,
    /// The downstream neighbour has notified it.
    pub remote: bool,
    /// Congestion so severe that other flows should take another path.
    pub severe: bool,
}

/// Bytes in the queue of a packet, itself included, up to which no callback of a congestion point runs for
/// it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FastPath {
    /// When it joins: `on_enqueue` would neither mark nor change anything, and a discipline would accept it.
    pub joining: Bytes,
    /// When it starts on the wire: likewise `on_dequeue`, and the gate of a discipline is open.
    pub leaving: Bytes,
}

impl FastPath {
    /// The same length for both.
    pub const fn up_to(length: Bytes) -> Self {
        FastPath { joining: length, leaving: length }
    }

    /// The length up to which nothing is done with a packet, neither when it joins nor when it leaves.
    pub fn either(self) -> Bytes {
        self.joining.min(self.leaving)
    }
}

/// The demands of a congestion point on its port, constant over its lifetime.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// It needs each waiting packet once a queue is longer than [`CongestionPoint::fast_path`]. When a
    /// packet joins a queue beyond that, or a queue of the port is paused, a [`PortEvent::Waiting`] comes for
    /// each packet that waits already, before the call that is due. For packets within the bound it may be
    /// called or not, as other machines of the port need it.
    pub waiting: bool,
    /// Time after a call for a packet during which it may still name the packet's flow in the messages that
    /// it sends: for that time the identifier belongs to no other flow, even if the flow has ended. By
    /// default it names only flows of the packets that it is called for.
    pub naming: Span,
    /// It may clear the mark of a packet that leaves: [`CongestionPoint::clears`]. Such a machine is called
    /// for every packet of its port, so it has no [`CongestionPoint::fast_path`].
    pub clears: bool,
    /// It is called for the CNPs that arrive at its switch on their way to senders: [`PortEvent::CnpPasses`].
    pub cnps: bool,
}

/// Events at an egress port other than packets that come and go.
#[derive(Clone, Copy, Debug)]
pub enum PortEvent<'a> {
    /// The class of this queue was paused by the downstream.
    Paused(&'a QueueView),
    /// That pause has ended, by a frame or by expiry.
    Resumed(&'a QueueView),
    /// This switch sends a pause to the upstream of one of its ports; all ports are called. If the arrival of
    /// a packet caused it: in a switch without a pipeline and without a crossbar the call follows
    /// `on_enqueue` of this packet; in others, where a packet is charged before it joins a queue, it precedes
    /// it.
    PauseSent {
        /// The port that the pause was sent out of.
        ingress: PortId,
        /// The class that is paused.
        class: Class,
        /// The duration in the frame. Where a pause lasts until a resume
        /// ([`PauseMode::OnOff`](super::PauseMode::OnOff)), `ResumeSent` ends it, however long that takes.
        lasts: Span,
    },
    /// This switch sends a resume to the upstream; none is sent where a pause expires by itself. If a
    /// departure caused it, the call follows `on_dequeue` of this packet.
    ResumeSent {
        /// The port that the frame was sent out of.
        ingress: PortId,
        /// The class that may send again.
        class: Class,
    },
    /// The packet has waited here since a time when the queue was below the bound of the machine
    /// ([`Demands::waiting`]).
    Waiting(&'a PacketView),
    /// The packet has left its queue and will not be sent: the link went down, or a watchdog discards the
    /// queue.
    Removed(&'a PacketView),
    /// The packets of a class have been sorted again, as [`CpAction::Resort`] asked for.
    Resorted {
        /// The class.
        class: Class,
        /// Bytes that now wait in each of its queues that the machine has asked for.
        queues: &'a [Bytes],
    },
    /// The neighbour downstream of this port has sent a congestion notification.
    CongestionNotification(&'a CongestionNotification),
    /// A CNP has arrived at this switch, on its way to the sender of a flow: a packet of its own, or the flag
    /// of a reply where the flow's rate control reads CNPs there. All ports of the switch whose machines
    /// demand it ([`Demands::cnps`]) are called before it is forwarded. CNPs made at this switch do not
    /// count.
    CnpPasses {
        /// The CNP.
        cnp: &'a Cnp,
        /// The hash of the flow's addresses and ports, as in [`PacketView`].
        flow_hash: u64,
        /// Address of the flow's sender, the destination of the CNP.
        source: u32,
        /// Address of the flow's receiver.
        destination: u32,
        /// The port that it came in by.
        ingress: PortId,
    },
    /// The downstream neighbour of this port has sent a filter.
    Filter(&'a FlowFilter),
    /// The machines of a port of this switch have sent this to those of this port.
    Message(&'a PortMessage),
}

/// The fixed values of an egress port when its congestion points are built.
#[derive(Clone, Copy, Debug)]
pub struct PortInfo {
    /// The port.
    pub port: PortId,
    /// Its rate.
    pub rate: Rate,
    /// Delay of its link.
    pub delay: Span,
    /// Rate of the incoming direction of its link.
    pub rate_in: Rate,
    /// Delay of the incoming direction of its link.
    pub delay_in: Span,
    /// The largest frame as buffers hold it.
    pub mtu: Bytes,
    /// The largest frame as the link carries it.
    pub wire: Bytes,
    /// Bytes of a link control frame on the link.
    pub control: Bytes,
    /// The largest base round-trip time of all pairs of hosts; zero where no mechanism of the run needs it
    /// ([`Need::Largest`](super::Need::Largest)).
    pub largest_rtt: Span,
}

hooks! {
    ($)
    /// One machine of an egress port.
    pub trait CongestionPoint => congestion_point for machines {
        /// Its demands on its port, from the start on.
        fn demands(&self) -> Demands {
            Demands::default()
        }

        /// The machine as the discipline of its port, where it is one; the answer is the same in each call.
        /// [`is_discipline!`](crate::is_discipline) writes this method and the next one.
        fn as_discipline(&self) -> Option<&dyn Discipline> {
            None
        }

        /// The same, to be called.
        fn as_discipline_mut(&mut self) -> Option<&mut dyn Discipline> {
            None
        }

        /// A hint for speed: for which packets no callback runs. Read again after every call; `None`, by
        /// default.
        fn fast_path(&self) -> Option<FastPath> {
            None
        }

        /// A hint for speed: it only marks packets. It sends nothing, has no timer, and what `fast_path`
        /// returns never changes, so that nothing has to be read again after a call; the answer is the same
        /// in each call.
        fn only_marks(&self) -> bool {
            false
        }

        /// The packet has joined the queue; `q` includes it.
        fn on_enqueue(&mut self, _cx: &mut Cx<'_, CpAction>, _p: &PacketView, _q: &QueueView) -> Mark {
            Mark::None
        }

        /// The packet starts on the wire; `q` no longer includes it.
        fn on_dequeue(&mut self, _cx: &mut Cx<'_, CpAction>, _p: &PacketView, _q: &QueueView) -> Mark {
            Mark::None
        }

        /// The packet starts on the wire with the mark in `p`, which its port may just have set: is it
        /// cleared? Called for marked packets of data after `on_dequeue` of all machines of the port, where
        /// `Demands::clears` is set.
        fn clears(&mut self, _cx: &mut Cx<'_, CpAction>, _p: &PacketView, _q: &QueueView) -> bool {
            false
        }

        /// Events at the port other than packets that come and go.
        fn on_event(&mut self, _cx: &mut Cx<'_, CpAction>, _event: PortEvent<'_>) {}

        /// When to call `on_timeout` next.
        fn next_timeout(&self) -> Option<Time> {
            None
        }

        /// The instant that `next_timeout` named has come.
        fn on_timeout(&mut self, _cx: &mut Cx<'_, CpAction>) {}

        /// The state of a queue, as results show it (`records.signals`); empty where there are no states.
        fn state(&self, _now: Time, _class: Class) -> &'static str {
            ""
        }

        /// The signals that others may read.
        fn signals(&self, _now: Time) -> Signals {
            Signals::default()
        }

        /// Does the port hold this flow as a harmful one?
        fn is_harmful(&self, _now: Time, _flow: FlowId) -> bool {
            false
        }
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
