//! Passage of packets through a switch.
//!
//! ```text
//!  arrive(in, packet)
//!    link control frame: the sender half (Pause, Credit) or the receiver half (Sent) receives it; the port
//!    checks its queues again
//!    out   = the flow's path, or the router's choice
//!    apply_releases: packets whose last bit has left by now are uncharged
//!    far below every threshold: charge_on_fast_path, straight through or join; else the full path:
//!    queue = classify (congestion point), or the queue where the flow still has packets
//!    watchdog, congestion point: drop?      admission: drop, or charge to reserve, shared or headroom
//!    enqueue; congestion points are called and may mark; the receiver half is called (a PAUSE leaves on `in`)
//!    try_transmit(out)
//! ```
//!
//! Two of three packets are far below every threshold. So state machines may state a bound below which no
//! callback is needed (by default: never). A receiver half states the account (`fast_path_below`), a
//! congestion point the queue lengths at which a packet joins and leaves (`fast_path`). A sender half states
//! that its gate stays open until its next callback (`is_free`), an admission that it reads only the
//! threshold and the pool (`is_plain`). A packet within these bounds is charged and passes an idle port
//! without a call (`data_passes`, `control_goes_through`), and leaves a queue in the same way
//! (`sends_on_fast_path` in `switch/sending.rs`), where congestion points alone are called if the queue is
//! longer than their bound. The full path uses no such bounds. A test adds congestion points that receive
//! every callback and do nothing, and compares the results byte for byte.

use floodway_blueprint::network::layout::{Local, LocalPortClass};
use floodway_mechanisms::slots::{DropReason, FcReceiver};

use crate::link::arena::PacketRef;
use crate::link::packet::{ISOLATED, Packet};
use crate::link::port::Port;
use crate::run::at_node::{At, AtSwitch};
use crate::run::device::Device;
use crate::run::events::EventKind;
use crate::switch::buffer::{Charged, Refused};

impl AtSwitch<'_, '_> {
    /// A packet has arrived whole at a switch; `port_class` is its account there.
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    pub fn switch_receives(&mut self, ingress: Local, port_class: LocalPortClass, packet_ref: PacketRef) {
        let packet = &mut self.ctx.run.packets[packet_ref];
        packet.hop = packet.hop.saturating_add(1);
        let class = packet.class;
        if self.ctx.facts.observes_cnps {
            self.cnp_passes(ingress, packet_ref);
        }
        let Some(out) = self.next_port(ingress, packet_ref) else {
            return self.refuse(port_class, ingress, packet_ref, DropReason::NoRoute);
        };
        if class == 0 {
            if !self.control_goes_through(out, packet_ref) {
                self.take_in_control(out, packet_ref);
            }
            return;
        }
        self.data_passes(ingress, port_class, out, packet_ref);
    }

    /// A packet of data goes to the port `out`; `port_class` is its account. On the fast path it goes
    /// straight through where the port has nothing else to do, else by its queue.
    #[inline(never)]
    fn data_passes(&mut self, ingress: Local, port_class: LocalPortClass, out: Local, packet_ref: PacketRef) {
        let Packet { class, frame, .. } = self.ctx.run.packets[packet_ref];
        self.apply_releases();
        let packet = Charged { port_class, ingress, out, class, frame };
        let (node, layout) = (&mut *self.node, &self.ctx.facts.layout);
        if !node.buffer.charge_on_fast_path(&mut node.links, layout, self.ctx.now, packet) {
            self.take_in(ingress, port_class, out, packet_ref);
        } else if self.ctx.facts.straight
            && self.node.links.is_free(out, class)
            && self.node.links.is_idle(&self.ctx, out)
            && !self.device.holds_output
            && u32::from(frame) <= self.node.links.ports.of(out).leaves_up_to
        {
            self.node.links.goes_through(&self.ctx, out, frame);
            if self.ctx.facts.telemetry {
                self.node.links.record_hop(&mut self.ctx, out, packet_ref);
            }
            self.send_charged(out, packet_ref, (ingress, port_class), frame);
        } else if !self.device.holds_output || !self.passes_output(out, port_class, packet_ref) {
            self.join(out, self.ctx.facts.layout.first_queue(class), packet_ref);
        }
    }

