//! The wire of a link: a packet from its first bit on the wire to its arrival, or its loss.

use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_blueprint::network::routing::peer;
use floodway_mechanisms::slots::DropReason;
use floodway_units::PortId;

use crate::link::arena::PacketRef;
use crate::link::packet::Packet;
use crate::link::retry::Retried;
use crate::run::at_node::At;
use crate::run::device::Device;
use crate::run::events::EventKind;

impl<D: Device> At<'_, '_, D> {
    /// A packet on a link reaches the node.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn arrive(&mut self, packet_ref: PacketRef) {
        let packet = &self.ctx.run.packets[packet_ref];
        if packet.is_link_control() {
            return self.link_control_arrives(packet_ref);
        }
        if !self.ctx.run.packets.lands(packet_ref) {
            return self.ctx.run.kept.was_lost(EventKind::Arrival as usize);
        }
        let packet = &self.ctx.run.packets[packet_ref];
        self.ctx.run.kept.packet_hops += 1;
        let (rx, class, frame) = (packet.ingress, packet.class, packet.frame);
        let port_class = self.ctx.facts.layout.port_class(rx, class);
        if self.node.buffer.accounts.of(port_class).impaired && self.is_taken(rx, port_class, packet_ref) {
            return;
        }
        let account = self.node.buffer.accounts.of_mut(port_class);
        account.received.add(frame);
        D::receives(self, rx, port_class, packet_ref);
    }

    /// Does the link lose a packet, or does it come in as htsim schedules it? There the next packet on the
    /// link has its event only now, and what has come in at a switch passes behind all else of this instant.
    #[inline(never)]
    fn is_taken(&mut self, rx: Local, port_class: LocalPortClass, packet_ref: PacketRef) -> bool {
        let from = peer(self.node.links.id(rx));
        let frame = self.ctx.run.packets[packet_ref].frame;
        let lost = self.node.links.is_lost(&self.ctx, rx, packet_ref);
        if self.node.links.has_retry_into(rx) {
            let accepts = self.node.links.accepts(&mut self.ctx, rx, packet_ref, lost);
            self.try_transmit(rx);
            return !accepts;
        }
        if lost {
            self.node.buffer.accounts.of_mut(port_class).rare.lost.add(frame);
            self.discard(port_class, packet_ref, DropReason::LinkError);
            self.ctx.run.events.delivered(from);
            return true;
        }
        if !self.ctx.run.events.goes_by_wires() {
            return false;
        }
        let account = self.node.buffer.accounts.of_mut(port_class);
        account.received.add(frame);
        D::receives_by_wires(self, rx, packet_ref);
        self.ctx.run.events.delivered(from);
        true
    }

    /// A link control frame on a link reaches the node.
    #[inline(never)]
    pub fn link_control_arrives(&mut self, packet_ref: PacketRef) {
        if !self.ctx.run.packets.lands(packet_ref) {
            let what =
                if self.ctx.run.events.is_numbered() { EventKind::Arrival } else { EventKind::LinkControl };
            return self.ctx.run.kept.was_lost(what as usize);
        }
        let rx = self.ctx.run.packets[packet_ref].ingress;
        if self.ctx.run.packets[packet_ref].is_retry() {
            return self.retry_arrives(rx, packet_ref);
        }
        let lost = self.node.links.is_lost(&self.ctx, rx, packet_ref);
        self.ctx.run.events.delivered(peer(self.node.links.id(rx)));
        let extra = self.ctx.run.packets.detach(packet_ref);
        let frame = self.ctx.run.packets.take(packet_ref);
        self.link_control(rx, frame, extra, lost);
    }

    /// A frame that was sent again, or a control ordered set of the link retry, reaches the node.
    fn retry_arrives(&mut self, rx: Local, packet_ref: PacketRef) {
        match self.node.links.retry_arrives(&mut self.ctx, rx, packet_ref) {
            Retried::Nothing => {}
            Retried::Accepted(packet_ref) => {
                let Packet { class, frame, .. } = self.ctx.run.packets[packet_ref];
                let port_class = self.ctx.facts.layout.port_class(rx, class);
                let account = self.node.buffer.accounts.of_mut(port_class);
                account.received.add(frame);
                D::receives(self, rx, port_class, packet_ref);
            }
            Retried::GivenUp(lost) => self.lose_on_link(rx, &lost, DropReason::LinkError),
        }
        self.try_transmit(rx);
    }

    /// Packets that have arrived at `rx` and wait to be sent again are lost.
    pub fn lose_on_link(&mut self, rx: Local, lost: &[PacketRef], reason: DropReason) {
        for &packet_ref in lost {
            let Packet { class, frame, .. } = self.ctx.run.packets[packet_ref];
            let port_class = self.ctx.facts.layout.port_class(rx, class);
            self.node.buffer.accounts.of_mut(port_class).rare.lost.add(frame);
            self.discard(port_class, packet_ref, reason);
        }
    }

    /// A timer of a link retry has come.
    pub fn retry_timer(&mut self, order: u64) {
        let (_, id) = self.ctx.run.events.decode(order);
        let port = self.ctx.facts.local(PortId(id / 2));
        if self.node.links.retry_timer(&mut self.ctx, port, id % 2 != 0, order) {
            self.try_transmit(port);
        }
    }

    /// A packet that is in no list is lost; `port_class` is the ingress account that it came by.
    #[inline(never)]
    pub fn discard(&mut self, port_class: LocalPortClass, packet_ref: PacketRef, reason: DropReason) {
        let packet = self.ctx.run.packets.take(packet_ref);
        self.drop_packet(port_class, &packet, reason);
    }

    /// A packet is lost; `port_class` is the ingress account that it came by.
    pub fn drop_packet(&mut self, port_class: LocalPortClass, packet: &Packet, reason: DropReason) {
        let counters = &mut self.node.buffer.accounts.of_mut(port_class).rare;
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
        if self.ctx.run.is_traced() {
            self.each_trace(|trace, _| trace.lost(packet));
        }
        self.ctx.run.pairs.count_on_path(packet.flow, -1);
    }
}
