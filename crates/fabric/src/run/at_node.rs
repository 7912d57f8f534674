//! A node and the event at work: what that event may change.

use floodway_engine::Event;
use floodway_units::{Bytes, PortId, Time};

use crate::link::arena::PacketRef;
use crate::network::facts::Facts;
use crate::network::layout::Local;
use crate::run::agenda::{NUMBER_SHIFT, What};
use crate::run::node::{Node, NodeMut};
use crate::run::state::Run;

/// One node while an event of it happens. It may change what is the node's own, and say what concerns others: of the
/// network it knows only what never changes while nodes are at work.
pub(crate) struct AtNode<'w, 'a> {
    pub now: u64,
    /// Order of the event at work.
    pub order: u64,
    pub node: NodeMut<'w>,
    pub facts: &'w Facts<'a>,
    pub run: &'w mut Run<'a>,
    /// The nodes before it and after it, for who asks why: nobody else looks at them.
    pub others: [&'w [Node]; 2],
}

impl AtNode<'_, '_> {
    #[inline]
    pub fn time(&self) -> Time {
        Time(self.now)
    }

    /// What the network calls a port.
    #[inline]
    pub fn id(&self, port: Local) -> PortId {
        self.node.ports.known(port.index()).id
    }

    /// Is a step of the whole network at work, which comes last of its instant, and not an event of the node?
    pub fn is_step(&self) -> bool {
        !self.run.events.is_numbered() && self.run.events.decode(self.order).0 == What::Fault
    }

    /// An event of the node happens.
    #[inline]
    pub fn dispatch(&mut self, event: Event) {
        self.now = event.time.0;
        self.order = event.order;
        let number = event.order >> NUMBER_SHIFT;
        self.run.kept.instants.pass(self.now, number, self.run.events.last_number());
        match self.run.events.moves(event.order) {
            Some((What::Arrival, _)) => {
                self.run.kept.counts[What::Arrival as usize] += 1;
                self.arrive(PacketRef::of(event.item));
            }
            Some((_, port)) => {
                self.run.kept.counts[What::Departure as usize] += 1;
                self.depart(self.facts.local(port));
            }
            None => self.dispatch_other(event),
        }
    }

    /// As [`AtNode::dispatch`], of what is neither the arrival nor the departure of a packet.
    #[inline(never)]
    fn dispatch_other(&mut self, event: Event) {
        let (what, id) = self.run.events.decode(event.order);
        self.run.kept.counts[what as usize] += 1;
        match what {
            What::LinkControl => self.link_control_arrives(PacketRef::of(event.item)),
            What::Release => {
                self.apply_releases();
            }
            What::Pipeline => self.leave_pipeline(),
            What::Crossing => self.crossbar_wakes(),
            What::FcSender => self.fc_sender_timer(self.facts.local_port_class(id), event.order),
            What::FcReceiver => self.fc_receiver_timer(self.facts.local_port_class(id), event.order),
            What::CongestionPoint => self.cp_timer(self.facts.local(PortId(id)), event.order),
            What::Pacing => self.pacing_timer(self.facts.local(PortId(id)), event.order),
            What::QueuePair => self.qp_timer(event.order),
            What::Receiver => self.receiver_timer(event.order),
            What::Start => {
                self.start_flow(id);
                if self.run.events.by_node().is_some() {
                    self.try_transmit_started();
                }
            }
            // The two of packets are above; a fault is a step of the whole network.
            What::Arrival | What::Departure | What::Fault => {}
        }
    }
}

/// Bytes as an account holds them.
pub(crate) fn bytes(value: u64) -> Bytes {
    Bytes(value)
}
