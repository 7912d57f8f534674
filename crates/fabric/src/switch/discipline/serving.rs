//! Output queues with bounds of their own: what the transmitter sends, what is cut, and what finds no room.
//!
//! A packet stays in its queue until its last bit has left. So it counts for the bounds, and congestion
//! points see it leave then, with the bytes that are there by that time. It is on the link from then on, for
//! the propagation alone. So its departure is an event, unless it finds an idle port: then its arrival at the
//! next node is known, and it counts for its queue as long as for its account. If another packet joins
//! meanwhile, the departure is an event, in time for the mark that it may bring.

use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_blueprint::network::routing::peer;
use floodway_mechanisms::slots::{DropReason, FcReceiver};
use floodway_units::cast::low_u16;

use crate::link::arena::{Fifo, PacketRef};
use crate::link::links::Links;
use crate::link::packet::{Kind, Packet};
use crate::run::at_node::{At, AtHost, AtSwitch};
use crate::run::ctx::Ctx;
use crate::run::device::Device;
use crate::switch::congestion::PortMachines;

impl PortMachines {
    /// The queue that sends next: the control class first.
    fn next_output(&mut self, links: &Links, ctx: &mut Ctx<'_, '_>, port: Local) -> Option<usize> {
        let first = ctx.facts.layout.queues(port).control();
        if !links.queues.of(first).fifo.is_empty() {
            return Some(0);
        }
        self.pick_queue(links, ctx, port)
    }

    /// The first packet of a queue starts on the wire.
    fn starts_output(&mut self, links: &mut Links, ctx: &mut Ctx<'_, '_>, (port, q): (Local, usize)) {
        let at = ctx.facts.layout.queues(port).nth(q);
        let Some(packet_ref) = links.queues.of(at).fifo.front() else { return };
        let (took, _) = links.start(ctx, port, packet_ref);
        links.ports.of_mut(port).free_order = ctx.run.events.number();
        if let Some(output) = self.queueing.output.as_mut() {
            output.serving = Some((q, took));
        }
    }
}

impl AtSwitch<'_, '_> {
    /// The transmitter is free: what it has sent leaves its queue, and what is sent next stays in its own.
    #[inline(never)]
    pub fn serve_output(&mut self, port: Local) {
        let output = self.node.machines[port.index()].queueing.output.as_mut();
        if let Some((q, took)) = output.and_then(|output| output.serving.take()) {
            self.leaves_output(port, q, took);
        }
        let state = self.node.links.ports.of_mut(port);
        let controls = state.controls;
        if let Some(frame) = state.take_control(&self.ctx.run.packets) {
            self.send_link_control(port, frame);
        } else if controls && self.retry_takes_turn(port) {
            // It has sent what it could.
        } else if let Some(q) =
            self.node.machines[port.index()].next_output(&self.node.links, &mut self.ctx, port)
        {
            self.node.machines[port.index()].starts_output(&mut self.node.links, &mut self.ctx, (port, q));
        }
        self.node.links.ports.of_mut(port).choosing = false;
        if self.has_waiting(port) && self.node.links.is_busy(&self.ctx, port) {
            self.node.links.arm(&mut self.ctx, port);
        }
    }

    /// A charged packet passes an idle port without an event when its last bit has left, if it may.
    #[inline(never)]
    pub fn passes_output(&mut self, out: Local, port_class: LocalPortClass, packet_ref: PacketRef) -> bool {
        let frame = self.ctx.run.packets[packet_ref].frame;
        let state = self.node.links.ports.of(out);
        // A congestion point that is called when it leaves needs an event then.
        let observed = state.observed || u32::from(frame) > state.leaves_up_to;
        let far_group = state.link.far_group;
        let output = self.node.machines[out.index()].queueing.output.as_mut();
        let Some(output) = output.filter(|output| output.passes && !observed) else { return false };
        if !self.node.links.is_idle(&self.ctx, out) || self.ctx.run.events.is_elsewhere(far_group) {
            return false;
        }
        output.passing = Some(packet_ref);
        let ingress = self.ctx.run.packets[packet_ref].ingress;
        let links = &mut self.node.links;
        links.queues.of_mut(self.ctx.facts.layout.queues(out).nth(1)).bytes += u64::from(frame);
        links.joins(&self.ctx, out, frame);
        self.send_charged(out, packet_ref, (ingress, port_class), frame);
        true
    }

