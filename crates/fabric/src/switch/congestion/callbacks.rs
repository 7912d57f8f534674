//! Callbacks and actions of congestion points.

#[cfg(test)]
mod tests;

use floodway_mechanisms::slots::{
    Cnp, CongestionNotification, CongestionPoint, CpAction, Cx, FcFrame, FlowFilter, Mark, PortEvent,
    PortMessage, QueueView,
};
use floodway_units::{Bytes, FlowId, PortId, Quanta, Span, Time};

use crate::link::arena::PacketRef;
use crate::link::extra::Extra;
use crate::link::packet::{Kind, Packet};
use crate::network::layout::Local;
use crate::network::routing::peer;
use crate::records::signals::SignalLog;
use crate::run::at_node::AtNode;
use crate::run::own::{Timed, due_again};

/// A flow's addresses and ports in a congestion notification between neighbours (RCM's CN).
const FLOW_ID_BYTES: u64 = 13;

impl AtNode<'_, '_> {
    /// Marks a packet that the egress port class `port_class` sends or takes in.
    pub fn mark(&mut self, port_class: usize, packet_ref: PacketRef, mark: Mark) {
        if mark == Mark::None || !self.ctx.run.packets[packet_ref].takes_mark() {
            return;
        }
        let egress = &mut self.node.links.egress[port_class];
        match mark {
            Mark::Ue => egress.rare.ue_marks += 1,
            Mark::None | Mark::Ce => egress.counters.ecn_marks += 1,
        }
        self.ctx.run.packets[packet_ref].add_mark(mark);
        if self.ctx.run.kept.signals.is_some() {
            SignalLog::note_mark(&mut self.ctx, egress, packet_ref, mark);
        }
    }

    /// Calls the congestion points for a packet that starts on the wire; returns their mark.
    pub fn dequeued(&mut self, port: Local, q: usize, packet: &Packet) -> Mark {
        self.node.machines[port.index()].queueing.flow_leaves(packet.flow);
        if !self.node.switch.has_crossbar() {
            self.node.machines[port.index()].queueing.count_input(packet, false);
        }
        let (view, queue) =
            (self.node.links.packet_view(&self.ctx, packet), self.queue_view(port, q, packet));
        let own = &mut self.node.streams.congestion_point;
        let rng = self.ctx.run.shared_draws.as_mut().unwrap_or(own);
        let mut cx = Cx { now: Time(self.ctx.now), rng, out: &mut self.ctx.run.out.actions };
        let points = &mut self.node.machines[port.index()].congestion_points;
        let mark = points.iter_mut().map(|point| point.on_dequeue(&mut cx, &view, &queue)).max();
        self.after_congestion_points(port);
        mark.unwrap_or_default()
    }

    /// Asks the congestion points of a port whether the mark is cleared with which a packet of its `q`-th
    /// queue starts on the wire.
    pub fn clear_mark(&mut self, port: Local, q: usize, packet_ref: PacketRef) {
        let packet = self.ctx.run.packets[packet_ref];
        if !packet.is_data() || packet.mark() == Mark::None {
            return;
        }
        let (view, queue) =
            (self.node.links.packet_view(&self.ctx, &packet), self.queue_view(port, q, &packet));
        let rng = &mut self.node.streams.congestion_point;
        let mut cx = Cx { now: Time(self.ctx.now), rng, out: &mut self.ctx.run.out.actions };
        let mut cleared = false;
        for point in &mut self.node.machines[port.index()].congestion_points {
            cleared |= point.clears(&mut cx, &view, &queue);
        }
        if cleared {
            self.ctx.run.packets[packet_ref].clear_mark();
        }
        self.after_congestion_points(port);
    }

