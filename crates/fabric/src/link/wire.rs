//! The wire of a link: a packet from its first bit on the wire to its arrival, or its loss.

use floodway_mechanisms::slots::DropReason;
use floodway_units::cast::whole;
use floodway_units::uniform;

use crate::link::arena::PacketRef;
use crate::link::packet::Packet;
use crate::network::layout::Local;
use crate::run::at_node::AtNode;
use crate::run::events::{Arriving, EventKind};

impl AtNode<'_, '_> {
    /// Sets a packet on the wire now: the transmitter is taken, and its arrival is known.
    #[inline]
    pub fn put_on_link(&mut self, port: Local, packet_ref: PacketRef) {
        let state = self.node.links.ports.known_mut(port.index());
        let packet = &self.ctx.run.packets[packet_ref];
        let wire = u64::from(packet.frame) + self.ctx.facts.layout.gap;
        let serial = state.serial_time(wire);
        let arrival = self.ctx.now + serial + state.link.delay;
        state.free_at = self.ctx.now + serial;
        self.node.links.series.known_mut(port.index()).sent(self.ctx.now, state.free_at, wire);
        if self.ctx.facts.telemetry {
            state.sent += u64::from(packet.frame);
        }
        if !state.observed {
            self.take_off(port, packet_ref, arrival);
        } else if let Some(arrival) = self.observe(port, packet_ref, arrival, serial) {
            self.take_off_observed(port, packet_ref, arrival);
        }
    }

