//! Queues that may lose what waits there: packets that no account is charged for.

use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_mechanisms::slots::FcReceiver;
use floodway_units::{Bytes, FlowId};

use crate::link::arena::PacketRef;
use crate::link::packet::{ISOLATED, Packet};
use crate::run::at_node::AtSwitch;
use crate::run::device::Device as _;

impl AtSwitch<'_, '_> {
    /// The queue that the packet joins; none if it must be dropped.
    ///
    /// A packet from a queue that no pause stops may be one too many: where its ingress has nothing but
    /// headroom left it waits in a queue that may lose it, if there is one, and what waits of its flow moves
    /// there.
    pub fn queue_for(&mut self, out: Local, packet: &Packet) -> Option<usize> {
        let q = self.preferred_queue(out, packet);
        if !packet.has(ISOLATED)
            || self.node.links.may_lose(&self.ctx.facts.layout, out, q)
            || !self.node.buffer.is_pressed(
                (&self.ctx.facts.layout, self.device.inputs()),
                self.ctx.time(),
                packet,
            )
        {
            return Some(q);
        }
        if !self.node.isolates(out) {
            return None;
        }
        if self.node.machines[out.index()].queueing.queue_of(packet.flow).is_some() {
            self.isolate_waiting(out, packet.class, Some(packet.flow));
        }
        Some(self.ctx.facts.layout.first_queue_of(packet.class, 1))
    }

    /// Takes in a packet for a queue that may lose it: no account is charged for it, and so it causes no
    /// pause.
    pub fn isolate(
        &mut self,
        ingress: Local,
        port_class: LocalPortClass,
        (out, q): (Local, usize),
        packet_ref: PacketRef,
    ) {
        let packet = &mut self.ctx.run.packets[packet_ref];
        packet.flags |= ISOLATED;
        let occupies = self.node.buffer.occupied_by(packet.frame);
        self.node.buffer.holds(occupies, 0);
        if self.device.pipeline == 0 {
            self.enqueue(out, q, packet_ref);
        } else {
            self.enter_pipeline((out, q), packet_ref);
        }
        // For the account it is as if it had been discarded.
        self.with_receiver(port_class, ingress, FcReceiver::on_refused);
        self.try_transmit(out);
    }

    /// As [`AtSwitch::resort`], where the second queue may lose: flows that should wait there, or `only` this
    /// one, move with all that waits of them, and are charged to no account any more. None moves back, since
    /// no account has room for it.
    pub fn isolate_waiting(&mut self, port: Local, class: u8, only: Option<FlowId>) {
        self.apply_releases();
        let (first, second) =
            (self.ctx.facts.layout.first_queue(class), self.ctx.facts.layout.first_queue(class) + 1);
        let at = self.ctx.facts.layout.queues(port);
        let mut list = std::mem::take(&mut self.node.links.queues[at.nth(first)]).fifo;
        while let Some(packet_ref) = list.pop(&self.ctx.run.packets) {
            let packet = self.ctx.run.packets[packet_ref];
            if self.moves(port, &packet, only) {
                self.move_isolated(port, second, packet_ref);
            } else {
                let queue = &mut self.node.links.queues[at.nth(first)];
                queue.bytes += u64::from(packet.frame);
                queue.fifo.push(&mut self.ctx.run.packets, packet_ref);
            }
        }
        self.isolate_piped(port, class, only);
        let bytes = [first, second].map(|q| Bytes(self.node.links.queues[at.nth(q)].bytes));
        self.report_sorted(port, class, &bytes);
    }

    fn moves(&mut self, port: Local, packet: &Packet, only: Option<FlowId>) -> bool {
        match only {
            Some(flow) => packet.flow == flow,
            None => self.sub_of(port, packet) == 1,
        }
    }

    /// A packet that was in no queue any more joins one that may lose it, unless that has no room.
    fn move_isolated(&mut self, port: Local, q: usize, packet_ref: PacketRef) {
        let packet = self.ctx.run.packets[packet_ref];
        let port_class = self.ctx.facts.layout.port_class(packet.ingress, packet.class);
        if let Some(reason) = self.refused(port, q, &packet) {
            self.node.links.leaves(&self.ctx, port, packet.frame);
            self.node.buffer.uncounted(packet.frame);
            self.node.machines[port.index()].queueing.flow_leaves(packet.flow);
            self.discard(port_class, packet_ref, reason);
        } else {
            self.node.machines[port.index()].queueing.flow_moves(q, packet.flow);
            let paused = self.node.links.egress[self.ctx.facts.layout.port_class(port, packet.class)]
                .paused(self.ctx.now);
            let moved = &mut self.ctx.run.packets[packet_ref];
            moved.flags |= ISOLATED;
            moved.paused = moved.paused.wrapping_add(paused);
            let at = self.ctx.facts.layout.queues(port).nth(q);
            self.node.links.queues[at].bytes += u64::from(packet.frame);
            self.node.links.queues[at].fifo.push(&mut self.ctx.run.packets, packet_ref);
        }
        self.uncharge_account(port_class, packet.ingress, packet.frame);
    }

    /// Packets that have still to join a queue follow those of their flow into one that may lose them.
    fn isolate_piped(&mut self, port: Local, class: u8, only: Option<FlowId>) {
        for i in 0..self.device.pipe.len() {
            let (_, out, packet_ref) = self.device.pipe[i];
            let packet = self.ctx.run.packets[packet_ref];
            let waits_here = out == port && packet.class == class && !packet.has(ISOLATED);
            if waits_here && self.moves(port, &packet, only) {
                self.ctx.run.packets[packet_ref].flags |= ISOLATED;
                let q = self.ctx.facts.layout.first_queue_of(class, 1);
                self.node.machines[port.index()].queueing.flow_moves(q, packet.flow);
                let port_class = self.ctx.facts.layout.port_class(packet.ingress, class);
                self.uncharge_account(port_class, packet.ingress, packet.frame);
            }
        }
    }
}