    /// Takes in a packet of the control class that does not go straight through: charged to no account, it
    /// passes the pipeline as data does.
    #[inline]
    pub fn take_in_control(&mut self, out: Local, packet_ref: PacketRef) {
        if self.device.pipeline == 0 {
            self.queue_control(out, packet_ref);
        } else {
            self.enter_pipeline((out, 0), packet_ref);
        }
    }

    /// Asks all machines that decide whether a packet of data is admitted, and how: `port_class` is its
    /// account, and `out` where it leaves.
    #[inline(never)]
    pub fn take_in(&mut self, ingress: Local, port_class: LocalPortClass, out: Local, packet_ref: PacketRef) {
        let packet = self.ctx.run.packets[packet_ref];
        let Some(q) = self.queue_for(out, &packet) else {
            return self.refuse(port_class, ingress, packet_ref, DropReason::IsolatedFull);
        };
        if let Some(reason) = self.refused(out, q, &packet) {
            self.refuse(port_class, ingress, packet_ref, reason);
            return;
        }
        if self.node.isolates(out) {
            if self.node.links.may_lose(&self.ctx.facts.layout, out, q) {
                return self.isolate(ingress, port_class, (out, q), packet_ref);
            }
            self.ctx.run.packets[packet_ref].flags &= !ISOLATED;
        }
        match self.charge(port_class, out, q, &packet) {
            None => {}
            Some(Refused::Drop(reason)) => return self.refuse(port_class, ingress, packet_ref, reason),
            Some(Refused::Cut) => return self.cut_arriving((ingress, port_class), out, packet_ref),
            Some(Refused::CutLast) => self.cut_last(out, q),
        }
        let view = self.node.buffer.account_view(&self.ctx.facts.layout, self.device.inputs(), port_class);
        let pipeline = self.device.pipeline;
        if pipeline == 0 {
            let crosses = self.device.has_crossbar();
            if crosses {
                self.wait_to_cross(out, q, packet_ref);
            } else {
                self.enqueue(out, q, packet_ref);
            }
            self.call_receiver(port_class, ingress, &view, FcReceiver::on_enqueue);
            if !crosses {
                self.try_transmit(out);
            }
            return;
        }
        self.call_receiver(port_class, ingress, &view, FcReceiver::on_enqueue);
        self.enter_pipeline((out, q), packet_ref);
    }

    /// A packet that has been taken in passes the pipeline of a switch before it joins its queue.
    pub fn enter_pipeline(&mut self, (out, q): (Local, usize), packet_ref: PacketRef) {
        if q != 0 && self.node.isolates(out) {
            // Its queue decides what is charged for it, so the queue is chosen now.
            let flow = self.ctx.run.packets[packet_ref].flow;
            self.node.machines[out.index()].queueing.flow_waits(q, flow);
        }
        let at = self.ctx.now + self.device.pipeline;
        let pipe = &mut self.device.pipe;
        pipe.push_back((at, out, packet_ref));
        if pipe.len() == 1 {
            self.ctx.run.events.add(EventKind::Pipeline, self.device.number, at);
        }
    }

    /// A packet has passed the pipeline.
    pub fn leave_pipeline(&mut self) {
        let pipe = &mut self.device.pipe;
        let Some((_, out, packet_ref)) = pipe.pop_front() else { return };
        if let Some(&(at, ..)) = pipe.front() {
            self.ctx.run.events.add(EventKind::Pipeline, self.device.number, at);
        }
        let packet = self.ctx.run.packets[packet_ref];
        if packet.class == 0 {
            return self.control_leaves_pipeline(out, packet_ref);
        }
        let isolates = self.node.isolates(out);
        let q = if isolates {
            self.ctx.facts.layout.first_queue_of(packet.class, usize::from(packet.has(ISOLATED)))
        } else {
            self.preferred_queue(out, &packet)
        };
        // Its link may have failed meanwhile, or a watchdog may drop its queue.
        if let Some(reason) = self.node.links.shut(&self.ctx.facts.layout, out, q) {
            let port_class = self.ctx.facts.layout.port_class(packet.ingress, packet.class);
            self.discard(port_class, packet_ref, reason);
            self.apply_releases();
            if isolates {
                self.node.machines[out.index()].queueing.flow_leaves(packet.flow);
            }
            if self.device.has_crossbar() {
                self.never_crosses(out, &packet);
            } else if self.node.links.may_lose(&self.ctx.facts.layout, out, q) {
                self.node.buffer.uncounted(packet.frame);
            } else {
                self.uncharge(port_class, packet.ingress, packet.frame);
            }
        } else if self.device.has_crossbar() {
            self.wait_to_cross(out, q, packet_ref);
        } else {
            self.join(out, q, packet_ref);
        }
    }

