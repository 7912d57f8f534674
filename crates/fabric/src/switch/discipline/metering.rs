//! Metered messages that wait at a port: they join its queue, leave as its bucket fills, or are dropped.

use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::DropReason;

use crate::link::arena::PacketRef;
use crate::run::at_node::At;
use crate::run::device::Device;

impl<D: Device> At<'_, '_, D> {
    /// Has a metered message wait its turn at `out`, or drops it.
    pub fn queue_metered(&mut self, out: Local, packet_ref: PacketRef) {
        let frame = self.ctx.run.packets[packet_ref].frame;
        let up = self.node.links.ports.of(out).up;
        let Some(meter) = self.node.machines[out.index()].queueing.meter.as_mut() else { return };
        if !up || meter.is_full() {
            // A host's own messages have come in by no port.
            let ingress = if D::IS_HOST { out } else { self.ctx.run.packets[packet_ref].ingress };
            let port_class = self.ctx.facts.layout.port_class(ingress, 0);
            return self.discard(
                port_class,
                packet_ref,
                if up { DropReason::Metered } else { DropReason::LinkDown },
            );
        }
        meter.joins();
        meter.fifo.push(&mut self.ctx.run.packets, packet_ref);
        self.node.links.joins(&self.ctx, out, frame);
        self.try_transmit(out);
    }

    /// Takes the next metered message of a port, if it may leave now; else the port looks again when it may.
    pub fn take_metered(&mut self, port: Local) -> Option<PacketRef> {
        let now = self.ctx.time();
        let machines = &mut self.node.machines[port.index()];
        let meter = machines.queueing.meter.as_mut()?;
        let packet_ref = meter.fifo.front()?;
        let frame = self.ctx.run.packets[packet_ref].frame;
        let wire = self.ctx.facts.layout.wire(frame);
        let opens = meter.opens_for(now, wire);
        if opens > now {
            meter.wake = Some(opens);
            machines.sync(&mut self.ctx.run.events, self.node.links.ports.of(port).id);
            return None;
        }
        meter.fifo.pop(&self.ctx.run.packets);
        meter.leaves(now, wire);
        self.node.links.leaves(&self.ctx, port, frame);
        Some(packet_ref)
    }

    /// Drops the metered messages of a port.
    pub fn flush_metered(&mut self, port: Local, reason: DropReason) {
        let Some(meter) = self.node.machines[port.index()].queueing.meter.as_mut() else { return };
        let mut waiting = meter.empty();
        while let Some(packet_ref) = waiting.pop(&self.ctx.run.packets) {
            let packet = self.ctx.run.packets.take(packet_ref);
            self.node.links.leaves(&self.ctx, port, packet.frame);
            let port_class =
                self.ctx.facts.layout.port_class(if D::IS_HOST { port } else { packet.ingress }, 0);
            self.drop_packet(port_class, &packet, reason);
        }
    }
}