    /// The last bit of a packet that passed a port left at `at`.
    pub fn passed_output(&mut self, port: Local, frame: u16, at: u64) {
        let output = self.node.machines[port.index()].queueing.output.as_mut();
        let Some(packet_ref) = output.and_then(|output| output.passing.take()) else { return };
        let up_to = u64::from(self.node.links.ports.of(port).leaves_up_to);
        let queue = self.node.links.queues.of_mut(self.ctx.facts.layout.queues(port).nth(1));
        let is_observed = queue.bytes > up_to;
        queue.bytes -= u64::from(frame);
        if is_observed {
            debug_assert!(at == self.ctx.now, "what has joined has asked for an event");
            self.data_leaves((port, 1), packet_ref, true, true);
        } else {
            self.node.links.left(port, frame, at);
        }
    }

    /// The last bit of a queue's first packet has left.
    fn leaves_output(&mut self, port: Local, q: usize, took: u64) {
        let at = self.ctx.facts.layout.queues(port).nth(q);
        let queue = self.node.links.queues.of_mut(at);
        let Some(packet_ref) = queue.fifo.pop(&self.ctx.run.packets) else { return };
        let packet = self.ctx.run.packets[packet_ref];
        let frame = u64::from(packet.frame);
        if q == 0 {
            if let Some(output) = self.node.machines[port.index()].queueing.output.as_mut() {
                output.control -= frame;
            }
            self.node.links.leaves(&self.ctx, port, packet.frame);
        } else {
            let up_to = u64::from(self.node.links.ports.of(port).leaves_up_to);
            let is_observed = self.node.links.queues.of(at).bytes > up_to;
            self.node.links.queues.of_mut(at).bytes -= frame;
            self.data_leaves((port, q), packet_ref, false, is_observed);
            self.uncharge(
                self.ctx.facts.layout.port_class(packet.ingress, packet.class),
                packet.ingress,
                packet.frame,
            );
        }
        if packet.is_data() {
            self.ctx.run.packets[packet_ref].base += took;
        }
        let arrival = self.ctx.now + self.node.links.ports.of(port).link.delay;
        self.leaves_for(port, packet_ref, arrival, took);
    }

    /// A packet that has arrived and finds no room loses its payload.
    #[inline(never)]
    pub fn cut_arriving(
        &mut self,
        (ingress, port_class): (Local, LocalPortClass),
        out: Local,
        packet_ref: PacketRef,
    ) {
        if self.cut(out, port_class, packet_ref) {
            self.take_in_cut(out, packet_ref);
            self.apply_releases();
            self.with_receiver(port_class, ingress, FcReceiver::on_refused);
        } else {
            self.refuse(port_class, ingress, packet_ref, DropReason::Egress);
        }
    }

    /// The last packet of a queue loses its payload, or is dropped where none is cut, unless the transmitter
    /// sends it.
    #[inline(never)]
    pub fn cut_last(&mut self, out: Local, q: usize) {
        let at = self.ctx.facts.layout.queues(out).nth(q);
        let mut rest = std::mem::take(&mut self.node.links.queues.of_mut(at).fifo);
        let mut kept = Fifo::default();
        let mut last = rest.pop(&self.ctx.run.packets);
        while let Some(next) = rest.pop(&self.ctx.run.packets) {
            if let Some(before) = last.replace(next) {
                kept.push(&mut self.ctx.run.packets, before);
            }
        }
        let Some(last) = last else { return };
        let output = self.node.machines[out.index()].queueing.output.as_ref();
        let is_sent = kept.is_empty() && !output.is_some_and(|output| output.has_passing());
        if is_sent {
            kept.push(&mut self.ctx.run.packets, last);
        }
        self.node.links.queues.of_mut(at).fifo = kept;
        if is_sent {
            return;
        }
        let packet = self.ctx.run.packets[last];
        let port_class = self.ctx.facts.layout.port_class(packet.ingress, packet.class);
        self.node.links.queues.of_mut(at).bytes -= u64::from(packet.frame);
        self.node.links.leaves(&self.ctx, out, packet.frame);
        self.uncharge(port_class, packet.ingress, packet.frame);
        if self.cut(out, port_class, last) {
            self.take_in_cut(out, last);
        } else {
            self.discard(port_class, last, DropReason::Egress);
        }
    }