    /// A packet has come in by `ingress`: if it is a CNP, or a reply with that flag, the congestion points of
    /// the switch that demand it are called.
    #[inline(never)]
    pub fn cnp_passes(&mut self, ingress: Local, packet_ref: PacketRef) {
        let packet = self.ctx.run.packets[packet_ref];
        let path = &self.ctx.run.pairs.paths[packet.flow.index()];
        let is_cnp =
            packet.kind == Kind::Cnp || path.reads_flags && packet.is_answer() && packet.mark() != Mark::None;
        if !is_cnp {
            return;
        }
        let cnp = if packet.kind == Kind::Cnp { packet.cnp() } else { Cnp::of(packet.flow, packet.mark()) };
        let (flow_hash, source, destination) = (path.hash, path.tuple.source, path.tuple.destination);
        let ingress = self.node.links.id(ingress);
        for port in self.node.locals() {
            if self.node.machines[port.index()].observes_cnps {
                let event = PortEvent::CnpPasses { cnp: &cnp, flow_hash, source, destination, ingress };
                self.call_points(port, event);
                self.after_congestion_points(port);
                // A gate may have changed.
                self.try_transmit(port);
            }
        }
    }

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
        self.ask_again(port);
        self.flush_actions(port);
        SignalLog::note_states(&mut self.ctx, self.node, port);
        if self.ctx.run.is_traced() {
            self.each_trace(|trace, seen| trace.asks_held(seen, port));
        }
    }

    /// Reads the timers and the fast path of the congestion points of `port` again.
    pub fn ask_again(&mut self, port: Local) {
        self.node.machines[port.index()]
            .sync(&mut self.ctx.run.events, self.node.links.ports[port.index()].id);
        self.node.links.ports[port.index()].fast_path_up_to =
            self.node.machines[port.index()].fast_path_up_to();
    }

    /// Reports the packets that wait at `port` to machines that need them and are called from now on: all but
    /// `newest`, which makes its queue `len` bytes long, or all of them where the port is paused.
    fn report_waiting(&mut self, port: Local, newest: Option<(PacketRef, u64)>) {
        let mut points = std::mem::take(&mut self.node.machines[port.index()].congestion_points);
        let first = self.ctx.facts.layout.queue(port);
        for point in points.iter_mut().filter(|point| point.demands().waiting) {
            let passes = |bound: Bytes| newest.is_none_or(|(_, len)| len > bound.0);
            if !point.fast_path_up_to().is_some_and(passes) {
                continue;
            }
            for queue in &self.node.links.queues[first + 1..first + self.ctx.facts.layout.queues_per_port] {
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

    /// Calls the congestion points of `out` for a packet that has joined its `q`-th queue.
    pub fn enqueued(&mut self, out: Local, q: usize, port_class: usize, packet_ref: PacketRef) {
        let packet = self.ctx.run.packets[packet_ref];
        if !self.node.switch.has_crossbar() {
            // Where a pipeline is before a queue that may lose, it was noted when the packet was taken in.
            let queueing = &mut self.node.machines[out.index()].queueing;
            if !queueing.isolates() || self.node.switch.pipeline == 0 {
                queueing.flow_waits(q, packet.flow);
            }
            self.node.machines[out.index()].queueing.count_input(&packet, true);
            self.came_in(out, q, &packet);
        }
        let (view, queue) =
            (self.node.links.packet_view(&self.ctx, &packet), self.queue_view(out, q, &packet));
        if self.node.machines[out.index()].reports_waiting {
            self.report_waiting(out, Some((packet_ref, queue.len.0)));
        }
        let own = &mut self.node.streams.congestion_point;
        let rng = self.ctx.run.shared_draws.as_mut().unwrap_or(own);
        let mut cx = Cx { now: Time(self.ctx.now), rng, out: &mut self.ctx.run.out.actions };
        let points = &mut self.node.machines[out.index()].congestion_points;
        let mark = points.iter_mut().map(|point| point.on_enqueue(&mut cx, &view, &queue)).max();
        self.mark(port_class, packet_ref, mark.unwrap_or_default());
        self.after_congestion_points(out);
    }

    /// A packet has left its queue at `port` and will not be sent.
    pub fn removed(&mut self, port: Local, packet: &Packet) {
        if !self.node.links.ports[port.index()].has_cp {
            return;
        }
        if !self.node.switch.has_crossbar() {
            self.node.machines[port.index()].queueing.count_input(packet, false);
        }
        let view = self.node.links.packet_view(&self.ctx, packet);
        self.call_points(port, PortEvent::Removed(&view));
        self.after_congestion_points(port);
    }

    /// Calls the discipline that observes inputs for a packet that has arrived, for the `q`-th queue of
    /// `out`.
    pub fn came_in(&mut self, out: Local, q: usize, packet: &Packet) {
        if !self.node.machines[out.index()].queueing.observes_inputs() {
            return;
        }
        let (view, queue) = (self.node.links.packet_view(&self.ctx, packet), self.queue_view(out, q, packet));
        let rng = &mut self.node.streams.congestion_point;
        let mut cx = Cx { now: Time(self.ctx.now), rng, out: &mut self.ctx.run.out.actions };
        if let Some(discipline) = self.node.machines[out.index()].discipline_mut() {
            discipline.on_input(&mut cx, &view, &queue);
        }
        self.after_congestion_points(out);
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
                    SignalLog::note_cnp(&mut self.ctx, &mut self.node.links, port, &cnp);
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
        SignalLog::note_cn(&mut self.ctx, &mut self.node.links, (port, ingress), &cn);
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
    pub fn pause_changed(&mut self, port: Local, port_class: usize, paused: bool) {
        let class = self.ctx.facts.layout.class_of(port_class);
        let first = self.ctx.facts.layout.queue(port);
        let len = (1..self.ctx.facts.layout.queues_per_port)
            .filter(|&q| self.ctx.facts.layout.class_of_queue(q) == class)
            .map(|q| self.node.links.queues[first + q].bytes)
            .sum();
        let view = QueueView {
            port: self.node.links.id(port),
            class: self.ctx.facts.layout.classes[class as usize],
            sub: 0,
            len: Bytes(len),
            first: Bytes(self.node.links.queues[first + self.ctx.facts.layout.first_queue(class)].bytes),
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

    /// Calls the switch's congestion points before `ingress` pauses its upstream, or lets it go on.
    pub fn pause_sent(&mut self, ingress: Local) {
        if self.node.is_host() {
            return;
        }
        let upstream = self.ctx.facts.ports[peer(self.node.links.id(ingress)).index()].rate;
        let id = self.node.links.id(ingress);
        for frame in 0..self.ctx.run.out.frames.0.len() {
            let event = match self.ctx.run.out.frames.0[frame] {
                FcFrame::Pause { class, quanta: Quanta(0) } => PortEvent::ResumeSent { ingress: id, class },
                FcFrame::Pause { class, quanta } => {
                    PortEvent::PauseSent { ingress: id, class, lasts: quanta.span(upstream) }
                }
                FcFrame::Credit { .. } | FcFrame::CreditSet { .. } | FcFrame::Sent { .. } => continue,
            };
            for at in 0..self.node.switch.points.len() {
                let port = self.node.switch.points[at];
                self.call_points(port, event);
                self.ask_again(port);
                if !self.ctx.run.out.actions.0.is_empty() {
                    // Releases may make other receivers send their frames at once.
                    let frames = std::mem::take(&mut self.ctx.run.out.frames.0);
                    self.flush_actions(port);
                    self.ctx.run.out.frames.0 = frames;
                }
            }
        }
        if self.ctx.run.kept.signals.is_some() {
            SignalLog::note_all_states(&mut self.ctx, self.node);
        }
    }
}
