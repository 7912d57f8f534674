//! In-band telemetry (INT): records that egress ports of switches write into data packets as they start on
//! the wire, and replies bring back. Packets have the records with them.
//!
//! They are exact, for flows whose rate control requests them. The rate control rounds the values as its
//! source does.

use crate::link::arena::PacketRef;
use crate::link::extra::{Extra, Hops};
use crate::run::at_node::At;
use crate::run::device::Device;

impl<D: Device> At<'_, '_, D> {
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
}