    /// A packet of the control class has passed the pipeline of a switch; its link may have failed meanwhile.
    fn control_leaves_pipeline(&mut self, out: Local, packet_ref: PacketRef) {
        if self.node.links.ports.of(out).up {
            self.queue_control(out, packet_ref);
        } else {
            let port_class = self.ctx.facts.layout.port_class(self.ctx.run.packets[packet_ref].ingress, 0);
            self.discard(port_class, packet_ref, DropReason::LinkDown);
        }
    }

    /// Puts a charged packet into its egress queue, and lets the port try to transmit.
    #[inline(never)]
    pub fn join(&mut self, out: Local, q: usize, packet_ref: PacketRef) {
        self.enqueue(out, q, packet_ref);
        self.try_transmit(out);
    }

    /// Puts a charged packet into its egress queue.
    #[inline]
    pub fn enqueue(&mut self, out: Local, q: usize, packet_ref: PacketRef) {
        let &Packet { class, frame, .. } = &self.ctx.run.packets[packet_ref];
        let port_class = self.ctx.facts.layout.port_class(out, class);
        if self.node.links.ports.of(out).gates.paused >> class & 1 != 0
            && !self.node.links.may_lose(&self.ctx.facts.layout, out, q)
        {
            let packet = &mut self.ctx.run.packets[packet_ref];
            packet.paused =
                packet.paused.wrapping_sub(self.node.links.egress.of_mut(port_class).paused(self.ctx.now));
        }
        let queue = self.node.links.queues.of_mut(self.ctx.facts.layout.queues(out).nth(q));
        queue.bytes += u64::from(frame);
        let queued = queue.bytes;
        queue.fifo.push(&mut self.ctx.run.packets, packet_ref);
        self.node.links.joins(&self.ctx, out, frame);
        if queued <= u64::from(self.node.links.ports.of(out).joins_up_to) {
            return;
        }
        self.enqueued(out, q, port_class, packet_ref);
    }

    /// A packet that has come in at a switch passes, where ties go as htsim schedules events.
    pub fn passes_entry(&mut self) {
        let Some((ingress, packet_ref)) = self.device.entry.pop_front() else { return };
        let class = self.ctx.run.packets[packet_ref].class;
        let port_class = self.ctx.facts.layout.port_class(ingress, class);
        self.switch_receives(ingress, port_class, packet_ref);
        if let Some(&(next, _)) = self.device.entry.front() {
            self.ctx.run.events.add(EventKind::Drain, self.node.links.id(next).0, self.ctx.now);
        }
    }
}

impl<D: Device> At<'_, '_, D> {
    /// A packet that has just arrived is discarded before it is charged; `port_class` is its account.
    #[inline(never)]
    pub fn refuse(
        &mut self,
        port_class: LocalPortClass,
        ingress: Local,
        packet_ref: PacketRef,
        reason: DropReason,
    ) {
        self.discard(port_class, packet_ref, reason);
        self.apply_releases();
        self.with_receiver(port_class, ingress, FcReceiver::on_refused);
    }

    /// Sends a packet of the control class that is made at this node: no pipeline is before it.
    #[inline(never)]
    pub fn send_control(&mut self, out: Local, packet_ref: PacketRef) {
        if !self.control_goes_through(out, packet_ref) {
            self.queue_control(out, packet_ref);
        }
    }

