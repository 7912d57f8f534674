//! Transmitter of a port: what it sends next, and when. Each operation with a fast path is beside the general
//! one.
//!
//! A departure is an event only while a packet waits. A port is busy if its transmitter's end is in the
//! future, or at the current instant but later in the order of events. So creating the event late changes
//! nothing.
//!
//! ```text
//!  try_transmit(port)  transmitter busy: request a departure event; else transmit
//!  transmit(port)      link control frames, then the control class, then metered messages, then data: at a
//!                      host of the queue pair whose turn it is, at a switch the scheduler's choice among open
//!                      gates; congestion points mark, the sender half and the scheduler are called; the
//!                      packet's arrival becomes an event
//!  release             at the packet's last bit, applied when an account is read; an event only while the
//!                      receiver half waits for it (a RESUME may be due). With `release = "start"` it is
//!                      applied when the transmission starts.
//! ```

use floodway_mechanisms::slots::Scheduler as _;
use floodway_units::cast::low_u32;

use crate::link::arena::PacketRef;
use crate::link::packet::Packet;
use crate::link::port::Port;
use crate::link::retry::RetryTurn;
use crate::network::blueprint::Release;
use crate::network::layout::Local;
use crate::records::capture::Capture;
use crate::run::at_node::{AtNode, bytes};
use crate::switch::buffer::Uncharge;

impl AtNode<'_, '_> {
    /// Transmits if the transmitter is free and something may be sent; if it is busy, asks for an event when
    /// it is free.
    #[inline]
    pub fn try_transmit(&mut self, port: Local) {
        if self.node.links.ports.known(port.index()).choosing {
            // It looks again itself.
        } else if self.node.links.is_busy(&self.ctx, port) {
            self.node.links.arm(&mut self.ctx, port);
        } else {
            self.transmit(port);
        }
    }

    /// The transmitter is free, and something waits.
    #[inline]
    pub fn depart(&mut self, port: Local) {
        let state = self.node.links.ports.known_mut(port.index());
        state.armed = false;
        let &mut Port { at_host, up, .. } = state;
        if at_host || !up {
            return self.transmit(port);
        }
        // A release may enqueue a PFC frame on this port, which is sent first.
        if self.apply_releases() && self.node.links.is_busy(&self.ctx, port) {
            return;
        }
        let &Port { controls, has_discipline, .. } = self.node.links.ports.known(port.index());
        if self.ctx.facts.straight && !controls && !has_discipline && self.sends_on_fast_path(port) {
            if self.node.links.ports.known(port.index()).waiting > 0 {
                self.node.links.arm(&mut self.ctx, port);
            }
        } else {
            self.transmit(port);
        }
    }

    /// Sends the next packet of a switch's port with one queue of data, if no callback runs for it; else
    /// returns false. As [`AtNode::transmit`], for three of four departures.
    #[inline]
    fn sends_on_fast_path(&mut self, port: Local) -> bool {
        let at = self.ctx.facts.layout.queue(port);
        let up_to = u64::from(self.node.links.ports.known(port.index()).fast_path_up_to);
        let port_class = self.ctx.facts.layout.port_class(port, 1);
        let (q, packet_ref) = match (
            self.node.links.queues.known(at).fifo.front(),
            self.node.links.queues.known(at + 1).fifo.front(),
        ) {
            (Some(packet_ref), _) if self.ctx.run.packets[packet_ref].class == 0 => (0, packet_ref),
            (None, Some(packet_ref))
                if self.node.links.is_free(port, 1)
                    && self.node.links.queues.known(at + 1).bytes <= up_to =>
            {
                (1, packet_ref)
            }
            _ => return false,
        };
        let packet = &mut self.ctx.run.packets[packet_ref];
        let (frame, ingress) = (packet.frame, packet.ingress);
        let account = self.ctx.facts.layout.port_class(ingress, 1);
        // A release that an account waits for may enqueue a PFC frame on this port.
        if q == 1
            && self.ctx.facts.release == Release::Start
            && self.node.buffer.accounts.known(account).awaits
        {
            return false;
        }
        self.node.links.queues.known_mut(at + q).fifo.pop(&self.ctx.run.packets);
        self.node.links.leaves(&self.ctx, port, frame);
        if q == 0 {
            self.put_on_link(port, packet_ref);
        } else {
            self.node.links.queues.known_mut(at + q).bytes -= u64::from(frame);
            if self.node.links.ports.known(port.index()).gates.paused != 0 {
                let paused = self.node.links.egress.known_mut(port_class).paused(self.ctx.now);
                let packet = &mut self.ctx.run.packets[packet_ref];
                packet.paused = packet.paused.wrapping_add(paused);
            }
            if self.ctx.facts.telemetry {
                self.node.links.record_hop(&mut self.ctx, port, packet_ref);
            }
            self.send_charged(port, packet_ref, (ingress, account), frame);
        }
        true
    }

