//! Turns of queue pairs at a NIC, and arrivals at a host.

use floodway_mechanisms::slots::{
    Cnp, DropReason, ReactionPoint as _, ReadyView, Scheduler as _, Segment, TransportSender as _,
};
use floodway_units::Time;

use crate::host::round_robin_bitmap::RoundRobinBitmap;
use crate::host::send::layers;
use crate::link::arena::PacketRef;
use crate::link::packet::{INT, Kind, Packet, frame_bytes};
use crate::network::blueprint::Turns;
use crate::network::layout::Local;
use crate::run::at_node::{AtNode, bytes};

impl AtNode<'_, '_> {
    /// The transmitter of a host's port is free: the next queue pair sends a packet.
    pub fn send_from_nic(&mut self, port: Local) {
        let Some((id, segment)) = self.whose_turn(port) else {
            if self.ctx.facts.blueprint.semantics.turns == Turns::Listed {
                self.wake_by_list(port);
            }
            return;
        };
        let now = Time(self.ctx.now);
        let half = self.ctx.run.pairs.senders.known_mut(id as usize);
        let frame = if segment.payload == bytes(u64::from(half.full_payload)) && !segment.first {
            half.full_frame
        } else {
            frame_bytes(self.ctx.facts.format.data_with(segment.payload, segment.first, half.telemetry).frame)
        };
        let packet = half.data_packet(id, &segment, frame, self.ctx.now);
        let wire = u64::from(frame) + self.ctx.facts.layout.gap;
        half.in_network = half.in_network.wrapping_add(1);
        if segment.retransmission {
            half.message_of(segment.psn).retransmitted += segment.payload.0;
        }
        let message = if half.layers.has_messages { half.with_data(now) } else { None };
        if half.layers.observes_sent {
            layers(half, now, |layer| layer.on_sent(now, bytes(wire)));
        }
        half.pacing.last_send = (self.ctx.now, wire);
        if half.pacing.paced {
            half.pacing.next_send =
                self.ctx.now + half.gap_behind(wire, self.ctx.facts.blueprint.semantics.rounding);
        }
        let (class, has_acks, observes_sent) = (half.class, half.has_acks, half.layers.observes_sent);
        self.ctx.run.kept.records.injected(u64::from(packet.frame));
        let port_class = self.ctx.facts.layout.port_class(port, class);
        self.sent(port, port_class, wire);
        if self.ctx.facts.layout.classes.len() > 2 {
            let id = self.ctx.facts.layout.queue_id(self.ctx.facts.layout.first_queue(class));
            self.node.machines[port.index()].scheduler.on_sent(now, id, bytes(wire));
        }
        let packet_ref = self.ctx.run.packets.add(packet);
        if packet.has(INT) {
            self.begin_records(packet_ref);
        } else if let Some(message) = message {
            self.attach_message(packet_ref, message);
        }
        self.put_on_link(port, packet_ref);
        if segment.last {
            self.last_sent(id, &segment, has_acks, self.node.links.ports.known(port.index()).free_at);
        }
        if observes_sent {
            self.stack_changed(id);
        } else {
            self.transport_changed(id);
        }
        if self.node.host.pairs.sprays {
            self.spray_next(id);
        }
    }

    /// The queue pair that sends next, and what.
    fn whose_turn(&mut self, port: Local) -> Option<(u32, Segment)> {
        let now = Time(self.ctx.now);
        if self.ctx.facts.blueprint.semantics.turns.by_list() {
            let id = self.next_in_list(port)?;
            return self
                .ctx
                .run
                .pairs
                .senders
                .known_mut(id as usize)
                .transport
                .next_segment(now)
                .map(|segment| (id, segment));
        }
        let local = port.index();
        if self.ctx.facts.blueprint.semantics.turns == Turns::Listed {
            self.paced_are_ready(local);
        }
        let class = self.pick_class(port)? as usize;
        loop {
            if self.node.host.nics[local].repeating > 0
                && let Some(repeat) = self.next_repeat(local, class)
            {
                return Some(repeat);
            }
            if let Some(rank) = self.next_free(local, &self.node.host.nics[local].ready[class], class) {
                let nic = &mut self.node.host.nics[local];
                nic.last[class] = rank;
                let id = nic.ranks.get(rank)?;
                let half = self.ctx.run.pairs.senders.known_mut(id as usize);
                half.number_timer(&mut self.ctx.run.events);
                return half.transport.next_segment(now).map(|segment| (id, segment));
            }
            // What stands behind entries that were passed over has no timer. SWING's simulator leaves it
            // until something else wakes the NIC.
            let repeats = &self.node.host.nics[local].repeats[class];
            if self.next_free(local, repeats, class).is_none()
                || self.ctx.facts.blueprint.semantics.turns == Turns::Listed
            {
                return None;
            }
        }
    }