    /// A packet that has lost its payload waits in the queue of its class from now on.
    fn take_in_cut(&mut self, out: Local, packet_ref: PacketRef) {
        let Packet { class, ingress, .. } = self.ctx.run.packets[packet_ref];
        if class == 0 {
            return self.take_in_control(out, packet_ref);
        }
        let port_class = self.ctx.facts.layout.port_class(ingress, class);
        self.take_in(ingress, port_class, out, packet_ref);
    }

    /// Cuts the payload off a packet that carries a header of its transport; `port_class` is the account that
    /// counts it.
    fn cut(&mut self, out: Local, port_class: LocalPortClass, packet_ref: PacketRef) -> bool {
        let to_host = self.ctx.facts.ports[peer(self.node.links.id(out)).index()].at_host;
        let Some(output) = self.node.machines[out.index()].queueing.output.as_ref() else { return false };
        let header = output.trim_size.unwrap_or(self.ctx.facts.format.trimmed().frame).0;
        let packet = &self.ctx.run.packets[packet_ref];
        let cut = u64::from(packet.frame).saturating_sub(header);
        let has_header = packet.is_data() && self.ctx.run.packets.has_header(packet_ref);
        if !(output.trims && has_header && cut > 0) {
            return false;
        }
        let class = output.trim_class;
        let class = class.map_or(0, |class| self.ctx.facts.layout.dense(class));
        let packet = &mut self.ctx.run.packets[packet_ref];
        (packet.kind, packet.frame, packet.class) = (Kind::Trimmed, low_u16(header), class);
        packet.base = u64::from(to_host);
        self.node.buffer.accounts.of_mut(port_class).rare.cut.add(low_u16(cut));
        self.ctx.run.kept.records.dropped(cut);
        true
    }
}

impl AtHost<'_, '_> {
    /// The transmitter of a host is free. What it has sent is on the link from now on, data before what is
    /// sent next starts, control packets after it.
    pub fn serve_nic(&mut self, port: Local) {
        let Some(output) = self.node.machines[port.index()].queueing.output.as_mut() else { return };
        let sent = output.sending.take();
        let is_data = sent.is_some_and(|(packet_ref, _)| self.ctx.run.packets[packet_ref].is_data());
        if is_data {
            self.node.links.is_on_link(&mut self.ctx, port, sent);
        }
        let at = self.ctx.facts.layout.queues(port).control();
        let control = !self.node.links.queues.of(at).fifo.is_empty();
        let data = self.device.nics[port.index()].has_waiting();
        let output = self.node.machines[port.index()].queueing.output.as_mut();
        let first = control && (!data || output.is_some_and(|output| output.prefers_control()));
        if first && let Some(packet_ref) = self.node.links.take_control(&mut self.ctx, port) {
            let frame = u64::from(self.ctx.run.packets[packet_ref].frame);
            if let Some(output) = self.node.machines[port.index()].queueing.output.as_mut() {
                output.control -= frame;
            }
            self.leaves_control(port, packet_ref);
            self.put_on_link(port, packet_ref);
        } else if data {
            let first = self.device.nics[port.index()].first_of_order(1);
            self.send_from_nic(port);
            if let Some(rank) = first {
                self.device.nics[port.index()].waits_again(1, rank);
            }
        }
        self.node.links.ports.of_mut(port).choosing = false;
        if !is_data {
            self.node.links.is_on_link(&mut self.ctx, port, sent);
        }
        if self.has_waiting(port) && self.node.links.is_busy(&self.ctx, port) {
            self.node.links.arm(&mut self.ctx, port);
        }
    }
}

impl<D: Device> At<'_, '_, D> {
    /// A packet starts at a host: is it on the link only when its last bit has left?
    pub fn holds_back(&mut self, port: Local, packet_ref: PacketRef, took: u64) -> bool {
        if !D::IS_HOST {
            return false;
        }
        let Some(output) = self.node.machines[port.index()].queueing.output.as_mut() else { return false };
        output.sending = Some((packet_ref, took));
        self.node.links.ports.of_mut(port).free_order = self.ctx.run.events.number();
        self.node.links.arm(&mut self.ctx, port);
        true
    }
}
