//! Flow control of a link: calls of its two halves, and transmission of their frames.
//!
//! A class of a port is paused while its flow control does not let the largest frame start: so it is for
//! credits and for pauses. A pause that a resume has ended has no further effect: the expiry of its timer
//! does nothing. Link control frames are sent before all other frames, or with
//! `link-control = "control-class"` in the queue of the control class, behind the ACKs that wait there.
//!
//! The releases that a receiver half waits for, and whether a sender half discards, are cached beside them at
//! each call: neither changes with time alone between calls.

use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_blueprint::network::routing::peer;
use floodway_mechanisms::registry::AnyFcReceiver;
use floodway_mechanisms::slots::{
    Cx, Disposition, FcFrame, FcReceiver as _, FcSender as _, IngressView, PortEvent,
};
use floodway_units::Time;

use crate::link::extra::Extra;
use crate::link::packet::Packet;
use crate::run::at_node::{At, bytes};
use crate::run::device::Device;
use crate::run::events::{EventKind, NEVER};
use crate::run::own::{Timed, due_again};

impl<D: Device> At<'_, '_, D> {
    /// Sends the frames that a flow control has just pushed out of `port`.
    pub fn flush_frames(&mut self, port: Local) {
        if self.ctx.run.out.frames.0.is_empty() {
            return;
        }
        if !self.node.links.ports.of(port).up {
            // They are not delivered, and both halves restart with the link.
            self.ctx.run.out.frames.0.clear();
            return;
        }
        let size = self.ctx.facts.format.link_control().frame;
        for i in 0..self.ctx.run.out.frames.0.len() {
            let frame = self.ctx.run.out.frames.0[i];
            let last = self.node.links.last_link_control(&self.ctx, port);
            let merged = last.is_some_and(|last| self.ctx.run.packets[last].merge(frame, self.ctx.now));
            if !merged {
                if let Some(draws) = &mut self.ctx.run.shared_draws {
                    draws.skip();
                }
                let packet_ref = self.ctx.run.packets.add(Packet::link_control(frame, size, self.ctx.now));
                self.node.links.queue_link_control(&mut self.ctx, port, packet_ref);
            }
        }
        self.ctx.run.out.frames.0.clear();
        self.try_transmit(port);
    }

    /// A link control frame has arrived at `port`: it concerns what the port sends, or receives.
    pub fn link_control(&mut self, port: Local, packet: Packet, extra: Option<Box<Extra>>, lost: bool) {
        if self.ctx.run.is_traced() {
            self.each_trace(|trace, seen| trace.pauses_received(seen, port, &packet, lost));
        }
        if let Some(extra) = extra {
            match &*extra {
                Extra::CongestionNotification(cn) => {
                    self.neighbour_says(port, PortEvent::CongestionNotification(cn), lost);
                }
                Extra::Filter(filter) => self.neighbour_says(port, PortEvent::Filter(filter), lost),
                Extra::Hops(_) | Extra::Message(_) | Extra::Header(_) | Extra::Report(_) => {}
            }
            return self.ctx.run.out.extras.push(extra);
        }
        if lost {
            return;
        }
        for frame in packet.frames() {
            let class = match frame {
                FcFrame::Pause { class, .. }
                | FcFrame::Credit { class, .. }
                | FcFrame::CreditSet { class, .. }
                | FcFrame::Sent { class, .. } => self.ctx.facts.layout.dense(class),
            };
            // A class that carries nothing in this run.
            if class == u8::MAX {
                continue;
            }
            let port_class = self.ctx.facts.layout.port_class(port, class);
            if matches!(frame, FcFrame::Sent { .. }) {
                // It counts frames that have still to come in, in place of damaged ones.
                if self.node.links.awaits_replays(port) {
                    continue;
                }
                self.with_receiver(port_class, port, |receiver, cx, view| receiver.on_frame(cx, frame, view));
                continue;
            }
            self.node.links.egress.of_mut(port_class).counters.pfc_rx += 1;
            if let (FcFrame::Pause { quanta, .. }, Some(log)) = (frame, &mut self.ctx.run.kept.pauses) {
                log.received(
                    (self.ctx.now, self.ctx.order),
                    self.node.links.egress.of(port_class).id as usize,
                    quanta.0 > 0,
                );
            }
            let onward = self.device.relays(port, class);
            if onward.is_some_and(|(disposition, _)| !disposition.obeys()) {
                self.hand_on(onward, frame);
                continue;
            }
            let mut cx = Cx {
                now: Time(self.ctx.now),
                rng: &mut self.node.streams.flow_control,
                out: &mut self.ctx.run.out.frames,
            };
            self.node.links.egress.of_mut(port_class).sender.on_frame(&mut cx, frame);
            self.flush_frames(port);
            self.sender_changed(port, port_class);
            self.hand_on(onward, frame);
        }
    }

