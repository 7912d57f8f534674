//! Callbacks of a switch's congestion points for packets that join their queues and leave them, and for
//! pauses that the switch sends.

use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_blueprint::network::routing::peer;
use floodway_mechanisms::slots::{Cnp, CongestionPoint, Cx, FcFrame, Mark, PortEvent};
use floodway_units::{Quanta, Time};

use crate::link::arena::PacketRef;
use crate::link::packet::{Kind, Packet};
use crate::run::at_node::AtSwitch;
use crate::run::device::Device as _;
use crate::switch::signals;

impl AtSwitch<'_, '_> {
    /// Calls the congestion points for a packet that starts on the wire, which they may mark; `port_class` is
    /// its class at the port.
    #[inline(never)]
    pub fn calls_for_leaving(
        &mut self,
        (port, q): (Local, usize),
        port_class: LocalPortClass,
        packet_ref: PacketRef,
    ) {
        let packet = self.ctx.run.packets[packet_ref];
        self.node.machines[port.index()].queueing.flow_leaves(packet.flow);
        if !self.device.has_crossbar() {
            self.node.machines[port.index()].queueing.count_input(&packet, false);
        }
        let (view, queue) =
            (self.node.links.packet_view(&self.ctx, &packet), self.queue_view(port, q, &packet));
        let own = &mut self.node.streams.congestion_point;
        let rng = self.ctx.run.shared_draws.as_mut().unwrap_or(own);
        let mut cx = Cx { now: Time(self.ctx.now), rng, out: &mut self.ctx.run.out.actions };
        let machines = &mut self.node.machines[port.index()];
        let marks =
            machines.congestion_points.iter_mut().map(|point| point.on_dequeue(&mut cx, &view, &queue));
        let (mark, clears) = (marks.max().unwrap_or_default(), machines.clears);
        self.after_congestion_points(port);
        self.mark(port_class, packet_ref, mark);
        if clears {
            self.clear_mark(port, q, packet_ref);
        }
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

    /// Calls the congestion points of `out` for a packet that has joined its `q`-th queue.
    pub fn enqueued(&mut self, out: Local, q: usize, port_class: LocalPortClass, packet_ref: PacketRef) {
        let packet = self.ctx.run.packets[packet_ref];
        if !self.device.has_crossbar() {
            // Where a pipeline is before a queue that may lose, it was noted when the packet was taken in.
            let queueing = &mut self.node.machines[out.index()].queueing;
            if !queueing.isolates() || self.device.pipeline == 0 {
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

    /// Calls the switch's congestion points before `ingress` pauses its upstream, or lets it go on.
    pub fn pause_sent(&mut self, ingress: Local) {
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
            for at in 0..self.device.points.len() {
                let port = self.device.points[at];
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
            signals::note_all_states(&mut self.ctx, self.node);
        }
    }

    /// Marks a packet that the egress port class `port_class` sends or takes in.
    pub fn mark(&mut self, port_class: LocalPortClass, packet_ref: PacketRef, mark: Mark) {
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
            signals::note_mark(&mut self.ctx, egress, packet_ref, mark);
        }
    }
}
