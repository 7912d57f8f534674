//! A switch as a device: what arrives is forwarded.

use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_mechanisms::slots::DropReason;

use crate::link::arena::PacketRef;
use crate::link::packet::Packet;
use crate::run::at_node::AtSwitch;
use crate::run::device::Device;
use crate::run::events::EventKind;
use crate::switch::buffer::Uncharge;
use crate::switch::forward::Switch;

impl Device for Switch {
    const IS_HOST: bool = false;

    #[inline]
    fn as_switch(&self) -> Option<&Switch> {
        Some(self)
    }

    #[inline]
    fn has_waiting(&self, _port: Local) -> bool {
        false
    }

    #[inline]
    fn charged(&mut self, ingress: Local, out: Local, class: u8, frame: u16) {
        if self.has_crossbar() {
            self.charge_voq(ingress, out, class, frame);
        }
    }

    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    fn receives(
        at: &mut AtSwitch<'_, '_>,
        ingress: Local,
        port_class: LocalPortClass,
        packet_ref: PacketRef,
    ) {
        at.switch_receives(ingress, port_class, packet_ref);
    }

    fn receives_by_wires(at: &mut AtSwitch<'_, '_>, ingress: Local, packet_ref: PacketRef) {
        at.device.entry.push_back((ingress, packet_ref));
        if at.device.entry.len() == 1 {
            at.ctx.run.events.add(EventKind::Drain, at.node.links.id(ingress).0, at.ctx.now);
        }
    }

    #[inline]
    fn executes(at: &mut AtSwitch<'_, '_>, kind: EventKind, _id: u32, _order: u64) {
        match kind {
            EventKind::Pipeline => at.leave_pipeline(),
            EventKind::Crossing => at.crossbar_wakes(),
            EventKind::Drain => at.passes_entry(),
            _ => {}
        }
    }

    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    fn departs(at: &mut AtSwitch<'_, '_>, port: Local) {
        at.departs_from(port);
    }

    #[inline]
    fn sends_data(at: &mut AtSwitch<'_, '_>, port: Local) {
        at.send_from_queue(port);
    }

    #[inline]
    fn holds_output(&self) -> bool {
        self.holds_output
    }

    /// They pass output queues: each departure counts as an event, if it is not the current one.
    #[inline(never)]
    fn releases_in_order(here: &mut AtSwitch<'_, '_>) {
        while let Some(&Uncharge { at, port, .. }) = here.node.buffer.releases.front()
            && let departure = here.node.links.departure_order(&here.ctx, port)
            && (at < here.ctx.now || departure <= here.ctx.order)
            && let Some(leaving) = here.node.buffer.next_gone(here.ctx.now)
        {
            let is_current = (at, departure) == (here.ctx.now, here.ctx.order);
            here.ctx.run.kept.counts[EventKind::Departure as usize] += u64::from(!is_current);
            here.passed_output(port, leaving.frame, at);
            here.uncharge(leaving.port_class.unpack(), leaving.ingress, leaving.frame);
        }
    }

    fn serves_output(at: &mut AtSwitch<'_, '_>, port: Local) {
        at.serve_output(port);
    }

    fn way_of(at: &mut AtSwitch<'_, '_>, port: Local, packet: &Packet) -> Option<Local> {
        at.route(port, packet, None)
    }

    fn pauses(at: &mut AtSwitch<'_, '_>, ingress: Local) {
        at.pause_sent(ingress);
    }

    fn isolates_waiting(at: &mut AtSwitch<'_, '_>, port: Local, class: u8) {
        at.isolate_waiting(port, class, None);
    }

    fn resorts_inputs(at: &mut AtSwitch<'_, '_>, port: Local, class: u8) {
        if at.device.has_crossbar() {
            at.resort_inputs(port, class);
        }
    }

    fn flushes(at: &mut AtSwitch<'_, '_>, port: Local, class: u8, reason: DropReason) {
        if class != 0 && at.device.has_crossbar() {
            at.flush_inputs(port, class, reason);
        }
    }

    fn drops(at: &mut AtSwitch<'_, '_>, (port, q): (Local, usize), packet: &Packet, reason: DropReason) {
        let port_class = at.ctx.facts.layout.port_class(packet.ingress, packet.class);
        at.drop_packet(port_class, packet, reason);
        if packet.class != 0 && at.device.has_crossbar() {
            at.left_output(port, packet.frame);
        } else if at.node.links.may_lose(&at.ctx.facts.layout, port, q) {
            at.node.buffer.uncounted(packet.frame);
        } else if packet.class != 0 {
            at.apply_releases();
            at.uncharge(port_class, packet.ingress, packet.frame);
        }
    }
}
