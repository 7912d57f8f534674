//! Flow control of a link: its two halves are told what happens, and their frames are sent.

use floodway_mechanisms::registry::AnyFcReceiver;
use floodway_mechanisms::slots::{Cx, Disposition, FcFrame, FcReceiver as _, FcSender as _, IngressView};
use floodway_units::PortId;

use crate::link::arena::Place;
use crate::link::packet::{Kind, Packet};
use crate::link::port::Port;
use crate::network::blueprint::LinkControl;
use crate::run::agenda::{NEVER, What};
use crate::run::world::{World, bytes};
use crate::switch::forward::Relay;

impl World<'_> {
    /// A link control frame waits to be sent from here.
    pub fn queue_link_control(&mut self, port: PortId, place: Place) {
        let state = &mut self.ports[port.index()];
        state.controls = true;
        if self.facts.blueprint.semantics.link_control == LinkControl::First {
            return state.control.push(&mut self.packets, place);
        }
        let at = self.facts.layout.queue(port);
        self.queues[at].fifo.push(&mut self.packets, place);
        self.joins(port, self.packets[place].frame);
    }

    /// The link control frame that came last, if nothing has come after it.
    fn last_link_control(&self, port: PortId) -> Option<Place> {
        match self.facts.blueprint.semantics.link_control {
            LinkControl::First => self.ports[port.index()].control.back(),
            LinkControl::ControlClass => self.queues[self.facts.layout.queue(port)].fifo.back(),
        }
    }

    pub fn count_link_control(&mut self, port: PortId, packet: &Packet) {
        for frame in packet.frames() {
            if let FcFrame::Pause { class, .. } | FcFrame::Credit { class, .. } = frame {
                let class = self.facts.layout.dense(class);
                if class != u8::MAX {
                    let lane = self.facts.layout.lane(port, class);
                    self.ingress[lane].rare.pfc_tx += 1;
                }
            }
        }
        let wire = self.facts.layout.wire(packet.frame);
        self.kept.series[port.index()].sent(self.now, wire);
    }

    /// Sends the frames that a flow control has just pushed out of `port`.
    pub fn flush_frames(&mut self, port: PortId) {
        if self.out.frames.0.is_empty() {
            return;
        }
        if !self.ports[port.index()].up {
            // Nobody hears them, and both halves start afresh with the link.
            self.out.frames.0.clear();
            return;
        }
        let size = self.facts.format.link_control().frame;
        for i in 0..self.out.frames.0.len() {
            let frame = self.out.frames.0[i];
            let last = self.last_link_control(port);
            let merged = last.is_some_and(|last| self.packets[last].merge(frame, self.now));
            if !merged {
                if let Some(draws) = &mut self.shared_draws {
                    draws.skip();
                }
                let place = self.packets.add(Packet::link_control(frame, size, self.now));
                self.queue_link_control(port, place);
            }
        }
        self.out.frames.0.clear();
        self.kick(port);
    }

    /// A link control frame has arrived at `port`: it speaks of what the port sends, or receives.
    pub fn link_control(&mut self, port: PortId, packet: Packet, lost: bool) {
        if self.trace.is_some() {
            self.trace_heard(port, &packet, lost);
        }
        if packet.kind == Kind::Region {
            self.region_notice(port, packet.psn as u32, lost);
            return;
        }
        if lost {
            return;
        }
        for frame in packet.frames() {
            let class = match frame {
                FcFrame::Pause { class, .. }
                | FcFrame::Credit { class, .. }
                | FcFrame::Sent { class, .. } => self.facts.layout.dense(class),
            };
            // A class that carries nothing in this run.
            if class == u8::MAX {
                continue;
            }
            let lane = self.facts.layout.lane(port, class);
            let node = self.ports[port.index()].node.index();
            if matches!(frame, FcFrame::Sent { .. }) {
                self.with_receiver(lane, port, |receiver, cx, view| receiver.on_frame(cx, frame, view));
                continue;
            }
            self.egress[lane].counters.pfc_rx += 1;
            if let (FcFrame::Pause { quanta, .. }, Some(log)) = (frame, &mut self.kept.pauses) {
                log.heard((self.now, self.order), lane, quanta.0 > 0);
            }
            let onward = self.relays(port, class);
            if onward.is_some_and(|(disposition, _)| !disposition.obeys()) {
                self.hand_on(onward, frame);
                continue;
            }
            let mut cx = Cx {
                now: floodway_units::Time(self.now),
                rng: &mut self.nodes[node].streams.flow_control,
                out: &mut self.out.frames,
            };
            self.egress[lane].sender.on_frame(&mut cx, frame);
            self.flush_frames(port);
            self.sender_changed(port, lane);
            self.hand_on(onward, frame);
        }
    }

    /// Of a relay's port: what becomes of the pauses of a class, and the other port.
    pub fn relays(&self, port: PortId, class: u8) -> Option<(Disposition, PortId)> {
        let relay = self.relay_at(port)?;
        Some((relay.disposition(port, class), relay.ports.other(port)))
    }

    /// The relay whose port it is.
    pub fn relay_at(&self, port: PortId) -> Option<&Relay> {
        let &Port { at_host, owner, .. } = &self.ports[port.index()];
        self.switches.get(owner as usize).filter(|_| !at_host)?.relay.as_ref()
    }

    /// Sends a pause on out of a relay's other port.
    fn hand_on(&mut self, onward: Option<(Disposition, PortId)>, frame: FcFrame) {
        if let (Some((disposition, other)), FcFrame::Pause { .. }) = (onward, frame)
            && disposition.forwards()
        {
            if self.trace.is_some() {
                self.trace_handed_on(other, frame);
            }
            self.out.frames.0.push(frame);
            self.flush_frames(other);
        }
    }

    /// Tells the flow control's sender half that a frame of its class starts.
    #[inline]
    pub fn sent(&mut self, port: PortId, lane: usize, wire: u64) {
        if !self.egress[lane].counts_sent {
            return;
        }
        let node = self.ports[port.index()].node.index();
        let mut cx = Cx {
            now: self.time(),
            rng: &mut self.nodes[node].streams.flow_control,
            out: &mut self.out.frames,
        };
        self.egress[lane].sender.on_sent(&mut cx, bytes(wire));
        self.flush_frames(port);
        self.sender_changed(port, lane);
    }

    /// A sender half may have changed its mind: keeps the pause clock, tells the congestion points, and
    /// lets the port look again. A class is paused while its largest frame may not start, whether one waits
    /// or not.
    pub fn sender_changed(&mut self, port: PortId, lane: usize) {
        let egress = &mut self.egress[lane];
        self.events.renew(&mut egress.timer, egress.sender.next_timeout(), What::FcSender, lane as u32);
        let now = floodway_units::Time(self.now);
        let open = egress.sender.gate(now, bytes(self.facts.largest_wire)).is_open(now);
        // A smaller frame may start all the same.
        let look = open || egress.counts_sent;
        let was_open = egress.paused_since == NEVER;
        let discards = egress.sender.discards(now);
        let (free, class) = (egress.sender.is_free(), lane % self.facts.layout.classes.len());
        let state = &mut self.ports[port.index()];
        state.free = state.free & !(1 << class) | u16::from(free) << class;
        state.discards = state.discards & !(1 << class) | u16::from(discards) << class;
        let egress = &mut self.egress[lane];
        if open != was_open {
            if open {
                egress.paused_total += self.now - egress.paused_since;
                self.kept.series[port.index()].paused(egress.paused_since, self.now);
                egress.paused_since = NEVER;
            } else {
                egress.paused_since = self.now;
                self.ports[port.index()].paused |= 1 << class;
            }
            if self.trace.is_some() {
                self.trace_gate(port, lane, open);
            }
            if self.ports[port.index()].has_cp {
                self.pause_changed(port, lane, !open);
            }
        }
        if discards {
            self.discard_queue(port, lane);
        }
        if look {
            self.kick(port);
        }
    }

    /// A timer of a sender half has come.
    pub fn fc_sender_timer(&mut self, lane: usize, order: u64) {
        let port = PortId((lane / self.facts.layout.classes.len()) as u32);
        let egress = &mut self.egress[lane];
        if !egress.timer.fires(floodway_units::Time(self.now), order) {
            return;
        }
        let next = egress.sender.next_timeout();
        if next.is_none_or(|at| at.0 > self.now) {
            // What it was armed for has been cancelled or put off since: nothing happens now.
            self.events.sync(&mut egress.timer, next, What::FcSender, lane as u32);
            return;
        }
        let node = self.ports[port.index()].node.index();
        let mut cx = Cx {
            now: floodway_units::Time(self.now),
            rng: &mut self.nodes[node].streams.flow_control,
            out: &mut self.out.frames,
        };
        self.egress[lane].sender.on_timeout(&mut cx);
        self.flush_frames(port);
        self.sender_changed(port, lane);
    }

    /// Calls a receiver half with a view of its account; then sends what it said and keeps its timer.
    pub fn with_receiver(
        &mut self,
        lane: usize,
        port: PortId,
        call: impl FnOnce(&mut AnyFcReceiver, &mut Cx<'_, FcFrame>, &IngressView),
    ) {
        let view = self.ingress_view(lane, port);
        self.tell_receiver(lane, port, &view, call);
    }

    /// As [`World::with_receiver`], with the view at hand.
    #[inline]
    pub fn tell_receiver(
        &mut self,
        lane: usize,
        port: PortId,
        view: &IngressView,
        call: impl FnOnce(&mut AnyFcReceiver, &mut Cx<'_, FcFrame>, &IngressView),
    ) {
        let node = self.ports[port.index()].node.index();
        let mut cx = Cx {
            now: floodway_units::Time(self.now),
            rng: &mut self.nodes[node].streams.flow_control,
            out: &mut self.out.frames,
        };
        let ingress = &mut self.ingress[lane];
        call(&mut ingress.receiver, &mut cx, view);
        self.events.sync(&mut ingress.timer, ingress.receiver.next_timeout(), What::FcReceiver, lane as u32);
        let awaits = ingress.receiver.awaits_release();
        if awaits != std::mem::replace(&mut ingress.awaits, awaits) {
            self.awaiting_changed(lane, port);
        }
        if !self.out.frames.0.is_empty() {
            self.pause_sent(port);
            if self.trace.is_some() {
                self.trace_pauses(port);
            }
            self.flush_frames(port);
        }
    }

    /// A timer of a receiver half has come.
    pub fn fc_receiver_timer(&mut self, lane: usize, order: u64) {
        let port = PortId((lane / self.facts.layout.classes.len()) as u32);
        let ingress = &mut self.ingress[lane];
        if !ingress.timer.fires(floodway_units::Time(self.now), order) {
            return;
        }
        let due = ingress.receiver.next_timeout().is_some_and(|at| at.0 <= self.now);
        if !self.ports[port.index()].at_host {
            self.settle_port(port);
        }
        self.with_receiver(lane, port, |receiver, cx, view| {
            if due {
                receiver.on_timeout(cx, view);
            }
        });
    }
}
