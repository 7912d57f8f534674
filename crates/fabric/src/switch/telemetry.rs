//! In-band telemetry (INT): records that egress ports of switches write into data packets as they start on
//! the wire, and replies bring back. Packets have the records with them.

use floodway_mechanisms::slots::IntHop;
use floodway_units::{Bytes, Time};

use crate::link::arena::{Extra, Hops, PacketRef};
use crate::link::packet::INT;
use crate::network::layout::Local;
use crate::run::at_node::AtNode;

impl AtNode<'_, '_> {
    /// A packet starts at its sender that is to have records, and has none yet.
    #[inline(never)]
    pub fn begin_records(&mut self, packet_ref: PacketRef) {
        let mut extra = self.ctx.run.out.extras.pop().unwrap_or_else(|| Box::new(Extra::Hops(Hops::new())));
        match &mut *extra {
            Extra::Hops(hops) => hops.clear(),
            other => *other = Extra::Hops(Hops::new()),
        }
        self.ctx.run.packets.attach(packet_ref, extra);
    }

    /// A packet starts on the wire of a switch's port, and has left its queue: its record is written, if it
    /// has any.
    #[inline(never)]
    pub fn record_hop(&mut self, port: Local, packet_ref: PacketRef) {
        let packet = &self.ctx.run.packets[packet_ref];
        if !packet.has(INT) || !packet.is_data() {
            return;
        }
        let (rate, state) = (self.node.links.rate(&self.ctx, port), &self.node.links.ports[port.index()]);
        let (tx_bytes, queue) = (state.sent, Bytes(state.waiting));
        if let Some(hops) = self.ctx.run.packets.hops_mut(packet_ref) {
            hops.push(IntHop { rate, time: Time(self.ctx.now), tx_bytes, queue });
        }
    }
}