    /// The transmitter is free: sends what comes next, if anything may go.
    pub fn transmit(&mut self, port: Local) {
        let state = self.node.links.ports.known(port.index());
        let at_host = state.at_host;
        if !state.up {
            return;
        }
        // A release may enqueue a PFC frame on this port, which is sent first.
        if !at_host && self.apply_releases() && self.node.links.is_busy(&self.ctx, port) {
            return;
        }
        let state = self.node.links.ports.known_mut(port.index());
        let has_discipline = state.has_discipline;
        state.choosing = true;
        if has_discipline && self.node.machines[port.index()].queueing.output.is_some() {
            return self.serve_output(port);
        }
        if let Some(packet_ref) = state.take_control(&self.ctx.run.packets) {
            self.send_link_control(port, packet_ref);
        } else if state.controls && self.retry_takes_turn(port) {
            // It has sent what it could.
        } else if let Some(packet_ref) = self.node.links.take_control(&mut self.ctx, port) {
            self.leaves_control(port, packet_ref);
            self.put_on_link(port, packet_ref);
        } else if has_discipline && let Some(packet_ref) = self.take_metered(port) {
            self.put_on_link(port, packet_ref);
        } else if at_host {
            self.send_from_nic(port);
        } else {
            self.send_from_queue(port);
        }
        self.node.links.ports.known_mut(port.index()).choosing = false;
        if self.node.has_waiting(port) && self.node.links.is_busy(&self.ctx, port) {
            self.node.links.arm(&mut self.ctx, port);
        }
    }

    /// Sets a packet on the wire now: the transmitter is taken, and its arrival is known.
    #[inline]
    pub fn put_on_link(&mut self, port: Local, packet_ref: PacketRef) {
        let (serial, arrival) = self.node.links.start(&self.ctx, port, packet_ref);
        self.starts(port, packet_ref, serial, arrival);
    }

    /// Does the link retry decide what a port sends now? Then it is sent, if anything may go.
    pub fn retry_takes_turn(&mut self, port: Local) -> bool {
        match self.node.links.turn_of_retry(&mut self.ctx, port) {
            RetryTurn::Any => return false,
            RetryTurn::Nothing => {}
            RetryTurn::Again(packet_ref) => self.put_on_link(port, packet_ref),
        }
        true
    }

    /// A packet that goes before all else is sent.
    pub fn send_link_control(&mut self, port: Local, packet_ref: PacketRef) {
        let packet = self.ctx.run.packets[packet_ref];
        self.node.buffer.count_link_control(&self.ctx.facts.layout, port, &packet);
        if !packet.is_ordered_set() {
            return self.put_on_link(port, packet_ref);
        }
        let wire = u64::from(packet.frame);
        let (serial, arrival) = self.node.links.occupy(&self.ctx, port, wire, wire);
        self.starts(port, packet_ref, serial, arrival);
    }

