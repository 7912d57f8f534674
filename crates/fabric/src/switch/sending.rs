//! What a port of a switch sends next, each operation with a fast path beside the general one.

use floodway_blueprint::network::blueprint::Release;
use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_mechanisms::slots::Scheduler as _;

use crate::link::arena::PacketRef;
use crate::link::packet::Packet;
use crate::link::port::Port;
use crate::run::at_node::{AtSwitch, bytes};
use crate::run::device::Device as _;
use crate::switch::buffer::Uncharge;

impl AtSwitch<'_, '_> {
    /// A transmitter is free, and something waits.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn departs_from(&mut self, port: Local) {
        if !self.node.links.ports.of(port).up {
            return self.transmit(port);
        }
        // A release may enqueue a PFC frame on this port, which is sent first.
        if self.apply_releases() && self.node.links.is_busy(&self.ctx, port) {
            return;
        }
        let &Port { controls, has_discipline, .. } = self.node.links.ports.of(port);
        if self.ctx.facts.straight && !controls && !has_discipline && self.sends_on_fast_path(port) {
            let state = self.node.links.ports.of(port);
            if state.waiting > 0 || state.controls {
                self.node.links.arm(&mut self.ctx, port);
            }
        } else {
            self.transmit(port);
        }
    }

    /// Sends the next packet of a switch's port with one queue of data, if no callback but those of its
    /// congestion points runs for it; else returns false. As [`At::transmit`], for most departures.
    #[inline]
    fn sends_on_fast_path(&mut self, port: Local) -> bool {
        let at = self.ctx.facts.layout.queues(port);
        let up_to = u64::from(self.node.links.ports.of(port).leaves_up_to);
        let port_class = self.ctx.facts.layout.port_class(port, 1);
        let (q, packet_ref) = match (
            self.node.links.queues.of(at.control()).fifo.front(),
            self.node.links.queues.of(at.nth(1)).fifo.front(),
        ) {
            (Some(packet_ref), _) if self.ctx.run.packets[packet_ref].class == 0 => (0, packet_ref),
            (None, Some(packet_ref)) if self.node.links.is_free(port, 1) => (1, packet_ref),
            _ => return false,
        };
        let packet = &mut self.ctx.run.packets[packet_ref];
        let (frame, ingress) = (packet.frame, packet.ingress);
        let account = self.ctx.facts.layout.port_class(ingress, 1);
        // A release that an account waits for may enqueue a PFC frame on this port.
        if q == 1 && self.ctx.facts.release == Release::Start && self.node.buffer.accounts.of(account).awaits
        {
            return false;
        }
        self.node.links.queues.of_mut(at.nth(q)).fifo.pop(&self.ctx.run.packets);
        self.node.links.leaves(&self.ctx, port, frame);
        if q == 0 {
            self.put_on_link(port, packet_ref);
        } else {
            let queue = self.node.links.queues.of_mut(at.nth(q));
            let observed = queue.bytes > up_to;
            queue.bytes -= u64::from(frame);
            if self.node.links.ports.of(port).gates.paused != 0 {
                let paused = self.node.links.egress.of_mut(port_class).paused(self.ctx.now);
                let packet = &mut self.ctx.run.packets[packet_ref];
                packet.paused = packet.paused.wrapping_add(paused);
            }
            if observed {
                // What they change makes the port look again below.
                self.node.links.ports.of_mut(port).choosing = true;
                self.calls_for_leaving((port, q), port_class, packet_ref);
                self.node.links.ports.of_mut(port).choosing = false;
            }
            if self.ctx.facts.telemetry {
                self.node.links.record_hop(&mut self.ctx, port, packet_ref);
            }
            self.send_charged(port, packet_ref, (ingress, account), frame);
        }
        true
    }

    /// Sets a packet on the wire that is charged to an account of the port `from`.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn send_charged(
        &mut self,
        port: Local,
        packet_ref: PacketRef,
        (from, port_class): (Local, LocalPortClass),
        frame: u16,
    ) {
        if self.ctx.facts.release == Release::Start {
            self.uncharge(port_class, from, frame);
            self.put_on_link(port, packet_ref);
        } else {
            self.put_on_link(port, packet_ref);
            let at = self.node.links.ports.of(port).free_at;
            let leaves = Uncharge { at, port, ingress: from, port_class: port_class.pack(), frame };
            self.node.buffer.release_later(self.device.number, &mut self.ctx.run.events, leaves);
        }
    }

    /// A packet of data has left the `q`-th queue of a port: congestion points, if the queue was
    /// `above_threshold`, and the scheduler are called. No pause applies where it was `isolated`.
    #[expect(clippy::inline_always, reason = "a part of sending: a call would be one more a packet-hop")]
    #[inline(always)]
    pub fn data_leaves(
        &mut self,
        (port, q): (Local, usize),
        packet_ref: PacketRef,
        isolated: bool,
        above_threshold: bool,
    ) {
        let Packet { class, frame, .. } = self.ctx.run.packets[packet_ref];
        let port_class = self.ctx.facts.layout.port_class(port, class);
        if !isolated {
            let paused = self.node.links.egress.of_mut(port_class).paused(self.ctx.now);
            let packet = &mut self.ctx.run.packets[packet_ref];
            packet.paused = packet.paused.wrapping_add(paused);
        }
        self.node.links.leaves(&self.ctx, port, frame);
        if above_threshold {
            self.calls_for_leaving((port, q), port_class, packet_ref);
        }
        if self.ctx.facts.telemetry {
            self.node.links.record_hop(&mut self.ctx, port, packet_ref);
        }
        let port_class = self.ctx.facts.layout.port_class(port, self.ctx.facts.layout.class_of_queue(q));
        self.sent(port, port_class, self.ctx.facts.layout.wire(frame));
        if self.ctx.facts.layout.queues_per_port > 2 {
            let id = self.ctx.facts.layout.queue_id(q);
            let (now, wire) = (self.ctx.time(), bytes(self.ctx.facts.layout.wire(frame)));
            self.node.machines[port.index()].scheduler.on_sent(now, id, wire);
        }
    }

    /// The transmitter is free: sends the packet that the scheduler picks among those of open gates.
    pub fn send_from_queue(&mut self, port: Local) {
        let machines = &mut self.node.machines[port.index()];
        let Some(q) = machines.pick_queue(&self.node.links, &mut self.ctx, port) else { return };
        let at = self.ctx.facts.layout.queues(port).nth(q);
        let queue = self.node.links.queues.of_mut(at);
        let packet_ref = queue.fifo.pop(&self.ctx.run.packets).expect("a picked queue is not empty");
        let packet = &mut self.ctx.run.packets[packet_ref];
        let (ingress, class, frame) = (packet.ingress, packet.class, packet.frame);
        let above_threshold = queue.bytes > u64::from(self.node.links.ports.of(port).leaves_up_to);
        queue.bytes -= u64::from(frame);
        let isolated = self.node.links.may_lose(&self.ctx.facts.layout, port, q);
        self.data_leaves((port, q), packet_ref, isolated, above_threshold);
        if self.device.has_crossbar() {
            self.put_on_link(port, packet_ref);
            self.left_output(port, frame);
        } else if isolated {
            self.put_on_link(port, packet_ref);
            self.node.buffer.uncounted(frame);
        } else {
            self.send_charged(
                port,
                packet_ref,
                (ingress, self.ctx.facts.layout.port_class(ingress, class)),
                frame,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use floodway_units::{NodeId, Span};

    use super::*;
    use crate::run::world::World;
    use crate::testing::{at_busy, at_switch};

    const SWITCH: NodeId = NodeId(4);

    /// What the switch sends to the next one at 40 us: a packet of data waits there.
    fn sending(test: impl FnOnce(&mut World<'_>, Local)) {
        at_busy(Span::us(40), |world| {
            let out = Local::at(2);
            let at = world.facts.layout.queues(out).nth(1);
            assert!(world.nodes[SWITCH.index()].links.queues[at].bytes > 2_000, "a queue stands");
            // Its packet before has gone.
            world.now = world.now.max(world.nodes[SWITCH.index()].links.ports[out.index()].free_at);
            at_switch(world, SWITCH).apply_releases();
            test(world, out);
        });
    }

    #[test]
    fn on_the_fast_path_the_first_packet_leaves_its_queue() {
        sending(|world, out| {
            let at = world.facts.layout.queues(out).nth(1);
            let node = &mut world.nodes[SWITCH.index()];
            node.links.ports[out.index()].leaves_up_to = u32::MAX;
            node.links.ports[out.index()].gates.free = 0b10;
            let (before, waiting) = (node.links.queues[at].bytes, node.links.ports[out.index()].waiting);
            let first = node.links.queues[at].fifo.front().expect("it waits");
            let (frame, ingress) =
                (world.runs.own.packets[first].frame, world.runs.own.packets[first].ingress);
            let account = world.facts.layout.port_class(ingress, 1);
            world.nodes[SWITCH.index()].buffer.accounts[account].awaits = true;
            let sent = at_switch(world, SWITCH).sends_on_fast_path(out);
            let node = &world.nodes[SWITCH.index()];
            // By default what leaves is released at its last bit: nobody waits for its start.
            assert!(sent);
            assert_eq!(node.links.queues[at].bytes, before - u64::from(frame));
            assert_eq!(node.links.ports[out.index()].waiting, waiting - u64::from(frame));
            assert_ne!(node.links.queues[at].fifo.front(), Some(first));
        });
    }

    #[test]
    fn only_a_class_that_is_free_is_sent_on_the_fast_path_however_long_its_queue() {
        for (above, free) in [(0, true), (1, true), (0, false), (1, false)] {
            sending(|world, out| {
                let at = world.facts.layout.queues(out).nth(1);
                let node = &mut world.nodes[SWITCH.index()];
                let up_to = u32::try_from(node.links.queues[at].bytes - above).expect("it is short");
                node.links.ports[out.index()].leaves_up_to = up_to;
                node.links.ports[out.index()].gates.free = if free { 0b10 } else { 0 };
                let at = at_switch(world, SWITCH).sends_on_fast_path(out);
                assert_eq!(at, free, "{above} B above");
            });
        }
    }
}
