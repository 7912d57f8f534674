//! Egress disciplines: how the packets of an egress port queue.
//!
//! Without one a port has a FIFO per class, and its scheduler chooses among classes. A discipline is one of
//! the congestion points of its port, which is called for packets and events as the others are, and decides
//! in addition which queue a packet joins, whether it is dropped on arrival, and which queue goes next.

use floodway_units::{Bytes, Class, QueueId, Rate, Rng, Time};

use super::{CongestionPoint, CpAction, Cx, DropReason, Gate, PacketView, PortInfo, QueueView, ReadyView};

/// The queues of a discipline, constant over its lifetime. A port has at most one discipline for data, and
/// one for metered messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queueing {
    /// Data wait in one queue per class.
    #[default]
    Fifo,
    /// Data wait in several queues per class. A flow stays in the queue where it has packets, so that its
    /// order is kept, until the discipline asks for [`CpAction::Resort`].
    Flows {
        /// Queues of each class, at least 2. All ports of a run have as many as the discipline with most,
        /// and those beyond a discipline's own number stay empty at its port.
        queues: u8,
        /// It observes the packets that come in by each port: [`Discipline::on_input`] is called, and views
        /// have the bytes that wait for this port by input ([`QueueView::voq`]), without a crossbar, too.
        inputs: bool,
    },
    /// Data wait in several queues per class, and each packet is classified by itself. The discipline keeps
    /// the order of a flow's packets; no crossbar may precede its queues.
    Packets {
        /// Queues of each class, as in `Flows`.
        queues: u8,
    },
    /// Data wait in two queues per class, by flow as in `Flows`, and the second is for packets that may be
    /// lost. Flow control does not affect its gate, and the packets that wait there are charged to no
    /// account: [`Discipline::admit`] alone bounds it. The packets are `isolated` at the next switch.
    Isolating,
    /// Metered messages ([`ControlMessage::metered`](super::ControlMessage)) wait in a queue of their own,
    /// at switches and at hosts; data wait as without this discipline, or as another one says.
    Metered(Meter),
}

impl Queueing {
    /// Queues that each class of data needs at the port.
    pub fn class_queues(&self) -> usize {
        match *self {
            Queueing::Fifo | Queueing::Metered(_) => 1,
            Queueing::Flows { queues, .. } | Queueing::Packets { queues } => usize::from(queues.max(2)),
            Queueing::Isolating => 2,
        }
    }

    /// The meter of a discipline of metered messages; `None` for one of data.
    pub fn meter(&self) -> Option<Meter> {
        if let Queueing::Metered(meter) = *self { Some(meter) } else { None }
    }
}

/// A limit on the metered messages of a port: a token bucket, and a queue in front of it. These messages are
/// sent before data, and after all other control packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meter {
    /// Their rate, of bytes on the wire.
    pub rate: Rate,
    /// How many bytes on the wire may leave at once after an idle period; a larger packet leaves when the
    /// bucket is full.
    pub burst: Bytes,
    /// How many packets may wait; one more is dropped.
    pub packets: u32,
}

/// The choice among the queues of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turn {
    /// The scheduler chooses, among these queues and those of other classes.
    #[default]
    Scheduler,
    /// The queue with this index in its class, whose gate is open. The scheduler chooses among classes.
    Queue(u8),
    /// No queue of the class sends.
    Nothing,
}

/// In the `impl` of [`CongestionPoint`](crate::slots::CongestionPoint) for a
/// [`Discipline`](crate::slots::Discipline): the methods by which its port finds it.
#[macro_export]
macro_rules! is_discipline {
    () => {
        fn as_discipline(&self) -> Option<&dyn $crate::slots::Discipline> {
            Some(self)
        }

        fn as_discipline_mut(&mut self) -> Option<&mut dyn $crate::slots::Discipline> {
            Some(self)
        }
    };
}

/// How an egress port queues its packets; one of its [congestion points](CongestionPoint), which says so by
/// `is_discipline!()`.
pub trait Discipline: CongestionPoint {
    /// Its queues.
    fn queueing(&self) -> Queueing;

    /// Before the run: the fixed values of all ports of the same switch or host, including this one. Called
    /// again where a machine is added to one of them.
    fn on_ports(&mut self, _ports: &[PortInfo]) {}

    /// The packet has come in and will leave by this port: `q.voq` includes it. With a crossbar the call
    /// precedes its joining of the queue. Called where [`Queueing::Flows`] has `inputs`.
    fn on_input(&mut self, _cx: &mut Cx<'_, CpAction>, _p: &PacketView, _q: &QueueView) {}

    /// The queue for the packet's flow, or with [`Queueing::Packets`] for the packet: an index below
    /// [`Queueing::class_queues`]. Not called where a class has one queue.
    fn classify(&mut self, _now: Time, _p: &PacketView) -> u8 {
        0
    }

    /// Whether to drop the packet on arrival, and why.
    fn admit(&mut self, _now: Time, _rng: &mut Rng, _p: &PacketView, _q: &QueueView) -> Option<DropReason> {
        None
    }

    /// May a queue of this port send?
    fn gate(&self, _now: Time, _q: QueueId) -> Gate {
        Gate::Open
    }

    /// Is this flow, which has something to send at this host, held? Hosts queue data in queue pairs; the
    /// answer changes in calls of `on_event` and `on_timeout` only.
    fn holds(&self, _now: Time, _class: Class, _flow_hash: u64) -> bool {
        false
    }

    /// The queue of a class that sends next: one of `ready`, which are all queues of the class that hold
    /// packets, in their order, with their gates. Called where classes have several queues; the answer must
    /// not depend on the number of calls.
    fn serve(&mut self, _now: Time, _ready: &[ReadyView]) -> Turn {
        Turn::Scheduler
    }
}