    /// The first queue pair of a set, cyclically after the one of its class that was served last, that no
    /// congestion point holds back.
    #[inline]
    fn next_free(&self, local: usize, bitmap: &RoundRobinBitmap, class: usize) -> Option<u32> {
        let last = self.node.host.nics[local].last[class];
        if self.node.links.ports.known(local).holds_flows {
            self.next_not_held(local, bitmap, last)
        } else {
            bitmap.next_after(last)
        }
    }

    #[inline(never)]
    fn next_not_held(&self, local: usize, bitmap: &RoundRobinBitmap, mut rank: u32) -> Option<u32> {
        for _ in 0..bitmap.len() {
            rank = bitmap.next_after(rank)?;
            let id = self.node.host.nics[local].ranks.get(rank)?;
            if !self.is_held(local, id) {
                return Some(rank);
            }
        }
        None
    }

    /// Does a congestion point of a host's port hold back what a queue pair sends?
    #[inline]
    pub fn is_held(&self, local: usize, id: u32) -> bool {
        if !self.node.links.ports.known(local).holds_flows {
            return false;
        }
        let path = self.ctx.run.pairs.paths.known(id as usize);
        let class = self.ctx.facts.layout.classes[path.class as usize];
        self.node.holds_flow(Local::at(local), class, path.hash, self.ctx.time())
    }

    /// What is retransmitted before new data: of each queue pair with some, from the one after the last
    /// served on, the oldest entry is looked at; one that was acknowledged meanwhile is passed over. By the
    /// list of flows it waits for the queue pair's pacing time.
    fn next_repeat(&mut self, local: usize, class: usize) -> Option<(u32, Segment)> {
        let listed = self.ctx.facts.blueprint.semantics.turns == Turns::Listed;
        let mut rank = self.node.host.nics[local].last[class];
        for _ in 0..self.node.host.nics[local].repeats[class].len() {
            let nic = &mut self.node.host.nics[local];
            rank = nic.repeats[class].next_after(rank)?;
            let id = nic.ranks.get(rank)?;
            if self.is_held(local, id) {
                continue;
            }
            let nic = &mut self.node.host.nics[local];
            let half = self.ctx.run.pairs.senders.known_mut(id as usize);
            if half.layers.closed || listed && half.pacing.next_send > self.ctx.now {
                continue;
            }
            half.number_timer(&mut self.ctx.run.events);
            let repeat = half.transport.next_repeat(Time(self.ctx.now));
            half.update_repeats(nic);
            if let Some(segment) = repeat {
                nic.last[class] = rank;
                return Some((id, segment));
            }
            if listed && !half.layers.constant {
                // So that the NIC's timer can be set for what stands behind the entry.
                half.pacing.next_send = self.ctx.now + 1_000;
                self.update_qp(id);
            }
        }
        None
    }