    /// Sends a pause on out of a relay's other port.
    fn hand_on(&mut self, onward: Option<(Disposition, Local)>, frame: FcFrame) {
        if let (Some((disposition, other)), FcFrame::Pause { .. }) = (onward, frame)
            && disposition.forwards()
        {
            if self.ctx.run.is_traced() {
                self.each_trace(|trace, seen| trace.handed_on(seen, other, frame));
            }
            self.ctx.run.out.frames.0.push(frame);
            self.flush_frames(other);
        }
    }

    /// Calls the flow control's sender half for a frame of its class that starts.
    #[inline]
    pub fn sent(&mut self, port: Local, port_class: LocalPortClass, wire: u64) {
        if !self.node.links.egress.of(port_class).counts_sent {
            return;
        }
        let mut cx = Cx {
            now: Time(self.ctx.now),
            rng: &mut self.node.streams.flow_control,
            out: &mut self.ctx.run.out.frames,
        };
        self.node.links.egress.of_mut(port_class).sender.on_sent(&mut cx, bytes(wire));
        self.flush_frames(port);
        self.sender_changed(port, port_class);
    }

    /// The gate of a sender half may have changed: keeps the pause clock, calls the congestion points, and
    /// lets the port look again. A class is paused while its largest frame may not start, whether one waits
    /// or not.
    pub fn sender_changed(&mut self, port: Local, port_class: LocalPortClass) {
        let egress = self.node.links.egress.of_mut(port_class);
        self.ctx.run.events.renew(
            &mut egress.timer,
            egress.sender.next_timeout(),
            EventKind::FcSender,
            egress.id,
        );
        let now = Time(self.ctx.now);
        let open = egress.sender.gate(now, bytes(self.ctx.facts.largest_wire)).is_open(now);
        // A smaller frame may start all the same.
        let look = open || egress.counts_sent;
        let was_open = egress.paused_since == NEVER;
        let discards = egress.sender.discards(now);
        let (free, class) = (egress.sender.is_free(), self.ctx.facts.layout.class_of(port_class));
        let state = self.node.links.ports.of_mut(port);
        state.gates.free = state.gates.free & !(1 << class) | u16::from(free) << class;
        state.gates.discards = state.gates.discards & !(1 << class) | u16::from(discards) << class;
        let egress = self.node.links.egress.of_mut(port_class);
        if open != was_open {
            if open {
                egress.paused_total += self.ctx.now - egress.paused_since;
                self.node.links.series.of_mut(port).paused(egress.paused_since, self.ctx.now);
                egress.paused_since = NEVER;
            } else {
                egress.paused_since = self.ctx.now;
                self.node.links.ports.of_mut(port).gates.paused |= 1 << class;
            }
            if self.ctx.run.is_traced() {
                self.each_trace(|trace, seen| trace.gate_changed(seen, port_class, open));
            }
            if self.node.links.ports.of(port).has_cp {
                self.pause_changed(port, port_class, !open);
            }
            if !open {
                D::is_paused(self, port, class);
            }
        }
        if discards {
            self.discard_queue(port, port_class);
        }
        if look {
            self.try_transmit(port);
        }
    }