    /// A packet is on the link from here.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    fn take_off(&mut self, port: Local, packet_ref: PacketRef, arrival: u64) {
        let mut number = 0;
        if let Some(numbers) = self.ctx.run.events.two_numbers() {
            // The end of the transmission is scheduled first, then the arrival.
            (self.node.links.ports.known_mut(port.index()).free_order, number) = numbers;
        }
        let out = self.out_of(
            self.node.links.ports.known(port.index()).link.far_end,
            &self.ctx.run.packets[packet_ref],
        );
        let packet = &mut self.ctx.run.packets[packet_ref];
        packet.out = out;
        if packet.is_data() {
            packet.base += arrival - self.ctx.now;
        }
        let order = self.fly(port, packet_ref, arrival, number);
        self.ctx.run.events.push_arrival(
            self.node.links.ports.known(port.index()).link.far_group,
            packet_ref,
            arrival,
            order,
        );
    }

    #[inline(never)]
    fn take_off_observed(&mut self, port: Local, packet_ref: PacketRef, arrival: u64) {
        self.take_off(port, packet_ref, arrival);
    }

    /// A packet is on the link from `port` until `at`; its arrival has this number where ties go by the
    /// order of scheduling. The order of its event.
    #[inline]
    pub fn fly(&mut self, port: Local, packet_ref: PacketRef, at: u64, number: u64) -> u64 {
        let state = self.node.links.ports.known(port.index());
        self.ctx.run.packets.fly(packet_ref, state.link.far_end, at);
        let packet = &self.ctx.run.packets[packet_ref];
        let link_control = packet.is_link_control();
        let sequence = if link_control { 0 } else { packet.psn };
        let arrival = Arriving { link_control, tie_key: state.link.tie_key, sequence, number };
        self.ctx.run.events.arrival(state.id, arrival)
    }

    /// What looks at a packet that starts on the wire of an observed port; when the packet then arrives, if
    /// it does.
    #[inline(never)]
    fn observe(&mut self, port: Local, packet_ref: PacketRef, arrival: u64, serial: u64) -> Option<u64> {
        if self.node.links.ports.known(port.index()).noted {
            self.capture(port, packet_ref);
            self.note_share(port, packet_ref, serial);
        }
        let state = self.node.links.ports.known_mut(port.index());
        let mut arrival = arrival;
        if state.impairment.jitter > 0 || state.impairment.changes {
            let jitter = if state.impairment.jitter > 0 {
                whole(uniform(&mut state.impairment.rng) * state.impairment.jitter as f64)
            } else {
                0
            };
            // Order is kept: no frame arrives before the one ahead of it has been followed by its own bits.
            arrival = (arrival + jitter).max(state.impairment.latest + serial);
            state.impairment.latest = arrival;
        }
        if self.ctx.run.trace.is_some() {
            self.each_trace(|at| at.trace_start(port, packet_ref, (serial, arrival)));
        }
        if self.node.links.ports.known(port.index()).impairment.changes
            && !self.is_carried(port, packet_ref, arrival)
        {
            return None;
        }
        Some(arrival)
    }

    /// A packet on a link reaches the node.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn arrive(&mut self, packet_ref: PacketRef) {
        let packet = &self.ctx.run.packets[packet_ref];
        if packet.is_link_control() {
            return self.link_control_arrives(packet_ref);
        }
        if !self.ctx.run.packets.lands(packet_ref) {
            return self.was_lost(EventKind::Arrival);
        }
        let packet = &self.ctx.run.packets[packet_ref];
        self.ctx.run.kept.packet_hops += 1;
        let (rx, class, frame) = (packet.ingress, packet.class, packet.frame);
        let port_class = self.ctx.facts.layout.port_class(rx, class);
        if self.node.ingress.known(port_class).impaired && self.is_lost(rx, packet_ref) {
            self.node.ingress.known_mut(port_class).rare.lost.add(frame);
            return self.discard(port_class, packet_ref, DropReason::LinkError);
        }
        let account = self.node.ingress.known_mut(port_class);
        account.received.add(frame);
        if account.at_host {
            if account.drains {
                self.enters_receive_buffer(rx, port_class, packet_ref);
            } else {
                self.host_receives(rx, packet_ref);
            }
        } else {
            self.switch_receives(rx, port_class, packet_ref);
        }
    }

    /// A link control frame on a link reaches the node.
    #[inline(never)]
    pub fn link_control_arrives(&mut self, packet_ref: PacketRef) {
        if !self.ctx.run.packets.lands(packet_ref) {
            let what =
                if self.ctx.run.events.is_numbered() { EventKind::Arrival } else { EventKind::LinkControl };
            return self.was_lost(what);
        }
        let rx = self.ctx.run.packets[packet_ref].ingress;
        let lost = self.is_lost(rx, packet_ref);
        let extra = self.ctx.run.packets.detach(packet_ref);
        let frame = self.ctx.run.packets.take(packet_ref);
        self.link_control(rx, frame, extra, lost);
    }

    /// The event of an arrival is that of a packet that was lost when its link went down: nothing happens.
    #[cold]
    fn was_lost(&mut self, what: EventKind) {
        self.ctx.run.kept.counts[what as usize] -= 1;
    }

    /// Does the link that leads to `port` lose this packet?
    #[inline(never)]
    fn is_lost(&mut self, port: Local, packet_ref: PacketRef) -> bool {
        let state = self.node.links.ports.known_mut(port.index());
        let rate = match &self.ctx.run.packets[packet_ref] {
            p if p.is_link_control() => state.impairment.errors.link_control,
            p if p.is_data() => state.impairment.errors.data,
            _ => state.impairment.errors.control,
        };
        rate > 0.0 && uniform(&mut state.impairment.losses) < rate
    }

    /// A packet that is in no list is lost; `port_class` is the ingress account that it came by.
    #[inline(never)]
    pub fn discard(&mut self, port_class: usize, packet_ref: PacketRef, reason: DropReason) {
        let packet = self.ctx.run.packets.take(packet_ref);
        self.drop_packet(port_class, &packet, reason);
    }

    /// A packet is lost; `port_class` is the ingress account that it came by.
    pub fn drop_packet(&mut self, port_class: usize, packet: &Packet, reason: DropReason) {
        let counters = &mut self.node.ingress.known_mut(port_class).rare;
        counters.drops[reason as usize] += 1;
        match reason {
            DropReason::Buffer | DropReason::Egress => counters.buffer_drop_bytes += u64::from(packet.frame),
            _ if reason.is_failure() => counters.failure_drop_bytes += u64::from(packet.frame),
            _ => {}
        }
        self.is_gone(packet);
    }

    /// A packet is not in the network any more, and was not delivered.
    pub fn is_gone(&mut self, packet: &Packet) {
        self.ctx.run.kept.records.dropped(u64::from(packet.frame));
        if self.ctx.run.trace.is_some() {
            self.each_trace(|at| at.trace_lost(packet));
        }
        self.ctx.run.pairs.count_on_path(packet.flow, -1);
    }
}