    /// A packet has started which takes `serial` on the wire, and arrives at `arrival`.
    #[inline]
    fn starts(&mut self, port: Local, packet_ref: PacketRef, serial: u64, arrival: u64) {
        if !self.node.links.ports.known(port.index()).observed {
            self.node.links.take_off(&mut self.ctx, port, packet_ref, arrival);
        } else if let Some(arrival) = self.observe(port, packet_ref, arrival, serial) {
            self.take_off_observed(port, packet_ref, arrival);
        }
    }

    /// Sets a packet on the wire whose last bit has left the port, which took `serial`.
    pub fn leaves_for(&mut self, port: Local, packet_ref: PacketRef, arrival: u64, serial: u64) {
        let mut arrival = Some(arrival);
        if self.node.links.ports.known(port.index()).observed {
            arrival = self.observe(port, packet_ref, arrival.unwrap_or_default(), serial);
        }
        if let Some(arrival) = arrival {
            let free_order = self.node.links.ports.known(port.index()).free_order;
            self.node.links.take_off(&mut self.ctx, port, packet_ref, arrival);
            self.node.links.ports.known_mut(port.index()).free_order = free_order;
        }
    }

    #[inline(never)]
    fn take_off_observed(&mut self, port: Local, packet_ref: PacketRef, arrival: u64) {
        self.node.links.take_off(&mut self.ctx, port, packet_ref, arrival);
    }

    /// What looks at a packet that starts on the wire of an observed port; when the packet then arrives, if
    /// it does.
    #[inline(never)]
    fn observe(&mut self, port: Local, packet_ref: PacketRef, arrival: u64, serial: u64) -> Option<u64> {
        if self.holds_back(port, packet_ref, serial) {
            return None;
        }
        if self.node.links.ports.known(port.index()).noted {
            Capture::note(&mut self.ctx, self.node.links.id(port), packet_ref);
            self.node.links.note_share(&mut self.ctx, port, packet_ref, serial);
        }
        let arrival = self.node.links.jittered(port, serial, arrival);
        if self.ctx.run.is_traced() {
            self.each_trace(|trace, seen| trace.starts(seen, port, packet_ref, (serial, arrival)));
        }
        let changes = self.node.links.ports.known(port.index()).impairment.changes;
        if changes && !self.is_carried(port, packet_ref, arrival) {
            return None;
        }
        self.node.links.is_sent(&mut self.ctx, port, packet_ref);
        Some(arrival)
    }

    /// Sets a packet on the wire that is charged to an account of the port `from`.
    #[inline]
    pub fn send_charged(
        &mut self,
        port: Local,
        packet_ref: PacketRef,
        (from, port_class): (Local, usize),
        frame: u16,
    ) {
        if self.ctx.facts.release == Release::Start {
            self.uncharge(port_class, from, frame);
            self.put_on_link(port, packet_ref);
        } else {
            self.put_on_link(port, packet_ref);
            let at = self.node.links.ports.known(port.index()).free_at;
            let leaves = Uncharge { at, port, ingress: from, port_class: low_u32(port_class as u64), frame };
            self.node.buffer.release_later(&self.node.switch, &mut self.ctx.run.events, leaves);
        }
    }

