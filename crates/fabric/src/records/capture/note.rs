//! Capture of frames.

use floodway_units::FlowId;
use floodway_wire::int::Stack;

use super::{Captured, NO_FLOW};
use crate::host::messages::Outgoing;
use crate::link::arena::PacketRef;
use crate::link::packet::{FIRST, INT, Packet};
use crate::network::layout::Local;
use crate::run::at_node::AtNode;

impl AtNode<'_, '_> {
    /// Notes a frame that starts on the wire of a chosen port now.
    #[cold]
    #[inline(never)]
    pub fn capture(&mut self, port: Local, packet_ref: PacketRef) {
        let Some(at) = self.ctx.run.kept.capture.count(self.node.links.id(port)) else { return };
        let packet = self.ctx.run.packets[packet_ref];
        let flow = if packet.is_link_control() {
            NO_FLOW
        } else {
            let number = self.oldest_message(packet.flow);
            self.ctx.run.kept.capture.code_of(&self.ctx.run.pairs.paths[packet.flow.index()], number)
        };
        if packet.has(INT) {
            self.ctx.run.kept.capture.stacks.push(self.stack(packet_ref));
        }
        self.ctx.run.kept.capture.packets.push(Captured {
            at: self.ctx.now,
            psn: packet.psn,
            stamp: packet.stamp,
            base: packet.base,
            port: at,
            flow,
            message: if packet.is_data() && packet.has(FIRST) { self.message_size(&packet) } else { 0 },
            payload: packet.payload,
            kind: packet.kind,
            flags: packet.flags,
            class: packet.class,
            hop: packet.hop,
        });
    }

    fn stack(&self, packet_ref: PacketRef) -> Stack {
        let mut stack = Stack::default();
        for hop in self.ctx.run.packets.hops(packet_ref) {
            stack.push(hop.rate, hop.time, hop.tx_bytes, hop.queue);
        }
        stack
    }

    /// Bytes of the message that a packet begins, as in its RETH; the packet's own where it is a late
    /// copy of a message that is over, of which nothing is known any more.
    fn message_size(&self, packet: &Packet) -> u32 {
        /// RDMA messages have at most 2 GiB.
        const LARGEST: u64 = 1 << 31;
        let at = packet.flow.index();
        let payload = u64::from(self.ctx.run.pairs.senders[at].full_payload);
        let ends = |size| packet.psn.saturating_add(Outgoing::packets_of(size, payload));
        let mut messages =
            self.ctx.run.pairs.senders[at].messages().chain(self.ctx.run.pairs.receivers[at].messages());
        let message = messages.find(|&(_, end, size)| end == ends(size));
        message.map_or(u64::from(packet.payload), |(.., size)| size).min(LARGEST) as u32
    }

    /// The number of a queue pair's oldest message that is not complete at both ends; of the last one, if all
    /// are.
    fn oldest_message(&self, flow: FlowId) -> u64 {
        let heads = (
            self.ctx.run.pairs.senders[flow.index()].messages(),
            self.ctx.run.pairs.receivers[flow.index()].messages(),
        );
        let (sending, receiving) = heads;
        let first = sending.take(1).chain(receiving.take(1)).min_by_key(|&(_, end, _)| end);
        first.map_or(0, |(number, ..)| number)
    }
}