    /// A timer of a sender half has come.
    pub fn fc_sender_timer(&mut self, port_class: LocalPortClass, order: u64) {
        let port = self.ctx.facts.layout.port_of(port_class);
        let egress = self.node.links.egress.of_mut(port_class);
        if !egress.timer.fires(Time(self.ctx.now), order) {
            return;
        }
        let next = egress.sender.next_timeout();
        if next.is_none_or(|at| at.0 > self.ctx.now) {
            // What it was armed for has been cancelled or put off since: nothing happens now.
            self.ctx.run.events.sync(&mut egress.timer, next, EventKind::FcSender, egress.id);
            return;
        }
        let mut cx = Cx {
            now: Time(self.ctx.now),
            rng: &mut self.node.streams.flow_control,
            out: &mut self.ctx.run.out.frames,
        };
        let sender = &mut self.node.links.egress.of_mut(port_class).sender;
        sender.on_timeout(&mut cx);
        if let Some(at) = due_again(sender.is_custom(), || sender.next_timeout(), Time(self.ctx.now)) {
            let (ingress, class) =
                (peer(self.node.links.id(port)), self.ctx.facts.layout.class_of(port_class));
            self.ctx.refuse_timer(Timed::FlowControl { ingress, class }, at);
        }
        self.flush_frames(port);
        self.sender_changed(port, port_class);
    }

    /// Calls a receiver half with a view of its account; then sends its frames and updates its timer.
    pub fn with_receiver(
        &mut self,
        port_class: LocalPortClass,
        port: Local,
        call: impl FnOnce(&mut AnyFcReceiver, &mut Cx<'_, FcFrame>, &IngressView),
    ) {
        let view = self.node.buffer.account_view(&self.ctx.facts.layout, self.device.inputs(), port_class);
        self.call_receiver(port_class, port, &view, call);
    }

    /// As [`At::with_receiver`], with the given view.
    #[inline]
    pub fn call_receiver(
        &mut self,
        port_class: LocalPortClass,
        port: Local,
        view: &IngressView,
        call: impl FnOnce(&mut AnyFcReceiver, &mut Cx<'_, FcFrame>, &IngressView),
    ) {
        let mut cx = Cx {
            now: Time(self.ctx.now),
            rng: &mut self.node.streams.flow_control,
            out: &mut self.ctx.run.out.frames,
        };
        let ingress = self.node.buffer.accounts.of_mut(port_class);
        call(&mut ingress.receiver, &mut cx, view);
        self.ctx.run.events.sync(
            &mut ingress.timer,
            ingress.receiver.next_timeout(),
            EventKind::FcReceiver,
            ingress.id,
        );
        let awaits = ingress.receiver.awaits_release();
        if awaits != std::mem::replace(&mut ingress.awaits, awaits)
            && let Some(switch) = self.device.as_switch()
        {
            let events = &mut self.ctx.run.events;
            self.node.buffer.awaiting_changed(switch, events, self.ctx.now, port_class);
        }
        if !self.ctx.run.out.frames.0.is_empty() {
            if self.device.is_bypassed() {
                return self.ctx.run.out.frames.0.clear();
            }
            D::pauses(self, port);
            if self.ctx.run.is_traced() {
                self.each_trace(|trace, seen| trace.pauses_sent(seen, port));
            }
            self.flush_frames(port);
        }
    }

    /// A timer of a receiver half has come.
    pub fn fc_receiver_timer(&mut self, port_class: LocalPortClass, order: u64) {
        let port = self.ctx.facts.layout.port_of(port_class);
        let ingress = self.node.buffer.accounts.of_mut(port_class);
        if !ingress.timer.fires(Time(self.ctx.now), order) {
            return;
        }
        let due = ingress.receiver.next_timeout().is_some_and(|at| at.0 <= self.ctx.now);
        self.apply_releases();
        self.with_receiver(port_class, port, |receiver, cx, view| {
            if due {
                receiver.on_timeout(cx, view);
            }
        });
        let receiver = &self.node.buffer.accounts.of(port_class).receiver;
        if let Some(at) =
            due_again(due && receiver.is_custom(), || receiver.next_timeout(), Time(self.ctx.now))
        {
            let (ingress, class) = (self.node.links.id(port), self.ctx.facts.layout.class_of(port_class));
            self.ctx.refuse_timer(Timed::FlowControl { ingress, class }, at);
        }
    }
}
