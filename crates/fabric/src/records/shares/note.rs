//! Bytes that flows send, bucket by bucket.

use super::{Key, Sent};
use crate::link::arena::PacketRef;
use crate::network::layout::Local;
use crate::records::transmission::Transmission;
use crate::run::at_node::AtNode;

impl AtNode<'_, '_> {
    /// Notes a packet that is on the wire of a port for `serial` from now on, if the port's flows are counted
    /// separately.
    pub fn note_share(&mut self, port: Local, packet_ref: PacketRef, serial: u64) {
        let packet = &self.ctx.run.packets[packet_ref];
        let Some(log) = &mut self.ctx.run.kept.shares else { return };
        if !packet.is_data() {
            return;
        }
        let key = Key {
            port: self.node.links.ports[port.index()].id.0,
            flow: self.ctx.run.pairs.paths[packet.flow.index()].name(),
        };
        let class = self.ctx.facts.layout.classes[usize::from(packet.class)].0;
        let bytes = u64::from(packet.frame) + self.ctx.facts.layout.gap;
        if let Some(bucket) = self.node.links.buckets.get_mut(port.index()).and_then(Option::as_mut) {
            log.sent(
                bucket,
                Sent {
                    key,
                    class,
                    frame: Transmission { begin: self.ctx.now, end: self.ctx.now + serial, bytes },
                },
            );
        }
    }
}