    /// The class whose queue pairs send next.
    fn pick_class(&mut self, port: Local) -> Option<u8> {
        let local = port.index();
        // The size of the next frame is known only once a queue pair is chosen: the largest one is assumed.
        let largest = self.ctx.facts.largest_wire;
        if self.ctx.facts.layout.classes.len() == 2 {
            let nic = &self.node.host.nics[local];
            let open = (nic.repeating > 0 || !nic.ready[1].is_empty())
                && self
                    .gate(port, self.ctx.facts.layout.port_class(port, 1), 1, largest)
                    .is_open(self.ctx.time());
            return open.then_some(1);
        }
        let mut ready = std::mem::take(&mut self.ctx.run.out.ready);
        ready.clear();
        for class in 1..self.ctx.facts.layout.class_count() {
            let nic = &self.node.host.nics[local];
            let bitmaps = [&nic.ready[class as usize], &nic.repeats[class as usize]];
            let waiting = (bitmaps[0].len() + bitmaps[1].len()) as u64;
            let held = self.node.links.ports.known(local).holds_flows
                && bitmaps.iter().all(|bitmap| self.next_free(local, bitmap, class.into()).is_none());
            if waiting > 0 && !held {
                let q = self.ctx.facts.layout.first_queue(class);
                let gate = self.gate(port, self.ctx.facts.layout.port_class(port, class), q, largest);
                let len = bytes(waiting * largest);
                ready.push(ReadyView {
                    queue: self.ctx.facts.layout.queue_id(q),
                    len,
                    head: bytes(largest),
                    gate,
                });
            }
        }
        let now = Time(self.ctx.now);
        let picked = if ready.is_empty() {
            None
        } else {
            self.node.machines[port.index()].scheduler.pick(now, &ready)
        };
        self.ctx.run.out.ready = ready;
        picked.map(|id| self.ctx.facts.layout.dense(id.class))
    }

    /// A packet has arrived at a host.
    #[inline(never)]
    pub fn host_receives(&mut self, port: Local, packet_ref: PacketRef) {
        let extra = self.ctx.run.packets.detach(packet_ref);
        let packet = &self.ctx.run.packets.take(packet_ref);
        if !self.is_meant(packet) {
            return self.strays(packet);
        }
        self.ctx.run.kept.records.delivered(u64::from(packet.frame));
        match packet.kind {
            Kind::Data => self.receive_data(port, packet, extra),
            Kind::Cnp => self.receive_cnp(packet),
            Kind::ToSender => self.message_at_sender(packet),
            Kind::ToReceiver => self.message_at_receiver(port, packet),
            _ => self.receive_reply(packet, extra),
        }
    }

    /// The packet of a CNP; its path is not known yet.
    pub fn cnp_packet(&self, cnp: &Cnp) -> Packet {
        let mut packet = Packet::new(Kind::Cnp, cnp.flow, self.ctx.facts.format.cnp().frame);
        packet.set_cnp(cnp);
        packet
    }

    /// A switch sends a CNP to the source of a flow.
    pub fn notify_source(&mut self, port: Local, cnp: &Cnp) {
        let mut packet = self.cnp_packet(cnp);
        packet.ingress = port;
        self.ctx.run.pairs.count_on_path(cnp.flow, 1);
        self.ctx.run.kept.records.injected(u64::from(packet.frame));
        if let Some(out) = self.route(port, &packet) {
            let packet_ref = self.ctx.run.packets.add(packet);
            self.send_control(out, packet_ref);
        } else {
            let port_class = self.ctx.facts.layout.port_class(port, 0);
            self.drop_packet(port_class, &packet, DropReason::NoRoute);
        }
    }

    #[inline]
    pub fn try_transmit_at_nic(&mut self, id: u32) {
        if let Some(port) = self.nic_to_look(id) {
            self.try_transmit(port);
        }
    }

    /// The port of a queue pair's NIC, where that is to look since the queue pair may have something to send.
    #[inline]
    pub fn nic_to_look(&self, id: u32) -> Option<Local> {
        let half = self.ctx.run.pairs.senders.known(id as usize);
        // Others may look at all of their queue pairs.
        let looks = half.turn.is_ready || self.ctx.facts.blueprint.semantics.turns != Turns::Ring;
        looks.then_some(half.nic)
    }

    /// Tries to transmit what the NIC is to retransmit, of any flow: one try passes over one outdated entry
    /// of each only. One that takes turns by the list of flows has looked in any case.
    pub fn try_transmit_repeats(&mut self, id: u32) {
        let half = self.ctx.run.pairs.senders.known(id as usize);
        let (nic, repeats_first) = (half.nic, half.turn.repeats_first);
        let looks = self.ctx.facts.blueprint.semantics.turns != Turns::Listed;
        if looks && repeats_first && self.node.host.nics[nic.index()].repeating > 0 {
            self.try_transmit(nic);
        }
    }
}