    /// Sends a packet of the control class straight through a switch where the port has nothing else to do,
    /// and no switch of the network has a pipeline; was it so?
    #[expect(clippy::inline_always, reason = "measured in docs/performance.md")]
    #[inline(always)]
    fn control_goes_through(&mut self, out: Local, packet_ref: PacketRef) -> bool {
        let &Port { up, has_discipline, .. } = self.node.links.ports.of(out);
        let through = up
            && !has_discipline
            && self.ctx.facts.straight_control
            && !D::IS_HOST
            && !self.apply_releases()
            && self.node.links.is_idle(&self.ctx, out);
        if through {
            let frame = self.ctx.run.packets[packet_ref].frame;
            self.node.links.goes_through(&self.ctx, out, frame);
            self.put_on_link(out, packet_ref);
        }
        through
    }

    /// Puts a packet into the queue of the control class, and lets the port try to transmit.
    #[inline(never)]
    fn queue_control(&mut self, out: Local, packet_ref: PacketRef) {
        if self.device.holds_output() {
            self.apply_releases();
        }
        if self.node.links.ports.of(out).has_discipline && self.queues_otherwise(out, packet_ref) {
            return;
        }
        if !self.node.links.ports.of(out).up {
            let port_class = self.ctx.facts.layout.port_class(out, 0);
            self.discard(port_class, packet_ref, DropReason::LinkDown);
            return;
        }
        let frame = self.ctx.run.packets[packet_ref].frame;
        let at = self.ctx.facts.layout.queues(out).control();
        self.node.links.queues.of_mut(at).fifo.push(&mut self.ctx.run.packets, packet_ref);
        self.node.links.joins(&self.ctx, out, frame);
        self.try_transmit(out);
    }

    /// Does a packet of the control class wait for its turn among metered messages, or find no room?
    #[inline(never)]
    fn queues_otherwise(&mut self, out: Local, packet_ref: PacketRef) -> bool {
        let packet = self.ctx.run.packets[packet_ref];
        let queueing = &mut self.node.machines[out.index()].queueing;
        if queueing.meter.is_some() && packet.is_metered() {
            self.queue_metered(out, packet_ref);
            return true;
        }
        let Some(output) = queueing.output.as_mut() else { return false };
        if !self.node.links.ports.of(out).up || output.takes_control(packet.frame) {
            return false;
        }
        let port_class = self.ctx.facts.layout.port_class(packet.ingress, 0);
        self.discard(port_class, packet_ref, DropReason::Egress);
        true
    }

    /// Drops what waits in the queues of a class, because a watchdog has fired.
    pub fn discard_queue(&mut self, port: Local, port_class: LocalPortClass) {
        self.flush_queues(port, self.ctx.facts.layout.class_of(port_class), DropReason::Watchdog);
    }

    /// Drops what waits in the queues of a class.
    pub fn flush_queues(&mut self, port: Local, class: u8, reason: DropReason) {
        D::flushes(self, port, class, reason);
        if class == 0 {
            self.flush_metered(port, reason);
        }
        if let Some(output) = self.node.machines[port.index()].queueing.output.as_mut() {
            output.flush(&self.ctx.facts.layout, class);
        }
        let queues = self.ctx.facts.layout.queues(port);
        for q in 0..self.ctx.facts.layout.queues_per_port {
            // Where a pause has lasted too long, what is not paused goes on.
            let stays =
                reason == DropReason::Watchdog && self.node.links.may_lose(&self.ctx.facts.layout, port, q);
            if self.ctx.facts.layout.class_of_queue(q) != class || stays {
                continue;
            }
            let mut waiting = std::mem::take(&mut self.node.links.queues.of_mut(queues.nth(q)).fifo);
            self.node.links.queues.of_mut(queues.nth(q)).bytes = 0;
            while let Some(packet_ref) = waiting.pop(&self.ctx.run.packets) {
                let packet = self.ctx.run.packets.take(packet_ref);
                self.node.links.leaves(&self.ctx, port, packet.frame);
                if packet.is_link_control() {
                    continue;
                }
                self.node.machines[port.index()].queueing.flow_is_dropped(packet.flow);
                self.removed(port, &packet);
                D::drops(self, (port, q), &packet, reason);
            }
        }
    }
}
