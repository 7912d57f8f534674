//! Callbacks and actions of congestion points.

#[cfg(test)]
mod tests;

use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_blueprint::network::routing::peer;
use floodway_mechanisms::slots::{
    Cnp, CongestionNotification, CongestionPoint, CpAction, Cx, DropReason, FastPath, FlowFilter, PortEvent,
    PortMessage, QueueView,
};
use floodway_units::{Bytes, FlowId, PortId, Span, Time};

use crate::link::arena::PacketRef;
use crate::link::extra::Extra;
use crate::link::packet::{Kind, Packet};
use crate::run::at_node::At;
use crate::run::device::Device;
use crate::run::own::{Timed, due_again};
use crate::switch::signals;

/// A flow's addresses and ports in a congestion notification between neighbours (RCM's CN).
const FLOW_ID_BYTES: u64 = 13;

impl<D: Device> At<'_, '_, D> {
    /// A timer of a congestion point has come.
    pub fn cp_timer(&mut self, port: Local, order: u64) {
        if !self.node.machines[port.index()].cp_timer.fires(Time(self.ctx.now), order) {
            return;
        }
        self.node.machines[port.index()].meter_wakes(self.ctx.time());
        let now = Time(self.ctx.now);
        let mut cx =
            Cx { now, rng: &mut self.node.streams.congestion_point, out: &mut self.ctx.run.out.actions };
        let mut still = None;
        for (i, point) in self.node.machines[port.index()].congestion_points.iter_mut().enumerate() {
            if point.next_timeout().is_some_and(|at| at <= now) {
                point.on_timeout(&mut cx);
                still =
                    still.or(due_again(point.is_custom(), || point.next_timeout(), now).map(|at| (i, at)));
            }
        }
        if let Some((i, at)) = still {
            self.ctx.refuse_timer(Timed::CongestionPoint(self.node.links.id(port), i), at);
        }
        self.after_congestion_points(port);
        // A gate may have opened.
        self.try_transmit(port);
    }

    /// Follows each call of congestion points of `port`: their timers, their fast path, and their actions.
    pub fn after_congestion_points(&mut self, port: Local) {
        if !self.node.machines[port.index()].only_marks {
            self.ask_again(port);
            self.flush_actions(port);
        }
        debug_assert!(self.ctx.run.out.actions.0.is_empty(), "one that only marks sends nothing");
        signals::note_states(&mut self.ctx, self.node, port);
        if self.ctx.run.is_traced() {
            self.each_trace(|trace, seen| trace.asks_held(seen, port));
        }
    }

    /// Reads the timers and the fast path of the congestion points of `port` again.
    pub fn ask_again(&mut self, port: Local) {
        self.node.machines[port.index()]
            .sync(&mut self.ctx.run.events, self.node.links.ports[port.index()].id);
        let state = &mut self.node.links.ports[port.index()];
        (state.joins_up_to, state.leaves_up_to) = self.node.machines[port.index()].fast_path();
    }

    /// Reports the packets that wait at `port` to machines that need them and are called from now on: all but
    /// `newest`, which makes its queue `len` bytes long, or all of them where the port is paused.
    pub(super) fn report_waiting(&mut self, port: Local, newest: Option<(PacketRef, u64)>) {
        let mut points = std::mem::take(&mut self.node.machines[port.index()].congestion_points);
        let queues = self.ctx.facts.layout.queues(port);
        for point in points.iter_mut().filter(|point| point.demands().waiting) {
            let passes = |bound: FastPath| newest.is_none_or(|(_, len)| len > bound.joining.0);
            if !point.fast_path().is_some_and(passes) {
                continue;
            }
            for queue in &self.node.links.queues[queues.data()] {
                let is_newest =
                    |packet_ref: &PacketRef| newest.is_some_and(|(newest, _)| newest == *packet_ref);
                for packet_ref in
                    queue.fifo.packet_refs(&self.ctx.run.packets).filter(|packet_ref| !is_newest(packet_ref))
                {
                    let view = self.node.links.packet_view(&self.ctx, &self.ctx.run.packets[packet_ref]);
                    let rng = &mut self.node.streams.congestion_point;
                    let mut cx = Cx { now: Time(self.ctx.now), rng, out: &mut self.ctx.run.out.actions };
                    point.on_event(&mut cx, PortEvent::Waiting(&view));
                }
            }
        }
        self.node.machines[port.index()].congestion_points = points;
    }

    /// A packet has left its queue at `port` and will not be sent.
    pub fn removed(&mut self, port: Local, packet: &Packet) {
        if !self.node.links.ports[port.index()].has_cp {
            return;
        }
        if !self.device.has_crossbar() {
            self.node.machines[port.index()].queueing.count_input(packet, false);
        }
        let view = self.node.links.packet_view(&self.ctx, packet);
        self.call_points(port, PortEvent::Removed(&view));
        self.after_congestion_points(port);
    }

    /// Calls the congestion points of `port` with an event there.
    pub fn call_points(&mut self, port: Local, event: PortEvent<'_>) {
        let rng = &mut self.node.streams.congestion_point;
        let mut cx = Cx { now: Time(self.ctx.now), rng, out: &mut self.ctx.run.out.actions };
        self.node.machines[port.index()].call(&mut cx, event);
    }

