//! Receive buffer of a NIC whose host drains slower than its link, as by PCIe or memory.
//!
//! ```text
//! link ──► account of (port, class): admission, flow control ──► FIFO ──► drain ──► queue pair, ACK
//!             PAUSE, RESUME ◄── XOFF, XON                               one frame after another
//! ```
//! Data enters the account of its port and class, as at a switch, so that the link's flow control pauses the
//! upstream by it. Frames leave in the order of arrival, of whatever class, each as a whole; at its last byte
//! the account is uncharged, and only then does the queue pair receive the packet. ACKs, NAKs, CNPs and
//! link control frames end in the NIC and do not wait.
//!
//! Its accounts are those of an ingress port of a switch, with the same admission, sizes and checks. What
//! drains is a list of packets at the NIC, with an event for the first one.

use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_mechanisms::slots::{DropReason, FcReceiver};
use floodway_units::PortId;

use crate::host::nic::Nic;
use crate::link::arena::PacketRef;
use crate::link::packet::ISOLATED;
use crate::run::at_node::AtHost;
use crate::run::ctx::Ctx;
use crate::run::device::Device as _;
use crate::run::events::EventKind;
use crate::switch::buffer::Refused;

impl AtHost<'_, '_> {
    /// A packet has arrived at a NIC with a receive buffer; `port_class` is its account.
    #[inline(never)]
    pub fn enters_receive_buffer(&mut self, port: Local, port_class: LocalPortClass, packet_ref: PacketRef) {
        let packet = self.ctx.run.packets[packet_ref];
        if !packet.is_data() {
            return self.host_receives(port, packet_ref);
        }
        // One from a queue that no pause stops may be one too many.
        if packet.has(ISOLATED)
            && self.node.buffer.is_pressed(
                (&self.ctx.facts.layout, self.device.inputs()),
                self.ctx.time(),
                &packet,
            )
        {
            return self.refuse(port_class, port, packet_ref, DropReason::IsolatedFull);
        }
        let q = self.ctx.facts.layout.first_queue(packet.class);
        if let Some(refused) = self.charge(port_class, port, q, &packet) {
            // A receive buffer is not an output queue, and cuts nothing.
            let Refused::Drop(reason) = refused else { return };
            return self.refuse(port_class, port, packet_ref, reason);
        }
        let view = self.node.buffer.account_view(&self.ctx.facts.layout, self.device.inputs(), port_class);
        let fifo = &mut self.device.nics[port.index()].receive_buffer;
        let is_first = fifo.is_empty();
        fifo.push(&mut self.ctx.run.packets, packet_ref);
        if is_first {
            self.device.nics[port.index()].drain_first(&mut self.ctx, self.node.links.id(port));
        }
        self.call_receiver(port_class, port, &view, FcReceiver::on_enqueue);
    }

    /// The first packet of a receive buffer has been written to the host's memory.
    #[inline(never)]
    pub fn leaves_receive_buffer(&mut self, port: Local) {
        let (nic, id) = (&mut self.device.nics[port.index()], self.node.links.id(port));
        let Some(packet_ref) = nic.receive_buffer.pop(&self.ctx.run.packets) else { return };
        let frame = self.ctx.run.packets[packet_ref].frame;
        let took = self.ctx.facts.ports[id.index()].drain_time(frame);
        nic.drain_first(&mut self.ctx, id);
        if self.ctx.run.is_traced() {
            self.each_trace(|trace, seen| trace.drained(seen, port, packet_ref));
        }
        let packet = &mut self.ctx.run.packets[packet_ref];
        packet.base += took;
        let class = packet.class;
        self.uncharge(self.ctx.facts.layout.port_class(port, class), port, frame);
        self.host_receives(port, packet_ref);
    }
}

impl Nic {
    /// The first packet of the receive buffer of a NIC whose port is `id`, if there is one, begins to be
    /// written.
    fn drain_first(&self, ctx: &mut Ctx<'_, '_>, id: PortId) {
        let Some(first) = self.receive_buffer.front() else { return };
        let at = ctx.now + ctx.facts.ports[id.index()].drain_time(ctx.run.packets[first].frame);
        ctx.run.events.add(EventKind::Drain, id.0, at);
    }
}
