//! Views of a packet, a queue and an account, for mechanisms.

use floodway_mechanisms::slots::{IngressView, PacketView, QueueView};

use crate::link::packet::{ISOLATED, Kind, Packet};
use crate::network::layout::Local;
use crate::run::at_node::{AtNode, bytes};
use crate::run::events::NEVER;

impl AtNode<'_, '_> {
    pub fn packet_view(&self, packet: &Packet) -> PacketView {
        let path = &self.ctx.run.pairs.paths[packet.flow.index()];
        let is_reply = packet.is_reply();
        let tuple = if is_reply { path.tuple.reversed() } else { path.tuple };
        PacketView {
            flow: packet.flow,
            class: self.ctx.facts.layout.classes[packet.class as usize],
            frame: bytes(u64::from(packet.frame)),
            wire: bytes(self.ctx.facts.layout.wire(packet.frame)),
            // In the HPCC simulator replies are drawn for, too.
            ecn_capable: packet.kind == Kind::Data
                || packet.class != 0 && self.ctx.run.shared_draws.is_some(),
            is_reply,
            isolated: packet.has(ISOLATED),
            mark: packet.mark(),
            flow_hash: path.hash,
            source: tuple.source,
            destination: tuple.destination,
            ingress: self.node.links.id(packet.ingress),
        }
    }

    pub fn queue_view(&self, port: Local, q: usize, packet: &Packet) -> QueueView {
        let class = self.ctx.facts.layout.class_of_queue(q);
        let port_class = self.ctx.facts.layout.port_class(port, class);
        QueueView {
            port: self.node.links.id(port),
            class: self.ctx.facts.layout.classes[class as usize],
            sub: self.ctx.facts.layout.queue_id(q).sub,
            len: bytes(self.node.links.queues.known(self.ctx.facts.layout.queue(port) + q).bytes),
            first: bytes(
                self.node
                    .links
                    .queues
                    .known(self.ctx.facts.layout.queue(port) + self.ctx.facts.layout.first_queue(class))
                    .bytes,
            ),
            voq: bytes(self.voq_bytes(packet.ingress, port, class)),
            rate: self.node.links.rate(&self.ctx, port),
            paused: self.node.links.egress.known(port_class).paused_since != NEVER
                && !self.node.links.may_lose(&self.ctx.facts.layout, port, q),
            base_rtt: self.ctx.run.pairs.paths[packet.flow.index()].base_rtt,
        }
    }

    /// What a receiver half may know of its account.
    pub fn account_view(&self, port_class: usize) -> IngressView {
        let account = self.node.buffer.accounts.known(port_class);
        let shared = if account.by_output { self.longest_voq_of(port_class) } else { account.shared() };
        let free = if account.pooled {
            // Nothing bounds that of a host.
            self.node.buffer.pool_size.saturating_sub(self.node.buffer.pool_used)
        } else {
            account.sizes.own.saturating_sub(account.sizes.headroom).saturating_sub(shared)
        };
        let queued = account.held + account.headroom;
        IngressView {
            queued: bytes(queued),
            wire: bytes(if self.node.buffer.has_cells() { account.wire } else { queued }),
            reserved: bytes(account.held - account.shared()),
            shared: bytes(shared),
            headroom: bytes(account.headroom),
            received: bytes(account.received.bytes + self.ctx.facts.layout.gap * account.received.packets),
            received_frames: bytes(account.received.bytes),
            pool_free: bytes(free),
            total: bytes(self.node.buffer.occupied),
        }
    }
}