    /// A packet has left the queue that goes before data, in which link control frames may wait, too.
    #[inline]
    pub fn leaves_control(&mut self, port: Local, packet_ref: PacketRef) {
        let packet = self.ctx.run.packets[packet_ref];
        if packet.is_link_control() {
            self.node.links.leaves_as_link_control(&self.ctx, port, &packet);
            return self.node.buffer.count_link_control(&self.ctx.facts.layout, port, &packet);
        }
        self.node.links.leaves(&self.ctx, port, packet.frame);
        if packet.class != 0 {
            let port_class = self.ctx.facts.layout.port_class(port, packet.class);
            self.sent(port, port_class, self.ctx.facts.layout.wire(packet.frame));
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
        let port_class = port.index() * self.ctx.facts.layout.classes.len() + class as usize;
        if !isolated {
            let paused = self.node.links.egress.known_mut(port_class).paused(self.ctx.now);
            let packet = &mut self.ctx.run.packets[packet_ref];
            packet.paused = packet.paused.wrapping_add(paused);
        }
        self.node.links.leaves(&self.ctx, port, frame);
        if above_threshold {
            let packet = self.ctx.run.packets[packet_ref];
            let mark = self.dequeued(port, q, &packet);
            self.mark(port_class, packet_ref, mark);
            if self.node.machines[port.index()].clears {
                self.clear_mark(port, q, packet_ref);
            }
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

    fn send_from_queue(&mut self, port: Local) {
        let machines = &mut self.node.machines[port.index()];
        let Some(q) = machines.pick_queue(&self.node.links, &mut self.ctx, port) else { return };
        let at = self.ctx.facts.layout.queue(port) + q;
        let queue = self.node.links.queues.known_mut(at);
        let packet_ref = queue.fifo.pop(&self.ctx.run.packets).expect("a picked queue is not empty");
        let packet = &mut self.ctx.run.packets[packet_ref];
        let (ingress, class, frame) = (packet.ingress, packet.class, packet.frame);
        let above_threshold =
            queue.bytes > u64::from(self.node.links.ports.known(port.index()).fast_path_up_to);
        queue.bytes -= u64::from(frame);
        let isolated = self.node.links.may_lose(&self.ctx.facts.layout, port, q);
        self.data_leaves((port, q), packet_ref, isolated, above_threshold);
        if self.node.switch.has_crossbar() {
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
    use crate::testing::at_busy;

    const SWITCH: NodeId = NodeId(4);
    const PORT: Local = Local::FIRST;

    fn port<'w>(world: &'w mut World<'_>) -> &'w mut Port {
        &mut world.nodes[SWITCH.index()].links.ports[PORT.index()]
    }

    #[test]
    fn a_transmitter_is_busy_until_the_event_at_which_it_is_free() {
        at_busy(Span::ZERO, |world| {
            port(world).free_at = 100;
            let departure = {
                let at = world.at(SWITCH);
                at.node.links.departure_order(&at.ctx, PORT)
            };
            let cases = [(99, departure, true), (100, departure, false), (101, 0, false)];
            let ties = [(100, departure - 1, true), (100, departure + 1, false)];
            for (now, order, busy) in cases.into_iter().chain(ties) {
                (world.now, world.order) = (now, order);
                let at = world.at(SWITCH);
                assert_eq!(at.node.links.is_busy(&at.ctx, PORT), busy, "at {now}");
            }
        });
    }

    #[test]
    fn a_port_is_idle_while_nothing_waits_and_nothing_is_sent() {
        type Sets = fn(&mut Port);
        let cases: [(Sets, bool, bool); 5] = [
            (|_| (), true, false),
            (|port| port.waiting = 1, false, true),
            (|port| port.controls = true, false, true),
            (|port| port.choosing = true, false, false),
            (|port| port.free_at = 1_000, false, false),
        ];
        for (sets, idle, waits) in cases {
            at_busy(Span::ZERO, |world| {
                (world.now, world.order) = (500, 0);
                sets(port(world));
                let at = world.at(SWITCH);
                assert_eq!((at.node.links.is_idle(&at.ctx, PORT), at.node.has_waiting(PORT)), (idle, waits));
            });
        }
    }

    #[test]
    fn a_host_has_waiting_what_its_queue_pairs_may_send() {
        at_busy(Span::ZERO, |world| {
            assert!(!world.at(NodeId(3)).node.has_waiting(PORT));
            world.nodes[3].host.nics[0].repeating = 1;
            assert!(world.at(NodeId(3)).node.has_waiting(PORT));
        });
    }

    #[test]
    fn bytes_that_join_wait_until_they_leave() {
        at_busy(Span::ZERO, |world| {
            let waits = |world: &mut World<'_>, call: fn(&mut AtNode<'_, '_>)| {
                call(&mut world.at(SWITCH));
                port(world).waiting
            };
            assert_eq!(waits(world, |at| at.node.links.joins(&at.ctx, PORT, 1_000)), 1_000);
            assert_eq!(waits(world, |at| at.node.links.joins(&at.ctx, PORT, 500)), 1_500);
            assert_eq!(waits(world, |at| at.node.links.leaves(&at.ctx, PORT, 1_000)), 500);
            assert_eq!(waits(world, |at| at.node.links.leaves(&at.ctx, PORT, 500)), 0);
        });
    }

    #[test]
    fn a_class_is_free_by_its_own_bit() {
        at_busy(Span::ZERO, |world| {
            for (bits, free) in [(0b00, [false, false]), (0b01, [true, false]), (0b10, [false, true])] {
                port(world).gates.free = bits;
                let at = world.at(SWITCH);
                assert_eq!([0, 1].map(|class| at.node.links.is_free(PORT, class)), free);
            }
        });
    }

    /// What the switch sends to the next one at 40 us: a packet of data waits there.
    fn sending(test: impl FnOnce(&mut World<'_>, Local)) {
        at_busy(Span::us(40), |world| {
            let out = Local::at(2);
            let at = world.facts.layout.queue(out);
            assert!(world.nodes[SWITCH.index()].links.queues[at + 1].bytes > 2_000, "a queue stands");
            // Its packet before has gone.
            world.now = world.now.max(world.nodes[SWITCH.index()].links.ports[out.index()].free_at);
            world.at(SWITCH).apply_releases();
            test(world, out);
        });
    }

    #[test]
    fn on_the_fast_path_the_first_packet_leaves_its_queue() {
        sending(|world, out| {
            let at = world.facts.layout.queue(out);
            let node = &mut world.nodes[SWITCH.index()];
            node.links.ports[out.index()].fast_path_up_to = u32::MAX;
            node.links.ports[out.index()].gates.free = 0b10;
            let (before, waiting) = (node.links.queues[at + 1].bytes, node.links.ports[out.index()].waiting);
            let first = node.links.queues[at + 1].fifo.front().expect("it waits");
            let (frame, ingress) =
                (world.runs.own.packets[first].frame, world.runs.own.packets[first].ingress);
            let account = world.facts.layout.port_class(ingress, 1);
            world.nodes[SWITCH.index()].buffer.accounts[account].awaits = true;
            let sent = world.at(SWITCH).sends_on_fast_path(out);
            let node = &world.nodes[SWITCH.index()];
            // By default what leaves is released at its last bit: nobody waits for its start.
            assert!(sent);
            assert_eq!(node.links.queues[at + 1].bytes, before - u64::from(frame));
            assert_eq!(node.links.ports[out.index()].waiting, waiting - u64::from(frame));
            assert_ne!(node.links.queues[at + 1].fifo.front(), Some(first));
        });
    }

    #[test]
    fn a_queue_that_is_longer_than_its_bound_or_not_free_is_not_sent_on_the_fast_path() {
        for (above, free, goes) in [(0, true, true), (1, true, false), (0, false, false)] {
            sending(|world, out| {
                let at = world.facts.layout.queue(out);
                let node = &mut world.nodes[SWITCH.index()];
                let up_to = u32::try_from(node.links.queues[at + 1].bytes - above).expect("it is short");
                node.links.ports[out.index()].fast_path_up_to = up_to;
                node.links.ports[out.index()].gates.free = if free { 0b10 } else { 0 };
                let at = world.at(SWITCH).sends_on_fast_path(out);
                assert_eq!(at, goes, "{above} B above, free: {free}");
            });
        }
    }
}