    /// Executes the actions of the congestion points of `port`.
    pub fn flush_actions(&mut self, port: Local) {
        if self.ctx.run.out.actions.0.is_empty() {
            return;
        }
        // Actions that follow from these go into a list of their own.
        let spare = self.ctx.run.out.spare_actions.pop().unwrap_or_default();
        let mut actions = std::mem::replace(&mut self.ctx.run.out.actions.0, spare);
        for action in actions.drain(..) {
            match action {
                CpAction::ToSource(cnp) => {
                    signals::note_cnp(&mut self.ctx, &mut self.node.links, port, &cnp);
                    self.notify_source(port, &cnp);
                }
                CpAction::ToUpstream(ingress, cn) => {
                    self.notify_upstream(port, self.ctx.facts.local(ingress), cn);
                }
                CpAction::FilterUpstream(ingress, filter) => {
                    self.send_filter(self.ctx.facts.local(ingress), filter);
                }
                CpAction::ToPort(to, message) => self.message_to_port(to, &message),
                CpAction::Resort(class) => self.resort(port, class),
            }
        }
        let mut spare = std::mem::replace(&mut self.ctx.run.out.actions.0, actions);
        spare.clear();
        self.ctx.run.out.spare_actions.push(spare);
    }

    /// A switch sends a CNP to the source of a flow.
    pub fn notify_source(&mut self, port: Local, cnp: &Cnp) {
        let mut packet = Packet::notifying(cnp, self.ctx.facts.format.cnp().frame);
        packet.ingress = port;
        self.ctx.run.pairs.count_on_path(cnp.flow, 1);
        self.ctx.run.kept.records.injected(u64::from(packet.frame));
        if let Some(out) = D::way_of(self, port, &packet) {
            let packet_ref = self.ctx.run.packets.add(packet);
            self.send_control(out, packet_ref);
        } else {
            let port_class = self.ctx.facts.layout.port_class(port, 0);
            self.drop_packet(port_class, &packet, DropReason::NoRoute);
        }
    }

    /// Passes a message of the machines of a port to those of another port of this node.
    fn message_to_port(&mut self, to: PortId, message: &PortMessage) {
        let is_here = self.ctx.facts.node_of(to) == self.node.id;
        debug_assert!(is_here, "a message is for a port of the same switch");
        if is_here {
            let to = self.ctx.facts.local(to);
            self.call_points(to, PortEvent::Message(message));
            self.after_congestion_points(to);
        }
    }

    /// Sends a congestion notification that a machine of `port` has made one hop, out of the port by which
    /// the neighbour's packets come in; hosts would not understand it.
    fn notify_upstream(&mut self, port: Local, ingress: Local, cn: CongestionNotification) {
        if !self.node.links.ports[ingress.index()].up
            || self.ctx.facts.ports[peer(self.node.links.id(ingress)).index()].at_host
        {
            return;
        }
        signals::note_cn(&mut self.ctx, &mut self.node.links, (port, ingress), &cn);
        self.send_to_neighbour(
            ingress,
            FLOW_ID_BYTES * u64::from(cn.count),
            Extra::CongestionNotification(cn),
        );
    }

    /// Sends a set of flows that a machine has made one hop, out of the port by which the neighbour's packets
    /// come in.
    fn send_filter(&mut self, ingress: Local, filter: FlowFilter) {
        if self.node.links.ports[ingress.index()].up {
            self.send_to_neighbour(ingress, u64::from(filter.bytes), Extra::Filter(filter));
        }
    }

    /// Sends a link control frame with `what`, in so many bytes more than the smallest one has.
    fn send_to_neighbour(&mut self, port: Local, more: u64, what: Extra) {
        let size = self.ctx.facts.format.link_control().frame + Bytes(more);
        let mut packet = Packet::new(Kind::Region, FlowId(u32::MAX), size);
        packet.at = self.ctx.now;
        let packet_ref = self.ctx.run.packets.add(packet);
        let extra = self.ctx.run.out.boxed(what);
        self.ctx.run.packets.attach(packet_ref, extra);
        self.node.links.queue_link_control(&mut self.ctx, port, packet_ref);
        self.try_transmit(port);
    }

    /// A message of the neighbour downstream to the machines of an egress port has arrived, or was lost on
    /// the link.
    pub fn neighbour_says(&mut self, port: Local, what: PortEvent<'_>, lost: bool) {
        if lost || !self.node.links.ports[port.index()].has_cp {
            return;
        }
        self.call_points(port, what);
        self.after_congestion_points(port);
        // A gate may have changed.
        self.try_transmit(port);
    }

    /// The class of `port_class` may not leave `port` any more, or may again.
    pub fn pause_changed(&mut self, port: Local, port_class: LocalPortClass, paused: bool) {
        let class = self.ctx.facts.layout.class_of(port_class);
        let queues = self.ctx.facts.layout.queues(port);
        let len = (1..self.ctx.facts.layout.queues_per_port)
            .filter(|&q| self.ctx.facts.layout.class_of_queue(q) == class)
            .map(|q| self.node.links.queues[queues.nth(q)].bytes)
            .sum();
        let view = QueueView {
            port: self.node.links.id(port),
            class: self.ctx.facts.layout.classes[class as usize],
            sub: 0,
            len: Bytes(len),
            first: Bytes(self.node.links.queues[queues.nth(self.ctx.facts.layout.first_queue(class))].bytes),
            voq: Bytes::ZERO,
            rate: self.node.links.rate(&self.ctx, port),
            paused,
            base_rtt: Span::ZERO,
        };
        if paused && self.node.machines[port.index()].reports_waiting {
            self.report_waiting(port, None);
        }
        self.call_points(port, if paused { PortEvent::Paused(&view) } else { PortEvent::Resumed(&view) });
        self.after_congestion_points(port);
    }
}
