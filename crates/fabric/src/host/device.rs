//! A host as a device: its NICs send what queue pairs have, and what arrives ends here.

use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_mechanisms::slots::DropReason;
use floodway_units::{Bytes, PortId};

use crate::host::nics::Host;
use crate::link::arena::PacketRef;
use crate::link::packet::Packet;
use crate::run::at_node::AtHost;
use crate::run::device::Device;
use crate::run::events::EventKind;
use crate::switch::forward::Switch;

impl Device for Host {
    const IS_HOST: bool = true;

    #[inline]
    fn as_switch(&self) -> Option<&Switch> {
        None
    }

    fn has_waiting(&self, port: Local) -> bool {
        self.nics[port.index()].has_waiting()
    }

    #[inline]
    fn receives(at: &mut AtHost<'_, '_>, ingress: Local, port_class: LocalPortClass, packet_ref: PacketRef) {
        if at.node.buffer.accounts.of(port_class).drains {
            at.enters_receive_buffer(ingress, port_class, packet_ref);
        } else {
            at.host_receives(ingress, packet_ref);
        }
    }

    fn receives_by_wires(at: &mut AtHost<'_, '_>, ingress: Local, packet_ref: PacketRef) {
        at.host_receives(ingress, packet_ref);
    }

    #[inline]
    fn executes(at: &mut AtHost<'_, '_>, kind: EventKind, id: u32, order: u64) {
        match kind {
            EventKind::Drain => at.leaves_receive_buffer(at.ctx.facts.local(PortId(id))),
            EventKind::Pacing => at.pacing_timer(at.ctx.facts.local(PortId(id)), order),
            EventKind::QueuePair => at.qp_timer(order),
            EventKind::Receiver => at.receiver_timer(order),
            EventKind::Start => {
                at.start_flow(id);
                if at.ctx.run.events.by_node().is_some() {
                    at.try_transmit_started();
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn departs(at: &mut AtHost<'_, '_>, port: Local) {
        at.transmit(port);
    }

    #[inline]
    fn sends_data(at: &mut AtHost<'_, '_>, port: Local) {
        at.send_from_nic(port);
    }

    fn serves_output(at: &mut AtHost<'_, '_>, port: Local) {
        at.serve_nic(port);
    }

    fn way_of(at: &mut AtHost<'_, '_>, _port: Local, packet: &Packet) -> Option<Local> {
        let destination = at.ctx.run.pairs.paths.of(packet.flow).source;
        at.ctx.refresh_routes(destination);
        at.ctx.candidates(at.node.id, destination).first().map(|port| at.ctx.facts.local(*port))
    }

    fn is_paused(at: &mut AtHost<'_, '_>, port: Local, class: u8) {
        if at.device.pairs.sprays {
            at.spray_from_paused(port, class);
        }
    }

    fn isolates_waiting(at: &mut AtHost<'_, '_>, port: Local, class: u8) {
        // Hosts choose among queue pairs, and no data wait in a queue.
        at.report_sorted(port, class, &[Bytes::ZERO; 2]);
    }

    fn drops(at: &mut AtHost<'_, '_>, (port, _): (Local, usize), packet: &Packet, reason: DropReason) {
        let port_class = at.ctx.facts.layout.port_class(port, packet.class);
        at.drop_packet(port_class, packet, reason);
    }
}
