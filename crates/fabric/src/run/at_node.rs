//! A node and the event executed there: the state that the event may change.
//!
//! `AtNode` has one node to change, `Facts` to read, which never change while nodes are processed, and the
//! thread's `Run`: packets and queue pairs by their ids, traffic sources, pending events, and the records,
//! which affect no decision. So the compiler guarantees that no event changes the ports or accounts of
//! another node.

use std::mem;

use floodway_engine::Event;
use floodway_units::{Bytes, PortId};

use crate::link::arena::PacketRef;
use crate::run::ctx::Ctx;
use crate::run::events::{EventKind, NUMBER_SHIFT};
use crate::run::node::Node;
use crate::why::seen::Seen;
use crate::why::trace::Trace;

/// One node while an event of it is executed. It may change the node's state and send events to others; of
/// the rest of the network it sees only what never changes during a window.
pub(crate) struct AtNode<'w, 'a> {
    pub ctx: Ctx<'w, 'a>,
    pub node: &'w mut Node,
    /// The nodes before it and after it, for `floodway why` alone, whose runs have them.
    pub others: Option<[&'w [Node]; 2]>,
}

impl<'a> AtNode<'_, 'a> {
    /// Calls something for each flow that is followed, with what is to be seen of the run.
    #[cold]
    pub fn each_trace(&mut self, mut call: impl FnMut(&mut Trace, &Seen<'_, 'a>)) {
        let mut traces = mem::take(&mut self.ctx.run.traces);
        let Ctx { now, facts, run, .. } = &self.ctx;
        let seen = Seen { now: *now, facts, run, node: self.node, others: self.others };
        for trace in &mut traces {
            call(trace, &seen);
        }
        self.ctx.run.traces = traces;
    }

    /// Executes the arrival or the departure of a packet that was sent from `port`.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn dispatch_move(&mut self, event: Event, kind: EventKind, port: PortId) {
        self.set_current(event);
        self.ctx.run.kept.counts[kind as usize] += 1;
        if kind == EventKind::Arrival {
            self.arrive(arriving(event));
        } else {
            self.depart(self.ctx.facts.local(port));
        }
    }

    /// The event is the current one.
    #[inline]
    fn set_current(&mut self, event: Event) {
        (self.ctx.now, self.ctx.order) = (event.time.0, event.order);
        if cfg!(debug_assertions) {
            self.ctx.run.kept.standstill.count(self.ctx.now);
        }
        let number = event.order >> NUMBER_SHIFT;
        self.ctx.run.kept.instants.pass(self.ctx.now, number, self.ctx.run.events.last_number());
    }

    /// Executes an event of the node, where events of several nodes follow one another.
    #[inline(never)]
    pub fn dispatch(&mut self, event: Event) {
        match self.ctx.run.events.moves(event.order) {
            Some((kind, port)) => self.dispatch_move(event, kind, port),
            None => self.dispatch_other(event),
        }
    }

    /// Executes what is neither the arrival nor the departure of a packet.
    #[inline(never)]
    pub fn dispatch_other(&mut self, event: Event) {
        self.set_current(event);
        let (kind, id) = self.ctx.run.events.decode(event.order);
        self.ctx.run.kept.counts[kind as usize] += 1;
        match kind {
            EventKind::LinkControl => self.link_control_arrives(arriving(event)),
            EventKind::Release => {
                self.apply_releases();
            }
            EventKind::Pipeline => self.leave_pipeline(),
            EventKind::Crossing => self.crossbar_wakes(),
            EventKind::Drain => self.leaves_receive_buffer(self.ctx.facts.local(PortId(id))),
            EventKind::FcSender => self.fc_sender_timer(self.ctx.facts.local_port_class(id), event.order),
            EventKind::FcReceiver => self.fc_receiver_timer(self.ctx.facts.local_port_class(id), event.order),
            EventKind::LinkRetry => self.retry_timer(event.order),
            EventKind::CongestionPoint => self.cp_timer(self.ctx.facts.local(PortId(id)), event.order),
            EventKind::Pacing => self.pacing_timer(self.ctx.facts.local(PortId(id)), event.order),
            EventKind::QueuePair => self.qp_timer(event.order),
            EventKind::Receiver => self.receiver_timer(event.order),
            EventKind::Start => {
                self.start_flow(id);
                if self.ctx.run.events.by_node().is_some() {
                    self.try_transmit_started();
                }
            }
            // The two of packets are above; a fault is a step of the whole network.
            EventKind::Arrival | EventKind::Departure | EventKind::Fault => {}
        }
    }
}

/// The packet of an event of arrival.
#[allow(unsafe_code, reason = "an event's item is a packet's address")]
fn arriving(event: Event) -> PacketRef {
    // SAFETY: `Events::push_arrival` alone adds arrivals, with the packet's reference; and the packet belongs
    // to the node where it arrives.
    unsafe { PacketRef::of(event.item) }
}

/// Bytes as an account holds them.
pub(crate) fn bytes(value: u64) -> Bytes {
    Bytes(value)
}
