//! Views of a packet, a queue and an account, for mechanisms.

use floodway_blueprint::network::layout::Local;
use floodway_mechanisms::slots::QueueView;

use crate::link::packet::Packet;
use crate::run::at_node::{At, bytes};
use crate::run::device::Device;
use crate::run::events::NEVER;

impl<D: Device> At<'_, '_, D> {
    pub fn queue_view(&self, port: Local, q: usize, packet: &Packet) -> QueueView {
        let layout = &self.ctx.facts.layout;
        let class = layout.class_of_queue(q);
        let port_class = layout.port_class(port, class);
        let length = |q| bytes(self.node.links.queues.of(layout.queues(port).nth(q)).bytes);
        let len = length(q);
        // Nearly always a class has one queue.
        let (sub, first) = if layout.subs == 1 {
            (0, len)
        } else {
            (layout.queue_id(q).sub, length(layout.first_queue(class)))
        };
        QueueView {
            port: self.node.links.id(port),
            class: layout.classes[class as usize],
            sub,
            len,
            first,
            voq: bytes(self.voq_bytes(packet.ingress, port, class)),
            rate: self.node.links.rate(&self.ctx, port),
            paused: self.node.links.egress.of(port_class).paused_since != NEVER
                && !self.node.links.may_lose(layout, port, q),
            base_rtt: self.ctx.run.pairs.paths[packet.flow.index()].base_rtt,
        }
    }

    /// Bytes of data of a class that came in by `ingress` and have still to cross to `out`; where nothing
    /// crosses, those that wait at `out`, if a machine there watches inputs.
    pub fn voq_bytes(&self, ingress: Local, out: Local, class: u8) -> u64 {
        match self.device.inputs() {
            _ if class == 0 => 0,
            None => self.node.machines[out.index()].queueing.input_bytes(ingress, class),
            Some(inputs) => inputs.bytes(ingress, out, class),
        }
    }
}
