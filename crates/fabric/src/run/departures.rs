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

use floodway_blueprint::network::layout::Local;

use crate::link::arena::PacketRef;
use crate::link::retry::RetryTurn;
use crate::run::at_node::At;
use crate::run::capture::note_frame;
use crate::run::device::Device;

impl<D: Device> At<'_, '_, D> {
    /// Transmits if the transmitter is free and something may be sent; if it is busy, asks for an event when
    /// it is free.
    #[inline]
    pub fn try_transmit(&mut self, port: Local) {
        if self.node.links.ports.of(port).choosing {
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
        self.node.links.ports.of_mut(port).armed = false;
        D::departs(self, port);
    }

    /// Does anything wait to be sent from a port?
    pub fn has_waiting(&self, port: Local) -> bool {
        let state = self.node.links.ports.of(port);
        state.controls || state.waiting > 0 || self.device.has_waiting(port)
    }

    /// The transmitter is free: sends what comes next, if anything may go.
    pub fn transmit(&mut self, port: Local) {
        if !self.node.links.ports.of(port).up {
            return;
        }
        // A release may enqueue a PFC frame on this port, which is sent first.
        if !D::IS_HOST && self.apply_releases() && self.node.links.is_busy(&self.ctx, port) {
            return;
        }
        let state = self.node.links.ports.of_mut(port);
        let has_discipline = state.has_discipline;
        state.choosing = true;
        if has_discipline && self.node.machines[port.index()].queueing.output.is_some() {
            return D::serves_output(self, port);
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
        } else {
            D::sends_data(self, port);
        }
        self.node.links.ports.of_mut(port).choosing = false;
        if self.has_waiting(port) && self.node.links.is_busy(&self.ctx, port) {
            self.node.links.arm(&mut self.ctx, port);
        }
    }

    /// Sets a packet on the wire now: the transmitter is taken, and its arrival is known.
    #[inline(never)]
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
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    fn starts(&mut self, port: Local, packet_ref: PacketRef, serial: u64, arrival: u64) {
        if !self.node.links.ports.of(port).observed {
            self.node.links.take_off(&mut self.ctx, port, packet_ref, arrival);
        } else if let Some(arrival) = self.observe(port, packet_ref, arrival, serial) {
            self.take_off_observed(port, packet_ref, arrival);
        }
    }

    /// Sets a packet on the wire whose last bit has left the port, which took `serial`.
    pub fn leaves_for(&mut self, port: Local, packet_ref: PacketRef, arrival: u64, serial: u64) {
        let mut arrival = Some(arrival);
        if self.node.links.ports.of(port).observed {
            arrival = self.observe(port, packet_ref, arrival.unwrap_or_default(), serial);
        }
        if let Some(arrival) = arrival {
            let free_order = self.node.links.ports.of(port).free_order;
            self.node.links.take_off(&mut self.ctx, port, packet_ref, arrival);
            self.node.links.ports.of_mut(port).free_order = free_order;
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
        if self.node.links.ports.of(port).noted {
            note_frame(&mut self.ctx, self.node.links.id(port), packet_ref);
            self.node.links.note_share(&mut self.ctx, port, packet_ref, serial);
        }
        let arrival = self.node.links.jittered(port, serial, arrival);
        if self.ctx.run.is_traced() {
            self.each_trace(|trace, seen| trace.starts(seen, port, packet_ref, (serial, arrival)));
        }
        let changes = self.node.links.ports.of(port).impairment.changes;
        if changes && !self.is_carried(port, packet_ref, arrival) {
            return None;
        }
        self.node.links.is_sent(&mut self.ctx, port, packet_ref);
        Some(arrival)
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
}

#[cfg(test)]
mod tests {
    use floodway_units::{NodeId, Span};

    use super::*;
    use crate::link::port::Port;
    use crate::run::at_node::AtSwitch;
    use crate::run::world::World;
    use crate::testing::{at_busy, at_host, at_switch};

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
                let at = at_switch(world, SWITCH);
                at.node.links.departure_order(&at.ctx, PORT)
            };
            let cases = [(99, departure, true), (100, departure, false), (101, 0, false)];
            let ties = [(100, departure - 1, true), (100, departure + 1, false)];
            for (now, order, busy) in cases.into_iter().chain(ties) {
                (world.now, world.order) = (now, order);
                let at = at_switch(world, SWITCH);
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
                let at = at_switch(world, SWITCH);
                assert_eq!((at.node.links.is_idle(&at.ctx, PORT), at.has_waiting(PORT)), (idle, waits));
            });
        }
    }

    #[test]
    fn a_host_has_waiting_what_its_queue_pairs_may_send() {
        at_busy(Span::ZERO, |world| {
            assert!(!at_host(world, NodeId(3)).has_waiting(PORT));
            world.nodes[3].host_mut().expect("it is one").nics[0].repeating = 1;
            assert!(at_host(world, NodeId(3)).has_waiting(PORT));
        });
    }

    #[test]
    fn bytes_that_join_wait_until_they_leave() {
        at_busy(Span::ZERO, |world| {
            let waits = |world: &mut World<'_>, call: fn(&mut AtSwitch<'_, '_>)| {
                call(&mut at_switch(world, SWITCH));
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
                let at = at_switch(world, SWITCH);
                assert_eq!([0, 1].map(|class| at.node.links.is_free(PORT, class)), free);
            }
        });
    }
}
