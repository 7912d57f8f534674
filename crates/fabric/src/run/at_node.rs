//! A node and the event executed there: the state that the event may change.
//!
//! `At` has one node to change, `Facts` to read, which never change while nodes are processed, and the
//! thread's `Run`: packets and queue pairs by their ids, traffic sources, pending events, and the records,
//! which affect no decision. So the compiler guarantees that no event changes the ports or accounts of
//! another node; and that the code of hosts (`AtHost`) sees no switch, and that of switches (`AtSwitch`) no
//! host. What both do alike is written once, for any [`Device`].

use std::mem;

use floodway_blueprint::network::blueprint::PauseFault;
use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_engine::Event;
use floodway_mechanisms::slots::{DropReason, PauseMode};
use floodway_units::{Bytes, PortId};

use crate::host::nics::Host;
use crate::link::arena::PacketRef;
use crate::link::packet::Packet;
use crate::run::ctx::Ctx;
use crate::run::device::Device;
use crate::run::events::{EventKind, NUMBER_SHIFT};
use crate::run::node::{AnyDevice, Node, NodeCore, Sight};
use crate::switch::forward::Switch;
use crate::why::seen::Seen;
use crate::why::trace::Trace;

/// One node while an event of it is executed. It may change the node's state and send events to others; of
/// the rest of the network it sees only what never changes during a window.
pub(crate) struct At<'w, 'a, D> {
    pub ctx: Ctx<'w, 'a>,
    pub node: &'w mut NodeCore,
    pub device: &'w mut D,
    /// The nodes before it and after it, for `floodway why` alone, whose runs have them.
    pub others: Option<[&'w [Node]; 2]>,
}

/// A host while an event of it is executed.
pub(crate) type AtHost<'w, 'a> = At<'w, 'a, Host>;

/// A switch while an event of it is executed.
pub(crate) type AtSwitch<'w, 'a> = At<'w, 'a, Switch>;

/// A host or a switch while an event of it is executed.
pub(crate) enum AtNode<'w, 'a> {
    Host(AtHost<'w, 'a>),
    Switch(AtSwitch<'w, 'a>),
}

/// Whatever the node is, the same.
macro_rules! at_either {
    ($either:expr, $at:pat => $what:expr) => {
        match $either {
            AtNode::Host($at) => $what,
            AtNode::Switch($at) => $what,
        }
    };
}

impl<'w, 'a> AtNode<'w, 'a> {
    #[inline]
    pub fn new(ctx: Ctx<'w, 'a>, node: &'w mut Node, others: Option<[&'w [Node]; 2]>) -> Self {
        let (node, device) = node.split();
        match device {
            AnyDevice::Host(device) => AtNode::Host(At { ctx, node, device, others }),
            AnyDevice::Switch(device) => AtNode::Switch(At { ctx, node, device, others }),
        }
    }

    /// What any node has, and the run.
    pub fn core(self) -> (Ctx<'w, 'a>, &'w mut NodeCore) {
        at_either!(self, at => (at.ctx, at.node))
    }

    /// Executes the node's events of a window; how many there were.
    #[expect(clippy::inline_always, reason = "once a node and window: 0.5 % of a packet-hop")]
    #[inline(always)]
    pub fn visit(self) -> u64 {
        at_either!(self, mut at => at.visit())
    }

    /// Executes an event of the node, where events of several nodes follow one another.
    #[inline]
    pub fn dispatch(self, event: Event) {
        at_either!(self, mut at => at.dispatch(event));
    }

    /// Executes the arrival or the departure of a packet that was sent from `port`.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn dispatch_move(self, event: Event, kind: EventKind, port: PortId) {
        at_either!(self, mut at => at.dispatch_move(event, kind, port));
    }

    /// Lets a port transmit that may have something to send.
    pub fn try_transmit(self, port: Local) {
        at_either!(self, mut at => at.try_transmit(port));
    }

    /// Releases what has left by now.
    pub fn apply_releases(self) {
        at_either!(self, mut at => at.apply_releases());
    }

    /// All that waits to be sent out of a port is lost.
    pub fn discard_waiting(self, port: Local) {
        at_either!(self, mut at => at.discard_waiting(port));
    }

    /// Both halves of a link's flow controls start in their initial state.
    pub fn reset(self, port: Local) {
        at_either!(self, mut at => at.reset(port));
    }

    /// Packets that have arrived at `rx` and wait to be sent again are lost.
    pub fn lose_on_link(self, rx: Local, lost: &[PacketRef], reason: DropReason) {
        at_either!(self, mut at => at.lose_on_link(rx, lost, reason));
    }

    /// A packet is lost; `port_class` is the ingress account that it came by.
    pub fn drop_packet(self, port_class: LocalPortClass, packet: &Packet, reason: DropReason) {
        at_either!(self, mut at => at.drop_packet(port_class, packet, reason));
    }

    /// Sends a pause; when to refresh it or to end it, if it does not end now.
    pub fn force_pause(self, port: Local, pause: PauseFault, mode: PauseMode) -> Option<u64> {
        at_either!(self, mut at => at.force_pause(port, pause, mode))
    }
}

impl<'a, D: Device> At<'_, 'a, D> {
    /// Calls something for each flow that is followed, with what is to be seen of the run.
    #[cold]
    pub fn each_trace(&mut self, mut call: impl FnMut(&mut Trace, &Seen<'_, 'a>)) {
        let mut traces = mem::take(&mut self.ctx.run.traces);
        let Ctx { now, facts, run, .. } = &self.ctx;
        let node = Sight { core: self.node, switch: self.device.as_switch() };
        let seen = Seen { now: *now, facts, run, node, others: self.others };
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
        if self.device.holds_output() {
            self.apply_releases();
        }
        let (kind, id) = self.ctx.run.events.decode(event.order);
        self.ctx.run.kept.counts[kind as usize] += 1;
        match kind {
            EventKind::LinkControl => self.link_control_arrives(arriving(event)),
            EventKind::Release => {
                self.apply_releases();
            }
            EventKind::FcSender => self.fc_sender_timer(self.ctx.facts.local_port_class(id), event.order),
            EventKind::FcReceiver => self.fc_receiver_timer(self.ctx.facts.local_port_class(id), event.order),
            EventKind::LinkRetry => self.retry_timer(event.order),
            EventKind::CongestionPoint => self.cp_timer(self.ctx.facts.local(PortId(id)), event.order),
            EventKind::Pipeline
            | EventKind::Crossing
            | EventKind::Drain
            | EventKind::Pacing
            | EventKind::QueuePair
            | EventKind::Receiver
            | EventKind::Start => D::executes(self, kind, id, event.order),
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

#[cfg(test)]
mod tests {
    use floodway_records::standstill::Standstill;
    use floodway_units::Span;

    use crate::testing::at_busy;

    #[test]
    fn a_run_counts_its_events() {
        at_busy(Span::us(40), |world| {
            let Standstill { now, events } = world.runs.own.kept.standstill;
            assert!(now > Span::us(30).0 && now < Span::us(40).0 && events > 0, "{events} events at {now}");
        });
    }
}
